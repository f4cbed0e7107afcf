"""What is asked of a model server, and what follows for a single batch size."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import errors, kvcache, roofline
from .exact import FixedBatchQueue, GreedyQueue
from .roofline import Machine
from .service import LinearService

POLICIES = ("greedy", "fixed")
"""Take what waits up to the size, or wait until the size is full."""


@dataclass(frozen=True)
class Question:
    """What is served, on what, to whom, and what is promised.

    Parameters
    ----------
    machine : Machine
        The model on its devices, with its formats.
    arrival_rate : float
        Arrival rate, above 0 [requests/s].
    input_tokens, output_tokens : int
        Tokens of each prompt and of each answer, at least 1 [tokens].
    slo : float
        Limit on the percentile of the response time, above 0 [s].
    quantile : float
        Share of the requests that must be in time, above 0 and below 1 [1].
    token_slo : float, optional
        Limit on the time between two tokens of an answer, above 0 [s].
    policy : str
        ``"greedy"``: an idle server takes what waits, up to the size; ``"fixed"``: it waits until
        the size is full.
    service : LinearService, optional
        Measured times of a batch of whole answers; without it, those of `serving.roofline`.
    utilization : float
        Share of each device's memory that the engine may use, above 0 and at most 1 [1].
    reserve : int
        Memory of each device for activations and the runtime, at least 0 [bytes].

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If an argument is out of range, or prompt and answer are longer than the model's context.
    """

    machine: Machine
    arrival_rate: float
    input_tokens: int
    output_tokens: int
    slo: float
    quantile: float = 0.99
    token_slo: float | None = None
    policy: str = "greedy"
    service: LinearService | None = None
    utilization: float = 0.9
    reserve: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.machine, Machine):
            raise TypeError(f"machine must be a roofline.Machine, got {self.machine!r}")
        if self.service is not None and not isinstance(self.service, LinearService):
            raise TypeError(f"service must be a LinearService, got {self.service!r}")
        if self.policy not in POLICIES:
            raise ValueError(f"policy must be one of {', '.join(POLICIES)}, got {self.policy!r}")
        for name in ("arrival_rate", "slo"):
            errors.number(name, getattr(self, name), above=0)
        if errors.number("quantile", self.quantile, above=0) >= 1:
            raise ValueError(f"quantile must be less than 1, got {self.quantile!r}")
        if self.token_slo is not None:
            errors.number("token_slo", self.token_slo, above=0)
        for name in ("input_tokens", "output_tokens"):
            errors.integer(name, getattr(self, name), at_least=1)
        if self.tokens > self.machine.model.context:
            raise ValueError(
                f"input_tokens + output_tokens must be at most {self.machine.model.context}, the "
                f"context of {self.machine.model.name}, got {self.tokens}"
            )
        self.budget  # noqa: B018  what it refuses is refused here

    @property
    def tokens(self) -> int:
        """Tokens of a request when it ends [tokens]."""
        return int(self.input_tokens) + int(self.output_tokens)

    @cached_property
    def budget(self) -> kvcache.Budget:
        """Memory of each device for the cache."""
        return budget(self.machine, self.utilization, self.reserve)

    @cached_property
    def most(self) -> int:
        """Requests of full length whose caches fit at once [requests]."""
        return self.machine.layout.max_sequences(self.budget.cache, self.tokens)


def budget(machine: Machine, utilization: float, reserve: int) -> kvcache.Budget:
    """Memory of each device that its share of the weights leaves for the cache."""
    weights = machine.model.parameters * kvcache.BYTES[machine.dtype] / machine.devices
    return kvcache.memory_budget(
        machine.accelerator.memory, utilization, ceil(weights), reserve=reserve
    )


def options(machine: Machine) -> dict[str, Any]:
    """What the functions of `serving.roofline` take of a machine."""
    return {field.name: getattr(machine, field.name) for field in fields(machine)}


def times(question: Question, sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Time from the first token that a batch reads to the last one that it writes [s]."""
    if question.service is not None:
        return np.asarray(question.service.time(sizes))
    whole = roofline.answers(
        batch=sizes,
        input_tokens=question.input_tokens,
        output_tokens=question.output_tokens,
        **options(question.machine),
    )
    return np.asarray(whole.total)


def steps(question: Question, sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Least time between two tokens of the longest answer, whatever times were measured [s]."""
    whole = roofline.decode_step(batch=sizes, tokens=question.tokens, **options(question.machine))
    return np.asarray(whole.total)


def load(question: Question, size: int, time: float) -> Fraction:
    """Load over capacity with batches of a size that take a time, exactly."""
    rate = errors.exact("arrival_rate", question.arrival_rate)
    if question.service is None:
        return rate * errors.exact("time", time) / size
    fixed, each = question.service.t_fixed, question.service.t_req
    return rate * (errors.exact("t_fixed", fixed) / size + errors.exact("t_req", each))


def queue(
    policy: str, arrival_rate: float, size: int, line: LinearService
) -> FixedBatchQueue | GreedyQueue:
    """Law of the response times with batches of a size, or up to it, that take what a line says."""
    law = FixedBatchQueue if policy == "fixed" else GreedyQueue
    return law(arrival_rate, size, line)


def lines(question: Question, sizes: NDArray[np.int64]) -> list[LinearService]:
    """For each size the line that tells how long batches up to it take.

    Without measured times it is the chord from one request to the size. Times of
    `serving.roofline` bend upwards and lie below it, so that the law of greedy batches errs
    towards late answers; that of fixed ones uses the time at the size alone.
    """
    if question.service is not None:
        return [question.service] * sizes.size
    first, *lasts = times(question, np.array([1, *sizes])).tolist()
    slopes = [
        max(last - first, 0.0) / max(size - 1, 1)
        for size, last in zip(sizes.tolist(), lasts, strict=True)
    ]
    return [LinearService(max(first - slope, 0.0), slope) for slope in slopes]
