"""Assignment 4: the exact queue beside the surrogate, and the slowest percent."""

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
from serving import LinearService, formulas, queues, surrogate
from serving.exact import FixedBatchQueue

NAMES = ("share", "arrival_rate", "service_rate")
PARTS = ("the exact mean", "the surrogate's mean", "the exact P99")


def _quantile(share: float, arrival_rate: float, service_rate: float) -> float:
    """Solve load * exp(-(service_rate - arrival_rate) * t) = 1 - share for t."""
    return math.log(arrival_rate / service_rate / (1 - share)) * formulas.mm1_response(
        arrival_rate, service_rate
    )


def _quantile_example(student: Student, _: Draw) -> None:
    got = student.value("wait_quantile", 0.75, 50, 100)
    same_expression(got, lambda: _quantile(0.75, 50, 100), [{}], "the wait")


def _quantile_any(student: Student, draw: Draw) -> None:
    got = student.value("wait_quantile", *symbols(*NAMES))
    points = []
    for _ in range(40):
        capacity, load = draw.log(5, 500), draw.uniform(0.3, 0.97)
        share = 1 - load * draw.uniform(0.001, 0.8)
        points.append(dict(zip(NAMES, (share, load * capacity, capacity), strict=True)))
    same_expression(got, _quantile, points, "the wait")


def _responses(student: Student, arrivals: list[float], batch: int, time: float) -> list[float]:
    got = student.value("responses", {"array": arrivals}, batch, time)
    if not isinstance(got, list) or len(got) != len(arrivals):
        raise Wrong("responses must return one response time for each arrival")
    return [number(one, "a response time") for one in got]


def _right(arrivals: list[float], batch: int, time: float) -> list[float]:
    times = np.array(arrivals)
    ends = queues.departures(times[batch - 1 :: batch], time)
    return (np.repeat(ends, batch) - times).tolist()


def _stream(draw: Draw, load: float, batches: int = 30) -> tuple[list[float], int, float]:
    rate, batch, t_fixed, t_req = draw.loaded()
    time = t_fixed + t_req * batch
    gaps = [draw.expovariate(load * batch / time) for _ in range(batch * batches)]
    return np.cumsum(gaps).tolist(), batch, time


def _compare(got: list[float], right: list[float]) -> None:
    for one, other in zip(got, right, strict=True):
        close(one, other, "a response time")


def _stream_example(student: Student, _: Draw) -> None:
    case = ([0.0, 0.1, 0.2, 0.3, 0.35, 0.4], 2, 0.25)
    _compare(_responses(student, *case), [0.35, 0.25, 0.40, 0.30, 0.50, 0.45])


def _stream_agrees(student: Student, draw: Draw) -> None:
    for load in (0.5, 0.9, 1.3):
        case = _stream(draw, load)
        _compare(_responses(student, *case), _right(*case))


def _stream_idle(student: Student, draw: Draw) -> None:
    arrivals, batch, time = _stream(draw, 0.5)
    slow = [1000 * one for one in arrivals]
    got = _responses(student, slow, batch, time)
    for first in range(0, len(slow), batch):
        wait = slow[first + batch - 1] - slow[first]
        close(got[first], wait + time, "with an idle server, the response of a batch's first")
        close(got[first + batch - 1], time, "with an idle server, the response of its last")


def _stream_server(student: Student, draw: Draw) -> None:
    arrivals, batch, time = _stream(draw, 1.1)
    got = _responses(student, arrivals, batch, time)
    ends = np.array(arrivals) + np.array(got)
    together = ends.reshape(-1, batch)
    if np.ptp(together, axis=1).max() > 1e-9 * ends[-1]:
        raise Wrong("the requests of a batch must all be answered when the batch is done")
    if np.diff(together[:, 0]).min() < time * (1 - 1e-9):
        raise Wrong("the server must finish a batch before it starts the next")


def _stream_units(student: Student, draw: Draw) -> None:
    arrivals, batch, time = _stream(draw, 0.9)
    base = _responses(student, arrivals, batch, time)
    if min(base) < time * (1 - 1e-9):
        raise Wrong("no request is answered in less than a batch takes")
    in_ms = _responses(student, [1000 * one for one in arrivals], batch, 1000 * time)
    _compare(in_ms, [1000 * one for one in base])


def _exactly(rate: float, batch: int, t_fixed: float, t_req: float) -> tuple[float, ...]:
    service = LinearService(t_fixed, t_req)
    queue = FixedBatchQueue(rate, batch, service)
    total = surrogate.response(rate, batch, service).total
    return 1000 * queue.mean, 1000 * float(total), 1000 * queue.quantile(0.99)


def _three(student: Student, rate: float, batch: int, t_fixed: float, t_req: float) -> list[float]:
    got = student.value("compare_ms", rate, batch, 1000 * t_fixed, 1000 * t_req)
    if not isinstance(got, list) or len(got) != 3:
        raise Wrong("compare_ms must return three numbers")
    return [number(one, what) for one, what in zip(got, PARTS, strict=True)]


def _three_right(student: Student, *queue: float) -> None:
    rate, batch, t_fixed, t_req = queue
    right = _exactly(rate, int(batch), t_fixed, t_req)
    for one, other, what in zip(
        _three(student, rate, int(batch), t_fixed, t_req), right, PARTS, strict=True
    ):
        close(one, other, what, rel=1e-4)


def _three_example(student: Student, _: Draw) -> None:
    _three_right(student, 100, 16, 0.050, 0.0005)


def _three_agrees(student: Student, draw: Draw) -> None:
    for _ in range(3):
        _three_right(student, *draw.loaded())


def _three_order(student: Student, draw: Draw) -> None:
    rate, batch, t_fixed, t_req = draw.loaded(0.5, 0.9)
    mean, estimate, late = _three(student, rate, batch, t_fixed, t_req)
    if not 1000 * t_fixed < mean < estimate:
        raise Wrong("the surrogate's mean lies above the exact one, and both above the fixed time")
    if late <= mean:
        raise Wrong("the P99 lies above the mean")
    slower = _three(student, rate / 10, batch, 10 * t_fixed, 10 * t_req)
    for one, other, what in zip(slower, (mean, estimate, late), PARTS, strict=True):
        close(one, 10 * other, f"ten times slower in everything, {what}", rel=1e-4)


def _three_sides(student: Student, draw: Draw) -> None:
    rate, batch, t_fixed, t_req = draw.loaded(0.8, 0.9)
    _three_right(student, rate, batch, t_fixed, t_req)
    refused(student, "compare_ms", 1.3 * rate, batch, 1000 * t_fixed, 1000 * t_req,
            why="where the server falls behind")  # fmt: skip


TASKS = {
    "wait-quantile": Task(
        serving=False,
        properties=(
            Property(0.5, "the example of the notebook", _quantile_example),
            Property(2.5, "any share, as an expression", _quantile_any),
        ),
    ),
    "responses": Task(
        serving=False,
        properties=(
            Property(0.5, "the example of the notebook", _stream_example),
            Property(1.0, "response times below and above capacity", _stream_agrees),
            Property(0.5, "with an idle server nobody waits for it", _stream_idle),
            Property(0.5, "batches leave together and never overlap", _stream_server),
            Property(0.5, "other units rescale them", _stream_units),
        ),
    ),
    "compare": Task(
        serving=True,
        properties=(
            Property(0.25, "the example of the notebook", _three_example),
            Property(0.75, "exact mean, surrogate's mean and P99 in ms", _three_agrees),
            Property(0.5, "their order and their unit", _three_order),
            Property(0.5, "both sides of capacity", _three_sides),
        ),
        seconds=8.0,  # the first call imports serving
    ),
}
