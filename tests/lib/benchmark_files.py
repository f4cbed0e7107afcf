"""Result files as benchmark tools write them, from the fields of their sources."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import numpy as np

TIMES = np.array([0.4, 0.5, 0.6, 0.5, 0.45, 0.55, 0.5, 0.5])
"""Eight requests of half a second on average [s]."""


def vllm_serve(
    times: Any = TIMES, *, detailed: bool = False, old: bool = False, **changes: Any
) -> dict[str, Any]:
    """Build what `vllm bench serve` saves; ``old`` is before it kept the times of requests."""
    times = np.asarray(times, dtype=float)
    duration = float(times.sum()) / 2
    result: dict[str, Any] = {
        "date": "20250101-120000",
        "endpoint_type": "openai",
        "backend": "openai",
        "label": None,
        "model_id": "a-model",
        "tokenizer_id": "a-model",
        "num_prompts": len(times),
        "request_rate": "inf",
        "burstiness": 1.0,
        "max_concurrency": 2,
        "duration": duration,
        "completed": len(times),
        "failed": 0,
        "total_input_tokens": 10 * len(times),
        "total_output_tokens": 5 * len(times),
        "request_throughput": len(times) / duration,
        "request_goodput": None,
        "output_throughput": 5 * len(times) / duration,
        "total_token_throughput": 15 * len(times) / duration,
        "input_lens": [10] * len(times),
        "output_lens": [5] * len(times),
        "ttfts": (times / 5).tolist(),
        "itls": [[float(time) / 5] * 4 for time in times],
        "latencies": times.tolist(),
        "start_times": [float(place) for place in range(len(times))],
        "queue_times": [0.0] * len(times),
        "generated_texts": ["a"] * len(times),
        "errors": [""] * len(times),
        "max_output_tokens_per_s": 9.0,
        "max_concurrent_requests": 2,
        "rtfx": 0.0,
    }
    for name, values in (
        ("ttft", times / 5),
        ("tpot", times / 5),
        ("itl", np.repeat(times, 4) / 5),
    ):
        result[f"mean_{name}_ms"] = float(values.mean()) * 1000
        result[f"median_{name}_ms"] = float(np.median(values)) * 1000
        result[f"std_{name}_ms"] = float(values.std()) * 1000
        result[f"p99_{name}_ms"] = float(np.percentile(values, 99)) * 1000
    lists = ["input_lens", "output_lens", "start_times", "ttfts", "itls", "generated_texts"]
    dropped = [] if detailed else [*lists, "errors"]
    dropped += ["latencies", "queue_times", "failed"] if old else []
    kept = {key: value for key, value in result.items() if key not in dropped}
    return {key: value for key, value in (kept | changes).items() if value is not ...}


def vllm_latency(times: Any, **changes: Any) -> str:
    """Build what `vllm bench latency` saves."""
    times = np.asarray(times, dtype=float)
    shares = [10, 25, 50, 75, 90, 99]
    results = {
        "avg_latency": float(np.mean(times)),
        "std_latency": float(np.std(times)),
        "latencies": times.tolist(),
        "percentiles": dict(zip(shares, np.percentile(times, shares).tolist(), strict=True)),
    }
    return json.dumps(results | changes, indent=4)


def _distribution(values: Any, mean: float | None = None) -> dict[str, Any]:
    values = np.sort(np.asarray(values, dtype=float))
    names = {"p001": 0.1, "p01": 1, "p05": 5, "p10": 10, "p25": 25, "p50": 50, "p75": 75}
    names |= {"p90": 90, "p95": 95, "p99": 99, "p999": 99.9}
    empty = values.size == 0
    return {
        "mean": 0.0 if empty else float(values.mean()) if mean is None else mean,
        "median": 0.0 if empty else float(np.median(values)),
        "mode": 0.0 if empty else float(values[0]),
        "variance": 0.0 if empty else float(values.var()),
        "std_dev": 0.0 if empty else float(values.std()),
        "min": 0.0 if empty else float(values[0]),
        "max": 0.0 if empty else float(values[-1]),
        "count": int(values.size),
        "total_sum": float(values.sum()),
        "percentiles": {
            name: 0.0 if empty else float(np.percentile(values, share, method="inverted_cdf"))
            for name, share in names.items()
        },
        "pdf": None,
    }


def _statuses(values: Any, mean: float | None = None) -> dict[str, Any]:
    good, nothing = _distribution(values, mean), _distribution([])
    return {"successful": good, "incomplete": nothing, "errored": nothing, "total": good}


def guidellm(
    strategies: list[dict[str, Any]], times: Any = TIMES, *, layout: str = "config", kept: int = 99
) -> dict[str, Any]:
    """Build a GuideLLM report; its layout by where the strategy stands."""
    times = np.asarray(times, dtype=float)
    benchmarks = []
    for strategy in strategies:
        present = float(strategy.get("streams", strategy.get("max_concurrency") or 1))
        totals = {"successful": len(times), "incomplete": 1, "errored": 0, "total": len(times) + 1}
        metrics: dict[str, Any] = {
            "requests_per_second": _statuses(
                times, present / float(times.mean()) if times.size else 0.0
            ),
            "request_concurrency": _statuses([present] * len(times)),
            "request_latency": _statuses(times),
            "time_to_first_token_ms": _statuses(times * 200),
        }
        requests = [{"request_id": "r", "request_latency": float(time)} for time in times[:kept]]
        run: dict[str, Any] = {
            "type_": "generative_benchmark",
            layout: {"strategy": strategy},
            "metrics": metrics,
            "requests": {"successful": requests, "incomplete": [], "errored": [], "total": None},
        }
        (metrics if layout == "config" else run)["request_totals"] = totals
        benchmarks.append(run)
    first = {"metadata": {"version": 1, "guidellm_version": "0.4.0"}} if layout == "config" else {}
    return {**first, "benchmarks": benchmarks}


def genai_perf_csv(
    times: Any, throughput: float, *, successor: bool = False, unit: str = "ms"
) -> str:
    """Build the CSV summary of GenAI-Perf, or of its successor AIPerf."""
    written, out = np.asarray(times, dtype=float) * 1000, io.StringIO(newline="")
    writer = csv.writer(out)
    if successor:
        names = ["avg", "min", "max", "sum", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95"]
        names += ["p99", "std"]
    else:
        names = ["avg", "min", "max", "p99", "p95", "p90", "p75", "p50", "p25"]
    given = {"avg": written.mean(), "min": written.min(), "max": written.max()}
    given |= {name: np.percentile(written, int(name[1:])) for name in names if name[1:].isdigit()}
    writer.writerow(["Metric", *names])
    numbers = [given.get(name) for name in names]
    form = (lambda x: "" if x is None else f"{x:.2f}") if successor else (lambda x: f"{x:,.2f}")
    writer.writerow([f"Request Latency ({unit})", *map(form, numbers)])
    writer.writerow(["Output Sequence Length", *["5.00"] * len(names)])
    writer.writerow([])
    writer.writerow(["Metric", "Value"])
    writer.writerow(["Output Token Throughput (tokens/sec)", f"{5 * throughput:.2f}"])
    writer.writerow(["Request Throughput (requests/sec)", f"{throughput:.2f}"])
    count = str(len(written)) if successor else f"{len(written):.2f}"
    writer.writerow(["Request Count" if successor else "Request Count (count)", count])
    return out.getvalue()


def genai_perf_json(times: Any, throughput: float, concurrency: int, *, successor: bool) -> str:
    """Build the JSON summary of GenAI-Perf, or of its successor AIPerf."""
    written = np.asarray(times, dtype=float) * 1000
    latency = {"unit": "ms", "avg": written.mean(), "p50": np.median(written)}
    latency |= {"p99": np.percentile(written, 99), "min": written.min(), "max": written.max()}
    result: dict[str, Any] = {
        "request_throughput": {"unit": "requests/sec", "avg": throughput},
        "request_latency": latency,
        "request_count": {"unit": "count", "avg": float(len(written))},
    }
    if successor:
        load = {"loadgen": {"concurrency": concurrency}}
        result = {"schema_version": "1.0", "aiperf_version": "0.5.0"} | result
    else:
        load = {"perf_analyzer": {"stimulus": {"concurrency": concurrency}}}
    return json.dumps(result | {"input_config": load}, indent=2)
