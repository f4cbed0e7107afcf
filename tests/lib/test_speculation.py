"""Speculation against counting, published counters, linear algebra and played steps."""

import math

import numpy as np
import pytest
from scipy import optimize

from serving import UnstableError, _kernels, formulas
from serving.formulas import value
from serving.speculation import Speculator, play

ENGINE = Speculator(0.020, 0.00025, 0.00075, 0.7)
PLAIN, DRAFTS = (0.020, 0.00025), (0.023, 0.00125)
REQUESTS = 200_000 if _kernels.numba else 6_400
"""Plain Python is a hundred times slower; the intervals widen by themselves."""


def test_a_yield_is_the_mean_over_all_ways_to_accept_and_reject():
    for chance, depth in [(0.7, 4), (0.2, 3), (0.999, 5), (0.5, 0)]:
        mean = 0.0
        for pattern in range(2**depth):  # one bit a guess
            right = [bool(pattern >> place & 1) for place in range(depth)]
            kept = right.index(False) if False in right else depth
            mean += (kept + 1) * math.prod(chance if ok else 1 - chance for ok in right)
        assert value(formulas.chain_yield, chance, depth) == pytest.approx(mean, rel=1e-12)


def test_yields_at_their_limits():
    assert value(formulas.chain_yield, 0.7, 1e6) == pytest.approx(1 / 0.3)
    assert value(formulas.chain_yield, 1 - 2**-53, 7) == pytest.approx(8, rel=1e-12)
    assert value(formulas.chain_yield, 1e-300, 7) == 1


def test_the_yield_that_counters_of_an_engine_give():
    # vLLM's reference values for an EAGLE-3 draft of three tokens, place by place
    kept = np.array([0.7296, 0.5208, 0.3545])
    assert 1 + kept.sum() == pytest.approx(2.60, abs=0.005)
    low, high = (value(formulas.chain_yield, x, 3) for x in (kept[2] / kept[1], kept[0]))
    assert low < 1 + kept.sum() < high


def test_break_even_of_an_engine_worked_by_hand():
    # 2.7731 tokens a step; milliseconds below: 2.7731 * 20 - 23 over 1.25 - 2.7731 / 4
    gain = value(formulas.chain_yield, 0.7, 4)
    assert gain == pytest.approx(2.7731, rel=1e-12)
    running = value(formulas.break_even_running, *PLAIN, *DRAFTS, gain)
    assert running == pytest.approx(32.462 / 0.556725, rel=1e-12)
    load = value(formulas.break_even_load, 200, *PLAIN, *DRAFTS, gain)
    assert load == pytest.approx(31.905275 / 3.85, rel=1e-9)
    assert 8 < load < 9
    assert value(formulas.speculative_capacity, 200, 0.00025, 1) == pytest.approx(20)
    assert value(formulas.speculative_capacity, 200, 0.00125, gain) == pytest.approx(11.1, abs=0.05)


def test_at_break_even_the_responses_meet():
    gain = 2.4

    def apart(rate):
        with_drafts = formulas.speculative_response(rate, 150, *DRAFTS, gain)
        return with_drafts - formulas.speculative_response(rate, 150, *PLAIN, 1)

    limit = value(formulas.speculative_capacity, 150, DRAFTS[1], gain)
    root = optimize.brentq(apart, 0.01, limit * (1 - 1e-9), xtol=1e-13)
    assert value(formulas.break_even_load, 150, *PLAIN, *DRAFTS, gain) == pytest.approx(root)


def stationary(step_times, load, states):
    """Mean number running from the balance equations, solved as they stand."""
    sizes = np.arange(1, states + 1)
    up, down = np.full(states, load), sizes / step_times(sizes)
    moves = np.diag(up, 1) + np.diag(down, -1)
    moves -= np.diag(moves.sum(axis=1))
    equations = np.vstack([moves.T[:-1], np.ones(states + 1)])
    return np.linalg.solve(equations, np.eye(states + 1)[-1]) @ np.arange(states + 1)


@pytest.mark.parametrize("rate", [0.5, 4, 8])
def test_response_is_that_of_the_balance_equations(rate):
    gain = value(formulas.chain_yield, 0.7, 4)
    mean = stationary(lambda n: (DRAFTS[0] + DRAFTS[1] * n) / gain, rate * 200, 900) / rate
    found = value(formulas.speculative_response, rate, 200, *DRAFTS, gain)
    assert found == pytest.approx(mean, rel=1e-9)
    assert ENGINE.response(rate, 200, 4) == pytest.approx(mean, rel=1e-9)


def test_response_of_a_plan_is_that_of_the_balance_equations():
    plan = [4] * 20 + [2] * 30 + [0]

    def step_times(sizes):
        depths = np.array([plan[min(n, len(plan)) - 1] for n in sizes])
        yields = [sum(0.7**j for j in range(depth + 1)) for depth in depths]
        return (0.020 + 0.00075 * depths + 0.00025 * (1 + depths) * sizes) / yields

    for rate in (2, 8, 15):
        mean = stationary(step_times, rate * 200, 900) / rate
        assert ENGINE.response(rate, 200, plan) == pytest.approx(mean, rel=1e-9)


def test_the_best_depths_are_as_good_as_any_plan():
    best = ENGINE.depths(400)
    assert best[0] > best[50] > best[-1] == 0
    even = [
        value(
            formulas.break_even_running,
            *PLAIN,
            *(0.020 + 0.00075 * depth, 0.00025 * (1 + depth)),
            value(formulas.chain_yield, 0.7, depth),
        )
        for depth in range(1, 17)
    ]
    assert np.count_nonzero(best) == math.floor(max(even))  # the last draft that pays, of one
    for rate in (1, 5, 8, 10):
        others = [[4] * 58 + [0], [6] * 9 + [1] * 160 + [0], 0, 1, 2]
        best_mean = ENGINE.response(rate, 200, best)
        assert all(best_mean <= ENGINE.response(rate, 200, plan) for plan in others)


def test_kinds_of_request_are_mixed_by_their_steps():
    mixed = Speculator(0.020, 0.00025, 0.00075, [0.95, 0.45])
    easy, hard = (sum(x**j for j in range(5)) for x in (0.95, 0.45))
    alone = (200 / easy + 200 / hard) / 2 * (DRAFTS[0] + DRAFTS[1])
    assert mixed.response(1e-9, 200, 4) == pytest.approx(alone, rel=1e-6)


def test_too_many_requests_are_told_how_many_would_do():
    with pytest.raises(UnstableError, match=r"below 11\.0924 requests/s at depths = 4"):
        ENGINE.response(11.1, 200, [0, 4])
    with pytest.raises(UnstableError, match="arrival_rate must be below 20 requests/s"):
        play(ENGINE, 20, 200, 0)


def test_an_engine_that_is_hardly_used_plays_the_steps_of_one_request():
    # certain acceptance: 100 tokens in 20 steps of five, each of 24.25 ms; two requests meet
    # once in two million
    sure = Speculator(0.020, 0.00025, 0.00075, 1 - 1e-12)
    run = play(sure, 1e-6, 100, 4, requests=3200)
    assert run.mean == pytest.approx(20 * 0.02425, rel=1e-5)
    assert run.mean_yield == 5 and run.half_width < 1e-5
    assert run.mean_running == pytest.approx(1e-6 * 20 * 0.02425, rel=0.2)


@pytest.mark.parametrize("geometric", [False, True])
@pytest.mark.parametrize(("rate", "depth"), [(4, 0), (4, 4), (7, 2)])
def test_played_steps_agree_with_the_law(rate, depth, geometric):
    run = play(ENGINE, rate, 200, depth, geometric, REQUESTS, seed=2)
    places = np.arange(depth + 1)
    gain, over = (0.7**places).sum(), (places * 0.7**places).sum()
    over = 0 if geometric else over / gain  # the end of a geometric answer has no memory
    fixed, each = 0.020 + 0.00075 * depth, 0.00025 * (1 + depth)
    if geometric:  # steps of an answer that ends after each token by chance
        gain = (1 - (0.7 * 199 / 200) ** (depth + 1)) / (1 - 0.7 * 199 / 200)
    mean = value(formulas.speculative_response, rate, 200 + over, fixed, each, gain)
    mean += (fixed + each * rate * mean) / 2  # until the next step begins
    assert run.mean == pytest.approx(mean, abs=2 * run.half_width, rel=0)
    assert run.half_width < 0.2 * mean


def test_little_holds_for_what_was_played():
    run = play(ENGINE, 5, 200, 3, requests=REQUESTS, seed=4)
    # a request is in the system from its arrival, and runs from the start of the next step
    ahead = (0.02225 + 0.001 * run.mean_running) / 2
    assert run.mean_running == pytest.approx(5 * (run.mean - ahead), rel=0.02)


def test_the_same_seed_plays_the_same():
    first, again = (play(ENGINE, 5, 20, 3, requests=640, seed=s) for s in (1, 1))
    other = play(ENGINE, 5, 20, 3, requests=640, seed=2)
    assert first == again and first != other


@pytest.mark.skipif(_kernels.numba is None, reason="numba is not installed: there is one way")
def test_compiled_steps_give_the_numbers_of_plain_python(monkeypatch):
    from serving import _speculation

    compiled = play(ENGINE, 5, 20, [4, 1, 0], True, requests=640, seed=3)
    monkeypatch.setattr(_speculation, "play", _speculation.play.py_func)
    assert play(ENGINE, 5, 20, [4, 1, 0], True, requests=640, seed=3) == compiled
