"""Lab B: what is measured of a server under each policy and load, and how it is kept."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import errors
from ._bearing import _alike, rank_interval
from ._lab_drive import Client, Drive, drive
from ._lab_host import Server, profile
from ._lab_store import MICRO, machine, micro, stored
from ._plan import PARTS
from ._times import half_width
from .book import STILL
from .policies import Fixed, Greedy, Window
from .service import FittedService, LinearService

Array = NDArray[np.float64]
Policy = Fixed | Greedy | Window

BATCHES = (1, 8, 32)
"""Sizes that are timed without HTTP [requests]."""
RANGE = (1, 8)
"""Sizes that are profiled in the server: the ends of the range that the policies run in
[requests]."""
POLICIES: tuple[Policy, ...] = (Fixed(8), Window(8, 0.010), Greedy(8))
LOADS = (0.3, 0.5, 0.7)
"""Arrival rates over the rate of full batches [1]."""
ROUNDS = 6
"""Parts of each point, and of the profile: in turn, because a machine's speed wanders [1]."""
REPEATS = 16
"""Batches of each size in a part of a profile [1]."""
WARM_UP = 8
"""The first of them, which are not used: after a pause batches take longer for a while [1]."""
PACE = 0.4
"""Load at which requests come evenly for the profile, so that no batch waits for another [1]."""
BODIES = [{"prompt": [k, k + 1, k + 2, k + 3]} for k in range(0, 252, 7)]


@dataclass(frozen=True, eq=False)
class Trial:
    """Requests of one schedule, as the client and the server timed them.

    Attributes
    ----------
    policy : Fixed, Greedy or Window
        How the server closed its batches.
    load : float
        Arrival rate over the rate of full batches; 0 where clients did not keep a rate [1].
    arrival_rate : float
        Arrival rate of the schedule's law; 0 likewise [requests/s].
    in_flight : int
        Most requests under way; 0 for an open loop [requests].
    scheduled : ndarray, shape (n,)
        When each request was to be sent [s].
    latency : ndarray, shape (n,)
        From then until the answer had come [s].
    lag : ndarray, shape (n,)
        From then until it was sent [s].
    outside : ndarray, shape (n,)
        The part of the latency that the batcher did not see: HTTP on both sides [s].
    sizes : ndarray, shape (m,)
        Size of each batch, in order [requests].
    service : ndarray, shape (m,)
        Time that each batch took [s].
    rest : ndarray, shape (m,)
        How long the server had computed nothing before each [s].
    """

    policy: Policy
    load: float
    arrival_rate: float
    in_flight: int
    scheduled: Array
    latency: Array
    lag: Array
    outside: Array
    sizes: NDArray[np.int64]
    service: Array
    rest: Array

    @property
    def mean(self) -> float:
        """Mean latency [s]."""
        return float(self.latency.mean())

    def quantile(self, q: float) -> float:
        """Latency that a share ``q`` of the requests does not exceed.

        Parameters
        ----------
        q : float
            The share, 0 to 1 [1].

        Returns
        -------
        float
            The latency [s].

        Raises
        ------
        TypeError
            If ``q`` is not a real number.
        ValueError
            If ``q`` is out of range.
        """
        share = errors.number("q", q, at_least=0, at_most=1)
        return float(np.quantile(self.latency, share))

    def interval(self, what: str | float) -> tuple[float, float]:
        """Interval that holds the long-run value with a probability of about 95 %.

        Parameters
        ----------
        what : str or float
            "mean", or the ``q`` of a quantile [1].

        Returns
        -------
        tuple of float
            Lower and upper end; ``inf`` where too few requests bound a quantile [s].

        Raises
        ------
        TypeError
            If ``what`` is neither a name nor a number.
        ValueError
            If it is out of range, or requests are too few for a mean.

        Notes
        -----
        A mean by batch means, of 30 parts; a quantile by the ranks that hold it, were requests
        independent, for as many as their likeness leaves (`serving.measurements.supports`).
        """
        if what == "mean":
            parts = [float(part.mean()) for part in np.array_split(self.latency, PARTS)]
            half = half_width("mean", parts, 0.95)
            return self.mean - half, self.mean + half
        share = errors.number("what", what, above=0)
        worth = max(1, int(self.latency.size / _alike(self.latency)))
        ranks, ordered = rank_interval(worth, share), np.sort(self.latency)
        scale = ordered.size / worth
        low = ordered[int((ranks.lower - 1) * scale)] if ranks.lower else 0.0
        if ranks.upper is None:
            return float(low), math.inf
        return float(low), float(ordered[min(math.ceil(ranks.upper * scale), ordered.size) - 1])


@dataclass(frozen=True, eq=False)
class PolicyRun:
    """All that Lab B measures.

    Attributes
    ----------
    machine : mapping of str
        Where and with what it was measured.
    alone : ndarray, shape (3, k)
        Times of batches of 1, 8 and 32 without HTTP [s].
    profiles : tuple of tuple of tuple of Trial
        For each load, before each part of its points: full batches of 1 and 8 in the server,
        of requests that come evenly, and in a closed loop that keeps the next batch waiting.
    points : tuple of Trial
        Each policy at each load, of Poisson arrivals.
    capped : Trial
        The last of the points once more, by a client of few connections.
    closed : Trial
        A closed loop of as many.
    """

    machine: Mapping[str, Any]
    alone: Array
    profiles: tuple[tuple[tuple[Trial, ...], ...], ...]
    points: tuple[Trial, ...]
    capped: Trial
    closed: Trial

    @cached_property
    def line(self) -> FittedService:
        """Line through the times of batches without HTTP."""
        return LinearService.fit(np.repeat(BATCHES, self.alone.shape[1]), self.alone.ravel())

    def profile(self, point: Trial) -> tuple[tuple[Trial, ...], ...]:
        """Return what was measured of the server between the parts of a point.

        Parameters
        ----------
        point : Trial
            One of ``points``.

        Returns
        -------
        tuple of tuple of Trial
            For each part trials of full batches of 1 and 8.
        """
        return self.profiles[self.points.index(point) // len(POLICIES)]


def live() -> bool:
    """Tell whether a lab may measure here: not while the book is built or tested.

    Returns
    -------
    bool
        Whether widgets are alive and what the labs need is installed.
    """
    return not os.environ.get(STILL) and find_spec("aiohttp") is not None


def measure_policies(requests: int = 960, progress: bool = True) -> PolicyRun:
    """Measure Lab B on this machine: a profile, each policy at each load, and a closed loop.

    Parameters
    ----------
    requests : int
        Requests of each point, at least 240; two minutes at the default [requests].
    progress : bool
        Whether two bars on stderr show how far it is.

    Returns
    -------
    PolicyRun
        What was measured.

    Raises
    ------
    TypeError
        If ``requests`` is not a real number.
    ValueError
        If it is out of range.
    RuntimeError
        If a process dies, or a request is not answered.
    """
    from tqdm import tqdm  # here, for the package installs without

    share = errors.integer("requests", requests, at_least=240) // ROUNDS // 8 * 8  # full batches
    alone = profile(BATCHES, 40, progress)
    line = LinearService.fit(np.repeat(BATCHES, 40), alone.ravel())
    runs = ROUNDS * len(LOADS) * (2 * len(RANGE) + len(POLICIES)) + 2
    with (
        Server(Greedy(1), places=4 * ROUNDS * share, connections=900) as server,
        Client() as client,
        tqdm(total=runs, unit=" runs", desc="measuring", disable=not progress) as bar,
    ):

        def trial(policy: Policy, moments: Array, load: float = 0.0, places: int = 0) -> Trial:
            """Drive the server under a policy."""
            server.use(policy)
            run = drive(
                server.url, moments, BODIES, in_flight=places or None, progress=False, client=client
            )
            bar.update()
            return _trial(policy, load, load * line.rate(8), places, run)

        def even(size: int) -> Array:
            """Moments so far apart that the server rests as long as it works."""
            return np.arange(REPEATS * size) / (PACE * line.rate(size))

        def full(size: int) -> tuple[Array, float, int]:
            """So many at once that the next batch always waits."""
            return np.zeros(REPEATS * size), 0.0, 2 * size

        def profiled() -> tuple[Trial, ...]:
            """The server as it is now."""
            calm = [trial(Fixed(size), even(size), PACE) for size in RANGE]
            return *calm, *(trial(Fixed(size), *full(size)) for size in RANGE)

        drive(server.url, np.arange(40) / 20, BODIES, progress=False)  # connections, caches
        profiles, points = [], []
        for seed, load in enumerate(LOADS):
            before, parts = [], []
            for moments in _poisson(load * line.rate(8), share, seed):
                before.append(profiled())
                parts.append([trial(policy, moments, load) for policy in POLICIES])
            profiles.append(tuple(before))
            points += [_joined(part) for part in zip(*parts, strict=True)]
        last = points[-1]
        capped = trial(last.policy, last.scheduled, last.load, places=8)
        closed = trial(last.policy, np.zeros(ROUNDS * share), places=8)
    about = machine("numpy", "aiohttp")
    return PolicyRun(about, alone, tuple(profiles), tuple(points), capped, closed)


def _poisson(rate: float, share: int, seed: int) -> Array:
    """Schedules of all parts; policies at the same load get the same, so that chance favours none.

    Shape (ROUNDS, share).
    """
    gaps = np.random.default_rng(seed).exponential(1 / rate, (ROUNDS, share))
    return np.asarray(np.cumsum(gaps, axis=1))


def _joined(parts: Sequence[Trial]) -> Trial:
    """The parts one after another, each from the moment when the server has answered the last."""
    first = parts[0]
    ends = np.cumsum([(part.scheduled + part.latency).max() for part in parts])
    starts = [0.0, *ends[:-1]]
    rows = ("latency", "lag", "outside", "sizes", "service", "rest")
    together = {name: np.concatenate([getattr(part, name) for part in parts]) for name in rows}
    scheduled = [part.scheduled + start for part, start in zip(parts, starts, strict=True)]
    return Trial(**vars(first) | together | {"scheduled": np.concatenate(scheduled)})


def _trial(policy: Policy, load: float, rate: float, in_flight: int, run: Drive) -> Trial:
    if not run.answered.all():
        place = int(np.argmin(run.answered))
        told = run.errors[place] or f"{run.status[place]}: {run.answers[place]}"
        raise RuntimeError(f"request {place} of {run.status.size} was not answered: {told}")
    answers = [json.loads(answer) for answer in run.answers]
    inside = np.array([answer["waited"] + answer["service"] for answer in answers])
    batches = {one["number"]: (one["batch"], one["service"], one["rest"]) for one in answers}
    columns = zip(*(batches[number] for number in sorted(batches)), strict=True)
    outside = run.latency - inside - (run.lag if in_flight else 0)
    timed = (run.scheduled, run.latency, run.lag, outside)
    return Trial(policy, load, rate, in_flight, *timed, *map(np.array, columns))


def _kept(trial: Trial) -> dict[str, Any]:
    policy = trial.policy
    about = {"policy": type(policy).__name__, **vars(policy)}
    kept = {"load": trial.load, "arrival_rate": trial.arrival_rate, "in_flight": trial.in_flight}
    gaps = np.diff(np.round(trial.scheduled / MICRO), prepend=0) * MICRO
    columns = {"gaps": gaps, "latency": trial.latency, "lag": trial.lag, "outside": trial.outside}
    times = {name: micro(column) for name, column in columns.items()}
    batches = {name: micro(getattr(trial, name)) for name in ("service", "rest")}
    batches["sizes"] = trial.sizes.tolist()
    return about | kept | times | batches


def _read(kept: dict[str, Any]) -> Trial:
    rest = dict(kept)
    kinds: dict[str, Any] = {"Fixed": Fixed, "Window": Window, "Greedy": Greedy}
    kind = kinds[rest.pop("policy")]
    policy = kind(**{name: rest.pop(name) for name in kind.__dataclass_fields__})
    sizes = np.array(rest.pop("sizes"))
    times = {
        name: np.array(rest.pop(name)) * MICRO
        for name in ("gaps", "latency", "lag", "outside", "service", "rest")
    }
    return Trial(policy, scheduled=np.cumsum(times.pop("gaps")), sizes=sizes, **times, **rest)


def dump(run: PolicyRun) -> str:
    """Write a run as JSON, times in whole microseconds."""
    trials: dict[str, Any] = {name: _kept(getattr(run, name)) for name in ("capped", "closed")}
    trials["profiles"] = [[[*map(_kept, part)] for part in one] for one in run.profiles]
    trials["points"] = [*map(_kept, run.points)]
    alone = [micro(times) for times in run.alone]
    everything = {"machine": dict(run.machine), "alone": alone, **trials}
    return json.dumps(everything, separators=(",", ":")) + "\n"


@cache
def stored_policies() -> PolicyRun:
    """Return the run of Lab B that is stored with the book.

    Returns
    -------
    PolicyRun
        What was measured then, on the machine that it names.
    """
    kept = json.loads(stored("policies").read_text("utf-8"))
    profiles = tuple(tuple(tuple(map(_read, part)) for part in one) for one in kept["profiles"])
    points = tuple(map(_read, kept["points"]))
    alone = np.array(kept["alone"]) * MICRO
    others = (_read(kept[name]) for name in ("capped", "closed"))
    return PolicyRun(kept["machine"], alone, profiles, points, *others)
