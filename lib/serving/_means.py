"""Long-run means of classical queues, and the law of the wait."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from . import errors, formulas
from ._laws import Wait


@dataclass(frozen=True)
class Waits:
    """Long-run means of a queue, and the law of the wait before service.

    Attributes
    ----------
    utilization : float
        Share of time in which a server is busy [1].
    mean_wait : float
        Mean time from arrival to the start of service [s].
    mean_response : float
        Mean time from arrival to departure [s].
    mean_number : float
        Mean number in the system, those in service included [requests].
    mean_waiting : float
        Mean number that wait, those in service left out [requests].
    delay_probability : float
        Share of requests that wait at all [1].
    wait : Wait
        Law of the wait, with ``sf(time)``, ``cdf(time)`` and ``quantile(q)``.
    """

    utilization: float
    mean_wait: float
    mean_response: float
    mean_number: float
    mean_waiting: float
    delay_probability: float
    wait: Wait


def nonnegative(name: str, value: float) -> Fraction:
    """Return a checked number as an exact fraction."""
    errors.number(name, value, at_least=0)
    return errors.exact(name, value)


def means(
    arriving: Fraction,
    service: Fraction,
    servers: int,
    wait: Fraction,
    delayed: float,
    tail: Callable[[float], float],
) -> Waits:
    """Gather what follows from a mean wait by Little's law."""
    try:
        exactly = {
            "utilization": formulas.requests_in_system(arriving, service) / servers,
            "mean_wait": wait,
            "mean_response": wait + service,
            "mean_number": formulas.requests_in_system(arriving, wait + service),
            "mean_waiting": formulas.requests_in_system(arriving, wait),
        }
        floats = {name: float(value) for name, value in exactly.items()}
    except OverflowError:
        raise ValueError("arrival_rate gives a mean that is too large for float64") from None
    return Waits(**floats, delay_probability=delayed, wait=Wait(floats["mean_wait"], tail))
