"""What measurements can bear: ranks of a percentile, and claims with reasons."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from . import errors
from ._diagnosis import diagnose
from ._little import SLACK, check
from ._points import Measured, Point

GOOD = 0.10
"""Relative residual up to which a line is good enough [1]."""
LIKENESS = 1.96
"""Autocorrelation of neighbours that chance makes, times the root of their number [1]."""
LEVELLED = 0.05
"""Relative gain of throughput below which more concurrency brings nothing [1]."""
ROUNDING = 1e-9
"""Relative error of a probability [1]."""
MOST = 10**9
"""No run has so many requests."""


class Ranks(NamedTuple):
    """Order statistics between which a percentile lies.

    Parameters
    ----------
    lower : int or None
        Rank from the smallest, counted from 1; None where no time is surely below [1].
    upper : int or None
        Rank from the smallest; None where no time is surely above [1].
    """

    lower: int | None
    upper: int | None


def rank_interval(count: int, quantile: float, level: float = 0.95) -> Ranks:
    """Find which of the sorted times enclose a percentile, whatever their distribution.

    Parameters
    ----------
    count : int
        How many independent times there are, from 1 to a thousand million [1].
    quantile : float
        The percentile as a share, above 0 and below 1 [1].
    level : float
        Probability with which the interval holds it, above 0 and below 1 [1].

    Returns
    -------
    Ranks
        At each side the probability of error is at most half of what is left.

    Raises
    ------
    TypeError
        If an argument is not a number.
    ValueError
        If an argument is out of range.

    Notes
    -----
    The number of times below the percentile is binomial. Times of neighbours in a queue are
    alike, so that the true interval is wider. Source: David and Nagaraja 2003, sec. 7.1.

    Examples
    --------
    >>> rank_interval(1000, 0.99)
    Ranks(lower=983, upper=997)
    >>> rank_interval(300, 0.99)
    Ranks(lower=293, upper=None)
    """
    times = errors.integer("count", count, at_least=1)
    if times > MOST:
        raise ValueError(f"count must be at most {MOST}, got {count!r}")
    share = _share("quantile", quantile)
    # a probability that is just met is met, whatever its last digit
    tail = float((1 - errors.exact("level", _share("level", level))) / 2) * (1 + ROUNDING)
    below = stats.binom(times, share)
    # the lower rank r fails where fewer than r times lie below, the upper where r or more do
    first = int(below.ppf(tail))
    while first > 0 and below.cdf(first - 1) > tail:
        first -= 1
    last = int(below.isf(tail)) + 1
    while last <= times and below.sf(last - 1) > tail:
        last += 1
    return Ranks(first or None, last if last <= times else None)


def _share(name: str, value: float) -> float:
    share = errors.number(name, value, above=0)
    if share >= 1:
        raise ValueError(f"{name} must be less than 1, got {value!r}")
    return share


class Support(NamedTuple):
    """A claim and whether measurements bear it.

    Parameters
    ----------
    claim : str
        What somebody may want to say.
    holds : bool
        Whether it can be said.
    reason : str
        Why, with the numbers it rests on.
    """

    claim: str
    holds: bool
    reason: str


def supports(
    measured: Measured, quantile: float = 0.99, level: float = 0.95
) -> tuple[Support, ...]:
    """Tell which claims measurements can bear, each with the reason.

    Parameters
    ----------
    measured : Measured
        What `load` returns.
    quantile : float
        The percentile that is wanted as a share, above 0 and below 1 [1].
    level : float
        Probability that its interval must have, above 0 and below 1 [1].

    Returns
    -------
    tuple of Support
        On a line of batch times, on capacity, on the mean, on the percentile, and on the latency
        at an arrival rate.

    Raises
    ------
    TypeError
        If ``measured`` is something else, or a number is none.
    ValueError
        If a number is out of range.
    """
    check(measured)
    rank_interval(1, quantile, level)
    return (
        _line(measured),
        _capacity(measured),
        _mean(measured),
        _percentile(measured, quantile, level),
        _at_a_rate(measured),
    )


def _line(measured: Measured) -> Support:
    claim = "a line gives the time of a batch"
    sizes = np.unique(measured.batches)
    if sizes.size < 2:
        return Support(claim, False, f"{sizes.size} batch sizes timed; a line takes two")
    if sizes.size < 4:
        return Support(claim, False, f"{sizes.size} batch sizes: a line is assumed, not tested")
    try:
        found = diagnose(measured.batches, measured.times)
    except ValueError as error:
        return Support(claim, False, str(error))
    tests = [p for p in (found.curvature, found.kink) if p is not None]
    bend = f"they {'show no bend' if found.straight else 'bend'} (p = {min(tests):.2g})"
    worst = f"the worst residual is {found.worst:+.1%}, at batch {found.worst_batch:g}"
    what = f"{sizes.size} sizes from {sizes[0]} to {sizes[-1]}; {bend}; {worst}"
    return Support(claim, abs(found.worst) <= GOOD, what)


def _capacity(measured: Measured) -> Support:
    claim = "capacity is known"
    closed = {
        point.concurrency: point.throughput
        for point in measured.points
        if point.loop == "closed" and point.concurrency and point.throughput
    }
    steps = sorted(closed.items())
    if len(steps) >= 2:
        (less, before), (more, after) = steps[-2:]
        gain = after / before - 1
        what = f"from {less} to {more} at once throughput changes by {gain:+.1%}, to {after:.6g}/s"
        return Support(claim, gain < LEVELLED, what)
    kept = [(p.rate, p.throughput) for p in measured.points if p.loop == "open" and p.throughput]
    behind = [done for rate, done in kept if rate and done < (1 - SLACK) * rate]
    if behind:
        return Support(claim, True, f"a run fell behind its rate, at {max(behind):.6g}/s")
    if kept:
        most = max(done for _, done in kept)
        return Support(claim, False, f"every run kept up: it is {most:.6g}/s or more")
    if measured.batches.size:
        rates = measured.batches / measured.times
        best = int(np.argmax(rates))
        inside = measured.batches[best] < measured.batches.max()
        what = f"batches of {measured.batches[best]} give most, {rates[best]:.6g}/s"
        tail = "larger ones give less" if inside else "no larger one was timed"
        return Support(claim, bool(inside), f"{what}; {tail}")
    single = f"{len(steps)} concurrency" if steps else "no closed loop, rate or batch"
    return Support(claim, False, f"{single}: a level of throughput takes two or more points")


def _mean(measured: Measured) -> Support:
    claim = "the mean latency is known"
    known = [point for point in measured.points if point.latency is not None]
    if not known:
        return Support(claim, False, "no point has a mean; percentiles do not give one")
    spread = [_error(point) for point in known]
    told = [error for error in spread if error is not None]
    if not told:
        return Support(claim, True, f"{len(known)} means, without what their errors are")
    return Support(claim, True, f"standard error {max(told):.1%} as the times alone tell it")


def _error(point: Point) -> float | None:
    """Relative standard error of the mean of times that may be alike."""
    if point.latencies is None or len(point.latencies) < 2:
        return None
    times = point.latencies
    worth = len(times) / _alike(times)
    return float(times.std(ddof=1) / math.sqrt(worth) / times.mean())


def _alike(times: NDArray[np.float64]) -> float:
    """For how many requests one independent request stands: 1 where neighbours show no likeness.

    One plus twice the sum of the autocorrelations, up to the first pair of them that is not
    positive (Geyer 1992).
    """
    count = len(times)
    deviation = (times - times.mean()) / times.max()
    power = np.abs(np.fft.rfft(deviation, 2 * count)) ** 2
    covariance = np.fft.irfft(power)[:count]
    if count < 4 or covariance[0] <= 0 or covariance[1] <= LIKENESS * covariance[0] / count**0.5:
        return 1.0
    correlation = covariance / covariance[0]
    pairs = correlation[: count // 2 * 2].reshape(-1, 2).sum(axis=1)
    ends = np.flatnonzero(pairs <= 0)
    kept = pairs[: ends[0] if ends.size else pairs.size]
    return float(min(max(2 * kept.sum() - 1, 1.0), count))


def _percentile(measured: Measured, quantile: float, level: float) -> Support:
    claim = f"P{100 * quantile:g} is known"
    listed = [point for point in measured.points if _has(point, quantile)]
    if not listed:
        what = "means only: no mean tells a percentile" if measured.points else "nothing measured"
        return Support(claim, False, what)
    if any(point.count is None for point in listed):
        return Support(claim, False, "from how many requests is not in the file")
    # the point with the fewest independent requests decides
    point = min(listed, key=_worth)
    count, worth = point.count or 0, _worth(point)
    ranks = rank_interval(worth, quantile, level)
    told = f"{count} requests"
    if worth < count:
        told += f", alike with their neighbours and worth {worth} independent ones"
    if ranks.upper is None:
        least = math.ceil(math.log((1 - level) / 2) / math.log(quantile))
        what = f"{told}: no upper bound at {level:.0%}; that takes {least} independent ones"
        return Support(claim, False, what)
    share = count / worth
    first, last = int((ranks.lower or 0) * share), min(math.ceil(ranks.upper * share), count)
    what = f"of {told}, it lies from rank {first} to {last}"
    if point.latencies is not None:
        times = np.sort(point.latencies)
        low = times[first - 1] if first else 0.0
        return Support(claim, True, f"{what}, {low:.4g} s to {times[last - 1]:.4g} s")
    return Support(claim, True, f"{what}, were times independent")


def _worth(point: Point) -> int:
    """How many independent requests a point is worth, as far as the file tells."""
    count = point.count or 1
    return count if point.latencies is None else max(1, int(count / _alike(point.latencies)))


def _has(point: Point, quantile: float) -> bool:
    """Whether a point tells a percentile of requests."""
    if point.loop == "batches":
        return False
    named = any(math.isclose(share, 100 * quantile) for share in point.percentiles)
    return named or point.latencies is not None


def _at_a_rate(measured: Measured) -> Support:
    claim = "latency at an arrival rate is known"
    told = {
        "batches": "batches one after another: nothing waits",
        "closed": "closed loop: a slow answer holds back the next request, so that waiting at an "
        "arrival rate is not seen",
        "capped": "the client held requests back at its cap, and their wait there is not timed",
        "at once": "all requests at once: the latency is of a burst",
        "unknown": "how requests were sent is not in the file",
    }
    against = [told[loop] for loop in measured.loops if loop != "open"]
    if against:
        return Support(claim, "open" in measured.loops, "; ".join(against))
    rates = sorted(point.rate for point in measured.points if point.rate is not None)
    return Support(claim, True, f"open loop at {', '.join(f'{rate:g}' for rate in rates)}/s")
