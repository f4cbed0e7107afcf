"""Replicas behind a router: simulated, and the two limits that have a law of their own.

Each replica serves one request at a time in order of arrival, and all are alike. A router sends
each request to one of them at once, and it stays there; what the router knows of the replicas is
what it differs by from others. Runs are measured as those of `serving.simulation` are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from . import _kernels, _plan, _random, _routes, errors, formulas
from ._means import Waits, means
from ._server import Part, _grown, bin_of
from .errors import UnstableError
from .simulation import Empirical, Gamma, LogNormal, Simulation

ROUTERS = ("random", "round robin", "choices", "shortest queue", "least work")
"""What a router goes by: nothing, turns, lengths of some queues, of all, or the work in each."""
MOST_REPLICAS = 10_000
CLOSEST = 0.999999
"""Largest load at which the share that waits under round robin keeps its digits."""


@dataclass(frozen=True)
class _Counted(Part):
    """A part of a run, and how many requests a replica was found with, how often."""

    seen: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Fleet(Simulation):
    """A simulated fleet: the results of a `Simulation`, and what its router made of it."""

    @property
    def lengths(self) -> NDArray[np.float64]:
        """Share of the time in which a replica has at least 0, 1, ... 63 requests.

        Returns
        -------
        ndarray, shape (64,)
            The shares, those in service included; seen at arrivals, in one replica each [1].
        """
        seen = np.sum([part.seen for part in self._parts], axis=0)  # type: ignore[attr-defined]
        return np.asarray(seen[::-1].cumsum()[::-1] / seen.sum())

    @property
    def hedged(self) -> float:
        """Copies that were sent, as a share of the requests.

        Returns
        -------
        float
            The share [1].
        """
        return self._sum("batches") / self._sum("arrived") - 1


def simulate(
    arrival_rate: float,
    service_time: float,
    replicas: int,
    router: str = "random",
    choices: int = 2,
    noise: Gamma | LogNormal | Empirical | None = None,
    hedge: float | None = None,
    requests: int = 1_000_000,
    seed: int = 0,
) -> Fleet:
    """Simulate replicas behind a router, under Poisson arrivals.

    Parameters
    ----------
    arrival_rate : float
        Arrival rate at the router, above 0 [requests/s].
    service_time : float
        Mean time a replica takes for a request, above 0 [s].
    replicas : int
        Replicas, from 1 to 10,000 [1].
    router : str
        "random"; "round robin", to each in turn; "choices", to the one with the fewest requests
        of some drawn at random; "shortest queue", of all; "least work", to the one that will be
        free first, which takes knowledge of what is in the queues.
    choices : int
        Replicas that are drawn under "choices", at most ``replicas`` [1].
    noise : Gamma, LogNormal, Empirical or None
        Law of a factor of mean 1 of each service time; constant if None.
    hedge : float or None
        Time after which a request without answer is sent to another replica as well; the first
        answer counts, and the other copy is served to its end. None sends no copies [s].
    requests : int
        Requests that arrive, at least 32 [requests].
    seed : int
        Seed of the random numbers, at least 0: the same gives the same result [1].

    Returns
    -------
    Fleet
        What was measured.

    Raises
    ------
    TypeError
        If an argument is of a wrong type.
    UnstableError
        If more work arrives than the replicas can do, copies included.
    ValueError
        If an argument is out of range.

    Notes
    -----
    Ties are broken at random, except that "least work" takes the replica that has been free for
    longest. A copy has a service time of its own: what is slow is the replica or the moment, not
    the request. Source: chapter 19.

    Examples
    --------
    >>> runs = [simulate(80, 0.1, 10, router, noise=Gamma(1), requests=100_000, seed=1)
    ...         for router in ("random", "choices", "least work")]
    >>> [round(run.mean, 2) for run in runs]
    [0.51, 0.21, 0.12]
    """
    rule, drawn = _rule(router, choices, replicas)
    load, unit = _load(arrival_rate, service_time, replicas)
    wait = math.inf if hedge is None else errors.number("hedge", hedge, at_least=0) / unit
    if hedge is not None and errors.integer("replicas", replicas, at_least=1) < 2:
        raise ValueError(f"replicas must be at least 2 for a hedge, got {replicas!r}")
    if not isinstance(noise, (type(None), *_random.NOISE)):
        raise TypeError(f"noise must be None, Gamma, LogNormal or Empirical, got {noise!r}")
    count = errors.integer("requests", requests, at_least=_plan.PARTS + _plan.WARM_UP)
    if count > _plan.MOST_REQUESTS:
        raise ValueError(f"requests must be at most {_plan.MOST_REQUESTS}, got {requests!r}")
    number = errors.integer("seed", seed, at_least=0)
    server = _Router(rule, drawn, int(replicas), float(load), wait, noise, number)
    length = count // (_plan.PARTS + _plan.WARM_UP)
    server.part(count - length * _plan.PARTS)
    parts = tuple(server.part(length) for _ in range(_plan.PARTS))
    result = Fleet(length * _plan.PARTS, int(replicas), unit, parts)
    if result._sum("served") == 0:
        raise ValueError(f"requests = {requests!r} is too few: no request was answered")
    if not math.isfinite(10 * unit * max(part.largest for part in parts)):
        raise ValueError(f"service_time must leave responses within float64, got {service_time!r}")
    if hedge is not None and load * (1 + Fraction(result.hedged)) >= replicas:
        raise UnstableError(
            f"hedge = {hedge!r} makes arrival_rate = {arrival_rate!r} send copies of "
            f"{result.hedged:.3g} of the requests: more than {replicas!r} replicas can serve, and "
            f"{math.floor(2 * load) + 1} would be enough"
        )
    return result


def _rule(router: Any, choices: Any, replicas: Any) -> tuple[int, int]:
    """Rule of the loop, and how many replicas it draws."""
    if router not in ROUTERS:
        raise ValueError(f"router must be one of {', '.join(ROUTERS)}, got {router!r}")
    count = errors.integer("replicas", replicas, at_least=1)
    if count > MOST_REPLICAS:
        raise ValueError(f"replicas must be at most {MOST_REPLICAS}, got {replicas!r}")
    drawn = errors.integer("choices", choices, at_least=1)
    if router == "choices" and drawn > count:
        raise ValueError(f"choices must be at most replicas = {count}, got {choices!r}")
    rules = {"round robin": _routes.TURNS, "least work": _routes.WORKS}
    looked = {"random": 1, "choices": drawn, "shortest queue": count}
    return rules.get(router, _routes.DRAWN), looked.get(router, 0)


def _load(
    arrival_rate: Any, service_time: Any, replicas: Any, speed: Fraction = Fraction(1)
) -> tuple[Fraction, float]:
    """Replicas that are busy on average, and the mean service, checked."""
    errors.number("arrival_rate", arrival_rate, above=0)
    unit = errors.number("service_time", service_time, above=0)
    load = errors.exact("arrival_rate", arrival_rate) * errors.exact("service_time", service_time)
    load /= speed
    if load >= errors.exact("replicas", replicas):
        raise UnstableError(
            f"arrival_rate = {arrival_rate!r} keeps {errors.brief(load)} replicas busy, and there "
            f"are {replicas}: it takes at least {math.floor(load) + 1}"
        )
    if load * _plan.MOST_APART < 1:
        raise ValueError(
            f"arrival_rate must be at least 1e-9 times 1 / {unit:.6g} s, for float64 to tell gaps "
            f"from services, got {arrival_rate!r}"
        )
    return load, unit


class _Router:
    """The state of a fleet between chunks of arrivals."""

    def __init__(
        self,
        rule: int,
        choices: int,
        replicas: int,
        load: float,
        hedge: float,
        noise: Any,
        seed: int,
    ) -> None:
        first, second, third = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(3))
        self.rule, self.choices, self.scale, self.hedge = rule, choices, 1 / load, hedge
        self.gaps, self.rng = _random.exponential(first), third
        self.factors = np.ones if noise is None else noise._stream(second)
        self.free, self.turn = np.zeros(replicas), np.zeros(1, dtype=np.int64)
        self.lengths, self.order = np.zeros(replicas, dtype=np.int64), np.arange(replicas)
        self.ends, self.places, self.inside = np.empty(0), np.empty(0, dtype=np.int64), 0
        self.asked = np.empty((0, 3))
        self.bins = np.zeros(_kernels.BINS, dtype=np.int32)
        self.chunk = min(_plan.CHUNK, max(1, int(load * 400_000_000)))

    def part(self, arrived: int) -> _Counted:
        """Let so many requests arrive, and count."""
        sums, seen = np.zeros(7), np.zeros(_routes.LONGEST + 1, dtype=np.int64)
        sums[_kernels.LEAST] = math.inf
        elapsed, left = 0.0, arrived
        owed = float(np.maximum(self.free, 0).sum())
        while left:
            gaps = self.gaps(min(left, self.chunk))
            elapsed += self._serve(gaps, sums, seen)
            left -= gaps.size
        owed -= float(np.maximum(self.free, 0).sum())
        total, squares, work, copies, _, least, largest = sums.tolist()
        first = bin_of(least) if least < math.inf else 0
        used = self.bins[first : bin_of(largest) + 1]
        served = int(used.sum())
        counts = used.astype(np.min_scalar_type(served))
        used[:] = 0
        return _Counted(
            *(arrived, served, arrived + int(copies), 0),
            *(elapsed, work + owed, work, total, squares, least, largest),
            *(slice(first, first + counts.size), counts, seen),
        )

    def _serve(self, gaps: Any, sums: Any, seen: Any) -> float:
        """Let requests arrive, and return the time of the last."""
        waiting = len(self.asked) * (self.hedge < math.inf)
        most = gaps.size + (gaps.size + waiting) * (self.hedge < math.inf)
        self.ends = _grown(self.ends, self.inside, self.inside + most)
        if self.places.size < self.ends.size:
            self.places = np.resize(self.places, self.ends.size)
        asked = np.empty((waiting + gaps.size, 3))
        asked[:waiting] = self.asked
        now, self.inside, head, tail = _routes.dispatch(
            *(gaps, self.scale, self.factors(most), self.rng, self.rule, self.choices),
            *(self.turn, self.free, self.lengths, self.order, self.ends, self.places),
            *(self.inside, self.hedge, asked, 0, waiting, self.bins, sums, seen),
        )
        self.asked = asked[head:tail] - [now, now, 0]
        self.free -= now
        self.ends[: self.inside] -= now
        return float(now)


def choices_response(utilization: float, choices: int = 2) -> float:
    """Mean response in a fleet without end whose router looks at some replicas, drawn at random.

    Parameters
    ----------
    utilization : float
        Arrival rate over what all replicas can serve, above 0 [1].
    choices : int
        Replicas that are drawn for a request, which goes to the one with the fewest, 1 to 1000;
        1 is random routing [1].

    Returns
    -------
    float
        Mean time from arrival to departure, in mean services, which are exponential [1].

    Raises
    ------
    TypeError
        If an argument is not a real number.
    UnstableError
        If the load is 1 or more.
    ValueError
        If an argument is out of range.

    Notes
    -----
    The sum of ``utilization ** (choices + choices**2 + ... + choices**k)`` over k from 0: by
    Little's law, from the share of replicas with k + 1 requests or more. Source: Mitzenmacher
    2001.

    Examples
    --------
    >>> [round(choices_response(0.9, choices), 3) for choices in (1, 2, 3)]
    [10.0, 2.614, 2.028]
    """
    errors.number("utilization", utilization, above=0)
    drawn = errors.integer("choices", choices, at_least=1)
    errors.number("choices", choices, at_most=1000)
    share = errors.exact("utilization", utilization)
    if share >= 1:
        raise UnstableError(
            f"utilization must be below 1, got {utilization!r}: it takes more replicas"
        )
    if drawn == 1:
        return float(1 / (1 - share))
    size, total, exponent = math.log1p(float(share - 1)) if share > 0.5 else math.log(share), 0.0, 0
    while exponent * size > -50:
        total += math.exp(exponent * size)
        exponent = drawn * (exponent + 1)
    return total


def round_robin(arrival_rate: float, service_rate: float, replicas: int) -> Waits:
    """Waits and means of exponential replicas that get requests in turn.

    Parameters
    ----------
    arrival_rate : float
        Arrival rate at the router, above 0 [requests/s].
    service_rate : float
        Requests that one replica completes in a second of work, above 0 [requests/s].
    replicas : int
        Replicas, from 1 to 10,000 [1].

    Returns
    -------
    Waits
        The long-run means of the fleet, and the law of the wait.

    Raises
    ------
    TypeError
        If an argument is not a real number.
    UnstableError
        If requests arrive as fast as all replicas work, or faster.
    ValueError
        If an argument is out of range, or the load above 0.999999, where it cannot be computed.

    Notes
    -----
    A replica sees gaps that are sums of as many exponential ones as there are replicas. Source:
    Kleinrock 1975, ch. 6 (G/M/1).

    Examples
    --------
    >>> queue = round_robin(arrival_rate=80, service_rate=10, replicas=10)
    >>> round(queue.delay_probability, 4), round(queue.mean_response, 4)
    (0.6578, 0.2922)
    """
    errors.number("service_rate", service_rate, above=0)
    served = errors.exact("service_rate", service_rate)
    _rule("round robin", 1, replicas)
    offered, _ = _load(arrival_rate, 1, replicas, served)
    load, count = float(offered / int(replicas)), int(replicas)
    if load > CLOSEST:
        raise ValueError(
            f"arrival_rate must leave a load of at most {CLOSEST}, got {arrival_rate!r}"
        )
    waits = _waiting(load, count)
    wait = formulas.round_robin_wait(Fraction(waits), served)
    speed = served * (1 - Fraction(waits))
    return means(
        *(errors.exact("arrival_rate", arrival_rate), 1 / served, count, wait, waits),
        lambda time: waits * math.exp(-min(float(speed * Fraction(time)), 1e3)),
    )


def _waiting(load: float, replicas: int) -> float:
    """Share that waits at a load, searched for by its logarithm."""

    def missing(logarithm: float) -> float:
        """By how much the load of a share that waits exceeds the one that is sought."""
        return float(formulas.round_robin_load(Fraction(math.exp(logarithm)), replicas)) - load

    least, most = -700.0, -1e-9
    if missing(least) > 0:  # next to nobody
        return 0.0
    return math.exp(optimize.brentq(missing, least, most, xtol=1e-15, rtol=1e-14))
