"""Checked arguments of a simulated engine, in units of a step of one sequence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _engine_state, _lengths, _plan, _random, _steps, errors
from .errors import UnstableError
from .paging import Paged

LARGEST_BLOCK = 10**6
BATCHING = ("continuous", "static", "padded")
"""Whether sequences join a running batch; of a static one, whether finished rows still cost."""


def _check(reading: Chunked | Whole) -> None:
    errors.number("token_time", reading.token_time, at_least=0)
    if reading.budget is not None:
        errors.integer("budget", reading.budget, at_least=1)


@dataclass(frozen=True)
class Chunked:
    """Prompts are read beside the tokens of running sequences, in pieces if need be.

    Parameters
    ----------
    token_time : float
        Time that each token of a prompt adds to a step, at least 0 [s].
    budget : int or None
        Most tokens in a step: one for each sequence that gets a token, the rest from prompts in
        order of arrival, at least 1. None for no end: prompts are read at once [tokens].

    Raises
    ------
    TypeError
        If an argument is not a real number.
    ValueError
        If an argument is out of range.

    Notes
    -----
    Source: Agrawal et al. 2024.
    """

    token_time: float
    budget: int | None = None
    __post_init__ = _check


@dataclass(frozen=True)
class Whole:
    """Prompts are read first and whole, in steps of their own, in which nobody else gets a token.

    Parameters
    ----------
    token_time : float
        Time that each token of a prompt adds to a step, at least 0 [s].
    budget : int or None
        Most tokens of prompts in a step, if that is enough for one; at least 1. None for no
        end [tokens].

    Raises
    ------
    TypeError
        If an argument is not a real number.
    ValueError
        If an argument is out of range.

    Notes
    -----
    Source: Yu et al. 2022.
    """

    token_time: float
    budget: int | None = None
    __post_init__ = _check


@dataclass(frozen=True)
class Plan:
    """Checked arguments of a run."""

    unit: float
    rules: _engine_state.Rules
    table: NDArray[np.float64]
    prompts: Any
    outputs: Any
    seed: int
    parts: tuple[int, ...]
    warm_up: int
    chunk: int
    scale: float
    arrivals: Any
    trace: NDArray[np.float64] | None

    @property
    def requests(self) -> int:
        """Requests that are measured."""
        return sum(self.parts[self.warm_up :])


def plan(
    arrival_rate: Any,
    output_tokens: Any,
    step_times: Any,
    prompt_tokens: Any,
    slots: Any,
    blocks: Any,
    paged: Any,
    prefill: Any,
    batching: Any,
    limits: Any,
    arrivals: Any,
    requests: Any,
    seed: Any,
) -> Plan:
    """Check the arguments of a simulation; errors name them."""
    steps = _steps.read(step_times)
    unit = float(steps.time(1))
    pairs = isinstance(output_tokens, _lengths.Pairs)
    if pairs:
        output_mean = float(np.mean(output_tokens.outputs))
        prompt_mean = float(np.mean(output_tokens.prompts))
        if prompt_tokens is not None and prompt_tokens != 0:
            raise ValueError(
                f"prompt_tokens must be left out where output_tokens are Pairs, which have "
                f"prompts, got {prompt_tokens!r}"
            )
    else:
        output_mean = _lengths.check("output_tokens", output_tokens, 1)
        prompt_mean = _lengths.check("prompt_tokens", prompt_tokens, 0)
    rules = _rules(steps, unit, slots, blocks, paged, prefill, batching, limits)
    count = errors.integer("requests", requests, at_least=_plan.PARTS + _plan.WARM_UP)
    if count > _plan.MOST_REQUESTS:
        raise ValueError(f"requests must be at most {_plan.MOST_REQUESTS}, got {requests!r}")
    number = errors.integer("seed", seed, at_least=0)
    given = isinstance(arrivals, (type(None), *_random.ARRIVALS))
    if given:
        rate = errors.number("arrival_rate", arrival_rate, above=0)
        load = rate * unit
        if not 1 <= load * _plan.MOST_APART <= _plan.MOST_APART**2:
            raise ValueError(
                f"arrival_rate must be 1e-9 to 1e9 times 1 / {unit:.6g} s, for float64 to tell "
                f"gaps from steps, got {arrival_rate!r}"
            )
        most = None if slots is None else rules.slots
        reading = getattr(prefill, "token_time", 0)
        check_load(arrival_rate, output_mean, prompt_mean, steps, most, reading)
        length = count // (_plan.PARTS + _plan.WARM_UP)
        warm_up = count - length * _plan.PARTS
        parts, scale, trace = (warm_up, *[length] * _plan.PARTS), 1 / load, None
    else:
        trace = _plan._gaps(arrival_rate, arrivals, count, unit)
        edges = np.linspace(0, trace.size, min(_plan.PARTS, trace.size) + 1).astype(int)
        parts, warm_up, scale = tuple(np.diff(edges).tolist()), 0, 1.0
        load = trace.size / max(1.0, float(trace.sum()))
    return Plan(
        *(unit, rules, steps.table / unit, prompt_tokens, output_tokens, number, parts, int(given)),
        min(_plan.CHUNK, max(1, int(load * 400_000_000))),
        *(scale, arrivals if given else None, trace),
    )


def _rules(
    steps: _steps.Steps,
    unit: float,
    slots: Any,
    blocks: Any,
    paged: Any,
    prefill: Any,
    batching: Any,
    limits: Any,
) -> _engine_state.Rules:
    if not isinstance(paged, Paged):
        raise TypeError(f"paged must be Paged of paging, got {paged!r}")
    if paged.block_size > LARGEST_BLOCK:
        raise ValueError(f"paged must have blocks of {LARGEST_BLOCK} tokens at most, got {paged!r}")
    if not isinstance(prefill, (type(None), Chunked, Whole)):
        raise TypeError(f"prefill must be None, Chunked or Whole, got {prefill!r}")
    if not isinstance(batching, str) or batching not in BATCHING:
        raise ValueError(f"batching must be one of {', '.join(BATCHING)}, got {batching!r}")
    most = _plan.ENDLESS if slots is None else errors.integer("slots", slots, at_least=1)
    if limits is None:
        limits = (math.inf, math.inf)
    elif errors.is_scalar(limits) or len(limits) != 2:
        raise TypeError(f"limits must be a pair of times, got {limits!r}")
    first, each = (errors.duration("limits", limit) / unit for limit in limits)
    budget = getattr(prefill, "budget", None)
    return _engine_state.Rules(
        slope=steps.slope / unit,
        reading=float(getattr(prefill, "token_time", 0.0)) / unit,
        slots=min(most, _plan.ENDLESS),
        blocks=0
        if blocks is None
        else min(errors.integer("blocks", blocks, at_least=1), _plan.ENDLESS),
        block_size=int(paged.block_size),
        spare=min(int(paged.spare), _plan.ENDLESS),
        budget=_plan.ENDLESS if budget is None else min(int(budget), _plan.ENDLESS),
        whole=isinstance(prefill, Whole),
        static=BATCHING.index(batching),
        first_limit=first,
        each_limit=each,
    )


def check_load(
    rate: Any, output: Any, prompt: Any, steps: _steps.Steps, slots: int | None, reading: Any
) -> None:
    """Raise UnstableError if an engine that is always full is too slow, and say what is enough."""
    arriving, tokens = errors.exact("arrival_rate", rate), errors.exact("output_tokens", output)
    read = errors.exact("prompt_tokens", prompt) * errors.exact("prefill", reading)
    growing = tokens * steps.growth + read
    work = growing if slots is None else tokens * steps.exactly(slots) / slots + read
    if arriving * work < 1:
        return
    more = ""
    if slots is not None and arriving * growing < 1:
        more = f"slots = {_least_slots(arriving, tokens, read, steps)}, or "
    raise UnstableError(
        f"arrival_rate = {rate!r} is too much: answers of {errors.brief(tokens)} tokens on average "
        f"with slots = {slots} take {errors.brief(arriving * work)} times the capacity; {more}an "
        f"arrival rate below {errors.brief(1 / work)} requests/s would be enough"
    )


def _least_slots(arriving: Fraction, tokens: Fraction, read: Fraction, steps: _steps.Steps) -> int:
    """Fewest slots that bear a load, beyond the list of step times by its line."""
    last = steps.table.size - 1
    for count in range(1, last + 1):
        if arriving * (tokens * steps.exactly(count) / count + read) < 1:
            return count
    rest = steps.exactly(last) - steps.growth * last  # a step takes rest + growth n
    room = 1 - arriving * (tokens * steps.growth + read)
    return max(last + 1, math.floor(arriving * tokens * rest / room) + 1)
