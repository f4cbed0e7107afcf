"""One server and several kinds of requests, the more urgent first."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import errors, formulas
from .errors import UnstableError

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Classes:
    """Long-run means of each class of requests, the most urgent first.

    Attributes
    ----------
    loads : ndarray, shape (n,)
        Share of time in which the server works for the class [1].
    mean_wait : ndarray, shape (n,)
        Mean response less service: time spent waiting, interruptions included [s].
    mean_response : ndarray, shape (n,)
        Mean time from arrival to departure [s].
    """

    loads: Array
    mean_wait: Array
    mean_response: Array


def priorities(
    arrival_rates: ArrayLike,
    service_means: ArrayLike,
    service_second_moments: ArrayLike,
    preemptive: bool = False,
) -> Classes:
    """Mean waits of classes of requests in M/G/1, of which the more urgent go first.

    Parameters
    ----------
    arrival_rates : array_like, shape (n,)
        Arrival rate of each class, the most urgent first, at least 0 [requests/s].
    service_means : array_like, shape (n,)
        Mean service time of each class, at least 0 [s].
    service_second_moments : array_like, shape (n,)
        Mean of the squared service times, at least the squares of the means [s^2].
    preemptive : bool
        Whether a more urgent request interrupts one in service, which later goes on where it was.

    Returns
    -------
    Classes
        The long-run means of each class.

    Raises
    ------
    TypeError
        If an entry is not a real number, or ``preemptive`` no bool.
    UnstableError
        If all classes together bring as much work as the server can do, or more.
    ValueError
        If an entry is out of range, the lengths differ, or a mean is too large for float64.

    Notes
    -----
    Source: Cobham 1954; preemptive: White and Christie 1958; Kleinrock 1976, ch. 3.

    Examples
    --------
    >>> chat, batch = priorities([40, 4], [0.01, 0.1], [0.0001, 0.01]).mean_wait
    >>> round(float(chat), 4), round(float(batch), 4)
    (0.0367, 0.1833)
    """
    if not isinstance(preemptive, (bool, np.bool_)):
        raise TypeError(f"preemptive must be True or False, got {preemptive!r}")
    rates = _entries("arrival_rates", arrival_rates)
    times = _entries("service_means", service_means)
    squares = _entries("service_second_moments", service_second_moments)
    if not len(rates) == len(times) == len(squares) > 0:
        raise ValueError(
            f"arrival_rates, service_means and service_second_moments must be lists of one "
            f"length, got {len(rates)}, {len(times)} and {len(squares)} entries"
        )
    for place, (time, square) in enumerate(zip(times, squares, strict=True)):
        if square < time**2 * (1 - Fraction(1, 10**12)):
            raise ValueError(
                f"service_second_moments[{place}] must be at least the square of the mean "
                f"{float(time)!r}, got {float(square)!r}"
            )
    return _solved(rates, times, squares, bool(preemptive))


def _entries(name: str, values: ArrayLike) -> list[Fraction]:
    array = errors.array(name, values, at_least=0)
    if array.ndim != 1:
        raise ValueError(f"{name} must be a list of numbers, got {values!r}")
    return [errors.exact(name, float(entry)) for entry in array]


def _solved(
    rates: list[Fraction], times: list[Fraction], squares: list[Fraction], preemptive: bool
) -> Classes:
    """Means in exact fractions, class by class."""
    loads = [rate * time for rate, time in zip(rates, times, strict=True)]
    if sum(loads) >= 1:
        raise UnstableError(
            f"arrival_rates and service_means keep {errors.brief(Fraction(sum(loads)))} servers "
            f"busy, and there is 1: it takes arrival rates below {errors.brief(1 / sum(loads))} "
            f"times as high"
        )
    left = [rate * square / 2 for rate, square in zip(rates, squares, strict=True)]
    waits: list[Fraction] = []
    for k, time in enumerate(times):
        before, through = Fraction(sum(loads[:k])), Fraction(sum(loads[: k + 1]))
        if preemptive:
            seen = Fraction(sum(left[: k + 1]))
            waits += [formulas.preemptive_response(time, seen, before, through) - time]
        else:
            waits += [formulas.priority_wait(Fraction(sum(left)), before, through)]
    responses = [wait + time for wait, time in zip(waits, times, strict=True)]
    return Classes(*(_floats(row) for row in (loads, waits, responses)))


def _floats(values: list[Any]) -> Array:
    try:
        return np.array([float(value) for value in values])
    except OverflowError:
        raise ValueError(
            "service_second_moments give a mean that is too large for float64"
        ) from None
