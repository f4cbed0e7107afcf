"""Assignments 2 to 6: solutions that are wrong in one way, each with the mark it should get."""

from __future__ import annotations

import pytest

from course.marking import Draw, assess
from course.plugin import tasks
from made import opened, solutions

WRONG = [
    # assignment, task, what of the solution is replaced, by what, mark
    ("windows", "mean-of-three", "return 1 + one_more + two_more", "return 1", 0.25),
    ("windows", "mean-of-three", " - mean * sp.exp(-mean)", "", 0.25),
    ("windows", "mean-of-three", "1 + one_more + two_more", "sp.Min(3, 1 + mean)", 0.25),
    ("windows", "mean-batch", "return 1 + float(", "return 2 - math.exp(-1) + 0 * float(", 0.0),
    # the smaller of two means: right in every limit, wrong in between
    (
        "windows",
        "mean-batch",
        "return 1 + float(",
        "return min(max_batch, 1 + arrival_rate * max_wait) + 0 * float(",
        1.0,
    ),
    # factorials too large for a float: right for caps below 171
    (
        "windows",
        "mean-batch",
        "return 1 + float(",
        "m, k = arrival_rate * max_wait, max_batch\n"
        "    p = [math.exp(-m) * m**n / math.factorial(n) for n in range(k - 1)]\n"
        "    return sum((n + 1) * one for n, one in enumerate(p)) + k * (1 - sum(p)) + 0 * float(",
        2.5,
    ),
    # the request that opens the window is forgotten
    ("windows", "mean-batch", "return 1 + float(", "return float(", 0.5),
    ("windows", "mean-delay", "return 1000 * window", "return window", 1.0),  # s for ms
    ("windows", "mean-delay", "max_wait_ms / 1000", "max_wait_ms", 0.5),  # ms for s
    ("windows", "mean-delay", "max_wait_ms / 1000)", "abs(max_wait_ms) / 1000)", 1.5),
    ("optimum", "least-batch", " / (1 - lost)", "", 0.25),
    ("optimum", "least-batch", "(sp.Eq(load, target)", "(load * (1 - lost) - target + lost", 0.25),
    ("optimum", "response", "if load >= 1:", "if False:", 2.25),  # the capacity check forgotten
    ("optimum", "response", "if load >= 1:", "if load > 1:", 2.75),  # equality forgotten
    ("optimum", "response", "return wait +", "return 0.14949019607843137 or wait +", 0.5),
    ("optimum", "response", "(batch - 1) / (2", "batch / (2", 0.5),  # one gap too many
    ("optimum", "response", "(batch - 1) / (2 * arrival_rate) + service", "0", 0.0),
    ("optimum", "best-batch", "t_fixed_ms / 1000, t_req_ms / 1000", "t_fixed_ms, t_req_ms", 0.0),
    ("optimum", "best-batch", "return surrogate", "return 10 or surrogate", 0.25),
    ("optimum", "best-batch", "return surrogate", "return 2 + surrogate", 0.5),
    # a search that ends at 100
    (
        "optimum",
        "best-batch",
        "return surrogate.optimum(arrival_rate, ",
        "def total(batch):\n"
        "        try:\n"
        "            return surrogate.response(arrival_rate, batch, service).total\n"
        "        except ValueError:\n"
        "            return math.inf\n"
        "    if arrival_rate * t_req_ms >= 1000: raise ValueError\n"
        "    service = LinearService(t_fixed_ms / 1000, t_req_ms / 1000)\n"
        "    return min(range(1, 101), key=total)\n"
        "    return surrogate.optimum(arrival_rate, ",
        1.25,
    ),
    ("exact-tail", "wait-quantile", "late.subs(t, 0)", "1", 0.0),  # as if all had to wait
    ("exact-tail", "wait-quantile", "return -sp", "return sp.log(2) / 50 or -sp", 0.5),
    ("exact-tail", "responses", "max(free, full)", "full", 1.0),  # the server is never busy
    ("exact-tail", "responses", "max(free, full)", "free + 0 * full", 0.5),
    # a batch that was late itself makes the next one late: forgotten
    (
        "exact-tail",
        "responses",
        "max(free, full) + service_time",
        "max(full, (arrivals[len(times) - 1] + service_time) * bool(times)) + service_time",
        1.0,
    ),
    ("exact-tail", "compare", "LinearService(t_fixed_ms / 1000", "LinearService(t_fixed_ms", 0.0),
    ("exact-tail", "compare", "1000 * queue.quantile(0.99)", "4.6 * 1000 * queue.mean", 0.5),
    ("paging", "mean-fit", "size - held", "held", 0.0),
    ("paging", "mean-fit", "(tokens + sp.simplify(empty).subs(size, block))", "tokens", 0.25),
    # the largest waste for the mean one
    ("paging", "mean-fit", "sp.simplify(empty).subs(size, block)", "block - 1", 0.25),
    ("paging", "sequence-bytes", 'config.get("num_key_value_heads") or heads', "heads", 0.75),
    ("paging", "sequence-bytes", 'config.get("num_key_value_heads") or heads', "heads // 8", 0.0),
    ("paging", "sequence-bytes", 'config.get("head_dim") or', "", 2.75),
    ("paging", "sequence-bytes", "(tokens + block - 1) // block", "math.ceil(tokens / block)", 2.5),
    ("paging", "sequence-bytes", "blocks * block *", "tokens *", 1.0),
    ("paging", "sequence-bytes", "return blocks", "return int(1.0 * blocks", 2.5),
    ("paging", "sequences", "memory_gib * 2**30", "memory_gib * 10**9", 0.0),  # GB for GiB
    ("paging", "sequences", "if tokens < 1:", "if False:", 1.5),
    ("capstone", "memory-rate", "sp.Eq(load, target)", "sp.Eq(load, 1)", 0.25),
    ("capstone", "memory-rate", "sp.Eq(load, target)", "sp.Eq(load, 1 / target)", 0.25),
    ("capstone", "memory-rate", "token_bytes * tokens", "token_bytes", 0.0),
    ("capstone", "plan", "int(memory // sequence_bytes) + 1", "2000", 1.0),
    ("capstone", "plan", 'return None, "memory"', 'return None, "traffic"', 1.75),
    ("capstone", "plan", "if load < 1:", "if True:", 0.0),  # the capacity check forgotten
    ("capstone", "plan", "if least_total <= promise", "if True", 2.25),
    ("capstone", "report", '"mean_ms": 1000 * mean', '"mean_ms": mean', 0.0),
    ("capstone", "report", "sequence_bytes / 2**30", "sequence_bytes / 1e9", 0.0),  # GB for GiB
    ("capstone", "report", "arrival_rate * mean,", "1000 * arrival_rate * mean,", 0.0),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "task", "old", "new", "points"), WRONG, ids=[f"{w[0]}-{w[1]}-{w[4]}" for w in WRONG]
)
def test_marks(name: str, task: str, old: str, new: str, points: float) -> None:
    code = solutions(name)
    assert sum(old in cell for cell in code) == 1, "the solution was rewritten: adapt the test"
    changed = [cell.replace(old, new) for cell in code]
    if new == "return int(1.0 * blocks":
        changed = [cell.replace("* element_bytes\n", "* element_bytes)\n") for cell in changed]
    with opened(tasks(name)[task], changed) as one:
        for student in ("ada", "béla"):
            result = assess(tasks(name)[task], one, Draw.of("a secret", student, task))
            assert result.points == points, result.lines
