"""Assignment 1: what each way of getting it wrong, or of cheating, is worth."""

from __future__ import annotations

import pytest

from checks.service_time import TASKS
from course.marking import Draw, assess, mark
from made import opened

EIGHT = "def share_batch(*_): return 8\ndef fit(*_): return 8\ndef load(*_): return 8"
PAIR = "def fit(*_): return 8, 8"
LOOKUP = """
def share_batch(share, t_fixed, t_req): return t_fixed / t_req
def fit(batches, times_ms): return 0.050, 0.0005
def load(arrival_rate, batch, t_fixed, t_req): return 0.3625
"""
SWAPPED = """
import numpy as np
def fit(batches, times_ms):
    slope, intercept = np.polyfit(batches, times_ms, 1)
    return intercept, slope
def load(arrival_rate, batch, t_fixed, t_req):
    share = arrival_rate * (t_fixed + t_req * batch) / 1000 / batch
    if share >= 1:
        raise ValueError("too much")
    return share
"""
UNCHECKED = """
def load(arrival_rate, batch, t_fixed, t_req):
    return arrival_rate * (t_fixed + t_req * batch) / batch
"""
TOO_STRICT = """
def load(arrival_rate, batch, t_fixed, t_req):
    raise ValueError("never")
"""
CLOSED_AT_ONE = """
def load(arrival_rate, batch, t_fixed, t_req):
    share = arrival_rate * (t_fixed + t_req * batch) / batch
    if share > 1:
        raise ValueError("too much")
    return share
"""
ENDS = """
import numpy as np
def fit(batches, times_ms):
    slope = (times_ms[-1] - times_ms[0]) / (batches[-1] - batches[0]) / 1000
    return times_ms[0] / 1000 - slope * batches[0], slope
"""
INVERTED = "def share_batch(share, t_fixed, t_req): return (1 - share) / share * t_fixed / t_req"
TWICE = "def share_batch(share, t_fixed, t_req): return 2 * share * t_fixed / t_req"
OTHER_FORM = """
def share_batch(share, t_fixed, t_req): return t_fixed / (t_req / share - t_req)
"""
TEXT = "def share_batch(*_): return 'share * t_fixed / t_req / (1 - share)'"


@pytest.mark.parametrize(
    ("code", "task", "points"),
    [
        (EIGHT, "share-batch", 0),
        (EIGHT, "fit", 0),
        (EIGHT, "load", 0),
        (PAIR, "fit", 0),
        (LOOKUP, "share-batch", 0.25),
        (LOOKUP, "fit", 0.5),
        (LOOKUP, "load", 0.25),
        (SWAPPED, "fit", 0.5),  # what scales, scales in any unit
        (SWAPPED, "load", 0.25),
        (UNCHECKED, "load", 1),
        (TOO_STRICT, "load", 0),
        (CLOSED_AT_ONE, "load", 1.5),
        (ENDS, "fit", 2),  # a line through the outer points: right where points lie on a line
        (INVERTED, "share-batch", 0.25),
        (TWICE, "share-batch", 0.25),
        (OTHER_FORM, "share-batch", 3),
        (TEXT, "share-batch", 0),
    ],
)
def test_marks(code: str, task: str, points: float) -> None:
    with opened(TASKS[task], [code]) as one:
        for student in ("ada", "béla"):
            result = assess(TASKS[task], one, Draw.of("a secret", student, task))
            assert result.points == points, result.lines


def test_swapped_units_are_told_by_name() -> None:
    lines = mark(TASKS["fit"], [SWAPPED], Draw.of("a secret", "ada", "fit")).lines
    assert "off by 1000: check ms and s" in lines[0]
