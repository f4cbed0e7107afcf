"""Engines that batch at every step: the closed form, and the scheduler simulated step by step."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from . import _engine, _plan, errors
from ._engine_plan import Chunked, Whole, plan
from ._engine_run import Part, run
from ._lengths import Geometric, LogNormal, Pairs
from ._random import Bursty, Erlang, Hyperexponential
from ._server import law
from .paging import Paged
from .service import LinearService

__all__ = [
    *("Bursty", "Chunked", "Erlang", "Geometric", "Hyperexponential", "LogNormal"),
    *("Pairs", "Run", "Times", "Whole", "simulate"),
]


def _student(values: Any, level: float) -> float:
    values = np.asarray(values)
    factor = -float(special.stdtrit(values.size - 1, (1 - level) / 2))
    return factor * float(values.std(ddof=1)) / math.sqrt(values.size)


@dataclass(frozen=True, eq=False)
class Times:
    """Times of one kind that a run has measured."""

    _unit: float = field(repr=False)
    _tallies: tuple[Any, ...] = field(repr=False)

    @property
    def count(self) -> int:
        """How many were measured [1]."""
        return sum(tally.served for tally in self._tallies)

    @property
    def mean(self) -> float:
        """Mean [s]."""
        return self._unit * math.fsum(tally.total for tally in self._tallies) / self.count

    @property
    def std(self) -> float:
        """Standard deviation [s]."""
        square = math.fsum(tally.squares for tally in self._tallies) / self.count
        return math.sqrt(max(0.0, self._unit**2 * square - self.mean**2))

    @cached_property
    def _law(self) -> tuple[NDArray[Any], NDArray[Any]]:
        return law(self._tallies)

    def quantile(self, q: float) -> float:
        """Time that a share ``q`` does not exceed."""
        share = errors.number("q", q, at_least=0, at_most=1)
        middles, below = self._law
        place = int(np.searchsorted(below, share * float(below[-1])))
        least = min(tally.least for tally in self._tallies)
        largest = max(tally.largest for tally in self._tallies)
        return self._unit * min(max(float(middles[place]), least), largest)


@dataclass(frozen=True, eq=False)
class Run:
    """A simulated engine: what its users and its operator see."""

    requests: int
    _unit: float = field(repr=False)
    _parts: tuple[Part, ...] = field(repr=False)

    def _times(self, row: int) -> Times:
        return Times(self._unit, tuple(part.tallies[row] for part in self._parts))

    def _sum(self, place: int) -> float:
        return math.fsum(part.sums[place] for part in self._parts)

    @property
    def _elapsed(self) -> float:
        return math.fsum(part.elapsed for part in self._parts)

    @cached_property
    def response(self) -> Times:
        """From arrival to the last token, of requests."""
        return self._times(_engine.RESPONSE)

    @cached_property
    def ttft(self) -> Times:
        """From arrival to the first token, of requests."""
        return self._times(_engine.TTFT)

    @cached_property
    def itl(self) -> Times:
        """From one token to the next, of tokens."""
        return self._times(_engine.ITL)

    @property
    def mean_running(self) -> float:
        """Mean number of sequences that have a slot [1]."""
        return self._sum(_engine.RUNNING) / self._elapsed

    @property
    def mean_blocks(self) -> float:
        """Mean number of blocks in use [1]."""
        return self._sum(_engine.BLOCKS) / self._elapsed

    @property
    def preempted(self) -> int:
        """How often a sequence lost its blocks and had to start again [1]."""
        return int(self._sum(_engine.PREEMPTED))

    @property
    def refused(self) -> int:
        """Requests that no memory would ever be enough for [requests]."""
        return int(self._sum(_engine.REFUSED))

    @property
    def steps(self) -> int:
        """Steps [1]."""
        return int(self._sum(_engine.STEPS))

    @property
    def tokens(self) -> int:
        """Tokens made [tokens]."""
        return int(self._sum(_engine.TOKENS))

    @property
    def read(self) -> int:
        """Tokens of prompts read, and of answers that were read again [tokens]."""
        return int(self._sum(_engine.READ))

    @property
    def throughput(self) -> float:
        """Requests answered a second [requests/s]."""
        return self.response.count / (self._unit * self._elapsed)

    @property
    def met(self) -> float:
        """Share of the requests answered that met both limits [1]."""
        return self._sum(_engine.MET) / self.response.count

    @property
    def goodput(self) -> float:
        """Requests a second that are answered and meet both limits [requests/s]."""
        return self._sum(_engine.MET) / (self._unit * self._elapsed)

    @property
    def busy(self) -> float:
        """Share of time in which a step runs [1]."""
        return self._sum(_engine.BUSY) / self._elapsed


def simulate(
    arrival_rate: float | None,
    output_tokens: int | Geometric | LogNormal | Pairs,
    step_times: LinearService | ArrayLike,
    prompt_tokens: int | Geometric | LogNormal = 0,
    slots: int | None = None,
    blocks: int | None = None,
    paged: Paged | None = None,
    prefill: Chunked | Whole | None = None,
    batching: str = "continuous",
    limits: tuple[float, float] | None = None,
    arrivals: Erlang | Hyperexponential | Bursty | ArrayLike | None = None,
    requests: int = 100_000,
    seed: int = 0,
    progress: bool | None = None,
) -> Run:
    """Simulate an engine step by step."""
    planned = plan(
        *(arrival_rate, output_tokens, step_times, prompt_tokens, slots, blocks),
        *(Paged() if paged is None else paged, prefill, batching, limits, arrivals, requests, seed),
    )
    return Run(planned.requests, planned.unit, run(planned, progress))
