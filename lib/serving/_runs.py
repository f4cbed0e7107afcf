"""A simulated run: checked arguments, and what is counted in each part of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _kernels, _random, _sweeps, errors, window
from .errors import UnstableError
from .policies import Fixed, Greedy, Window
from .service import LinearService

RESOLUTION = 2.0**-14
"""Largest error of a quantile by its bin, relatively."""
PARTS = 30
"""Parts of a run, which its intervals compare."""
WARM_UP = 2
"""Parts of the same length before them that are not measured."""
CHUNK = 32768
"""Arrivals drawn at a time: their times stay in the processor's cache."""
MOST_REQUESTS = 10**10
"""More of them in a part would not fit the counters."""
MOST_WORKERS = 10**6
LONG = 30_000_000
"""Requests of a run that takes long enough for a progress bar."""


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
    bins: NDArray[np.int32]
    counts: NDArray[np.int32]


@dataclass(frozen=True)
class Plan:
    """Checked arguments of a run; times in units of the service of one request."""

    unit: float
    t_fixed: float
    t_req: float
    size: int
    wait: float
    aware: bool
    workers: int
    buffer: int | None
    seed: int
    parts: tuple[int, ...]  # requests in each
    warm_up: int  # of them are not measured
    chunk: int
    scale: float  # mean gap
    arrivals: Any  # None for Poisson
    trace: NDArray[np.float64] | None
    noise: Any

    @property
    def requests(self) -> int:
        """Requests that are measured."""
        return sum(self.parts[self.warm_up :])


def plan(
    arrival_rate: Any,
    policy: Any,
    service: Any,
    workers: Any,
    buffer: Any,
    arrivals: Any,
    requests: Any,
    seed: Any,
    noise: Any,
) -> Plan:
    """Check the arguments of a simulation; errors name them."""
    if not isinstance(policy, (Fixed, Greedy, Window)):
        raise TypeError(f"policy must be Fixed, Greedy or Window of policies, got {policy!r}")
    if not isinstance(service, LinearService):
        raise TypeError(f"service must be a LinearService, got {service!r}")
    if not isinstance(noise, (type(None), *_random.NOISE)):
        raise TypeError(f"noise must be None, Gamma, LogNormal or Empirical, got {noise!r}")
    servers = errors.integer("workers", workers, at_least=1)
    if servers > MOST_WORKERS:
        raise ValueError(f"workers must be at most {MOST_WORKERS}, got {workers!r}")
    count = errors.integer("requests", requests, at_least=PARTS + WARM_UP)
    if count > MOST_REQUESTS:
        raise ValueError(f"requests must be at most {MOST_REQUESTS}, got {requests!r}")
    number = errors.integer("seed", seed, at_least=0)
    unit = service.time(1)
    size, wait, aware = _shape(policy)
    room = None if buffer is None else _room(policy, buffer, size, wait)
    given = isinstance(arrivals, (type(None), *_random.ARRIVALS))
    if given:
        errors.number("arrival_rate", arrival_rate, above=0)
        load = errors.exact("arrival_rate", arrival_rate) * errors.exact("service", unit)
        if not 1e-9 <= load <= 1e9:
            raise ValueError(
                f"arrival_rate must be 1e-9 to 1e9 times 1 / {unit:.6g} s, for float64 to tell "
                f"gaps from services, got {arrival_rate!r}"
            )
        if buffer is None:
            _check_load(arrival_rate, policy, service, servers, arrivals)
        length = count // (PARTS + WARM_UP)
        if wait == math.inf and size > length:
            raise ValueError(
                f"requests must be at least {(PARTS + WARM_UP) * size} for {policy} to fill a "
                f"batch in each part, got {requests!r}"
            )
        warm_up = count - length * PARTS
        parts, scale, trace = (warm_up, *[length] * PARTS), 1 / float(load), None
        chunk = min(CHUNK, max(1, int(float(load) * 4e8)))  # keeps 1e-7 of a unit at any load
    else:
        trace = _gaps(arrival_rate, arrivals, count) / unit
        edges = np.linspace(0, trace.size, min(PARTS, trace.size) + 1).astype(int)
        parts, warm_up, scale, chunk = tuple(np.diff(edges).tolist()), 0, 1.0, CHUNK
    return Plan(
        unit=unit,
        t_fixed=float(service.t_fixed) / unit,
        t_req=float(service.t_req) / unit,
        size=min(size, _kernels.ENDLESS),
        wait=wait / unit,
        aware=aware,
        workers=servers,
        buffer=room,
        seed=number,
        parts=parts,
        warm_up=int(given),
        chunk=chunk,
        scale=scale,
        arrivals=arrivals if given else None,
        trace=trace,
        noise=noise,
    )


def _shape(policy: Fixed | Greedy | Window) -> tuple[int, float, bool]:
    """Largest batch, longest wait, and whether batches are closed only for a free server."""
    if isinstance(policy, Fixed):
        return policy.batch, math.inf, True
    if isinstance(policy, Greedy):
        return policy.max_batch, 0.0, True
    # without a timer a batch is the same whenever it is closed
    return policy.max_batch, policy.max_wait, policy.server_aware or policy.max_wait == math.inf


def _room(policy: Any, buffer: Any, size: int, wait: float) -> int:
    room = errors.integer("buffer", buffer, at_least=0)
    least = size - 1 if wait == math.inf else int(wait > 0 and size > 1)
    if room < least:
        raise ValueError(
            f"buffer must be at least {least} for {policy} to serve anything, got {buffer!r}"
        )
    return min(room, _kernels.ENDLESS)


def _gaps(arrival_rate: Any, arrivals: Any, count: int) -> NDArray[np.float64]:
    """Gaps of a trace, the first of them 0."""
    times = errors.array("arrivals", arrivals)
    if times.ndim != 1 or times.size == 0:
        raise ValueError(f"arrivals must be a list of times, got shape {times.shape}")
    if arrival_rate is not None:
        raise ValueError(
            f"arrival_rate must be None with a trace in arrivals, which has its own rate, "
            f"got {arrival_rate!r}"
        )
    with np.errstate(over="ignore"):
        gaps = np.diff(times[:count], prepend=times[0])
    if gaps.min() < 0:
        first = int(np.argmax(gaps < 0))
        raise ValueError(f"arrivals must not decrease, got {times[first]} at index {first}")
    if not np.isfinite(gaps.sum()):
        raise ValueError("arrivals must span a finite time")
    return gaps


def _check_load(
    rate: Any, policy: Any, service: LinearService, workers: int, arrivals: Any
) -> None:
    """Raise UnstableError if batches as large as they get are too slow, and say what is enough."""
    blind = isinstance(policy, Window) and not policy.server_aware and policy.max_wait < math.inf
    size: Any = _shape(policy)[0]
    if blind and arrivals is None:
        formed = window.form(rate, policy.max_batch, policy.max_wait).mean_size
        size = Fraction(formed)
    arriving = errors.exact("arrival_rate", rate)
    t_fixed, t_req = (errors.exact(n, getattr(service, n)) for n in ("t_fixed", "t_req"))
    load = arriving * (t_fixed / size + t_req)
    if load < workers:
        return
    smaller = "" if blind else _least_batch(service, arriving / workers)
    raise UnstableError(overload(rate, policy, workers, load, smaller))


def _least_batch(service: LinearService, arriving: Fraction) -> str:
    try:
        return f"a batch of {service.min_batch(arriving)}, or "
    except UnstableError:  # none is enough
        return ""


def overload(rate: Any, policy: Any, workers: int, load: Any, otherwise: str = "") -> str:
    """Say how many servers are kept busy, and what would be enough."""
    return (
        f"arrival_rate = {rate!r} is too much for {policy} and workers = {workers}: it keeps "
        f"{float(load):.6g} of them busy; {otherwise}workers = {math.floor(load) + 1} would be "
        f"enough"
    )


def middle(place: int) -> float:
    """Middle of a bin."""
    ends = (np.array([place, place + 1]) << _kernels.SHIFT).view(np.float64)
    return float(ends.mean())


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
        self.scratch = np.empty((2, _kernels.BINS), dtype=np.int32)
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
        owed = np.maximum(self.free, 0).sum()  # work that was closed before
        while left:
            gaps = self.gaps(min(left, self._chunk()))
            gaps *= self.plan.scale
            elapsed += self._advance(self._serve(gaps, sums))
            left -= gaps.size
            tick(gaps.size)
        if last and self.plan.trace is not None:
            elapsed += self._drain(sums)
        owed -= np.maximum(self.free, 0).sum()
        bins, counts = self._counted(sums[_kernels.LEAST], sums[_kernels.LARGEST])
        total, squares, work, batches, shed, least, largest = sums.tolist()
        return Part(
            *(arrived, int(counts.sum()), int(batches), int(shed)),
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
        room = _kernels.ENDLESS if plan.buffer is None else plan.buffer
        self.queue = _grown(self.queue, tail, tail + gaps.size)
        self.starts = _grown(self.starts, tail, (tail + gaps.size) * self.track)
        queue, starts = self.queue, self.starts
        done, now = 0, 0.0
        while True:
            shared = (self.free, self.factors, self.used, int(self.more is not None), plan.size)
            if self.fixed:
                lasting = plan.t_fixed + plan.t_req * plan.size
                done, now, self.head, tail, self.used = _kernels.fixed(
                    *(gaps, done, now, queue, self.head, tail, *shared, lasting, self.bins, sums)
                )
                begin = self.head
            else:
                done, now, begin, self.head, tail, self.due, self.used = _kernels.general(
                    *(gaps, done, now, queue, starts, begin, self.head, tail, self.due, *shared),
                    *(plan.wait, plan.aware, room, plan.t_fixed, plan.t_req, self.bins, sums),
                )
            if self.used < self.factors.size:
                break
            self.factors, self.used = self.more(CHUNK), 0
        begin, tail = int(begin), int(tail)
        self.waiting, self.head = tail - begin, int(self.head) - begin
        for array in (queue, starts):
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

    def _counted(self, least: float, largest: float) -> tuple[NDArray[Any], NDArray[Any]]:
        """Take the responses out of their bins."""
        if least > largest:  # none
            return self.scratch[0, :0].copy(), self.scratch[1, :0].copy()
        first, last = (
            int(np.float64(x).view(np.int64)) >> _kernels.SHIFT for x in (least, largest)
        )
        return _kernels.collect(self.bins, first, last, self.scratch)


def _grown(array: NDArray[np.float64], used: int, size: int) -> NDArray[np.float64]:
    """Give an array room for more, and keep what is used."""
    if array.size >= size:
        return array
    grown = np.empty(2 * size)
    grown[:used] = array[:used]
    return grown
