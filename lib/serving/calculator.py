"""Two calculators for a page without a kernel: which batch to take, and how much fits.

Both are charts of `serving.live`. What a formula or a count gives, the page computes exactly; what
only an exact queue gives, it interpolates in tables and refuses outside of them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from . import _fit, _tabulated, formulas, live
from ._quantity import Quantity
from .live import Chart, Curve, Mark

LARGEST_BATCH = 256
ACCURACY = _tabulated.ACCURACY
"""Largest relative error of an interpolated response time [1]."""
MOST_TOKENS = 2**20


def batch() -> Chart:
    """Make the chart that chooses a batch for a rate, a server and a promise.

    Returns
    -------
    Chart
        Response times against the size of fixed batches, those of a greedy server, and what
        follows for a limit on the 99th percentile.

    Notes
    -----
    Interpolated response times are within 2 % of `serving.exact`, which the tests draw points to
    contradict. Source: chapters 5 to 8.
    """
    planned = live.of(formulas.utilization) / "utilization_target"
    every = range(1, LARGEST_BATCH + 1)
    stable = live.of(formulas.surrogate_total)
    terms = {
        "least": live.best("batch", every, _where(stable) + "batch"),
        "planned": live.best("batch", every, _where(stable) + "batch", [planned]),
        # at most twice the least batch, which the page looks at first
        "surrogate": live.best("batch", range(1, 2 * LARGEST_BATCH + 1), stable),
        "fixedMean": _fixed("mean"),
        "fixedTail": _fixed("p99"),
        "greedyMean": _greedy("mean"),
        "greedyTail": _greedy("p99"),
    }
    curves = [
        Curve("response_limit", "limit for 99 in 100", "limit"),
        Curve(terms["fixedTail"], "fixed batches, 99 in 100", "fixed"),
        Curve(terms["fixedMean"], "fixed batches, mean", "fixed", dashed=True),
        Curve(terms["greedyTail"], "what waits, 99 in 100", "greedy"),
        Curve(terms["greedyMean"], "what waits, mean", "greedy", dashed=True),
        Curve(stable, "surrogate, mean", "surrogate", dashed=True),
    ]
    caps = sorted(_tabulated.LINES["greedy"]["max_batch"], reverse=True)
    return live.chart(
        "Which batch keeps the promise?",
        "batch",
        curves,
        {
            "batch": (1, LARGEST_BATCH),
            "arrival_rate": (0.1, 2000.0),
            "t_fixed": (0.001, 2.0),
            "t_req": (0.00001, 0.05),
            "response_limit": (0.001, 60.0),
            "utilization_target": (0.3, 0.99),
        },
        {
            "batch": 7,
            "arrival_rate": 100.0,
            "t_fixed": 0.050,
            "t_req": 0.0005,
            "response_limit": 0.2,
            "utilization_target": 0.9,
            "max_batch": caps[0],
        },
        y="response time",
        unit="ms",
        log_x=True,
        log_y=True,
        marks=[Mark("target load", terms["planned"], color="limit")],
        presets={"cap of a server that takes what waits": {f"{n}": {"max_batch": n} for n in caps}},
        units={"utilization_target": "%"},
        verdict=live.Verdict("batch", terms),
        data={"queues": {"accuracy": _tabulated.ACCURACY}},
        note="Exact queues with Poisson arrivals, interpolated in tables: response times within "
        "2 % where they are shown, for loads from 1 % to 99 %. Elsewhere the page hands over to "
        "the notebook.",
        name="batch",
    )


def fit() -> Chart:
    """Make the chart that counts the sequences whose cache fits.

    Returns
    -------
    Chart
        Sequences against their length, for a model, an accelerator and formats of the catalogue.

    Notes
    -----
    The page counts as `serving.kvcache` does, in whole bytes. Source: chapters 10 to 12.
    """
    presets = _fit.presets()
    first = {n: x for options in presets.values() for n, x in next(iter(options.values())).items()}
    count = live.fit("count")
    return live.chart(
        "How many sequences fit?",
        "tokens",
        [Curve(count, "sequences that fit", "cache")],
        {"tokens": (1, MOST_TOKENS)},
        first | {"tokens": 2048},
        y="sequences",
        log_x=True,
        log_y=True,
        bottom=0.5,
        presets=presets,
        verdict=live.Verdict("fit", {"count": count}, strict=True),
        data={"catalog": _fit.data()},
        note="Weights are split evenly over the devices; activations and what the engine's "
        "runtime holds are not counted, so an engine has somewhat less. Caches are kept in blocks "
        "of 16 tokens.",
        name="fit",
    )


def _where(quantity: Quantity) -> Quantity:
    """Zero where a quantity has a value, and without one for the same reason elsewhere."""
    return quantity * 0


def _fixed(what: str) -> Quantity:
    """Response time of fixed batches, from its table."""
    load = live.of(formulas.utilization)
    scaled = _table("fixed", what, utilization=load)
    arrivals = (scaled / (1 - load) + load) * "batch"  # time counted in arrivals
    return _where(live.of(formulas.surrogate_total)) + arrivals / "arrival_rate"


def _greedy(what: str) -> Quantity:
    """Response time of a server that takes what waits, from its table."""
    capped = live.of(formulas.surrogate_total, batch="max_batch")
    own = live.quantity("arrival_rate") * "t_req"
    least = live.of(formulas.min_batch, utilization_target=1)
    fill = least / "max_batch"
    scaled = _table("greedy", what, fill=fill, own_load=own)
    arrivals = scaled * (least + 1) / ((1 - fill) * (1 - own))
    return _where(capped) + arrivals / "arrival_rate"


def _table(policy: str, what: str, **given: Any) -> Quantity:
    function = _tabulated.FUNCTIONS[policy]

    @lru_cache(maxsize=1024)
    def entry(**point: float) -> float:
        """Compute one entry, for the still picture."""
        value = function(what, **point)  # type: ignore[operator]
        return float("inf") if value is None else float(value)

    entries = _tabulated.read()[policy][what]
    return live.grid(entry, _tabulated.LINES[policy], logarithmic=False, entries=entries, **given)
