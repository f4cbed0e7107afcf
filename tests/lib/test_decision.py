"""The five steps."""

import numpy as np
import pytest

from serving import LinearService, UnstableError, decision, surrogate

GPT3 = LinearService(0.050, 0.0005)


def test_the_example_is_decided_as_the_exact_queue_decides_it():
    # exact percentiles are under 200 ms for B = 7 to 10 alone, the least mean is at 7
    found = decision.decide(100, GPT3, 0.200, 30)
    assert found.least == 6 and found.batches.tolist() == list(range(6, 31))
    assert found.batches[found.feasible].tolist() == [7, 8, 9, 10]
    assert (found.fastest, found.largest) == (7, 10)
    assert "4 of 25 candidates" in found.reason and "B = 7 answers soonest" in found.reason


def test_gaussian_rule_admits_what_is_late():
    found = decision.decide(100, GPT3, 0.200, 30, rule="gaussian", requests=1_000_000)
    assert found.batches[found.feasible].tolist() == [6, 7, 8, 9, 10, 11]
    # exact mean plus 2.3263 exact standard deviations, as published with the exact law
    for batch, tail in [(6, 0.1961), (8, 0.1591), (16, 0.2579)]:
        assert found.tail[found.batches == batch] == pytest.approx(tail, rel=0.01)


def test_exponential_rule_admits_nothing_and_says_what_would_do():
    found = decision.decide(100, GPT3, 0.200, 30, rule="exponential")
    assert found.fastest is None and found.largest is None and not found.feasible.any()
    assert found.enough == pytest.approx(0.0907 * 4.6052, rel=0.01)
    assert "none of 25 candidates" in found.reason and "would be enough" in found.reason
    again = decision.decide(100, GPT3, found.enough, 30, rule="exponential")
    assert again.fastest == again.largest == 7


def test_surrogate_means_are_the_surrogates_and_need_no_simulation():
    found = decision.decide(
        100, GPT3, 1.0, 30, rule="exponential", mean="surrogate", requests=1, quantile=0.9
    )
    np.testing.assert_allclose(
        found.mean, surrogate.response(100, np.arange(6, 31), GPT3).total, rtol=1e-12
    )
    assert found.fastest == surrogate.optimum(100, GPT3) == 10
    np.testing.assert_allclose(found.tail, found.mean * np.log(10), rtol=1e-12)
    assert not found.tail_error.any() and not found.uncertain.any()


@pytest.mark.parametrize("std", [0.03, [0.03] * 25, lambda sizes: sizes * 0 + 0.03])
def test_a_given_standard_deviation(std):
    found = decision.decide(100, GPT3, 0.2, 30, rule="gaussian", mean="surrogate", std=std)
    np.testing.assert_allclose(found.tail - found.mean, 2.3263 * 0.03, rtol=1e-4)


def test_measurements_are_fitted_and_measured_percentiles_used():
    found = decision.decide(
        100,
        ([1, 8, 32], [0.0505, 0.054, 0.066]),
        0.200,
        30,
        rule="measured",
        percentiles={4: 0.1, 8: 0.19, 16: 0.27, 64: 0.1},
    )
    assert found.service.t_fixed == pytest.approx(0.050)
    assert found.batches.tolist() == [8, 16]
    assert (found.fastest, found.largest) == (8, 8)
    assert "traffic that was measured" in found.condition


def test_what_the_simulation_cannot_tell_is_said():
    tail = decision.decide(100, GPT3, 0.2, 30).tail[3]
    found = decision.decide(100, GPT3, float(tail), 30)
    assert found.uncertain.tolist() == [size == 9 for size in range(6, 31)]
    assert "too close for this simulation to tell: B = 9" in found.reason


def test_a_cap_below_the_least_stable_batch():
    with pytest.raises(UnstableError, match="max_batch must be at least 6, .* got 5"):
        decision.decide(100, GPT3, 0.2, 5)
    with pytest.raises(UnstableError, match="arrival_rate must be below 2000"):
        decision.decide(2000, GPT3, 0.2, 30)
    # a load of exactly one at B = 7 is not a candidate
    assert decision.decide(100, LinearService(0.07, 0), 1, 30).least == 8


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rule": "student"}, "rule must be one of simulated, gaussian, exponential, measured"),
        ({"mean": "median"}, "mean must be one of simulated, surrogate, got 'median'"),
        ({"std": 0.1}, "std must be left out unless rule = 'gaussian', got 0.1"),
        ({"std": [0.1, 0.2], "rule": "gaussian"}, "one for each of 25 candidates"),
        ({"rule": "measured"}, "percentiles must be given"),
        ({"percentiles": {8: 0.1}}, "with rule = 'simulated'"),
        ({"rule": "measured", "percentiles": {3: 0.1}}, "percentiles must hold a size from 6"),
        ({"max_batch": 10_000}, "max_batch must be less than 6 \\+ 2000"),
        ({"quantile": 0.4}, "quantile must be at least 0.5, got 0.4"),
        ({"quantile": 1}, "quantile must be less than 1, got 1"),
    ],
)
def test_bad_input(options, words):
    arguments = {"arrival_rate": 100, "service": GPT3, "slo": 0.2, "max_batch": 30} | options
    with pytest.raises(ValueError, match=words):
        decision.decide(**arguments)
