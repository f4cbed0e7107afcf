"""One server that takes short requests first: lengths known, guessed, or what is left of them.

Service times are log-normal, as lengths of answers are by and large. All is integrated over the
normal score z of a size, with a step at which sums of such smooth functions are exact to the last
digits: the share of the load up to a size is a normal probability, moved by the spread.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import integrate, special

from . import errors
from .errors import UnstableError

Array = NDArray[np.float64]

STEP, REACH = 0.01, 9.0
"""Distance of scores, and how far they go beyond the last that matters."""
CLOSEST = 0.9999
"""Largest load that is computed: beyond it the integrand is too steep for the step."""


@dataclass(frozen=True, eq=False)
class Ordered:
    """Mean response times by the size of a request.

    Attributes
    ----------
    mean_response : float
        Mean time from arrival to departure, of all requests [s].
    mean_slowdown : float
        Mean of the response time over the own service time [1].
    """

    mean_response: float
    mean_slowdown: float
    _scores: Array = field(repr=False)
    _sizes: Array = field(repr=False)
    _responses: Array = field(repr=False)

    def response(self, q: float) -> float:
        """Mean response of a request of a given size.

        Parameters
        ----------
        q : float
            Share of the requests that are no larger, from 1e-6 to 0.999999 [1].

        Returns
        -------
        float
            Its mean time from arrival to departure [s].

        Raises
        ------
        TypeError
            If ``q`` is not a real number.
        ValueError
            If ``q`` is out of range.
        """
        return float(np.interp(_score(q), self._scores, self._responses))

    def slowdown(self, q: float) -> float:
        """Mean response of a request of a given size, over its service time.

        Parameters
        ----------
        q : float
            Share of the requests that are no larger, from 1e-6 to 0.999999 [1].

        Returns
        -------
        float
            The ratio, at least 1 [1].

        Raises
        ------
        TypeError
            If ``q`` is not a real number.
        ValueError
            If ``q`` is out of range.
        """
        return float(np.interp(_score(q), self._scores, self._responses / self._sizes))


def _score(q: float) -> float:
    return float(special.ndtri(errors.number("q", q, at_least=1e-6, at_most=0.999999)))


def shortest_first(
    arrival_rate: float, service_mean: float, service_cv: float, foresight: float = 1.0
) -> Ordered:
    """Mean responses in M/G/1 if the request that is guessed to be shortest goes next.

    Parameters
    ----------
    arrival_rate : float
        Arrival rate, above 0 [requests/s].
    service_mean : float
        Mean service time, above 0 [s].
    service_cv : float
        Coefficient of variation of the service times, which are log-normal, 0 to 100 [1].
    foresight : float
        Correlation of the logarithms of guess and truth, 0 to 1; with 0 the order is random, and
        the mean response that of first come, first served [1].

    Returns
    -------
    Ordered
        Mean responses, of all and by size; nobody is interrupted.

    Raises
    ------
    TypeError
        If an argument is not a real number.
    UnstableError
        If the requests bring as much work as the server can do, or more.
    ValueError
        If an argument is out of range, or the load above 0.9999.

    Notes
    -----
    Classes of Cobham, one for each guess: the load of the guesses up to a score z is the load
    times Phi(z - foresight * sigma). Source: Phipps 1956 for known sizes; chapter 19.

    Examples
    --------
    >>> queues = [shortest_first(0.8, 1, 1.5, foresight) for foresight in (0, 0.5, 1)]
    >>> [round(queue.mean_response, 3) for queue in queues]
    [7.5, 4.998, 3.569]
    """
    load, mean, sigma = _checked(arrival_rate, service_mean, service_cv)
    known = errors.number("foresight", foresight, at_least=0, at_most=1)
    scores, sizes = _grid(sigma)
    left = load / 2 * math.exp(sigma**2)
    blur = np.arange(-REACH, REACH + 0.025, 0.05) if known < 1 else np.zeros(1)
    weights = np.exp(-(blur**2) / 2)
    waits = np.zeros_like(scores)
    for moved, weight in zip(blur, weights / weights.sum(), strict=True):
        guess = known * scores + math.sqrt(1 - known**2) * moved
        waits += weight * left / (1 - load * special.ndtr(guess - known * sigma)) ** 2
    return _ordered(mean, scores, sizes, waits + sizes)


def srpt(arrival_rate: float, service_mean: float, service_cv: float) -> Ordered:
    """Mean responses in M/G/1 if the request with the least work left is served at any time.

    Parameters
    ----------
    arrival_rate : float
        Arrival rate, above 0 [requests/s].
    service_mean : float
        Mean service time, above 0 [s].
    service_cv : float
        Coefficient of variation of the service times, which are log-normal, 0 to 100 [1].

    Returns
    -------
    Ordered
        Mean responses, of all and by size: no order of service has a smaller mean.

    Raises
    ------
    TypeError
        If an argument is not a real number.
    UnstableError
        If the requests bring as much work as the server can do, or more.
    ValueError
        If an argument is out of range, or the load above 0.9999.

    Notes
    -----
    Source: Schrage and Miller 1966; that none is better, Schrage 1968.

    Examples
    --------
    >>> round(srpt(arrival_rate=0.8, service_mean=1, service_cv=1.5).mean_response, 3)
    2.224
    """
    load, mean, sigma = _checked(arrival_rate, service_mean, service_cv)
    scores, sizes = _grid(sigma)
    ahead = load * special.ndtr(scores - sigma)  # load of the smaller ones
    seen = math.exp(sigma**2) * special.ndtr(scores - 2 * sigma)
    seen += sizes**2 * special.ndtr(-scores)  # a larger one counts from when it is as small
    waits = load / 2 * seen / (1 - ahead) ** 2
    delayed = integrate.cumulative_simpson(
        sigma * sizes * ahead / (1 - ahead), dx=STEP, initial=0.0
    )
    return _ordered(mean, scores, sizes, waits + sizes + delayed)


def _checked(arrival_rate: float, service_mean: float, service_cv: float) -> tuple[float, ...]:
    """Load, mean service time and spread of its logarithm."""
    errors.number("arrival_rate", arrival_rate, above=0)
    mean = errors.number("service_mean", service_mean, above=0)
    cv = errors.number("service_cv", service_cv, at_least=0, at_most=100)
    load = errors.exact("arrival_rate", arrival_rate) * errors.exact("service_mean", service_mean)
    if load >= 1:
        raise UnstableError(
            f"arrival_rate = {arrival_rate!r} and service_mean = {service_mean!r} keep "
            f"{errors.brief(load)} servers busy, and there is 1: it takes an arrival rate below "
            f"{errors.brief(1 / errors.exact('service_mean', service_mean))}"
        )
    if load > CLOSEST:
        raise ValueError(
            f"arrival_rate must leave a load of at most {CLOSEST}, got {arrival_rate!r}"
        )
    return float(load), mean, math.sqrt(math.log1p(cv**2))


def _grid(sigma: float) -> tuple[Array, Array]:
    """Scores, and sizes in mean services."""
    scores = np.arange(-REACH - sigma, REACH + 2 * sigma + STEP / 2, STEP)
    return scores, np.exp(sigma * scores - sigma**2 / 2)


def _ordered(mean: float, scores: Array, sizes: Array, responses: Array) -> Ordered:
    """Gather responses in mean services."""
    density = np.exp(-(scores**2) / 2) / math.sqrt(2 * math.pi) * STEP
    total = mean * float(density @ responses)
    if not math.isfinite(total):
        raise ValueError(f"service_mean = {mean!r} gives a mean that is too large for float64")
    return Ordered(
        *(total, float(density @ (responses / sizes)), scores, mean * sizes, mean * responses)
    )
