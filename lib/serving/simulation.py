"""Batch queues simulated: every policy, any number of servers, any traffic."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from . import errors, window
from ._random import (
    Bursty,
    Draw,
    Empirical,
    Erlang,
    Gamma,
    Hyperexponential,
    LogNormal,
    exponential,
)
from .errors import UnstableError
from .policies import Fixed, Greedy, Window
from .service import LinearService

__all__ = [
    *("Bursty", "Empirical", "Erlang", "Gamma", "Hyperexponential", "LogNormal"),
    *("Simulation", "simulate"),
]

PARTS = 30
"""Parts of a run that its intervals compare."""
WARM_UP = 2
"""Parts of the same length before them that are not measured."""
CHUNK = 16384
"""Arrivals that are drawn at a time: their times stay in the cache."""


@dataclass(frozen=True)
class _Part:
    """What is counted in a part of a run; times in units of the service of one request."""

    arrived: int
    served: int
    batches: int
    shed: int
    elapsed: float
    busy: float  # time of all servers together
    total: float  # of responses less one unit
    squares: float
    inside: float  # time in service, each request counted once
    bounds: tuple[float, float]
    bins: NDArray[np.int64]
    counts: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Simulation:
    """A run of a batch queue: means, quantiles and how sure they are.

    Attributes
    ----------
    requests : int
        Requests that were measured, those shed included [requests].
    workers : int
        Servers [1].
    """

    requests: int
    workers: int
    _unit: float = field(repr=False)
    _parts: tuple[_Part, ...] = field(repr=False)

    def _sum(self, name: str) -> float:
        return sum(getattr(part, name) for part in self._parts)

    @property
    def mean(self) -> float:
        """Mean response: from arrival to the end of the batch [s]."""
        return self._unit * (1 + self._sum("total") / self._sum("served"))

    @property
    def std(self) -> float:
        """Standard deviation of the response [s]."""
        shifted = self._sum("total") / self._sum("served")
        return self._unit * math.sqrt(
            max(0.0, self._sum("squares") / self._sum("served") - shifted**2)
        )

    @property
    def loss(self) -> float:
        """Share of requests that were shed [1]."""
        return self._sum("shed") / self._sum("arrived")

    @property
    def mean_batch(self) -> float:
        """Mean size of a batch [requests]."""
        return self._sum("served") / self._sum("batches")

    @property
    def busy(self) -> float:
        """Share of time in which a server is busy, the mean of all servers [1]."""
        return self._sum("busy") / (self.workers * self._sum("elapsed"))

    @cached_property
    def _law(self) -> tuple[NDArray[Any], NDArray[Any]]:
        bins = np.concatenate([part.bins for part in self._parts])
        found, where = np.unique(bins, return_inverse=True)
        counts = np.zeros(found.size, dtype=np.int64)
        np.add.at(counts, where, np.concatenate([part.counts for part in self._parts]))
        return found, counts

    def quantile(self, q: float) -> float:
        """Response that a share ``q`` of the requests does not exceed.

        Parameters
        ----------
        q : float
            The share, 0 to 1 [1].

        Returns
        -------
        float
            The quantile, within 1e-4 of that of the run, relatively [s].

        Raises
        ------
        TypeError
            If ``q`` is not a real number.
        ValueError
            If ``q`` is out of range.
        """
        share = errors.number("q", q, at_least=0, at_most=1)
        bounds = [part.bounds for part in self._parts]
        least, largest = min(b[0] for b in bounds), max(b[1] for b in bounds)
        return self._unit * _quantile(share, *self._law, least, largest)


def _quantile(
    q: float, bins: NDArray[Any], counts: NDArray[Any], least: float, largest: float
) -> float:
    """Quantile of a histogram, as if the responses in a bin lay evenly."""
    from ._kernels import SHIFT

    below = np.cumsum(counts)
    rank = q * below[-1]
    place = int(np.searchsorted(below, rank))
    edges = (np.array([bins[place], bins[place] + 1]) << SHIFT).view(np.float64)
    inside = (rank - (below[place] - counts[place])) / counts[place]
    return float(min(max(edges[0] + inside * (edges[1] - edges[0]), least), largest))


def simulate(
    arrival_rate: float,
    policy: Fixed | Greedy | Window,
    service: LinearService,
    workers: int = 1,
    buffer: int | None = None,
    arrivals: Any = None,
    requests: int = 1_000_000,
    seed: int = 0,
    noise: Any = None,
) -> Simulation:
    """Simulate."""
    from . import _kernels

    streams = [np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(2)]
    draw = exponential(streams[0]) if arrivals is None else arrivals._stream(streams[0])
    draw_factors = noise._stream(streams[1]) if noise else None
    unit = service.time(1)
    size, wait, aware = {
        Fixed: lambda p: (p.batch, math.inf, False),
        Greedy: lambda p: (p.max_batch, 0.0, True),
        Window: lambda p: (p.max_batch, p.max_wait / unit, p.server_aware),
    }[type(policy)](policy)
    scale = 1 / (arrival_rate * unit)
    length = requests // (PARTS + WARM_UP)
    track = buffer is not None and not aware
    state = dict(pending=np.empty(0), starts=np.empty(0), head=0, due=math.inf, used=0)
    pending, starts, head, due = np.empty(0), np.empty(0), 0, math.inf
    free = np.zeros(workers)
    factors, used = np.ones(1), 0
    histogram = np.zeros(_kernels.BINS, dtype=np.int32)
    parts = []
    for part in range(-WARM_UP, PARTS):
        counts, sums = np.zeros(3, dtype=np.int64), np.zeros(4)
        bounds = np.array([math.inf, 0.0])
        left, elapsed = length, 0.0
        before = np.maximum(free, 0).sum()
        while left:
            gaps = draw(min(left, CHUNK))
            gaps *= scale
            queue = np.empty(pending.size + gaps.size)
            queue[: pending.size] = pending
            tail, begin, done, now = pending.size, 0, 0, 0.0
            if track:
                starts = np.append(starts, np.empty(gaps.size))
            while True:
                done, now, begin, head, tail, due, used = _kernels.run(
                    gaps, done, now, queue, starts, begin, head, tail, due, free, factors, used,
                    int(noise is not None), size, wait, aware, _kernels.ENDLESS if buffer is None else buffer,
                    service.t_fixed / unit, service.t_req / unit, 1.0,
                    histogram, counts, sums, bounds)  # fmt: skip
                if done == gaps.size:
                    break
                factors, used = draw_factors(CHUNK), 0
            pending = queue[begin:tail] - now
            if track:
                starts = starts[begin:tail] - now
            head -= begin
            free -= now
            due -= now
            elapsed += now
            left -= gaps.size
        if counts[0]:
            first, last = (int(x.view(np.int64)) >> _kernels.SHIFT for x in bounds)
            used_bins = histogram[first : last + 1]
            bins = np.flatnonzero(used_bins)
            found = used_bins[bins]
            used_bins[:] = 0
            bins = bins + first
        else:
            bins = found = np.empty(0, dtype=np.int64)
        after = np.maximum(free, 0).sum()
        if part >= 0:
            parts.append(
                _Part(
                    length,
                    *counts.tolist(),
                    elapsed,
                    sums[2] + before - after,
                    sums[0],
                    sums[1],
                    sums[3],
                    tuple(bounds.tolist()),
                    bins,
                    found,
                )
            )
    return Simulation(length * PARTS, workers, unit, tuple(parts))
