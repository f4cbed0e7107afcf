"""Response times of fixed batches, simulated: the whole law, where formulas give a mean at best.

Requests arrive as a Poisson process, every batch waits until it is full, and one server takes the
batches in order. All batch sizes are tried on the same arrivals, so that they differ by what the
size does and not by luck.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import errors, queues
from .errors import UnstableError
from .service import LinearService

BLOCKS = 20
"""A run is cut into so many stretches; how they differ gives the errors."""
LEAST_BATCHES = 200
"""Fewer batches say little of the slowest requests."""


@dataclass(frozen=True)
class Responses:
    """Simulated response times at some batch sizes.

    Attributes
    ----------
    batches : ndarray, shape (n,)
        Batch sizes [requests].
    mean : ndarray, shape (n,)
        Mean response time [s].
    std : ndarray, shape (n,)
        Standard deviation of the response time [s].
    tail : ndarray, shape (n,)
        The quantile asked for [s].
    mean_error, std_error, tail_error : ndarray, shape (n,)
        Their standard errors, from the stretches of the run [s].
    """

    batches: NDArray[np.int64]
    mean: NDArray[np.float64]
    std: NDArray[np.float64]
    tail: NDArray[np.float64]
    mean_error: NDArray[np.float64]
    std_error: NDArray[np.float64]
    tail_error: NDArray[np.float64]


def simulate(
    arrival_rate: float,
    batches: ArrayLike,
    service: LinearService,
    quantile: float = 0.99,
    requests: int = 200_000,
    seed: int = 0,
) -> Responses:
    """Simulate the response times of fixed batches.

    Parameters
    ----------
    arrival_rate : float
        Arrival rate, above 0 [requests/s].
    batches : array_like, shape (n,)
        Batch sizes, whole numbers that keep up with the arrivals [requests].
    service : LinearService
        How long a batch takes.
    quantile : float
        Share of the requests that the tail covers, at least 0 and below 1 [1].
    requests : int
        Length of the run, at least 200 batches of each size [requests].
    seed : int
        Start of the random numbers, at least 0 [1].

    Returns
    -------
    Responses
        Mean, standard deviation and tail with their standard errors.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    UnstableError
        If a batch size cannot keep up with the arrivals.
    ValueError
        If an argument is out of range, or a time too large for float64.

    Notes
    -----
    Lindley's recursion for the batches, see `serving.queues.departures`; standard errors by
    batch means, Law 2015, ch. 9; chapter 14.

    Examples
    --------
    >>> gpt3 = LinearService(t_fixed=0.050, t_req=0.0005)
    >>> simulate(100, [7, 16], gpt3).mean.round(3)
    array([0.091, 0.133])
    """
    rate = errors.number("arrival_rate", arrival_rate, above=0)
    errors.number("quantile", quantile, at_least=0)
    if errors.exact("quantile", quantile) >= 1:
        raise ValueError(f"quantile must be less than 1, got {quantile!r}")
    sizes = _sizes(arrival_rate, batches, service)
    count = errors.integer("requests", requests, at_least=1)
    start = errors.integer("seed", seed, at_least=0)
    if sizes.size and count < LEAST_BATCHES * sizes.max():
        raise ValueError(
            f"requests must be at least {LEAST_BATCHES} times the largest of batches, "
            f"{sizes.max()}, got {requests!r}"
        )
    arrivals = np.cumsum(np.random.default_rng(start).exponential(1.0, count))
    rows = [_measured(arrivals, size, rate * service.time(size), quantile) for size in sizes]
    with np.errstate(over="ignore"):  # what leaves float64 is told as an error
        columns = np.reshape(rows, (sizes.size, 6)).T / rate
        columns[[0, 2]] += service.time(sizes)
    if not np.all(np.isfinite(columns)):
        raise ValueError(f"arrival_rate must leave times within float64, got {arrival_rate!r}")
    return Responses(sizes, *columns)


def _sizes(arrival_rate: float, batches: ArrayLike, service: Any) -> NDArray[np.int64]:
    if not isinstance(service, LinearService):
        raise TypeError(f"service must be a LinearService, got {service!r}")
    sizes = errors.array("batches", batches, at_least=1)
    if sizes.ndim != 1:
        raise ValueError(f"batches must be a list of sizes, got shape {sizes.shape}")
    for place, size in enumerate(sizes.tolist()):
        errors.integer(f"batches[{place}]", size)
    least = service.min_batch(arrival_rate)
    if any(size < least for size in sizes.tolist()):  # in Python: least may exceed float64
        raise UnstableError(
            f"batches must be at least {least}, the least stable batch at arrival_rate = "
            f"{arrival_rate!r}, got {int(sizes.min())}"
        )
    if np.any(sizes > 2**53):
        raise ValueError(f"batches must be at most 2**53, got {sizes.max()}")
    return sizes.astype(np.int64)


def _measured(
    arrivals: NDArray[np.float64], batch: int, busy: float, quantile: float
) -> list[float]:
    """Mean, deviation, tail and errors of the time before service, in gaps between arrivals."""
    gathered = arrivals[: len(arrivals) // batch * batch].reshape(-1, batch)
    full = gathered[:, -1]
    wait = queues.departures(full, busy) - full - busy
    wait[wait < 8 * np.finfo(float).eps * (full[-1] + busy * full.size)] = 0  # is rounding alone
    before = (full + wait)[:, None] - gathered
    blocks = np.array_split(before, BLOCKS)
    each = np.array([_summary(block, quantile) for block in blocks])
    spread = each.std(axis=0, ddof=1) / math.sqrt(BLOCKS)
    return [*_summary(before, quantile), *spread]


def _summary(times: NDArray[np.float64], quantile: float) -> tuple[float, float, float]:
    return times.mean(), times.std(), np.quantile(times, quantile)
