"""Checked arguments of a simulated run, in units of the service of one request."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _random, errors, window
from .errors import UnstableError
from .policies import Fixed, Greedy, Window
from .service import LinearService

RESOLUTION = 2.0**-14
"""Largest error of a quantile by its bin, relatively."""
PARTS = 30
"""Parts of a run, which its intervals compare."""
WARM_UP = 2
"""Parts of the same length before them that are not measured."""
CHUNK = 65536
"""Arrivals drawn at a time: their times stay in the processor's cache."""
MOST_REQUESTS = 10**10
"""More of them in a part would not fit the counters."""
ENDLESS = 1 << 62
"""A count that is never reached."""
MOST_WORKERS = 10**6
MOST_APART = 10**9
"""Largest ratio of a mean gap and the service of a request, either way."""


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
        if not 1 <= load * MOST_APART <= MOST_APART**2:
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
    else:
        trace = _gaps(arrival_rate, arrivals, count, unit)
        edges = np.linspace(0, trace.size, min(PARTS, trace.size) + 1).astype(int)
        parts, warm_up, scale = tuple(np.diff(edges).tolist()), 0, 1.0
        load = Fraction(trace.size) / max(1, Fraction(trace.sum()))
    chunk = min(CHUNK, max(1, int(load * 400_000_000)))  # keeps 1e-7 of a unit at any load
    return Plan(
        unit=unit,
        t_fixed=float(service.t_fixed) / unit,
        t_req=float(service.t_req) / unit,
        size=min(size, ENDLESS),
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
    return min(room, ENDLESS)


def _gaps(arrival_rate: Any, arrivals: Any, count: int, unit: float) -> NDArray[np.float64]:
    """Gaps of a trace, the first of them 0."""
    times = errors.array("arrivals", arrivals)
    if times.ndim != 1 or times.size == 0:
        raise ValueError(f"arrivals must be a list of times, got {arrivals!r}")
    if arrival_rate is not None:
        raise ValueError(
            f"arrival_rate must be None with a trace in arrivals, which has its own rate, "
            f"got {arrival_rate!r}"
        )
    with np.errstate(over="ignore"):
        gaps = np.diff(times[:count], prepend=times[0]) / unit
    if gaps.min() < 0:
        first = int(np.argmax(gaps < 0))
        raise ValueError(f"arrivals must not decrease, got {times[first]} at index {first}")
    if not gaps.max() <= MOST_APART:
        raise ValueError(
            f"arrivals must be at most {MOST_APART:g} times {unit:.6g} s apart, for float64 to "
            f"tell gaps from services, got {gaps.max() * unit:g} s"
        )
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
