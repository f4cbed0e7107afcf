"""Efficient points, knees and crossings."""

import numpy as np
import pytest

from serving import LinearService, measurements, tradeoff


def test_pareto_by_comparing_every_pair():
    rng = np.random.default_rng(14)
    for size in (0, 1, 2, 7, 60):
        for ties in (3, 10**6):
            throughput, latency = rng.integers(0, ties, (2, size)).astype(float)
            expected = [
                not np.any((throughput >= x) & (latency <= y) & ((throughput > x) | (latency < y)))
                for x, y in zip(throughput, latency, strict=True)
            ]
            assert tradeoff.pareto(throughput, latency).tolist() == expected


def test_equal_points_do_not_dominate_each_other():
    assert tradeoff.pareto([5, 5, 4], [1, 1, 1]).tolist() == [True, True, False]


def test_order_of_the_points_does_not_matter():
    rng = np.random.default_rng(15)
    throughput, latency = rng.random((2, 40))
    order = rng.permutation(40)
    whole = tradeoff.pareto(throughput, latency)
    assert tradeoff.pareto(throughput[order], latency[order]).tolist() == whole[order].tolist()


def test_knee_of_a_measured_curve_is_near_that_of_its_line():
    service = LinearService(0.050, 0.0005)
    sizes = np.arange(1, 33)
    # the root of the product of the two ends is 57.7 ms, which a batch of 15.5 takes
    assert tradeoff.knee(sizes, service.rate(sizes)) in {15.0, 16.0}


@pytest.mark.parametrize(
    ("batches", "throughput", "words"),
    [
        ([1, 2], [1, 3], "batches must hold three"),
        ([1, 2, 2], [1, 3, 4], r"batches must increase, got 2\.0 at index 2"),
        ([1, 2, 3], [3, 2, 1], "throughput must be greater at the end"),
        ([1, 2, 3], [1, 2, 3], "throughput must bend downwards"),
        ([1, 2, 3], [1, 1.5, 3], "throughput must bend downwards"),
        ([1, 2, 3], [1, 2], "batches and throughput must be two lists of equal length"),
    ],
)
def test_curves_without_a_knee(batches, throughput, words):
    with pytest.raises(ValueError, match=words):
        tradeoff.knee(batches, throughput)


def test_crossing_is_the_last_one():
    # a tail falls, then rises: only the way up counts
    assert tradeoff.crossing([6, 7, 8, 10], [0.3, 0.1, 0.2, 0.4], 0.25) == pytest.approx(8.5)
    assert tradeoff.crossing([1, 2], [0.1, 0.2], 0.1) == 1


@pytest.mark.parametrize("limit", [0.05, 0.2, 0.3])
def test_a_limit_that_is_not_crossed(limit):
    with pytest.raises(ValueError, match="limit must be crossed within the measured batches"):
        tradeoff.crossing([1, 2], [0.1, 0.2], limit)


def test_published_curves():
    assert len(measurements.curve_names()) == 6
    with pytest.raises(ValueError, match="name must be one of source-drawing"):
        measurements.curve("llama")
    for name in measurements.curve_names():
        one = measurements.curve(name)
        assert one.batches.shape == one.throughput.shape == one.latency.shape
        # a batch writes at most one token for each request in the time of a step
        if name != "source-drawing":
            assert np.all(one.throughput * one.latency / one.batches < 1.02)


def test_the_drawn_curve_breaks_littles_law_for_a_fixed_answer_length():
    drawn = measurements.curve("source-drawing")
    tokens = drawn.throughput * drawn.latency / drawn.batches
    assert tokens[0] == pytest.approx(2.4, abs=0.05)
    assert tokens[-1] == pytest.approx(19.7, abs=0.05)
