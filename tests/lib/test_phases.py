"""Closed forms of chapter 17 against limits, a queue followed by hand, and the engine."""

import itertools

import numpy as np
import pytest

from serving import LinearService, engine, queues
from serving import formulas as f

FIXED, EACH, READ = 0.020, 0.00025, 0.0001
STEP = LinearService(t_fixed=FIXED, t_req=EACH)


def test_a_prompt_alone():
    assert f.prefill_time(1000, FIXED, READ) == pytest.approx(0.120)
    run = engine.simulate(
        0.01, 1, STEP, 1000, prefill=engine.Whole(READ, budget=1), requests=64, seed=1
    )
    assert f.prefill_time(1000, FIXED, READ) + EACH == pytest.approx(run.ttft.mean, rel=0.01)


def test_stalls_are_what_no_arrival_is_not():
    """The chance of no arrival in two steps is that of one, squared."""
    one, two = f.stalled_tokens(3, 0.0255), f.stalled_tokens(3, 0.051)
    assert (1 - one) ** 2 == pytest.approx(1 - two)
    assert f.stalled_tokens(1, 1) == pytest.approx(0.6321205588)
    assert f.stalled_tokens(1e-9, 1e-3) == pytest.approx(1e-12, rel=1e-9)


def test_without_prompts_it_is_the_engine_of_chapter_16():
    assert f.phase_running(10, 200, FIXED, EACH, 0) == pytest.approx(81)
    assert f.phase_load(10, 200, EACH, 0) == pytest.approx(f.token_load(10, 200, EACH))
    assert f.phase_capacity(200, EACH, 0) == pytest.approx(f.engine_capacity(200, EACH))
    assert f.mean_gap(10, 0, 0.04) == 0.04


def test_prompts_that_fill_half_of_the_time_make_steps_twice_as_long():
    assert f.mean_gap(5, 0.1, 0.03) == pytest.approx(0.06)
    slowed = f.engine_running(5, 50, 2 * FIXED, 2 * EACH)
    assert f.phase_running(5, 50, FIXED, EACH, 0.1) == pytest.approx(slowed)


def test_loads_of_the_phases_add():
    assert f.phase_load(3, 200, EACH, 0.1) == pytest.approx(0.45)
    assert f.phase_capacity(200, EACH, 0.1) == pytest.approx(20 / 3)


@pytest.mark.parametrize(("rate", "spread"), [(2.0, 0.0), (4.0, 0.0), (3.0, 1.0)])
def test_first_tokens_of_a_queue_with_vacations_followed_prompt_by_prompt(rate, spread):
    """A server that takes a vacation of constant length whenever it finds nobody."""
    random, count, mean, rest = np.random.default_rng(17), 200_000, 0.12, 0.05
    came = np.cumsum(random.exponential(1 / rate, count))
    times = mean * (1 - spread + spread * random.exponential(1, count))
    free, total = 0.0, 0.0
    for arrival, time in zip(came.tolist(), times.tolist(), strict=True):
        if arrival > free:  # vacations one after the other, until one ends after the arrival
            free += rest * np.ceil((arrival - free) / rest)
        free += time
        total += free - arrival
    square = mean**2 * (1 + spread**2)
    assert f.priority_first(rate, mean, square, rest) == pytest.approx(total / count, rel=0.01)


def test_first_tokens_without_answers_are_those_of_a_queue_of_prompts():
    queue = queues.mg1(4, 0.12, 0.12**2)
    law = f.priority_first(4, 0.12, 0.12**2, 0)
    assert law == pytest.approx(queue.mean_wait + 0.12)


@pytest.mark.parametrize("prefill", [engine.Whole(READ, 1), engine.Chunked(READ, 512)])
def test_the_mean_gap_of_an_engine_is_that_of_the_law(prefill):
    cost = READ * 300 + (FIXED if isinstance(prefill, engine.Whole) else 0)
    run = engine.simulate(
        4, engine.Geometric(200), STEP, 300, prefill=prefill, requests=40_000, seed=3
    )
    running = f.phase_running(4, 200, FIXED, EACH, cost)
    law = f.mean_gap(4, cost, FIXED + EACH * running)
    assert run.itl.mean == pytest.approx(law, rel=0.02)


def test_a_step_with_its_chunk_takes_as_long_as_allowed():
    chunk = f.chunk_tokens(0.06, 0.0255, READ)
    assert chunk == pytest.approx(345)
    assert f.chunk_tokens(0.0255, 0.0255, READ) == 0
    pieces = 1000 / chunk
    assert f.chunked_reading(1000, 0.06, 0.0255, READ) == pytest.approx(pieces * 0.06)
    assert f.chunked_reading(1000, 1e9, 0.0255, READ) == pytest.approx(0.1)


CASES = list(itertools.product((250, 1000, 4000), (50, 200), (0.03, 0.06, 0.2)))


@pytest.mark.parametrize(("prompt", "answer", "limit"), CASES)
def test_shared_and_split_capacities_are_those_of_full_steps(prompt, answer, limit):
    arguments = (prompt, answer, limit, FIXED, EACH, READ)
    rate = f.shared_capacity(*arguments)
    running = rate * answer * limit  # Little
    assert FIXED + EACH * running + READ * rate * limit * prompt == pytest.approx(limit)
    writing = f.limited_capacity((limit - FIXED) / EACH, answer, FIXED, EACH)
    reading = 1 / f.prefill_time(prompt, FIXED, READ)
    both = f.split_capacity(*arguments)
    assert both / writing + both / reading == pytest.approx(1)
    longer = limit > f.prefill_time(prompt, FIXED, READ)
    assert (both < rate) == longer


def test_an_engine_that_is_always_full_has_the_shared_capacity():
    rate = f.shared_capacity(1000, 200, 0.04, FIXED, EACH, READ)
    budget = round(rate * 0.04 * (200 + 1000))
    crowd = np.zeros(3000)
    run = engine.simulate(
        None, 200, STEP, 1000, prefill=engine.Chunked(READ, budget), arrivals=crowd, requests=3000
    )
    assert run.throughput == pytest.approx(rate, rel=0.01)
    assert run.itl.quantile(0.5) == pytest.approx(0.04, rel=0.01)


def test_bytes_on_the_way():
    assert f.transfer_time(1000 * 131_072, 25e9) == pytest.approx(0.00524288)
