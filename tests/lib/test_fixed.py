"""Simulated fixed batches against exact laws."""

import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats

from serving import LinearService, UnstableError, fixed

GPT3 = LinearService(0.050, 0.0005)
ERRORS = 4.5
"""Standard errors that 999 of 1000 draws keep to, over a dozen comparisons (Student, 19)."""


def test_batches_of_one_are_the_queue_of_crommelin():
    # M/D/1: P(W <= t) = (1 - r) sum_k (-1)^k (l (t - kD))^k / k! e^(l (t - kD)), for t < 4D here
    load = 0.6
    found = fixed.simulate(load, [1], LinearService(1.0, 0), 0.95, 1_000_000, seed=3)

    def below(wait):
        left = [load * (wait - k) for k in range(math.floor(wait) + 1)]
        terms = [(-x) ** k / math.factorial(k) * math.exp(x) for k, x in enumerate(left)]
        return (1 - load) * sum(terms)

    tail = 1 + optimize.brentq(lambda t: below(t) - 0.95, 0.5, 8)
    assert abs(found.tail[0] - tail) < ERRORS * found.tail_error[0] < 0.06
    mean = 1 + load / (2 * (1 - load))
    assert abs(found.mean[0] - mean) < ERRORS * found.mean_error[0] < 0.02


def test_without_waiting_a_request_gathers_for_an_erlang_time():
    # at a load of one thousandth a batch finds the server idle; the place j waits for B - j gaps
    batch, rate = 4, 1.0
    found = fixed.simulate(rate, [batch], LinearService(0.001, 0), 0.99, 1_000_000, seed=1)

    def late(t):
        return np.mean([stats.gamma.sf(t, gaps) if gaps else 0 for gaps in range(batch)]) - 0.01

    tail = 0.001 + optimize.brentq(late, 0.1, 20)
    assert abs(found.tail[0] - tail) < ERRORS * found.tail_error[0]
    gaps = np.arange(batch)  # variance of a mixture: mean of variances and variance of means
    assert abs(found.std[0] - math.sqrt(gaps.mean() + gaps.var())) < ERRORS * found.std_error[0]


def test_reference_rows():
    data = os.environ.get("SERVING_DATA")
    if not data:
        pytest.skip("SERVING_DATA is not set: no reference values to compare with")
    reference = json.loads((Path(data) / "reference" / "queueing.json").read_text("utf-8"))
    rows = reference["fixed_batches_exact_gpt3"]["rows"]
    sizes = [int(size) for size in rows]
    found = fixed.simulate(100, sizes, GPT3, requests=1_000_000, seed=2)
    for place, row in enumerate(rows.values()):
        for name, key in [("mean", "ET_exact_ms"), ("std", "sd_ms"), ("tail", "P99_ms")]:
            error = ERRORS * getattr(found, name + "_error")[place]
            assert abs(getattr(found, name)[place] - row[key] / 1000) < error


def test_exact_percentiles_that_the_book_claims():
    # P99 of fixed batches at 100 requests/s, found by two exact methods
    exact = {6: 0.2355, 8: 0.1733, 11: 0.2097, 16: 0.2684}
    found = fixed.simulate(100, list(exact), GPT3, requests=1_000_000, seed=4)
    for tail, error, value in zip(found.tail, found.tail_error, exact.values(), strict=True):
        assert abs(tail - value) < ERRORS * error + 0.00005


def test_errors_are_those_of_repeated_runs():
    runs = [fixed.simulate(100, [8], GPT3, seed=seed) for seed in range(40)]
    for name in ("mean", "std", "tail"):
        spread = np.std([getattr(run, name)[0] for run in runs], ddof=1)
        said = np.mean([getattr(run, name + "_error")[0] for run in runs])
        # the spread of 40 runs is itself known to a ninth
        assert said == pytest.approx(spread, rel=0.35)


def test_the_same_seed_gives_the_same_and_sizes_do_not_disturb_each_other():
    one, two = fixed.simulate(100, [8], GPT3, seed=7), fixed.simulate(100, [6, 8], GPT3, seed=7)
    assert one.tail[0] == two.tail[1]
    assert one.tail[0] != fixed.simulate(100, [8], GPT3, seed=8).tail[0]


def test_a_service_far_shorter_than_the_gaps_keeps_its_digits():
    found = fixed.simulate(1e-9, [1], LinearService(0.001, 0))
    assert found.mean[0] == pytest.approx(0.001, rel=1e-9)
    assert found.tail[0] == pytest.approx(0.001, rel=1e-9)


def test_bad_input():
    with pytest.raises(UnstableError, match="batches must be at least 6, .* got 5"):
        fixed.simulate(100, [8, 5], GPT3)
    with pytest.raises(ValueError, match=r"batches\[1\] must be a whole number, got 8.5"):
        fixed.simulate(100, [8, 8.5], GPT3)
    with pytest.raises(ValueError, match="requests must be at least 200 times .* 16, got 3000"):
        fixed.simulate(100, [8, 16], GPT3, requests=3000)
    with pytest.raises(ValueError, match="quantile must be less than 1, got 1"):
        fixed.simulate(100, [8], GPT3, quantile=1)
    with pytest.raises(ValueError, match="batches must be a list of sizes"):
        fixed.simulate(100, 8, GPT3)
