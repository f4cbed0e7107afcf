"""Formulas of slow responses against exact laws, counted probabilities and other methods."""

import math

import numpy as np
import pytest
from scipy import optimize, special, stats

from serving import LinearService, exact, formulas
from serving.formulas import value

GPT3 = {"t_fixed": 0.050, "t_req": 0.0005}
SERVICE = LinearService(**GPT3)


def root(load):
    """Root of load * (e^w - 1) = w above zero."""
    low, high = -math.log(load), -math.log(load) + 1
    while load * math.expm1(high) < high:
        high += 1
    return optimize.brentq(lambda w: load * math.expm1(w) - w, low, high, xtol=1e-15)


@pytest.mark.parametrize("batch", [1, 2, 8, 16, 100])
def test_gathering_third_moment_is_that_of_a_mixture_of_sums_of_gaps(batch):
    # the j-th request waits for B - j gaps; raw moments of gamma laws, averaged
    shape = np.arange(batch, dtype=float)
    first, second, third = (np.mean(special.poch(shape, order)) for order in (1, 2, 3))
    expected = (third - 3 * first * second + 2 * first**3) / 7**3
    assert value(formulas.gathering_third_moment, 7, batch) == pytest.approx(expected, rel=1e-9)


def test_gathering_third_moment_is_that_of_the_exact_law_when_service_takes_no_time():
    queue = exact.FixedBatchQueue(1, 5, LinearService(1e-6, 0))
    times = np.linspace(0, 60, 60_001)
    late = queue.sf(times + 1e-6)
    third = np.trapezoid(3 * (times - queue.mean) ** 2 * late, times) - queue.mean**3
    assert value(formulas.gathering_third_moment, 1, 5) == pytest.approx(third, rel=1e-4)


@pytest.mark.parametrize("load", [0.001, 0.3625, 0.675, 0.99, 0.999999])
def test_tail_load_is_the_inverse_of_the_root(load):
    assert value(formulas.tail_load, root(load)) == pytest.approx(load, rel=1e-9)


def test_tail_load_keeps_its_digits_near_capacity_and_far_from_it():
    # w / (e^w - 1) is 1 - w/2 + w^2/12 - ... for small w, and w e^-w for large
    near = value(formulas.tail_load, [1e-12, 1e-5])
    assert 1 - near == pytest.approx([0.5e-12, 0.5e-5 - 1e-10 / 12], rel=1e-3)
    assert value(formulas.tail_load, 700) == pytest.approx(700 * math.exp(-700), rel=1e-12)
    assert value(formulas.tail_load, 10**4) == 0


@pytest.mark.parametrize(("rate", "batch"), [(100, 6), (90, 5), (550, 40)])
def test_tail_decay_is_the_slope_of_the_exact_law(rate, batch):
    queue = exact.FixedBatchQueue(rate, batch, SERVICE)
    theta = value(formulas.tail_decay, root(queue.busy), batch, **GPT3)
    times = queue.quantile(0.999) + 10 / theta + np.array([0, 5 / theta])
    slope = -np.diff(np.log(queue.sf(times))) / np.diff(times)
    assert theta == pytest.approx(slope, rel=1e-5)


def test_tail_decay_of_one_request_at_a_time_is_that_of_its_moments():
    # exp(theta * (service - gap)) has mean one
    theta = value(formulas.tail_decay, root(0.8), 1, 0.010, 0)
    assert math.exp(0.010 * theta) * 80 / (80 + theta) == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("batch", [1, 8, 64])
def test_capacity_tail_nears_the_exact_quantile(batch):
    gaps = []
    for load in (0.99, 0.999, 0.9999):
        queue = exact.FixedBatchQueue(load * batch / SERVICE.time(batch), batch, SERVICE)
        rule = value(formulas.capacity_tail, root(load), batch, **GPT3, quantile=0.99)
        gaps.append(rule / queue.quantile(0.99) - 1)
    assert 0 < gaps[2] < gaps[1] / 8 < gaps[0] / 40
    assert gaps[2] < 2e-4


@pytest.mark.parametrize("batch", [1, 6, 200])
def test_capacity_tail_solves_the_bound_for_each_place(batch):
    # mean over places of e^(-theta (t - 2 D + H_j)), H_j a sum of j gaps, is what is left
    w, share = 0.26, 0.97
    busy = SERVICE.time(batch)
    rate = value(formulas.tail_load, w) * batch / busy
    theta = w * batch / busy

    def left(time):
        place = np.arange(1, batch + 1)
        logs = -theta * (time - 2 * busy) + place * math.log(rate / (rate + theta))
        return special.logsumexp(logs) - math.log(batch) - math.log(1 - share)

    expected = optimize.brentq(left, 0, 10, xtol=1e-14)
    found = value(formulas.capacity_tail, w, batch, **GPT3, quantile=share)
    assert found == pytest.approx(expected, rel=1e-9)


def test_capacity_tail_keeps_its_digits_for_large_and_small_roots():
    # a large batch far from capacity: w B is thousands; e^(w B) leaves float64
    many = value(formulas.capacity_tail, 5.0, 1000, 1, 0, 0.5)
    expected = 1 + (5 * 999 - math.log(1000) - math.log1p(-math.exp(-5)) + math.log(2)) / 5000
    assert many == pytest.approx(expected, rel=1e-12)
    # q = 0 and a vanishing root: half a batch less one on top of the first service time
    assert value(formulas.capacity_tail, 1e-9, 9, 1, 0, 0) == pytest.approx(1 + 4 / 9, rel=1e-5)


@pytest.mark.parametrize(("share", "tolerance"), [(0.99, 0.1), (0.95, 0.05), (0.5, 0.02)])
def test_percentile_sample_gives_the_binomial_spread_it_promises(share, tolerance):
    z = stats.norm.ppf(0.975)
    count = round(value(formulas.percentile_sample, share, z, tolerance))
    # ranks of an interval that holds the quantile in 95 % of samples, by counted binomials
    low, high = stats.binom.ppf([0.025, 0.975], count, share) / count
    half = (high - low) / 2 / (1 - share)
    assert half == pytest.approx(tolerance, rel=0.02)


def test_percentile_sample_by_hand():
    # 99 requests below for each above, and (1.96 / 0.1)^2 = 384.16
    assert value(formulas.percentile_sample, 0.99, 1.96, 0.1) == pytest.approx(99 * 384.16)


@pytest.mark.parametrize(("share", "confidence"), [(0.99, 0.95), (0.5, 0.9), (0.999, 0.99)])
def test_largest_sample_is_the_first_whose_largest_is_above(share, confidence):
    count = math.ceil(value(formulas.largest_sample, share, confidence))
    assert 1 - share**count >= confidence > 1 - share ** (count - 1)


def test_largest_sample_of_wilks_and_of_rare_events():
    assert math.ceil(value(formulas.largest_sample, 0.95, 0.95)) == 59
    # log q is -(1 - q) for q next to one
    found = value(formulas.largest_sample, 1 - 1e-15, 0.95)
    assert found == pytest.approx(math.log(20) * 1e15, rel=1e-12)
