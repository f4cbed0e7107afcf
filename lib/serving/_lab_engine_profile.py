"""What single steps of a measured engine take, and what follows from them for its traffic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import engine, formulas
from ._lab_drive import Drive
from ._times import half_width

Array = NDArray[np.float64]
WRITERS = 4
"""Sequences that write while prompts join, by which the cost of a prompt is told."""
AROUND = 3
"""Gaps between tokens in which a prompt that joins is felt: before, at and after."""
BATCHES = 10
"""Parts of a drive that its intervals compare."""


@dataclass(frozen=True, eq=False)
class Round:
    """One round of timing: steps by the number that run, prompts that join, requests alone."""

    steps: dict[int, Drive]
    joined: Drive
    alone: Drive

    def step(self, running: int) -> float:
        """Mean time of a step with so many sequences [s]."""
        return step_time(self.steps[running])

    @property
    def added(self) -> float:
        """What a prompt that is read and leaves adds to the steps of those who write [s]."""
        lasting = [one for one in self.joined.tokens if one.size > 2]
        tokens = lasting[0]
        gaps = np.diff(tokens)
        usual = float(np.median(gaps))
        joins = self.joined.sent[len(lasting) :]
        places = np.searchsorted(tokens, joins)
        added = [gaps[max(0, p - 1) : p - 1 + AROUND].sum() - AROUND * usual for p in places]
        return float(np.median(added))

    @property
    def first(self) -> float:
        """What a request that is alone takes to its first token [s]."""
        return float(np.median(self.alone.first - self.alone.sent))


@dataclass(frozen=True, eq=False)
class Profile:
    """What single steps of an engine take, timed in several rounds.

    Attributes
    ----------
    rounds : tuple of Round
        The rounds.
    answer : int
        Tokens of the answers that traffic asks for [tokens].
    slots : int
        Most sequences that run [requests].
    """

    rounds: tuple[Round, ...]
    answer: int
    slots: int

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Numbers of running sequences that were timed, shape (n,) [requests]."""
        return np.array(sorted(self.rounds[0].steps))

    @property
    def timed(self) -> Array:
        """Mean time of a step, shape (rounds, n) [s]."""
        return np.array([[one.step(n) for n in self.sizes.tolist()] for one in self.rounds])

    @property
    def added(self) -> Array:
        """What a prompt that comes and goes adds to the steps of others, shape (rounds,) [s]."""
        return np.array([one.added for one in self.rounds])

    @property
    def first(self) -> Array:
        """What a request that is alone takes to its first token, shape (rounds,) [s]."""
        return np.array([one.first for one in self.rounds])

    def costs(self, place: int | None = None) -> Costs:
        """Step times of 1, 2, ... sequences and the rest: of one round, or in the mean of all."""
        chosen = slice(None) if place is None else slice(place, place + 1)
        timed = self.timed[chosen].mean(axis=0)
        steps = np.interp(np.arange(1, self.slots + 1), self.sizes, timed)
        # Who has been read gets a token in the same step, which counts with those of the others.
        reading = float(self.added[chosen].mean()) - float(steps[WRITERS] - steps[WRITERS - 1])
        alone = float(self.first[chosen].mean()) - float(steps[0])
        reading = max(0.0, reading)
        return Costs(steps, reading, max(0.0, alone - reading), self.answer, self.slots)


@dataclass(frozen=True, eq=False)
class Costs:
    """What a request costs the engine.

    Attributes
    ----------
    steps : ndarray, shape (slots,)
        Time of a step by the number of sequences that get a token in it [s].
    reading : float
        What reading one prompt adds to the step in which it gets its first token [s].
    overhead : float
        What the way to the engine and back takes beside [s].
    answer : int
        Tokens of an answer [tokens].
    slots : int
        Most sequences that run [requests].
    """

    steps: Array
    reading: float
    overhead: float
    answer: int
    slots: int

    @property
    def capacity(self) -> float:
        """Arrival rate that the engine stays below: all slots full, and prompts read [1/s]."""
        each = float(self.steps[-1]) / self.slots
        return formulas.value(formulas.phase_capacity, self.answer, each, self.reading)

    def product_form(self, arrival_rate: float) -> float:
        """Mean response by the product form, its steps stretched by the reading of prompts [s].

        Parameters
        ----------
        arrival_rate : float
            Poisson arrivals [requests/s].

        Returns
        -------
        float
            From the scheduled moment to the last token [s].
        """
        steps = formulas.mean_gap(arrival_rate, self.reading, self.steps)
        law = engine.Continuous(arrival_rate, self.answer, steps, self.slots)
        return law.mean + self.reading + self.overhead

    def simulated(self, arrivals: float | Array, requests: int = 20_000) -> Predicted:
        """Predict the times by the scheduler, simulated step by step.

        Parameters
        ----------
        arrivals : float or array_like, shape (n,)
            Rate of Poisson arrivals [requests/s], or the moments of a schedule [s].
        requests : int
            Requests to simulate, where a rate is given [requests].

        Returns
        -------
        Predicted
            What users see.
        """
        trace = None if np.ndim(arrivals) == 0 else np.asarray(arrivals)
        run = engine.simulate(
            float(arrivals) if trace is None else None,
            self.answer,
            self.steps,
            prompt_tokens=1,  # one piece, whatever its length
            slots=self.slots,
            prefill=engine.Chunked(self.reading),
            arrivals=trace,
            requests=requests if trace is None else trace.size,
            seed=20,
            progress=False,
        )
        late = self.overhead
        return Predicted(
            run.response.mean + late,
            run.response.quantile(0.99) + late,
            run.ttft.mean + late,
            run.itl.mean,
            run.itl.quantile(0.99),
        )


@dataclass(frozen=True)
class Predicted:
    """Times that users see.

    Attributes
    ----------
    mean, p99 : float
        Mean and 99th percentile from the scheduled moment to the end of an answer [s].
    first : float
        Mean from the scheduled moment to the first token [s].
    gap, gap_p99 : float
        Mean and 99th percentile from one token to the next [s].
    """

    mean: float
    p99: float
    first: float
    gap: float
    gap_p99: float


def measured(drive: Drive) -> Predicted:
    """Take the same times from a drive whose answers are streams.

    Parameters
    ----------
    drive : Drive
        What became of each request, all of them answered.

    Returns
    -------
    Predicted
        The times that were measured.
    """
    # Where a character takes several tokens, they come as one event: such streams have fewer.
    most = max(one.size for one in drive.tokens)
    gaps = np.concatenate([np.diff(one[:-1]) for one in drive.tokens if one.size == most])
    return Predicted(
        float(drive.latency.mean()),
        float(np.quantile(drive.latency, 0.99)),
        float((drive.first - drive.scheduled).mean()),
        float(gaps.mean()),
        float(np.quantile(gaps, 0.99)),
    )


def step_time(drive: Drive) -> float:
    """Mean time of a step while all sequences of a drive run.

    Parameters
    ----------
    drive : Drive
        Streams that were started together.

    Returns
    -------
    float
        Time of a step [s].

    Raises
    ------
    ValueError
        If there was no step in which all ran.
    """
    tokens = [one[:-1] for one in drive.tokens]  # the last event only ends the stream
    begin, end = max(one[0] for one in tokens), min(one[-1] for one in tokens)
    # Tokens of one step come a little apart; a quarter of a step tells them from the next one's.
    apart = float(np.median(np.concatenate([np.diff(one) for one in tokens]))) / 4
    steps = [np.count_nonzero((one > begin + apart) & (one <= end + apart)) for one in tokens]
    if not end > begin or not max(steps):
        raise ValueError("drive must have streams that run together, got none")
    return float((end - begin) / np.median(steps))


def spread(values: ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """Interval of a mean, from independent values.

    Parameters
    ----------
    values : array_like, shape (n,)
        The values, at least 2 [any].
    level : float
        Probability that the interval holds the mean of all values there could be [1].

    Returns
    -------
    tuple of float
        Lower and upper end [any].
    """
    found = np.asarray(values, dtype=float)
    half = half_width("mean", found.tolist(), level, least=2)
    middle = float(found.mean())
    return middle - half, middle + half


def batch_means(times: ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """Interval of a mean, from the means of successive parts.

    Parameters
    ----------
    times : array_like, shape (n,)
        Times in the order of requests, whose neighbours are alike [s].
    level : float
        Probability that the interval holds the long-run mean [1].

    Returns
    -------
    tuple of float
        Lower and upper end [s].

    Notes
    -----
    Source: Law 2015, ch. 9.
    """
    return spread([part.mean() for part in np.array_split(np.asarray(times), BATCHES)], level)
