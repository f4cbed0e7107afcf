"""Engines that batch at every step: the closed form, and the scheduler simulated step by step."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

from numpy.typing import ArrayLike

from . import _engine_state
from ._continuous import Continuous, enough_slots
from ._engine_plan import Chunked, Whole, plan
from ._engine_run import Part, run
from ._lengths import Geometric, LogNormal, Pairs, longest
from ._random import Bursty, Erlang, Hyperexponential
from ._times import Times, half_width
from .paging import Paged
from .service import LinearService

__all__ = [
    "Chunked",
    "Continuous",
    "Geometric",
    "LogNormal",
    "Pairs",
    "Run",
    "Times",
    "Whole",
    "enough_slots",
    "longest",
    "simulate",
]


@dataclass(frozen=True, eq=False)
class Run:
    """A simulated engine: what its users and its operator see.

    Attributes
    ----------
    requests : int
        Requests that arrived while it was measured [requests].
    """

    requests: int
    _unit: float = field(repr=False)
    _parts: tuple[Part, ...] = field(repr=False)

    def _times(self, row: int) -> Times:
        return Times(self._unit, tuple(part.tallies[row] for part in self._parts))

    def _sum(self, name: str) -> float:
        return math.fsum(part.sums[name] for part in self._parts)

    @property
    def _elapsed(self) -> float:
        return math.fsum(part.elapsed for part in self._parts)

    @cached_property
    def response(self) -> Times:
        """Times from arrival to the last token, of requests that were answered."""
        return self._times(_engine_state.RESPONSE)

    @cached_property
    def ttft(self) -> Times:
        """Times from arrival to the first token."""
        return self._times(_engine_state.TTFT)

    @cached_property
    def itl(self) -> Times:
        """Times from one token of an answer to the next, of all tokens but the first."""
        return self._times(_engine_state.ITL)

    @property
    def mean_running(self) -> float:
        """Mean number of sequences that have a slot [requests]."""
        return self._sum("running") / self._elapsed

    @property
    def mean_blocks(self) -> float:
        """Mean number of blocks in use [blocks]."""
        return self._sum("blocks") / self._elapsed

    @property
    def busy(self) -> float:
        """Share of time in which a step runs [1]."""
        return min(1.0, self._sum("busy") / self._elapsed)

    @property
    def steps(self) -> int:
        """Steps [1]."""
        return int(self._sum("steps"))

    @property
    def tokens(self) -> int:
        """Tokens of answers that were made [tokens]."""
        return int(self._sum("tokens"))

    @property
    def read(self) -> int:
        """Tokens of prompts that were read, and of answers that were read again [tokens]."""
        return int(self._sum("read"))

    @property
    def preempted(self) -> int:
        """How often a sequence lost its blocks and had to start again [1]."""
        return int(self._sum("preempted"))

    @property
    def refused(self) -> int:
        """Requests for which all of the memory is not enough [requests]."""
        return int(self._sum("refused"))

    @property
    def throughput(self) -> float:
        """Requests answered a second [requests/s]."""
        return self.response.count / (self._unit * self._elapsed)

    @property
    def met(self) -> float:
        """Share of the requests answered that met both limits [1]."""
        return self._sum("met") / self.response._some

    @property
    def goodput(self) -> float:
        """Requests a second that were answered within both limits [requests/s]."""
        return self._sum("met") / (self._unit * self._elapsed)

    def interval(self, what: str, level: float = 0.95) -> tuple[float, float]:
        """Interval that holds the long-run value with a probability of about ``level``.

        Parameters
        ----------
        what : str
            "mean_running", "mean_blocks", "busy", "throughput", "met" or "goodput"; times have
            intervals of their own.
        level : float
            The probability, above 0 and below 1 [1].

        Returns
        -------
        tuple of float
            Lower and upper end, in the unit of the result [any].

        Raises
        ------
        TypeError
            If ``level`` is not a real number.
        ValueError
            If an argument is out of range, or too few requests were simulated.

        Notes
        -----
        Batch means, as of `serving.simulation`. Source: Law 2015, ch. 9.
        """
        if what not in RESULTS:
            raise ValueError(f"what must be one of {', '.join(RESULTS)}, got {what!r}")
        pieces = [replace(self, _parts=(part,)) for part in self._parts]
        some = [p for p in pieces if p._elapsed > 0 and (what != "met" or p.response.count)]
        half = half_width(what, [float(getattr(piece, what)) for piece in some], level)
        middle = float(getattr(self, what))
        return max(0.0, middle - half), middle + half


RESULTS = ("mean_running", "mean_blocks", "busy", "throughput", "met", "goodput")
"""Names of the results that have an interval, beside the times."""


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
    """Simulate an engine that gives every running sequence a token in each step.

    Parameters
    ----------
    arrival_rate : float or None
        Mean arrival rate, above 0; None with a trace, which has its own [requests/s].
    output_tokens : int, Geometric, LogNormal or Pairs
        Tokens of an answer, at least 1, or their law [tokens].
    step_times : LinearService or array_like, shape (n,)
        Time of a step by the number of sequences that get a token in it: a line, or times of 1,
        2, ..., that go on along a line through the last two [s].
    prompt_tokens : int, Geometric or LogNormal
        Tokens of a prompt, at least 0, or their law [tokens].
    slots : int or None
        Most sequences that run, at least 1; None for no limit [1].
    blocks : int or None
        Blocks of the cache, at least 1; None for no limit [blocks].
    paged : Paged or None
        Size of a block and blocks that admission leaves free, of `serving.paging`; None for its
        defaults.
    prefill : Chunked, Whole or None
        How prompts are read; None if that takes no time.
    batching : str
        "continuous"; or "static", where nobody joins a running batch; or "padded", where its
        finished rows cost as much as others until the last one has finished.
    limits : tuple of float or None
        Longest time to the first token and longest mean time between tokens that count as met,
        each at least 0 and perhaps ``inf``; None if all do [s].
    arrivals : Erlang, Hyperexponential, Bursty, array_like of shape (n,) or None
        Kind of traffic, of `serving.simulation`, Poisson if None; or a trace: times of arrival,
        not decreasing, used as they are [s].
    requests : int
        Requests that arrive, at least 32; of a trace at most that many [requests].
    seed : int
        Seed of the random numbers, at least 0: the same gives the same result [1].
    progress : bool or None
        Whether a bar on stderr shows progress; None shows it in a terminal, for long runs.

    Returns
    -------
    Run
        What was measured.

    Raises
    ------
    TypeError
        If an argument is of a wrong type.
    UnstableError
        If the engine cannot keep up; the message says what would be enough. A trace ends, and
        is not refused.
    ValueError
        If an argument is out of range, or no request was answered.

    Notes
    -----
    A step starts when the one before has ended, or a request finds nobody running. Requests join
    in order of arrival; nobody passes one for whom there is no slot, block or budget. A sequence
    gets its first token in the step that reads the last of its prompt, and is counted there. When
    a block is missing the newest sequence gives all of its blocks back, waits at the head, and
    reads its prompt and what it has written once more. Who would not fit into all of the memory
    is refused. The first 2 of 32 parts of a run are a warm-up; a trace is measured whole.

    Examples
    --------
    >>> run = simulate(10, 200, LinearService(t_fixed=0.020, t_req=0.00025), requests=20_000)
    >>> round(run.response.mean, 2), round(run.mean_running), round(run.itl.mean, 3)
    (8.18, 82, 0.041)
    """
    planned = plan(
        *(arrival_rate, output_tokens, step_times, prompt_tokens, slots, blocks),
        *(Paged() if paged is None else paged, prefill, batching, limits, arrivals, requests, seed),
    )
    result = Run(planned.requests, planned.unit, run(planned, progress))
    if not result.response.count:
        raise ValueError(f"requests = {result.requests} is too few, or blocks: none was answered")
    return result
