"""Result files of benchmark tools that write JSON: vLLM, GuideLLM, GenAI-Perf and AIPerf.

Fields and units are those of the tools' sources, read in: vllm-project/vllm
``vllm/benchmarks/serve.py`` and ``vllm/benchmarks/latency.py``; vllm-project/guidellm
``src/guidellm/benchmark/benchmark.py`` (first reports, strategy under ``args``),
``src/guidellm/benchmark/objects.py`` (under ``scheduler``) and
``src/guidellm/benchmark/schemas`` (under ``config``); triton-inference-server/perf_analyzer
``genai-perf/genai_perf/export_data/json_exporter.py``; ai-dynamo/aiperf
``src/aiperf/common/models/export_models.py``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ._points import NOTHING, Point
from ._reading import Node, fault

SECONDS = {"s": 1.0, "sec": 1.0, "secs": 1.0, "second": 1.0, "seconds": 1.0}
SECONDS |= {"ms": 1e-3, "msec": 1e-3, "millisecond": 1e-3, "milliseconds": 1e-3}
SECONDS |= {"us": 1e-6, "usec": 1e-6, "µs": 1e-6, "μs": 1e-6}
SECONDS |= {"microsecond": 1e-6, "microseconds": 1e-6, "ns": 1e-9, "nanoseconds": 1e-9}
"""Units of time [s]."""
PER_SECOND = {f"{what}{per}" for what in ("requests", "request", "req", "inferences", "infer")
              for per in ("/s", "/sec", "/second", " per sec", " per second")}  # fmt: skip
PER_SECOND |= {"1/s", "per sec", "rps", "qps"}
"""Units of requests a second."""
CLOSE = 1e-6
"""Relative error of a mean that a tool wrote beside what it is the mean of [1]."""
TAIL = re.compile(r"p(\d+)(?:\.(\d+))?")


def read(found: list[Node]) -> tuple[Point, ...]:
    """Read whatever tool's documents these are."""
    points: list[Point] = []
    for node in found:
        if isinstance(node.at("benchmarks").value, list):
            points += [_guidellm(run) for run in node.at("benchmarks").each()]
        elif node.at("avg_latency").value is not None:
            points.append(_vllm_latency(node))
        elif isinstance(node.at("request_latency").value, dict):
            points.append(_genai_perf(node))
        elif node.at("completed").value is not None or node.at("duration").value is not None:
            points.append(_vllm_serve(node))
        else:
            keys = ", ".join(list(node.value)[:8]) or "nothing"
            what = "must be a result of vllm bench serve (with 'completed'), vllm bench latency "
            what += "('avg_latency'), GuideLLM ('benchmarks'), GenAI-Perf or AIPerf "
            raise fault(node.file, node.row, 1, f"{what}('request_latency'), has {keys}")
    if not points:
        raise fault(found[0].file, found[0].row, "benchmarks", "must hold a run, is empty")
    return tuple(points)


def _vllm_serve(node: Node) -> Point:
    """Read a run of ``vllm bench serve``, with ``--save-detailed`` or without."""
    completed = node.at("completed").count()
    duration = node.at("duration").number()
    if completed is None:
        raise node.at("completed").wrong("must be a whole number above 0")
    rate = node.at("request_rate")
    throughput = node.at("request_throughput").optional() or completed / duration
    latencies = _vllm_latencies(node, completed)
    mean, source = _vllm_mean(node, completed, latencies)
    return Point(
        node.file,
        node.row,
        "vllm bench serve",
        concurrency=node.at("max_concurrency").count(),
        rate=math.inf if rate.value in ("inf", math.inf) else rate.optional(),
        throughput=throughput,
        latency=mean,
        latency_from=source,
        count=completed,
        failed=node.at("failed").count(zero=True),
        percentiles=_vllm_percentiles(node),
        latencies=latencies,
    )


def _vllm_latencies(node: Node, completed: int) -> NDArray[np.float64] | None:
    """Time of each completed request; what failed stands in the lists too."""
    written = node.at("latencies").numbers()
    if written is None:
        first, gaps = node.at("ttfts").numbers(), node.at("itls")
        if first is None or gaps.value is None:
            return None
        between = [entry.numbers() for entry in gaps.each()]
        if len(between) != len(first):
            raise gaps.wrong(f"must be as long as ttfts, {len(first)}")
        written = first + [0.0 if gap is None else gap.sum() for gap in between]
    failures = node.at("errors").value
    done = written > 0
    if isinstance(failures, list) and len(failures) == len(written):
        done &= np.array([not error for error in failures], dtype=bool)
    if done.sum() != completed:
        what = f"must hold a time above 0 for each of {completed} completed requests, holds "
        raise fault(node.file, node.row, "latencies", f"{what}{int(done.sum())}")
    return _fixed(written[done])


def _vllm_mean(
    node: Node, completed: int, latencies: NDArray[np.float64] | None
) -> tuple[float | None, str]:
    """Mean time of a request, as written or from what it consists of.

    The gaps between tokens are pooled over all requests, so that their mean times how many
    there are for each request, plus the mean time to the first token, is the mean time exactly,
    where each token came in a piece of its own.
    """
    mean = node.at("mean_e2el_ms").optional()
    if mean is not None:
        return mean / 1000, "mean_e2el_ms"
    if latencies is not None:
        return float(latencies.mean()), "latencies"
    first, gap = node.at("mean_ttft_ms").optional(), node.at("mean_itl_ms").optional(zero=True)
    tokens = node.at("total_output_tokens").count(zero=True)
    if first is None or gap is None or tokens is None or tokens < completed:
        return None, ""
    source = "mean_ttft_ms + mean_itl_ms (total_output_tokens / completed - 1)"
    return (first + gap * (tokens / completed - 1)) / 1000, source


def _vllm_percentiles(node: Node) -> Mapping[float, float]:
    named = {key: TAIL.fullmatch(key.removesuffix("_e2el_ms")) for key in node.value}
    found = {
        _percentage(match[1], match[2]): node.at(key).number() / 1000
        for key, match in named.items()
        if match and key.endswith("_e2el_ms")
    }
    median = node.at("median_e2el_ms").optional()
    return MappingProxyType(found if median is None else {50.0: median / 1000} | found)


def _percentage(whole: str, decimals: str | None) -> float:
    return float(f"{whole}.{decimals or 0}")


def _vllm_latency(node: Node) -> Point:
    """Read a run of ``vllm bench latency``; the size of its batches is not in the file."""
    mean, latencies = node.at("avg_latency").number(), node.at("latencies").numbers()
    if latencies is not None:
        if not latencies.size or latencies.min() <= 0:
            raise fault(node.file, node.row, "latencies", "must hold times above 0")
        if abs(latencies.mean() / mean - 1) > CLOSE:
            rule = f"must be the mean of latencies, {latencies.mean():.6g}"
            raise node.at("avg_latency").wrong(rule)
    shares = node.at("percentiles")
    named = [key for key in shares.named() if re.fullmatch(r"\d+(\.\d+)?", key)]
    percentiles = {float(key): shares.at(key).number() for key in named}
    return Point(
        node.file,
        node.row,
        "vllm bench latency",
        latency=mean,
        latency_from="avg_latency",
        count=None if latencies is None else len(latencies),
        percentiles=MappingProxyType(percentiles),
        latencies=None if latencies is None else _fixed(latencies),
    )


def _guidellm(run: Node) -> Point:
    """Read one benchmark of a GuideLLM report, of any of its layouts; times are in seconds."""
    strategy = run.first(("config", "strategy"), ("scheduler", "strategy"), ("args", "strategy"))
    kind = strategy.at("type_").value
    if not isinstance(kind, str):
        raise strategy.at("type_").wrong("must name a strategy")
    rate = strategy.at("rate").number() if kind in ("constant", "poisson") else None
    concurrency = {
        "synchronous": lambda: 1,
        "concurrent": strategy.at("streams").count,
        "throughput": strategy.at("max_concurrency").count,
    }.get(kind, lambda: None)()
    if kind == "concurrent" and concurrency is None:
        raise strategy.at("streams").wrong("must be a whole number above 0")
    metrics = run.at("metrics")
    cap, most = strategy.at("max_concurrency").count(), _status(metrics, "request_concurrency")
    if rate and cap and (most.at("max").optional(zero=True) or 0) >= cap:
        concurrency = cap  # the client could not keep to its rate
    if kind == "throughput":
        rate = math.inf
    latency = _status(metrics, "request_latency")
    count = latency.at("count").count()
    totals = run.first(("metrics", "request_totals"), ("request_totals",))
    lost = [totals.at(name).count(zero=True) for name in ("errored", "incomplete")]
    return Point(
        run.file,
        run.row,
        f"guidellm {kind}",
        concurrency=concurrency,
        rate=rate,
        throughput=_status(metrics, "requests_per_second").at("mean").number(),
        latency=latency.at("mean").number(),
        latency_from=f"{latency.column}.mean",
        count=count,
        failed=None if None in lost else sum(number or 0 for number in lost),
        in_flight=most.at("mean").optional(),
        percentiles=_guidellm_percentiles(latency.at("percentiles")),
        latencies=_guidellm_latencies(run, count),
    )


def _status(metrics: Node, name: str) -> Node:
    """Go to a distribution over the requests that succeeded."""
    return metrics.at(name, "successful")


def _guidellm_percentiles(node: Node) -> Mapping[float, float]:
    """``p001`` is the 0.1th, ``p05`` the 5th and ``p999`` the 99.9th percentile."""
    named = {key: TAIL.fullmatch(key) for key in node.named()}
    shares = {key: match[1] for key, match in named.items() if match}
    return MappingProxyType(
        {
            int(digits) / 10 ** max(len(digits) - 2, 0): node.at(key).number()
            for key, digits in shares.items()
        }
    )


def _guidellm_latencies(run: Node, count: int | None) -> NDArray[np.float64] | None:
    """Time of each request, unless only a sample of them was written."""
    requests = run.at("requests", "successful")
    if not isinstance(requests.value, list) or len(requests.value) != count:
        return None
    times = [request.at("request_latency") for request in requests.each()]
    if any(time.value is None for time in times):
        return None
    return _fixed(np.array([time.number() for time in times]))


def _genai_perf(node: Node) -> Point:
    """Read the summary of GenAI-Perf or of AIPerf, which keeps to its layout."""
    latency, settings = node.at("request_latency"), node.at("input_config")
    unit = latency.at("unit")
    if not isinstance(unit.value, str) or unit.value not in SECONDS:
        raise unit.wrong(f"must be one of {', '.join(SECONDS)}")
    scale = SECONDS[unit.value]
    rates = node.at("request_throughput", "unit")
    if rates.value is not None and rates.value not in list(PER_SECOND):
        raise rates.wrong("must be in requests/sec")
    stimulus = ("perf_analyzer", "stimulus")
    places = (stimulus, ("loadgen",), ())
    concurrency, rate = (
        settings.first(*((*place, name) for place in places))
        for name in ("concurrency", "request_rate")
    )
    shares = {key: TAIL.fullmatch(key) for key in latency.named()}
    many = isinstance(concurrency.value, list)  # of a sweep; which it was is not in the file
    return Point(
        node.file,
        node.row,
        "aiperf"
        if node.at("aiperf_version").value or node.at("schema_version").value
        else "genai-perf",
        concurrency=None if many else concurrency.count(),
        rate=rate.optional(),
        throughput=node.at("request_throughput", "avg").optional(),
        latency=latency.at("avg").number() * scale,
        latency_from="request_latency.avg",
        count=node.at("request_count", "avg").count(),
        failed=node.at("error_request_count", "avg").count(zero=True),
        percentiles=MappingProxyType(
            {
                _percentage(match[1], match[2]): latency.at(key).number() * scale
                for key, match in shares.items()
                if match and latency.value[key] is not None
            }
        )
        or NOTHING,
    )


def _fixed(times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Guard what was measured against change by its readers."""
    times.setflags(write=False)
    return times
