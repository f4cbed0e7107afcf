"""Where memory goes: closed sums against counting, pools against their rules, formulas by hand."""

import math
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from serving import formulas, paging, traces
from serving._pool import Buddies, Gaps
from serving.formulas import value
from serving.paging import Contiguous, Paged

LENGTHS = [(3, 5), (0, 1), (100, 300), (16, 16), (15, 2), (1, 31), (255, 1), (7, 250)]
PROMPTS, ANSWERS = zip(*LENGTHS, strict=True)
KINDS = [
    *(Contiguous(512, room, buddy) for room in paging.ROOMS for buddy in (True, False)),
    *(Paged(1), Paged(16), Paged(40)),
]


def counted(prompt, answer, kind):
    """Token-steps of one sequence, step by step: used, ahead, internal, external."""
    total = Counter()
    for written in range(1, answer + 1):
        used, final = prompt + written, prompt + answer
        if isinstance(kind, Paged):
            room = piece = math.ceil(used / kind.block_size) * kind.block_size
        else:
            above = 2 ** math.ceil(math.log2(answer))
            room = {
                "longest": kind.max_tokens,
                "power of two": min(prompt + above, kind.max_tokens),
                "exact": final,
            }[kind.room]
            piece = 2 ** math.ceil(math.log2(room)) if kind.buddy else room
        total["used"] += used
        total["ahead"] += min(room, final) - used
        total["internal"] += max(0, room - final)
        total["external"] += piece - room
    return total


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_closed_sums_are_what_counting_gives(kind):
    total = Counter()
    for prompt, answer in LENGTHS:
        total += counted(prompt, answer, kind)
    held = sum(total.values())
    for name, share in paging.waste(PROMPTS, ANSWERS, kind)._asdict().items():
        assert share == total[name] / held


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_pool_in_which_nobody_waits_holds_what_the_sums_say(kind):
    run = paging.simulate(PROMPTS, ANSWERS, kind, pool=2**13)
    assert not run.waiting.any()
    assert run.mean_running == 0
    assert run.shares == (0, 0, 0, 0)
    total = Counter()
    for prompt, answer in LENGTHS:
        total += counted(prompt, answer, kind)
    for name, part in [("used", run.used), ("ahead", run.ahead), ("internal", run.internal)]:
        assert part.sum() == total[name]
    assert run.rounding.sum() == total["external"]
    assert run.running.sum() == sum(ANSWERS)


def random_lengths(count, seed):
    random = np.random.default_rng(seed)
    return random.integers(1, 200, count), random.integers(1, 300, count)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_crowded_pool_is_never_overdrawn_and_every_token_is_written_once(kind):
    prompts, answers = random_lengths(200, 7)
    pool = 2500  # no power of two
    run = paging.simulate(prompts, answers, kind, pool)
    parts = [run.used, run.ahead, run.internal, run.rounding, run.free]
    assert all((part >= 0).all() for part in parts)
    assert (np.sum(parts, axis=0) == pool).all()
    assert run.running.sum() == answers.sum()
    assert (run.running > 0).all()  # a sequence that waits for an empty pool starts
    shares = run.shares
    assert sum(shares) == pytest.approx(1, rel=1e-12)
    assert shares.used == pytest.approx(run.used[run.contended].mean() / pool)
    assert run.mean_running == pytest.approx(run.running[run.contended].mean())
    if isinstance(kind, Contiguous):
        assert run.preempted == run.recomputed == 0


def test_more_of_the_pool_is_used_the_less_is_set_aside():
    prompts, answers = random_lengths(300, 1)
    kinds = [Contiguous(512), Contiguous(512, "power of two"), Contiguous(512, "exact")]
    runs = [paging.simulate(prompts, answers, kind, 4096) for kind in [*kinds, Paged(16)]]
    used = [run.shares.used for run in runs]
    assert used == sorted(used)
    assert [run.mean_running for run in runs] == sorted(run.mean_running for run in runs)
    steps = [len(run.running) for run in runs]
    assert steps == sorted(steps, reverse=True)


def test_preemption_by_hand():
    # three blocks of 2. Step 0: a block each. Step 1: each needs a second one and one is free,
    # which the elder gets; the younger leaves, and after the elder's last step starts again
    # with its prompt and the token that it had written
    run = paging.simulate([1, 1], [4, 4], Paged(2), pool=6)
    assert run.running.tolist() == [2, 1, 1, 1, 1, 1, 1]
    assert run.waiting.tolist() == [0, 1, 1, 1, 0, 0, 0]
    assert run.used.tolist() == [4, 3, 4, 5, 3, 4, 5]
    assert (run.preempted, run.recomputed) == (1, 2)


def test_spare_blocks_keep_sequences_from_preempting_each_other():
    prompts, answers = random_lengths(300, 3)
    runs = [paging.simulate(prompts, answers, Paged(16, spare), 4096) for spare in (0, 20, 100)]
    assert runs[0].preempted > runs[1].preempted > runs[2].preempted
    assert runs[0].mean_running > runs[2].mean_running
    alone = paging.simulate([9], [9], Paged(16, 10**6), pool=32)  # nobody else: no spare is kept
    assert alone.running.tolist() == [1] * 9


def test_arrivals_are_awaited_and_served_in_order():
    run = paging.simulate([2, 2, 2], [3, 1, 1], Contiguous(8, "exact", False), 8, [1, 1, 6])
    assert run.running.tolist() == [0, 2, 1, 1, 0, 0, 1]
    assert run.waiting.tolist() == [0] * 7
    # the small one behind a large one does not pass it
    run = paging.simulate([4, 7, 1], [2, 1, 1], Contiguous(8, "exact", False), 8)
    assert run.running.tolist() == [1, 1, 1, 1]
    assert run.used.tolist() == [5, 6, 8, 2]


def test_buddies_are_halved_and_joined():
    memory = Buddies(24)  # 16 + 8
    small = memory.take(3)
    assert small == 16  # from the eight, not from the sixteen
    assert memory.take(16) == 0
    assert memory.take(5) is None
    assert memory.take(4) == 20
    memory.give(16, 4)
    memory.give(20, 4)
    memory.give(0, 16)
    assert memory.free == [set(), set(), set(), {16}, {0}]


def test_gaps_are_taken_first_fit_and_joined():
    memory = Gaps(10)
    starts = [memory.take(size) for size in (3, 4, 3, 1)]
    assert starts == [0, 3, 7, None]
    memory.give(0, 3)
    memory.give(7, 3)
    assert memory.take(4) is None  # six are free, in two gaps
    memory.give(3, 4)
    assert memory.gaps == [(0, 10)]


@pytest.mark.parametrize("prefix", [0, 1, 15, 16, 17, 100])
def test_shared_blocks_are_the_distinct_beginnings(prefix):
    # a full block is a copy of another if everything written up to its end is the same
    size, lengths = 16, prefix + np.random.default_rng(5).integers(1, 90, 12)
    texts = [
        ("shared",) * prefix + tuple((number, place) for place in range(length - prefix))
        for number, length in enumerate(lengths)
    ]
    full = {text[:end] for text in texts for end in range(size, len(text) + 1, size)}
    begun = sum(len(text) % size > 0 for text in texts)
    assert paging.shared_blocks(lengths, prefix, size) == len(full) + begun


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: paging.waste([1], [0], Paged()), r"output_tokens\[0\] .* got 0"),
        (lambda: paging.waste([1.5], [1], Paged()), "input_tokens .* whole numbers .* got 1.5"),
        (lambda: paging.waste([[1]], [1], Paged()), "input_tokens must be a list"),
        (lambda: paging.waste([1, 2], [1], Paged()), "got 2 and 1"),
        (lambda: paging.waste([], [], Paged()), "at least 1, got 0 and 0"),
        (lambda: paging.waste([9], [9], Contiguous(17)), "max_tokens = 17, got 18"),
        (lambda: paging.waste([9], [9], "paged"), "allocator must be .* got 'paged'"),
        (lambda: Contiguous(8, "half"), "room must be one of .* got 'half'"),
        (lambda: Contiguous(8, "exact", 1), "buddy must be True or False, got 1"),
        (lambda: paging.simulate([9], [9], Paged(16), 31), "pool must have room .* 18 .* got 31"),
        (lambda: paging.simulate([9], [9], Contiguous(18), 31), "pool must have .* 32 .* got 31"),
        (lambda: paging.simulate([1], [10**8], Paged(), 10**9), "output_tokens must add up"),
        (lambda: paging.simulate([1, 1], [1, 1], Paged(), 99, [2, 1]), "arrivals must .* in order"),
        (lambda: paging.simulate([1], [1], Paged(), 99, [1e9]), "arrivals must .* at most"),
        (lambda: paging.shared_blocks([5, 9], 6), "prefix must be at most .* 5, got 6"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises((TypeError, ValueError), match=words):
        call()


# --- formulas ---


def test_held_tokens_by_hand():
    # answers of 2 and 6 with prompts of 10 and 0: 20 and 0 token-steps of prompt; 2 and 18 of
    # answer; 8 steps in all
    assert value(formulas.held_tokens, (20 + 0) / 2, (4 + 36) / 2, 4) == (20 + 20) / 8
    assert value(formulas.held_by_variability, 5, 4, 0.5) == 5 + (4 + 36) / 2 / 8


def test_held_tokens_are_the_mean_of_a_pool_between_before_and_after_each_token():
    prompts, answers = random_lengths(400, 2)
    run = paging.simulate(prompts, answers, Paged(16), 10**6)
    after, steps = run.used.sum(), run.running.sum()
    before = after - steps  # each step adds a token to each sequence
    moments = (prompts * answers).mean(), (answers**2).mean(), answers.mean()
    held = value(formulas.held_tokens, *map(float, moments))
    assert held == pytest.approx((before + after) / 2 / steps, rel=1e-12)


def test_littles_law_in_a_pool_with_arrivals():
    # a Poisson stream into a pool without limit: what runs and what is held, against the law
    random = np.random.default_rng(11)
    count, rate, seconds = 40_000, 4.0, 0.025
    prompts, answers = random.integers(1, 100, count), random.geometric(1 / 40, count)
    arrivals = np.floor(np.cumsum(random.exponential(1 / rate, count)) / seconds).astype(int)
    run = paging.simulate(prompts, answers, Paged(16), 10**6, arrivals)
    middle = slice(2000, arrivals[-1])
    running = value(formulas.mean_running, rate, 40, seconds)
    assert running == 4
    assert run.running[middle].mean() == pytest.approx(running, rel=0.03)
    product, square = 50 * 40, 40**2 * (2 - 1 / 40)  # a geometric answer, independent of prompts
    tokens = value(formulas.running_tokens, rate, seconds, product, square)
    assert tokens == pytest.approx(4 * value(formulas.held_tokens, product, square, 40))
    # half a token each: the run counts after the token of the step
    assert (run.used - run.running / 2)[middle].mean() == pytest.approx(tokens, rel=0.05)


def test_the_length_bias_of_laws_with_known_moments():
    # all answers alike: half an answer; geometric ones: nearly a whole answer
    assert value(formulas.held_by_variability, 100, 50, 0) == 125
    assert value(formulas.held_by_variability, 100, 50, 1) == 150


def test_the_waste_of_a_last_block_is_the_mean_over_its_places():
    for size in (1, 2, 16, 256):
        waste = np.mean([(-tokens) % size for tokens in range(1, size + 1)])
        assert value(formulas.block_waste, size) == waste


def test_rounding_up_to_a_class_uses_what_an_integral_says():
    assert value(formulas.class_use, 2) == pytest.approx(1 / (2 * math.log(2)))
    lengths = np.exp(np.linspace(0, 5 * math.log(1.5), 500_001))[1:]  # even on a log scale
    pieces = 1.5 ** np.ceil(np.log(lengths) / math.log(1.5) - 1e-9)
    assert value(formulas.class_use, 1.5) == pytest.approx((lengths / pieces).mean(), rel=1e-5)
    assert value(formulas.class_use, 1 + 1e-9) == pytest.approx(1, rel=1e-8)


def test_the_shares_of_figure_2_follow_from_the_lengths_of_figure_11():
    # Kwon et al. 2023: 12 GiB for OPT-13B at 800 KiB a token; prompts of 161.31, answers of
    # 337.99 tokens on average; 13.3 % of the pool reserved by 7 sequences of 2048
    pool = 12 * 2**30 // (800 * 2**10)
    assert pool // 2048 == 7
    half = 0.133 * pool / 7  # mean tokens still to come, E[S_out^2] / (2 E[S_out])
    cv = math.sqrt(2 * half / 337.99 - 1)
    held = value(formulas.held_by_variability, 161.31, 337.99, cv)
    # printed 20.4 % and 8.9 %, and each printed share is within half of its last digit
    assert 7 * held / pool == pytest.approx(0.204, abs=0.0005 + 0.0005)
    assert 1 - 7 * 2048 / pool == pytest.approx(0.089, abs=0.0005)


@pytest.mark.parametrize(
    ("trace", "means", "held", "naive"),
    [
        ("conv", (1154.70, 211.126, 1058.60, 0.771418), 1227.0, 1260.3),
        ("code", (2047.85, 27.8825, 2052.73, 2.146823), 2130.9, 2061.8),
    ],
)
def test_what_running_sequences_hold_in_public_traces_as_chapter_12_says(trace, means, held, naive):
    data = os.environ.get("SERVING_DATA")
    if not data:
        pytest.skip("SERVING_DATA is not set: no traces to compare with")
    found = traces.load(Path(data) / "traces" / f"AzureLLMInferenceTrace_{trace}.csv.gz")
    prompts, answers = found.input_tokens, found.output_tokens
    moments = (prompts * answers).mean(), (answers**2).mean(), answers.mean()
    assert value(formulas.held_tokens, *map(float, moments)) == pytest.approx(held, abs=0.05)
    seen = (prompts * answers).sum() / answers.sum()
    found_means = (prompts.mean(), answers.mean(), seen, answers.std() / answers.mean())
    assert found_means == pytest.approx(means, rel=5e-6)
    assert (prompts + answers / 2).mean() == pytest.approx(naive, abs=0.05)
    # the same from the pool itself, of the first thousand requests one at a time
    run = paging.simulate(prompts[:1000], answers[:1000], Paged(16), 10**8)
    few = [(prompts * answers)[:1000].sum(), (answers**2)[:1000].sum(), answers[:1000].sum()]
    steps = run.used.sum() - run.running.sum() / 2
    assert steps == few[0] + few[1] / 2
    # pages waste under one block a sequence
    waste = paging.waste(prompts, answers, Paged(16))
    assert waste.used > 1 - 16 / found.input_tokens.mean()
