"""How many replicas a service needs: a trace, a model on its machine, and what is promised.

A `Replica` is the engine that a machine makes for the lengths of a trace: step times by
`serving.roofline`, corrected by what was measured, and the blocks that its memory holds. `least`
runs shares of the trace through it until the promise is kept. What is not known is drawn many
times by `scenarios`, and moved one at a time by `moved`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from . import measurements, roofline
from ._least import Size, least
from ._replica import Promise, Replica, alone, replica, simulate, tails
from ._scenarios import Scenarios, moved, scenarios, size, varied

__all__ = [
    "Promise",
    "Replica",
    "Scenarios",
    "Size",
    "alone",
    "least",
    "moved",
    "ratios",
    "replica",
    "scenarios",
    "simulate",
    "size",
    "tails",
    "varied",
]

LONG = 2048
"""Tokens of prompts in a batch from which on reading is work, and not the overhead of a pass."""


def ratios(names: Sequence[str] | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Measured times over the least times of `serving.roofline`, of published curves.

    Parameters
    ----------
    names : sequence of str, optional
        Names of `serving.measurements.curve_names` for which it is said what was run; by default
        all that have times of both kinds.

    Returns
    -------
    steps : ndarray, shape (n,)
        Of steps in the middle of the answers, one for each batch size of each curve [1].
    reading : ndarray, shape (k,)
        Of the first token, where prompts of a batch have 2048 tokens or more [1].

    Raises
    ------
    ValueError
        If a name is unknown, or nothing is said of what was run.
    """
    if names is None:
        known = (measurements.curve(name) for name in measurements.curve_names())
        names = [one.name for one in known if one.first_token is not None]
    steps, reading = [], []
    for name in names:
        data, run = measurements.curve(name), measurements.setup(name)
        where = (run.model, run.accelerator, data.batches)
        middle = data.input_tokens + data.output_tokens // 2
        steps.append(data.latency / roofline.decode_step(*where, middle, **run.options).total)
        least = roofline.prefill(*where, data.input_tokens, **run.options).total
        if data.first_token is not None:
            long = data.batches * data.input_tokens >= LONG
            reading.append((data.first_token / least)[long])
    return np.concatenate(steps), np.concatenate(reading)
