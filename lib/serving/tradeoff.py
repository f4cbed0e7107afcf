"""Throughput against latency: which points are worth having, where a curve bends, where it ends."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import errors


def pareto(throughput: ArrayLike, latency: ArrayLike) -> NDArray[np.bool_]:
    """Mark the points that no other point dominates.

    A point is dominated if another has at least its throughput and at most its latency, and is
    better in one of the two. Of equal points all are kept.

    Parameters
    ----------
    throughput : array_like, shape (n,)
        What is wanted high: requests or tokens a second [any].
    latency : array_like, shape (n,)
        What is wanted low [s].

    Returns
    -------
    ndarray, shape (n,)
        Whether each point is efficient [1].

    Raises
    ------
    TypeError
        If an entry is not a real number.
    ValueError
        If the lengths differ or an entry is negative or not finite.

    Notes
    -----
    Source: Reddi et al., Inference Foundations, section on trade-off curves; chapter 14.

    Examples
    --------
    >>> pareto([100, 200, 150], [0.02, 0.03, 0.04])
    array([ True,  True, False])
    """
    rates, times = _pair("throughput", throughput, "latency", latency)
    if not rates.size:
        return np.zeros(0, dtype=bool)
    _, level = np.unique(times, return_inverse=True)
    best = np.full(level.max() + 1, -np.inf)  # best throughput at each latency
    np.maximum.at(best, level, rates)
    sooner = np.concatenate([[-np.inf], np.maximum.accumulate(best)[:-1]])
    result: NDArray[np.bool_] = (rates == best[level]) & (rates > sooner[level])
    return result


def knee(batches: ArrayLike, throughput: ArrayLike) -> float:
    """Find the measured batch size that lies farthest above the chord from first to last.

    Both axes are first stretched to run from 0 to 1, so the answer depends on where the
    measurements begin and end; chapter 14 says how much.

    Parameters
    ----------
    batches : array_like, shape (n,)
        Batch sizes, increasing, at least three [requests].
    throughput : array_like, shape (n,)
        What each gives, greater at the end than at the beginning [any].

    Returns
    -------
    float
        One of ``batches`` [requests].

    Raises
    ------
    TypeError
        If an entry is not a real number.
    ValueError
        If there are too few points, batches do not increase, or nothing lies above the chord.

    Notes
    -----
    Source: Satopää et al. 2011, section on the definition of a knee; chapter 14.

    Examples
    --------
    >>> knee([1, 2, 4, 8], [100, 180, 230, 240])
    4.0
    """
    sizes, rates = _pair("batches", batches, "throughput", throughput)
    _increasing(sizes)
    if sizes.size < 3:
        raise ValueError(f"batches must hold three sizes or more, got {sizes.size}")
    if rates[-1] <= rates[0]:
        raise ValueError(
            f"throughput must be greater at the end than at the beginning, got "
            f"{rates[0]} and {rates[-1]}"
        )
    above = _stretched(rates) - _stretched(sizes)
    if above.max() <= 1e-9:  # rounding alone
        raise ValueError(f"throughput must bend downwards to have a knee, got {rates.tolist()}")
    return float(sizes[above.argmax()])


def crossing(batches: ArrayLike, latency: ArrayLike, limit: float) -> float:
    """Find the real batch size from which on a measured latency is over a limit.

    Between measurements the latency is taken to follow a straight line.

    Parameters
    ----------
    batches : array_like, shape (n,)
        Batch sizes, increasing [requests].
    latency : array_like, shape (n,)
        Latency at each [s].
    limit : float
        What is allowed, at least 0 [s].

    Returns
    -------
    float
        The last crossing of the limit [requests].

    Raises
    ------
    TypeError
        If an entry is not a real number.
    ValueError
        If batches do not increase, or the latency is over the limit everywhere or is not over
        it at the last batch size.

    Notes
    -----
    Source: chapter 14.

    Examples
    --------
    >>> round(crossing([1, 16, 32], [0.020, 0.030, 0.040], limit=0.035), 6)
    24.0
    """
    sizes, times = _pair("batches", batches, "latency", latency)
    _increasing(sizes)
    most = errors.number("limit", limit, at_least=0)
    within = np.flatnonzero(times <= most)
    if not within.size or within[-1] == times.size - 1:
        where = "at the last batch" if within.size else "at every batch"
        known = f"from {times.min()} to {times.max()}" if times.size else "empty"
        raise ValueError(
            f"limit must be crossed within the measured batches, got {limit!r}: latency is "
            f"{'not over' if within.size else 'over'} it {where} ({known})"
        )
    low = within[-1]
    share = (most - times[low]) / (times[low + 1] - times[low])
    return float(sizes[low] + share * (sizes[low + 1] - sizes[low]))


def _pair(
    first: str, left: ArrayLike, second: str, right: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    a, b = errors.array(first, left, at_least=0), errors.array(second, right, at_least=0)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(
            f"{first} and {second} must be two lists of equal length, got shapes "
            f"{a.shape} and {b.shape}"
        )
    return a, b


def _increasing(sizes: NDArray[np.float64]) -> None:
    back = np.flatnonzero(sizes[1:] <= sizes[:-1])
    if back.size:
        raise ValueError(f"batches must increase, got {sizes[back[0] + 1]} at index {back[0] + 1}")


def _stretched(values: NDArray[np.float64]) -> Any:
    return (values - values[0]) / (values[-1] - values[0])
