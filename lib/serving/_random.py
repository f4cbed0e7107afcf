"""How requests arrive and how service times vary: streams of numbers of mean 1, drawn in chunks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import errors

Draw = Callable[[int], NDArray[np.float64]]
"""Gives so many further numbers of a stream."""

MOST_VARIABLE = 100
"""Largest coefficient of variation: beyond it no run is long enough to show the mean."""


def exponential(rng: np.random.Generator) -> Draw:
    """Stream of exponential numbers; each draw overwrites the one before."""
    from . import _kernels  # here, for numba takes its time to import

    numbers = np.empty(0)

    def draw(count: int) -> NDArray[np.float64]:
        """Next exponential numbers, in the place of the last."""
        nonlocal numbers
        if numbers.size < count:
            numbers = np.empty(count)
        _kernels.fill(rng, numbers[:count])
        return numbers[:count]

    return draw


@dataclass(frozen=True)
class Erlang:
    """Arrivals more regular than Poisson: gaps are sums of equal exponential phases.

    Parameters
    ----------
    phases : int
        Phases of a gap, at least 1; the coefficient of variation is ``1 / sqrt(phases)`` [1].

    Raises
    ------
    TypeError
        If ``phases`` is not a real number.
    ValueError
        If ``phases`` is not whole or is below 1.
    """

    phases: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "phases", errors.integer("phases", self.phases, at_least=1))

    def _stream(self, rng: np.random.Generator) -> Draw:
        return lambda count: rng.standard_gamma(self.phases, count) / self.phases


@dataclass(frozen=True)
class Hyperexponential:
    """Arrivals less regular than Poisson: each gap is of a short or of a long kind.

    Parameters
    ----------
    cv : float
        Coefficient of variation of the gaps, 1 to 100 [1].

    Raises
    ------
    TypeError
        If ``cv`` is not a real number.
    ValueError
        If ``cv`` is out of range.

    Notes
    -----
    Both kinds are exponential and take half of the time each (balanced means). Source: Tijms
    2003, appendix B.
    """

    cv: float

    def __post_init__(self) -> None:
        cv = errors.number("cv", self.cv, at_least=1, at_most=MOST_VARIABLE)
        object.__setattr__(self, "cv", cv)

    def _stream(self, rng: np.random.Generator) -> Draw:
        long = 1 / (1 + self.cv**2 + math.sqrt(self.cv**4 - 1))  # its share of the gaps

        def draw(count: int) -> NDArray[np.float64]:
            """Next gaps, each of a kind of its own."""
            kinds = np.where(rng.random(count) < long, 0.5 / long, 0.5 / (1 - long))
            return rng.standard_exponential(count) * kinds

        return draw


@dataclass(frozen=True)
class Bursty:
    """Poisson arrivals whose rate jumps between two values (Cox process of two states).

    Parameters
    ----------
    peak : float
        Rate in a burst over the mean rate, above 1 [1].
    share : float
        Share of time in bursts, above 0 and at most ``1 / peak``, where nothing arrives
        between bursts [1].
    burst : float
        Mean number of requests in a burst, at least 1 [requests].

    Raises
    ------
    TypeError
        If an argument is not a real number.
    ValueError
        If an argument is out of range.

    Notes
    -----
    States last exponentially long. Source: Fischer and Meier-Hellstern 1993.
    """

    peak: float
    share: float
    burst: float

    def __post_init__(self) -> None:
        peak = errors.number("peak", self.peak, above=1, at_most=1e6)
        share = errors.number("share", self.share, above=0)
        if errors.exact("share", self.share) * errors.exact("peak", self.peak) > 1:
            raise ValueError(
                f"share must be at most 1 / peak = {1 / peak:.6g} for requests to have the mean "
                f"rate, got {self.share!r}"
            )
        burst = errors.number("burst", self.burst, at_least=1, at_most=1e12)
        for name, value in (("peak", peak), ("share", share), ("burst", burst)):
            object.__setattr__(self, name, value)

    def _stream(self, rng: np.random.Generator) -> Draw:
        low = max(0.0, (1 - self.peak * self.share) / (1 - self.share))
        rates = np.array([low, self.peak])
        lasting = self.burst / self.peak * np.array([1 / self.share - 1, 1])
        first = int(rng.random() < self.share)
        times, knots = np.zeros(1), np.zeros(1)  # of jumps: clock, and arrivals expected until then

        def draw(count: int) -> NDArray[np.float64]:
            """Next gaps: unit exponentials, stretched by the rate as it jumps."""
            nonlocal times, knots
            marks = np.cumsum(rng.standard_exponential(count))
            while knots[-1] <= marks[-1]:
                cycles = 1 + int((marks[-1] - knots[-1]) * self.share * self.peak / self.burst)
                states = (first + np.arange(2 * cycles)) % 2
                lengths = rng.standard_exponential(2 * cycles) * lasting[states]
                times = np.append(times, times[-1] + np.cumsum(lengths))
                knots = np.append(knots, knots[-1] + np.cumsum(lengths * rates[states]))
            moments = np.interp(marks, knots, times)
            kept = int(np.searchsorted(knots, marks[-1])) - 1
            times, knots = times[kept:] - moments[-1], knots[kept:] - marks[-1]
            return np.diff(moments, prepend=0.0)

        return draw


@dataclass(frozen=True)
class Gamma:
    """Service times scaled by a gamma factor of mean 1, drawn for each batch.

    Parameters
    ----------
    cv : float
        Coefficient of variation, 0 to 100; 1 makes service exponential [1].

    Raises
    ------
    TypeError
        If ``cv`` is not a real number.
    ValueError
        If ``cv`` is out of range.
    """

    cv: float

    def __post_init__(self) -> None:
        cv = errors.number("cv", self.cv, at_least=0, at_most=MOST_VARIABLE)
        object.__setattr__(self, "cv", cv)

    def _stream(self, rng: np.random.Generator) -> Draw:
        if self.cv == 1:
            return exponential(rng)
        if self.cv < 1e-6:  # the factor is 1 to all digits that count
            return lambda count: 1 + self.cv * rng.standard_normal(count)
        shape = self.cv**-2
        return lambda count: rng.standard_gamma(shape, count) / shape


@dataclass(frozen=True)
class LogNormal:
    """Service times scaled by a log-normal factor of mean 1, drawn for each batch.

    Parameters
    ----------
    cv : float
        Coefficient of variation, 0 to 100 [1].

    Raises
    ------
    TypeError
        If ``cv`` is not a real number.
    ValueError
        If ``cv`` is out of range.
    """

    cv: float

    def __post_init__(self) -> None:
        cv = errors.number("cv", self.cv, at_least=0, at_most=MOST_VARIABLE)
        object.__setattr__(self, "cv", cv)

    def _stream(self, rng: np.random.Generator) -> Draw:
        variance = math.log1p(self.cv**2)
        return lambda count: rng.lognormal(-variance / 2, math.sqrt(variance), count)


@dataclass(frozen=True, eq=False)
class Empirical:
    """Service times scaled by a factor drawn from measurements, for each batch.

    Parameters
    ----------
    values : array_like, shape (n,)
        Measured times or factors, above 0; they are divided by their mean [any].

    Raises
    ------
    TypeError
        If an entry is not a real number.
    ValueError
        If there are no entries, or one is not finite and above 0.
    """

    values: ArrayLike

    def __post_init__(self) -> None:
        values = errors.array("values", self.values, at_least=0)
        if values.ndim != 1 or values.size == 0 or values.min() <= 0:
            raise ValueError(f"values must be a list of numbers above 0, got {self.values!r}")
        scaled = values / values.max()  # sums of large numbers might leave float64
        object.__setattr__(self, "values", scaled / scaled.mean())

    def _stream(self, rng: np.random.Generator) -> Draw:
        factors: Any = self.values
        return lambda count: factors[rng.integers(0, factors.size, count)]


def replay(gaps: NDArray[np.float64]) -> Draw:
    """Stream of given numbers."""
    place = 0

    def draw(count: int) -> NDArray[np.float64]:
        """Next of the given numbers."""
        nonlocal place
        place += count
        return gaps[place - count : place]

    return draw


ARRIVALS = (Erlang, Hyperexponential, Bursty)
NOISE = (Gamma, LogNormal, Empirical)
