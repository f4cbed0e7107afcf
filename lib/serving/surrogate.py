"""The source's model: full batches as Poisson super-requests before one server.

The wait is Pollaczek and Khinchine's for batches that arrive as a Poisson process. Batches of
fixed size come far more regularly, so the wait is an overestimate; chapter 5 says what for.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from numpy.typing import ArrayLike

from . import errors, formulas
from .errors import UnstableError
from .service import LinearService


@dataclass(frozen=True)
class Response:
    """Mean response time of the surrogate, in its parts.

    Attributes
    ----------
    wait : float or ndarray
        Mean wait of a full batch [s].
    accumulation : float or ndarray
        Mean delay until the batch is full [s].
    service : float or ndarray
        Service time of the batch [s].
    total : float or ndarray
        Mean response time [s].
    utilization : float or ndarray
        Load over capacity at this batch size [1].
    """

    wait: Any
    accumulation: Any
    service: Any
    total: Any
    utilization: Any


def response(arrival_rate: float, batch: ArrayLike, service: LinearService) -> Response:
    """Mean response time when requests are served in full batches, by the surrogate.

    Parameters
    ----------
    arrival_rate : float
        Arrival rate, above 0 [requests/s].
    batch : float or array_like
        Batch size, at least 1; it may be real [requests].
    service : LinearService
        How long a batch takes.

    Returns
    -------
    Response
        Wait, accumulation, service, total and utilisation, each in the shape of ``batch``.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    UnstableError
        If a batch size cannot keep up; the message says which would.
    ValueError
        If an argument is out of range.

    Notes
    -----
    Source: Reddi et al., Inference Foundations, section on the optimal batch.

    Examples
    --------
    >>> gpt3 = LinearService(t_fixed=0.050, t_req=0.0005)
    >>> round(response(100, 16, gpt3).total, 6)
    0.14949
    """
    _check(service)
    queue = (arrival_rate, batch, service.t_fixed, service.t_req)
    try:
        wait = formulas.value(formulas.surrogate_wait, *queue)
    except UnstableError as error:
        least = service.min_batch(arrival_rate)  # raises its own error where none is enough
        raise UnstableError(f"{error}; the least stable batch is {least}") from None
    return Response(
        wait=wait,
        accumulation=formulas.value(formulas.accumulation_delay, arrival_rate, batch),
        service=service.time(batch),
        total=formulas.value(formulas.surrogate_total, *queue),
        utilization=formulas.value(formulas.utilization, *queue),
    )


def optimum(arrival_rate: float, service: LinearService) -> int:
    """Find the whole batch size of least mean response time, by the surrogate.

    Parameters
    ----------
    arrival_rate : float
        Arrival rate, above 0 [requests/s].
    service : LinearService
        How long a batch takes.

    Returns
    -------
    int
        The best stable batch size, the smaller one of a tie [requests].

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    UnstableError
        If no batch size keeps up with the arrivals.
    ValueError
        If ``arrival_rate`` is not above 0.

    Notes
    -----
    The total is a convex function of the batch size, so bisection finds where it turns;
    neighbours are compared in exact arithmetic. Source: chapter 5.

    Examples
    --------
    >>> optimum(100, LinearService(t_fixed=0.050, t_req=0.0005))
    10
    """
    _check(service)
    errors.number("arrival_rate", arrival_rate, above=0)
    least = service.min_batch(arrival_rate)
    rate, t_fixed, t_req = (
        errors.exact(name, number)
        for name, number in (
            ("arrival_rate", arrival_rate),
            ("t_fixed", service.t_fixed),
            ("t_req", service.t_req),
        )
    )

    def total(batch: int) -> Fraction:
        """Mean response time at a batch size, exactly."""
        return formulas.surrogate_total(rate, Fraction(batch), t_fixed, t_req)

    low, high = least, 2 * least  # the best real batch is at most twice the least stable one
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if total(middle + 1) >= total(middle) else (middle + 1, high)
    return low


def _check(service: LinearService) -> None:
    if not isinstance(service, LinearService):
        raise TypeError(f"service must be a LinearService, got {service!r}")
