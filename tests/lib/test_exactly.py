"""Closed forms around fixed batches against draws, exact laws, limits and published bounds."""

import math

import numpy as np
import pytest
from scipy import stats

from serving import LinearService, formulas, queues
from serving.exact import FixedBatchQueue
from serving.formulas import value

GPT3 = LinearService(t_fixed=0.050, t_req=0.0005)


@pytest.mark.parametrize("batch", [1, 2, 8, 33])
def test_gathering_varies_as_the_mixture_of_erlang_laws(batch):
    rate = 100
    laws = stats.gamma(np.arange(1, batch), scale=1 / rate)  # all but the last request
    square = np.sum(laws.moment(2)) / batch if batch > 1 else 0.0
    mean = np.sum(laws.mean()) / batch
    assert value(formulas.gathering_variance, rate, batch) == pytest.approx(
        square - mean**2, rel=1e-12, abs=1e-18
    )


@pytest.mark.parametrize(("batch", "load"), [(2, 0.7), (5, 0.8), (8, 0.675)])
def test_variance_of_fixed_batches_is_that_of_its_parts_in_a_draw(batch, load):
    rate, time, count = 100, load * batch / 100, 120_000
    arrivals = np.cumsum(np.random.default_rng(3).exponential(1 / rate, count * batch))
    full = arrivals[batch - 1 :: batch]
    starts = queues.departures(full, time) - time
    behind = np.searchsorted(arrivals, starts) - batch * np.arange(1, count + 1)
    drawn = starts[:, None] - arrivals.reshape(count, batch)
    gaps = [
        times.var()
        - value(formulas.fixed_batch_variance, rate, batch, waits.std(), np.mean(left >= 1))
        for times, waits, left in zip(
            np.split(drawn, 40), np.split(starts - full, 40), np.split(behind, 40), strict=True
        )
    ]
    error = np.std(gaps, ddof=1) / math.sqrt(40)
    assert error < 0.01 * drawn.var()
    assert abs(np.mean(gaps)) < 3.9 * error  # holds for 999 of 1000 draws


def test_variance_without_waits_is_that_of_gathering():
    assert value(formulas.fixed_batch_variance, 50, 9, 0, 0) == value(
        formulas.gathering_variance, 50, 9
    )


def test_kingman_worked_by_hand():
    # Gaps of 3 or 1 s at random, services of 1 s: rate 1/2, deviations 1 and 0.
    assert value(formulas.kingman_wait, 0.5, 1, 1, 0) == 0.5
    # Poisson arrivals: the gaps deviate by their mean, and the bound is above the true wait.
    assert value(formulas.kingman_wait, 2, 0.25, 0.5, 0.25) == pytest.approx(0.625)


def test_kingman_is_the_bound_that_an_mg1_queue_misses_by_half_of_its_idle_gap():
    # Marshall 1968: for Poisson arrivals Kingman exceeds the wait by (1 + load) / (2 rate).
    rate, mean, deviation = 3.0, 0.25, 0.4
    wait = value(formulas.pollaczek_khinchine_wait, rate, mean, mean**2 + deviation**2)
    bound = value(formulas.kingman_wait, rate, mean, 1 / rate, deviation)
    assert bound - wait == pytest.approx((1 + rate * mean) / (2 * rate), rel=1e-12)


def test_allen_cunneen_is_exact_for_poisson_arrivals():
    mean, cv, rate = 0.02, 1.7, 40
    wait = value(formulas.pollaczek_khinchine_wait, rate, mean, mean**2 * (1 + cv**2))
    assert value(formulas.allen_cunneen_wait, rate * mean, mean, 1, cv) == pytest.approx(
        wait, rel=1e-12
    )
    assert value(formulas.allen_cunneen_wait, 0.5, 1, 0, 0) == 0


@pytest.mark.parametrize("load", [0.05, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("batch", [2, 5, 40])
def test_the_wait_of_full_batches_is_below_both(load, batch):
    queue = FixedBatchQueue(1.0, batch, LinearService(load * batch, 0))
    estimate = value(formulas.allen_cunneen_wait, load, load * batch, batch**-0.5, 0)
    bound = value(formulas.kingman_wait, 1 / batch, load * batch, batch**0.5, 0)
    assert queue.mean_wait < estimate < bound
    if load == 0.999:  # of a bound of 500 s; what is missing grows as the root of the batch
        assert bound - queue.mean_wait < 1 + 0.6 * batch**0.5


@pytest.mark.parametrize("remaining", [0, 0.3, 0.7, 0.95])
@pytest.mark.parametrize("bound", [6.3, 21, 90])
def test_the_square_root_rule_finds_batches_close_to_the_best(bound, remaining):
    service = LinearService(bound * (1 - remaining), remaining)
    rule = value(formulas.square_root_batch, 1, service.t_fixed, service.t_req)
    near = np.arange(math.floor(rule) - 2, math.floor(rule) + 4)
    means = [
        FixedBatchQueue(1, int(size), service).mean if size > bound else math.inf for size in near
    ]
    best = near[int(np.argmin(means))]
    # An approximation: within a request and a quarter of the best whole batch.
    assert abs(best - rule) < 1.25
    assert FixedBatchQueue(1, round(rule), service).mean < 1.01 * min(means)


def test_the_square_root_rule_worked_by_hand():
    # Load 2/5 of its own, a bound of 10: ten, and the root of 20 over 3 (1 - 4/25).
    assert value(formulas.square_root_batch, 200, 0.030, 0.002) == pytest.approx(
        10 + math.sqrt(20 / 2.52), rel=1e-12
    )
