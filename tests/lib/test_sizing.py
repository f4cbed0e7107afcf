"""How many replicas: the engine from its machine, the search, and what is not known."""

from __future__ import annotations

import json
import math
import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from serving import catalog, engine, formulas, measurements, roofline, sizing, traces, traffic
from serving.sizing import Promise, Replica

LLAMA = catalog.model("llama-3.1-8b")
MACHINE = roofline.Machine(
    LLAMA, catalog.accelerator("a100-80gb"), dtype="bf16", cache_dtype="bf16"
)
PROMISE = Promise(first=2.0, token=0.05)


def requests(times: object, prompts: object, answers: object) -> traces.Trace:
    arrived = np.asarray(times, dtype=float)
    full = [
        np.broadcast_to(np.asarray(x, dtype=np.int64), arrived.shape) for x in (prompts, answers)
    ]
    return traces.Trace("made here", arrived, *full)


def poisson(
    rate: float, count: int, prompts: object, answers: object, seed: int = 0
) -> traces.Trace:
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.exponential(1 / rate, count))
    draw = (rng.choice(np.atleast_1d(x), count) for x in (prompts, answers))
    return requests(times - times[0], *draw)


def one_at_a_time(time: float = 1.0) -> Replica:
    """A replica that serves one request after the other, each token in the same time."""
    return Replica(np.array([time]), 1e-9, 10**6, None, 10**6)


# -- the engine -------------------------------------------------------------------------------


def test_steps_take_what_the_cache_of_each_sequence_takes() -> None:
    """Added up over a trace, the cache read is that of its own lengths, step by step."""
    trace = requests([0, 1, 2], [100, 700, 40], [30, 5, 90])
    found = sizing.replica(MACHINE, trace, PROMISE)
    read, tokens = 0.0, 0
    for prompt, answer in zip(trace.input_tokens, trace.output_tokens, strict=True):
        for made in range(1, answer + 1):
            read += MACHINE.layout.sequence_bytes(int(prompt + made))
            tokens += 1
    slope = np.diff(found.steps)[:50]  # weights wait for memory, so this is the cache alone
    # the mean length is rounded to a whole token, half a token of some 300
    np.testing.assert_allclose(slope, read / tokens / MACHINE.bandwidth, rtol=0.5 / 90)


def test_a_step_of_one_reads_the_weights() -> None:
    found = sizing.replica(MACHINE, requests([0, 1], 1, 1), PROMISE)
    weights = LLAMA.parameters * 2 / MACHINE.bandwidth
    assert found.steps[0] == pytest.approx(weights, rel=1e-4)  # a cache of two tokens is nothing


def test_prompts_take_what_their_own_passes_take() -> None:
    """Reading grows with the square of a length; the sum over the trace is kept."""
    trace = requests([0, 1, 2, 3], [3000, 500, 9000, 700], 10)
    found = sizing.replica(MACHINE, trace, PROMISE)
    total = 0.0
    for prompt in trace.input_tokens.tolist():
        one = roofline.prefill(
            LLAMA, MACHINE.accelerator, 1, prompt, dtype="bf16", cache_dtype="bf16"
        )
        total += one.matmul + max(one.read_cache, one.attention)
    assert found.token_time * trace.input_tokens.sum() == pytest.approx(total, rel=1e-3)


def test_ratios_stretch_the_times_and_nothing_else() -> None:
    trace = requests([0, 1], 400, 30)
    plain = sizing.replica(MACHINE, trace, PROMISE)
    slow = sizing.replica(MACHINE, trace, PROMISE, step_ratio=2, reading_ratio=3)
    np.testing.assert_allclose(slow.steps, 2 * plain.steps)
    assert slow.token_time == pytest.approx(3 * plain.token_time)
    assert (slow.blocks, slow.longest) == (plain.blocks, plain.longest)


def test_the_chunk_fills_the_limit_between_tokens_and_not_more() -> None:
    found = sizing.replica(MACHINE, requests([0, 1], 400, 30), PROMISE)
    beside = np.arange(1, 33)
    full = (found.steps[:32] + found.token_time * (found.chunk - beside)).max()
    assert full <= PROMISE.token < full + found.token_time


def test_a_tight_limit_is_shared_by_sequences_and_prompts() -> None:
    trace = requests([0, 1], 400, 30)
    steps = sizing.replica(MACHINE, trace, PROMISE).steps
    tight = Promise(2, float(steps[0] + 2.5 * (steps[3] - steps[2])))  # half is left beside two
    found = sizing.replica(MACHINE, trace, tight)
    room = [n + (tight.token - steps[n - 1]) / found.token_time for n in (1, 2)]
    assert found.chunk == int(min(room))
    with pytest.raises(ValueError, match="steps must have room for prompts, got chunk = 0"):
        replace(found, chunk=0).load(trace)


def test_blocks_are_what_the_memory_holds() -> None:
    found = sizing.replica(MACHINE, requests([0, 1], 400, 30), PROMISE, utilization=0.9)
    memory = 0.9 * 80 * 2**30 - 2 * LLAMA.parameters
    per_block = 16 * 2 * 32 * 8 * 128 * 2  # keys and values, layers, heads, width, bytes
    assert found.blocks == int(memory // per_block)
    assert found.longest == LLAMA.context == 131072
    assert "context" in found.reason


def test_memory_bounds_the_longest_request() -> None:
    small = roofline.Machine(LLAMA, catalog.accelerator("l4"), dtype="bf16", cache_dtype="bf16")
    found = sizing.replica(small, requests([0, 1], 400, 30), PROMISE)
    layout, cache = small.layout, 0.9 * 24 * 2**30 - 2 * LLAMA.parameters
    assert layout.sequence_bytes(found.longest) <= cache
    assert found.longest < LLAMA.context
    assert "cache" in found.reason
    assert found.blocks is not None and 16 * found.blocks >= found.longest


def test_weights_that_do_not_fit_admit_nothing_and_say_so() -> None:
    large = roofline.Machine(
        catalog.model("llama-3.1-70b"), catalog.accelerator("l4"), dtype="bf16"
    )
    trace = requests(np.arange(100.0), 400, 30)
    found = sizing.replica(large, trace, PROMISE)
    assert found.longest == 0 and "weights" in found.reason
    size = sizing.least(found, trace, PROMISE)
    assert math.isinf(size.replicas)
    assert "100 % of the requests do not fit: weights" in size.reason
    with pytest.raises(ValueError, match="trace must have a request of at most 0 tokens"):
        sizing.simulate(found, trace)
    with pytest.raises(ValueError, match="trace must have a request of at most 0 tokens"):
        sizing.alone(found, trace)


@pytest.mark.parametrize("name", catalog.models())
def test_every_model_of_the_catalogue_makes_an_engine(name: str) -> None:
    model = catalog.model(name)
    machine = roofline.Machine(model, catalog.accelerator("h100-sxm"), 1, "fp8", "fp8")
    trace = requests([0, 1, 2], min(900, model.context // 2), 30)
    found = sizing.replica(machine, trace, Promise(100, 100))
    assert np.isfinite(found.steps).all() and (np.diff(found.steps) >= 0).all()
    assert found.token_time > 0 and found.longest <= model.context
    assert found.reason


def test_a_model_from_its_configuration_is_that_of_the_catalogue(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    path = folder / "config.json"
    path.write_text(json.dumps({**LLAMA.config, "max_position_embeddings": 131072}))
    mine = catalog.configured(path, LLAMA.parameters)
    assert (mine.name, mine.context, mine.active_parameters) == ("mine", 131072, LLAMA.parameters)
    trace = requests([0, 1], 400, 30)
    ours = sizing.replica(MACHINE, trace, PROMISE)
    theirs = sizing.replica(replace(MACHINE, model=mine), trace, PROMISE)
    np.testing.assert_array_equal(ours.steps, theirs.steps)
    assert (ours.token_time, ours.blocks) == (theirs.token_time, theirs.blocks)


@pytest.mark.parametrize(
    ("fields", "numbers", "words"),
    [
        ({}, (0,), "parameters must be at least 1"),
        ({}, (8, 9), "active_parameters must be at most 8"),
        ({"max_position_embeddings": None}, (8,), "path must be of a configuration that states"),
    ],
)
def test_a_configuration_that_will_not_do_is_refused(
    tmp_path: Path, fields: dict[str, object], numbers: tuple[int, ...], words: str
) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**LLAMA.config, "max_position_embeddings": 4096, **fields}))
    with pytest.raises(ValueError, match=words):
        catalog.configured(path, *numbers)


# -- shares of a trace ------------------------------------------------------------------------


def test_a_request_alone_takes_its_pieces_and_its_steps() -> None:
    """1,000 tokens in pieces of 400: two steps that only read, and one that gives a token too.

    What only reads takes the fixed part of a step, by the line 9 ms.
    """
    made = Replica(np.array([0.010, 0.011]), 1e-4, 400, 10**6, 10**6)
    run = sizing.alone(made, requests(np.zeros(200), 1000, 5))
    assert run.ttft.mean == pytest.approx(2 * 0.009 + 0.010 + 1000 * 1e-4, rel=1e-9)
    assert run.itl.mean == pytest.approx(0.010, rel=1e-9)
    assert run.response.mean == pytest.approx(2 * 0.009 + 5 * 0.010 + 0.1, rel=1e-9)


def test_a_share_has_about_its_share_of_the_requests_and_a_smaller_one_is_part_of_it() -> None:
    trace = poisson(10, 20_000, 100, 5)
    made = sizing.replica(MACHINE, trace, PROMISE)
    counts = [
        sizing.simulate(made, trace, share, seed=4).response.count for share in (1, 0.5, 0.25)
    ]
    assert counts[0] == 20_000
    for count, share in zip(counts[1:], (0.5, 0.25), strict=True):
        assert abs(count - 20_000 * share) < 5 * math.sqrt(20_000 * share * (1 - share))


def test_a_small_share_is_followed_by_those_of_other_replicas() -> None:
    """All of 1,000 requests are seen at a tenth, and late ones do not delay the next share."""
    trace = requests(np.zeros(1000), 0, 1)
    run = sizing.simulate(one_at_a_time(), trace, 0.1, seed=1)
    assert run.response.count == 1000
    counts = np.bincount((np.random.default_rng(1).random(1000) / 0.1).astype(int))
    waits = np.concatenate([np.arange(1, count + 1) for count in counts])
    assert run.ttft.mean == pytest.approx(waits.mean(), rel=1e-6)
    assert run.ttft.quantile(1.0) == pytest.approx(counts.max(), rel=1e-4)


def test_refused_requests_count_as_late() -> None:
    trace = requests(np.arange(1000.0) * 100, np.where(np.arange(1000) % 50, 10, 5000), 1)
    made = replace(one_at_a_time(0.01), longest=1000)  # one in fifty is refused
    run = sizing.simulate(made, trace)
    assert run.response.count == 980
    for quantile, finite in ((0.95, True), (0.979, True), (0.981, False)):
        first, _ = sizing.tails(made, trace, Promise(1, 1, quantile), run)
        assert math.isfinite(first) is finite


def test_answers_of_one_token_have_no_gap() -> None:
    trace = requests(np.arange(100.0), 10, 1)
    made = one_at_a_time(0.01)
    assert sizing.tails(made, trace, PROMISE, sizing.simulate(made, trace))[1] == 0.0


# -- the search -------------------------------------------------------------------------------


def test_a_queue_that_grows_takes_two_replicas() -> None:
    """Of 1,000 requests every 0.9 s, each served in 1 s, the k-th is late by 0.1 k.

    Half of them have their only token after 1 + 0.1 * 500 = 51 s at most.
    """
    trace = requests(np.arange(1000) * 0.9, 0, 1)
    found = {
        limit: sizing.least(one_at_a_time(), trace, Promise(limit, 1, 0.5)) for limit in (50, 52)
    }
    assert found[52].replicas == 1 and found[52].first == pytest.approx(51, abs=0.11)
    assert found[50].replicas == 2 and found[50].first < 3


def test_the_least_number_keeps_the_promise_and_one_less_does_not() -> None:
    trace = poisson(40, 20_000, [50, 400, 3000], [10, 100, 300], seed=2)
    made = sizing.replica(MACHINE, trace, PROMISE, 2, 1.5)
    found = sizing.least(made, trace, PROMISE)
    assert found.replicas >= 2 and not found.reason

    def kept(replicas: float) -> bool:
        run = sizing.simulate(made, trace, 1 / replicas)
        first, token = sizing.tails(made, trace, PROMISE, run)
        return first <= PROMISE.first and token <= PROMISE.token

    assert kept(found.replicas) and not kept(found.replicas - 1)
    fine = sizing.least(made, trace, PROMISE, parts=20)
    assert fine.replicas <= found.replicas * 1.05 and fine.replicas > found.replicas - 1.3
    assert kept(fine.replicas) and not kept(fine.replicas / 1.05)
    load = made.load(trace)
    assert load < fine.replicas


def test_the_load_is_what_steps_can_read_or_do() -> None:
    trace = poisson(10, 5000, 1000, 5)
    made = Replica(np.array([0.010, 0.012]), 1e-4, 201, None, 10**6)
    rate = trace.summary().rate
    full = 0.010 + 200 * 1e-4
    assert made.load(trace) == pytest.approx(rate * 1000 / 200 * full)  # five full steps for each
    writes = replace(made, chunk=10**6)
    # 5 tokens at 6 ms, and 1,000 tokens at 0.1 ms: more than reading in one large step
    assert writes.load(trace) == pytest.approx(rate * (5 * 0.006 + 0.1))


@pytest.mark.parametrize(
    ("promise", "words"),
    [
        (Promise(0.02, 0.05), "the first token takes .* s at the quantile 0.95, where 0.02 s"),
        (Promise(2, 0.005), "a step of one sequence takes .* no room for prompts"),
        (Promise(2, 0.05, 0.99), "2 % of the requests do not fit: the context of llama-3.1-8b"),
    ],
)
def test_a_promise_that_no_number_keeps_says_why(promise: Promise, words: str) -> None:
    prompts = np.where(np.arange(2000) % 50, 1000, 140_000)
    trace = requests(np.arange(2000) * 0.5, prompts, 20)
    made = sizing.replica(MACHINE, trace, promise)
    found = sizing.least(made, trace, promise)
    assert math.isinf(found.replicas)
    assert re.search(words, found.reason), found.reason


def test_pieces_that_are_too_small_are_named() -> None:
    """1,000 tokens in a step of 0.1 s would do; in pieces of 10 it takes 100 steps, and 2 s."""
    made = Replica(np.array([0.010, 0.011]), 1e-4, 10, None, 10**6)
    trace = requests(np.arange(200) * 9.0, 1000, 5)
    found = sizing.least(made, trace, Promise(0.5, 0.012))
    assert found.reason.endswith("; token = 0.012 s lets a step take 10 tokens"), found.reason
    slow = sizing.least(replace(made, chunk=10**6), trace, Promise(9, 0.0099))
    assert "a further token takes 0.01 s" in slow.reason and "lets" not in slow.reason


def test_many_replicas_are_as_good_as_one_for_each_request() -> None:
    trace = poisson(20, 10_000, [100, 900], [10, 60])
    made = sizing.replica(MACHINE, trace, PROMISE, 2, 1.5)
    many = sizing.tails(made, trace, PROMISE, sizing.simulate(made, trace, 1e-4))
    best = sizing.tails(made, trace, PROMISE, sizing.alone(made, trace))
    assert many == pytest.approx(best, rel=0.02)


def test_a_burst_that_comes_at_once_is_sized_too() -> None:
    """100 requests at one moment, a second each: all within 30 s takes at least four."""
    found = sizing.least(one_at_a_time(), requests(np.zeros(100), 0, 1), Promise(30, 1, 0.99))
    assert 4 <= found.replicas <= 6


def test_very_long_prompts_are_read_in_many_pieces() -> None:
    trace = poisson(0.05, 300, [60_000, 120_000], 50)
    promise = Promise(60, 0.1)
    made = sizing.replica(MACHINE, trace, promise, 2, 1.5)
    found = sizing.least(made, trace, promise)
    assert 1 <= found.replicas < 10 and found.first <= 60


# -- what is not known ------------------------------------------------------------------------

RECIPE = traffic.recipe("azure-conversation-2023")


def test_a_recipe_that_is_not_varied_stays_as_it_is() -> None:
    same = sizing.varied(RECIPE)
    np.testing.assert_allclose(same.requests, RECIPE.requests)
    np.testing.assert_array_equal(same.inputs, RECIPE.inputs)


@pytest.mark.parametrize("swing", [0, 0.5, 1, 1.4, 10])
def test_swing_moves_the_rate_and_not_the_total(swing: float) -> None:
    wider = sizing.varied(RECIPE, growth=3, swing=swing)
    assert wider.requests.sum() == pytest.approx(3 * RECIPE.requests.sum())
    assert (wider.requests >= 0).all()
    if swing <= 1.4:  # no block is cut off at zero
        widths = np.diff(RECIPE.edges)
        mean = RECIPE.requests.sum() / RECIPE.edges[-1]
        np.testing.assert_allclose(
            wider.requests / widths / 3 - mean, swing * (RECIPE.requests / widths - mean), atol=1e-9
        )


def test_lengths_are_scaled() -> None:
    longer = sizing.varied(RECIPE, prompts=2, answers=0.5)
    np.testing.assert_allclose(longer.inputs, 2 * RECIPE.inputs)
    np.testing.assert_allclose(longer.outputs, 0.5 * RECIPE.outputs)


UNKNOWN = {"growth": [1.0, 2.0], "reading_ratio": [1.0, 1.5, 2.0]}
SMALL = replace(RECIPE, edges=RECIPE.edges / 10, requests=RECIPE.requests)  # ten times the rate


@pytest.fixture(scope="module")
def cases() -> sizing.Scenarios:
    return sizing.scenarios(MACHINE, SMALL, PROMISE, UNKNOWN, count=16, seed=3)


def test_each_case_is_the_size_of_what_was_drawn(cases: sizing.Scenarios) -> None:
    again = sizing.scenarios(MACHINE, SMALL, PROMISE, UNKNOWN, count=16, seed=3)
    np.testing.assert_array_equal(again.replicas, cases.replicas)
    assert set(cases.drawn["growth"]) == {1.0, 2.0}
    assert set(cases.drawn["reading_ratio"]) <= {1.0, 1.5, 2.0}
    double = cases.where("growth", 2).replicas.mean() / cases.where("growth", 0, 1).replicas.mean()
    assert 1.4 < double < 2.6


def test_to_know_one_unknown_leaves_the_others_as_they_were(cases: sizing.Scenarios) -> None:
    known = sizing.scenarios(
        MACHINE, SMALL, PROMISE, UNKNOWN | {"reading_ratio": [1.5]}, count=16, seed=3
    )
    np.testing.assert_array_equal(known.drawn["growth"], cases.drawn["growth"])
    same = cases.drawn["reading_ratio"] == 1.5
    assert same.any()
    np.testing.assert_array_equal(known.replicas[same], cases.replicas[same])


def test_enough_is_a_quantile_of_the_cases() -> None:
    cases = sizing.Scenarios({"growth": np.arange(20.0)}, np.arange(1.0, 21.0), ())
    assert [cases.enough(share) for share in (0.05, 0.5, 0.95, 0.951, 1)] == [1, 10, 19, 20, 20]
    assert cases.kept(19) == 0.95
    assert cases.reason == ""


def test_cases_that_nothing_mends_are_counted() -> None:
    sizes = np.array([1, 2, np.inf, 3, np.inf, np.inf])
    cases = sizing.Scenarios({"swing": np.arange(6.0)}, sizes, ("a", "b", "b"))
    assert cases.enough(0.5) == 3 and math.isinf(cases.enough(0.51))
    assert cases.reason == "b"
    assert cases.where("swing", 0, 3).reasons == ("a",)
    assert cases.where("swing", 4).reasons == ("b", "b")


def test_what_is_moved_up_takes_more_replicas() -> None:
    found = sizing.moved(MACHINE, SMALL, PROMISE, UNKNOWN, share=0)
    assert set(found) == {"growth", "reading_ratio", "hour"}
    assert all(low <= high for low, high in found.values())
    low, high = found["growth"]
    assert 1.8 < high / low < 2.2  # a replica bears a share of the traffic, whatever the whole is


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Promise(0, 1), "first must be greater than 0"),
        (lambda: Promise(1, -1), "token must be greater than 0"),
        (lambda: Promise(1, 1, 1), "quantile must be below 1, got 1"),
        (lambda: sizing.replica(MACHINE, requests([], 1, 1), PROMISE), "trace must have a request"),
        (lambda: sizing.replica(MACHINE, requests([0], 1, 1), PROMISE, 0), "step_ratio must be"),
        (
            lambda: sizing.replica(MACHINE, requests([0], 1, 1), PROMISE, slots=0),
            "slots must be at least 1",
        ),
        (lambda: sizing.varied(RECIPE, growth=0), "growth must be greater than 0"),
        (lambda: sizing.varied(RECIPE, swing=-1), "swing must be at least 0"),
        (
            lambda: sizing.scenarios(MACHINE, RECIPE, PROMISE, {"luck": [1]}),
            "unknowns must be some of growth, .*, got 'luck'",
        ),
        (
            lambda: sizing.scenarios(MACHINE, RECIPE, PROMISE, {"growth": []}),
            "growth must be a list of values",
        ),
        (
            lambda: sizing.moved(MACHINE, RECIPE, PROMISE, {}, share=0.5),
            "share must be below 0.5, got 0.5",
        ),
        (
            lambda: sizing.Scenarios({"growth": np.ones(2)}, np.ones(2), ()).where("growth", 2),
            "must leave values of growth, which are 1 to 1",
        ),
        (
            lambda: sizing.Scenarios({}, np.ones(2), ()).where("growth"),
            "unknown must be one of",
        ),
        (
            lambda: sizing.simulate(one_at_a_time(), requests([0], 1, 1), 0),
            "share must be greater than 0",
        ),
        (
            lambda: sizing.least(one_at_a_time(), requests([0], 1, 1), PROMISE, 0),
            "parts must be at least 1",
        ),
    ],
)
def test_what_will_not_do_is_refused(call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()  # type: ignore[operator]


@pytest.mark.parametrize("name", ["machine", "trace", "promise"])
def test_another_kind_of_argument_is_refused(name: str) -> None:
    right = {"machine": MACHINE, "trace": requests([0, 1], 1, 1), "promise": PROMISE}
    with pytest.raises(TypeError, match=f"{name} must be a "):
        sizing.replica(**{**right, name: None})
    with pytest.raises(TypeError, match="recipe must be a Recipe"):
        sizing.varied(None)  # type: ignore[arg-type]


# -- what was measured ------------------------------------------------------------------------


def test_no_measured_time_is_shorter_than_its_bound() -> None:
    steps, reading = sizing.ratios()
    assert steps.size == 20 and steps.min() > 1
    assert reading.min() > 1
    data = measurements.curve("llama-2-70b-128-128")
    own, _ = sizing.ratios([data.name])
    # 140 GB of weights over four devices of 2.039 TB/s in 29 ms
    assert own[0] == pytest.approx(0.029 / (68.98e9 * 2 / 4 / 2.039e12), rel=0.03)


# -- against other ways of reckoning ----------------------------------------------------------


def test_the_closed_form_of_two_phases_agrees_where_it_holds() -> None:
    """Poisson arrivals and steps that are a line: chapter 17's mean number of sequences."""
    trace = poisson(2, 60_000, 400, 100)
    line = 0.010 + 0.0002 * np.arange(1, 257)
    made = Replica(line, 5e-5, 2000, None, 10**6)
    run = sizing.simulate(made, trace)
    law = formulas.value(formulas.phase_running, trace.summary().rate, 100, 0.010, 0.0002, 0.02)
    assert run.mean_running == pytest.approx(law, rel=0.05)
    assert isinstance(run, engine.Run)


def test_a_real_trace_runs_through() -> None:
    data = os.environ.get("SERVING_DATA")
    if not data:
        pytest.skip("SERVING_DATA is not set: no traces to read")
    trace = traces.load(Path(data) / "traces" / "AzureLLMInferenceTrace_conv.csv.gz")
    machine = roofline.Machine(
        catalog.model("llama-3.1-70b"), catalog.accelerator("a100-80gb"), 4, "bf16", "bf16"
    )
    promise = Promise(3, 0.1)
    made = sizing.replica(machine, trace, promise, 1.87, 1.43)
    real = sizing.least(made, trace, promise, parts=50).replicas
    drawn = [
        sizing.size(machine, RECIPE, promise, step_ratio=1.87, reading_ratio=1.43, seed=n, parts=50)
        for n in range(10)
    ]
    sizes = [one.replicas for one in drawn]
    assert 0.85 * min(sizes) <= real <= 1.15 * max(sizes)
