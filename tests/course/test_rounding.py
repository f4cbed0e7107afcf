"""An honest solution in floats loses nothing to their last digits, however it writes the load."""

from __future__ import annotations

from fractions import Fraction

import pytest

from checks import optimum, service_time
from course.marking import Draw, assess
from made import opened

SEEDS = 25
FULL = [  # the server is full
    "arrival_rate * (t_fixed + t_req * batch) / batch >= 1",
    "arrival_rate / batch * (t_fixed + batch * t_req) >= 1",
    "arrival_rate / (batch / (t_fixed + t_req * batch)) >= 1",
    "arrival_rate >= batch / (t_fixed + t_req * batch)",
    "(t_fixed + t_req * batch) >= batch / arrival_rate",
    "arrival_rate * t_fixed / batch + arrival_rate * t_req >= 1",
    "arrival_rate * (t_fixed / batch + t_req) >= 1",
    "1 - arrival_rate * (t_fixed + t_req * batch) / batch <= 0",
    "arrival_rate * t_req >= 1 or batch <= arrival_rate * t_fixed / (1 - arrival_rate * t_req)",
]
LOAD = """
def load(arrival_rate, batch, t_fixed, t_req):
    if {full}:
        raise ValueError("too much")
    return arrival_rate * (t_fixed + t_req * batch) / batch
"""
RESPONSE = """
def response(arrival_rate, batch, t_fixed, t_req):
    if {full}:
        raise ValueError("too much")
    time = t_fixed + t_req * batch
    load = arrival_rate * time / batch
    return time + (batch - 1) / 2 / arrival_rate + load * time / 2 / (1 - load)
"""


@pytest.mark.parametrize("full", FULL)
@pytest.mark.parametrize(
    ("task", "code"),
    [(service_time.TASKS["load"], LOAD), (optimum.TASKS["response"], RESPONSE)],
    ids=["load", "response"],
)
def test_every_way_to_write_the_load_gets_all_points(task, code: str, full: str) -> None:
    with opened(task, [code.format(full=full)]) as student:
        for seed in range(SEEDS):
            result = assess(task, student, Draw.of(str(seed), "ada"))
            assert result.points == task.points, (seed, result.lines)


def test_a_critical_load_is_one_exactly_and_seldom_twice_the_same() -> None:
    drawn = {Draw(seed).critical() for seed in range(100)}
    assert len(drawn) > 50
    for rate, batch, t_fixed, t_req in drawn:
        assert min(rate, t_fixed, t_req) > 0
        assert batch >= 2
        assert Fraction(rate) * (Fraction(t_fixed) + Fraction(t_req) * batch) == batch
