"""Lab B: what the theory says of the lab's server, from a profile that nothing had to wait in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import errors
from ._lab_policies import PACE, Policy, Trial
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
"""Most steps until a queue and how busy it is agree [1]."""
CLOSE = 0.002
"""Difference at which they do [1]."""
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
        Line through the times of batches, where the server rests before each.
    busy : LinearService or None
        The same where it never rests; None where that makes no difference.
    outside : LinearService or None
        Line through what HTTP adds to a request, by the size of its batch; None for nothing.
    noise : Empirical or None
        Law of the times of batches over their line; None for none.
    """

    service: LinearService
    busy: LinearService | None = None
    outside: LinearService | None = None
    noise: Empirical | None = None

    @classmethod
    def of(cls, calm: Sequence[Trial], busy: Sequence[Trial] = ()) -> Profile:
        """Take lines, HTTP and scatter from full batches of several sizes.

        Parameters
        ----------
        calm : sequence of Trial
            Trials at a load of a half, in which no batch waited for another.
        busy : sequence of Trial
            Trials in which the next batch always waited; none for no difference.

        Returns
        -------
        Profile
            What they say.

        Raises
        ------
        ValueError
            If they do not determine lines.
        """
        found = [(trials, _line(trials)) for trials in (calm, busy) if trials]
        factors = [
            trial.service / line.time(trial.sizes) for trials, line in found for trial in trials
        ]
        added = np.array([float(trial.outside.mean()) for trial in calm])
        level = _level(np.array([float(trial.sizes.mean()) for trial in calm]), added)
        other = found[1][1] if busy else None
        return cls(found[0][1], other, level, Empirical(np.concatenate(factors)))

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
            line = _line([trial])
        noise = Empirical(trial.service / line.time(trial.sizes))
        return cls(line, None, LinearService(float(trial.outside.mean()), 0), noise)

    def at(self, share: float) -> LinearService:
        """Return the line of a server that is busy for a share of the time.

        Parameters
        ----------
        share : float
            The share, 0 to 1; between a half and all of the time lines lie in between [1].

        Returns
        -------
        LinearService
            The line.

        Raises
        ------
        ValueError
            If ``share`` is out of range.
        """
        errors.number("share", share, at_least=0, at_most=1)
        if self.busy is None:
            return self.service
        part = min(1.0, (1 - share) / (1 - PACE))
        ends = ((part, self.service), (1 - part, self.busy))
        return LinearService(
            math.fsum(weight * line.t_fixed for weight, line in ends),
            math.fsum(weight * line.t_req for weight, line in ends),
        )

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


def _line(trials: Sequence[Trial]) -> LinearService:
    sizes = np.concatenate([trial.sizes for trial in trials])
    found = LinearService.fit(sizes, np.concatenate([trial.service for trial in trials]))
    return LinearService(found.t_fixed, found.t_req)


def _level(sizes: Array, added: Array) -> LinearService:
    """Line through what HTTP adds; its mean, where it does not grow with the batch."""
    try:
        return LinearService.fit(sizes, added)
    except ValueError:
        return LinearService(float(added.mean()), 0)


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
    batch = policy.batch if isinstance(found, FixedBatchQueue) else found.mean_batch
    return _later(found, profile.added(batch))


def _settled(policy: Policy, arrival_rate: float, profile: Profile) -> tuple[Queue, LinearService]:
    """Queue whose batches take as long as they do in a server that is as busy as this one."""
    share, service = 1.0, profile.at(1.0)
    for _ in range(STEPS if profile.busy else 1):
        found = _queue(policy, arrival_rate, service)
        if abs(found.busy - share) < CLOSE:
            break
        share = (share + found.busy) / 2  # half a step each time: nothing swings
        service = profile.at(share)
    return found, service


def _queue(policy: Policy, arrival_rate: float, service: LinearService) -> Queue:
    if isinstance(policy, Fixed):
        return FixedBatchQueue(arrival_rate, policy.batch, service)
    if isinstance(policy, Greedy):
        return GreedyQueue(arrival_rate, policy.max_batch, service)
    return simulate(arrival_rate, policy, service, requests=REQUESTS, progress=False)


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
    added = profile.added(runs[0].mean_batch)
    mean = float(np.mean([run.mean for run in runs]))
    return Predicted(mean + added, float(np.mean([run.quantile(SHARE) for run in runs])) + added)


def uncertainty(
    policy: Policy, arrival_rate: float, calm: Sequence[Trial], busy: Sequence[Trial] = ()
) -> NDArray[np.float64]:
    """Interval of a prediction, from how much the times of its profile scatter.

    Parameters
    ----------
    policy : Fixed, Greedy or Window
        When a batch is closed.
    arrival_rate : float
        Arrival rate, above 0 [requests/s].
    calm, busy : sequence of Trial
        What the profile was taken from, as in `Profile.of`.

    Returns
    -------
    ndarray, shape (2, 2)
        Lower and upper end of the mean, and of the P99, that hold 95 % of the predictions
        from profiles drawn anew from the measured batches; ``inf`` where the server may not
        keep up [s].

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
        drawn = [[_drawn(trial, rng) for trial in trials] for trials in (calm, busy)]
        try:
            found.append(predict(policy, arrival_rate, Profile.of(*drawn)))
        except UnstableError:
            found.append(Predicted(np.inf, np.inf))
    ends = np.quantile(np.array(found), [0.025, 0.975], axis=0, method="closest_observation")
    return np.asarray(ends.T)


def _drawn(trial: Trial, rng: np.random.Generator) -> Trial:
    """The trial with batches drawn from its own, and what HTTP added likewise."""
    batches = rng.integers(0, trial.sizes.size, trial.sizes.size)
    requests = rng.integers(0, trial.outside.size, trial.outside.size)
    kept = vars(trial) | {"sizes": trial.sizes[batches], "service": trial.service[batches]}
    return Trial(**kept | {"outside": trial.outside[requests]})
