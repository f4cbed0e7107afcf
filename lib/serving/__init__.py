"""The mathematics of serving models: queues, caches and one serving constraint.

Times are in seconds, rates in requests a second, sizes in bytes.
"""

from . import (
    advice,
    attention,
    catalog,
    constraint,
    decision,
    engine,
    errors,
    exact,
    fleet,
    formulas,
    kvcache,
    measurements,
    notation,
    paging,
    poisson,
    policies,
    queues,
    service,
    simulation,
    speculation,
    surrogate,
    traces,
    tradeoff,
    traffic,
    window,
)
from .errors import UnstableError
from .service import LinearService

__all__ = [
    "LinearService",
    "UnstableError",
    "advice",
    "attention",
    "catalog",
    "constraint",
    "decision",
    "engine",
    "errors",
    "exact",
    "fleet",
    "formulas",
    "kvcache",
    "measurements",
    "notation",
    "paging",
    "poisson",
    "policies",
    "queues",
    "service",
    "simulation",
    "speculation",
    "surrogate",
    "traces",
    "tradeoff",
    "traffic",
    "window",
]
