"""An engine as a machine makes it for the lengths of a trace, and shares of the trace run on it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import engine, errors, formulas, roofline
from ._capacity import largest
from ._question import budget, options
from .engine import Chunked, Pairs, Run
from .roofline import Machine
from .traces import Trace

Array = NDArray[np.float64]

BLOCK = 16
"""Tokens of a block, as of `serving.paging`."""
BESIDE = 32
"""Sequences beside which a step has room for prompts, if they leave it half of the limit's."""
ENOUGH = 2000
"""Requests from which a percentile is taken, if the trace has so many."""


@dataclass(frozen=True)
class Promise:
    """What users are promised.

    Parameters
    ----------
    first : float
        Limit on the time to the first token, above 0 [s].
    token : float
        Limit on the time from one token to the next, above 0 [s].
    quantile : float
        Share of the requests, and of the tokens, that must be within it, above 0 and below 1 [1].

    Raises
    ------
    TypeError
        If an argument is not a real number.
    ValueError
        If an argument is out of range.
    """

    first: float
    token: float
    quantile: float = 0.95

    def __post_init__(self) -> None:
        for name in ("first", "token"):
            errors.number(name, getattr(self, name), above=0)
        if errors.number("quantile", self.quantile, above=0) >= 1:
            raise ValueError(f"quantile must be below 1, got {self.quantile!r}")


@dataclass(frozen=True, eq=False)
class Replica:
    """An engine for one kind of traffic.

    Attributes
    ----------
    steps : ndarray, shape (n,)
        Time of a step by the number of sequences that get a token in it, 1 to n: no more run [s].
    token_time : float
        Time that each token of a prompt adds to a step [s].
    chunk : int
        Most tokens in a step, those of prompts and one for each running sequence; 0 if the promise
        leaves no room for prompts [tokens].
    blocks : int or None
        Blocks of its cache; None if all layers keep states [blocks].
    longest : int
        Longest request that it admits, prompt and answer; 0 if nothing fits [tokens].
    reason : str
        Why it admits no longer ones.
    """

    steps: Array
    token_time: float
    chunk: int
    blocks: int | None
    longest: int
    reason: str = ""

    def admits(self, trace: Trace) -> NDArray[np.bool_]:
        """Tell which requests of a trace are not too long.

        Parameters
        ----------
        trace : Trace
            The requests.

        Returns
        -------
        ndarray, shape (n,)
            Whether each is admitted [1].
        """
        return trace.input_tokens + np.maximum(trace.output_tokens, 1) <= self.longest

    def load(self, trace: Trace) -> float:
        """Replicas without which a trace cannot be worked off, by two bounds in closed form.

        Parameters
        ----------
        trace : Trace
            The traffic, of at least two moments.

        Returns
        -------
        float
            The larger of two: work over what a replica does with all its places taken, and
            prompts over what its steps read, one sequence beside them [1].

        Raises
        ------
        ValueError
            If all requests came at one moment, or steps have no room for prompts.

        Notes
        -----
        Source: chapter 17.
        """
        seen = trace.summary()
        each, reads = float(self.steps[-1]) / self.steps.size, self.token_time
        work = formulas.phase_load(seen.rate, seen.output_mean, each, reads * seen.input_mean)
        first = float(self.steps[0])
        full = first + reads * max(self.chunk - 1, 0)
        if full <= first:
            raise ValueError(f"steps must have room for prompts, got chunk = {self.chunk}")
        read = formulas.value(formulas.chunked_reading, seen.input_mean, full, first, reads)
        return float(max(work, seen.rate * read))


def replica(
    machine: Machine,
    trace: Trace,
    promise: Promise,
    step_ratio: float = 1.0,
    reading_ratio: float = 1.0,
    slots: int = 256,
    utilization: float = 0.9,
    reserve: int = 0,
) -> Replica:
    """Derive an engine from its machine, for the lengths of a trace.

    Parameters
    ----------
    machine : Machine
        The model on its devices, with its formats.
    trace : Trace
        Requests, whose lengths say what a step and a token of a prompt cost.
    promise : Promise
        Its limit between tokens says how many tokens of prompts a step may read.
    step_ratio, reading_ratio : float
        Time of a step, and of reading a prompt, over the least time of `serving.roofline`, above
        0 [1].
    slots : int
        Most sequences that run, from 1 to 1,000,000 [1].
    utilization : float
        Share of each device's memory that the engine may use, above 0 and at most 1 [1].
    reserve : int
        Memory of each device for activations and the runtime, at least 0 [bytes].

    Returns
    -------
    Replica
        The engine. If the weights leave no memory, it admits nothing and says so.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If an argument is out of range, or the trace has no request.

    Notes
    -----
    A step is taken at the mean number of tokens that a running sequence holds, and a prompt at
    the length at which a mean token of a prompt is read: for attention over everything the sums
    over the trace are those of its own lengths. A step reads as many tokens of prompts as keep
    the limit beside 1 to 32 sequences, or beside fewer that take half of what is left of it.
    """
    for name, kind, given in (
        ("machine", Machine, machine),
        ("trace", Trace, trace),
        ("promise", Promise, promise),
    ):
        if not isinstance(given, kind):
            raise TypeError(f"{name} must be a {kind.__name__}, got {given!r}")
    step, read = (
        errors.number(name, value, above=0)
        for name, value in (("step_ratio", step_ratio), ("reading_ratio", reading_ratio))
    )
    most = errors.integer("slots", slots, at_least=1)
    errors.number("slots", slots, at_most=10**6)
    if not trace.times.size:
        raise ValueError(f"trace must have a request, {trace.path} has none")
    room, layout, context = budget(machine, utilization, reserve), machine.layout, _context(machine)
    longest = largest(lambda tokens: layout.max_sequences(room.cache, tokens) > 0, context)
    most = min(most, max(1, layout.max_sequences(room.cache, 1)))
    held, met = _lengths(trace)
    held, met = min(held, context), min(met, context)
    what = options(machine)
    least = roofline.decode_step(batch=np.arange(1.0, most + 1), tokens=held, **what)
    one = roofline.prefill(batch=1, tokens=met, **what)
    steps = step * np.asarray(least.total)
    work = float(one.matmul + max(one.read_cache, one.attention) + one.traffic)
    each = read * work / met
    return Replica(
        steps=steps,
        token_time=each,
        chunk=_chunk(steps, each, promise.token),
        blocks=_blocks(room.cache, layout.bytes_per_token, longest),
        longest=longest,
        reason=room.reason or _ends(longest, context, machine),
    )


def _context(machine: Machine) -> int:
    return min(machine.model.context, machine.layout.context or machine.model.context)


def _lengths(trace: Trace) -> tuple[int, int]:
    """Tokens that a running sequence holds on average, and length that a prompt's token sees."""
    prompts, answers = trace.input_tokens.astype(float), np.maximum(trace.output_tokens, 1.0)
    held = float((answers * (prompts + (answers + 1) / 2)).sum() / answers.sum())
    met = float((prompts**2).sum() / prompts.sum()) if prompts.any() else 1.0
    return max(1, round(held)), max(1, round(met))


def _chunk(steps: Array, each: float, limit: float) -> int:
    """Most tokens of a step that keeps a limit with few sequences in it and with some; or 0."""
    if steps[0] >= limit:
        return 0
    some = np.searchsorted(steps[:BESIDE], (steps[0] + limit) / 2, side="right")
    beside = np.arange(1, some + 1)
    return int(np.minimum(beside + (limit - steps[:some]) / each, 10**8).min())


def _blocks(memory: int, token: int, longest: int) -> int | None:
    """Blocks as if no window were full, at least those of the longest request."""
    return max(memory // (BLOCK * token), -(-(longest + 1) // BLOCK), 1) if token else None


def _ends(longest: int, context: int, machine: Machine) -> str:
    if longest == context:
        return f"the context of {machine.model.name} is {context} tokens"
    return f"the cache of {machine.devices} {machine.accelerator.name} holds {longest} tokens"


def simulate(replica: Replica, trace: Trace, share: float = 1.0, seed: int = 0) -> Run:
    """Run a share of a trace, drawn at random, through one replica.

    Parameters
    ----------
    replica : Replica
        The engine.
    trace : Trace
        All requests; those that are longer than it admits are left out.
    share : float
        Probability that a request goes to this replica, above 0 and at most 1 [1].
    seed : int
        Seed of the routing, at least 0 [1].

    Returns
    -------
    Run
        What was measured. If the share has few requests, those of other replicas follow after
        they are done.

    Raises
    ------
    TypeError
        If an argument is not a real number.
    ValueError
        If an argument is out of range, or no request is left.

    Notes
    -----
    A smaller share is a part of a larger one of the same seed.
    """
    part = errors.number("share", share, above=0, at_most=1)
    fits = _some(replica, trace)
    marks = np.random.default_rng(errors.integer("seed", seed, at_least=0)).random(fits.size)
    parts = min(int(1 / part), math.ceil(ENOUGH / (part * fits.size)))
    turn = (marks / part).astype(np.int64)
    chosen = np.flatnonzero(fits & (turn < parts))
    if not chosen.size:
        chosen, turn = np.flatnonzero(fits)[:1], np.zeros_like(turn)
    chosen = chosen[np.argsort(turn[chosen], kind="stable")]
    return _run(replica, trace, chosen, trace.times[chosen] + turn[chosen] * _apart(replica, trace))


def alone(replica: Replica, trace: Trace) -> Run:
    """Run each request through a replica of its own: what no number of replicas can better.

    Parameters
    ----------
    replica : Replica
        The engine.
    trace : Trace
        All requests; those that are longer than it admits are left out.

    Returns
    -------
    Run
        What was measured.

    Raises
    ------
    ValueError
        If no request is left.
    """
    fits = np.flatnonzero(_some(replica, trace))
    most = 1 + float(trace.output_tokens[fits].max() + trace.input_tokens[fits].max())
    each = most * (float(replica.steps[0]) + replica.token_time)
    return _run(replica, trace, fits, each * np.arange(fits.size))


def _some(replica: Replica, trace: Trace) -> NDArray[np.bool_]:
    """Which requests are admitted, if there are any."""
    fits = replica.admits(trace)
    if not fits.any():
        raise ValueError(f"trace must have a request of at most {replica.longest} tokens")
    return fits


def _apart(replica: Replica, trace: Trace) -> float:
    """Time after which all work of a trace is done, even one request after the other, and twice."""
    first = float(replica.steps[0])
    writing = first * float((trace.output_tokens + 2.0).sum())
    piece = max(1, replica.chunk // 2)
    reading = (replica.token_time + first / piece) * float(trace.input_tokens.sum())
    return float(trace.times[-1]) + 2 * (writing + reading)


def _run(replica: Replica, trace: Trace, chosen: NDArray[np.int64], times: Array) -> Run:
    pairs = Pairs(trace.input_tokens[chosen], np.maximum(trace.output_tokens[chosen], 1), True)
    return engine.simulate(
        *(None, pairs, replica.steps),
        slots=replica.steps.size,
        blocks=replica.blocks,
        prefill=Chunked(replica.token_time, max(1, replica.chunk)),
        arrivals=times,
        requests=max(100, chosen.size),
        progress=False,
    )


def tails(replica: Replica, trace: Trace, promise: Promise, run: Run) -> tuple[float, float]:
    """Percentiles of the two times that are promised; who was not admitted waits for ever.

    Parameters
    ----------
    replica : Replica
        The engine.
    trace : Trace
        All requests.
    promise : Promise
        Its quantile.
    run : Run
        What was measured of them.

    Returns
    -------
    tuple of float
        Time to the first token, and from a token to the next [s].
    """
    fits = replica.admits(trace)
    share = promise.quantile / float(fits.mean())
    first = run.ttft.quantile(share) if share <= 1 else math.inf
    return first, run.itl.quantile(promise.quantile) if run.itl.count else 0.0
