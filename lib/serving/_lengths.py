"""How long prompts and answers are: laws of whole numbers with a given mean, and measured pairs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from . import errors

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
Draw = Callable[[int], tuple[Counts, Counts]]
"""Gives prompts and answers of so many further requests."""

LONGEST = 10**9
"""Most tokens of a prompt or an answer."""
SUMMED = 1 << 17
"""Lengths that sums run over one by one."""


@dataclass(frozen=True)
class Geometric:
    """Lengths that end after each token with the same probability.

    Parameters
    ----------
    mean : float
        Mean length, at least 1 [tokens].

    Raises
    ------
    TypeError
        If ``mean`` is not a real number.
    ValueError
        If ``mean`` is out of range.
    """

    mean: float

    def __post_init__(self) -> None:
        errors.number("mean", self.mean, at_least=1, at_most=LONGEST // 1000)

    def _draw(self, rng: np.random.Generator, count: int) -> Counts:
        return rng.geometric(1 / self.mean, count)

    def _exceeds(self, tokens: Array) -> Array:
        return np.asarray((1 - 1 / self.mean) ** tokens)


@dataclass(frozen=True)
class LogNormal:
    """Lengths of which the logarithm is normal, rounded at random so that the mean is kept.

    Parameters
    ----------
    mean : float
        Mean length, above 1 [tokens].
    cv : float
        Coefficient of variation before rounding, above 0 and at most 10 [1].

    Raises
    ------
    TypeError
        If an argument is not a real number.
    ValueError
        If an argument is out of range.

    Notes
    -----
    A length is 1 and a log-normal number with the mean of the rest; so none is 0.
    """

    mean: float
    cv: float

    def __post_init__(self) -> None:
        errors.number("mean", self.mean, above=1, at_most=LONGEST // 1000)
        errors.number("cv", self.cv, above=0, at_most=10)

    @property
    def _normal(self) -> tuple[float, float]:
        variance = math.log1p((self.cv * self.mean / (self.mean - 1)) ** 2)
        return math.log(self.mean - 1) - variance / 2, math.sqrt(variance)

    def _draw(self, rng: np.random.Generator, count: int) -> Counts:
        rest = np.minimum(rng.lognormal(*self._normal, count), LONGEST)
        return 1 + (rest + rng.random(count)).astype(np.int64)

    def _exceeds(self, tokens: Array) -> Array:
        """Probability of more tokens: rounding at random makes it a mean over a token."""
        return self._beyond(tokens - 1) - self._beyond(tokens)

    def _beyond(self, tokens: Array) -> Array:
        """Mean excess of the log-normal part over a number, 0 where it is less."""
        place, width = self._normal
        with np.errstate(divide="ignore"):
            score = (place - np.log(np.maximum(tokens, 0))) / width
        excess = (self.mean - 1) * special.ndtr(score + width) - tokens * special.ndtr(score)
        return np.where(tokens > 0, excess, self.mean - 1 - tokens)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Prompts and answers as they were measured, drawn together at random.

    Parameters
    ----------
    prompts : array_like of int, shape (n,)
        Lengths of prompts, at least 0 [tokens].
    outputs : array_like of int, shape (n,)
        Length of the answer to each, at least 1 [tokens].
    ordered : bool
        Whether requests take them in this order, from the start again after the last.

    Raises
    ------
    TypeError
        If an entry is not a real number.
    ValueError
        If the lists are empty or differ in length, or an entry is not whole or out of range.
    """

    prompts: ArrayLike
    outputs: ArrayLike
    ordered: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.ordered, bool):
            raise TypeError(f"ordered must be True or False, got {self.ordered!r}")
        for name, least in (("prompts", 0), ("outputs", 1)):
            object.__setattr__(self, name, lengths(name, getattr(self, name), least))
        sizes = (np.size(self.prompts), np.size(self.outputs))
        if sizes[0] != sizes[1] or sizes[0] == 0:
            raise ValueError(f"prompts and outputs must be lists of one length, got {sizes}")


Law = int | Geometric | LogNormal


def lengths(name: str, values: Any, at_least: int) -> Counts:
    """Return a list of whole numbers of tokens; errors name the argument."""
    checked = errors.array(name, values, at_least=at_least)
    if checked.ndim != 1 or (checked % 1).any() or (checked > LONGEST).any():
        raise ValueError(f"{name} must be a list of whole numbers of tokens, got {values!r}")
    return checked.astype(np.int64)


def check(name: str, law: Any, at_least: int) -> float:
    """Check a law of lengths, and return its mean."""
    if isinstance(law, (Geometric, LogNormal)):
        return float(law.mean)
    if isinstance(law, (str, bytes)) or not errors.is_scalar(law):
        raise TypeError(f"{name} must be a number of tokens, Geometric or LogNormal, got {law!r}")
    count = errors.integer(name, law, at_least=at_least)
    if count > LONGEST:
        raise ValueError(f"{name} must be at most {LONGEST}, got {law!r}")
    return float(count)


def longest(output_tokens: int | Geometric | LogNormal | Pairs, batch: int) -> float:
    """Mean of the longest of several answers that do not depend on each other.

    Parameters
    ----------
    output_tokens : int, Geometric, LogNormal or Pairs
        Tokens of an answer, or their law [tokens].
    batch : int
        Answers, from 1 to a billion [requests].

    Returns
    -------
    float
        Mean of the largest length [tokens].

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If an argument is out of range.

    Notes
    -----
    Sum over k of the probability that one of them has more than k tokens.

    Examples
    --------
    >>> longest(200, 16), round(longest(Geometric(200), 16), 1)
    (200.0, 675.0)
    """
    size = errors.integer("batch", batch, at_least=1)
    errors.number("batch", batch, at_most=LONGEST)
    if isinstance(output_tokens, Pairs):
        values = np.sort(np.asarray(output_tokens.outputs))
        shares = (np.arange(values.size + 1) / values.size) ** size
        return float(np.diff(shares) @ values)
    mean = check("output_tokens", output_tokens, 1)
    if not isinstance(output_tokens, (Geometric, LogNormal)):
        return mean

    def late(tokens: Array) -> Array:
        """Probability that an answer of the batch has more tokens."""
        rare = np.clip(output_tokens._exceeds(tokens), 0, 1)
        with np.errstate(divide="ignore"):
            return -np.expm1(size * np.log1p(-rare))

    total = float(late(np.arange(float(SUMMED))).sum())
    beyond = np.geomspace(SUMMED - 0.5, 1e18, 200_001)  # as an integral, of a smooth function
    return total + float(np.trapezoid(late(beyond + 0.5) * beyond, np.log(beyond)))


def stream(prompts: Any, outputs: Any, rng: np.random.Generator) -> Draw:
    """Lengths of requests, one after the other."""
    if isinstance(outputs, Pairs):
        first, second = np.asarray(outputs.prompts), np.asarray(outputs.outputs)
        drawn = 0

        def pairs(count: int) -> tuple[Counts, Counts]:
            """Next requests, drawn with replacement or in order."""
            nonlocal drawn
            if outputs.ordered:
                places = np.arange(drawn, drawn + count) % first.size
                drawn = (drawn + count) % first.size
            else:
                places = rng.integers(0, first.size, count)
            return first[places], second[places]

        return pairs
    return lambda count: (_some(prompts, rng, count), _some(outputs, rng, count))


def _some(law: Any, rng: np.random.Generator, count: int) -> Counts:
    if isinstance(law, (Geometric, LogNormal)):
        return law._draw(rng, count)
    return np.full(count, int(law))
