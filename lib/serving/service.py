"""How long a batch takes, what rate that gives, and how to find out from measurements."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import errors, formulas
from .errors import UnstableError


@dataclass(frozen=True)
class LinearService:
    """A server that takes ``t_fixed + t_req * batch`` for a batch.

    Parameters
    ----------
    t_fixed : float
        Time a batch takes whatever its size, at least 0; a Fraction is kept as it is [s].
    t_req : float
        Time each request adds to a batch, at least 0; a Fraction is kept as it is [s].

    Raises
    ------
    TypeError
        If an argument is not a real number.
    ValueError
        If an argument is negative or not finite, or both are zero.

    Notes
    -----
    Source: Reddi et al., Inference Foundations, section on queueing.

    Examples
    --------
    >>> gpt3 = LinearService(t_fixed=0.050, t_req=0.0005)
    >>> gpt3.time(16)
    0.058
    >>> gpt3.min_batch(arrival_rate=100), gpt3.min_batch(arrival_rate=100, utilization=0.75)
    (6, 8)
    """

    t_fixed: float
    t_req: float

    def __post_init__(self) -> None:
        for name in ("t_fixed", "t_req"):
            given = getattr(self, name)
            checked = errors.number(name, given, at_least=0)
            if not isinstance(given, Fraction):  # a third stays a third
                object.__setattr__(self, name, checked)
        if self.t_fixed == self.t_req == 0:
            raise ValueError("t_fixed and t_req must not both be 0: a batch takes some time")

    def time(self, batch: ArrayLike) -> Any:
        """Time one batch takes.

        Parameters
        ----------
        batch : float or array_like
            Batch size, at least 1 [requests].

        Returns
        -------
        float or ndarray
            Service time, same shape as ``batch`` [s].

        Raises
        ------
        TypeError
            If ``batch`` is not numeric.
        ValueError
            If ``batch`` is below 1 or not finite.
        """
        return formulas.value(formulas.batch_time, batch, self.t_fixed, self.t_req)

    def rate(self, batch: ArrayLike) -> Any:
        """Requests a second that a server working without pause completes.

        Parameters
        ----------
        batch : float or array_like
            Batch size, at least 1 [requests].

        Returns
        -------
        float or ndarray
            Service rate, same shape as ``batch`` [requests/s].

        Raises
        ------
        TypeError
            If ``batch`` is not numeric.
        ValueError
            If ``batch`` is below 1 or not finite.
        """
        return formulas.value(formulas.effective_rate, batch, self.t_fixed, self.t_req)

    @property
    def max_rate(self) -> float:
        """Limit of `rate` as batches grow, ``inf`` if ``t_req`` is 0.

        Returns
        -------
        float
            The limit [requests/s].

        Raises
        ------
        ValueError
            If ``t_req`` is so small that the limit is too large for float64.
        """
        if self.t_req == 0:
            return math.inf
        return float(formulas.value(formulas.rate_limit, self.t_req))

    def min_batch(self, arrival_rate: float, utilization: float = 1.0) -> int:
        """Find the least batch size that keeps up with arrivals at a utilisation.

        At the default of 1 the queue must be stable, so load stays strictly below capacity;
        below 1 the target may just be met.

        Parameters
        ----------
        arrival_rate : float
            Arrival rate, at least 0 [requests/s].
        utilization : float
            Largest load over capacity, above 0 and at most 1 [1].

        Returns
        -------
        int
            Least batch size, at least 1 [requests].

        Raises
        ------
        TypeError
            If an argument is not a real number.
        UnstableError
            If no batch size is enough.
        ValueError
            If an argument is out of range.

        Notes
        -----
        Decided in exact arithmetic on the decimals that the numbers print as.
        """
        errors.number("arrival_rate", arrival_rate, at_least=0)
        errors.number("utilization", utilization, above=0, at_most=1)
        rate, target, t_fixed, t_req = (
            errors.exact(name, number)
            for name, number in (
                ("arrival_rate", arrival_rate),
                ("utilization", utilization),
                ("t_fixed", self.t_fixed),
                ("t_req", self.t_req),
            )
        )
        spare = target - rate * t_req
        reached = spare > 0 or (spare == 0 and target < 1 and t_fixed == 0)
        if not reached:
            raise UnstableError(
                f"no batch size carries arrival_rate = {arrival_rate!r} at utilization = "
                f"{utilization!r}: t_req = {self.t_req!r} alone takes "
                f"{errors.brief(rate * t_req)} of the server; arrival_rate must be below "
                f"{errors.brief(target / t_req)}"
            )
        if spare == 0:
            return 1
        bound = formulas.min_batch(rate, target, t_fixed, t_req)
        least = math.floor(bound) + 1 if target == 1 else math.ceil(bound)
        return max(1, least)

    @classmethod
    def fit(cls, batches: ArrayLike, times: ArrayLike) -> FittedService:
        """Fit the straight line to measured batch times by least squares.

        Parameters
        ----------
        batches : array_like, shape (n,)
            Batch sizes, at least 1, of two different values or more [requests].
        times : array_like, shape (n,)
            Measured time of each, above 0 [s].

        Returns
        -------
        FittedService
            The service with standard errors and residuals.

        Raises
        ------
        TypeError
            If an entry is not a real number.
        ValueError
            If lengths differ, the data do not determine a line, or the line has a negative
            coefficient and so cannot be a service time.

        Notes
        -----
        Source: Draper and Smith 1998, ch. 1.

        Examples
        --------
        >>> fitted = LinearService.fit([1, 8, 32], [0.0505, 0.054, 0.066])
        >>> round(fitted.t_fixed, 6), round(fitted.t_req, 6)
        (0.05, 0.0005)
        """
        sizes = errors.array("batches", batches, at_least=1)
        measured = errors.array("times", times)
        if sizes.ndim != 1 or sizes.shape != measured.shape:
            raise ValueError(
                f"batches and times must be two lists of equal length, got shapes "
                f"{sizes.shape} and {measured.shape}"
            )
        if np.unique(sizes).size < 2:
            raise ValueError(f"batches must hold two different sizes or more, got {batches!r}")
        if measured.min() <= 0:
            raise ValueError(f"times must be greater than 0, got {measured.min()}")
        with np.errstate(all="ignore"):  # what leaves float64 is told as an error
            return _fit(sizes, measured)


class StandardErrors(NamedTuple):
    """Standard errors of the two coefficients.

    Parameters
    ----------
    t_fixed : float
        Standard error of the fixed time [s].
    t_req : float
        Standard error of the time per request [s].
    """

    t_fixed: float
    t_req: float


@dataclass(frozen=True)
class FittedService(LinearService):
    """A linear service found from measurements.

    Attributes
    ----------
    stderr : StandardErrors or None
        Standard errors of ``t_fixed`` and ``t_req``; None when there are as many coefficients
        as measurements and nothing is left to estimate them from [s].
    relative_residuals : ndarray, shape (n,)
        ``(measured - line) / measured``, in the order given: positive where the batch took
        longer than the line says [1].
    """

    stderr: StandardErrors | None
    relative_residuals: NDArray[np.float64] = field(compare=False)


def _fit(sizes: NDArray[np.float64], measured: NDArray[np.float64]) -> FittedService:
    width, height = sizes.max(), measured.max()  # squares of raw numbers might leave float64
    x, y = sizes / width, measured / height
    spread = x - x.mean()
    slope = (spread @ y) / (spread @ spread)
    t_fixed, added = _cleaned(y.mean() - slope * x.mean()), _cleaned(slope)
    if min(t_fixed, added) < 0:
        raise ValueError(
            f"the least-squares line through times has t_fixed = {t_fixed * height:.4g} s and "
            f"t_req = {added * height / width:.4g} s; neither can be negative: check the units, "
            f"or fit a range of batches in which times grow along a line"
        )
    line = t_fixed + added * x
    scales = np.array([height, height / width])
    coefficients = np.array([t_fixed, added]) * scales
    deviations = _standard_errors(x, y - line) * scales
    residuals = (y - line) / y
    if not np.all(np.isfinite([*coefficients, *deviations, *residuals])):
        raise ValueError(f"times and batches must stay within float64 when fitted, got {measured}")
    stderr = StandardErrors(*map(float, deviations)) if x.size > 2 else None
    return FittedService(*map(float, coefficients), stderr, residuals)


def _standard_errors(x: NDArray[np.float64], residuals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of intercept and slope; zero where no measurement is left to estimate them from."""
    variance = residuals @ residuals / max(x.size - 2, 1)
    slope = np.sqrt(variance / np.sum((x - x.mean()) ** 2))
    return np.array([slope * np.sqrt(np.mean(x**2)), slope])


def _cleaned(coefficient: float) -> float:
    """Zero for what is there by rounding alone; times are scaled to at most 1."""
    return 0.0 if abs(coefficient) < 1e-12 else float(coefficient)
