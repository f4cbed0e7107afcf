"""Files of measurements: what each tool writes is read back; what is wrong has its place told."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import benchmark_files as files
from serving import LinearService, measurements

BRIEF = settings(max_examples=40, deadline=None, derandomize=True, database=None)
seconds = st.floats(1e-3, 1e3).map(lambda x: float(f"{x:.6g}"))
many = st.lists(seconds, min_size=1, max_size=30)


@pytest.fixture
def save(tmp_path: Path) -> Any:
    def write(content: Any, name: str = "a file") -> Path:
        if isinstance(content, dict):
            content = json.dumps(content)
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def only(measured: measurements.Measured) -> measurements.Point:
    [point] = measured.points
    return point


# What the tools write


@pytest.mark.parametrize("detailed", [True, False])
@pytest.mark.parametrize("old", [True, False])
def test_a_result_of_vllm_serve(save, detailed, old):
    point = only(measurements.load(save(files.vllm_serve(detailed=detailed, old=old))))
    assert (point.tool, point.loop, point.concurrency) == ("vllm bench serve", "closed", 2)
    assert point.rate == math.inf and point.count == 8 and point.failed == (None if old else 0)
    assert point.throughput == pytest.approx(4) and point.latency == pytest.approx(0.5)
    kept = detailed or not old
    assert (point.latencies is not None) == kept
    assert not kept or point.latencies == pytest.approx(files.TIMES)
    assert point.latency_from.startswith("latencies" if kept else "mean_ttft_ms + mean_itl_ms")


@pytest.mark.parametrize(
    ("rate", "concurrency", "loop"),
    [("inf", 8, "closed"), (2.5, None, "open"), (2.5, 8, "capped"), ("inf", None, "at once")],
)
def test_the_loop_of_vllm_serve(save, rate, concurrency, loop):
    result = files.vllm_serve(request_rate=rate, max_concurrency=concurrency)
    point = only(measurements.load(save(result)))
    assert point.loop == loop
    assert point.rate == (math.inf if rate == "inf" else 2.5)


def test_the_keys_of_vllm_serve_that_may_be_absent(save):
    missing = dict.fromkeys(["max_concurrency", "failed", "request_throughput", "latencies"], ...)
    missing |= {"mean_ttft_ms": ...}
    point = only(measurements.load(save(files.vllm_serve(**missing))))
    assert (point.latency, point.failed, point.latencies) == (None, None, None)
    assert point.throughput == pytest.approx(4)


def test_percentiles_of_vllm_serve_are_read_where_they_were_asked_for(save):
    asked = {"mean_e2el_ms": 500.0, "median_e2el_ms": 490.0, "p99_e2el_ms": 600.0}
    asked |= {"p99.9_e2el_ms": 610.0, "std_e2el_ms": 9.0}
    point = only(measurements.load(save(files.vllm_serve(**asked))))
    assert dict(point.percentiles) == {50: 0.49, 99: 0.6, 99.9: 0.61}
    assert point.latency_from == "mean_e2el_ms"


def test_failed_requests_of_vllm_serve_are_no_times(save):
    detailed = files.vllm_serve([*files.TIMES, 0.0], detailed=True, completed=8, failed=1)
    detailed["errors"][-1] = "refused"
    brief = {key: value for key, value in detailed.items() if key not in ("errors", "ttfts")}
    late = files.vllm_serve([*files.TIMES, 0.3], detailed=True, completed=8, failed=1)
    late["errors"][-1] = "broke off after a while"
    for result in (detailed, brief, late):
        point = only(measurements.load(save(result)))
        assert point.latencies == pytest.approx(files.TIMES) and point.failed == 1
    with pytest.raises(ValueError, match=r"row 1, column 'latencies'.* holds 9"):
        measurements.load(save({**late, "errors": None}))


@pytest.mark.parametrize("between", ["\n", "\n\n", "", " "])
def test_results_that_were_appended(save, between):
    results = [files.vllm_serve(files.TIMES * k, max_concurrency=k) for k in (1, 2, 4)]
    measured = measurements.load(save(between.join(map(json.dumps, results))))
    assert [point.concurrency for point in measured.points] == [1, 2, 4]
    assert [point.latency for point in measured.points] == pytest.approx([0.5, 1, 2])
    assert [point.row for point in measured.points] == [
        1 + between.count("\n") * k for k in range(3)
    ]


def test_a_result_of_vllm_latency_takes_the_batch_size(save):
    path = save(files.vllm_latency([0.9, 1.1]))
    point = only(measurements.load(path, batch=8))
    assert (point.batch, point.loop, point.count) == (8, "batches", 2)
    assert point.latency == pytest.approx(1.0) and point.percentiles[50] == pytest.approx(1.0)
    with pytest.raises(ValueError, match="batch must be given, got None: vllm bench latency does"):
        measurements.load(path)


def test_results_of_several_batch_sizes_make_a_line(save):
    parts = [
        measurements.load(save(files.vllm_latency([0.05 + 0.001 * b] * 3), f"b{b}"), batch=b)
        for b in (1, 8, 32)
    ]
    measured = measurements.join(*parts)
    fitted = LinearService.fit(measured.batches, measured.times)
    assert (fitted.t_fixed, fitted.t_req) == pytest.approx((0.05, 0.001))


@pytest.mark.parametrize("layout", ["config", "scheduler", "args"])
def test_a_report_of_guidellm(save, layout):
    strategies = [
        {"type_": "synchronous"},
        {"type_": "concurrent", "streams": 4},
        {"type_": "throughput", "max_concurrency": None},
        {"type_": "throughput", "max_concurrency": 64},
        {"type_": "poisson", "rate": 2.5, "max_concurrency": None},
        {"type_": "constant", "rate": 3.0},
        {"type_": "poisson", "rate": 2.5, "max_concurrency": 8},
        {"type_": "replay"},
    ]
    measured = measurements.load(save(files.guidellm(strategies, layout=layout)))
    loops = ["closed", "closed", "at once", "closed", "open", "open", "capped", "unknown"]
    assert [point.loop for point in measured.points] == loops
    assert [point.concurrency for point in measured.points[:4]] == [1, 4, None, 64]
    second = measured.points[1]
    assert second.latency == pytest.approx(0.5) and second.in_flight == 4
    assert second.failed == 1 and second.count == 8
    assert second.percentiles[0.1] == 0.4 and second.percentiles[99.9] == 0.6
    assert second.percentiles[5] == 0.4 and second.percentiles[50] == 0.5
    assert second.latencies == pytest.approx(files.TIMES)


def test_a_cap_that_a_guidellm_run_never_reached_leaves_its_loop_open(save):
    report = files.guidellm([{"type_": "constant", "rate": 2.0, "max_concurrency": 512}])
    measured = report["benchmarks"][0]["metrics"]["request_concurrency"]
    measured["successful"]["max"] = 7.0
    assert only(measurements.load(save(report))).loop == "open"


def test_a_sample_of_the_requests_of_guidellm_is_not_taken_for_all(save):
    report = files.guidellm([{"type_": "synchronous"}], kept=5)
    assert only(measurements.load(save(report))).latencies is None


@pytest.mark.parametrize("successor", [True, False])
def test_a_csv_summary_of_genai_perf(save, successor):
    path = save(files.genai_perf_csv(files.TIMES * 10, 0.8, successor=successor))
    point = only(measurements.load(path, concurrency=4))
    assert point.latency == pytest.approx(5.0) and point.throughput == 0.8
    assert (point.count, point.loop) == (8, "closed")
    assert point.percentiles[99] == pytest.approx(np.percentile(files.TIMES * 10, 99), abs=1e-5)
    assert only(measurements.load(path)).loop == "unknown"
    assert ('"5,000.00"' in path.read_text()) == (not successor)


@pytest.mark.parametrize("successor", [True, False])
def test_a_json_summary_of_genai_perf(save, successor):
    path = save(files.genai_perf_json(files.TIMES, 4.0, 2, successor=successor))
    point = only(measurements.load(path))
    assert (point.tool, point.concurrency) == ("aiperf" if successor else "genai-perf", 2)
    assert point.latency == pytest.approx(0.5) and point.throughput == 4 and point.count == 8


def test_what_perf_analyzer_prints(save):
    printed = """Inferences/Second vs. Client Average Batch Latency
Concurrency: 1, throughput: 109 infer/sec, latency 9191 usec
Concurrency: 2, throughput: 173 infer/sec, latency 11523 usec
"""
    first, second = measurements.load(save(printed)).points
    assert (first.concurrency, first.throughput, first.latency) == (1, 109, pytest.approx(9.191e-3))
    assert second.row == 3
    other = measurements.load(save(printed.replace("Average", "p95"))).points[0]
    assert other.latency is None and other.percentiles[95] == pytest.approx(9.191e-3)


def test_the_csv_of_perf_analyzer_is_in_microseconds(save):
    written = "Concurrency,Inferences/Second,Client Send,Server Queue,p50 latency,p99 latency,"
    point = only(measurements.load(save(f"{written}Avg latency\n4,400,5,6,9000,12000,10000\n")))
    assert point.latency == pytest.approx(0.01) and point.percentiles[99] == pytest.approx(0.012)


# Tables


TABLES = {
    "comma": "batch,latency (ms)\n1,50.5\n8,54\n",
    "semicolon": "Batch size;latency [ms]\n1;50.5\n8;54\n",
    "tab": "batch_size\tlatency_ms\n1\t50.5\n8\t54\n",
    "markdown": "| batch | time (ms) |\n|---:|:--|\n| 1 | 50.5 |\n| 8 | 54 |\n",
    "seconds": "bs,mean latency (s)\n1,0.0505\n8,0.054\n",
    "microseconds": 'batch,latency (us)\n1,"50,500"\n8,54000.0\n',
    "cells": "batch,latency\n1,50.5 ms\n8,54 ms\n",
    "more": "# a comment\nmodel,batch,latency (ms),p99 latency (ms),tokens/s\n"
    "x,1,50.5,60,9\nx,8,54,66,9\n",
    "marked": "\ufeffbatch,latency (ms)\r\n1,50.5\r\n8,54\r\n\r\n",
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_batch_and_latency(save, name):
    measured = measurements.load(save(TABLES[name]))
    assert measured.batches.tolist() == [1, 8]
    assert measured.times == pytest.approx([0.0505, 0.054])
    assert measured.loops == ("batches",)
    if name == "more":
        assert measured.points[1].percentiles[99] == pytest.approx(0.066)


def test_a_closed_loop_table(save):
    pasted = """
| Concurrency | Throughput (req/s) | Mean latency (ms) | P99 (ms) |
|-------------|--------------------|-------------------|----------|
| 1           | 10                 | 100               | 120      |
| 16          | 80                 | 200               | 350      |
"""
    measured = measurements.load(save(pasted))
    assert [point.concurrency for point in measured.points] == [1, 16]
    assert [point.row for point in measured.points] == [4, 5]
    assert measured.loops == ("closed",) and measured.batches.size == 0


@BRIEF
@given(rows=st.dictionaries(st.integers(1, 10**6), seconds, min_size=1), data=st.data())
def test_a_table_that_was_written_is_read_back(tmp_path_factory, rows, data):
    unit, scale = data.draw(st.sampled_from([("s", 1), ("ms", 1000), ("us", 10**6)]))
    mark = data.draw(st.sampled_from(",;\t"))
    lines = [f"{b}{mark}{time * scale!r}" for b, time in rows.items()]
    path = tmp_path_factory.mktemp("tables") / "t.csv"
    path.write_text("\n".join([f"batch{mark}latency ({unit})", *lines]))
    measured = measurements.load(path)
    assert measured.batches.tolist() == list(rows)
    assert measured.times == pytest.approx(list(rows.values()), rel=1e-12)


@BRIEF
@given(times=many, detailed=st.booleans(), old=st.booleans(), appended=st.integers(1, 3))
def test_results_of_vllm_that_were_written_are_read_back(
    tmp_path_factory, times, detailed, old, appended
):
    path = tmp_path_factory.mktemp("vllm") / "r.json"
    result = files.vllm_serve(times, detailed=detailed, old=old)
    path.write_text("\n".join([json.dumps(result)] * appended))
    measured = measurements.load(path)
    assert len(measured.points) == appended
    for point in measured.points:
        # that two requests were always in flight is Little's law
        assert point.latency == pytest.approx(np.mean(times))
        assert point.throughput * point.latency == pytest.approx(2)


@BRIEF
@given(
    times=many, layout=st.sampled_from(["config", "scheduler", "args"]), streams=st.integers(1, 99)
)
def test_reports_of_guidellm_that_were_written_are_read_back(
    tmp_path_factory, times, layout, streams
):
    path = tmp_path_factory.mktemp("guidellm") / "benchmarks.json"
    strategy = {"type_": "concurrent", "streams": streams}
    path.write_text(json.dumps(files.guidellm([strategy], times, layout=layout)))
    point = only(measurements.load(path))
    assert point.concurrency == streams and point.latencies == pytest.approx(times)
    [law] = measurements.little(measurements.load(path))
    assert law.deviation == pytest.approx(0, abs=1e-9)


@BRIEF
@given(times=many, successor=st.booleans(), throughput=st.floats(0.01, 1e6))
def test_summaries_that_were_written_are_read_back(tmp_path_factory, times, successor, throughput):
    path = tmp_path_factory.mktemp("genai") / "p.csv"
    path.write_text(files.genai_perf_csv(times, throughput, successor=successor))
    point = only(measurements.load(path))
    assert point.latency == pytest.approx(np.mean(times), abs=6e-6)
    assert point.throughput == pytest.approx(throughput, abs=6e-3) and point.count == len(times)


# What is wrong, and where

BAD = {
    "empty": (b"", "row 1, column 1: the file is empty"),
    "blank": (b"\xef\xbb\xbf \n\n", "row 1, column 1: the file is empty"),
    "utf-16": ("batch,latency (ms)\n1,2\n".encode("utf-16"), "row 1, column 1: must be UTF-8"),
    "latin-1": ("batch,latency (µs)\n1,2\n".encode("latin-1"), "row 1, column 16: .*byte 0xb5"),
    "binary": (b"batch\0,1", "row 1, column 6: must be text"),
    "comments": ("# nothing\n", "row 1, column 1: .*comments alone"),
    "no rows": ("batch,latency (ms)\n", "row 2, column 1: must hold a row"),
    "no batch": ("size,latency (ms)\n1,2\n", "row 1, column 1: must have columns 'batch'"),
    "no latency": ("batch,p99 of something\n1,2\n", "row 1, column 1: .*'latency .ms.'"),
    "throughput": ("batch,throughput (req/s)\n1,2\n", "column 'latency .ms.': .*never idles"),
    "tokens": (
        "concurrency,throughput (tokens/s),latency (ms)\n1,2,3\n",
        r"row 1, column 'throughput \(tokens/s\)': must have a unit, such as",
    ),
    "no unit": ("batch,latency\n1,50\n", "row 2, column 'latency': must have a unit"),
    "odd unit": ("batch,latency (weeks)\n1,50\n", "row 2, column .*must be in a unit of time"),
    "mixed cells": ("batch,latency\n1,50 ms\n8,0.05 s\n", "row 3, column 'latency': .*are mixed"),
    "mixed header": ("batch,latency (ms)\n1,0.05 s\n", "row 2, column 'latency .ms.': .*are mixed"),
    "twice": ("batch,latency (ms),time (s)\n1,2,3\n", "column 'time .s.': must be there once"),
    "zero": ("batch,latency (ms)\n1,5\n2,0\n", "row 3, column 'latency .ms.': .*above 0, got '0'"),
    "negative": ("batch,latency (ms)\n1,-5\n", "row 2, column 'latency .ms.': .*above 0, got '-5'"),
    "zero batch": ("batch,latency (ms)\n0,5\n", "row 2, column 'batch': .*above 0, got '0'"),
    "half batch": ("batch,latency (ms)\n1.5,5\n", "row 2, column 'batch': must be a whole number"),
    "nan": ("batch,latency (ms)\n1,5\n2,NaN\n", "row 3, column 'latency .ms.': .*got 'NaN'"),
    "inf": ("batch,latency (ms)\n1,1e999\n", "row 2, column 'latency .ms.': .*finite"),
    "gap": ("batch,latency (ms)\n1,\n", "row 2, column 'latency .ms.': .*got ''"),
    "short": ("batch,latency (ms)\n1\n", "row 2, column 'latency .ms.': must have 2 cells, has 1"),
    "long": ("batch,latency (ms)\n1,2,3\n", "row 2, column 3: must have 2 cells, has 3"),
    "comma": ("batch;latency (ms)\n1;50,5\n", "row 2, column .*with a point for the decimals"),
    "quote": ('batch,latency (ms)\n1,"5\n', "row 2, column 1: no row of a table"),
    "disagree": (
        "batch,latency (ms)\n1,50\n8,60\n1,70\n",
        "row 4, column 'batch': batch 1 takes 0.07 s here and 0.05 s in row 2",
    ),
    "broken json": ('{"completed": 3,\n "duration": 1', "row 2, column 15: the JSON breaks off"),
    "broken text": ('{"completed": 3,\n "dura', "row 2, column 2: the JSON breaks off"),
    "no json": ('{"completed": 3 oops}', "row 1, column 17: no JSON"),
    "list": ("[1, 2]", "row 1, column 1: must be a JSON object, is a list"),
    "other json": ('{"a": 1}', "row 1, column 1: must be a result of vllm bench serve"),
    "deep": ("[" * 100_000, "row 1, column"),
    "no runs": ('{"benchmarks": []}', "row 1, column 'benchmarks': must hold a run, is empty"),
    "metric": ("Metric,avg\nTime To First Token (ms),3\n", "row 1, column 'Metric': .*is missing"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_fault_is_told_with_file_row_and_column(save, name):
    content, pattern = BAD[name]
    path = save(content)
    with pytest.raises(ValueError, match=pattern) as raised:
        measurements.load(path)
    assert str(path) in str(raised.value)


def broken(**changes: Any) -> str:
    return json.dumps(files.vllm_serve()) + "\n" + json.dumps(files.vllm_serve(**changes))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("completed", 0), ("completed", 7.5), ("completed", "8"), ("completed", ...)),
        *(("duration", -1.0), ("duration", None), ("duration", float("nan"))),
        *(("request_throughput", float("nan")), ("max_concurrency", 0), ("request_rate", "fast")),
        *(("mean_e2el_ms", float("nan")), ("p99_e2el_ms", 0.0), ("latencies", "1, 2")),
        *(("duration", True), ("failed", -1), ("request_rate", -2)),
    ],
)
def test_a_wrong_field_of_vllm_is_told_with_its_result(save, key, value):
    with pytest.raises(ValueError, match=f"row 2, column '{key}': must be"):
        measurements.load(save(broken(**{key: value})))


def test_a_wrong_entry_of_a_list_is_told(save):
    times = [*files.TIMES[:-1], float("nan")]
    with pytest.raises(ValueError, match=r"row 1, column 'latencies\[7\]'"):
        measurements.load(save(files.vllm_serve(latencies=times)))


def test_a_mean_that_is_none_of_its_times_is_told(save):
    with pytest.raises(ValueError, match="column 'avg_latency': must be the mean of latencies, 1"):
        measurements.load(save(files.vllm_latency([1, 1], avg_latency=1.2)), batch=4)


@pytest.mark.parametrize(
    ("strategy", "column"),
    [
        ({}, r"benchmarks\[0\].config.strategy.type_"),
        ({"type_": "concurrent"}, r"benchmarks\[0\].config.strategy.streams"),
        ({"type_": "poisson", "rate": 0}, r"benchmarks\[0\].config.strategy.rate"),
    ],
)
def test_a_wrong_strategy_of_guidellm_is_told(save, strategy, column):
    with pytest.raises(ValueError, match=f"row 1, column '{column}': must"):
        measurements.load(save(files.guidellm([strategy])))


def test_a_run_of_guidellm_without_an_answer_is_told(save):
    report = files.guidellm([{"type_": "synchronous"}], [])
    place = r"column 'benchmarks\[0\].metrics.request_latency.successful.count'"
    with pytest.raises(ValueError, match=place):
        measurements.load(save(report))


@pytest.mark.parametrize("old", ["(ms)", "(requests/sec)"])
def test_a_summary_in_another_unit_is_told(save, old):
    written = files.genai_perf_csv(files.TIMES, 2.0).replace(old, "(furlongs)")
    with pytest.raises(ValueError, match=r"row \d, column 'Metric': must .*'furlongs'"):
        measurements.load(save(written))


def test_what_the_file_says_is_not_overruled(save):
    for content, said in [
        ("batch,latency (ms)\n1,50\n", {"batch": 2}),
        (files.vllm_serve(), {"concurrency": 3}),
        (files.vllm_serve(request_rate=2.0, max_concurrency=None), {"concurrency": 3}),
    ]:
        with pytest.raises(ValueError, match="must be left out, got [23]"):
            measurements.load(save(content), **said)


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ValueError, match="path .* cannot be read: .*No such file"):
        measurements.load(tmp_path / "nothing.csv")
    with pytest.raises(TypeError, match="path must be the path of a file, got 3"):
        measurements.load(3)


def test_files_that_disagree_are_not_joined(save):
    parts = [
        measurements.load(save(files.vllm_latency([time] * 2), f"{time}"), batch=4)
        for time in (1.0, 1.05, 1.2)
    ]
    assert measurements.join(*parts[:2]).batches.tolist() == [4, 4]
    with pytest.raises(ValueError, match="batch 4 takes 1.2 s here and 1 s in row 1 of"):
        measurements.join(*parts)
    with pytest.raises(TypeError, match="measured must be what load returns, got 'x'"):
        measurements.join("x")
    with pytest.raises(ValueError, match="measured must be one or more, got none"):
        measurements.join()


# Files that were damaged

JUNK = [
    None,
    True,
    "x",
    "12",
    -1,
    0,
    1.5,
    10**400,
    float("nan"),
    float("inf"),
    [],
    {},
    [1],
    {"a": 1},
]
SAMPLES = [
    files.vllm_serve(detailed=True, mean_e2el_ms=500.0, p99_e2el_ms=600.0),
    files.vllm_serve(old=True),
    json.loads(files.vllm_latency([0.9, 1.1])),
    files.guidellm([{"type_": "concurrent", "streams": 4}, {"type_": "poisson", "rate": 2.0}]),
    files.guidellm([{"type_": "throughput", "max_concurrency": 8}], layout="args"),
    json.loads(files.genai_perf_json(files.TIMES, 4.0, 2, successor=True)),
    json.loads(files.genai_perf_json(files.TIMES, 4.0, 2, successor=False)),
]
TEXTS = [
    *map(json.dumps, SAMPLES[:3]),
    files.genai_perf_csv(files.TIMES * 10, 0.8),
    files.genai_perf_csv(files.TIMES * 10, 0.8, successor=True),
    *TABLES.values(),
    "Concurrency: 1, throughput: 109 infer/sec, latency 9191 usec\n",
]


def sound(path: Path) -> None:
    """Check that a file gives right numbers or an error with its name."""
    try:
        measured = measurements.load(path, batch=4)
    except ValueError as error:
        if "must be left out" in str(error):
            try:
                measured = measurements.load(path)
            except ValueError as other:
                assert str(path) in str(other)
                return
        else:
            assert str(path) in str(error)
            return
    for point in measured.points:
        for value in (
            point.latency,
            point.throughput,
            point.in_flight,
            *point.percentiles.values(),
        ):
            assert value is None or 0 < value < math.inf
        assert point.latencies is None or (0 < point.latencies).all()
    measurements.supports(measured)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container of a JSON value with each of its keys."""
    found: list[tuple[Any, Any]] = []
    keys = value.keys() if isinstance(value, dict) else range(len(value))
    for key in keys:
        found.append((value, key))
        if isinstance(value[key], (dict, list)):
            found += places(value[key])
    return found


@settings(BRIEF, max_examples=300)
@given(data=st.data())
def test_a_field_that_was_damaged_gives_an_error_or_no_wrong_number(tmp_path_factory, data):
    content = json.loads(json.dumps(data.draw(st.sampled_from(SAMPLES))))
    container, key = data.draw(st.sampled_from(places(content)))
    if isinstance(container, dict) and data.draw(st.booleans()):
        del container[key]
    else:
        container[key] = data.draw(st.sampled_from(JUNK))
    path = tmp_path_factory.mktemp("damaged") / "r.json"
    path.write_text(json.dumps(content))
    sound(path)


@settings(BRIEF, max_examples=300)
@given(data=st.data())
def test_text_that_was_damaged_gives_an_error_or_no_wrong_number(tmp_path_factory, data):
    raw = data.draw(st.sampled_from(TEXTS)).encode()
    start = data.draw(st.integers(0, len(raw)))
    end = data.draw(st.integers(start, min(start + 9, len(raw))))
    junk = data.draw(
        st.one_of(st.binary(max_size=4), st.sampled_from([b",", b"|", b"-", b"0", b"["]))
    )
    path = tmp_path_factory.mktemp("damaged") / "r"
    path.write_bytes(raw[:start] + junk + raw[end:])
    sound(path)
