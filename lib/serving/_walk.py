"""The random walk under every batch queue: steps of a Poisson number less a whole one.

A queue that takes ``size`` customers at a time, while a Poisson number with mean ``size * load``
arrives, changes by such a step. Everything about it follows from the numbers

    c_k = sum over n >= 1 of P(S_n = k) / n,

where S_n is the walk after n steps. By Spitzer's identity the all-time maximum of the walk has
the generating function exp(sum over k >= 1 of c_k (z^k - 1)): every term is positive, and nothing
cancels. They are the Laurent coefficients of -log(1 - E[z^S_1]) between its two zeros on the
positive axis, one and the outer zero, and are found on a circle there by the fast Fourier
transform; on the circle of the saddle point small numbers keep all their digits.

Source: Spitzer 1956; Asmussen 2003, ch. VIII.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import fft, optimize, special

Array = NDArray[np.float64]

DIGITS = 40.0
"""Natural logarithm of how far terms fall before they are left out: beyond float64."""
CLOSEST = Fraction(1, 10**5)
"""Least distance of the load from one for which a transform is of bearable length."""
LEAST = Fraction(1, 10**100)
"""Least load whose powers stay within float64."""


def poisson(counts: NDArray[np.int64], means: Array) -> Array:
    """Poisson probabilities of counts; zero where the mean is negative."""
    inside = np.maximum(means, 0.0)
    logs = special.xlogy(counts, inside) - inside - special.gammaln(counts + 1)
    return np.where(means >= 0, np.exp(logs), 0.0)


def enough(mean: float) -> int:
    """Count that a Poisson number of this mean exceeds with no probability that matters."""
    return int(mean + 12 * math.sqrt(mean) + 60)


@dataclass(frozen=True)
class Walk:
    """A walk with steps of a Poisson number less a whole one, drifting down.

    Attributes
    ----------
    size : int
        What each step takes away [requests].
    load : Fraction
        Mean of what a step adds over ``size``, from `LEAST` to 1 - `CLOSEST` [1].
    """

    size: int
    load: Fraction

    @cached_property
    def saddle(self) -> float:
        """Logarithm of the radius on which the step's generating function is least."""
        return -math.log1p(float(self.load - 1)) if self.load > 0.5 else -math.log(self.load)

    @cached_property
    def outer(self) -> float:
        """Logarithm of the outer zero of 1 - E[z^S_1]: the maximum decays at this rate."""
        load = float(self.load)
        high = self.saddle + 1
        while load * math.exp(high) - load - high < 0:
            high += 1
        return float(optimize.brentq(lambda w: load * math.expm1(w) - w, self.saddle, high))

    def _coefficients(self, radius: float, span: float) -> Array:
        """c_k r^k for 0 <= k < n/2, then for k - n, on a circle of a given log-radius."""
        length = fft.next_fast_len(int(max(128, 60 * math.sqrt(self.size), span)), real=True)
        length += length % 2
        angle = np.arange(length // 2 + 1) * (2 * np.pi / length)
        # Half angles, and both exponents from their small parts, so that nothing cancels.
        added = self.size * float(self.load) * math.exp(radius)
        if radius == self.saddle:
            spare = float(1 - self.load)
            at_real = -self.size * (_excess(spare) if spare < 0.1 else radius - spare)
        else:
            at_real = self.size * (float(self.load) * math.expm1(radius) - radius)
        real = at_real - 2 * added * np.sin(angle / 2) ** 2
        step = real + 1j * (self.size * angle - added * np.sin(angle))
        far = real < -1
        logs = np.empty_like(step)
        logs[far], logs[~far] = _small(np.exp(step[far])), -np.log(-np.expm1(step[~far]))
        return fft.irfft(logs, length)

    @cached_property
    def _tilted(self) -> Array:
        """c_k r^k at the saddle, for k from 0; the first is not used and set to zero."""
        gap = min(self.saddle, self.outer - self.saddle)
        coefficients = self._coefficients(self.saddle, 2 * DIGITS / gap)
        upper = np.maximum(coefficients[: coefficients.size // 2], 0.0)
        upper[0] = 0.0
        return upper

    @cached_property
    def ascents(self) -> Array:
        """c_k for k from 0, the first set to zero."""
        tilted = self._tilted
        return tilted * np.exp(-self.saddle * np.arange(tilted.size))

    @cached_property
    def rises(self) -> Array:
        """Coefficients of exp(sum over k >= 1 of c_k z^k), which are positive."""
        length = 2 * self._tilted.size
        tilted = fft.irfft(np.exp(fft.rfft(self._tilted, length)), length)[: length // 2]
        return np.maximum(tilted, 0.0) * np.exp(-self.saddle * np.arange(length // 2))

    @cached_property
    def maximum(self) -> Array:
        """Probabilities of the all-time maximum, from 0."""
        return self.rises * math.exp(-self.ascents.sum())

    def falls(self, count: int) -> Array:
        """Coefficients of exp(sum over k <= 0 of c_k z^k): of z^0, z^-1, ... to ``count``."""
        radius = min(self.saddle, 1 / count)
        coefficients = self._coefficients(radius, max(2 * DIGITS / radius, 4 * count))
        length = coefficients.size
        coefficients[1 : length // 2] = 0.0
        series = fft.irfft(np.exp(fft.rfft(coefficients)), length)
        down = np.arange(count + 1)
        return series[-down] * np.exp(radius * down)

    def factorial_cumulant(self, order: int) -> float:
        """First or second factorial cumulant of the maximum: its mean, its excess variance."""
        k = np.arange(self.ascents.size, dtype=np.float64)
        return float(self.ascents @ (k if order == 1 else k * (k - 1)))

    @property
    def positive(self) -> float:
        """Probability that the maximum is above 0."""
        return -math.expm1(-float(self.ascents.sum()))


def _small(x: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """-log(1 - x) with all digits of its real part, which NumPy's ``log1p`` loses."""
    return -np.log1p(np.abs(x) ** 2 - 2 * x.real) / 2 - 1j * np.arctan2(-x.imag, 1 - x.real)


def _excess(spare: float) -> float:
    """-log(1 - x) - x without cancellation, for small x."""
    return sum(spare**power / power for power in range(2, 20))
