"""Queues of single requests: one server or several, with and without an end of places."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import errors, formulas
from ._laws import survival
from ._many import (
    Approximations,
    LossQueue,
    erlang_b,
    erlang_c,
    halfin_whitt,
    least_servers,
    mdc,
    mgc,
    mmc,
    mmck,
)
from ._means import Waits, means, nonnegative
from ._priority import Classes, priorities
from ._shortest import Ordered, shortest_first, srpt

__all__ = [
    "Approximations",
    "Classes",
    "LossQueue",
    "Ordered",
    "Waits",
    "departures",
    "erlang_b",
    "erlang_c",
    "gamma_transform",
    "halfin_whitt",
    "least_servers",
    "mdc",
    "mg1",
    "mgc",
    "mm1",
    "mmc",
    "mmck",
    "priorities",
    "shortest_first",
    "srpt",
]

MOST_VARIABLE = 10**6
"""Second moment over squared mean up to which the digits of a transform suffice."""


def mm1(arrival_rate: float, service_rate: float) -> Waits:
    """Waits and means of an M/M/1 queue.

    Parameters
    ----------
    arrival_rate : float
        Arrival rate, at least 0 [requests/s].
    service_rate : float
        Requests that the server completes in a second of work, above 0 [requests/s].

    Returns
    -------
    Waits
        The long-run means, and the law of the wait.

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
    arriving = nonnegative("arrival_rate", arrival_rate)
    served = nonnegative("service_rate", service_rate)
    _checked(formulas.mm1_wait, arrival_rate, service_rate)
    load, spare = arriving / served, served - arriving
    return means(
        *(arriving, 1 / served, 1, formulas.mm1_wait(arriving, served), float(load)),
        lambda time: float(load) * math.exp(-min(float(spare * Fraction(time)), 1e3)),
    )


def mg1(
    arrival_rate: float,
    service_mean: float,
    service_second_moment: float,
    transform: Callable[[Any], Any] | None = None,
) -> Waits:
    """Waits and means of an M/G/1 queue, by Pollaczek and Khinchine.

    The means follow from two moments of the service time. The law of the wait needs all of its
    law, given by the Laplace transform, unless the moments leave no choice: a service time whose
    second moment is the square of its mean is constant.

    Parameters
    ----------
    arrival_rate : float
        Arrival rate, at least 0 [requests/s].
    service_mean : float
        Mean service time, at least 0 [s].
    service_second_moment : float
        Mean of the squared service time, at least the square of the mean [s^2].
    transform : callable, optional
        Mean of exp(-s T) for a service time T, of an array of complex s with positive real part:
        `gamma_transform`, or a function of your own.

    Returns
    -------
    Waits
        The long-run means, and the law of the wait; without a transform it may be known by its
        mean alone, and then gives an error.

    Raises
    ------
    TypeError
        If an argument is not a real number, or the transform no function.
    UnstableError
        If the requests bring as much work as the server can do, or more.
    ValueError
        If an argument is out of range, a mean too large for float64, or the transform that of
        another mean.

    Notes
    -----
    Source: Pollaczek 1930, Khinchine 1932; chapter 4. The law is inverted as Abate and Whitt 1995
    do: right to 1e-8 where the service time has a density, to 1e-6 where it jumps, or an error.

    Examples
    --------
    >>> queue = mg1(arrival_rate=100, service_mean=0.008, service_second_moment=0.008**2)
    >>> queue.mean_wait, queue.mean_response
    (0.016, 0.024)
    >>> round(queue.wait.quantile(0.99), 6)
    0.080867
    """
    arriving = nonnegative("arrival_rate", arrival_rate)
    mean = nonnegative("service_mean", service_mean)
    second = nonnegative("service_second_moment", service_second_moment)
    _checked(formulas.pollaczek_khinchine_wait, arrival_rate, service_mean, service_second_moment)
    load = formulas.requests_in_system(arriving, mean)
    if transform is not None:
        _same_mean(transform, mean, second)
        tail = _inverted(load, float(mean), transform)
    elif arriving == 0 or mean == 0:
        tail = _nobody
    elif second <= mean**2 * (1 + Fraction(1, 10**12)):
        tail = _constant(arrival_rate, mean)
    else:
        tail = _unknown
    wait = formulas.pollaczek_khinchine_wait(arriving, mean, second)
    return means(arriving, mean, 1, wait, float(load), tail)


def _nobody(time: float) -> float:
    return 0.0


def _unknown(time: float) -> float:
    raise ValueError(
        "two moments do not tell the law of the wait: give mg1 the transform of the service time"
    )


def _constant(arrival_rate: float, mean: Fraction) -> Callable[[float], float]:
    """Tail of the wait if service is constant, computed when it is asked for."""
    return lambda time: float(mdc(arrival_rate, mean, 1).wait.sf(time))


def _same_mean(transform: Callable[[Any], Any], mean: Fraction, second: Fraction) -> None:
    """Check that the transform is one, and has the mean."""
    if not callable(transform):
        raise TypeError(f"transform must be a function, got {transform!r}")
    if mean == 0:
        raise ValueError("service_mean must be greater than 0 with a transform, got 0")
    if second > MOST_VARIABLE * mean**2:
        raise ValueError(
            f"service_second_moment must be at most {MOST_VARIABLE} times the square of "
            f"service_mean with a transform, got {errors.brief(second)}"
        )
    point = float(mean**2 / second) / 1e4  # in rates of service; so near 0 a mean is what counts
    found = float(np.real(1 - transform(np.array([point / float(mean) + 0j]))[0])) / point
    if not math.isclose(found, 1, rel_tol=0.01):
        raise ValueError(
            f"transform = {transform!r} must have the mean service_mean = {float(mean)!r}, "
            f"got one that is {found:.6g} times as large"
        )


def _inverted(
    load: Fraction, mean: float, transform: Callable[[Any], Any]
) -> Callable[[float], float]:
    """Tail of the wait: a geometric number of residual service times."""
    busy, idle = float(load), float(1 - load)

    def exceeded(s: Any) -> Any:
        """Laplace transform of the wait's tail."""
        unfinished = 1 - (1 - transform(s / mean)) / s  # time in mean services
        return busy * unfinished / (s * (idle + busy * unfinished))

    return lambda time: survival(exceeded, time / mean) if time > 0 else busy


def gamma_transform(service_mean: float, service_cv: float) -> Callable[[Any], Any]:
    """Laplace transform of a service time with a gamma law, from constant to very variable.

    Parameters
    ----------
    service_mean : float
        Mean service time, above 0 [s].
    service_cv : float
        Coefficient of variation, from 0 to 1000: 0 is constant, 1 exponential [1].

    Returns
    -------
    callable
        Mean of exp(-s T), for complex s with positive real part.

    Raises
    ------
    TypeError
        If an argument is not a real number.
    ValueError
        If an argument is out of range.

    Notes
    -----
    Source: Kleinrock 1975, appendix I.

    Examples
    --------
    >>> float(gamma_transform(service_mean=0.5, service_cv=1)(2.0))
    0.5
    """
    mean = errors.number("service_mean", service_mean, above=0)
    square = errors.number("service_cv", service_cv, at_least=0, at_most=1000) ** 2
    if square < 1e-12:
        return lambda s: np.exp(-s * mean)
    return lambda s: np.exp(-np.log1p(s * mean * square) / square)


def _checked(function: Callable[..., Any], arrival_rate: float, *others: float) -> None:
    """Check the domain of a formula; errors call its first argument by the name it has here."""
    try:
        formulas.value(function, arrival_rate, *others)
    except ValueError as error:
        raise type(error)(re.sub(r"\brate\b", "arrival_rate", str(error))) from None


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
