"""Queues of single requests."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import errors, formulas


@dataclass(frozen=True)
class Means:
    """Long-run means of a queue with one server.

    Attributes
    ----------
    utilization : float
        Share of time in which the server is busy [1].
    mean_wait : float
        Mean time from arrival to the start of service [s].
    mean_response : float
        Mean time from arrival to departure [s].
    mean_number : float
        Mean number in the system, those in service included [requests].
    mean_waiting : float
        Mean number that wait, those in service left out [requests].
    """

    utilization: float
    mean_wait: float
    mean_response: float
    mean_number: float
    mean_waiting: float


def mm1(arrival_rate: float, service_rate: float) -> Means:
    """Mean wait, response and numbers of an M/M/1 queue.

    Parameters
    ----------
    arrival_rate : float
        Arrival rate, at least 0 [requests/s].
    service_rate : float
        Requests that the server completes in a second of work, above 0 [requests/s].

    Returns
    -------
    Means
        The long-run means.

    Raises
    ------
    TypeError
        If an argument is not a real number.
    UnstableError
        If requests arrive as fast as they can be served, or faster.
    ValueError
        If an argument is out of range, or a mean too large for float64.

    Notes
    -----
    Source: Kleinrock 1975, ch. 3; chapter 4.

    Examples
    --------
    >>> queue = mm1(arrival_rate=100, service_rate=125)
    >>> queue.mean_wait, queue.mean_response, queue.mean_number
    (0.032, 0.04, 4.0)
    """
    arriving = _exact("arrival_rate", arrival_rate)
    served = _exact("service_rate", service_rate)
    _checked(formulas.mm1_wait, arrival_rate, service_rate)
    load = formulas.requests_in_system(arriving, 1 / served)
    return _means(
        utilization=load,
        mean_wait=formulas.mm1_wait(arriving, served),
        mean_response=formulas.mm1_response(arriving, served),
        mean_number=formulas.mm1_number(load),
        mean_waiting=formulas.mm1_waiting(load),
    )


def mg1(arrival_rate: float, service_mean: float, service_second_moment: float) -> Means:
    """Mean wait, response and numbers of an M/G/1 queue, by Pollaczek and Khinchine.

    Parameters
    ----------
    arrival_rate : float
        Arrival rate, at least 0 [requests/s].
    service_mean : float
        Mean service time, at least 0 [s].
    service_second_moment : float
        Mean of the squared service time, at least the square of the mean [s^2].

    Returns
    -------
    Means
        The long-run means.

    Raises
    ------
    TypeError
        If an argument is not a real number.
    UnstableError
        If the requests bring as much work as the server can do, or more.
    ValueError
        If an argument is out of range, or a mean too large for float64.

    Notes
    -----
    Source: Pollaczek 1930, Khinchine 1932; chapter 4.

    Examples
    --------
    >>> queue = mg1(arrival_rate=100, service_mean=0.008, service_second_moment=0.008**2)
    >>> queue.mean_wait, queue.mean_response
    (0.016, 0.024)
    """
    arriving = _exact("arrival_rate", arrival_rate)
    mean = _exact("service_mean", service_mean)
    second = _exact("service_second_moment", service_second_moment)
    _checked(formulas.pollaczek_khinchine_wait, arrival_rate, service_mean, service_second_moment)
    wait = formulas.pollaczek_khinchine_wait(arriving, mean, second)
    load = formulas.requests_in_system(arriving, mean)
    return _means(
        utilization=load,
        mean_wait=wait,
        mean_response=wait + mean,
        mean_number=formulas.requests_in_system(arriving, wait + mean),
        mean_waiting=formulas.requests_in_system(arriving, wait),
    )


def _exact(name: str, value: float) -> Fraction:
    errors.number(name, value, at_least=0)
    return errors.exact(name, value)


def _checked(function: Callable[..., Any], arrival_rate: float, *others: float) -> None:
    """Check the domain of a formula; errors call its first argument by the name it has here."""
    try:
        formulas.value(function, arrival_rate, *others)
    except ValueError as error:
        raise type(error)(re.sub(r"\brate\b", "arrival_rate", str(error))) from None


def _means(**exactly: Fraction) -> Means:
    try:
        return Means(**{name: float(value) for name, value in exactly.items()})
    except OverflowError:
        raise ValueError("arrival_rate is too close to capacity for float64") from None


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
