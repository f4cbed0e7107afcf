"""Assignment 6, the capstone: one server, its queue, its memory and its promise."""

from __future__ import annotations

from checks.optimum import total
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
from serving import LinearService, formulas, simulation, surrogate
from serving.exact import FixedBatchQueue
from serving.policies import Fixed

NAMES = ("memory", "token_bytes", "tokens", "t_fixed", "t_req", "target")
GIB = 1 << 30
Plan = tuple[int | None, str | None]
Case = tuple[float, float, float, float, int, int]
"""Arrival rate, promise, both times, memory and bytes of a sequence."""


def _rate(
    memory: float, token_bytes: float, tokens: float, t_fixed: float, t_req: float, target: float
) -> float:
    """Traffic that loads a server to the target in batches that fill the memory."""
    return target * formulas.effective_rate(memory / (token_bytes * tokens), t_fixed, t_req)


def _points(draw: Draw, count: int) -> list[dict[str, float]]:
    points = []
    for _ in range(count):
        t_fixed, t_req = draw.service()
        held, tokens = draw.log(2e4, 2e6), draw.log(100, 5000)
        memory = draw.log(2, 200) * held * tokens
        values = (memory, held, tokens, t_fixed, t_req, draw.uniform(0.5, 0.95))
        points.append(dict(zip(NAMES, values, strict=True)))
    return points


def _at_capacity(student: Student, draw: Draw) -> None:
    got = student.value("memory_rate", *symbols(*NAMES[:-1]), 1)
    points = [{key: one[key] for key in NAMES[:-1]} for one in _points(draw, 3)]
    same_expression(got, lambda **given: _rate(target=1.0, **given), points, "the traffic")


def _at_four_fifths(student: Student, _: Draw) -> None:
    case = (20 * GIB, 131072, 1000, 0.050, 0.0005, 0.8)
    got = student.value("memory_rate", *case)
    same_expression(got, lambda: _rate(*case), [{}], "the traffic")


def _at_target(student: Student, draw: Draw) -> None:
    got = student.value("memory_rate", *symbols(*NAMES))
    same_expression(got, _rate, _points(draw, 40), "the traffic")


def _right(case: Case) -> Plan:
    rate, promise, t_fixed, t_req, memory, each = case
    if rate * t_req >= 1:
        return None, "traffic"
    service, most = LinearService(t_fixed, t_req), memory // each
    least = service.min_batch(rate)
    if least > most:
        return None, "memory"
    best = min(surrogate.optimum(rate, service), most)
    return (best, None) if total(rate, best, t_fixed, t_req) <= promise else (None, "promise")


def _plan(student: Student, case: Case) -> Plan:
    got = student.value("plan", *case)
    if not isinstance(got, list) or len(got) != 2:
        raise Wrong("plan must return two things: the batch and the reason")
    batch = None if got[0] is None else whole(got[0], "the batch")
    if got[1] not in (None, "traffic", "memory", "promise"):
        raise Wrong("the reason must be None, 'traffic', 'memory' or 'promise'")
    return batch, got[1]


def _same(student: Student, case: Case, when: str) -> None:
    got, right = _plan(student, case), _right(case)
    if got[1] != right[1]:
        raise Wrong(f"{when}, the reason is not right")
    if got[0] == right[0]:
        return
    if got[0] and right[0] and case[3] * case[0] < 1 and got[0] <= case[4] // case[5]:
        service = LinearService(case[2], case[3])
        queue = (case[0], case[2], case[3])
        if got[0] >= service.min_batch(case[0]):
            one, other = (total(queue[0], b, *queue[1:]) for b in (got[0], right[0]))
            if abs(one - other) < 1e-9 * other:
                return  # a tie
    raise Wrong(f"{when}, the batch is not right")


def _server(draw: Draw) -> tuple[float, float, float, int, int]:
    """A server that needs batches: rate, times, its best batch, and bytes of a sequence."""
    while True:
        t_fixed, t_req = draw.service()
        rate = float(f"{draw.uniform(0.15, 0.6) / t_req:.4g}")
        service = LinearService(t_fixed, t_req)
        best, least = surrogate.optimum(rate, service), service.min_batch(rate)
        if 4 <= least < best - 1 < 300 and not _near(rate, best, least, t_fixed, t_req):
            return rate, t_fixed, t_req, best, draw.randint(20, 400) << 20


def _near(rate: float, best: int, least: int, t_fixed: float, t_req: float) -> bool:
    """Whether the last digits of floats would decide: a tie, or a load of one."""
    right = total(rate, best, t_fixed, t_req)
    tie = min(abs(total(rate, size, t_fixed, t_req) - right) for size in (best - 1, best + 1))
    load = formulas.utilization(rate, least - 1, t_fixed, t_req)
    return tie < 1e-9 * right or abs(load - 1) < 1e-9


def _roomy(draw: Draw) -> Case:
    rate, t_fixed, t_req, best, each = _server(draw)
    promise = 2 * total(rate, best, t_fixed, t_req)
    return rate, promise, t_fixed, t_req, 4 * best * each, each


def _plan_example(student: Student, _: Draw) -> None:
    for room in (40, 5):
        case = (100, 0.2, 0.050, 0.0005, room * GIB, GIB)
        _same(student, case, f"with room for {room}, in the examples")


def _plan_roomy(student: Student, draw: Draw) -> None:
    for _ in range(3):
        _same(student, _roomy(draw), "where memory and promise leave room")


def _plan_memory(student: Student, draw: Draw) -> None:
    for _ in range(3):
        rate, t_fixed, t_req, best, each = _server(draw)
        least = LinearService(t_fixed, t_req).min_batch(rate)
        fits = draw.randint(least, best - 1)
        promise = 2 * total(rate, fits, t_fixed, t_req)
        memory = fits * each + draw.randint(0, each - 1)
        _same(student, (rate, promise, t_fixed, t_req, memory, each), "where memory cuts it off")


def _plan_reasons(student: Student, draw: Draw) -> None:
    rate, promise, t_fixed, t_req, memory, each = _roomy(draw)
    _same(student, (rate, promise, t_fixed, t_req, memory, each), "where a batch is possible")
    over = (1.2 / t_req, promise, t_fixed, t_req, memory, each)
    _same(student, over, "where no batch carries the traffic")
    least = LinearService(t_fixed, t_req).min_batch(rate)
    small = (rate, promise, t_fixed, t_req, least * each - 1, each)
    _same(student, small, "where what fits does not keep up")
    hasty = (rate, 0.9 * t_fixed, t_fixed, t_req, memory, each)
    _same(student, hasty, "where every batch is too slow")


def _plan_units(student: Student, draw: Draw) -> None:
    rate, promise, t_fixed, t_req, memory, each = _roomy(draw)
    base = _plan(student, (rate, promise, t_fixed, t_req, memory, each))
    if base[0] is None or not 1 < base[0] <= memory // each:
        raise Wrong("where a batch is possible, none that fits is given")
    in_ms = (rate / 1000, 1000 * promise, 1000 * t_fixed, 1000 * t_req, 7 * memory, 7 * each)
    other = _plan(student, in_ms)
    if other != base:
        raise Wrong("with time counted in ms and bytes in sevenths, the plan is another one")
    _same(student, (rate, promise, t_fixed, t_req, memory, each), "in another unit")


def _report(student: Student, queue: tuple[float, int, float, float], each: int) -> list[float]:
    got = student.value("report", *queue, each)
    if not isinstance(got, dict) or not {"mean_ms", "requests", "memory_gib"} <= set(got):
        raise Wrong("report must return a dictionary with mean_ms, requests and memory_gib")
    return [number(got[name], name) for name in ("mean_ms", "requests", "memory_gib")]


def _expected(queue: tuple[float, int, float, float], each: int) -> list[float]:
    rate, batch, t_fixed, t_req = queue
    service = LinearService(t_fixed, t_req)
    mean = FixedBatchQueue(rate, batch, service).mean
    memory = rate * float(service.time(batch)) * each / GIB
    return [1000 * mean, formulas.requests_in_system(rate, mean), memory]


def _report_right(student: Student, queue: tuple[float, int, float, float], each: int) -> None:
    for got, right, name in zip(
        _report(student, queue, each),
        _expected(queue, each),
        ("mean_ms", "requests", "memory_gib"),
        strict=True,
    ):
        close(got, right, name, rel=1e-5)


def _report_example(student: Student, _: Draw) -> None:
    _report_right(student, (100, 16, 0.050, 0.0005), 1 << 29)


def _report_agrees(student: Student, draw: Draw) -> None:
    for _ in range(3):
        _report_right(student, draw.loaded(), draw.randint(20, 400) << 20)


def _report_little(student: Student, draw: Draw) -> None:
    queue, each = draw.loaded(0.3, 0.8), draw.randint(20, 400) << 20
    mean, requests, memory = _report(student, queue, each)
    rate, batch, t_fixed, t_req = queue
    service = LinearService(t_fixed, t_req)
    run = simulation.simulate(
        rate, Fixed(batch), service, requests=100_000, seed=draw.getrandbits(30), progress=False
    )
    low, high = run.interval("mean", 0.999)
    if not low - (high - low) < mean / 1000 < high + (high - low):
        raise Wrong("a simulation of this server has another mean response time")
    close(requests, rate * mean / 1000, "by Little's law, the number of requests")
    seconds = float(service.time(batch))
    close(memory * GIB / each, rate * seconds, "by Little's law, the sequences in service")


def _report_sides(student: Student, draw: Draw) -> None:
    rate, batch, t_fixed, t_req = draw.loaded(0.8, 0.9)
    _report_right(student, (rate, batch, t_fixed, t_req), GIB)
    refused(student, "report", 1.3 * rate, batch, t_fixed, t_req, GIB,
            why="where the server falls behind")  # fmt: skip


TASKS = {
    "memory-rate": Task(
        serving=False,
        properties=(
            Property(0.25, "the first example: a target of one", _at_capacity),
            Property(0.25, "the second example: a target of 80 %", _at_four_fifths),
            Property(2.5, "any target, as an expression", _at_target),
        ),
    ),
    "plan": Task(
        serving=False,
        properties=(
            Property(0.5, "the examples of the notebook", _plan_example),
            Property(0.5, "room enough: the batch that answers soonest", _plan_roomy),
            Property(0.75, "memory cuts the best batch off", _plan_memory),
            Property(0.75, "no batch is possible, and why", _plan_reasons),
            Property(0.5, "other units leave the plan as it is", _plan_units),
        ),
    ),
    "report": Task(
        serving=True,
        properties=(
            Property(0.25, "the example of the notebook", _report_example),
            Property(0.5, "mean, requests and memory in their units", _report_agrees),
            Property(0.75, "Little's law, and agreement with a simulation", _report_little),
            Property(0.5, "both sides of capacity", _report_sides),
        ),
        seconds=8.0,  # the first call imports serving
    ),
}
