"""Formulas of the operating region against values from elsewhere, limits and other methods."""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from serving import formulas
from serving.formulas import value

GPT3 = {"t_fixed": 0.050, "t_req": 0.0005}


def test_gaussian_tail_is_the_quantile_of_a_normal_law():
    for share in (0.5, 0.9, 0.99):
        z = stats.norm.ppf(share)
        law = stats.norm(0.0917, 0.0289)
        assert value(formulas.gaussian_tail, 0.0917, z, 0.0289) == pytest.approx(law.ppf(share))


def test_exponential_tail_is_the_quantile_of_an_exponential_law():
    for share in (0, 0.5, 0.99, 0.999999):
        assert value(formulas.exponential_tail, 0.0917, share) == pytest.approx(
            stats.expon.ppf(share, scale=0.0917), rel=1e-9
        )
    assert value(formulas.exponential_tail, 1, 0.99) == pytest.approx(4.6052, abs=0.00005)
    with pytest.raises(ValueError, match="quantile < 1 is required, got quantile = 1"):
        value(formulas.exponential_tail, 1, 1)


def test_exponential_tail_keeps_its_digits_at_both_ends():
    # -log(1 - q) is q + q^2/2 + ... for small q
    assert value(formulas.exponential_tail, 1, 1e-18) == pytest.approx(1e-18, rel=1e-12)
    found = value(formulas.exponential_tail, 1, [1e-18, 0.5, 1 - 2**-50])
    assert found == pytest.approx([1e-18, math.log(2), 50 * math.log(2)], rel=1e-12)


@pytest.mark.parametrize("batch", [1, 16, 32, 450])
def test_doubling_gain_is_the_ratio_of_two_rates(batch):
    # rates by hand: B / (50 + B / 2) requests a millisecond
    once, twice = batch / (50 + batch / 2), 2 * batch / (50 + batch)
    assert value(formulas.doubling_gain, batch, **GPT3) == pytest.approx(twice / once - 1)


def test_doubling_gains_of_the_example():
    gains = value(formulas.doubling_gain, [16, 32, 200, 450], **GPT3)
    assert gains == pytest.approx([0.76, 0.61, 0.20, 0.10], abs=0.005)


@pytest.mark.parametrize("gain", [0.1, 0.2, 0.5, 1])
def test_gain_batch_is_the_root_of_the_gain(gain):
    def excess(batch):
        return (2 * batch / (50 + batch)) / (batch / (50 + batch / 2)) - 1 - gain

    batch = value(formulas.gain_batch, gain, **GPT3)
    assert batch == pytest.approx(0 if gain == 1 else optimize.brentq(excess, 1, 1e6), abs=1e-6)


@pytest.mark.parametrize(("first", "last"), [(1, 32), (1, 128), (6, 1000), (8, 8)])
def test_knee_is_farthest_above_the_chord(first, last):
    batch = np.linspace(first, last, 400_001)
    rate = batch / (0.050 + 0.0005 * batch)
    slope = (rate[-1] - rate[0]) / (last - first) if last > first else 0
    above = rate - slope * (batch - first)
    # a maximum is flat: its place is known to the grid
    assert value(formulas.knee_batch, first, last, **GPT3) == pytest.approx(
        batch[above.argmax()], abs=2 * (last - first) / 400_000 + 1e-9
    )


def test_knee_keeps_its_digits_where_requests_cost_next_to_nothing():
    # as t_req vanishes the knee tends to the middle of the range
    assert value(formulas.knee_batch, 1, 101, 1, 1e-15) == pytest.approx(51, rel=1e-9)
    assert value(formulas.knee_batch, 4, 25, 0, 0.001) == pytest.approx(10, rel=1e-12)
