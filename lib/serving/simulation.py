"""Batch queues simulated: every policy, any number of servers, any traffic.

A run takes requests in 32 parts of equal length. The first 2 are a warm-up and not measured: the
queue starts empty, and what is seen before it has forgotten so is too short. The other 30 are
compared with each other (batch means), which tells how sure a result is whatever the law of the
responses, as long as a part is much longer than the queue remembers. A trace is measured whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cached_property
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from . import _plan, _sweeps, errors
from ._random import Bursty, Empirical, Erlang, Gamma, Hyperexponential, LogNormal
from ._sweeps import SweepError as SweepError
from .errors import UnstableError
from .policies import Fixed, Greedy, Window
from .service import LinearService

if TYPE_CHECKING:
    from ._server import Part

__all__ = [
    *("Bursty", "Empirical", "Erlang", "Gamma", "Hyperexponential", "LogNormal"),
    *("Simulation", "SweepError", "simulate", "sweep"),
]


@dataclass(frozen=True, eq=False)
class Simulation:
    """A simulated queue: means, quantiles, and how sure they are.

    Attributes
    ----------
    requests : int
        Requests that were measured, those shed included [requests].
    workers : int
        Servers [1].
    """

    requests: int
    workers: int
    _unit: float = field(repr=False)
    _parts: tuple[Part, ...] = field(repr=False)

    def _sum(self, name: str) -> float:
        return math.fsum(getattr(part, name) for part in self._parts)

    @property
    def served(self) -> int:
        """Requests of which the response was measured [requests]."""
        return int(self._sum("served"))

    @property
    def mean(self) -> float:
        """Mean response, from arrival to the end of service [s]."""
        return self._unit * (1 + self._sum("total") / self._sum("served"))

    @property
    def std(self) -> float:
        """Standard deviation of the response [s]."""
        shifted = self._sum("total") / self._sum("served")
        variance = self._sum("squares") / self._sum("served") - shifted**2
        return self._unit * math.sqrt(max(0.0, variance))

    @property
    def loss(self) -> float:
        """Share of requests that were shed [1]."""
        return self._sum("shed") / self._sum("arrived")

    @property
    def mean_batch(self) -> float:
        """Mean size of a batch [requests]."""
        return self._sum("served") / self._sum("batches")

    @property
    def busy(self) -> float:
        """Share of time in which a server is busy, the mean of all servers [1]."""
        share = self._sum("busy") / (self.workers * self._sum("elapsed"))
        return min(1.0, max(0.0, share))

    def quantile(self, q: float) -> float:
        """Response that a share ``q`` of the requests does not exceed.

        Parameters
        ----------
        q : float
            The share, 0 to 1 [1].

        Returns
        -------
        float
            Quantile of all that were served [s].

        Raises
        ------
        TypeError
            If ``q`` is not a real number.
        ValueError
            If ``q`` is out of range.

        Notes
        -----
        Responses are counted in bins; the result is the middle of the bin of the quantile, at
        most 2^-14 = 6.1e-5 of its value from it.
        """
        share = errors.number("q", q, at_least=0, at_most=1)
        middles, below = self._law
        place = int(np.searchsorted(below, share * float(below[-1])))
        value = float(middles[place])
        least = min(part.least for part in self._parts)
        largest = max(part.largest for part in self._parts)
        return self._unit * min(max(value, least), largest)

    @cached_property
    def _law(self) -> tuple[NDArray[Any], NDArray[Any]]:
        from ._server import law

        return law(self._parts)

    @cached_property
    def _pieces(self) -> list[Simulation]:
        """Each part as a run of its own."""
        return [replace(self, _parts=(part,)) for part in self._parts]

    def interval(self, what: str | float, level: float = 0.95) -> tuple[float, float]:
        """Interval that holds the long-run value with a probability of about ``level``.

        Parameters
        ----------
        what : str or float
            "mean", "std", "loss", "mean_batch" or "busy", or the ``q`` of a quantile [1].
        level : float
            The probability, above 0 and below 1 [1].

        Returns
        -------
        tuple of float
            Lower and upper end, in the unit of the result [any].

        Raises
        ------
        TypeError
            If ``what`` is neither a name nor a number, or ``level`` is not a real number.
        ValueError
            If an argument is out of range, or too few requests were simulated.

        Notes
        -----
        Batch means: each of 30 parts gives a result of its own, and their spread, with Student's
        law of 29 degrees of freedom, the interval; that of a quantile is wider by the width of a
        bin. Source: Law 2015, ch. 9.
        """
        share = errors.number("level", level, above=0)
        if share >= 1:
            raise ValueError(f"level must be below 1, got {level!r}")
        if not isinstance(what, str):
            what = errors.number("what", what, at_least=0, at_most=1)
        elif what not in RESULTS:
            raise ValueError(f"what must be a number or one of {', '.join(RESULTS)}, got {what!r}")
        if len(self._parts) < _plan.PARTS or not all(part.served for part in self._parts):
            raise ValueError(
                f"what = {what!r} has no interval: requests = {self.requests} is too few for each "
                f"of {_plan.PARTS} parts to serve some"
            )
        values = np.array([piece._result(what) for piece in self._pieces])
        student = -float(special.stdtrit(len(values) - 1, (1 - share) / 2))
        half = student * float(values.std(ddof=1)) / math.sqrt(len(values))
        middle = self._result(what)
        if not isinstance(what, str):
            half += _plan.RESOLUTION * middle
        return max(0.0, middle - half), middle + half

    def _result(self, what: str | float) -> float:
        return float(getattr(self, what) if isinstance(what, str) else self.quantile(what))


RESULTS = ("mean", "std", "loss", "mean_batch", "busy")
"""Names of the results that have an interval, beside the quantiles."""


def simulate(
    arrival_rate: float | None,
    policy: Fixed | Greedy | Window,
    service: LinearService,
    workers: int = 1,
    buffer: int | None = None,
    arrivals: Erlang | Hyperexponential | Bursty | ArrayLike | None = None,
    requests: int = 1_000_000,
    seed: int = 0,
    noise: Gamma | LogNormal | Empirical | None = None,
    progress: bool | None = None,
) -> Simulation:
    """Simulate a queue whose servers take requests in batches, in order of arrival.

    Parameters
    ----------
    arrival_rate : float or None
        Mean arrival rate, above 0; None with a trace, which has its own [requests/s].
    policy : Fixed, Greedy or Window
        When a batch is closed. It goes to any server that is free.
    service : LinearService
        Time of a batch by its size.
    workers : int
        Servers, at least 1 [1].
    buffer : int or None
        Most requests that wait, those in service not counted: who finds so many waiting, and
        cannot be served at once, is shed. None sheds nobody [requests].
    arrivals : Erlang, Hyperexponential, Bursty, array_like of shape (n,) or None
        Kind of traffic, Poisson if None; or a trace: times of arrival, not decreasing (the
        running sum of gaps), used as they are [s].
    requests : int
        Requests that arrive, at least 32; of a trace at most that many [requests].
    seed : int
        Seed of the random numbers, at least 0: the same gives the same result [1].
    noise : Gamma, LogNormal, Empirical or None
        Law of a factor of mean 1 by which the time of each batch is scaled; none if None.
    progress : bool or None
        Whether a bar on stderr shows progress; None shows it in a terminal, for long runs.

    Returns
    -------
    Simulation
        What was measured.

    Raises
    ------
    TypeError
        If an argument is of a wrong type.
    UnstableError
        If nobody is shed and more requests arrive than batches of any size can serve. A trace
        ends, and is not refused.
    ValueError
        If an argument is out of range, or so few requests arrive that none is served.

    Notes
    -----
    At the end of a trace timers go on until they close the last batch; without a timer what
    does not fill a batch is never served, and not counted. Several servers under a blind window
    or fixed batches take closed batches in order, each the one that is free first.

    Examples
    --------
    >>> gpt3 = LinearService(t_fixed=0.050, t_req=0.0005)
    >>> run = simulate(100, Greedy(16), gpt3, requests=100_000)
    >>> round(run.mean, 3), round(run.quantile(0.99), 3), round(run.busy, 2)
    (0.079, 0.106, 1.0)
    """
    from ._server import run  # here, for numba takes its time to import

    plan = _plan.plan(
        *(arrival_rate, policy, service, workers, buffer, arrivals, requests, seed, noise)
    )
    result = Simulation(plan.requests, plan.workers, plan.unit, run(plan, progress))
    if result._sum("served") == 0:
        raise ValueError(f"requests = {result.requests} is too few: no batch was served")
    if not math.isfinite(10 * plan.unit * max(part.largest for part in result._parts)):
        raise ValueError(f"service must leave responses within float64, got {service!r}")
    if not plan.aware and plan.buffer is None and plan.arrivals is not None:
        load = result._sum("work") / result._sum("elapsed")  # its batches are known only now
        if load >= plan.workers:
            raise UnstableError(_plan.overload(arrival_rate, policy, plan.workers, load))
    return result


def sweep(
    cases: Iterable[Mapping[str, Any]],
    executor: Executor | None = None,
    progress: bool | None = None,
) -> list[Simulation]:
    """Simulate many cases at the same time.

    Parameters
    ----------
    cases : iterable of dict
        Arguments of `simulate`, by name.
    executor : concurrent.futures.Executor or None
        Where they run: threads, processes, a cluster (of Dask: ``client.get_executor()``). None
        takes a process for each processor; a script then needs a main guard.
    progress : bool or None
        Whether a bar on stderr counts the cases done; None shows it in a terminal.

    Returns
    -------
    list of Simulation
        Results in the order of the cases: the same whatever ran them, and in which order.

    Raises
    ------
    TypeError
        If a case is no mapping or lacks an argument, or one has a wrong type.
    ValueError
        If an argument of a case is out of range, or its queue unstable; nothing has run then.
    SweepError
        If a case fails later, or a process dies; it names the case and keeps finished ones.
    """
    given = list(cases)
    for place, case in enumerate(given):
        _check(place, case)
    return _sweeps.finish(_quietly, given, executor, progress)


def _quietly(**case: Any) -> Simulation:
    return simulate(**case, progress=False)


def _check(place: int, case: Any) -> None:
    """Check the arguments of a case before any of them runs."""
    if not isinstance(case, Mapping):
        raise TypeError(f"cases[{place}] must be a dict of arguments, got {case!r}")
    allowed = signature(simulate).parameters
    given = {name: p.default for name, p in allowed.items() if p.default is not p.empty} | case
    for name in [*(set(allowed) - set(given)), *(set(case) - (set(allowed) - {"progress"}))]:
        fault = "lacks" if name in allowed and name not in given else "has an unknown"
        raise TypeError(f"cases[{place}] {fault} argument {name!r}, got {case!r}")
    del given["progress"]
    try:
        _plan.plan(**given)
    except (TypeError, ValueError) as error:
        raise type(error)(f"cases[{place}]: {error}") from None
