"""The five steps, and the policy."""

import numpy as np
import pytest

from serving import LinearService, UnstableError, decision
from serving.exact import FixedBatchQueue, GreedyQueue
from serving.policies import Fixed, Greedy

GPT3 = LinearService(0.050, 0.0005)


def test_the_example_is_decided_on_exact_percentiles():
    found = decision.decide(100, GPT3, 0.200, 30)
    assert found.least == 6 and found.batches.tolist() == list(range(6, 31))
    assert found.batches[found.feasible].tolist() == [7, 8, 9, 10]
    assert (found.fastest, found.largest) == (7, 10)
    # by two exact methods, apart from this package
    for batch, tail in [(6, 0.2355), (8, 0.1733), (11, 0.2097), (16, 0.2684)]:
        assert found.tail[found.batches == batch] == pytest.approx(tail, abs=5e-5)
    assert "4 of 25 fixed batches within 200 ms: B = 7 answers soonest, B = 10" in found.reason


def test_the_example_should_take_what_waits():
    found = decision.decide(100, GPT3, 0.200, 30)
    assert found.policy == Greedy(30)
    assert found.greedy.mean == pytest.approx(0.079434, abs=5e-7)
    assert found.enough == found.greedy_tail == pytest.approx(0.10607, abs=5e-6)
    assert found.reason.startswith(
        "take what waits, cap 30: P99 106.1 ms, mean 79.43 ms, against 164.7 ms and 90.69 ms if"
    )


def test_it_decides_where_no_fixed_batch_can():
    found = decision.decide(20, GPT3, 0.200, 30)
    assert found.fastest is None and found.largest is None and not found.feasible.any()
    assert found.policy == Greedy(30)
    assert "0 of 29 fixed batches within 200 ms" in found.reason


def test_fixed_batches_are_recommended_where_they_answer_sooner():
    # without a fixed part a batch of several only makes the first of them wait for the last
    found = decision.decide(100, LinearService(0, 0.005), 0.200, 30)
    assert found.policy == Fixed(1)
    assert found.reason.startswith("fill batches of 1: P99 21.68 ms, mean 7.5 ms, against")
    # and near capacity small batches waste what a cap of 8 leaves
    full, waiting = FixedBatchQueue(140, 8, GPT3), GreedyQueue(140, 8, GPT3)
    assert full.mean < waiting.mean and full.quantile(0.99) < waiting.quantile(0.99)
    assert decision.decide(140, GPT3, 0.4, 8).policy == Fixed(8)
    between = (full.quantile(0.99) + waiting.quantile(0.99)) / 2
    assert decision.decide(140, GPT3, between, 8).policy == Fixed(8)


def test_a_cap_of_one_is_both_policies():
    for rate in (5, 10, 15, 19):
        found = decision.decide(rate, GPT3, 9, 1)
        assert found.tail[0] == pytest.approx(found.greedy_tail, rel=1e-9)
        assert (found.policy, found.fastest) == (Greedy(1), 1)


@pytest.mark.parametrize(("rate", "cap"), [(100, 30), (140, 8), (5, 1)])
def test_where_nothing_meets_the_limit_it_says_what_would_be_enough(rate, cap):
    found = decision.decide(rate, GPT3, 0.060, cap)
    assert found.policy is None
    enough = f"{1000 * found.enough:.4g} ms"
    assert found.reason.startswith(f"nothing meets 60 ms, and {enough} would be enough")
    assert f"P99 {enough}" in found.reason
    assert decision.decide(rate, GPT3, found.enough, cap).policy
    assert not decision.decide(rate, GPT3, found.enough * (1 - 1e-9), cap).policy


def test_rules_of_thumb_are_comparisons():
    found = decision.decide(100, GPT3, 0.200, 30)
    gauss, exponential = found.rules["gaussian"], found.rules["exponential"]
    assert found.batches[gauss.feasible].tolist() == [6, 7, 8, 9, 10, 11]
    assert not exponential.feasible.any()
    # exact mean plus 2.3263 exact standard deviations, as published with the exact law
    for batch, tail in [(6, 0.1961), (8, 0.1591), (16, 0.2579)]:
        assert gauss.tail[found.batches == batch] == pytest.approx(tail, abs=2e-4)
    assert exponential.tail.min() == pytest.approx(0.0907 * 4.6052, rel=1e-3)
    assert all("rule of thumb: holds if" in rule.condition for rule in found.rules.values())
    with_other = decision.decide(100, GPT3, 0.200, 30, std=0)
    assert with_other.rules["gaussian"].feasible.sum() == 23
    assert with_other.reason == found.reason


@pytest.mark.parametrize("std", [0.03, [0.03] * 25])
def test_a_given_standard_deviation(std):
    found = decision.decide(100, GPT3, 0.2, 30, std=std)
    spread = found.rules["gaussian"].tail - found.mean
    np.testing.assert_allclose(spread, 2.3263 * 0.03, rtol=1e-4)


def test_another_percentile():
    found = decision.decide(100, GPT3, 0.2, 30, quantile=0.5)
    assert found.tail[2] == FixedBatchQueue(100, 8, GPT3).quantile(0.5)
    assert found.greedy_tail == GreedyQueue(100, 30, GPT3).quantile(0.5)
    np.testing.assert_allclose(found.rules["gaussian"].tail, found.mean, rtol=1e-12)
    np.testing.assert_allclose(found.rules["exponential"].tail, found.mean * np.log(2), rtol=1e-12)
    assert "P50 " in found.reason


def test_measurements_are_fitted_and_measured_percentiles_used():
    found = decision.decide(
        100,
        ([1, 8, 32], [0.0505, 0.054, 0.066]),
        0.200,
        30,
        percentiles={4: 0.1, 8: 0.19, 16: 0.27, 64: 0.1},
    )
    assert found.service.t_fixed == pytest.approx(0.050)
    assert found.batches.tolist() == [8, 16]
    assert found.tail.tolist() == [0.19, 0.27]
    assert (found.fastest, found.largest) == (8, 8)
    assert "traffic that was measured" in found.condition
    assert found.reason.endswith("1 of 2 fixed batches within 200 ms: B = 8")


def test_a_cap_below_the_least_stable_batch():
    with pytest.raises(UnstableError, match="max_batch must be at least 6 .* got 5"):
        decision.decide(100, GPT3, 0.2, 5)
    with pytest.raises(UnstableError, match="arrival_rate must be below 2000"):
        decision.decide(2000, GPT3, 0.2, 30)
    # a load of exactly one at B = 7 is not a candidate
    assert decision.decide(100, LinearService(0.07, 0), 1, 30).least == 8


def test_a_size_at_the_brink_is_stable_and_no_candidate():
    # 7 requests at 100 a second against 69.9999 ms: a load of 1 - 1.4e-6
    found = decision.decide(100, LinearService(0.0699999, 0), 1, 30)
    assert found.least == 7 and found.batches[0] == 8


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"std": [0.1, 0.2]}, "one for each of 25 candidates"),
        ({"percentiles": {}}, "percentiles must hold a size and its time"),
        ({"percentiles": {3: 0.1}}, "percentiles must hold a size from 6"),
        ({"max_batch": 513}, "max_batch must be at most 512, got 513"),
        ({"quantile": 0.4}, "quantile must be at least 0.5, got 0.4"),
        ({"quantile": 1}, "quantile must be less than 1, got 1"),
    ],
)
def test_bad_input(options, words):
    arguments = {"arrival_rate": 100, "service": GPT3, "slo": 0.2, "max_batch": 30} | options
    with pytest.raises(ValueError, match=words):
        decision.decide(**arguments)
