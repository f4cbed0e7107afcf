"""The loop of a simulated fleet, compiled where numba is installed; the numbers are the same.

Times are in mean services and counted from the last arrival of the chunk before. Each replica
takes its requests in order of arrival, so a departure is known as soon as the replica is chosen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._kernels import BATCHES, LARGEST, LEAST, SHIFT, SQUARES, TOTAL, WORK, compiled, unsigned

Array = NDArray[Any]

DRAWN, TURNS, WORKS = range(3)
"""Rules: the shortest of some replicas drawn at random, each in turn, the least work left."""
LONGEST = 63
"""Requests at a replica, from which they are counted together."""


@compiled
def choose(
    rng: np.random.Generator,
    rule: int,
    choices: int,  # replicas that are drawn
    turn: Array,  # the replica whose turn it is
    free: Array,
    lengths: Array,
    order: Array,  # all replicas, shuffled as they are drawn
    avoided: int,  # a replica that is not taken, or -1
) -> int:
    """Choose a replica; of equal ones the first that is looked at."""
    count, best = lengths.size, -1
    while best < 0:
        if rule == TURNS:
            if turn[0] != avoided:
                best = turn[0]
            turn[0] = (turn[0] + 1) % count
        elif rule == WORKS:
            for place in range(count):
                if place != avoided and (best < 0 or free[place] < free[best]):
                    best = place
        else:
            for drawn in range(choices):
                other = drawn + int(rng.random() * (count - drawn))
                place = order[other]
                order[other] = order[drawn]
                order[drawn] = place
                if place != avoided and (best < 0 or lengths[place] < lengths[best]):
                    best = place
    return best


@compiled
def leave(until: float, ends: Array, places: Array, inside: int, lengths: Array) -> int:
    """Let everybody go whose service has ended; who is inside stands in a heap by its end."""
    while inside > 0 and ends[0] <= until:
        lengths[places[0]] -= 1
        inside -= 1
        end, at = ends[inside], places[inside]
        place, child = 0, 1
        while child < inside:
            if child + 1 < inside and ends[child + 1] < ends[child]:
                child += 1
            if ends[child] >= end:
                break
            ends[place], places[place] = ends[child], places[child]
            place, child = child, 2 * child + 1
        ends[place], places[place] = end, at
    return inside


@compiled
def enter(end: float, at: int, ends: Array, places: Array, inside: int, lengths: Array) -> int:
    """Let a request in at a replica, until its service ends."""
    lengths[at] += 1
    place = inside
    while place > 0:
        above = (place - 1) // 2
        if ends[above] <= end:
            break
        ends[place], places[place] = ends[above], places[above]
        place = above
    ends[place], places[place] = end, at
    return inside + 1


@compiled
def record(response: float, bins: Array, sums: Array) -> None:
    """Count a response."""
    bins[unsigned(np.float64(response).view(np.int64) >> SHIFT)] += 1
    sums[TOTAL] += response - 1.0
    sums[SQUARES] += (response - 1.0) * (response - 1.0)
    sums[LEAST] = min(sums[LEAST], response)
    sums[LARGEST] = max(sums[LARGEST], response)


@compiled
def dispatch(
    gaps: Array,  # before each arrival, over their mean
    scale: float,  # the mean
    factors: Array,  # services, at least one for each request and copy
    rng: np.random.Generator,
    rule: int,
    choices: int,
    turn: Array,
    free: Array,  # when each replica has done all it has
    lengths: Array,  # requests at each replica
    order: Array,
    ends: Array,
    places: Array,
    inside: int,
    hedge: float,  # time after which a copy is sent, or infinity
    asked: Array,  # arrival, end and replica of each request that gets a copy
    head: int,
    tail: int,
    bins: Array,
    sums: Array,
    seen: Array,  # how often a replica was found with so many requests
) -> tuple[float, int, int, int]:
    """Serve a chunk of requests, and return the time, who is inside and who gets a copy."""
    now, used = 0.0, 0
    for gap in gaps:
        now += gap * scale
        while head < tail and asked[head, 0] + hedge <= now:
            at = asked[head, 0] + hedge
            inside = leave(at, ends, places, inside, lengths)
            first = int(asked[head, 2])
            place = choose(rng, rule, choices, turn, free, lengths, order, first)
            free[place] = max(at, free[place]) + factors[used]
            inside = enter(free[place], place, ends, places, inside, lengths)
            sums[WORK] += factors[used]
            sums[BATCHES] += 1.0
            used += 1
            record(min(asked[head, 1], free[place]) - asked[head, 0], bins, sums)
            head += 1
        inside = leave(now, ends, places, inside, lengths)
        seen[min(lengths[int(rng.random() * lengths.size)], LONGEST)] += 1
        place = choose(rng, rule, choices, turn, free, lengths, order, -1)
        free[place] = max(now, free[place]) + factors[used]
        inside = enter(free[place], place, ends, places, inside, lengths)
        sums[WORK] += factors[used]
        used += 1
        if free[place] > now + hedge:
            asked[tail, 0], asked[tail, 1], asked[tail, 2] = now, free[place], place
            tail += 1
        else:
            record(free[place] - now, bins, sums)
    return now, inside, head, tail
