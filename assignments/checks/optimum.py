"""Assignment 3: the source's surrogate, and the batch that answers soonest by it."""

from __future__ import annotations

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
    whole,
)
from serving import LinearService, formulas, surrogate

NAMES = ("arrival_rate", "target", "lost", "t_fixed", "t_req")


def _least(arrival_rate: float, target: float, lost: float, t_fixed: float, t_req: float) -> float:
    """Least real batch when a share of the time is lost to other work."""
    return formulas.min_batch(arrival_rate, target * (1 - lost), t_fixed, t_req)


def _points(draw: Draw, count: int) -> list[dict[str, float]]:
    points = []
    for _ in range(count):
        t_fixed, t_req = draw.service()
        target, lost = draw.uniform(0.5, 1), draw.uniform(0.05, 0.5)
        rate = draw.uniform(0.05, 0.8) * target * (1 - lost) / t_req
        points.append(dict(zip(NAMES, (rate, target, lost, t_fixed, t_req), strict=True)))
    return points


def _nothing_lost(student: Student, draw: Draw) -> None:
    names = [name for name in NAMES if name != "lost"]
    rate, target, t_fixed, t_req = symbols(*names)
    got = student.value("least_batch", rate, target, 0, t_fixed, t_req)
    points = [{key: one[key] for key in names} for one in _points(draw, 3)]
    same_expression(got, lambda **given: _least(lost=0.0, **given), points, "the least batch")


def _quarter_lost(student: Student, _: Draw) -> None:
    case = (100, 0.8, 0.25, 0.050, 0.0005)
    got = student.value("least_batch", *case)
    same_expression(got, lambda: _least(*case), [{}], "the least batch")


def _some_lost(student: Student, draw: Draw) -> None:
    got = student.value("least_batch", *symbols(*NAMES))
    same_expression(got, _least, _points(draw, 40), "the least batch")


def total(rate: float, batch: int, t_fixed: float, t_req: float) -> float:
    """Mean response time by the surrogate [s]."""
    return float(surrogate.response(rate, batch, LinearService(t_fixed, t_req)).total)


def _example(student: Student, _: Draw) -> None:
    close(student.value("response", 100, 16, 0.050, 0.0005), 0.14949019607843137, "the response")


def _agrees(student: Student, draw: Draw) -> None:
    for _ in range(5):
        queue = draw.loaded()
        close(student.value("response", *queue), total(*queue), "the mean response time")


def _sides(student: Student, draw: Draw) -> None:
    for _ in range(3):
        batch = draw.randint(2, 48)
        times = draw.service()
        full = LinearService(*times).rate(batch)
        below = student.value("response", 0.99 * full, batch, *times)
        close(below, total(0.99 * full, batch, *times), "just below capacity, the response")
        why = "where the load is above capacity"
        refused(student, "response", 1.01 * full, batch, *times, why=why)


def _equal(student: Student, draw: Draw) -> None:
    for _ in range(3):
        rate, *server = draw.critical()
        half = student.value("response", rate / 2, *server)
        close(half, total(rate / 2, *server), "at half of capacity, the response")
        refused(student, "response", rate, *server, why="where traffic and capacity are equal")


def _rescaled(student: Student, draw: Draw) -> None:
    rate, batch, t_fixed, t_req = draw.loaded(0.2, 0.45)
    base = number(student.value("response", rate, batch, t_fixed, t_req), "the response")
    if base <= t_fixed + t_req * batch:
        raise Wrong("no response is sooner than a batch takes")
    in_ms = student.value("response", rate / 1000, batch, 1000 * t_fixed, 1000 * t_req)
    close(in_ms, 1000 * base, "with time counted in ms throughout, the response")


def _limits(student: Student, draw: Draw) -> None:
    t_fixed, t_req = draw.service()
    quiet = 1e-6 / (t_fixed + t_req)
    close(student.value("response", quiet, 1, t_fixed, t_req), t_fixed + t_req,
          "a request served alone, with nobody else: the response", rel=1e-4)  # fmt: skip
    full = LinearService(t_fixed, t_req).rate(8)
    near, nearer = (student.value("response", s * full, 8, t_fixed, t_req) for s in (0.999, 0.9999))
    if number(nearer, "the response") < 5 * number(near, "the response"):
        raise Wrong("ten times nearer to capacity, the response should be nearly ten times as long")


def _served(draw: Draw, above: int = 1, below: int = 2000) -> tuple[float, float, float]:
    """A server that some batch size lets keep up, with its optimum between two numbers."""
    while True:
        t_fixed, t_req = draw.service()
        rate = float(f"{draw.uniform(0.1, 0.7) / t_req:.4g}")
        if above < surrogate.optimum(rate, LinearService(t_fixed, t_req)) < below:
            return rate, t_fixed, t_req


def _best_example(student: Student, _: Draw) -> None:
    got = student.value("best_batch", 100, 50.0, 0.5)
    close(whole(got, "the best batch"), 10, "the best batch")


def _best_agrees(student: Student, draw: Draw) -> None:
    for above, below in ((1, 100), (1, 100), (100, 300), (300, 2000)):
        rate, t_fixed, t_req = _served(draw, above, below)
        right = surrogate.optimum(rate, LinearService(t_fixed, t_req))
        got = student.value("best_batch", rate, 1000 * t_fixed, 1000 * t_req)
        best, last = (total(rate, size, t_fixed, t_req) for size in (right, right + 1))
        if abs(whole(got, "the best batch") - right) == 1 and abs(last - best) < 1e-9 * best:
            continue  # a tie
        close(got, right, "the best batch")


def _best_neighbours(student: Student, draw: Draw) -> None:
    rate, t_fixed, t_req = _served(draw, below=100)
    got = whole(student.value("best_batch", rate, 1000 * t_fixed, 1000 * t_req), "the best batch")
    service = LinearService(t_fixed, t_req)
    if got < service.min_batch(rate):
        raise Wrong("the server does not keep up with this batch")
    if got > 10**9:
        raise Wrong("the best batch is far too large")
    here, after = (total(rate, size, t_fixed, t_req) for size in (got, got + 1))
    before = total(rate, got - 1, t_fixed, t_req) if got > service.min_batch(rate) else here
    if min(before, after) < here * (1 - 1e-12):
        raise Wrong("a neighbouring batch answers sooner")


def _best_sides(student: Student, draw: Draw) -> None:
    rate, t_fixed, t_req = _served(draw, below=100)
    whole(student.value("best_batch", rate, 1000 * t_fixed, 1000 * t_req), "the best batch")
    for factor in (1.01, 3):
        refused(student, "best_batch", factor / t_req, 1000 * t_fixed, 1000 * t_req,
                why="where no batch size keeps up")  # fmt: skip


TASKS = {
    "least-batch": Task(
        serving=False,
        properties=(
            Property(0.25, "the first example: nothing is lost", _nothing_lost),
            Property(0.25, "the second example: a quarter is lost", _quarter_lost),
            Property(2.5, "any share lost, as an expression", _some_lost),
        ),
    ),
    "response": Task(
        serving=False,
        properties=(
            Property(0.5, "the example of the notebook", _example),
            Property(1.0, "the response of servers that keep up", _agrees),
            Property(0.5, "both sides of capacity", _sides),
            Property(0.25, "at capacity itself", _equal),
            Property(0.5, "other units rescale it", _rescaled),
            Property(0.25, "its limits: nobody else, and near capacity", _limits),
        ),
    ),
    "best-batch": Task(
        serving=True,
        properties=(
            Property(0.25, "the example of the notebook", _best_example),
            Property(0.75, "the batch of least response", _best_agrees),
            Property(0.5, "it keeps up, and no neighbour is better", _best_neighbours),
            Property(0.5, "traffic that no batch carries is refused", _best_sides),
        ),
        seconds=8.0,  # the first call imports serving
    ),
}
