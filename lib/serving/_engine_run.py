"""A simulated engine between chunks of arrivals, and what is counted in each part of a run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import _engine, _engine_state, _lengths, _random, _sweeps
from ._engine_plan import Plan
from ._plan import ENDLESS
from ._server import DENSE, bin_of
from .errors import UnstableError

LONG = 5_000_000
"""Requests of a run that takes long enough for a progress bar."""
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
    sums: dict[str, float]
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
    answered = sum(part.tallies[_engine_state.RESPONSE].served for part in half)
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
        self.engine = _engine_state.new(planned.rules, planned.table)
        self.waiting = (np.empty(0), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
        self.last = 0.0  # time of the last arrival
        self.admitted = 0  # sequences that have a record

    def part(self, arrived: int, final: bool, tick: Callable[[int], object]) -> Part:
        """Let so many requests arrive, and count."""
        self.engine = _engine_state.counting(self.engine)
        elapsed, left = 0.0, arrived
        while left:
            size = min(left, max(self.plan.chunk, self.waiting[0].size))
            left -= size
            elapsed += self._serve(size, final and left == 0)
            tick(size)
        tallies = tuple(self._counted(row) for row in range(3))
        inside = self.admitted + self.waiting[0].size
        names = _engine_state.SUMS.names or ()
        sums = {name: float(getattr(self.engine.sums, name)) for name in names}
        return Part(arrived, elapsed, sums, tallies, inside)

    def _serve(self, size: int, final: bool) -> float:
        """Let some arrive, and return the time that has passed."""
        arrivals = np.cumsum(self.gaps(size))
        arrivals *= self.plan.scale
        arrivals += self.last
        self.last = float(arrivals[-1])
        fresh = (arrivals, *self.lengths(size))
        times, prompts, outputs = (
            np.concatenate(pair) for pair in zip(self.waiting, fresh, strict=True)
        )
        self._grow(times.size)
        engine = self.engine._replace(times=times, prompts=prompts, outputs=outputs)
        gone = self._gone()
        passed = float(_engine.advance(engine, final))
        head, engine.state.head = int(engine.state.head), 0
        self.admitted += head - (self._gone() - gone)
        self.waiting = (times[head:] - passed, prompts[head:], outputs[head:])
        self.last -= passed
        return passed

    def _gone(self) -> int:
        """Requests that have been answered or refused, of those counted."""
        engine = self.engine
        return int(engine.tally[_engine_state.RESPONSE].count + engine.sums.refused)

    def _grow(self, arriving: int) -> None:
        """Make rows for all that may be admitted."""
        rules, size = self.plan.rules, len(self.engine.pool)
        most = min(rules.slots, rules.blocks or ENDLESS)
        needed = min(most, self.admitted + arriving)
        if size < needed:
            self.engine = _engine_state.larger(self.engine, min(most, 2 * needed))

    def _counted(self, row: int) -> Tally:
        """Take the times of a kind out of their bins."""
        tally = self.engine.tally[row]
        if not tally.count:
            return Tally(0, 0.0, 0.0, math.inf, 0.0, slice(0, 0), np.zeros(0, dtype=np.uint8))
        first = bin_of(tally.least)
        counts = self.engine.bins[row, first : bin_of(tally.largest) + 1]
        found = np.flatnonzero(counts) if counts.size > DENSE else slice(0, counts.size)
        taken = counts[found].astype(np.min_scalar_type(counts.max()))
        counts[:] = 0
        places = slice(first, first + counts.size) if isinstance(found, slice) else first + found
        served, *moments = (float(getattr(tally, name)) for name in _engine_state.TALLY.names or ())
        return Tally(int(served), *moments, places, taken)
