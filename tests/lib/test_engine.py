"""Engines that batch at every step: exact limits, a scheduler written out, and refusals."""

import math
import os
import subprocess
import sys
from dataclasses import fields

import numpy as np
import pytest
from scipy import stats

from schedulers import schedule
from serving import (
    LinearService,
    UnstableError,
    _engine,
    _engine_sequence,
    _engine_state,
    _kernels,
    engine,
    queues,
)
from serving.engine import Chunked, Continuous, Geometric, LogNormal, Pairs, Whole, simulate
from serving.formulas import dropped_gain, engine_running, padded_gain
from serving.paging import Paged

A, B, L = 0.020, 0.00025, 200
STEP = LinearService(A, B)
LAWS = [L, Geometric(L), LogNormal(L, 1.5)]
SURE = 0.9999
MANY = 200_000 if _kernels.numba else 4_000
slow = pytest.mark.skipif(_kernels.numba is None, reason="without numba it takes minutes")


def holds(times, exact, error=0.0, what="mean"):
    low, high = times.interval(what, SURE)
    assert low - error <= exact <= high + error, f"{what}: {exact} not in {low} to {high}"


# The scheduler


def drawn(case):
    """Requests and rules of a small engine, at random."""
    rng = np.random.default_rng(case)
    size, count = int(rng.integers(1, 9)), int(rng.integers(1, 50))
    prompts = rng.integers(0, 30, count) * int(rng.random() < 0.8)
    answers = rng.integers(1, 30, count) if rng.random() < 0.8 else np.ones(count, dtype=int)
    least = -(-int((prompts + answers).max()) // size)
    rules = {
        "slots": [None, int(rng.integers(1, 8))][rng.integers(2)],
        "batching": ["continuous", "continuous", "static", "padded"][rng.integers(4)],
    }
    if rng.random() < 0.6:
        rules["blocks"] = int(rng.integers(max(1, least - 1), 3 * least + 1))
    times = np.cumsum(rng.exponential(rng.choice([0.01, 1, 10, 40]), count))
    budget = [None, int(rng.integers(1, 40))][int(rng.random() < 0.7)]
    reading = {"token_time": 0.3 * rng.random(), "budget": budget}
    whole, spare, slope = bool(rng.random() < 0.5), int(rng.integers(0, 3)), rng.random()
    return times - times[0], prompts, answers, rules, reading, whole, Paged(size, spare), slope


@pytest.mark.parametrize("case", range(150))
def test_every_step_is_that_of_a_scheduler_written_out(case, monkeypatch):
    if case % 2:
        monkeypatch.setattr(_engine_state, "CIRCLE", 4)  # most answers go round it
    times, prompts, answers, rules, reading, whole, paged, slope = drawn(case)
    requests = list(zip(times.tolist(), prompts.tolist(), answers.tolist(), strict=True))
    log = schedule(
        *(requests, lambda size: 1 + slope * size, reading["token_time"]),
        budget=reading["budget"],
        block_size=paged.block_size,
        spare=paged.spare,
        whole=whole,
        **rules,
    )
    arguments = dict(arrivals=times, paged=paged, prefill=(Whole if whole else Chunked)(**reading))
    arguments |= rules
    lengths = Pairs(prompts, answers, ordered=True)
    if not log.responses:
        with pytest.raises(ValueError, match="none was answered"):
            simulate(None, lengths, LinearService(1, slope), **arguments)
        return
    run = simulate(None, lengths, LinearService(1, slope), **arguments)
    assert (run.preempted, run.read, run.steps) == (log.preempted, log.read, log.steps)
    assert run.refused == log.refused and run.response.count == len(log.responses)
    assert run.response.mean == pytest.approx(np.mean(log.responses), rel=1e-9)
    assert run.response.std == pytest.approx(np.std(log.responses), abs=1e-5)
    assert run.ttft.mean == pytest.approx(np.mean(log.firsts), rel=1e-9)
    assert run.itl.count == len(log.gaps)
    if log.gaps:
        assert run.itl.mean == pytest.approx(np.mean(log.gaps), rel=1e-9)
        assert run.itl.quantile(1) == pytest.approx(np.max(log.gaps), rel=1e-4)
    assert run.mean_running == pytest.approx(log.running / log.elapsed, rel=1e-9)
    if "blocks" in rules:
        assert run.mean_blocks == pytest.approx(log.blocks / log.elapsed, rel=1e-9, abs=1e-9)


def test_the_cases_meet_every_rule():
    logs = [
        schedule(
            *(list(zip(times.tolist(), prompts.tolist(), answers.tolist(), strict=True)),),
            *(lambda size: 1 + size, reading["token_time"]),
            **dict(budget=reading["budget"], block_size=paged.block_size, spare=paged.spare),
            **dict(whole=whole, **rules),
        )
        for times, prompts, answers, rules, reading, whole, paged, _ in map(drawn, range(150))
    ]
    assert sum(log.preempted for log in logs) > 50 and sum(log.refused for log in logs) > 5


@pytest.mark.parametrize("prefill", [None, Chunked(1e-5, 256), Whole(1e-5, 4096)], ids=str)
def test_all_tokens_are_made_once(prefill):
    rng = np.random.default_rng(1)
    times, count = np.cumsum(rng.exponential(0.1, 5000)), 5000
    prompts, answers = rng.integers(0, 400, count), rng.geometric(0.005, count)
    run = simulate(
        *(None, Pairs(prompts, answers, ordered=True), STEP),
        **dict(arrivals=times, requests=count, blocks=1500, slots=128, prefill=prefill),
    )
    assert run.tokens == answers.sum() and run.response.count == count
    assert run.itl.count == answers.sum() - count
    assert run.preempted > 0 and run.read > prompts.sum()
    assert run.mean_blocks <= 1500 and run.mean_running <= 128


def test_blocks_never_exceed_the_pool():
    rng = np.random.default_rng(2)
    rules = dict(blocks=40, block_size=4, slots=None)
    requests = [(0.0, int(p), int(o)) for p, o in rng.integers(1, 40, (300, 2))]
    log = schedule(requests, lambda size: 1.0, **rules)
    run = simulate(
        *(None, Pairs(*np.array(requests).T[1:].astype(int), ordered=True), LinearService(1, 0)),
        **dict(arrivals=np.zeros(300), blocks=40, paged=Paged(4)),
    )
    assert run.mean_blocks == pytest.approx(log.blocks / log.elapsed)
    assert 0.8 * 40 < run.mean_blocks <= 40


# Exact limits


@slow
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_one_slot_is_a_queue_with_general_service(law):
    run = simulate(0.15, law, STEP, slots=1, requests=MANY, seed=4)
    lengths = law if law == L else law._draw(np.random.default_rng(0), 1)
    square = {L: L**2, LAWS[1]: 2 * L**2 - L, LAWS[2]: None}[law]
    if square is None:
        normal = law._normal
        rest = stats.lognorm(normal[1], scale=math.exp(normal[0]))
        square = 1 + 2 * rest.mean() + rest.moment(2)  # and rounding adds at most a quarter
    assert lengths is not None
    each = A + B
    exact = queues.mg1(0.15, L * each, square * each**2).mean_response
    holds(run.response, exact, error=1e-4)


@slow
def test_one_slot_has_the_whole_law_of_a_queue_with_constant_service():
    run = simulate(0.18, L, STEP, slots=1, requests=MANY, seed=1)
    wait = queues.mg1(0.18, L * (A + B), (L * (A + B)) ** 2).wait
    for q in (0.5, 0.9, 0.99):
        holds(run.response, wait.quantile(q) + L * (A + B), what=q)


def steps_of_a_busy_period(rate, exceeds):
    """Mean steps from the first request to the last token, where a step takes one unit."""
    return float(exceeds @ np.exp(rate * np.cumsum(exceeds[::-1])[::-1]))


@slow
@pytest.mark.parametrize(("rate", "law"), [(0.02, 40), (0.05, 40), (0.05, Geometric(40))], ids=str)
def test_steps_of_one_length_make_a_queue_of_endless_servers_that_start_with_a_step(rate, law):
    """A request finds a step running with the share of time that one runs, and waits half of it."""
    tokens = np.arange(4000)
    exceeds = (tokens < 40) * 1.0 if law == 40 else law._exceeds(tokens)
    lasting = steps_of_a_busy_period(rate, exceeds)
    busy = lasting / (lasting + 1 / rate)
    run = simulate(rate, law, LinearService(1, 0), requests=MANY, seed=2)
    low, high = run.interval("busy", SURE)
    assert low <= busy <= high
    holds(run.response, 40 + busy / 2)
    holds(run.ttft, 1 + busy / 2)
    assert run.itl.mean == pytest.approx(1, rel=1e-9)


@slow
@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("rate", [4, 12])
def test_closed_form_within_one_percent_whatever_the_law_of_lengths(law, rate):
    run = simulate(rate, law, STEP, requests=MANY, seed=5)
    exact = Continuous(rate, L, STEP)
    assert run.response.mean == pytest.approx(exact.mean, rel=0.01)
    assert run.mean_running == pytest.approx(exact.mean_running, rel=0.01)


@slow
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_product_form_of_measured_step_times(law):
    counts = np.arange(1, 301)
    times = 0.02 + 0.002 * np.sqrt(counts) + 0.01 * (counts > 64)
    run = simulate(10, law, times, requests=MANY, seed=6)
    exact = Continuous(10, L, times)
    assert run.mean_running == pytest.approx(exact.mean_running, rel=0.01)
    assert run.response.mean == pytest.approx(exact.mean, rel=0.01)


@slow
def test_slots_with_geometric_lengths():
    for slots in (40, 60):
        run = simulate(6, Geometric(L), STEP, slots=slots, requests=MANY, seed=7)
        exact = Continuous(6, L, STEP, slots)
        wait = STEP.time(35) / 2  # for the next step
        assert run.response.mean == pytest.approx(exact.mean + wait, rel=0.02)
        assert run.mean_running == pytest.approx(exact.mean_running, rel=0.01)


def test_the_number_running_is_negative_binomial():
    for rate in (0.5, 10, 19.5):
        law = Continuous(rate, L, STEP).pi
        exact = stats.nbinom(A / B + 1, 1 - rate * L * B)
        assert law == pytest.approx(exact.pmf(np.arange(law.size)), abs=1e-13)
        assert law.sum() == pytest.approx(1) and exact.sf(law.size - 1) < 1e-13
        listed = Continuous(rate, L, STEP.time(np.arange(1, 30)))  # and goes on along its line
        assert listed.mean == pytest.approx(Continuous(rate, L, STEP).mean, rel=1e-9)
        assert Continuous(rate, L, STEP).running_quantile(0.99) == exact.ppf(0.99)


def test_steps_of_one_length_with_slots_are_many_servers():
    for rate in (0.5, 4, 9.9):
        exact, same = queues.mmc(rate, 1, 10), Continuous(rate, 10, [0.1], slots=10)
        assert same.mean == pytest.approx(exact.mean_response)
        assert same.mean_wait == pytest.approx(exact.mean_wait)
        assert same.full == pytest.approx(exact.delay_probability)
        assert same.mean_running == pytest.approx(rate)
    endless = Continuous(3, 10, [0.1])
    assert endless.pi == pytest.approx(stats.poisson(3).pmf(np.arange(endless.pi.size)))
    assert endless.capacity == math.inf


def test_a_step_without_a_fixed_part_shares_one_server():
    shared = Continuous(0.8, 1, [1.0, 2.0, 3.0])
    single = queues.mmc(0.8, 1, 1)
    assert shared.mean == pytest.approx(single.mean_response)
    assert shared.busy == pytest.approx(0.8) and shared.token_time == pytest.approx(shared.mean)
    slots = Continuous(0.8, 1, [1.0, 2.0, 3.0], slots=2)
    assert slots.mean == pytest.approx(single.mean_response)


def test_close_to_capacity_the_closed_form_keeps_its_digits():
    near = Continuous(19.9999999, L, STEP)
    assert near.mean == pytest.approx(L * (A + B) / 5e-9, rel=1e-12)
    with pytest.raises(ValueError, match="states count"):
        _ = near.pi


def test_more_slots_than_are_used_are_no_limit():
    free = Continuous(6, L, STEP)
    assert Continuous(6, L, STEP, slots=2000).mean == pytest.approx(free.mean, rel=1e-12)
    assert Continuous(6, L, STEP, slots=2000).full < 1e-100 and free.full == free.mean_wait == 0


@pytest.mark.parametrize("law", [Geometric(50), LogNormal(50, 1), Pairs([0] * 3, [1, 5, 90])])
def test_the_longest_of_a_batch(law):
    rng = np.random.default_rng(3)
    for batch in (1, 2, 16):
        if isinstance(law, Pairs):
            answers = np.asarray(law.outputs)[rng.integers(0, 3, (100_000, batch))]
        else:
            answers = law._draw(rng, 100_000 * batch).reshape(-1, batch)
        longest = answers.max(axis=1)
        error = 4 * longest.std() / math.sqrt(longest.size)
        assert engine.longest(law, batch) == pytest.approx(longest.mean(), abs=error)


def test_the_longest_of_exponential_lengths_is_a_harmonic_number():
    harmonic = sum(1 / k for k in range(1, 33))
    assert engine.longest(Geometric(10_000), 32) == pytest.approx(10_000 * harmonic, rel=1e-4)
    assert engine.longest(77, 32) == 77


@slow
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_static_batches_lose_what_order_statistics_say(law):
    count, size = 320_000, 16
    full = dict(arrivals=np.zeros(count), requests=count, slots=size)
    longest = engine.longest(law, size)
    always = size / (L * (A + B * size))
    dropped = simulate(None, law, STEP, batching="static", **full)
    padded = simulate(None, law, STEP, batching="padded", **full)
    assert always / dropped.throughput == pytest.approx(
        dropped_gain(size, longest, L, A, B), rel=0.015
    )
    assert always / padded.throughput == pytest.approx(padded_gain(longest, L), rel=0.015)
    continuous = simulate(None, law, STEP, **full)
    assert continuous.throughput == pytest.approx(always, rel=0.015)


@slow
def test_memory_holds_what_length_bias_says():
    """Sequences that run hold E[S_in S_out + S_out^2 / 2] / E[S_out] tokens on average."""
    law = Geometric(L)
    run = simulate(5, law, STEP, prompt_tokens=100, blocks=10**6, paged=Paged(1), requests=MANY)
    tokens = 100 + (2 * L**2 - L) / 2 / L + 1 / 2  # at the end of a step
    assert run.mean_blocks / run.mean_running == pytest.approx(tokens, rel=0.01)
    assert run.mean_running == pytest.approx(engine_running(5, L, A, B), rel=0.01)


# Runs


def same(one, other):
    for left, right in zip(one._parts, other._parts, strict=True):
        assert left.elapsed == right.elapsed and left.sums == right.sums
        for first, second in zip(left.tallies, right.tallies, strict=True):
            for field in fields(first):
                a, b = getattr(first, field.name), getattr(second, field.name)
                assert np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b, field.name


BUSY = dict(prompt_tokens=Geometric(50), slots=40, blocks=300, requests=900, seed=5)


@pytest.mark.skipif(_kernels.numba is None, reason="numba is not installed: there is one way")
@pytest.mark.parametrize("prefill", [None, Chunked(1e-4, 64), Whole(1e-4, 512)], ids=str)
def test_plain_python_gives_the_same_bits(prefill, monkeypatch):
    fast = simulate(2.5, LogNormal(80, 1), STEP, prefill=prefill, **BUSY)
    for module in (_engine, _engine_sequence):
        for name, piece in vars(module).copy().items():
            if hasattr(piece, "py_func"):
                monkeypatch.setattr(module, name, piece.py_func)
    monkeypatch.setattr(_kernels, "numba", None)
    same(fast, simulate(2.5, LogNormal(80, 1), STEP, prefill=prefill, **BUSY))


PIECE = """from serving._kernels import inlined

@inlined
def piece(number: int) -> int:
    return number + {}
"""
LOOP = """from serving._kernels import bare
from piece_of_loop import piece

@bare
def loop(number: int) -> int:
    return piece(number)
"""


@pytest.mark.skipif(_kernels.numba is None, reason="numba is not installed: nothing is compiled")
def test_a_compiled_loop_is_made_anew_when_a_piece_in_another_file_changes(tmp_path):
    (tmp_path / "whole_loop.py").write_text(LOOP)
    ask = "from whole_loop import loop; print(loop(1), sum(loop.stats.cache_hits.values()))"
    answers = []
    for added in (1, 1, 20):
        piece = tmp_path / "piece_of_loop.py"
        if not piece.exists() or PIECE.format(added) != piece.read_text():
            piece.write_text(PIECE.format(added))
        path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
        answers.append(
            subprocess.check_output(
                [sys.executable, "-c", ask],
                env=os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
                text=True,
            )
        )
    assert answers == ["2 0\n", "2 1\n", "21 0\n"]


def test_a_seed_gives_the_same_again_and_another_something_else():
    one, two = (simulate(2.5, Geometric(80), STEP, **BUSY) for _ in range(2))
    other = simulate(2.5, Geometric(80), STEP, **(BUSY | {"seed": 6}))
    same(one, two)
    assert one.response.mean != other.response.mean


def test_chunks_and_rounds_of_the_circle_leave_no_trace(monkeypatch):
    from serving import _plan

    times = np.cumsum(np.random.default_rng(3).exponential(0.5, 2000))
    arguments = dict(arrivals=times, requests=2000, slots=40, blocks=200, prompt_tokens=9)
    whole = simulate(None, Geometric(90), STEP, **arguments)
    monkeypatch.setattr(_plan, "CHUNK", 7)
    monkeypatch.setattr(_engine_state, "CIRCLE", 64)
    other = simulate(None, Geometric(90), STEP, **arguments)
    assert other.steps == whole.steps and other.preempted == whole.preempted


def test_littles_law():
    run = simulate(5, Geometric(50), STEP, slots=30, requests=40_000 if MANY > 4000 else 4000)
    response = run.response.mean - (run.ttft.mean - run.itl.mean)  # from the start on
    assert run.mean_running == pytest.approx(run.throughput * response, rel=0.03)


def test_limits_share_the_requests():
    run = simulate(10, L, STEP, requests=6400, limits=(0.06, math.inf))
    share = np.mean([q for q in np.linspace(0, 1, 2001) if run.ttft.quantile(q) <= 0.06] != [])
    assert share
    q = run.met
    assert run.ttft.quantile(q - 0.02) <= 0.06 <= run.ttft.quantile(q + 0.02)
    assert run.goodput == pytest.approx(q * run.throughput)
    assert simulate(10, L, STEP, requests=640, limits=(math.inf, math.inf)).met == 1
    assert simulate(10, L, STEP, requests=640, limits=(math.inf, 0.0)).met == 0
    assert simulate(10, L, STEP, requests=640).goodput > 0


# Refusals


def test_overload_says_what_would_be_enough():
    with pytest.raises(UnstableError, match=r"below 20 requests/s"):
        Continuous(20, L, STEP)
    with pytest.raises(UnstableError, match=r"slots = 35, or .* 2\.22222 requests/s"):
        simulate(6, L, STEP, slots=10)
    with pytest.raises(UnstableError, match="slots = 35"):
        Continuous(6, L, STEP, slots=10)
    assert Continuous(6, L, STEP, slots=35).mean > 0
    with pytest.raises(UnstableError):
        Continuous(6, L, STEP, slots=34)
    with pytest.raises(UnstableError, match="below 11.1111 requests/s"):
        simulate(12, L, STEP, prompt_tokens=400, prefill=Chunked(1e-4))


def test_an_overload_that_memory_makes_is_seen_in_the_run():
    rules = dict(prompt_tokens=400, blocks=600, requests=20_000 if MANY > 4000 else 4000)
    with pytest.raises(UnstableError, match=r"the queue grows; an arrival rate below (2|3)\."):
        simulate(8, L, STEP, **rules)
    assert simulate(2, L, STEP, **rules).mean_blocks < 600


def test_a_trace_is_not_refused():
    run = simulate(None, L, STEP, arrivals=np.zeros(500), slots=2)
    assert run.response.count == 500 and run.busy == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"arrival_rate": 0}, "arrival_rate"),
        ({"arrival_rate": None}, "arrival_rate"),
        ({"output_tokens": 0}, "output_tokens"),
        ({"output_tokens": "8"}, "output_tokens"),
        ({"output_tokens": [1, 2]}, "output_tokens"),
        ({"output_tokens": Pairs([1], [2]), "prompt_tokens": 3}, "prompt_tokens"),
        ({"prompt_tokens": -1}, "prompt_tokens"),
        ({"step_times": 3}, "step_times"),
        ({"step_times": []}, "step_times"),
        ({"step_times": [1, 0]}, "step_times"),
        ({"step_times": [2, 1]}, "step_times"),
        ({"slots": 0}, "slots"),
        ({"blocks": 0}, "blocks"),
        ({"blocks": 3}, "none was answered"),
        ({"paged": 16}, "paged"),
        ({"prefill": 1e-4}, "prefill"),
        ({"batching": "dynamic"}, "batching"),
        ({"batching": 3}, "batching"),
        ({"limits": 3}, "limits"),
        ({"limits": (1, -1)}, "limits"),
        ({"arrivals": [2, 1]}, "arrival"),
        ({"requests": 31}, "requests"),
        ({"requests": 10**11}, "requests"),
        ({"seed": -1}, "seed"),
        ({"progress": 3}, "progress"),
    ],
    ids=str,
)
def test_bad_input_is_named(change, message):
    arguments = dict(arrival_rate=3, output_tokens=90, step_times=STEP, requests=64)
    with pytest.raises((TypeError, ValueError), match=message):
        simulate(**(arguments | change))


@pytest.mark.parametrize(
    "make",
    [
        *(lambda: Geometric(0.5), lambda: Geometric("8"), lambda: LogNormal(1, 1)),
        *(lambda: LogNormal(9, 0), lambda: LogNormal(9, 11), lambda: Pairs([], [])),
        *(lambda: Pairs([1], [0]), lambda: Pairs([1, 2], [3]), lambda: Pairs([1], [1.5])),
        *(lambda: Chunked(-1), lambda: Chunked(1, 0), lambda: Whole(1, 1.5)),
        *(lambda: engine.longest(9, 0), lambda: engine.longest("9", 1)),
        *(lambda: Continuous(0, 9, STEP), lambda: Continuous(1, 0.5, STEP)),
        *(lambda: Continuous(1, 9, STEP, slots=0), lambda: Continuous(1, 9, STEP).pi[10**9]),
        *(lambda: Continuous(1, 9, STEP).running_quantile(1), lambda: Continuous(1, 9, None)),
    ],
)
def test_bad_laws_are_refused(make):
    with pytest.raises((TypeError, ValueError, IndexError)):
        make()


def test_results_that_do_not_exist_are_named():
    run = simulate(3, 1, STEP, requests=320)
    with pytest.raises(ValueError, match="no time of this kind"):
        _ = run.itl.mean
    with pytest.raises(ValueError, match="what"):
        run.interval("mean")
    with pytest.raises(ValueError, match="what"):
        run.response.interval("median")
    with pytest.raises(ValueError, match="level"):
        run.response.interval("mean", 1)
    with pytest.raises(ValueError, match="requests are too few"):
        simulate(None, 1, STEP, arrivals=[0, 1, 2]).response.interval("mean")
