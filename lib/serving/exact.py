"""Exact response times of batch queues: batches of a fixed size, and batches of what waits.

Arrivals are a Poisson process and a batch takes a time that depends on its size alone. Sums of
positive terms and transforms of bearable length; nothing is simulated, nothing cancels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special

from . import errors, formulas
from ._buffer import Bounded
from ._greedy import Unbounded
from ._laws import Law
from ._walk import CLOSEST, LEAST, Walk, enough, poisson
from .errors import UnstableError
from .service import LinearService

Array = NDArray[np.float64]

MOST = 1000
"""Load up to which a queue with an end of places is computed."""

LARGEST_CAP, LARGEST_BUFFER, LARGEST_TOTAL = 512, 2048, 2**16
"""What is computed in seconds: cap of a batch, places to wait, batch times workers."""


@dataclass(frozen=True)
class FixedBatchQueue(Law):
    """Response times when requests are served in batches of exactly one size.

    Parameters
    ----------
    arrival_rate : float
        Arrival rate, above 0 [requests/s].
    batch : int
        Batch size, at least 1 [requests].
    service : LinearService
        How long a batch takes.
    workers : int
        Servers that take full batches in order, at least 1; at most 65536 over ``batch`` [1].

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    UnstableError
        If the servers cannot keep up; the message says what would be enough.
    ValueError
        If an argument is out of range, or the load is too close to 1 to be computed.

    Notes
    -----
    The wait of a batch has the law of the wait in M/D/s with s = workers * batch. The j-th
    request of a batch answers after D + max(G, W + D - H): G until the batch is full, W the wait
    of the batch that this server had before, and H since that one was full. Source: Franx 2001
    for the law of the wait; chapter 6 for the rest.

    Examples
    --------
    >>> queue = FixedBatchQueue(100, 8, LinearService(t_fixed=0.050, t_req=0.0005))
    >>> round(queue.mean, 6), round(queue.quantile(0.99), 6)
    (0.091723, 0.17334)
    """

    arrival_rate: float
    batch: int
    service: LinearService
    workers: int = 1

    def __post_init__(self) -> None:
        rate = errors.number("arrival_rate", self.arrival_rate, above=0)
        size = errors.integer("batch", self.batch, at_least=1)
        workers = errors.integer("workers", self.workers, at_least=1)
        errors.number("batch", self.batch, at_most=LARGEST_TOTAL)
        errors.number("workers", self.workers, at_most=LARGEST_TOTAL // size)
        load = _load(self.arrival_rate, size, self.service, workers)
        kept = {"arrival_rate": rate, "batch": size, "workers": workers, "utilization": float(load)}
        kept |= {"_walk": Walk(size * workers, load), "_least": float(self.service.time(size))}
        for name, value in kept.items():
            object.__setattr__(self, name, value)
        _representable(self)

    @property
    def busy(self) -> float:
        """Share of time in which a server works.

        Returns
        -------
        float
            Load over capacity [1].
        """
        return self.utilization

    @cached_property
    def mean_wait(self) -> float:
        """Mean wait of a full batch.

        Returns
        -------
        float
            Time from the batch's last arrival to the start of its service [s].
        """
        return self._walk.factorial_cumulant(1) / self.arrival_rate

    @cached_property
    def mean(self) -> float:
        """Mean response time of a request.

        Returns
        -------
        float
            Accumulation, wait and service [s].
        """
        delay = formulas.accumulation_delay(self.arrival_rate, self.batch)
        return float(delay) + self.mean_wait + self._least

    @cached_property
    def std(self) -> float:
        """Standard deviation of the response time of a request.

        Returns
        -------
        float
            Of a request taken at random, whatever its place in the batch [s].
        """
        walk = self._walk
        wait = math.sqrt(walk.factorial_cumulant(2))
        variance = formulas.fixed_batch_variance(1.0, self.batch, wait, walk.positive)
        return math.sqrt(variance) / self.arrival_rate

    @cached_property
    def _more(self) -> Array:
        """Probability that more than 0, 1, ... requests of full batches wait."""
        return np.append(np.cumsum(self._walk.maximum[::-1])[::-1][1:], 0.0)

    def _exceeds(self, time: float) -> float:
        after = time / self._least - 1  # in batch times
        if after < 0:
            return 1.0
        size, total = self.batch, self.batch * self.workers
        rate = float(self._walk.load * total)
        periods = max(math.ceil(after), 1)
        mean = rate * (periods - after)
        count = np.arange(max(0, 2 * int(mean) - enough(mean)), enough(mean))
        place = np.arange(1, size + 1)
        limit = periods * total - size + place - 1
        index = np.minimum(limit[:, None] - count, self._more.size - 1)
        more = np.where(index < 0, 1.0, self._more[np.maximum(index, 0)])
        late = more @ poisson(count, np.array(mean))
        full = np.append(special.gammainc(size - place[:-1], rate * after), 1.0)
        return float(np.mean(1 - full + full * late))


@dataclass(frozen=True)
class GreedyQueue(Law):
    """Response times when an idle server takes what waits, up to a cap.

    Parameters
    ----------
    arrival_rate : float
        Arrival rate, above 0 [requests/s].
    max_batch : int
        Cap of the batch size, from 1 to 512 [requests].
    service : LinearService
        How long a batch takes.
    buffer : int, optional
        Places for requests that wait, those in service not counted, from 0 to 2048; a request
        that finds them taken is lost. None for no end of places [requests].

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    UnstableError
        If there is no buffer and the server cannot keep up; the message says what would be
        enough.
    ValueError
        If an argument is out of range, or the load is too close to 1 to be computed.

    Notes
    -----
    Times are those of requests that are served. Source: chapter 7; Powell and Humblet 1986.

    Examples
    --------
    >>> queue = GreedyQueue(100, 16, LinearService(t_fixed=0.050, t_req=0.0005))
    >>> round(queue.mean, 6), round(queue.quantile(0.99), 6), round(queue.busy, 5)
    (0.079434, 0.106071, 0.99901)
    """

    arrival_rate: float
    max_batch: int
    service: LinearService
    buffer: int | None = None

    def __post_init__(self) -> None:
        rate = errors.number("arrival_rate", self.arrival_rate, above=0)
        size = errors.integer("max_batch", self.max_batch, at_least=1)
        errors.number("max_batch", self.max_batch, at_most=LARGEST_CAP)
        load = _load(self.arrival_rate, size, self.service, 1, self.buffer is None)
        times = self.service.time(np.arange(1, size + 1))
        parts, arriving = times / times[-1], float(load * size)
        places = None
        if self.buffer is not None:
            places = errors.integer("buffer", self.buffer, at_least=0)
            errors.number("buffer", self.buffer, at_most=LARGEST_BUFFER)
        kept = {"arrival_rate": rate, "max_batch": size, "buffer": places}
        kept["_states"] = (
            Unbounded(arriving, parts, Walk(size, load))
            if places is None
            else Bounded(arriving, parts, places)
        )
        kept |= {"_least": float(times[0]), "_unit": float(times[-1])}
        for name, value in kept.items():
            object.__setattr__(self, name, value)
        _representable(self)

    @cached_property
    def batches(self) -> Array:
        """Shares of batches by size.

        Returns
        -------
        ndarray, shape (max_batch,)
            Probability that a batch holds 1, 2, ... requests [1].
        """
        size = self.max_batch
        taken = np.clip(np.arange(self._states.chain.size), 1, size)
        return np.bincount(taken, self._states.chain, size + 1)[1:]

    @cached_property
    def mean_batch(self) -> float:
        """Mean batch size.

        Returns
        -------
        float
            Requests in a batch, of a batch taken at random [requests].
        """
        return float(self.batches @ np.arange(1, self.max_batch + 1))

    @property
    def _working(self) -> float:
        """Mean time of a batch, in times of a full one."""
        return float(self.batches @ self._states.times)

    @property
    def busy(self) -> float:
        """Share of time in which the server works.

        Returns
        -------
        float
            Not the load over capacity: small batches keep a server busy too [1].
        """
        arriving = self._states.rate * self._working
        return float(arriving / (arriving + self._states.chain[0]))

    @property
    def loss(self) -> float:
        """Share of requests that find no place.

        Returns
        -------
        float
            Zero if there is no end of places [1].
        """
        if self.buffer is None:
            return 0.0
        offered = self._states.rate * self._working + self._states.chain[0]
        return max(0.0, float(1 - self.mean_batch / offered))

    @cached_property
    def mean_wait(self) -> float:
        """Mean time until service starts.

        Returns
        -------
        float
            Of a request that is served [s].
        """
        return self._unit * self._states.total_wait / self.mean_batch

    @cached_property
    def mean(self) -> float:
        """Mean response time.

        Returns
        -------
        float
            Of a request that is served [s].
        """
        return self.mean_wait + self._unit * float(self._requests @ self._states.times)

    @property
    def _requests(self) -> Array:
        """Shares of requests by the size of their batch."""
        return self.batches * np.arange(1, self.max_batch + 1) / self.mean_batch

    @cached_property
    def std(self) -> float:
        """Standard deviation of the response time.

        Returns
        -------
        float
            Of a request that is served [s].
        """
        states = self._states
        added = states.times - states.times[0]
        both = float(states.waits_with @ added) / self.mean_batch
        squares = states.square_wait / self.mean_batch + 2 * both
        squares += float(self._requests @ added**2)
        mean = states.total_wait / self.mean_batch + float(self._requests @ added)
        return self._unit * math.sqrt(max(0.0, squares - mean**2))

    def _exceeds(self, time: float) -> float:
        return self._states.late(time / self._unit) / self.mean_batch


def _representable(queue: FixedBatchQueue | GreedyQueue) -> None:
    """Refuse times that leave float64."""
    with np.errstate(over="ignore", invalid="ignore"):
        if not queue.mean < 1e300:  # quantiles and squares of deviations are larger
            raise ValueError(
                f"arrival_rate = {queue.arrival_rate!r} gives a mean response time that leaves "
                f"float64: choose other units"
            )


def _load(
    rate: float, size: int, service: LinearService, workers: int, endless: bool = True
) -> Fraction:
    """Load over capacity, exactly; an error where there is no steady state."""
    if not isinstance(service, LinearService):
        raise TypeError(f"service must be a LinearService, got {service!r}")
    exactly = (errors.exact("rate", one) for one in (rate, size, service.t_fixed, service.t_req))
    load: Fraction = formulas.utilization(*exactly) / workers
    if load < LEAST:
        raise ValueError(
            f"arrival_rate = {rate!r} is less than {float(LEAST):g} of capacity: response times "
            f"are those of an empty server"
        )
    if not endless and load > MOST:
        raise ValueError(
            f"arrival_rate = {rate!r} is more than {MOST} times what the server can bear"
        )
    if not endless:
        return load
    if load >= 1:
        enough_workers = math.floor(load * workers) + 1
        try:
            batch = f"a batch of {service.min_batch(errors.exact('rate', rate) / workers)}, or "
        except UnstableError:
            batch = ""
        raise UnstableError(
            f"arrival_rate = {rate!r} is {errors.brief(load)} times what {workers} worker(s) can "
            f"bear with batches of {size}: it takes {batch}{enough_workers} workers"
        )
    if 1 - load < CLOSEST:
        raise ValueError(
            f"arrival_rate = {rate!r} is within {float(CLOSEST):g} of capacity, a load of "
            f"{float(load):.9f}: exact laws are computed up to 1 - {float(CLOSEST):g}"
        )
    return load
