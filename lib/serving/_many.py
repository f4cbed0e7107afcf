"""Queues with several servers: M/M/c, M/M/c/K, M/D/c and approximations for M/G/c.

The states of a queue with exponential service form a chain of births and deaths. Its weights are
multiplied up from the largest, so that nothing overflows and nothing cancels, and thousands of
servers are no harder than two.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy import special

from . import errors, formulas
from ._means import Waits, means, nonnegative
from ._walk import LEAST
from .errors import UnstableError
from .exact import LARGEST_TOTAL, FixedBatchQueue
from .service import LinearService

Array = NDArray[np.float64]

LARGEST = 10**6
"""Servers, or places in a system, that are computed in a moment."""


def _places(name: str, value: int, least: int = 1, most: int = LARGEST) -> int:
    """Return a checked number of servers or places."""
    errors.number(name, value, at_most=most)
    return errors.integer(name, value, at_least=least)


def _weights(load: float, servers: int, capacity: int) -> Array:
    """Shares of time with 0 ... capacity in the system, over the largest of them."""
    ratios = load / np.minimum(np.arange(1.0, capacity + 1), servers)
    peak = int(np.count_nonzero(ratios >= 1))
    down = np.cumprod(1 / ratios[:peak][::-1])[::-1]
    return np.concatenate([down, [1.0], np.cumprod(ratios[peak:])])


def erlang_b(load: float, servers: int) -> float:
    """Share of requests that find all servers busy and are lost, where none may wait.

    Parameters
    ----------
    load : float
        Offered load: arrival rate times mean service time, at least 0 [1].
    servers : int
        Servers, from 1 to 1,000,000 [1].

    Returns
    -------
    float
        Probability of loss in M/G/c/c, whatever the law of the service time [1].

    Raises
    ------
    TypeError
        If an argument is not a real number.
    ValueError
        If an argument is out of range.

    Notes
    -----
    Source: Erlang 1917; Kleinrock 1975, ch. 3.

    Examples
    --------
    >>> round(erlang_b(load=10, servers=10), 6)
    0.214582
    """
    offered = errors.number("load", load, at_least=0)
    weights = _weights(offered, *[_places("servers", servers)] * 2)
    return float(weights[-1] / weights.sum())


def erlang_c(load: float, servers: int) -> float:
    """Share of requests that find all servers busy and wait.

    Parameters
    ----------
    load : float
        Offered load: arrival rate times mean service time, at least 0 [1].
    servers : int
        Servers, from 1 to 1,000,000 [1].

    Returns
    -------
    float
        Probability of waiting in M/M/c [1].

    Raises
    ------
    TypeError
        If an argument is not a real number.
    UnstableError
        If the load is as much as the servers can do, or more; the message says how many would
        be enough.
    ValueError
        If an argument is out of range.

    Notes
    -----
    With B the loss of `erlang_b` and r the load of one server: B / (1 - r + r B). Source: Erlang
    1917; Kleinrock 1975, ch. 3.

    Examples
    --------
    >>> round(erlang_c(load=10, servers=11), 6)
    0.68212
    """
    errors.number("load", load, at_least=0)
    count = _places("servers", servers)
    return _delay(_bearable("load", load, errors.exact("load", load), count), count)


def _bearable(name: str, value: float, offered: Fraction, servers: int) -> Fraction:
    """Return an offered load if so many servers can bear it."""
    if offered >= servers:
        raise UnstableError(
            f"{name} = {value!r} keeps {errors.brief(offered)} servers busy, and there are "
            f"{servers}: it takes at least {math.floor(offered) + 1}"
        )
    return offered


def _delay(offered: Fraction, servers: int) -> float:
    """Probability of waiting; what a server has to spare is exact, however little."""
    lost = erlang_b(float(offered), servers)
    spare = 1 - offered / servers
    return lost / (float(spare) + float(offered / servers) * lost)


def halfin_whitt(staffing_margin: float) -> float:
    """Share of requests that wait when many servers are staffed by the square-root rule.

    Parameters
    ----------
    staffing_margin : float
        Servers beyond the offered load, in square roots of it, above 0 [1].

    Returns
    -------
    float
        Limit of the probability of waiting as load and servers grow [1].

    Raises
    ------
    TypeError
        If ``staffing_margin`` is not a real number.
    ValueError
        If it is out of range.

    Notes
    -----
    Source: Halfin and Whitt 1981.

    Examples
    --------
    >>> round(halfin_whitt(1.0), 4)
    0.2234
    """
    margin = errors.number("staffing_margin", staffing_margin, above=0)
    density = math.exp(-(min(margin, 1e3) ** 2) / 2) / math.sqrt(2 * math.pi)
    return density / (density + margin * float(special.ndtr(margin)))


def least_servers(load: float, delay_probability: float) -> int:
    """Least number of servers with which no larger share of requests has to wait.

    Parameters
    ----------
    load : float
        Offered load: arrival rate times mean service time, from 0 to 990,000 [1].
    delay_probability : float
        Largest share that may wait, from 1e-300 to 1 [1].

    Returns
    -------
    int
        Servers of M/M/c [1].

    Raises
    ------
    TypeError
        If an argument is not a real number.
    ValueError
        If an argument is out of range.

    Notes
    -----
    Source: the probability is that of `erlang_c`, which falls with every server.

    Examples
    --------
    >>> least_servers(load=10, delay_probability=0.2)
    14
    """
    errors.number("load", load, at_least=0, at_most=990_000)
    target = errors.number("delay_probability", delay_probability, at_least=1e-300, at_most=1)
    offered = errors.exact("load", load)
    low, high = math.floor(offered) + 1, math.floor(offered) + 2
    while _delay(offered, high) > target:
        low, high = high, 2 * high - math.floor(offered)
    return bisect_left(range(high), True, lo=low, key=lambda n: _delay(offered, n) <= target)


def mmc(arrival_rate: float, service_rate: float, servers: int) -> Waits:
    """Waits and means of an M/M/c queue: one line before several servers.

    Parameters
    ----------
    arrival_rate : float
        Arrival rate, at least 0 [requests/s].
    service_rate : float
        Requests that one server completes in a second of work, above 0 [requests/s].
    servers : int
        Servers, from 1 to 1,000,000 [1].

    Returns
    -------
    Waits
        The long-run means, and the law of the wait.

    Raises
    ------
    TypeError
        If an argument is not a real number.
    UnstableError
        If requests arrive as fast as all servers work, or faster; the message says how many
        servers would be enough.
    ValueError
        If an argument is out of range, or a mean too large for float64.

    Notes
    -----
    Source: Erlang 1917; Kleinrock 1975, ch. 3.

    Examples
    --------
    >>> queue = mmc(arrival_rate=10, service_rate=12, servers=2)
    >>> round(queue.delay_probability, 4), round(queue.mean_wait, 4)
    (0.2451, 0.0175)
    """
    arriving, served = nonnegative("arrival_rate", arrival_rate), _served(service_rate)
    count = _places("servers", servers)
    offered = _bearable("arrival_rate", arrival_rate, arriving / served, count)
    delayed, spare = _delay(offered, count), count * served - arriving
    return means(
        *(arriving, 1 / served, count, Fraction(delayed) / spare, delayed),
        lambda time: delayed * math.exp(-min(float(spare * Fraction(time)), 1e3)),
    )


def _served(service_rate: float) -> Fraction:
    errors.number("service_rate", service_rate, above=0)
    return errors.exact("service_rate", service_rate)


def mdc(arrival_rate: float, service_time: float, servers: int) -> Waits:
    """Waits and means of an M/D/c queue: one line, and service that takes always as long.

    Parameters
    ----------
    arrival_rate : float
        Arrival rate, above 0 [requests/s].
    service_time : float
        Time that a server takes for a request, above 0 [s].
    servers : int
        Servers, from 1 to 65,536 [1].

    Returns
    -------
    Waits
        The long-run means, and the law of the wait.

    Raises
    ------
    TypeError
        If an argument is not a real number.
    UnstableError
        If requests arrive as fast as all servers work, or faster; the message says how many
        servers would be enough.
    ValueError
        If an argument is out of range, or the load too close to 0 or 1 to be computed.

    Notes
    -----
    Source: Franx 2001; the walk of chapter 6.

    Examples
    --------
    >>> queue = mdc(arrival_rate=1.6, service_time=1, servers=2)
    >>> round(queue.mean_wait, 6), round(queue.wait.quantile(0.99), 6)
    (0.903284, 5.069551)
    """
    errors.number("arrival_rate", arrival_rate, above=0)
    time = errors.number("service_time", service_time, above=0)
    count = _places("servers", servers, most=LARGEST_TOTAL)
    arriving, lasting = (
        errors.exact("arrival_rate", arrival_rate),
        errors.exact("service_time", service_time),
    )
    _bearable("arrival_rate", arrival_rate, arriving * lasting, count)
    queue = FixedBatchQueue(arrival_rate, 1, LinearService(service_time, 0), count)
    late = queue.sf(time)
    return means(
        *(arriving, lasting, count, Fraction(queue.mean_wait), float(late)),
        lambda wait: float(queue.sf(time + wait)),
    )


@dataclass(frozen=True)
class LossQueue(Waits):
    """Long-run means of a queue that turns requests away when it is full.

    Times, and the probability of waiting, are those of the requests that are let in.

    Attributes
    ----------
    loss : float
        Share of requests that are turned away [1].
    """

    loss: float


def mmck(arrival_rate: float, service_rate: float, servers: int, capacity: int) -> LossQueue:
    """Waits, means and loss of an M/M/c/K queue: several servers, and an end of places.

    Parameters
    ----------
    arrival_rate : float
        Arrival rate, at least 0 [requests/s].
    service_rate : float
        Requests that one server completes in a second of work, above 0 [requests/s].
    servers : int
        Servers, from 1 to 1,000,000 [1].
    capacity : int
        Places in the system, those in service included, from ``servers`` to 1,000,000 [requests].

    Returns
    -------
    LossQueue
        The long-run means, the law of the wait of those let in, and the loss.

    Raises
    ------
    TypeError
        If an argument is not a real number.
    ValueError
        If an argument is out of range, or a mean too large for float64.

    Notes
    -----
    Who is let in and finds n >= c in the system waits for n - c + 1 departures. Source:
    Kleinrock 1975, ch. 3.

    Examples
    --------
    >>> queue = mmck(arrival_rate=3, service_rate=2, servers=2, capacity=4)
    >>> round(queue.loss, 6), round(queue.mean_response, 6)
    (0.124043, 0.657343)
    """
    arriving, served = nonnegative("arrival_rate", arrival_rate), _served(service_rate)
    count = _places("servers", servers)
    places = _places("capacity", capacity)
    if places < count:
        raise ValueError(f"capacity must be at least servers = {count}, got {capacity!r}")
    offered = arriving / served
    if offered > Fraction(np.finfo(float).max):
        raise ValueError(f"arrival_rate = {arrival_rate!r} leaves float64 over service_rate")
    weights = _weights(float(offered), count, places)
    found = weights[:-1] / weights[:-1].sum()  # by those let in
    queue = np.arange(places - count)  # who waits already
    late = found[count:]
    working = float(weights @ np.minimum(np.arange(places + 1.0), count) / weights.sum())
    speed = count * served
    return LossQueue(
        **vars(
            means(
                *(Fraction(working) * served, 1 / served, count),
                Fraction(float(late @ (queue + 1.0))) / speed,
                min(1.0, float(late.sum())),
                lambda time: float(late @ special.pdtr(queue, float(speed * Fraction(time)))),
            )
        ),
        loss=float(weights[-1] / weights.sum()),
    )


@dataclass(frozen=True)
class Approximations:
    """Mean waits of an M/G/c queue by rules of thumb that know two moments of the service time.

    All are exact for exponential service, and for one server.

    Attributes
    ----------
    allen_cunneen : float
        The wait of M/M/c, scaled by the variability [s].
    cosmetatos : float or None
        Between M/M/c and an approximate M/D/c, along a line; None where its M/D/c is worse than
        M/M/c, which cannot be [s].
    kimura : float
        Between M/M/c and a refined approximate M/D/c, as resistances in parallel add [s].
    """

    allen_cunneen: float
    cosmetatos: float | None
    kimura: float


def mgc(
    arrival_rate: float, service_mean: float, service_second_moment: float, servers: int
) -> Approximations:
    """Approximate the mean wait of an M/G/c queue in three ways.

    Parameters
    ----------
    arrival_rate : float
        Arrival rate, above 0 [requests/s].
    service_mean : float
        Mean service time, above 0 [s].
    service_second_moment : float
        Mean of the squared service time, at least the square of the mean [s^2].
    servers : int
        Servers, from 1 to 1,000,000 [1].

    Returns
    -------
    Approximations
        The mean wait by each rule.

    Raises
    ------
    TypeError
        If an argument is not a real number.
    UnstableError
        If requests bring as much work as the servers can do, or more; the message says how many
        servers would be enough.
    ValueError
        If an argument is out of range, or a result too large for float64.

    Notes
    -----
    Source: Allen 1990; Cosmetatos 1976; Kimura 1986 with the M/D/c of Kimura 1991.
    Chapter 9 measures their errors.

    Examples
    --------
    >>> rules = mgc(arrival_rate=1.6, service_mean=1, service_second_moment=1, servers=2)
    >>> round(rules.allen_cunneen, 4), round(rules.cosmetatos, 4), round(rules.kimura, 4)
    (0.8889, 0.901, 0.901)
    """
    for name, given in (("arrival_rate", arrival_rate), ("service_mean", service_mean)):
        errors.number(name, given, above=0)
    arriving = errors.exact("arrival_rate", arrival_rate)
    mean = errors.exact("service_mean", service_mean)
    second = nonnegative("service_second_moment", service_second_moment)
    if second < mean**2 * (1 - Fraction(1, 10**12)):
        raise ValueError(
            f"service_second_moment must be at least the square of service_mean = "
            f"{service_mean!r}, got {service_second_moment!r}"
        )
    count = _places("servers", servers)
    offered = _bearable("arrival_rate", arrival_rate, arriving * mean, count)
    if offered < LEAST:
        raise ValueError(
            f"arrival_rate = {arrival_rate!r} is less than {float(LEAST):g} of what a server can "
            f"do: nobody waits"
        )
    variability = max(second / mean**2 - 1, Fraction(0))
    return _rules(offered, mean, variability, count)


def _rules(
    offered: Fraction, mean: Fraction, variability: Fraction, servers: int
) -> Approximations:
    """Evaluate the rules in times of a mean service."""
    try:
        setting = (_delay(offered, servers), offered, 1, servers, math.sqrt(variability))
        credible = formulas.cosmetatos_excess(offered, 1, servers) <= 1
        rules = (formulas.allen_cunneen, formulas.cosmetatos, formulas.kimura)
        shares = [rule(*setting) for rule in rules]
        waits = [float(Fraction(share) * mean) for share in shares]
    except (OverflowError, ValueError):  # too large for a float, or not a number any more
        raise ValueError(
            "arrival_rate, service_mean and service_second_moment give a wait that leaves float64"
        ) from None
    return Approximations(waits[0], waits[1] if credible else None, waits[2])
