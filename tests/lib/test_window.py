"""The batch of a timeout window, against draws, sums, integrals, limits and reference values."""

import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, stats

from serving import formulas, window
from serving.formulas import value

CASES = [
    *((100, 8, wait) for wait in (0.002, 0.010, 0.050, 0.100, 0.500)),
    *((100, 16, 0.050), (100, 32, 0.100), (100, 2, 0.010), (7, 3, 0.4), (7, 64, 3.0)),
    *((1000, 64, 0.060), (0.5, 5, 10.0), (250, 1, 0.020), (40, 4, 0.050)),
]
"""Arrival rate, largest batch and longest wait: windows that time out, that fill, and between."""


def draw(rate, size, wait, count=200_000, seed=3):
    """Sizes, lengths and summed delays of windows, from gaps alone."""
    rng = np.random.default_rng(seed)
    after = np.zeros((count, size))  # the first request opens the window at zero
    after[:, 1:] = np.cumsum(rng.exponential(1 / rate, (count, size - 1)), axis=1)
    inside = after <= wait
    sizes = inside.sum(axis=1)
    length = np.where(sizes == size, after[:, -1], wait)
    return sizes, length, np.sum((length[:, None] - after) * inside, axis=1)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_draw_of_windows_agrees_within_three_standard_errors(case):
    formed, (sizes, length, delays) = window.form(*case), draw(*case)
    root, filled = math.sqrt(sizes.size), sizes == case[1]
    rare = math.sqrt(formed.full * (1 - formed.full))  # spread of what the draw may never show

    def near(found, drawn, spread):
        assert abs(found - drawn.mean()) <= 3 * spread / root + 1e-12 * found

    near(formed.mean_size, sizes, sizes.std())
    near(formed.full, filled, rare)
    near(formed.mean_length, length, length.std() if filled.any() else case[2] * rare)
    ratio = delays.sum() / sizes.sum()
    near(formed.mean_delay, ratio, np.std(delays - ratio * sizes) / sizes.mean())
    if filled.sum() > 100:
        each = delays[filled] / case[1]
        assert abs(formed.full_delay - each.mean()) <= 3 * each.std() / math.sqrt(filled.sum())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_sums_of_the_definition(case):
    rate, size, wait = case
    formed, law = window.form(*case), stats.poisson(rate * wait)
    n = np.arange(size - 1)
    probabilities = np.append(law.pmf(n), law.sf(size - 2))
    np.testing.assert_allclose(formed.sizes, probabilities, rtol=1e-10, atol=1e-300)
    assert formed.sizes.sum() == pytest.approx(1, rel=1e-12)
    mean = probabilities @ np.arange(1, size + 1)
    assert formed.mean_size == pytest.approx(mean, rel=1e-12)
    if size == 1:
        return

    erlang = stats.gamma(size - 1, scale=1 / rate)
    full = size * integrate.quad(lambda t: t / 2 * erlang.pdf(t), 0, wait, epsabs=1e-13)[0]
    timed_out = sum((n + 1) * law.pmf(n) * value(formulas.timeout_delay, wait, n + 1))
    assert formed.mean_delay == pytest.approx((full + timed_out) / mean, rel=1e-9)
    still_open = integrate.quad(erlang.sf, 0, wait, epsabs=1e-13)[0]
    assert formed.mean_length == pytest.approx(still_open, rel=1e-9)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_mean_size_is_one_and_what_arrives_while_the_window_is_open(case):
    formed = window.form(*case)
    expected = value(formulas.mean_batch, case[0], formed.mean_length)
    assert formed.mean_size == pytest.approx(expected, rel=1e-12)


def test_reference_rows():
    data = os.environ.get("SERVING_DATA")
    if not data:
        pytest.skip("SERVING_DATA is not set: no reference values to compare with")
    reference = json.loads((Path(data) / "reference" / "queueing.json").read_text("utf-8"))
    for row in reference["window_formulas"]:
        formed = window.form(row["lam"], row["Bmax"], row["Tmax"])
        assert formed.mean_size == pytest.approx(row["EB"], rel=1e-12)
        assert formed.mean_delay == pytest.approx(row["ETb"], rel=1e-12)
        assert formed.mean_length == pytest.approx(row["Ewin"], rel=1e-12)
        assert formed.full == pytest.approx(row["pfull"], rel=1e-9)
        assert abs(formed.mean_size - row["EB_mc"]) <= 3 * row["EB_se"]
        assert abs(formed.mean_delay - row["ETb_mc"]) <= 3 * row["ETb_se"]
    for row in reference["timeout_policies_gpt3_simulated"]:
        formed = window.form(100, row["Bmax"], row["Tmax"])
        assert formed.mean_size == pytest.approx(row["EB_formula"], rel=1e-9)
        assert formed.mean_delay == pytest.approx(row["ETb_formula"], rel=1e-9)


@pytest.mark.parametrize("size", [2, 3, 8, 64])
def test_without_a_timeout_every_batch_fills(size):
    full = value(formulas.accumulation_delay, 100, size)
    for wait in (1e6, math.inf, np.float32(math.inf)):
        formed = window.form(100, size, wait)
        assert (formed.mean_size, formed.full) == (size, 1)
        assert formed.mean_delay == formed.full_delay == pytest.approx(full, rel=1e-15)
        assert formed.mean_length == value(formulas.fill_time, 100, size)
        assert formed.sizes.tolist() == [0] * (size - 1) + [1]


def test_without_patience_every_request_goes_alone():
    formed = window.form(100, 8, 0)
    assert (formed.mean_size, formed.mean_delay, formed.mean_length) == (1, 0, 0)
    assert formed.sizes.tolist() == [1] + [0] * 7
    # a short window holds one request, which waits for all of it; the next order is m / 4
    for wait in (1e-6, 1e-9):
        assert window.form(100, 8, wait).mean_delay == pytest.approx(wait, rel=100 * wait)


@pytest.mark.parametrize("wait", [0, 0.05, math.inf])
def test_a_batch_of_one_does_not_wait(wait):
    formed = window.form(100, 1, wait)
    assert (formed.mean_size, formed.mean_delay, formed.full_delay, formed.full) == (1, 0, 0, 1)
    assert formed.sizes.tolist() == [1]


@pytest.mark.parametrize("wait", [0.003, 0.02, 0.3])
def test_a_batch_of_two_has_a_closed_form(wait):
    quiet = math.exp(-100 * wait)
    formed = window.form(100, 2, wait)
    assert formed.mean_size == pytest.approx(2 - quiet, rel=1e-14)
    assert formed.mean_delay == pytest.approx((1 - quiet) / 100 / (2 - quiet), rel=1e-13)


def test_the_means_of_a_huge_batch_need_no_list():
    formed = window.form(100, 10**9, 0.050)
    assert formed.mean_size == pytest.approx(6, rel=1e-15)
    assert formed.mean_delay == pytest.approx(0.050 / 2 * 7 / 6, rel=1e-14)
    with pytest.raises(ValueError, match="max_batch must be at most 10000000 to list sizes"):
        _ = formed.sizes
    with pytest.raises(ValueError, match="max_batch = 1000000000 never fills within max_wait"):
        _ = formed.full_delay


def test_the_tail_of_a_batch_that_hardly_ever_fills_keeps_its_digits():
    # P(N >= 30) with mean 1, to 20 digits: the sum of 1/n! from 30 on, divided by e
    expected = sum(1 / math.factorial(n) for n in range(60, 29, -1)) / math.e
    assert window.form(100, 31, 0.01).full == pytest.approx(expected, rel=1e-12)


def test_patience_helps_size_and_costs_time():
    waits = np.linspace(0, 0.3, 61)
    formed = [window.form(100, 8, wait) for wait in waits]
    assert np.all(np.diff([one.mean_size for one in formed]) > 0)
    assert np.all(np.diff([one.mean_delay for one in formed]) > 0)


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ((0, 8, 0.05), ValueError, "arrival_rate must be greater than 0, got 0"),
        ((math.inf, 8, 0.05), ValueError, "arrival_rate must be finite, got inf"),
        ((100, 0, 0.05), ValueError, "max_batch must be at least 1, got 0"),
        ((100, 7.5, 0.05), ValueError, "max_batch must be a whole number, got 7.5"),
        ((100, math.inf, 0.05), ValueError, "max_batch must be finite, got inf"),
        ((100, 8, -0.05), ValueError, "max_wait must be at least 0, got -0.05"),
        ((100, 8, math.nan), ValueError, "max_wait must be finite, got nan"),
        ((100, 8, "50 ms"), TypeError, "max_wait must be a real number, got '50 ms'"),
        ((100, 8, [0.05]), TypeError, "max_wait must be a real number"),
        ((1e-300, 10**20, math.inf), ValueError, "max_batch / arrival_rate must be a finite"),
    ],
)
def test_bad_arguments_are_named(arguments, kind, words):
    with pytest.raises(kind, match=words):
        window.form(*arguments)
