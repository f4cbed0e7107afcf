"""Assignment 1: how long a batch takes, and what that says about a server."""

from __future__ import annotations

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
from serving import LinearService, formulas

NAMES = ("share", "t_fixed", "t_req")


def _share_batch(share: float, t_fixed: float, t_req: float) -> float:
    """Solve rate(batch) = share of the limit for the batch."""
    return share / (1 - share) * formulas.half_rate_batch(t_fixed, t_req)


def _half(student: Student, draw: Draw) -> None:
    got = student.value("share_batch", 0.5, *symbols(*NAMES[1:]))
    points = [dict(zip(NAMES[1:], draw.service(), strict=True)) for _ in range(3)]
    same_expression(got, formulas.half_rate_batch, points, "the batch at half the limit")


def _less(student: Student, _: Draw) -> None:
    got = student.value("share_batch", 0.3, 0.050, 0.0005)
    same_expression(got, lambda: _share_batch(0.3, 0.050, 0.0005), [{}], "the batch")


def _any_share(student: Student, draw: Draw) -> None:
    got = student.value("share_batch", *symbols(*NAMES))
    points = [
        dict(zip(NAMES, (draw.uniform(0.1, 0.95), *draw.service()), strict=True)) for _ in range(40)
    ]
    same_expression(got, _share_batch, points, "the batch")


def _pair(student: Student, batches: list[float], times: list[float]) -> tuple[float, float]:
    got = student.value("fit", {"array": batches}, {"array": times})
    if not isinstance(got, list) or len(got) != 2:
        raise Wrong("fit must return two numbers: the fixed time and the time per request")
    return number(got[0], "the fixed time"), number(got[1], "the time per request")


def _compare(got: tuple[float, float], right: tuple[float, float]) -> None:
    close(got[0], right[0], "the fixed time")
    close(got[1], right[1], "the time per request")


def _fit_example(student: Student, _: Draw) -> None:
    _compare(_pair(student, [1, 8, 32], [50.5, 54.0, 66.0]), (0.050, 0.0005))


def _fit_line(student: Student, draw: Draw) -> None:
    for _ in range(3):
        t_fixed, t_req = draw.service()
        batches = sorted(draw.sample(range(1, 65), draw.randint(2, 9)))
        times = [1000 * (t_fixed + t_req * batch) for batch in batches]
        _compare(_pair(student, batches, times), (t_fixed, t_req))


def _noisy(draw: Draw) -> tuple[list[int], list[float]]:
    t_fixed, t_req = draw.service()
    batches = [size for size in (1, 2, 4, 8, 16, 32, 64) for _ in range(3)]
    line = [t_fixed + t_req * batch for batch in batches]
    return batches, [1000 * time * draw.uniform(0.995, 1.005) for time in line]


def _fit_noisy(student: Student, draw: Draw) -> None:
    for _ in range(3):
        batches, times = _noisy(draw)
        right = LinearService.fit(batches, np.array(times) / 1000)
        _compare(_pair(student, batches, times), (right.t_fixed, right.t_req))


def _fit_units(student: Student, draw: Draw) -> None:
    batches, times = _noisy(draw)
    factor, pack = draw.uniform(2, 5), draw.randint(2, 5)
    first = _pair(student, batches, times)
    slower = _pair(student, batches, [factor * time for time in times])
    packed = _pair(student, [pack * batch for batch in batches], times)
    if first[0] == first[1] or min(first) <= 0:
        raise Wrong("the two times of a server are not the same number, and both are above 0")
    for one, other, what in (
        (slower[0], factor * first[0], "with all times multiplied, the fixed time"),
        (slower[1], factor * first[1], "with all times multiplied, the time per request"),
        (packed[0], first[0], "with all batches multiplied, the fixed time"),
        (packed[1], first[1] / pack, "with all batches multiplied, the time per request"),
    ):
        close(one, other, what)


def _load_example(student: Student, _: Draw) -> None:
    close(student.value("load", 100, 16, 0.050, 0.0005), 0.3625, "the load")


def _load_agrees(student: Student, draw: Draw) -> None:
    for _ in range(5):
        queue = draw.loaded()
        close(student.value("load", *queue), formulas.utilization(*queue), "the load")


def _load_units(student: Student, draw: Draw) -> None:
    rate, batch, t_fixed, t_req = draw.loaded(0.1, 0.45)
    load = number(student.value("load", rate, batch, t_fixed, t_req), "the load")
    if not 0 < load < 1:
        raise Wrong("the load of a server that keeps up lies between 0 and 1")
    in_ms = student.value("load", rate / 1000, batch, 1000 * t_fixed, 1000 * t_req)
    close(in_ms, load, "with time counted in ms throughout, the load")
    close(student.value("load", 2 * rate, batch, t_fixed, t_req), 2 * load, "at twice the traffic")


def _load_sides(student: Student, draw: Draw) -> None:
    for _ in range(3):
        batch = draw.randint(2, 48)
        t_fixed, t_req = draw.service()
        full = LinearService(t_fixed, t_req).rate(batch)
        load = student.value("load", 0.999 * full, batch, t_fixed, t_req)
        close(load, 0.999, "just below capacity, the load")
        for above in (1.001, 3.0):
            why = "where the load is above capacity"
            refused(student, "load", above * full, batch, t_fixed, t_req, why=why)


def _load_equal(student: Student, draw: Draw) -> None:
    for _ in range(3):
        rate, *server = draw.critical()
        close(student.value("load", rate / 2, *server), 0.5, "at half of capacity, the load")
        refused(student, "load", rate, *server, why="where traffic and capacity are equal")


TASKS = {
    "share-batch": Task(
        serving=False,
        properties=(
            Property(0.25, "the first example: half of the limit", _half),
            Property(0.25, "the second example: 30 % of the limit", _less),
            Property(2.5, "any share of the limit, as an expression", _any_share),
        ),
    ),
    "fit": Task(
        serving=False,
        properties=(
            Property(0.5, "the example of the notebook", _fit_example),
            Property(1.0, "points on a line give its two times", _fit_line),
            Property(1.0, "scattered points give the least-squares line", _fit_noisy),
            Property(0.5, "other units rescale the two times", _fit_units),
        ),
    ),
    "load": Task(
        serving=False,
        properties=(
            Property(0.25, "the example of the notebook", _load_example),
            Property(0.5, "the load of servers that keep up", _load_agrees),
            Property(0.25, "units and traffic rescale it as they must", _load_units),
            Property(0.5, "both sides of capacity", _load_sides),
            Property(0.5, "at capacity itself", _load_equal),
        ),
    ),
}
