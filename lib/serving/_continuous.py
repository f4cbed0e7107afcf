"""Continuous batching in closed form: a queue whose server shares its steps with all that run."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _steps, errors, formulas
from ._engine_plan import check_load
from ._lengths import LONGEST
from .errors import UnstableError
from .service import LinearService

MOST_STATES = 1 << 24
"""States of which the probabilities are listed."""
RARE = 45.0
"""Logarithm of how much rarer than the likeliest a state is that is left out: 3e-20."""


@dataclass(frozen=True, eq=False)
class Continuous:
    """Long-run law of an engine whose sequences all get a token in every step.

    Parameters
    ----------
    arrival_rate : float
        Poisson arrivals, above 0 [requests/s].
    output_tokens : float
        Mean tokens of an answer, at least 1 [tokens].
    step_times : LinearService or array_like, shape (n,)
        Time of a step by the number of running sequences: a line, or times of 1, 2, ..., that go
        on along a line through the last two [s].
    slots : int, optional
        Most sequences that run; the others wait in order of arrival. None for no limit [1].

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    UnstableError
        If the engine cannot keep up; the message says what would be enough.
    ValueError
        If an argument is out of range, or the load so close to 1 that the states are too many.

    Notes
    -----
    Steps are taken to be short beside an answer. Then a running sequence gets tokens at a rate of
    1 / s(n), and what an answer takes is shared by all that run. Without a limit on them the law
    of the number in the system is exact for every law of lengths of the same mean; with slots it
    is exact for geometric lengths, and others come close. Source: Cohen 1979; Kelly 1979, ch. 3.

    Examples
    --------
    >>> engine = Continuous(10, 200, LinearService(t_fixed=0.020, t_req=0.00025))
    >>> round(engine.mean, 6), round(engine.mean_running, 6)
    (8.1, 81.0)
    """

    arrival_rate: float
    output_tokens: float
    step_times: LinearService | ArrayLike
    slots: int | None = None
    _steps: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        rate = errors.number("arrival_rate", self.arrival_rate, above=0)
        mean = errors.number("output_tokens", self.output_tokens, at_least=1, at_most=LONGEST)
        steps = _steps.read(self.step_times)
        kept: dict[str, Any] = {"arrival_rate": rate, "output_tokens": mean, "_steps": steps}
        if self.slots is not None:
            kept["slots"] = errors.integer("slots", self.slots, at_least=1)
            errors.number("slots", self.slots, at_most=MOST_STATES)
        check_load(self.arrival_rate, self.output_tokens, 0, steps, kept.get("slots"), 0)
        work = errors.exact("arrival_rate", rate) * errors.exact("output_tokens", mean)
        if not Fraction(1, 10**9) <= work * steps.exactly(1) <= 10**9:
            raise ValueError(
                f"arrival_rate must keep 1e-9 to 1e9 sequences running, each by itself, to be "
                f"computed, got {self.arrival_rate!r}"
            )
        for name, value in kept.items():
            object.__setattr__(self, name, value)

    @property
    def capacity(self) -> float:
        """Arrival rate that the engine stays below.

        Returns
        -------
        float
            ``inf`` if steps do not get longer and nobody waits for a slot [requests/s].
        """
        full = self._steps.slope if self.slots is None else self._each(self.slots)
        return math.inf if full == 0 else float(1 / (self.output_tokens * full))

    def _each(self, running: int) -> float:
        return float(self._steps.time(running)) / running

    @cached_property
    def _law(self) -> tuple[NDArray[np.float64], float]:
        """Probabilities of the states up to full slots, or of all; the ratio of those beyond."""
        work = self.arrival_rate * self.output_tokens
        total, first, pieces = 0.0, 1, [np.zeros(1)]
        likeliest, size = 0.0, 1024
        while True:
            last = first + size if self.slots is None else min(first + size, self.slots + 1)
            counts = np.arange(first, last)
            logs = total + np.cumsum(np.log(work * self._steps.time(counts) / counts))
            pieces.append(logs)
            total, likeliest = float(logs[-1]), max(likeliest, float(logs.max()))
            first, size = last, 2 * size
            if self.slots is not None and last > self.slots:
                break
            falls = work * self._each(last) < 1 and last > self._steps.table.size
            if self.slots is None and falls and total < likeliest - RARE:
                break
            if first > MOST_STATES:
                raise ValueError(
                    f"arrival_rate = {self.arrival_rate!r} is so close to the capacity, "
                    f"{self.capacity:.9g} requests/s, that more than {MOST_STATES} states count"
                )
        weights = np.exp(np.concatenate(pieces) - likeliest)
        ratio = 0.0 if self.slots is None else work * self._each(self.slots)
        return weights / (weights.sum() + weights[-1] * ratio / (1 - ratio)), ratio

    @property
    def pi(self) -> NDArray[np.float64]:
        """Law of the number of running sequences.

        Returns
        -------
        ndarray, shape (n,)
            Share of time in which 0, 1, ... run; what is left out has less than 1e-15 [1].
        """
        inside, ratio = self._law
        law = inside.copy()
        law[-1] += inside[-1] * ratio / (1 - ratio)
        return law

    @property
    def busy(self) -> float:
        """Share of time in which a step runs.

        Returns
        -------
        float
            Share of time in which at least one sequence runs [1].
        """
        return float(self._law[0][1:].sum() + self._law[0][-1] * self._law[1] / (1 - self._law[1]))

    @property
    def full(self) -> float:
        """Share of requests that find no slot free.

        Returns
        -------
        float
            0 without a limit [1].
        """
        inside, ratio = self._law
        return 0.0 if self.slots is None else float(inside[-1] / (1 - ratio))

    @property
    def mean_running(self) -> float:
        """Mean number of running sequences.

        Returns
        -------
        float
            Of those that have a slot [requests].
        """
        if self.slots is None and isinstance(self.step_times, LinearService):
            return float(formulas.engine_running(*self._exactly))
        return float(self.pi @ np.arange(self.pi.size))

    @property
    def _exactly(self) -> tuple[Fraction, ...]:
        """Arguments of the closed form, so that no digits are lost near the capacity."""
        growth, last = self._steps.growth, self._steps.last
        rate, tokens = (Fraction(str(x)) for x in (self.arrival_rate, self.output_tokens))
        return rate, tokens, last - growth, growth

    @property
    def mean_wait(self) -> float:
        """Mean wait for a slot.

        Returns
        -------
        float
            0 without a limit [s].
        """
        if self.slots is None:
            return 0.0
        inside, ratio = self._law
        return float(inside[-1] * ratio / (1 - ratio) ** 2) / self.arrival_rate

    @property
    def mean(self) -> float:
        """Mean response, from arrival to the last token.

        Returns
        -------
        float
            By Little's law [s].
        """
        return self.mean_wait + self.mean_running / self.arrival_rate

    @property
    def token_time(self) -> float:
        """Mean time from a token of an answer to the next.

        Returns
        -------
        float
            Of a token taken at random [s].
        """
        return self.mean_running / (self.arrival_rate * self.output_tokens)

    def running_quantile(self, q: float) -> int:
        """Number of running sequences that is not exceeded for a share ``q`` of the time.

        Parameters
        ----------
        q : float
            The share, above 0 and below 1 [1].

        Returns
        -------
        int
            Least such number [requests].

        Raises
        ------
        TypeError
            If ``q`` is not a real number.
        ValueError
            If ``q`` is out of range.
        """
        share = errors.number("q", q, above=0)
        if share >= 1:
            raise ValueError(f"q must be below 1, got {q!r}")
        return int(np.searchsorted(np.cumsum(self.pi), share))


def enough_slots(
    arrival_rate: float,
    output_tokens: float,
    step_times: LinearService | ArrayLike,
    excess: float = 0.01,
) -> int:
    """Least number of slots with which answers take hardly longer than without a limit.

    Parameters
    ----------
    arrival_rate : float
        Poisson arrivals, above 0 [requests/s].
    output_tokens : float
        Mean tokens of an answer, at least 1; lengths are geometric [tokens].
    step_times : LinearService or array_like, shape (n,)
        Time of a step by the number of running sequences, as for `Continuous` [s].
    excess : float
        Share by which the mean answer may be longer, at least 1e-9 [1].

    Returns
    -------
    int
        Slots, at least 1 [requests].

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    UnstableError
        If no number of slots is enough.
    ValueError
        If an argument is out of range, or so many slots are needed that they are not computed.

    Examples
    --------
    >>> enough_slots(10, 200, LinearService(t_fixed=0.020, t_req=0.00025))
    100
    """
    limit = 1 + errors.number("excess", excess, at_least=1e-9)
    allowed = limit * Continuous(arrival_rate, output_tokens, step_times).mean

    def enough(slots: int) -> bool:
        """Whether so many are."""
        try:
            return Continuous(arrival_rate, output_tokens, step_times, slots).mean <= allowed
        except UnstableError:
            return False

    high = 1
    while not enough(high):
        high *= 2
    low = high // 2  # not enough, or 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
