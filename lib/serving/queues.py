"""Queues of single requests."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import errors


def departures(arrivals: ArrayLike, services: ArrayLike) -> NDArray[np.float64]:
    """Departure times from one server that takes requests in order of arrival.

    Parameters
    ----------
    arrivals : array_like, shape (n,)
        Arrival times, not decreasing [s].
    services : array_like, shape (n,) or ()
        Service time of each request, or one for all, at least 0 [s].

    Returns
    -------
    ndarray, shape (n,)
        Departure time of each request [s].

    Raises
    ------
    TypeError
        If an entry is not a real number.
    ValueError
        If arrivals decrease, a service time is negative or the lengths differ.

    Notes
    -----
    Request n leaves at ``max(arrival, departure before it) + service``: with S the running sum
    of services, ``S[n] + max over m <= n of (arrival[m] - S[m - 1])``. Source: Lindley's
    recursion, Kleinrock 1975, ch. 8.

    Examples
    --------
    >>> departures([0.0, 1.0, 5.0], 2.0)
    array([2., 4., 7.])
    """
    times = errors.array("arrivals", arrivals)
    work = errors.array("services", services, at_least=0)
    if times.ndim != 1 or work.shape not in ((), times.shape):
        raise ValueError(
            f"services must be one number or as many as arrivals, got shapes "
            f"{work.shape} and {times.shape}"
        )
    earlier = times[1:] < times[:-1]
    if earlier.any():
        first = int(np.argmax(earlier)) + 1
        raise ValueError(f"arrivals must not decrease, got {times[first]} at index {first}")
    with np.errstate(over="ignore", invalid="ignore"):
        before = np.concatenate([[0.0], np.cumsum(np.broadcast_to(work, times.shape))])
        result: NDArray[np.float64] = before[1:] + np.maximum.accumulate(times - before[:-1])
    if not np.all(np.isfinite(result)):
        raise ValueError("arrivals and services must add up to a finite float64")
    return result
