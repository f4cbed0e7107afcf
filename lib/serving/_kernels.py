"""The loops of the simulation, compiled where numba is installed; the numbers are the same.

Times are counted from the last arrival of the chunk before, so that no digits are lost in long
runs. There are no fused or reordered operations: plain Python gives the same bits, slowly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    import numba
except ImportError:  # the package works without, at a few microseconds a request
    numba = None

Array = NDArray[Any]

SHIFT = 38
"""Bits dropped from a float64 to give its bin: 14 bits of its mantissa are left."""
BINS = 2047 << (52 - SHIFT)
"""Bins of all finite numbers that are not negative; pages that nothing falls in cost nothing."""
ENDLESS = 1 << 62
"""A count that is never reached."""


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop if that is possible."""
    if numba is None:
        return function
    return numba.njit(cache=True, nogil=True)(function)


@compiled
def fill(rng: np.random.Generator, out: Array) -> None:
    """Draw exponential numbers of mean 1; in a compiled loop it is faster than out of it."""
    for place in range(out.size):
        out[place] = rng.standard_exponential()


@compiled
def occupy(free: Array, until: float) -> None:
    """Take the server that is free first until a time; the others stay a heap."""
    place, child = 0, 1
    while child < free.size:
        if child + 1 < free.size and free[child + 1] < free[child]:
            child += 1
        if free[child] >= until:
            break
        free[place] = free[child]
        place, child = child, 2 * child + 1
    free[place] = until


@compiled
def run(
    gaps: Array,  # before each arrival
    done: int,  # how many of them are behind
    now: float,  # time of the last
    queue: Array,  # arrivals of the requests that were let in
    starts: Array,  # when the service of each begins, where that is asked for
    begin: int,  # first request that waits
    head: int,  # first request without a batch
    tail: int,  # where the next one goes
    due: float,  # when the next batch is closed
    free: Array,  # when each server is free, a heap
    factors: Array,  # of service times
    used: int,  # how many of them are
    noisy: int,  # 1 if each is used once
    size: int,  # largest batch
    wait: float,  # longest wait for it
    aware: bool,  # whether a batch is closed when a server is free only
    buffer: int,  # most requests that wait
    t_fixed: float,
    t_req: float,
    shift: float,  # what is taken from responses before they are squared
    histogram: Array,
    counts: Array,  # served, batches, shed
    sums: Array,  # of shifted responses, their squares, services, services once per request
    bounds: Array,  # least and largest response
) -> tuple[int, float, int, int, int, float, int]:
    """Let requests arrive until the gaps or the factors are used up."""
    served, batches, shed = counts[0], counts[1], counts[2]
    total, squares, work, inside = sums[0], sums[1], sums[2], sums[3]
    least, largest = bounds[0], bounds[1]
    track = starts.size > 0
    while done < gaps.size:
        then = now + gaps[done]
        while due <= then:
            if used == factors.size:
                break
            count = min(size, tail - head)
            lasting = (t_fixed + t_req * count) * factors[used]
            used += noisy
            start = max(due, free[0])
            finish = start + lasting
            if free.size == 1:
                free[0] = finish
            else:
                occupy(free, finish)
            largest = max(largest, finish - queue[head])
            least = min(least, finish - queue[head + count - 1])
            for place in range(head, head + count):
                response = finish - queue[place]
                histogram[np.float64(response).view(np.int64) >> SHIFT] += 1
                total += response - shift
                squares += (response - shift) * (response - shift)
                if track:
                    starts[place] = start
            work += lasting
            inside += lasting * count
            served += count
            batches += 1
            head += count
            if head == tail:
                due = math.inf
            else:
                due = queue[head] + wait
                if tail - head >= size:
                    due = min(due, queue[head + size - 1])
                if aware:
                    due = max(due, free[0])
        if due <= then:
            break
        now = then
        done += 1
        if track:
            while begin < head and starts[begin] <= now:
                begin += 1
        else:
            begin = head
        if tail - begin >= buffer:
            at_once = free[0] <= now and (tail - head + 1 >= size or wait == 0)
            if not at_once:
                shed += 1
                continue
        queue[tail] = now
        tail += 1
        if tail - head == size:
            due = min(due, now)
        elif tail - head == 1:
            due = now + wait
        else:
            continue
        if aware:
            due = max(due, free[0])
    counts[0], counts[1], counts[2] = served, batches, shed
    sums[0], sums[1], sums[2], sums[3] = total, squares, work, inside
    bounds[0], bounds[1] = least, largest
    return done, now, begin, head, tail, due, used
