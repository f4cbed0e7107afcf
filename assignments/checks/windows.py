"""Assignment 2: the batches that a timeout window forms."""

from __future__ import annotations

import math

import numpy as np

from course.marking import (
    Draw,
    Property,
    Student,
    Task,
    Wrong,
    close,
    number,
    refused,
    same_expression,
    symbols,
)
from serving import window

NAMES = ("arrival_rate", "max_wait")


def _mean_of_three(arrival_rate: float, max_wait: float) -> float:
    return window.form(arrival_rate, 3, max_wait).mean_size


def _no_window(student: Student, _: Draw) -> None:
    got = student.value("mean_of_three", *symbols("arrival_rate"), 0)
    same_expression(got, lambda arrival_rate: 1.0, [{"arrival_rate": 7.0}], "the mean batch")


def _some(student: Student, _: Draw) -> None:
    got = student.value("mean_of_three", 100, 0.020)
    same_expression(got, lambda: _mean_of_three(100, 0.020), [{}], "the mean batch")


def _three(student: Student, draw: Draw) -> None:
    got = student.value("mean_of_three", *symbols(*NAMES))
    points = []
    for _ in range(40):
        rate = draw.log(5, 500)
        points.append({"arrival_rate": rate, "max_wait": draw.uniform(0.05, 6) / rate})
    same_expression(got, _mean_of_three, points, "the mean batch")


def _window(draw: Draw) -> tuple[float, int, float]:
    """A window in which some batches fill and some time out."""
    rate, cap = draw.log(5, 800), draw.randint(2, 40)
    return rate, cap, float(f"{draw.uniform(0.4, 1.6) * cap / rate:.4g}")


def _example(student: Student, _: Draw) -> None:
    for case in ((100, 2, 0.01), (250, 12, 0.04)):
        close(student.value("mean_batch", *case), window.form(*case).mean_size, "the mean batch")


def _agrees(student: Student, draw: Draw) -> None:
    for _ in range(5):
        case = _window(draw)
        close(student.value("mean_batch", *case), window.form(*case).mean_size, "the mean batch")


def _drawn(student: Student, draw: Draw) -> None:
    """Against windows drawn one by one: the sixth standard error is beyond chance."""
    rate, cap = draw.log(5, 800), draw.randint(4, 40)
    wait = draw.uniform(0.9, 1.1) * cap / rate  # some fill and some time out
    rng = np.random.default_rng(draw.getrandbits(32))
    further = rng.exponential(1 / rate, (20_000, cap - 1)).cumsum(axis=1)
    sizes = 1 + (further < wait).sum(axis=1)
    got = number(student.value("mean_batch", rate, cap, wait), "the mean batch")
    if abs(got - sizes.mean()) > 6 * sizes.std() / math.sqrt(sizes.size):
        raise Wrong("windows that were drawn one by one have another mean batch")


def _limits(student: Student, draw: Draw) -> None:
    rate, cap, wait = _window(draw)
    close(student.value("mean_batch", rate, cap, 0.0), 1, "with no timeout at all, the mean batch")
    close(student.value("mean_batch", rate, 1, wait), 1, "with a cap of one, the mean batch")
    full = student.value("mean_batch", rate, cap, 40 * cap / rate + 60 / rate)
    close(full, cap, "with a very long timeout, the mean batch")
    loose = student.value("mean_batch", rate, 400, wait)
    close(loose, 1 + rate * wait, "with a cap that is never reached, the mean batch")


def _short(draw: Draw) -> tuple[float, int, float]:
    """A window that mostly times out before it is full."""
    rate, cap = draw.log(5, 800), draw.randint(10, 40)
    return rate, cap, float(f"{draw.uniform(0.25, 0.4) * cap / rate:.4g}")


def _rescaled(student: Student, draw: Draw) -> None:
    rate, cap, wait = _short(draw)
    base = number(student.value("mean_batch", rate, cap, wait), "the mean batch")
    if not 1 < base < cap:
        raise Wrong("the mean batch lies between one request and the cap")
    in_ms = student.value("mean_batch", rate / 1000, cap, 1000 * wait)
    close(in_ms, base, "with time counted in ms throughout, the mean batch")
    longer = number(student.value("mean_batch", rate, cap, 1.5 * wait), "the mean batch")
    if longer <= base:
        raise Wrong("a longer timeout makes larger batches")


def _delay_example(student: Student, _: Draw) -> None:
    for rate, cap, wait in ((100, 2, 0.010), (200, 6, 0.020)):
        right = 1000 * window.form(rate, cap, wait).mean_delay
        close(student.value("mean_delay_ms", rate, cap, 1000 * wait), right, "the mean delay")


def _delay_agrees(student: Student, draw: Draw) -> None:
    for _ in range(4):
        rate, cap, wait = _window(draw)
        right = 1000 * window.form(rate, cap, wait).mean_delay
        close(student.value("mean_delay_ms", rate, cap, 1000 * wait), right, "the mean delay")


def _delay_bounds(student: Student, draw: Draw) -> None:
    rate, cap, wait = _short(draw)
    got = number(student.value("mean_delay_ms", rate, cap, 1000 * wait), "the mean delay")
    if not 0 < got < 1000 * wait:
        raise Wrong("nobody gathers for longer than the timeout, and somebody does wait")
    slower = student.value("mean_delay_ms", rate / 10, cap, 10_000 * wait)
    close(slower, 10 * got, "ten times slower in everything, the mean delay")


def _delay_refuses(student: Student, draw: Draw) -> None:
    rate, cap, wait = _window(draw)
    number(student.value("mean_delay_ms", rate, cap, 1000 * wait), "the mean delay")
    name = "mean_delay_ms"
    refused(student, name, rate, cap, -1000 * wait, why="for a negative timeout")
    refused(student, name, -rate, cap, 1000 * wait, why="for a negative rate")
    refused(student, name, rate, 0, 1000 * wait, why="for a cap of no request")


TASKS = {
    "mean-of-three": Task(
        serving=False,
        properties=(
            Property(0.25, "the first example: no timeout", _no_window),
            Property(0.25, "the second example: 20 ms", _some),
            Property(2.5, "the mean batch as an expression", _three),
        ),
    ),
    "mean-batch": Task(
        serving=False,
        properties=(
            Property(0.5, "the examples of the notebook", _example),
            Property(1.0, "the mean batch of windows of all kinds", _agrees),
            Property(0.5, "agreement with windows drawn one by one", _drawn),
            Property(0.5, "its limits: no timeout, no cap, never full, always full", _limits),
            Property(0.5, "units, and a longer timeout", _rescaled),
        ),
    ),
    "mean-delay": Task(
        serving=True,
        properties=(
            Property(0.25, "the examples of the notebook", _delay_example),
            Property(0.75, "the mean delay in ms", _delay_agrees),
            Property(0.5, "its bounds and its unit", _delay_bounds),
            Property(0.5, "what cannot be is refused", _delay_refuses),
        ),
        seconds=8.0,  # the first call imports serving
    ),
}
