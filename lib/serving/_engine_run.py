"""A simulated engine between chunks of arrivals, and what is counted in each part of a run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _engine, _kernels, _lengths, _random, _sweeps
from ._engine_plan import Plan
from ._plan import ENDLESS
from ._server import DENSE, bin_of
from .errors import UnstableError

LONG = 5_000_000
"""Requests of a run that takes long enough for a progress bar."""
CIRCLE = 1 << 16
"""Steps that the circular list tells apart; longer answers go round it."""
CROWD = 200_000
"""Requests in the system that are looked at as a sign of overload."""
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Tally:
    """Times of one kind, counted in bins; in units of a step of one sequence."""

    served: int
    total: float
    squares: float
    least: float
    largest: float
    bins: slice | NDArray[np.int64]
    counts: NDArray[np.unsignedinteger]


@dataclass(frozen=True)
class Part:
    """What is counted in a part of a run."""

    arrived: int
    elapsed: float
    sums: Numbers
    tallies: tuple[Tally, ...]  # of responses, first tokens and gaps
    inside: int  # requests in the system at its end


def run(planned: Plan, progress: bool | None = None) -> tuple[Part, ...]:
    """Simulate all parts and return those that are measured."""
    engine, parts = _Engine(planned), []
    total = sum(planned.parts)
    with _sweeps.bar(total, " requests", progress, total >= LONG) as tick:
        for place, count in enumerate(planned.parts):
            last = place == len(planned.parts) - 1
            parts.append(engine.part(count, last and planned.trace is not None, tick))
            if planned.trace is None:
                _check_growth(parts, planned)
    return tuple(parts[planned.warm_up :])


def _check_growth(parts: list[Part], planned: Plan) -> None:
    """Raise UnstableError if the queue grows as long as the run goes on."""
    arrived, inside = sum(part.arrived for part in parts), parts[-1].inside
    late = len(parts) == len(planned.parts) and arrived >= 3200
    if inside < arrived / 8 or not (late or inside > CROWD):
        return
    half = parts[len(parts) // 2 :]
    if late and inside - parts[len(parts) // 2 - 1].inside < sum(p.arrived for p in half) / 16:
        return
    answered = sum(part.tallies[_engine.RESPONSE].served for part in half)
    rate = answered / (planned.unit * sum(part.elapsed for part in half))
    raise UnstableError(
        f"arrival_rate = {1 / (planned.scale * planned.unit):.6g} is too much: of {arrived} "
        f"requests {inside} were not answered yet, and the queue grows; an arrival rate below "
        f"{rate:.6g} requests/s would be enough"
    )


class _Engine:
    """The state of an engine between chunks of arrivals."""

    def __init__(self, planned: Plan) -> None:
        self.plan = planned
        first, second = np.random.SeedSequence(planned.seed).spawn(2)
        rng = np.random.default_rng(first)
        if planned.trace is not None:
            self.gaps = _random.replay(planned.trace)
        elif planned.arrivals is None:
            self.gaps = _random.exponential(rng)
        else:
            self.gaps = planned.arrivals._stream(rng)
        self.lengths = _lengths.stream(
            planned.prompts, planned.outputs, np.random.default_rng(second)
        )
        state = np.zeros(len(_STATE), dtype=np.int64)
        state[[_engine.PARTIAL, _engine.NEWEST, _engine.SPARE, _engine.STACK]] = -1
        state[_engine.FREE] = planned.rules.blocks
        self.memory = _engine.Memory(
            pool=np.empty((0, 9), dtype=np.int64),
            marks=np.empty((0, 3)),
            fresh=np.empty(0, dtype=np.int64),
            ring=np.full(CIRCLE, -1, dtype=np.int64),
            phases=np.zeros(planned.rules.block_size, dtype=np.int64),
            state=state,
            clock=np.zeros(2),
        )
        self.waiting = (np.empty(0), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
        self.last = 0.0  # time of the last arrival
        self.admitted = 0  # sequences that have a record
        self.bins = np.zeros((3, _kernels.BINS), dtype=np.int64)

    def part(self, arrived: int, final: bool, tick: Callable[[int], object]) -> Part:
        """Let so many requests arrive, and count."""
        tally, sums = np.zeros((3, 5)), np.zeros(10)
        tally[:, _engine.LEAST] = math.inf
        elapsed, left = 0.0, arrived
        while left:
            size = min(left, max(self.plan.chunk, self.waiting[0].size))
            left -= size
            elapsed += self._serve(size, final and left == 0, tally, sums)
            tick(size)
        tallies = tuple(self._counted(row, tally[row]) for row in range(3))
        inside = self.admitted + self.waiting[0].size
        return Part(arrived, elapsed, sums, tallies, inside)

    def _serve(self, size: int, final: bool, tally: Numbers, sums: Numbers) -> float:
        """Let some arrive, and return the time that has passed."""
        arrivals = self.last + np.cumsum(self.gaps(size)) * self.plan.scale
        self.last = float(arrivals[-1])
        fresh = (arrivals, *self.lengths(size))
        times, prompts, outputs = (
            np.concatenate(pair) for pair in zip(self.waiting, fresh, strict=True)
        )
        self._grow(times.size)
        state, clock = self.memory.state, self.memory.clock
        gone = tally[_engine.RESPONSE, _engine.COUNT] + sums[_engine.REFUSED]
        _engine.advance(
            *(self.plan.rules, self.plan.table, *self.memory, times, prompts, outputs, final),
            *(self.bins, tally, sums),
        )
        head = int(state[_engine.HEAD])
        gone -= tally[_engine.RESPONSE, _engine.COUNT] + sums[_engine.REFUSED]
        self.admitted += head + int(gone)
        state[_engine.HEAD] = 0
        now = float(clock[_engine.NOW])
        self.waiting = (times[head:] - now, prompts[head:], outputs[head:])
        self.last -= now
        clock -= now
        marks = self.memory.marks
        marks -= now
        return now

    def _grow(self, arriving: int) -> None:
        """Make records for all that may be admitted."""
        rules, old = self.plan.rules, self.memory
        most = min(rules.slots, rules.blocks or ENDLESS)
        size, needed = old.fresh.size, min(most, self.admitted + arriving)
        if size >= needed:
            return
        added = min(most, 2 * needed) - size
        pool = np.full((added, 9), -1, dtype=np.int64)
        pool[:, _engine.NEXT] = np.arange(size + 1, size + added + 1)
        pool[-1, _engine.NEXT] = old.state[_engine.SPARE]
        old.state[_engine.SPARE] = size
        self.memory = old._replace(
            pool=np.concatenate([old.pool, pool]),
            marks=np.concatenate([old.marks, np.zeros((added, 3))]),
            fresh=np.concatenate([old.fresh, np.zeros(added, dtype=np.int64)]),
        )

    def _counted(self, row: int, tally: Numbers) -> Tally:
        """Take the times of a kind out of their bins."""
        served, total, squares, least, largest = tally.tolist()
        if not served:
            return Tally(0, 0.0, 0.0, math.inf, 0.0, slice(0, 0), np.zeros(0, dtype=np.uint8))
        first = bin_of(least)
        counts = self.bins[row, first : bin_of(largest) + 1]
        found = np.flatnonzero(counts) if counts.size > DENSE else slice(0, counts.size)
        taken = counts[found].astype(np.min_scalar_type(counts.max()))
        counts[:] = 0
        places = slice(first, first + counts.size) if isinstance(found, slice) else first + found
        return Tally(int(served), total, squares, least, largest, places, taken)


_STATE: Any = range(12)
