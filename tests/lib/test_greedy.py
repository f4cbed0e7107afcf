"""Formulas of greedy batches against a chain that is solved here, published values and limits."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from serving import LinearService, formulas
from serving.exact import GreedyQueue
from serving.formulas import value

V100 = (0.0018874, 0.0001438)  # Inoue 2021: lines fitted to ResNet-50
P4 = (0.0014284, 0.0005833)
GPT3 = (0.050, 0.0005)
QUEUES = [
    *((0.1 / V100[1], *V100), (0.5 / V100[1], *V100), (0.3 / P4[1], *P4)),
    *((5, *GPT3), (100, *GPT3), (0.4, 1.0, 1.0), (0.9, 0.0, 0.5), (0.7, 1.0, 0.0)),
]
CAP = 150
"""So large that no queue above feels it."""


def chain(rate, t_fixed, t_req, cap, most=300):
    """Batches and their shares, by the number that waits when a service ends."""
    waiting = np.arange(most)
    batch = np.clip(waiting, 1, cap)
    stay = np.maximum(waiting - cap, 0)
    moves = stats.poisson.pmf(waiting - stay[:, None], rate * (t_fixed + t_req * batch)[:, None])
    equations = moves.T - np.eye(most)
    equations[-1] = 1
    return batch, np.linalg.solve(equations, np.eye(most)[-1])


@pytest.mark.parametrize("queue", QUEUES)
def test_mean_batch_and_busy_time_are_those_of_the_chain(queue):
    rate, t_fixed, t_req = queue
    for cap in (CAP, 8):
        if rate * (t_fixed + t_req * cap) > 0.9 * cap:
            continue
        batch, share = chain(*queue, cap)
        mean = share @ batch
        found = value(formulas.greedy_batch, rate, share[0], t_fixed, t_req)
        assert found == pytest.approx(mean, rel=1e-9)
        works, sleeps = share @ (t_fixed + t_req * batch), share[0] / rate
        assert value(formulas.greedy_busy, rate, mean, t_fixed, t_req) == pytest.approx(
            works / (works + sleeps), rel=1e-9
        )


@pytest.mark.parametrize("queue", QUEUES)
def test_responses_without_a_cap_are_exact_and_the_bounds_are_above_them(queue):
    rate, t_fixed, t_req = queue
    batch, share = chain(*queue, CAP)
    mean, square = share @ batch, share @ batch**2
    exact = GreedyQueue(rate, CAP, LinearService(t_fixed, t_req)).mean
    assert value(formulas.greedy_response, rate, mean, square, t_fixed, t_req) == pytest.approx(
        exact, rel=1e-8
    )
    assert value(formulas.greedy_response_by_size, rate, mean, t_fixed, t_req) == pytest.approx(
        exact, rel=1e-8
    )
    light, busy, least = (
        value(one, rate, t_fixed, t_req)
        for one in (formulas.greedy_light_bound, formulas.greedy_busy_bound, formulas.greedy_bound)
    )
    assert least == min(light, busy) >= exact * (1 - 1e-9)


def test_published_values():
    # by hand from the closed forms of Inoue 2021, in milliseconds
    rows = [
        ((0.1 / V100[1], *V100), 3.7700517048, 3.2981818182),
        ((0.5 / V100[1], *V100), 21.1585687529, 5.9018666667),
        ((0.3 / P4[1], *P4), 3.8415028715, 3.7979945055),
    ]
    for queue, light, busy in rows:
        assert 1000 * value(formulas.greedy_light_bound, *queue) == pytest.approx(light, rel=1e-9)
        assert 1000 * value(formulas.greedy_busy_bound, *queue) == pytest.approx(busy, rel=1e-9)
        assert 1000 * value(formulas.greedy_bound, *queue) == pytest.approx(busy, rel=1e-9)
    # where traffic is light the other bound is the smaller: a batch of one, half of one before it
    light = value(formulas.greedy_bound, 0.01, *GPT3)
    assert light == pytest.approx(0.0505 + 0.01 * 0.0505**2 / 2, rel=1e-5)


def test_reference_values():
    folder = os.environ.get("SERVING_DATA")
    if not folder:
        pytest.skip("SERVING_DATA is not set: the reference values are not here")
    data = json.loads((Path(folder) / "reference" / "queueing.json").read_text("utf-8"))
    for name, row in data["inoue_closed_form"]["rows"].items():
        t_fixed, t_req = V100 if name.startswith("V100") else P4
        rate = 1000 * row["lam_per_ms"]
        assert 1000 * value(formulas.greedy_bound, rate, t_fixed, t_req) == pytest.approx(
            row["phi"], rel=1e-9
        )
        found = value(formulas.greedy_response_by_size, rate, row["EB"], t_fixed, t_req)
        assert 1000 * found == pytest.approx(row["ET_exact_ms"], rel=1e-8)
        assert value(formulas.greedy_busy, rate, row["EB"], t_fixed, t_req) == pytest.approx(
            row["util"], rel=1e-9
        )


def mean(rate, cap, half_rate):
    return GreedyQueue(rate, cap, LinearService(half_rate, 1)).mean


@pytest.mark.parametrize("half_rate", [1, 3, 8, 20])
@pytest.mark.parametrize("load", [0.02, 0.3, 0.7, 0.95, 0.99])
def test_one_more_place_does_no_harm_up_to_the_batch_at_half_the_limit(half_rate, load):
    for cap in {1, 2, half_rate // 2, half_rate} - {0}:
        if cap <= half_rate:
            rate = load * cap / (half_rate + cap)
            assert mean(rate, cap + 1, half_rate) <= mean(rate, cap, half_rate) * (1 + 1e-10)


def test_beyond_it_one_more_place_may_harm():
    for load in (0.1, 0.3, 0.5, 0.7, 0.9):
        assert mean(load, 2, 0) > 1.001 * mean(load, 1, 0)
    # in light traffic only the sum of responses of those who wait counts: 2 places against 1
    assert mean(0.01, 2, 0.5) > mean(0.01, 1, 0.5)
    assert mean(0.01, 2, 2) < mean(0.01, 1, 2)
