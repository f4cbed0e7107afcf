"""A single server: departures from it, and its long-run means."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from serving import UnstableError, queues


def test_departures_follow_lindleys_recursion():
    rng = np.random.default_rng(4)
    arrivals = np.cumsum(rng.exponential(1.0, 500))
    services = rng.gamma(2.0, 0.45, 500)
    free, expected = 0.0, []
    for arrival, service in zip(arrivals, services, strict=True):
        free = max(free, arrival) + service
        expected.append(free)
    np.testing.assert_allclose(queues.departures(arrivals, services), expected, rtol=1e-12)


def test_an_idle_server_adds_only_the_service_time():
    assert queues.departures([0, 10, 20], 3).tolist() == [3, 13, 23]
    assert queues.departures([], 3).tolist() == []


@pytest.mark.parametrize(
    ("arrivals", "services", "words"),
    [
        ([0, 2, 1], 1, "arrivals must not decrease, got 1.0 at index 2"),
        ([0, 1], [1, -1], r"services\[1\] must be finite and at least 0"),
        ([0, 1], [1, 1, 1], "as many as arrivals"),
        ([0, np.nan], 1, r"arrivals\[1\] must be finite"),
        ([0, 1e308], 1e308, "finite float64"),
    ],
)
def test_sequences_that_are_no_queue(arrivals, services, words):
    with pytest.raises(ValueError, match=words):
        queues.departures(arrivals, services)


def test_mm1_as_a_textbook_has_it():
    # Jain 1991, example 31.1: a gateway gets 125 packets/s and takes 2 ms for each
    gateway = queues.mm1(arrival_rate=125, service_rate=500)
    assert gateway.utilization == 0.25
    assert gateway.mean_number == pytest.approx(0.33, abs=0.005)
    assert gateway.mean_response == pytest.approx(0.00266, abs=0.00001)


def test_means_obey_littles_law_and_the_load_is_who_is_served():
    for queue in (queues.mm1(3, 4), queues.mg1(3, 0.25, 0.2)):
        assert queue.mean_number == pytest.approx(3 * queue.mean_response, rel=1e-12)
        assert queue.mean_waiting == pytest.approx(3 * queue.mean_wait, rel=1e-12)
        assert queue.mean_number - queue.mean_waiting == pytest.approx(0.75, rel=1e-12)
        assert queue.utilization == 0.75


def test_exponential_service_makes_mg1_an_mm1():
    general, special = queues.mg1(3, 0.25, 2 * 0.25**2), queues.mm1(3, 4)
    for name in ("utilization", "mean_wait", "mean_response", "mean_number", "mean_waiting"):
        assert getattr(general, name) == pytest.approx(getattr(special, name), rel=1e-12)


def test_no_arrivals_no_queue():
    for queue in (queues.mm1(0, 4), queues.mg1(0, 0.25, 0.0625)):
        assert (queue.mean_wait, queue.mean_number, queue.mean_response) == (0, 0, 0.25)


def test_means_near_capacity_are_exact_and_at_it_refused():
    # ten times a tenth is one, although the floats differ
    with pytest.raises(UnstableError, match="arrival_rate = 10"):
        queues.mg1(10, 0.1, 0.02)
    with pytest.raises(UnstableError, match="arrival_rate < service_rate is required"):
        queues.mm1(0.3, 0.3)
    assert queues.mm1(1 - 1e-15, 1).mean_number == pytest.approx(1e15, rel=1e-12)


def test_a_second_moment_below_the_squared_mean_is_impossible():
    with pytest.raises(ValueError, match=r"service_second_moment = 0\.5"):
        queues.mg1(0.1, 1.0, 0.5)


@pytest.mark.parametrize(("trace", "mean", "variation"), [("conv", 211, 0.77), ("code", 28, 2.15)])
def test_answer_lengths_vary_as_chapter_4_says(trace, mean, variation):
    data = os.environ.get("SERVING_DATA")
    if not data:
        pytest.skip("SERVING_DATA is not set: no traces to compare with")
    path = Path(data) / "traces" / f"AzureLLMInferenceTrace_{trace}.csv.gz"
    tokens = pd.read_csv(path)["GeneratedTokens"]
    # half a unit in the last digit that the text shows
    assert tokens.mean() == pytest.approx(mean, abs=0.5)
    assert tokens.std() / tokens.mean() == pytest.approx(variation, abs=0.005)
