"""Lab B: what the theory says of the lab's server, from a profile that nothing had to wait in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import errors
from ._lab_policies import WARM_UP, Policy, Trial
from .errors import UnstableError
from .exact import FixedBatchQueue, GreedyQueue
from .policies import Fixed, Greedy
from .service import LinearService
from .simulation import Empirical, Simulation, simulate

Array = NDArray[np.float64]
Queue = FixedBatchQueue | GreedyQueue | Simulation

SHARE = 0.99
"""Share of the requests that the predicted quantile covers [1]."""
STEPS = 12
"""Most steps until a queue and how long its server rests agree [1]."""
CLOSE = 1e-5
"""Difference at which they do; what a rest adds is a tenth of it, or less [s]."""
HELD_UP = 3.0
"""A batch that took so many times the usual was held up by the machine [1]."""
REQUESTS = 100_000
"""Requests of a simulation where there is no exact law [requests]."""
DRAWS = 40
"""Profiles that are drawn from the one that was measured, for an interval [1]."""


class Predicted(NamedTuple):
    """Latency that a model gives.

    Parameters
    ----------
    mean : float
        Mean [s].
    p99 : float
        Latency that 99 % of the requests do not exceed [s].
    """

    mean: float
    p99: float


@dataclass(frozen=True, eq=False)
class Profile:
    """A server as the theory sees it.

    Attributes
    ----------
    service : LinearService
        Line through the times of batches of a server that never rests.
    slowing : float
        What each second that the server has rested adds to the batch after it [1].
    longest : float
        Rest beyond which no more is added, for none was longer in the profile [s].
    outside : LinearService or None
        Line through what HTTP adds to a request, by the size of its batch; None for nothing.
    noise : Empirical or None
        Law of the times of batches over what was expected of them; None for none.
    """

    service: LinearService
    slowing: float = 0.0
    longest: float = 0.0
    outside: LinearService | None = None
    noise: Empirical | None = None

    @classmethod
    def of(cls, parts: Sequence[Sequence[Trial]]) -> Profile:
        """Take line, slowing, HTTP and scatter from full batches of several sizes.

        Parameters
        ----------
        parts : sequence of sequence of Trial
            As of `PolicyRun.profile`: trials of one size each, open loops in which no batch
            waited for another, and closed ones in which the next batch always waited.

        Returns
        -------
        Profile
            What they say.

        Raises
        ------
        ValueError
            If they do not determine lines.

        Notes
        -----
        Warm-up and the last batch of a trial are not used. A batch that took more than three
        times as long as is usual for its size was held up by the machine; the profile cannot say
        how often that happens, and leaves it out. What HTTP added is treated alike.
        """
        seen = [_seen(trial) for part in parts for trial in part]
        sizes, times, rests = np.concatenate(seen, axis=1)
        usual = _usual(sizes, times)
        sizes, times, rests = sizes[usual], times[usual], rests[usual]
        columns = np.column_stack([np.ones(sizes.size), sizes, rests])
        slowing = float(np.linalg.lstsq(columns, times)[0][2])
        found = LinearService.fit(sizes, times - slowing * rests)
        line = LinearService(found.t_fixed, found.t_req)
        noise = Empirical(times / (line.time(sizes) + slowing * rests))
        longest = max(float(np.median(rest)) for _, _, rest in seen)
        return cls(line, slowing, longest, _outside(parts), noise)

    @classmethod
    def during(cls, trial: Trial) -> Profile:
        """Take line, HTTP and scatter from the batches of a run itself.

        Parameters
        ----------
        trial : Trial
            The run, of batches of one size or of several.

        Returns
        -------
        Profile
            What the server was while it ran; what a prediction with it is still off by is not
            the profile's fault.

        Raises
        ------
        ValueError
            If larger batches did not take longer.
        """
        if np.ptp(trial.sizes) == 0:
            line = LinearService(float(trial.service.mean()), 0)
        else:
            found = LinearService.fit(trial.sizes, trial.service)
            line = LinearService(found.t_fixed, found.t_req)
        noise = Empirical(trial.service / line.time(trial.sizes))
        return cls(line, outside=LinearService(float(trial.outside.mean()), 0), noise=noise)

    def at(self, rest: float) -> LinearService:
        """Return the line of a server that rests before each batch.

        Parameters
        ----------
        rest : float
            For how long, on average; at least 0 [s].

        Returns
        -------
        LinearService
            The line.

        Raises
        ------
        TypeError
            If ``rest`` is not a real number.
        ValueError
            If ``rest`` is out of range.
        """
        counts = min(errors.number("rest", rest, at_least=0), self.longest)
        return LinearService(self.service.t_fixed + self.slowing * counts, self.service.t_req)

    def added(self, batch: float) -> float:
        """Say what HTTP adds to a request.

        Parameters
        ----------
        batch : float
            Size of its batch, at least 1 [requests].

        Returns
        -------
        float
            The time [s].

        Raises
        ------
        TypeError
            If ``batch`` is not a real number.
        ValueError
            If ``batch`` is out of range.
        """
        size = errors.number("batch", batch, at_least=1)
        return 0.0 if self.outside is None else float(self.outside.time(size))


def _seen(trial: Trial) -> Array:
    """Size, time and rest of each batch, but for warm-up and the last, which nothing follows."""
    return np.array([trial.sizes, trial.service, trial.rest], dtype=float)[:, WARM_UP:-1]


def _usual(kinds: Array, times: Array) -> NDArray[np.bool_]:
    """Which times are less than several times the median of their kind."""
    found, kind = np.unique(kinds, return_inverse=True)
    medians = np.array([np.median(times[kind == place]) for place in range(found.size)])
    return np.asarray(times <= HELD_UP * medians[kind])


def _outside(parts: Sequence[Sequence[Trial]]) -> LinearService:
    """Line through what HTTP adds in open loops; its mean, where it does not grow."""
    calm = [trial for part in parts for trial in part if not trial.in_flight]
    kinds = np.concatenate(
        [np.repeat(one.sizes, one.sizes)[WARM_UP * one.sizes[0] :] for one in calm]
    )
    added = np.concatenate([one.outside[WARM_UP * one.sizes[0] :] for one in calm])
    usual = _usual(kinds, added)
    kinds, added = kinds[usual], added[usual]
    sizes = np.unique(kinds)
    means = np.array([added[kinds == size].mean() for size in sizes])
    try:
        found = LinearService.fit(sizes, means)
    except ValueError:
        return LinearService(float(means.mean()), 0)
    return LinearService(found.t_fixed, found.t_req)


def predict(policy: Policy, arrival_rate: float, profile: Profile) -> Predicted:
    """Predict the latency of Poisson arrivals: exactly, or for a window by simulation.

    Parameters
    ----------
    policy : Fixed, Greedy or Window
        When a batch is closed.
    arrival_rate : float
        Arrival rate, above 0 [requests/s].
    profile : Profile
        The server; its scatter counts for windows alone.

    Returns
    -------
    Predicted
        Mean and P99.

    Raises
    ------
    TypeError
        If an argument is of a wrong type.
    UnstableError
        If the server cannot keep up.
    ValueError
        If an argument is out of range.
    """
    found, service = _settled(policy, arrival_rate, profile)
    return _later(found, profile.added(_size(found)))


def _settled(policy: Policy, arrival_rate: float, profile: Profile) -> tuple[Queue, LinearService]:
    """Queue whose server rests as long before each batch as its batch times suppose."""
    rest, service = 0.0, profile.at(0.0)
    for _ in range(STEPS):
        found = _queue(policy, arrival_rate, service)
        size = _size(found)
        then = max(0.0, size / arrival_rate - float(service.time(size)))
        if profile.slowing == 0 or abs(then - rest) < CLOSE:
            break
        rest, service = then, profile.at(then)
    return found, service


def _queue(policy: Policy, arrival_rate: float, service: LinearService) -> Queue:
    if isinstance(policy, Fixed):
        return FixedBatchQueue(arrival_rate, policy.batch, service)
    if isinstance(policy, Greedy):
        return GreedyQueue(arrival_rate, policy.max_batch, service)
    return simulate(arrival_rate, policy, service, requests=REQUESTS, progress=False)


def _size(found: Queue) -> float:
    """Mean size of its batches; rounding may leave a bit less than one."""
    return found.batch if isinstance(found, FixedBatchQueue) else max(1.0, found.mean_batch)


def _later(found: Queue, added: float) -> Predicted:
    """Mean and P99 of a queue, and what HTTP adds to both."""
    return Predicted(float(found.mean) + added, float(found.quantile(SHARE)) + added)


def replay(trial: Trial, profile: Profile) -> Predicted:
    """Predict the latency of the very schedule of a trial, with the scatter of the profile.

    Parameters
    ----------
    trial : Trial
        Its policy and schedule are used, nothing that was measured.
    profile : Profile
        The server.

    Returns
    -------
    Predicted
        Mean and P99, the mean of several draws of the scatter.

    Raises
    ------
    TypeError
        If an argument is of a wrong type.
    """
    seeds = range(10 if profile.noise else 1)
    options = {"arrivals": trial.scheduled, "noise": profile.noise, "progress": False}
    service = _settled(trial.policy, trial.arrival_rate, profile)[1]
    runs = [simulate(None, trial.policy, service, seed=seed, **options) for seed in seeds]
    added = profile.added(_size(runs[0]))
    mean = float(np.mean([run.mean for run in runs]))
    return Predicted(mean + added, float(np.mean([run.quantile(SHARE) for run in runs])) + added)


def uncertainty(
    policy: Policy, arrival_rate: float, parts: Sequence[Sequence[Trial]]
) -> NDArray[np.float64]:
    """Interval of a prediction, from how much the parts of its profile differ.

    Parameters
    ----------
    policy : Fixed, Greedy or Window
        When a batch is closed.
    arrival_rate : float
        Arrival rate, above 0 [requests/s].
    parts : sequence of sequence of Trial
        What the profile was taken from, as in `Profile.of`.

    Returns
    -------
    ndarray, shape (2, 2)
        Lower and upper end of the mean, and of the P99, that hold 95 % of the predictions
        from as many parts, drawn anew with repetition: a drift of the machine from part to
        part is in it; ``inf`` where the server may not keep up [s].

    Raises
    ------
    TypeError
        If an argument is of a wrong type.
    ValueError
        If an argument is out of range.
    """
    rng = np.random.default_rng(0)
    found = []
    for _ in range(DRAWS):
        drawn = [parts[place] for place in rng.integers(0, len(parts), len(parts))]
        try:
            found.append(predict(policy, arrival_rate, Profile.of(drawn)))
        except UnstableError:
            found.append(Predicted(np.inf, np.inf))
    ends = np.quantile(np.array(found), [0.025, 0.975], axis=0, method="closest_observation")
    return np.asarray(ends.T)
