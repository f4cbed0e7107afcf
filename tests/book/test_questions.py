"""Questions that people asked in public: `serving` answers each, and a chapter cites it.

They are of a few kinds, and for each kind a function here answers all of its questions.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pybtex.database import parse_file
from scipy import optimize

import notebooks
from serving import LinearService, UnstableError, exact, formulas, measurements, queues
from serving.formulas import value
from serving.policies import Greedy, Window
from serving.simulation import simulate

QUICK = LinearService(0.01, 0.001)


def closed(in_flight: int, rate: float) -> float:
    """Response time of a load test that keeps so many requests in flight: Little's law."""
    return in_flight / value(formulas.requests_in_system, rate, 1)


def executions(count: int, policy: Greedy | Window, service: LinearService = QUICK) -> list[float]:
    """Mean size of the batches of a burst, once for each batch."""
    burst = np.arange(count) * 1e-6
    run = simulate(None, policy, service, arrivals=burst, requests=count)
    return [run.mean_batch] * round(run.served / run.mean_batch)


def gain(service: LinearService) -> float:
    """Most that any batch size gains over none."""
    return service.max_rate / service.rate(1)


def service_behind(rate: float, p99: float) -> float:
    """Constant service time at which Poisson arrivals have that 99th percentile."""

    def missing(time: float) -> float:
        return queues.mdc(rate, time, 1).wait.quantile(0.99) + time - p99

    return optimize.brentq(missing, p99 / 100, min(p99, 0.99 / rate))


def scattered_requests() -> dict[str, Any]:
    pairs = [(54.0, 24.276), (64.6, 27.982), (71.8, 24.621)]
    return {"S_implied_ms": [1e3 * service_behind(rate, p99 / 1e3) for rate, p99 in pairs]}


def load_test() -> dict[str, Any]:
    batch = 72262 / 4518
    period = 1 / value(formulas.batch_arrival_rate, 4005.66, batch)
    return {"little_ms": 1e3 * closed(1000, 4005.66), "batch": batch, "period_ms": 1e3 * period}


def measured_line() -> dict[str, Any]:
    data = measurements.published("resnet50-1080ti")
    line = LinearService.fit(data.batches, data.times)
    missed = np.abs(line.relative_residuals)
    return {
        "T_fixed_ms": 1e3 * line.t_fixed,
        "t_req_ms": 1e3 * line.t_req,
        "R2": 1
        - np.sum((missed * data.times) ** 2) / np.sum((data.times - data.times.mean()) ** 2),
        "max_rel_err": missed.max(),
        "worst_B": int(data.batches[missed.argmax()]),
        "max_throughput": line.max_rate,
        "speedup_bound": gain(line),
    }


def no_effect() -> dict[str, Any]:
    line = LinearService.fit([1, 32], [35 / 1000, 32 * 34.5 / 1000])
    return {"t_req_ms": 1e3 * line.t_req, "T_fixed_ms": 1e3 * line.t_fixed, "bound": gain(line)}


def static_engine() -> dict[str, Any]:
    queue = exact.GreedyQueue(10, 4, LinearService.fit([1, 4], [0.195, 0.200]))
    return {
        "ET10_ms": 1e3 * queue.mean,
        "P99_10_ms": 1e3 * queue.quantile(0.99),
        "EB10": queue.mean_batch,
    }


def prefills() -> dict[str, Any]:
    times = [(0.0525, 0.910), (0.0968, 1.810)]
    return {"bound": [gain(LinearService.fit([1, 32], pair)) for pair in times]}


def call_centre() -> dict[str, Any]:
    rate, speed = 44.34 / 1800, 1 / 646
    with pytest.raises(UnstableError, match="at least 16"):
        queues.mmc(rate, speed, 14)
    return {f"Wq_c{c}_s": queues.mmc(rate, speed, c).mean_wait for c in (16, 17, 18, 20)}


GITHUB = "https://github.com/"
ANSWERS: dict[str, Callable[[], dict[str, Any]]] = {
    "triton-inference-server/server/issues/5957": scattered_requests,
    "triton-inference-server/server/issues/7986": load_test,
    "triton-inference-server/server/issues/4250": measured_line,
    "tensorflow/serving/issues/1312": no_effect,
    "isarsoft/yolov4-triton-tensorrt/issues/58": static_engine,
    "ray-project/ray/issues/43288": lambda: {"batches_expected": executions(140, Window(256, 5))},
    "tenstorrent/tt-xla/issues/4891": prefills,
    "phubers/erlang/issues/7": call_centre,
    "triton-inference-server/server/issues/8094": lambda: {
        "executions": len(executions(100, Greedy(10)))
    },
}
"""The values that answer the question of each thread, from the numbers that it gives."""


def questions() -> dict[str, dict[str, Any]]:
    """The threads with the right values, by address."""
    folder = os.environ.get("SERVING_DATA")
    if not folder:
        pytest.skip("SERVING_DATA is not set: the questions are not here")
    cases = json.loads((Path(folder) / "reference" / "field-cases.json").read_text("utf-8"))[
        "cases"
    ]
    return {case["source"].removeprefix(GITHUB): case["values"] for case in cases}


def test_every_question_has_an_answer() -> None:
    assert sorted(questions()) == sorted(ANSWERS)


@pytest.mark.parametrize("thread", ANSWERS)
def test_the_answer_is_right(thread: str) -> None:
    expected, found = questions()[thread], ANSWERS[thread]()
    assert found.keys() == expected.keys()
    for name, right in expected.items():
        pairs = zip(np.atleast_1d(found[name]), np.atleast_1d(right), strict=True)
        for one, other in pairs:
            assert one == pytest.approx(other, rel=1e-6, abs=as_printed(other)), name


def as_printed(number: float) -> float:
    """Half a unit of the last digit of a rounded number, 0 for a whole one."""
    return 0.5001 * 10.0 ** -len(f"{number}".partition(".")[2]) if number % 1 else 0


@pytest.mark.parametrize("thread", ANSWERS)
def test_a_chapter_cites_the_question(thread: str) -> None:
    questions()
    works = parse_file(notebooks.ROOT / "references.bib").entries
    keys = {key for key, work in works.items() if work.fields.get("url") == GITHUB + thread}
    assert len(keys) == 1
    assert keys <= {
        cited
        for chapter in notebooks.numbered_chapters()
        for _, source in notebooks.markdown_cells(notebooks.read(chapter))
        for block in notebooks.blocks(source)
        for cited in notebooks.citations(block)
    }


# Whole kinds.


@pytest.mark.parametrize("in_flight", [1, 7, 100])
def test_a_closed_load_answers_as_its_rate_says(in_flight: int) -> None:
    # a client sends its next request when it has an answer
    services = np.random.default_rng(0).gamma(2.0, 0.01, 20_000)
    ends = np.cumsum(services)
    sent = np.append(np.zeros(in_flight), ends[:-in_flight])
    np.testing.assert_allclose(queues.departures(sent, services), ends)
    expected = closed(in_flight, ends.size / ends[-1])
    assert np.mean(ends - sent) == pytest.approx(expected, rel=in_flight / ends.size)


@pytest.mark.parametrize(("count", "cap"), [(32, 1), (100, 10), (101, 10), (102, 10), (200, 256)])
def test_a_burst_starts_with_a_batch_of_one(count: int, cap: int) -> None:
    assert len(executions(count, Greedy(cap))) == 1 + math.ceil((count - 1) / cap)


@pytest.mark.parametrize(("count", "cap"), [(140, 256), (140, 100), (140, 140), (141, 140)])
def test_a_burst_that_does_not_fill_a_window_waits_for_its_timer(count: int, cap: int) -> None:
    assert len(executions(count, Window(cap, 5))) == math.ceil(count / cap)
    burst = np.arange(count) * 1e-6
    run = simulate(None, Window(cap, 5), QUICK, arrivals=burst, requests=count)
    full, rest = divmod(count, cap)
    total = full * cap * QUICK.time(cap) + (rest * (5 + QUICK.time(rest)) if rest else 0)
    assert run.mean == pytest.approx(total / count, abs=2e-4)


@pytest.mark.parametrize(("size", "time"), [(4, 0.2), (8, 0.05), (64, 1.0)])
def test_a_static_engine_takes_always_as_long(size: int, time: float) -> None:
    engine = LinearService.fit([1, size], [time, time])
    assert exact.GreedyQueue(1e-6 / time, size, engine).mean == pytest.approx(time, rel=1e-5)
    nearly_full = exact.GreedyQueue(0.999 * size / time, size, engine)
    assert nearly_full.mean_batch == pytest.approx(size, rel=2e-3)
    with pytest.raises(UnstableError):
        exact.GreedyQueue(size / time, size, engine)


@pytest.mark.parametrize("load", [0.5, 15.91, 99.999])
def test_an_overload_names_the_servers_that_are_enough(load: float) -> None:
    enough = math.floor(load) + 1
    assert math.isfinite(queues.mmc(load, 1, enough).mean_wait)
    if enough > 1:
        with pytest.raises(UnstableError, match=f"at least {enough}"):
            queues.mmc(load, 1, enough - 1)
