"""Lab B: what the theory says of the lab's server, from a profile that nothing had to wait in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._lab_policies import Policy, Trial
from .exact import FixedBatchQueue, GreedyQueue
from .policies import Fixed, Greedy
from .service import LinearService
from .simulation import Empirical, Simulation, simulate

Array = NDArray[np.float64]

SHARE = 0.99
"""Share of the requests that the predicted quantile covers [1]."""
REQUESTS = 200_000
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
        Line through the times of batches.
    outside : LinearService or None
        Line through what HTTP adds to a request, by the size of its batch; None for nothing.
    noise : Empirical or None
        Law of the times of batches over the line; None for none.
    """

    service: LinearService
    outside: LinearService | None = None
    noise: Empirical | None = None

    @classmethod
    def of(cls, trials: Sequence[Trial]) -> Profile:
        """Take line, HTTP and scatter from trials in which no batch waited for another.

        Parameters
        ----------
        trials : sequence of Trial
            Of batches of two sizes or more, each full.

        Returns
        -------
        Profile
            What they say.

        Raises
        ------
        ValueError
            If they do not determine a line.
        """
        sizes, times, each, added = _columns(trials)
        service = LinearService.fit(sizes, times)
        return cls(service, _level(each, added), Empirical(times / service.time(sizes)))

    def added(self, batch: float) -> float:
        """What HTTP adds to a request of a batch [s]."""
        return 0.0 if self.outside is None else float(self.outside.time(batch))


def _columns(trials: Sequence[Trial]) -> tuple[Array, Array, Array, Array]:
    """Size and time of each batch; size and HTTP of each trial, on average."""
    sizes = np.concatenate([trial.sizes for trial in trials]).astype(float)
    times = np.concatenate([trial.service for trial in trials])
    each = np.array([float(trial.sizes.mean()) for trial in trials])
    return sizes, times, each, np.array([float(trial.outside.mean()) for trial in trials])


def _level(sizes: Array, added: Array) -> LinearService:
    """Line through what HTTP adds; its mean, where it does not grow with the batch."""
    try:
        return LinearService.fit(sizes, added)
    except ValueError:
        return LinearService(float(added.mean()), 0)


def predict(policy: Policy, rate: float, profile: Profile) -> Predicted:
    """Predict the latency of Poisson arrivals: exactly, or for a window by simulation.

    Parameters
    ----------
    policy : Fixed, Greedy or Window
        When a batch is closed.
    rate : float
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
    if isinstance(policy, Fixed):
        added = profile.added(policy.batch)
        fixed = FixedBatchQueue(rate, policy.batch, profile.service)
        return _later(fixed, added)
    if isinstance(policy, Greedy):
        greedy = GreedyQueue(rate, policy.max_batch, profile.service)
        return _later(greedy, profile.added(greedy.mean_batch))
    run = simulate(rate, policy, profile.service, requests=REQUESTS, progress=False)
    return _later(run, profile.added(run.mean_batch))


def _later(found: FixedBatchQueue | GreedyQueue | Simulation, added: float) -> Predicted:
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
    runs = [simulate(None, trial.policy, profile.service, seed=seed, **options) for seed in seeds]
    added = profile.added(runs[0].mean_batch)
    mean = float(np.mean([run.mean for run in runs]))
    return Predicted(mean + added, float(np.mean([run.quantile(SHARE) for run in runs])) + added)


def uncertainty(policy: Policy, rate: float, trials: Sequence[Trial]) -> NDArray[np.float64]:
    """Interval of a prediction, from how much the times of its profile scatter.

    Parameters
    ----------
    policy : Fixed, Greedy or Window
        When a batch is closed.
    rate : float
        Arrival rate, above 0 [requests/s].
    trials : sequence of Trial
        What the profile was taken from.

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
        sizes, times, each, added = _columns([_drawn(trial, rng) for trial in trials])
        try:
            profile = Profile(LinearService.fit(sizes, times), _level(each, added))
            found.append(predict(policy, rate, profile))
        except ValueError:  # too slow for this rate, or not even a line
            found.append(Predicted(np.inf, np.inf))
    ends = np.quantile(np.array(found), [0.025, 0.975], axis=0, method="closest_observation")
    return np.asarray(ends.T)


def _drawn(trial: Trial, rng: np.random.Generator) -> Trial:
    """The trial with batches drawn from its own, and what HTTP added likewise."""
    batches = rng.integers(0, trial.sizes.size, trial.sizes.size)
    requests = rng.integers(0, trial.outside.size, trial.outside.size)
    kept = vars(trial) | {"sizes": trial.sizes[batches], "service": trial.service[batches]}
    return Trial(**kept | {"outside": trial.outside[requests]})
