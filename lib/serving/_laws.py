"""Laws of times, known by the probability of being exceeded, and how to invert a transform."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special

from . import errors

Array = NDArray[np.float64]


class Law:
    """A distribution of a time, known by the probability of being exceeded."""

    _least: float
    mean: float

    def _exceeds(self, time: float) -> float:
        raise NotImplementedError

    def sf(self, time: ArrayLike) -> float | Array:
        """Probability that it takes longer.

        Parameters
        ----------
        time : float or array_like
            A time [s].

        Returns
        -------
        float or ndarray
            Probability, in the shape of ``time`` [1].

        Raises
        ------
        TypeError
            If an entry is not a real number.
        ValueError
            If an entry is not finite.
        """
        times = errors.array("time", time)
        values = np.array([self._exceeds(float(one)) for one in times.flat]).reshape(times.shape)
        return values if times.ndim else float(values)

    def cdf(self, time: ArrayLike) -> float | Array:
        """Probability that it takes so long at most.

        Parameters
        ----------
        time : float or array_like
            A time [s].

        Returns
        -------
        float or ndarray
            Probability, in the shape of ``time`` [1].

        Raises
        ------
        TypeError
            If an entry is not a real number.
        ValueError
            If an entry is not finite.
        """
        return 1 - self.sf(time)

    def quantile(self, q: float) -> float:
        """Find the time that a share of all requests does not exceed.

        Parameters
        ----------
        q : float
            The share, at least 0 and below 1: 0.99 for P99 [1].

        Returns
        -------
        float
            A time [s].

        Raises
        ------
        TypeError
            If ``q`` is not a real number.
        ValueError
            If ``q`` is out of range.
        """
        share = errors.number("q", q, at_least=0)
        if share >= 1:
            raise ValueError(f"q must be less than 1, got {q!r}")
        low, high = self._least, 2 * self.mean
        if self._exceeds(low) <= 1 - share:
            return low
        while self._exceeds(high) > 1 - share:
            low, high = high, 2 * high
        scale = high  # the search sees numbers of order one

        def missing(part: float) -> float:
            """How far the probability is from the one sought, at a part of the scale."""
            return self._exceeds(part * scale) - (1 - share)

        found = optimize.brentq(missing, low / scale, 1.0, xtol=1e-13, rtol=1e-13)
        return float(found) * scale


@dataclass(frozen=True)
class Wait(Law):
    """A wait: it may be zero, and otherwise exceeds a time with a known probability.

    Attributes
    ----------
    mean : float
        Mean wait, of those too who do not wait [s].
    tail : callable
        Probability of a longer wait than a time of at least 0.
    """

    mean: float
    tail: Callable[[float], float] = field(repr=False)
    _least = 0.0

    def _exceeds(self, time: float) -> float:
        return 1.0 if time < 0 else min(1.0, max(0.0, float(self.tail(time))))


DAMPING, LEAST_DAMPING = 22.0, 4.0
"""A Fourier series returns f(t) + e^-damping f(3t) + ...: little beside f(t), if damped so."""
AVERAGED = 14
"""Partial sums that Euler's summation averages."""
LENGTHS = (40, 160, 640, 2560, 10240, 40960, 163840)
"""Terms of the series; more are taken until two sums agree."""
AGREED, TOLERATED = 1e-10, 1e-6
"""Difference of two sums that ends the search, and the largest that is let pass."""


def survival(transform: Callable[[Any], Any], time: float) -> float:
    """Probability of exceeding a time above 0, from its Laplace transform.

    The transform is known with rounding errors, which the damping magnifies; where the
    probability is small at three times the time, less damping is enough.
    """
    later = max(_summed(transform, 3 * time, DAMPING), AGREED)
    return _summed(transform, time, max(DAMPING + math.log(min(later, 1.0)), LEAST_DAMPING))


def _summed(transform: Callable[[Any], Any], time: float, damping: float) -> float:
    """Inversion integral as a Fourier series, its alternating part summed by Euler's way.

    Source: Abate and Whitt 1995. A function with kinks takes many terms.
    """
    line, weights = damping / (2 * time), special.binom(AVERAGED, np.arange(AVERAGED + 1))
    sums, before = np.array([0.0]), math.inf
    for length in LENGTHS:
        k = np.arange(sums.size - 1, length + AVERAGED + 1)
        terms = np.real(transform(line + 1j * np.pi * k / time)) * np.where(k % 2, -1.0, 1.0)
        terms[k == 0] /= 2
        sums = np.append(sums, sums[-1] + np.cumsum(terms))
        middle = sums[-AVERAGED - 1 :] @ weights / 2.0**AVERAGED
        value = math.exp(damping / 2) / time * float(middle)
        change, before = abs(value - before), value
        if change < AGREED:
            return value
    if not change < TOLERATED:
        raise ValueError(f"transform cannot be inverted to {TOLERATED:g} at a time of {time!r}")
    return value
