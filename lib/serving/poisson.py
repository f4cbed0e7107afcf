"""Is it a Poisson process? Tests of arrivals, each with what it sees and what it cannot."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from . import errors

Array = NDArray[np.float64]

LEAST = 30
"""Fewest arrivals, and windows, for which the tests hold their level."""
PARTS = 10
"""Windows into which a piece is cut for the counts."""


@dataclass(frozen=True)
class Verdict:
    """What one test says.

    Attributes
    ----------
    name : str
        What it looks at.
    statistic : float
        What it measured [1].
    expected : float
        What a Poisson process would give on average [1].
    p_value : float
        Chance of a Poisson process to be as far off: the least level at which the test rejects
        it [1].
    blind : str
        What it cannot see.
    """

    name: str
    statistic: float
    expected: float
    p_value: float
    blind: str


def check(arrivals: ArrayLike, piece: float | None = None) -> tuple[Verdict, ...]:
    """Test whether arrivals are a Poisson process, of one rate or of one rate in each piece.

    Parameters
    ----------
    arrivals : array_like, shape (n,)
        Times of arrival, not decreasing, counted from the first [s].
    piece : float or None
        Length of the pieces in each of which the rate may be another, so that a slower drift
        does not count; None for one rate throughout [s].

    Returns
    -------
    tuple of Verdict
        Of the places, the law of the gaps, their variation, neighbouring gaps, and the counts.

    Raises
    ------
    TypeError
        If an entry or ``piece`` is not a real number.
    ValueError
        If arrivals decrease or are too few, or ``piece`` is out of range.

    Notes
    -----
    Given their number in a piece, the places of Poisson arrivals are independent and uniform.
    Each gap, divided by what is left of the piece and turned into a logarithm, is then
    exponential: of j arrivals left, j times the logarithm has mean 1. The first two tests
    are those of Kolmogorov and Smirnov; the levels of the others hold for many gaps and windows:
    the variation of n exponential gaps is normal about 1 with variance 1 / n, so is their
    correlation about 0; and the squares of the counts about the mean of their piece, over that
    mean, add up to a chi-squared number. Source: Brown et al. 2005; Kim and Whitt
    2014; Stephens 1970 for the chances of the distances.
    """
    times = errors.array("arrivals", arrivals)
    if times.ndim != 1 or (times[1:] < times[:-1]).any():
        raise ValueError(f"arrivals must be a list of times that do not decrease, got {arrivals!r}")
    span = float(times[-1] / 2 - times[0] / 2) * 2 if times.size else 0.0
    if times.size < LEAST or np.unique(times).size < 3 or not 0 < span < math.inf:
        raise ValueError(
            f"arrivals must be at least {LEAST}, of more than two moments, got {arrivals!r}"
        )
    length = span if piece is None else errors.number("piece", piece, above=0, at_most=span)
    pieces = int(span / length)
    if pieces * LEAST > times.size:
        raise ValueError(
            f"piece must hold {LEAST} arrivals on average for {times.size} arrivals in "
            f"{span:.6g} s, got {piece!r}"
        )
    # the first arrival begins the first piece, and the last may end the last one
    inside = (times[1:-1] - times[0]) / length
    inside = inside[inside < pieces]
    numbers = np.minimum(inside.astype(np.int64), pieces - 1)
    places = inside - numbers
    gaps, neighbours = _gaps(places, numbers)
    if gaps.size < LEAST or not gaps[neighbours].std() > 0:
        raise ValueError(f"arrivals must be more evenly spread for these tests, got {arrivals!r}")
    return (
        _uniform(places),
        _exponential(gaps),
        _variation(gaps),
        _correlation(gaps, neighbours),
        _dispersion(inside, pieces),
    )


def _gaps(places: Array, numbers: NDArray[np.int64]) -> tuple[Array, NDArray[np.bool_]]:
    """Gaps as exponential numbers of mean 1, and whether the one before is of the same piece."""
    counts = np.bincount(numbers)
    after = np.cumsum(counts)[numbers] - np.arange(places.size)  # this one and all later ones
    same = np.append(False, numbers[1:] == numbers[:-1])
    before = np.where(same, np.append(0.0, places[:-1]), 0.0)
    return -after * np.log1p(-(places - before) / (1 - before)), same


def _uniform(places: Array) -> Verdict:
    name = "places: evenly spread"
    return _distance(name, places, "short bursts, and drift that averages out over the pieces")


def _exponential(gaps: Array) -> Verdict:
    return _distance(
        "gaps: exponential", -np.expm1(-gaps), "the order of the gaps, and rare long ones"
    )


def _distance(name: str, shares: Array, blind: str) -> Verdict:
    """Largest distance between the shares of numbers that should be uniform and their ranks."""
    size, root = shares.size, math.sqrt(shares.size)
    ordered, ranks = np.sort(shares), np.arange(size + 1) / size
    distance = float(max((ranks[1:] - ordered).max(), (ordered - ranks[:-1]).max()))
    chance = float(special.kolmogorov((root + 0.12 + 0.11 / root) * distance))
    return Verdict(name, distance, math.sqrt(math.pi / 2) * math.log(2) / root, chance, blind)


def _variation(gaps: Array) -> Verdict:
    cv = float(gaps.std() / gaps.mean())
    return Verdict(
        "gaps: CV",
        cv,
        1.0,
        _both(math.sqrt(gaps.size) * (cv - 1)),
        "the order of the gaps; a few of them can make it",
    )


def _correlation(gaps: Array, neighbours: NDArray[np.bool_]) -> Verdict:
    second = np.flatnonzero(neighbours)
    found = float(np.corrcoef(gaps[second], gaps[second - 1])[0, 1])
    return Verdict(
        "gaps: correlation of neighbours",
        found,
        0.0,
        _both(math.sqrt(second.size) * found),
        "the law of the gaps, and memory beyond the next one",
    )


def _dispersion(inside: Array, pieces: int) -> Verdict:
    each = PARTS if pieces > 1 else max(PARTS, inside.size // PARTS)
    cells = np.minimum((inside * each).astype(np.int64), pieces * each - 1)
    counts = np.bincount(cells, minlength=pieces * each).reshape(pieces, each)
    means = counts.mean(axis=1, keepdims=True)
    some = means[:, 0] > 0
    total = float((((counts - means) ** 2)[some] / means[some]).sum())
    free = int(some.sum()) * (each - 1)
    below = float(special.chdtr(free, total))
    return Verdict(
        "counts: variance over mean",
        total / free,
        1.0,
        min(1.0, 2 * min(below, float(special.chdtrc(free, total)))),
        "anything much shorter or much longer than its windows",
    )


def _both(score: Any) -> float:
    """Chance of a standard normal number to be so far from 0 on either side."""
    return float(2 * special.ndtr(-abs(score)))
