"""The loops of the simulation, compiled where numba is installed; the numbers are the same.

Times are in units of the service of one request, and counted from the last arrival of the chunk
before, so that no digits are lost in long runs. Nothing is fused or reordered: plain Python gives
the same bits, slowly. Places in arrays are unsigned, which spares a check at each access.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    import numba
except ImportError:  # the package works without, at a few microseconds a request
    numba = None

Array = NDArray[Any]
unsigned: Any = int if numba is None else np.uint64

SHIFT = 39
"""Bits dropped from a float64 to give its bin: 13 of its mantissa are left."""
BINS = 2047 << (52 - SHIFT)
"""Bins of all finite numbers that are not negative; pages that nothing falls in cost nothing."""
TOTAL, SQUARES, WORK, BATCHES, SHED, LEAST, LARGEST = range(7)
"""Places of sums: responses less 1, their squares, services, batches (not of `fixed`), shed."""


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop if that is possible."""
    if numba is None:
        return function
    return numba.njit(cache=True, nogil=True)(function)


def bare(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop that makes no arrays, without the count of who refers to those it is given.

    Counting takes an atomic addition wherever an array changes hands: of a loop made of many
    small pieces it was four fifths of the time.
    """
    if numba is None:
        return function
    loop: Any = numba.njit(cache=True, nogil=True, _nrt=False)(function)
    with contextlib.suppress(AttributeError):  # numba looks at the loop's own file alone
        loop._cache._cache_file._source_stamp = _stamp(Path(function.__code__.co_filename).parent)
    return loop


def _stamp(folder: Path) -> tuple[float, int]:
    """What changes with any file that a loop's pieces may be in, so that none is kept for long."""
    found = [path.stat() for path in folder.glob("*.py")]
    return max(file.st_mtime for file in found), sum(file.st_size for file in found)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a piece of a bare loop into its callers: a call would cost more than what is done."""
    if numba is None:
        return function
    return numba.njit(inline="always", _nrt=False)(function)


@compiled
def _fill(rng: np.random.Generator, out: Array) -> None:
    for place in range(out.size):
        out[place] = rng.standard_exponential()


def fill(rng: np.random.Generator, out: Array) -> None:
    """Draw exponential numbers of mean 1: the same, and somewhat faster, in a compiled loop."""
    if numba is None:
        rng.standard_exponential(out=out)
    else:
        _fill(rng, out)


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
def record(
    queue: Array, head: int, tail: int, finish: float, lasting: float, bins: Array, sums: Array
) -> None:
    """Count the responses of a batch."""
    total, squares = sums[TOTAL], sums[SQUARES]
    for place in range(head, tail):
        response = finish - queue[place]
        bins[unsigned(np.float64(response).view(np.int64) >> SHIFT)] += 1
        total += response - 1.0
        squares += (response - 1.0) * (response - 1.0)
    sums[TOTAL], sums[SQUARES] = total, squares
    sums[WORK] += lasting
    sums[BATCHES] += 1.0
    sums[LEAST] = min(sums[LEAST], finish - queue[tail - unsigned(1)])
    sums[LARGEST] = max(sums[LARGEST], finish - queue[head])


@compiled
def fixed(
    gaps: Array,  # before each arrival, over their mean
    scale: float,  # the mean
    done: int,  # how many of them are behind
    now: float,  # time of the last arrival
    queue: Array,  # arrivals
    head: int,  # first request without a batch
    tail: int,  # where the next one goes
    free: Array,  # when each server is free, a heap
    factors: Array,  # of service times
    used: int,  # how many of them are behind
    noisy: int,  # 1 if each is used once
    size: int,
    lasting: float,  # service of a batch
    bins: Array,
    sums: Array,
) -> tuple[int, float, int, int, int]:
    """Serve batches of one size until the gaps or the factors are used up."""
    done, one, end = unsigned(done), unsigned(1), unsigned(gaps.size)
    head, tail, full = unsigned(head), unsigned(tail), unsigned(size)
    total, squares, work = sums[TOTAL], sums[SQUARES], sums[WORK]  # these stay in registers
    least, largest = sums[LEAST], sums[LARGEST]
    while True:
        if tail - head == full:
            if used == factors.size:
                break
            took = lasting * factors[used]
            used += noisy
            work += took
            finish = max(now, free[0]) + took
            occupy(free, finish)
            least = min(least, finish - now)
            largest = max(largest, finish - queue[head])
            while head < tail:
                response = finish - queue[head]
                bins[unsigned(np.float64(response).view(np.int64) >> SHIFT)] += 1
                total += response - 1.0
                squares += (response - 1.0) * (response - 1.0)
                head += one
        if done == end:
            break
        for _ in range(min(full - (tail - head), end - done)):
            now += gaps[done] * scale
            queue[tail] = now
            tail += one
            done += one
    sums[TOTAL], sums[SQUARES], sums[WORK] = total, squares, work
    sums[LEAST], sums[LARGEST] = least, largest
    return done, now, head, tail, used


@compiled
def single(
    gaps: Array,  # before each arrival, over their mean
    scale: float,  # the mean
    done: int,  # how many of them are behind
    now: float,  # time of the last arrival
    until: float,  # when the server is free
    factors: Array,  # of service times
    used: int,  # how many of them are behind
    noisy: int,  # 1 if each is used once
    lasting: float,  # service of a request
    bins: Array,
    sums: Array,
) -> tuple[int, float, float, int]:
    """Serve one by one until the gaps or the factors are used up: `fixed`, with less to do."""
    count = gaps.size - done
    if noisy:
        count = min(count, factors.size - used)
    total, squares, work = sums[TOTAL], sums[SQUARES], sums[WORK]
    least, largest = sums[LEAST], sums[LARGEST]
    for place in range(unsigned(count)):
        now += gaps[unsigned(done) + place] * scale
        took = lasting * factors[unsigned(used) + place * unsigned(noisy)]
        until = max(now, until) + took
        response = until - now
        bins[unsigned(np.float64(response).view(np.int64) >> SHIFT)] += 1
        work += took
        total += response - 1.0
        squares += (response - 1.0) * (response - 1.0)
        least = min(least, response)
        largest = max(largest, response)
    sums[TOTAL], sums[SQUARES], sums[WORK] = total, squares, work
    sums[LEAST], sums[LARGEST] = least, largest
    return done + count, now, until, used + count * noisy


@compiled
def general(
    gaps: Array,  # before each arrival, over their mean
    scale: float,  # the mean
    done: int,  # how many of them are behind
    now: float,  # time of the last arrival
    queue: Array,  # arrivals of the requests that were let in
    starts: Array,  # when the service of each begins, kept where closed batches wait
    begin: int,  # first request that waits
    head: int,  # first request without a batch
    tail: int,  # where the next one goes
    due: float,  # when the next batch is closed
    free: Array,  # when each server is free, a heap
    factors: Array,  # of service times
    used: int,  # how many of them are behind
    noisy: int,  # 1 if each is used once
    size: int,  # largest batch
    wait: float,  # longest wait for it
    aware: bool,  # whether a batch is closed only when a server is free
    buffer: int,  # most requests that wait
    t_fixed: float,
    t_req: float,
    bins: Array,
    sums: Array,
) -> tuple[int, float, int, int, int, float, int]:
    """Serve batches of any policy until the gaps or the factors are used up."""
    done, one, end = unsigned(done), unsigned(1), unsigned(gaps.size)
    begin, head, tail = unsigned(begin), unsigned(head), unsigned(tail)
    full, room = unsigned(size), unsigned(buffer)
    track = starts.size > 0
    while done < end:
        then = now + gaps[done] * scale
        while due <= then:
            if used == factors.size:
                break
            last = head + min(full, tail - head)
            lasting = (t_fixed + t_req * (last - head)) * factors[used]
            used += noisy
            start = max(due, free[0])
            occupy(free, start + lasting)
            record(queue, head, last, start + lasting, lasting, bins, sums)
            if track:
                for place in range(head, last):
                    starts[place] = start
            head = last
            if head == tail:
                due = math.inf
                continue
            due = queue[head] + wait
            if tail - head >= full:
                due = min(due, queue[head + full - one])
            if aware:
                due = max(due, free[0])
        if due <= then:  # no factor is left
            break
        now = then
        done += one
        if track:
            while begin < head and starts[begin] <= now:
                begin += one
        else:
            begin = head
        if tail - begin >= room:
            at_once = free[0] <= now and (tail - head + one >= full or wait == 0)
            if not at_once:
                sums[SHED] += 1.0
                continue
        queue[tail] = now
        tail += one
        if tail - head == full:
            due = min(due, now)
        elif tail - head == one:
            due = now + wait
        else:
            continue
        if aware:
            due = max(due, free[0])
    return done, now, begin, head, tail, due, used
