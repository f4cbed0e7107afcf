"""Exact queues over grids of numbers without a unit, for pages that cannot compute them.

A queue of full batches has two numbers, batch size and load, once time is counted in arrivals. A
server that takes what waits has three: its cap, its fill, which is the least batch that keeps up
over the cap, and the load of the requests' own times. `tools/tabulate.py` writes the tables.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from itertools import product
from typing import Any

import numpy as np

from .exact import FixedBatchQueue, GreedyQueue
from .service import LinearService

FILE = "queue-tables.json"
SHARE = 0.99
"""Share of the requests that the tabulated quantile covers."""
DIGITS = 5
ACCURACY = 0.02
"""Relative error that an interpolated response time may have; it is half of that, or less."""
QUIET = 0.25
"""Load by lone requests below which a greedy queue is left out: its quantiles jump there."""
_KINK = 0.1348
"""Load at which (1 - load) e^load = 0.99: there the P99 of an M/D/1 wait is one service time."""


def _lines() -> dict[str, dict[str, list[float]]]:
    near = [0.91, 0.92, 0.93, 0.94, 0.95, 0.96, 0.97, 0.975, 0.98, 0.985, 0.99]
    loads = [0.01, 0.02, 0.05, 0.075, 0.1, 0.12, _KINK, 0.15]
    loads += [k / 20 for k in range(4, 15)] + [0.725, 0.75, 0.775, 0.8, 0.825, 0.85, 0.875, 0.9]
    sizes = {*range(1, 17), *(round(16 * 2 ** (k / 8)) for k in range(1, 33))}
    fills = [float(f"{one:.4g}") for one in np.geomspace(0.003, 0.1, 17)]
    fills += [0.115, 0.13, 0.15, 0.175, 0.2, 0.225, 0.25, 0.275, *(k / 20 for k in range(6, 17))]
    own = [k / 40 for k in range(9)] + [k / 20 for k in range(5, 18)]
    return {
        "fixed": {"batch": sorted(sizes), "utilization": loads + near},
        "greedy": {
            "max_batch": [8, 16, 32, 64],
            "fill": [*fills, 0.83, 0.86, 0.88, 0.9, *near],
            "own_load": [*own, 0.875, 0.9, 0.925, 0.95],
        },
    }


LINES = _lines()
"""Grid lines of each table, by the number that they belong to [any]."""


def fixed(what: str, batch: int, utilization: float) -> float:
    """Mean or quantile of full batches, made smooth.

    The response in batches' arrivals, less the service, times what the load leaves.
    """
    queue = FixedBatchQueue(1, batch, LinearService(batch * utilization, 0))
    return (1 - utilization) * (_taken(queue, what) / batch - utilization)


def greedy(what: str, max_batch: int, fill: float, own_load: float) -> float | None:
    """Mean or quantile of a greedy server, made smooth; None where it is hardly busy.

    The response in arrivals, times what the load at the cap leaves, over one more than the least
    batch.
    """
    least = fill * max_batch
    t_fixed = least * (1 - own_load)
    if t_fixed + own_load < QUIET:
        return None
    queue = GreedyQueue(1, max_batch, LinearService(t_fixed, own_load))
    return _taken(queue, what) * (1 - fill) * (1 - own_load) / (least + 1)


def _taken(queue: FixedBatchQueue | GreedyQueue, what: str) -> float:
    return float(queue.mean if what == "mean" else queue.quantile(SHARE))


FUNCTIONS = {"fixed": fixed, "greedy": greedy}
"""What is tabulated, by the policy: ``"mean"`` and ``"p99"`` of each."""


def computed(policy: str, what: str, **point: float) -> float | None:
    """One entry, as the file has it."""
    value = FUNCTIONS[policy](what, **point)  # type: ignore[operator]
    return None if value is None else float(f"{value:.{DIGITS}g}")


def tables() -> dict[str, dict[str, list[float | None]]]:
    """Compute all entries; this takes some minutes."""
    return {
        policy: {
            what: [
                computed(policy, what, **dict(zip(lines, place, strict=True)))
                for place in product(*lines.values())
            ]
            for what in ("mean", "p99")
        }
        for policy, lines in LINES.items()
    }


@cache
def read() -> Mapping[str, Mapping[str, Any]]:
    """Read the entries that the file has, by policy and by what they are."""
    text = resources.files(__package__).joinpath("data", FILE).read_text("utf-8")
    return dict(json.loads(text))
