"""The least number of replicas that keeps a promise, and what no number can mend."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

from . import errors
from ._replica import Promise, Replica, alone, simulate, tails
from .traces import Trace

MOST = 1 << 20
"""More steps than a search takes: a promise that is kept alone is kept long before."""
USUAL = 2.0
"""Replicas over the load, as a first guess."""
MISSES = 3
"""So many guesses that were too few make one ask whether any number is enough."""


@dataclass(frozen=True)
class Size:
    """How many replicas keep a promise, or why none do.

    Attributes
    ----------
    replicas : float
        The least number, whole unless parts of one were asked for; ``inf`` if none keeps it [1].
    first, token : float
        The percentiles of both times with so many; with ``inf``, those of each request alone [s].
    reason : str
        What no number of replicas can mend; empty if some number is enough.
    """

    replicas: float
    first: float
    token: float
    reason: str = ""


def least(
    replica: Replica, trace: Trace, promise: Promise, parts: int | None = None, seed: int = 0
) -> Size:
    """Find the least number of replicas that keeps a promise, if each request is sent at random.

    Parameters
    ----------
    replica : Replica
        The engine.
    trace : Trace
        The traffic of the whole service.
    promise : Promise
        What users are promised.
    parts : int, optional
        Search in steps of one in so many, at least 1, to see small differences; by default whole
        numbers [1].
    seed : int
        Seed of the routing, at least 0 [1].

    Returns
    -------
    Size
        The number, or why none is enough.

    Raises
    ------
    TypeError
        If an argument is not a real number.
    ValueError
        If an argument is out of range.

    Notes
    -----
    More replicas than the least are taken to keep the promise as well. Before the search each
    request is run alone: if that is late, no number helps.
    """
    fine = 0 if parts is None else errors.integer("parts", parts, at_least=1)
    hopeless = _hopeless(replica, trace, promise)
    if hopeless:
        return Size(math.inf, math.inf, math.inf, hopeless)

    def number(step: int) -> float:
        """Replicas at a step of the search."""
        return (1 + 1 / fine) ** step if fine else 1.0 + step

    @cache
    def seen(step: int) -> tuple[float, float]:
        """Percentiles with so many replicas."""
        return tails(replica, trace, promise, simulate(replica, trace, 1 / number(step), seed))

    guess = max(1.0, USUAL * replica.load(trace)) if trace.times[-1] > 0 else 1.0
    step = round(math.log(guess) / math.log(number(1))) if fine else int(guess) - 1
    low, high, stride, misses = -1, MOST, max(1, fine // 8), 0
    while high - low > 1:
        if _late(promise, seen(step)):
            low, misses = step, misses + 1
            if misses == MISSES and high == MOST:
                best = tails(replica, trace, promise, alone(replica, trace))
                if _late(promise, best):
                    return Size(math.inf, *best, _alone(replica, promise, best))
        else:
            high = step
        step = (low + high) // 2 if high < MOST else low + stride * 2**misses
    return Size(number(high), *seen(high))


def _hopeless(replica: Replica, trace: Trace, promise: Promise) -> str:
    """What lets too many requests wait for ever."""
    refused = 1 - float(replica.admits(trace).mean())
    if refused > 1 - promise.quantile:
        return f"{100 * refused:.3g} % of the requests do not fit: {replica.reason}"
    if replica.chunk < 2:
        return (
            f"a step of one sequence takes {float(replica.steps[0]):.3g} s, which leaves no room "
            f"for prompts within token = {promise.token:g} s"
        )
    return ""


def _alone(replica: Replica, promise: Promise, best: tuple[float, float]) -> str:
    """What is late without company, and how little a step may read where that is a first token."""
    said = "alone on a replica, " + _late(promise, best)
    if best[0] <= promise.first:
        return said
    return f"{said}; token = {promise.token:g} s lets a step take {replica.chunk} tokens"


def _late(promise: Promise, found: tuple[float, float]) -> str:
    """Which percentile is beyond its limit, in words."""
    names, limits = ("the first token", "a further token"), (promise.first, promise.token)
    return " and ".join(
        f"{name} takes {time:.3g} s at the quantile {promise.quantile:g}, where {limit:g} s is "
        f"the limit"
        for name, time, limit in zip(names, found, limits, strict=True)
        if time > limit
    )
