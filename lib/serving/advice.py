"""The source's decision table: four conditions of a server, and what it tells to do about each."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from . import errors, formulas
from .service import LinearService

SPARE = Fraction(1, 2)
"""Utilisation below which the source sees too many replicas."""
CROWDED = Fraction(17, 20)
"""Utilisation above which the source sees instability near."""


@dataclass(frozen=True)
class State:
    """A server as the table sees it.

    Attributes
    ----------
    utilization : Fraction
        Load over capacity at its batch size, exactly.
    tail : float
        Percentile of the response time, perhaps ``inf`` [s].
    slo : float
        Limit on that percentile [s].
    """

    utilization: Fraction
    tail: float
    slo: float


@dataclass(frozen=True)
class Row:
    """One row of the table.

    Attributes
    ----------
    condition : str
        When it applies, in the source's symbols.
    action : str
        What to do.
    reason : str
        Why.
    applies : callable
        Whether it applies to a `State`.
    """

    condition: str
    action: str
    reason: str
    applies: Callable[[State], bool]


TABLE: tuple[Row, ...] = (
    Row(
        "B < B_min",
        "raise the batch size, or add replicas",
        "unstable",
        lambda state: state.utilization >= 1,
    ),
    Row(
        "T_P99 > SLO",
        "lower the batch size, or add replicas",
        "latency over target",
        lambda state: state.tail > state.slo,
    ),
    Row(
        "ρ < 0.5",
        "consider fewer replicas",
        "over-provisioned: cost",
        lambda state: state.utilization < SPARE,
    ),
    Row(
        "ρ > 0.85",
        "add replicas",
        "near instability",
        lambda state: state.utilization > CROWDED,
    ),
)
"""The rows in the source's order. A utilisation of exactly one is unstable, too."""


def advice(
    arrival_rate: float, batch: int, service: LinearService, slo: float, tail: float
) -> tuple[Row, ...]:
    """Return the rows of the source's table that apply to a server.

    Parameters
    ----------
    arrival_rate : float
        Arrival rate, at least 0 [requests/s].
    batch : int
        Batch size, at least 1 [requests].
    service : LinearService
        How long a batch takes.
    slo : float
        Limit on a percentile of the response time, above 0 [s].
    tail : float
        That percentile, at least 0; ``inf`` where it grows without bound [s].

    Returns
    -------
    tuple of Row
        Those that apply, in the order of the table; they may contradict each other.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If an argument is out of range.

    Notes
    -----
    Conditions on the utilisation are decided exactly. Source: Reddi et al., Inference
    Foundations, table of the decision framework; chapter 14.

    Examples
    --------
    >>> gpt3 = LinearService(t_fixed=0.050, t_req=0.0005)
    >>> [row.action for row in advice(100, 16, gpt3, slo=0.200, tail=0.268)]
    ['lower the batch size, or add replicas', 'consider fewer replicas']
    """
    if not isinstance(service, LinearService):
        raise TypeError(f"service must be a LinearService, got {service!r}")
    errors.number("arrival_rate", arrival_rate, at_least=0)
    size = errors.integer("batch", batch, at_least=1)
    rate, t_fixed, t_req = (
        errors.exact(name, number)
        for name, number in (
            ("arrival_rate", arrival_rate),
            ("t_fixed", service.t_fixed),
            ("t_req", service.t_req),
        )
    )
    load = formulas.utilization(rate, Fraction(size), t_fixed, t_req)
    state = State(load, _tail(tail), errors.number("slo", slo, above=0))
    return tuple(row for row in TABLE if row.applies(state))


def _tail(value: Any) -> float:
    if isinstance(value, (float, Decimal)) and value == math.inf:
        return math.inf
    return errors.number("tail", value, at_least=0)
