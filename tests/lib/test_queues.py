"""Departures from a single server."""

import numpy as np
import pytest

from serving import queues


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
