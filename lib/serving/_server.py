"""The server that is simulated, and what is counted in each part of a run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _kernels, _random, _sweeps
from ._plan import CHUNK, ENDLESS, Plan

LONG = 30_000_000
"""Requests of a run that takes long enough for a progress bar."""

DENSE = 1 << 18
"""Bins of which the counts are kept one by one, if responses spread no wider."""


@dataclass(frozen=True)
class Part:
    """What is counted in a part of a run; times in units of the service of one request."""

    arrived: int
    served: int
    batches: int
    shed: int
    elapsed: float
    busy: float  # time of all servers together
    work: float  # service times of the batches that were closed
    total: float  # of responses less one unit
    squares: float
    least: float
    largest: float
    bins: slice | NDArray[np.int64]  # of the counts
    counts: NDArray[np.unsignedinteger]


def bin_of(response: float) -> int:
    """Find the bin of a response."""
    return int(np.float64(response).view(np.int64)) >> _kernels.SHIFT


def law(parts: tuple[Part, ...]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Middles of the bins in use, and how many responses are not above each bin."""
    first = bin_of(min(part.least for part in parts if part.served))
    last = bin_of(max(part.largest for part in parts if part.served))
    counts = np.zeros(last + 1 - first, np.min_scalar_type(sum(part.served for part in parts)))
    for part in parts:
        if isinstance(part.bins, slice):
            counts[part.bins.start - first : part.bins.stop - first] += part.counts
        else:
            counts[part.bins - first] += part.counts
    places = np.flatnonzero(counts != 0)
    below = np.cumsum(counts[places], dtype=np.int64)
    places += first
    places <<= _kernels.SHIFT
    places += 1 << (_kernels.SHIFT - 1)
    return places.view(np.float64), below


def run(planned: Plan, progress: bool | None = None) -> tuple[Part, ...]:
    """Simulate all parts and return those that are measured."""
    server = _Server(planned)
    total = sum(planned.parts)
    with _sweeps.bar(total, " requests", progress, total >= LONG) as tick:
        parts = tuple(
            server.part(count, last=place == len(planned.parts) - 1, tick=tick)
            for place, count in enumerate(planned.parts)
        )
    return parts[planned.warm_up :]


class _Server:
    """The state of a queue between chunks of arrivals."""

    def __init__(self, planned: Plan) -> None:
        self.plan = planned
        first, second = np.random.SeedSequence(planned.seed).spawn(2)
        self.gaps = self._arrivals(np.random.default_rng(first))
        self.factors, self.used = np.ones(1), 0
        self.more = None
        if planned.noise is not None:
            self.more = planned.noise._stream(np.random.default_rng(second))
            self.factors = np.empty(0)
        self.free = np.zeros(planned.workers)
        self.queue, self.starts = np.empty(0), np.empty(0)
        self.waiting, self.head, self.due = 0, 0, math.inf
        self.bins = np.zeros(_kernels.BINS, dtype=np.int32)
        self.fixed = planned.wait == math.inf and planned.buffer is None
        self.track = int(not planned.aware and planned.buffer is not None)

    def _arrivals(self, rng: np.random.Generator) -> _random.Draw:
        if self.plan.trace is not None:
            return _random.replay(self.plan.trace)
        kind = self.plan.arrivals
        return _random.exponential(rng) if kind is None else kind._stream(rng)

    def part(self, arrived: int, last: bool, tick: Callable[[int], object]) -> Part:
        """Let so many requests arrive, and count."""
        sums = np.zeros(7)
        sums[_kernels.LEAST] = math.inf
        elapsed, left = 0.0, arrived
        owed = float(np.maximum(self.free, 0).sum())  # work that was closed before
        while left:
            gaps = self.gaps(min(left, self._chunk()))
            elapsed += self._advance(self._serve(gaps, sums))
            left -= gaps.size
            tick(gaps.size)
        if last and self.plan.trace is not None:
            elapsed += self._drain(sums)
        owed -= float(np.maximum(self.free, 0).sum())
        bins, counts, served = self._counted(sums[_kernels.LEAST], sums[_kernels.LARGEST])
        total, squares, work, batches, shed, least, largest = sums.tolist()
        if self.fixed:
            batches = served // self.plan.size
        return Part(
            *(arrived, served, int(batches), int(shed)),
            *(elapsed, work + owed, work, total, squares, least, largest),
            *(bins, counts),
        )

    def _chunk(self) -> int:
        """Arrivals to take at a time: of an overloaded trace as many as wait already."""
        if self.plan.trace is None:
            return self.plan.chunk
        return max(self.plan.chunk, self.waiting)

    def _serve(self, gaps: NDArray[np.float64], sums: NDArray[np.float64]) -> float:
        """Let requests arrive, and return the time of the last."""
        plan, begin, tail = self.plan, 0, self.waiting
        room = ENDLESS if plan.buffer is None else plan.buffer
        self.queue = _grown(self.queue, tail, tail + gaps.size)
        self.starts = _grown(self.starts, tail, (tail + gaps.size) * self.track)
        queue = self.queue
        done, now = 0, 0.0
        while True:
            start = (gaps, plan.scale, done, now, queue)
            shared = (self.free, self.factors, self.used, int(self.more is not None), plan.size)
            lasting = plan.t_fixed + plan.t_req * plan.size
            if self.fixed and plan.size == plan.workers == 1:
                done, now, self.free[0], self.used = _kernels.single(
                    *(*start[:4], self.free[0], *shared[1:4], lasting, self.bins, sums)
                )
            elif self.fixed:
                done, now, self.head, tail, self.used = _kernels.fixed(
                    *(*start, self.head, tail, *shared, lasting, self.bins, sums)
                )
                begin = self.head
            else:
                done, now, begin, self.head, tail, self.due, self.used = _kernels.general(
                    *(*start, self.starts, begin, self.head, tail, self.due, *shared),
                    *(plan.wait, plan.aware, room, plan.t_fixed, plan.t_req, self.bins, sums),
                )
            if self.used < self.factors.size:
                break
            self.factors, self.used = self.more(CHUNK), 0
        begin, tail = int(begin), int(tail)
        self.waiting, self.head = tail - begin, int(self.head) - begin
        for array in (queue, self.starts):
            array[: self.waiting] = array[begin:tail].copy()
        return float(now)

    def _advance(self, now: float) -> float:
        """Count time from now on."""
        self.queue[: self.waiting] -= now
        self.starts[: self.waiting] -= now
        self.free -= now
        self.due -= now
        return now

    def _drain(self, sums: NDArray[np.float64]) -> float:
        """Close what a timer still closes, and return the time until all servers are free."""
        shed = sums[_kernels.SHED]
        if not self.fixed:
            self._serve(np.array([1e300]), sums)  # after everything else, and counted nowhere
            sums[_kernels.SHED] = shed
        return self._advance(max(0.0, float(self.free.max())))

    def _counted(self, least: float, largest: float) -> tuple[Any, NDArray[Any], int]:
        """Take the responses out of their bins; fresh memory is slow, so in few bytes."""
        if least > largest:  # none
            return slice(0, 0), self.bins[:0].astype(np.uint8), 0
        first = bin_of(least)
        counts = self.bins[first : bin_of(largest) + 1]
        found = np.flatnonzero(counts != 0) if counts.size > DENSE else slice(0, counts.size)
        taken = counts[found].astype(np.min_scalar_type(counts.max()))
        served = int(counts.sum(dtype=np.int32))
        counts[:] = 0
        if isinstance(found, slice):
            return slice(first, first + counts.size), taken, served
        return first + found, taken, served


def _grown(array: NDArray[np.float64], used: int, size: int) -> NDArray[np.float64]:
    """Give an array room for more, and keep what is used."""
    if array.size >= size:
        return array
    grown = np.empty(2 * size)
    grown[:used] = array[:used]
    return grown
