"""Who goes first: waits by class and by length against lists of events, integrals and limits."""

import heapq
import math

import numpy as np
import pytest
from scipy import integrate, stats

from serving import UnstableError, formulas, queues
from serving.formulas import value


def holds(values, exact):
    """Check that means of thirty parts are about the exact mean, as sure as 0.9999."""
    parts = np.array([part.mean() for part in np.array_split(values, 30)])
    reach = stats.t.ppf(1 - 0.00005, 29) * parts.std(ddof=1) / math.sqrt(30)
    assert abs(parts.mean() - exact) <= reach <= 0.1 * exact


def ordered(arrivals, work, keys, preemptive=False, remaining=False):
    """Ends of service; the smallest key first, or what has the least work left."""
    waiting, now, ends = [], 0.0, np.zeros(len(arrivals))
    for place, until in enumerate([*arrivals, math.inf]):
        while waiting and now < until:
            key, which, left = heapq.heappop(waiting)
            served = min(left, until - now) if preemptive else left
            now += served
            if served < left:
                rest = left - served
                heapq.heappush(waiting, (rest if remaining else key, which, rest))
            else:
                ends[which] = now
        now = max(now, until)
        if place < len(arrivals):
            heapq.heappush(waiting, (keys[place], place, work[place]))
    return ends


# Classes

RATES, TIMES = [0.3, 0.2], [0.8, 2.0]
SQUARES = [2 * time**2 for time in TIMES]


@pytest.mark.parametrize("preemptive", [False, True])
def test_classes_against_a_list_of_events(preemptive):
    rng, count = np.random.default_rng(2), 300_000
    arrivals = np.cumsum(rng.exponential(2, count))
    kinds = rng.choice(2, count, p=[0.6, 0.4])
    work = rng.exponential(np.array(TIMES)[kinds])
    responses = ordered(arrivals, work, kinds, preemptive) - arrivals
    exact = queues.priorities(RATES, TIMES, SQUARES, preemptive)
    for kind in (0, 1):
        holds(responses[kinds == kind], exact.mean_response[kind])


def test_the_work_that_waits_does_not_depend_on_who_goes_first():
    rates, times, squares = [0.2, 0.1, 0.4], [1, 3, 0.5], [1.5, 9, 1]
    sums = []
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        rows = ([row[k] for k in order] for row in (rates, times, squares))
        classes = queues.priorities(*rows)
        sums.append(classes.loads @ classes.mean_wait)
    mixed = queues.mg1(0.7, 0.7 / 0.7, np.dot(rates, squares) / 0.7)
    np.testing.assert_allclose(sums, 0.7 * mixed.mean_wait)


def test_one_class_is_pollaczek_and_khinchine():
    for preemptive in (False, True):
        [wait] = queues.priorities([0.7], [1], [3.25], preemptive).mean_wait
        assert wait == pytest.approx(queues.mg1(0.7, 1, 3.25).mean_wait)


def test_the_most_urgent_who_interrupt_see_nobody_else():
    urgent, other = queues.priorities(RATES, TIMES, SQUARES, True).mean_response
    assert urgent == pytest.approx(queues.mg1(0.3, 0.8, 1.28).mean_response)
    # exponential with one rate for all: together they are an M/M/1
    urgent, other = queues.priorities([0.3, 0.3], [1, 1], [2, 2], True).mean_response
    assert (urgent + other) / 2 == pytest.approx(queues.mm1(0.6, 1).mean_response)


def test_the_formulas_by_hand():
    assert value(formulas.priority_wait, 0.6, 0.2, 0.5) == pytest.approx(0.6 / (0.8 * 0.5))
    assert value(formulas.preemptive_response, 2, 0.6, 0.2, 0.5) == pytest.approx(2 / 0.8 + 1.5)


def test_more_work_than_time_is_unstable_and_says_by_how_much():
    with pytest.raises(UnstableError, match=r"below 0\.8 times as high"):
        queues.priorities([0.5, 0.75], [1, 1], [1, 1])


# Lengths


def sizes(count, cv, seed=3):
    rng, spread = np.random.default_rng(seed), math.log1p(cv**2)
    scores = rng.standard_normal(count)
    arrivals = np.cumsum(rng.exponential(1 / 0.7, count))
    return arrivals, scores, np.exp(math.sqrt(spread) * scores - spread / 2), rng


@pytest.mark.parametrize("foresight", [1, 0.6])
def test_the_shortest_first_against_a_list_of_events(foresight):
    arrivals, scores, work, rng = sizes(300_000, 1)
    noise = rng.standard_normal(scores.size)
    guesses = foresight * scores + math.sqrt(1 - foresight**2) * noise
    responses = ordered(arrivals, work, guesses) - arrivals
    exact = queues.shortest_first(0.7, 1, 1, foresight)
    holds(responses, exact.mean_response)
    holds(responses / work, exact.mean_slowdown)
    some, at = np.abs(scores - 0.5) < 0.1, stats.norm.cdf(0.5)
    holds(responses[some], exact.response(at))
    holds((responses / work)[some], exact.slowdown(at))


def test_the_least_left_against_a_list_of_events():
    arrivals, scores, work, _ = sizes(300_000, 1)
    responses = ordered(arrivals, work, work, preemptive=True, remaining=True) - arrivals
    exact = queues.srpt(0.7, 1, 1)
    holds(responses, exact.mean_response)
    holds(responses / work, exact.mean_slowdown)


def test_the_least_left_against_schrage_and_miller_over_sizes():
    spread = math.log1p(1.5**2)
    law = stats.lognorm(math.sqrt(spread), scale=math.exp(-spread / 2))

    def part(power, size):
        """Mean of a power of sizes up to one of them: a log-normal law again, moved."""
        moved = stats.norm.cdf((math.log(size) + spread / 2 - power * spread) / math.sqrt(spread))
        return math.exp(power * (power - 1) / 2 * spread) * moved

    def response(size):
        seen = part(2, size) + size**2 * law.sf(size)
        shares = integrate.quad(lambda t: 1 / (1 - 0.8 * part(1, t)), 0, size)[0]
        return 0.4 * seen / (1 - 0.8 * part(1, size)) ** 2 + shares

    exact = queues.srpt(0.8, 1, 1.5)
    for share in (0.05, 0.5, 0.99):
        assert exact.response(share) == pytest.approx(response(law.ppf(share)), rel=1e-4)
    # the times themselves, in another unit of time
    assert queues.srpt(8, 0.1, 1.5).response(0.5) == pytest.approx(exact.response(0.5) / 10)


def test_without_foresight_the_mean_is_that_of_first_come():
    for cv in (0, 0.5, 3):
        exact = queues.mg1(0.8, 2 / 2, 1 + cv**2).mean_response
        assert queues.shortest_first(0.8, 1, cv, 0).mean_response == pytest.approx(exact)


def test_lengths_that_are_all_alike_leave_nothing_to_choose():
    exact = queues.mdc(0.8, 1, 1).mean_response
    for one in (queues.srpt(0.8, 1, 0), queues.shortest_first(0.8, 1, 0)):
        assert one.mean_response == pytest.approx(exact)


def test_no_order_beats_the_least_left_and_foresight_helps():
    means = [queues.shortest_first(0.9, 1, 2, known).mean_response for known in (0, 0.3, 0.7, 1)]
    assert means == sorted(means, reverse=True)
    assert queues.srpt(0.9, 1, 2).mean_response < means[-1]
    # at a load of a half and less no size is served worse than by sharing the processor
    assert max(queues.srpt(0.5, 1, 3).slowdown(q) for q in np.linspace(0.01, 0.999, 99)) < 2
