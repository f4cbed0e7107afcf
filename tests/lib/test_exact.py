"""Exact response times against a second method, limits, identities and published values."""

import json
import math
import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from serving import LinearService, UnstableError, formulas, queues
from serving._walk import Walk
from serving.exact import FixedBatchQueue, GreedyQueue
from serving.formulas import value

GPT3 = LinearService(t_fixed=0.050, t_req=0.0005)


@pytest.mark.parametrize(("size", "load"), [(1, 0.9), (8, 0.675), (64, 0.01), (512, 0.95)])
def test_ascents_are_the_sums_that_define_them(size, load):
    walk = Walk(size, Fraction(str(load)))
    steps = np.arange(1, 4000)[:, None]
    k = np.arange(1, 30)
    direct = np.sum(stats.poisson.pmf(steps * size + k, steps * size * load) / steps, axis=0)
    np.testing.assert_allclose(walk.ascents[1:30], direct, rtol=1e-9)


@pytest.mark.parametrize("load", [1e-6, 0.3, 0.9, 0.999, 0.9999])
def test_batches_of_one_wait_as_pollaczek_and_khinchine_say(load):
    for queue in (
        FixedBatchQueue(load, 1, LinearService(1, 0)),
        GreedyQueue(load, 1, LinearService(1, 0)),
    ):
        wait = value(formulas.pollaczek_khinchine_wait, load, 1, 1)
        assert queue.mean_wait == pytest.approx(wait, rel=1e-10)
        # Takács: E[W^2] = 2 E[W]^2 + rate E[S^3] / (3 (1 - load)).
        variance = wait**2 + load / (3 * (1 - load))
        assert queue.std == pytest.approx(math.sqrt(variance), rel=1e-8)


def md1_wait_cdf(time, load):
    """Erlang's alternating sum, for few services only: it cancels."""
    past = np.arange(int(time) + 1)
    terms = (-load * (time - past)) ** past / [math.factorial(n) for n in past]
    return (1 - load) * np.sum(terms * np.exp(load * (time - past)))


@pytest.mark.parametrize("load", [0.2, 0.7])
@pytest.mark.parametrize("wait", [0, 0.5, 1, 2.25, 3.999])
def test_the_law_of_a_batch_of_one_is_erlangs(load, wait):
    queue = FixedBatchQueue(load, 1, LinearService(1, 0))
    greedy = GreedyQueue(load, 1, LinearService(1, 0))
    assert queue.cdf(1 + wait) == pytest.approx(md1_wait_cdf(wait, load), rel=1e-10)
    assert greedy.cdf(1 + wait) == pytest.approx(md1_wait_cdf(wait, load), rel=1e-10)


@pytest.mark.parametrize(("batch", "rate", "workers"), [(6, 100, 1), (8, 100, 1), (3, 110, 2)])
def test_fixed_batches_against_a_long_draw(batch, rate, workers):
    gaps = np.random.default_rng(1).exponential(1 / rate, (200_000, batch))
    arrivals = np.cumsum(gaps).reshape(gaps.shape)
    full = arrivals[:, -1]
    ends = np.empty_like(full)
    for worker in range(workers):  # the order of service makes the workers take turns
        ends[worker::workers] = queues.departures(full[worker::workers], GPT3.time(batch))
    times = (ends[:, None] - arrivals).mean(axis=1)
    means = times[: times.size // 100 * 100].reshape(100, -1).mean(axis=1)
    queue = FixedBatchQueue(rate, batch, GPT3, workers)
    assert abs(means.mean() - queue.mean) < 3.9 * means.std(ddof=1) / 10
    late = np.mean(ends[:, None] - arrivals > queue.quantile(0.9), axis=1)
    shares = late[: late.size // 100 * 100].reshape(100, -1).mean(axis=1)
    assert abs(shares.mean() - 0.1) < 3.9 * shares.std(ddof=1) / 10


def greedy_times(rate, size, service, requests, buffer=math.inf, seed=2):
    """Response times by going from service to service; None for those lost."""
    arrivals = np.cumsum(np.random.default_rng(seed).exponential(1 / rate, requests))
    times = np.full(requests, np.nan)
    now, waiting, soon = 0.0, [], 0
    while soon < requests or waiting:
        if not waiting:
            now = arrivals[soon]
            waiting, soon = [soon], soon + 1
        taken, waiting = waiting[:size], waiting[size:]
        now += service.time(len(taken))
        times[taken] = now - arrivals[taken]
        while soon < requests and arrivals[soon] < now:
            if len(waiting) < buffer:
                waiting.append(soon)
            soon += 1
    return times


@pytest.mark.parametrize(
    ("rate", "size", "buffer"), [(100, 16, None), (140, 8, None), (200, 8, 8), (300, 4, 9)]
)
def test_greedy_batches_against_going_from_service_to_service(rate, size, buffer):
    drawn = greedy_times(rate, size, GPT3, 60_000, math.inf if buffer is None else buffer)
    queue = GreedyQueue(rate, size, GPT3, buffer)
    rows = drawn.reshape(60, -1)
    for rows_of, exactly in (
        (np.nanmean(rows, axis=1), queue.mean),
        (np.nanmean(rows**2, axis=1), queue.mean**2 + queue.std**2),
        (np.nanmean(rows > queue.quantile(0.95), axis=1) * 1.0, None),
        (np.isnan(rows).mean(axis=1), queue.loss),
    ):
        if exactly is None:
            served = ~np.isnan(rows)
            rows_of = np.sum((rows > queue.quantile(0.95)) & served, axis=1) / served.sum(axis=1)
            exactly = 0.05
        error = rows_of.std(ddof=1) / math.sqrt(60)
        assert abs(rows_of.mean() - exactly) <= 3.9 * error


@pytest.mark.parametrize("batch", [6, 10, 33])
@pytest.mark.parametrize("kind", [FixedBatchQueue, GreedyQueue])
def test_moments_are_those_of_the_law(kind, batch):
    queue = kind(100, batch, GPT3)
    least = GPT3.time(batch if kind is FixedBatchQueue else 1)
    times = np.linspace(least, queue.mean + 25 * queue.std, 3001)
    longer = queue.sf(times)
    mean = least + integrate.simpson(longer, x=times)
    square = least**2 + integrate.simpson(2 * times * longer, x=times)
    assert queue.mean == pytest.approx(mean, rel=1e-4)
    assert queue.std == pytest.approx(math.sqrt(square - mean**2), rel=1e-3)


def test_a_cap_that_is_never_reached_does_not_matter():
    capped, free = GreedyQueue(10, 16, GPT3), GreedyQueue(10, 200, GPT3)
    for name in ("mean", "std", "busy", "mean_batch", "mean_wait"):
        assert getattr(capped, name) == pytest.approx(getattr(free, name), rel=1e-9)
    assert capped.quantile(0.99) == pytest.approx(free.quantile(0.99), rel=1e-9)


def test_a_buffer_that_is_never_full_does_not_matter():
    buffered, free = GreedyQueue(100, 8, GPT3, 100), GreedyQueue(100, 8, GPT3)
    assert buffered.loss == pytest.approx(0, abs=1e-12)
    for name in ("mean", "std", "busy", "mean_batch", "mean_wait"):
        assert getattr(buffered, name) == pytest.approx(getattr(free, name), rel=1e-8)
    assert buffered.quantile(0.99) == pytest.approx(free.quantile(0.99), rel=1e-9)


def test_no_places_to_wait_lose_what_erlang_says():
    # With one at a time and no place to wait, Erlang's loss for one server, whatever the service.
    queue = GreedyQueue(30, 1, LinearService(0.1, 0), 0)
    assert queue.loss == pytest.approx(3 / 4, rel=1e-12)
    assert (queue.mean, queue.std) == (0.1, 0)


def test_greedy_serves_what_arrives():
    for rate, size in ((1e-6, 16), (100, 6), (700, 64), (1400, 300)):
        queue = GreedyQueue(rate, size, GPT3)
        assert queue.busy == pytest.approx(
            rate * (GPT3.t_fixed / queue.mean_batch + GPT3.t_req), rel=1e-10
        )


def test_inoues_bounds_hold_and_a_light_server_meets_them():
    """Inoue 2021: bounds on the mean response without a cap; tables for V100 and P4."""
    for rate, r, t_fixed, exactly in (
        (0.6954102920723226, 0.1, 1.8886, None),
        (3.477051460361613, 0.5, 1.8886, 5.9018645689989935),
    ):
        alpha = r / rate
        queue = GreedyQueue(rate, 150, LinearService(t_fixed, alpha))
        free = (alpha + t_fixed) / (2 * (1 - r))
        first = free * (1 + 2 * rate * t_fixed + (1 - rate * t_fixed) / (1 + r))
        second = 1.5 * t_fixed / (1 - r) + alpha / 2 * (r + 2) / (1 - r**2)
        assert queue.mean <= min(first, second)
        if exactly:
            assert queue.mean == pytest.approx(exactly, rel=2e-3)


def test_the_example_has_its_exact_optimum_at_seven():
    means = {batch: FixedBatchQueue(100, batch, GPT3).mean for batch in range(6, 33)}
    assert min(means, key=means.get) == 7
    admitted = [b for b in means if FixedBatchQueue(100, b, GPT3).quantile(0.99) <= 0.200]
    assert admitted == [7, 8, 9, 10]


def reference(name):
    folder = os.environ.get("SERVING_DATA")
    if not folder:
        pytest.skip("SERVING_DATA is not set: the table of right values is not here")
    return json.loads((Path(folder) / "reference" / "queueing.json").read_text("utf-8"))[name]


def test_fixed_batches_agree_with_the_table_of_right_values():
    for batch, row in reference("fixed_batches_exact_gpt3")["rows"].items():
        queue = FixedBatchQueue(100, int(batch), GPT3)
        assert queue.mean_wait * 1000 == pytest.approx(row["EW_exact_ms"], rel=1e-6)
        assert queue.mean * 1000 == pytest.approx(row["ET_exact_ms"], rel=1e-6)
        assert queue.std * 1000 == pytest.approx(row["sd_ms"], rel=1e-6)
        for q in ("50", "90", "95", "99", "999"):
            quantile = queue.quantile(float(f"0.{q}"))
            assert quantile * 1000 == pytest.approx(row[f"P{q}_ms"], rel=1e-5)


def test_greedy_batches_agree_with_the_table_of_right_values():
    for name, row in reference("work_conserving_exact").items():
        rate, cap = (int(part.lstrip("lamBx_")) for part in name.split("_"))
        queue = GreedyQueue(rate, cap, GPT3)
        assert queue.mean * 1000 == pytest.approx(row["ET_ms"], rel=1e-6)
        assert (queue.mean_batch, queue.busy) == pytest.approx((row["EB"], row["util"]), rel=1e-6)
        for q in ("50", "95", "99"):
            quantile = queue.quantile(float(f"0.{q}"))
            assert quantile * 1000 == pytest.approx(row[f"P{q}_ms"], rel=1e-5)
    for name, row in reference("work_conserving_finite_buffer").items():
        if name != "note":
            rate, cap, buffer = (int(part.lstrip("lamBxK_")) for part in name.split("_"))
            queue = GreedyQueue(rate, cap, GPT3, buffer)
            assert queue.loss == pytest.approx(row["loss"], rel=1e-6)
            assert queue.mean * 1000 == pytest.approx(row["ET_ms"], rel=1e-6)


def test_waits_of_m_d_c_agree_with_the_table_of_right_values():
    for name, row in reference("mdc_exact").items():
        servers, load = int(name.split("_")[0][1:]), float(name.split("rho")[1])
        queue = FixedBatchQueue(servers * load, 1, LinearService(1, 0), servers)
        assert queue.mean_wait == pytest.approx(row["Wq_over_D"], rel=1e-6)
        assert 1 - queue.cdf(1) == pytest.approx(row["P_delay"], rel=1e-6)
        late = optimize.brentq(lambda t: queue.sf(1 + t) - 0.01, 0, 50)  # noqa: B023
        assert late == pytest.approx(row["P99_wait_over_D"], rel=1e-5)


def test_the_edges_keep_their_digits():
    for size, workers in ((1, 1), (512, 1), (32, 64)):
        capacity = workers * GPT3.rate(size)
        queue = FixedBatchQueue(0.999 * capacity, size, GPT3, workers)
        assert queue.quantile(0.5) < queue.mean < queue.quantile(0.99)
    # Close to capacity the wait is exponential: one half the excess of the scaled gaps.
    queue = FixedBatchQueue(0.9999, 1, LinearService(1, 0))
    assert queue.mean_wait == pytest.approx(0.5 / 0.0001, rel=1e-3)
    assert queue.quantile(0.99) == pytest.approx(-math.log(0.01) * 0.5 / 0.0001, rel=1e-3)
    assert GreedyQueue(500, 512, LinearService(0.05, 0)).mean == pytest.approx(0.075, rel=1e-9)


def test_overload_says_what_would_be_enough():
    with pytest.raises(UnstableError, match="a batch of 6, or 2 workers"):
        FixedBatchQueue(100, 5, GPT3)
    with pytest.raises(UnstableError, match="a batch of 6, or 2 workers"):
        GreedyQueue(100, 5, GPT3)
    with pytest.raises(UnstableError, match="with batches of 64: it takes 4 workers"):
        FixedBatchQueue(3000, 64, GPT3)
    with pytest.raises(ValueError, match=r"arrival_rate = .* is within 1e-05 of capacity"):
        FixedBatchQueue(20 * (1 - 1e-9), 1, LinearService(0.05, 0))
    with pytest.raises(ValueError, match=r"q must be less than 1, got 1\.5"):
        FixedBatchQueue(100, 8, GPT3).quantile(1.5)
