"""Closed forms of chapter 16 against sums over states, limits and cases counted by hand."""

import itertools
import math

import numpy as np
import pytest

from serving import formulas as f

CASES = [(0.5, 200, 0.020, 0.00025), (10, 200, 0.020, 0.00025), (3, 50, 0.0, 0.004)]


def states(rate, tokens, fixed, each):
    """Law of the number running, state by state from the balance of one and the next."""
    law = [1.0]
    while len(law) < 50 or law[-1] > 1e-18 * max(law):
        n = len(law)
        law.append(law[-1] * rate * tokens * (fixed + each * n) / n)
    return np.array(law) / sum(law)


@pytest.mark.parametrize("case", CASES)
def test_mean_number_and_answer_are_those_of_the_states(case):
    rate, tokens, fixed, each = case
    law = states(*case)
    mean = law @ np.arange(law.size)
    assert f.engine_running(*case) == pytest.approx(mean)
    assert f.engine_response(*case) == pytest.approx(mean / rate)
    # the growing parts of steps run for that share of the time which the tokens fill
    busy = sum(p * each * n / (fixed + each * n) for n, p in enumerate(law) if n)
    assert f.token_load(rate, tokens, each) == pytest.approx(busy)


def test_published_example():
    """Twenty milliseconds and a quarter, two hundred tokens: capacity 20, and 8.1 s at half."""
    assert f.engine_capacity(200, 0.00025) == pytest.approx(20)
    assert f.engine_response(10, 200, 0.020, 0.00025) == pytest.approx(8.1)
    assert f.engine_running(10, 200, 0.020, 0.00025) == pytest.approx(81)


def test_an_engine_that_is_always_full_makes_a_token_a_step_for_each():
    assert f.limited_capacity(40, 50, 0.01, 0.001) == pytest.approx(40 / 0.05 / 50)
    assert f.limited_capacity(1, 50, 0.01, 0.001) == pytest.approx(1 / (50 * 0.011))
    assert f.limited_capacity(1e12, 200, 0.02, 0.00025) == pytest.approx(20)


def test_memory_is_shared_out_to_the_last_token():
    lengths = np.array([[10, 5], [10, 20], [30, 11]])  # prompts and answers
    prompt, answer = lengths.T
    moments = (np.mean(prompt * answer), np.mean(answer**2), answer.mean())
    held = sum(np.sum(p + np.arange(a) + 0.5) for p, a in lengths) / answer.sum()
    assert f.memory_running(1000, *moments) * held == pytest.approx(1000)
    shared = f.prefix_running(1000, 10, *moments)
    assert 10 + shared * (held - 10) == pytest.approx(1000)


def test_static_batches_counted_row_by_row():
    batch = np.array([3, 7, 20])
    fixed, each = 0.5, 0.1
    steps = [int((batch > k).sum()) for k in range(20)]
    tokens, longest, mean = batch.sum(), batch.max(), batch.mean()
    refilled = tokens / 3 * (fixed + 3 * each)  # a step for every three tokens
    dropped = sum(fixed + each * rows for rows in steps)
    padded = sum(fixed + each * 3 for _ in steps)
    assert f.dropped_gain(3, longest, mean, fixed, each) == pytest.approx(dropped / refilled)
    assert f.padded_gain(longest, mean) == pytest.approx(padded / refilled)


def test_experts_counted_over_all_choices():
    choices = list(itertools.combinations(range(5), 2))
    hit = [len(set().union(*tokens)) for tokens in itertools.product(choices, repeat=3)]
    assert f.experts_touched(5, 2, 3) == pytest.approx(np.mean(hit))
    assert f.experts_touched(8, 2, 1) == pytest.approx(2)
    assert math.isclose(f.experts_touched(8, 2, 500), 8)
