"""Numeric functions of the package, found by introspection, and arguments to try them with."""

from __future__ import annotations

import inspect
import json
import math
import tempfile
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

import benchmark_files
from docstrings import Documented, documented, is_numeric, parameters
from serving import (
    LinearService,
    attention,
    catalog,
    constraint,
    engine,
    fleet,
    kvcache,
    measurements,
    paging,
    policies,
    queues,
    roofline,
    simulation,
    traces,
    traffic,
)
from serving.speculation import Speculator

BELOW = {"formulas", "notation", "errors", "units"}
"""Modules that the numeric ones stand on; `formulas` has tests of its own here."""
FOR_CHAPTERS = {"book", "ledger", "live", "palette", "plotting", "reader", "sheet", "validation"}
"""Modules that show numbers and do not compute them."""
ELSEWHERE = ("serving.lab.", "serving.sizing.", "serving.catalog.configured")
"""What takes servers, machines, traces and files of its own: it is tried by test_lab_policies,
test_lab_engine, test_sizing, test_inputs and test_template."""

EDGES = [0, 0.0, -0.0, 5e-324, 1e-300, 1e-16, 1e-9, 0.07, 0.5, 1, 1 + 2**-52, 3, 8, 100, 2**53 + 1]
LARGE = [1e16, 1e100, 1e300, 1.7976931348623157e308, 10**20, 10**300, Fraction(10**30, 7)]

WRONG: list[Any] = [None, "8", b"8", True, 2 + 0j, object(), {}, Decimal("NaN")]
WRONG += [float("nan"), float("inf"), -float("inf"), np.float64("nan"), 10**400, -(10**400)]
NEGATIVE: list[Any] = [-1, -1e-300, -1e308, Fraction(-1, 3)]
WRONG_ARRAYS: list[Any] = [
    *([8, 9, entry] for entry in (None, "8", True, 2 + 0j, object(), float("nan"), 10**400)),
    *([[1, 2], [3]], ["8", "9", "10"], [True] * 3, np.array([True] * 3), {8: 1, 9: 2, 10: 3}),
]


def functions() -> dict[str, Documented]:
    """Functions, methods and classes that take numbers and check them, by their full name."""
    found = {}
    for one in documented():
        module = one.name.split(".")[1]
        takes_numbers = any(is_numeric(kind) for _, kind, _ in one.rows("Parameters"))
        holds_results = inspect.isclass(one.thing) and not hasattr(one.thing, "__post_init__")
        if module not in BELOW | FOR_CHAPTERS and takes_numbers and not holds_results:
            found[one.name] = one
    return {name: one for name, one in found.items() if not name.startswith(ELSEWHERE)}


def arguments(one: Documented) -> list[str]:
    """Names of the arguments of a function, `self` among them."""
    method = inspect.isfunction(one.thing) and "self" in inspect.signature(one.thing).parameters
    named = [name for name in parameters(one) if not name.startswith("*")]
    return ["self"] * method + named


PLACES = {
    "serving.measurements": " of a file",
    "serving.engine.Run.interval": " of an engine's run",
    "serving.engine.": " of an engine",
    "serving.constraint": " of a question",
    "serving.roofline": " of a machine",
    "serving.simulation.simulate": " of a run",
    "serving.fleet.simulate": " of a fleet",
    "serving.speculation.play": " of a play",
    "serving.speculation": " of a plan",
    "serving.paging.simulate": " of sequences",
    "serving.poisson": " of a check",
    "serving.traffic": " of traffic",
}
"""Where an argument is something else than elsewhere, and how it is called in the tables."""


def key(one: Documented, argument: str) -> str:
    """Name under which the tables below hold an argument: the object of a method by its class."""
    if argument == "self":
        owner = one.name.split(".")[2]
        owners = {"Layout": "layout", "Simulation": "simulation", "Speculator": "speculator"}
        owners |= {"Continuous": "shared engine", "Run": "run engine", "Times": "run times"}
        owners |= {"Diagnosis": "diagnosis"}
        return {**owners, "Trace": "trace", "Ordered": "ordered", "Summary": "summary"}.get(
            owner, argument
        )
    if argument == "layout":
        return "layout in an engine"
    ends = [end for start, end in PLACES.items() if one.name.startswith(start)]
    return next((argument + end for end in ends if argument + end in STRATEGIES), argument)


def call(one: Documented) -> Callable[..., Any]:
    """Return what to call; class methods are bound to their class."""
    if isinstance(one.thing, classmethod):
        return one.thing.__get__(None, LinearService)
    return one.thing


decimals = st.builds(lambda digits, power: float(f"{digits}e{power}"), st.integers(1, 999),
                     st.integers(-8, 4))  # fmt: skip
numbers = st.one_of(
    decimals,
    st.sampled_from([*EDGES, *LARGE]),
    st.integers(0, 10**6),
    st.floats(min_value=0, allow_nan=False, allow_infinity=False),
)
sizes = st.one_of(st.integers(1, 500), decimals.map(lambda x: 1 + x), numbers)
positive = st.one_of(decimals, numbers).filter(bool)
shares = st.one_of(st.sampled_from([0.7, 0.75, 0.8, 1, 1.0]), st.floats(0, 1), numbers)
services = st.builds(
    lambda t_fixed, t_req: LinearService(t_fixed, t_req if t_fixed or t_req else 1),
    st.one_of(decimals, numbers),
    st.one_of(decimals.map(lambda x: x / 1000), numbers),
)


def lists(entries: st.SearchStrategy[Any], least: int = 0) -> st.SearchStrategy[list[Any]]:
    """Short lists."""
    return st.lists(entries, min_size=least, max_size=12)


configs = st.fixed_dictionaries(
    {
        "num_hidden_layers": st.one_of(st.integers(1, 130), numbers),
        "num_attention_heads": st.sampled_from([1, 2, 8, 12, 64, 96, 0]),
        "hidden_size": st.sampled_from([64, 768, 12288, 8192, 10**30]),
    },
    optional={
        "num_key_value_heads": st.sampled_from([1, 2, 8, 96, None]),
        "head_dim": st.sampled_from([64, 128, 256, 1e300, None]),
        "sliding_window": st.sampled_from([None, None, None, 4096]),
        "rope_theta": numbers,
    },
)
groups = st.builds(
    lambda layers, heads, dim, values, window, encoder: kvcache.LayerGroup(
        layers,
        128 * heads * dim,
        values * 128 * heads * dim,
        window or None,
        encoder and window > 0,
    ),
    st.integers(1, 130),
    st.integers(1, 128),
    st.integers(1, 10**20),
    st.sampled_from([0, 1, 2]),
    st.sampled_from([0, 0, 1, 128, 4096]),
    st.booleans(),
)
states = st.builds(kvcache.State, st.integers(1, 130), st.integers(1, 10**9))
layouts = st.builds(
    kvcache.Layout,
    st.lists(groups, min_size=1, max_size=3).map(tuple),
    st.sampled_from([*kvcache.BYTES]),
    st.just(1),
    st.lists(states, max_size=2).map(tuple),
    st.sampled_from([None, None, 8192, 10**6]),
)
ENGINES = ["vllm", "vllm-v1", "vllm-v0", "sglang", "tensorrt-llm"]
ENGINES += ["llama.cpp", "whisper.cpp", "ggml", "nginx"]
SIZES = ("layers", "heads", "kv_heads", "head_width", "mlp_width", "vocabulary", "positions")
MODELS = [
    attention.random_model(attention.Shape(1, 1, 1, 1, 1, 1, 1)),
    attention.random_model(attention.Shape(2, 4, 2, 3, 5, 7, 12)),
    attention.random_model(attention.Shape(3, 2, 1, 8, 16, 9, 20), seed=1),
]
ALLOCATORS = [
    *(paging.Contiguous(64, room, buddy) for room in paging.ROOMS for buddy in (True, False)),
    *(paging.Contiguous(10**300), paging.Paged(1), paging.Paged(16, 2), paging.Paged(10**300)),
]
ARRIVED = traces.Trace(
    "a trace", np.array([0.0, 1.5, 2.0, 9.0]), np.array([5, 3, 8, 1]), np.array([1, 2, 9, 4])
)
CHECKED = [
    np.cumsum(np.random.default_rng(1).exponential(1, 200)).tolist(),
    *(list(range(-30, 30)), [0.0] * 59 + [1e-300], [0.0] + [1e308] * 40, [1.0] * 50, [0, 1, 2]),
    *([0.0] * 40 + [1.0] * 40, [-1.7976931348623157e308, *range(40), 1.7976931348623157e308]),
]
RECIPES = [
    traffic.fit(ARRIVED, 0.5, 1.0, 0.5, 0.1, 2),
    *(traffic.fit(ARRIVED, 9), traffic.recipe("azure-conversation-2023")),
]
KINDS = [
    *(policies.Fixed(1), policies.Fixed(3), policies.Greedy(1), policies.Greedy(8)),
    *(policies.Window(4, 0.02), policies.Window(4, 0.02, False), policies.Window(2, 1e300)),
]
TRAFFIC = [
    *(None, simulation.Erlang(3), simulation.Hyperexponential(2), simulation.Bursty(5, 0.1, 9)),
    *([0.0, 0.1, 0.1, 5.0, 5.0, 5.01], [-3, -2.5, 4]),
]
NOISE = [
    *(None, simulation.Gamma(1), simulation.Gamma(0), simulation.LogNormal(0.5)),
    simulation.Empirical([1, 2.5, 4]),
]
RUNS = [
    simulation.simulate(100, policies.Greedy(8), LinearService(0.05, 0.0005), requests=3200),
    simulation.simulate(50, policies.Fixed(1), LinearService(0.01, 0), requests=640, seed=1),
    simulation.simulate(None, policies.Greedy(2), LinearService(1, 0), arrivals=[0, 0.5, 7]),
]
ORDERED = [queues.srpt(0.8, 1, 1.5), queues.shortest_first(9, 0.1, 0.3, 0.5)]
MACHINES = [catalog.model("llama-2-70b"), catalog.model("gpt-3")]
SHARES = ("weights_read", "bandwidth_share", "peak_share", "link_share")
DEVICES = [catalog.accelerator("a100-80gb"), catalog.accelerator("t4")]
QUESTIONS = [
    constraint.Question(
        roofline.Machine(model, device, devices=8), rate, 100, 20, limit, policy=policy
    )
    for model, device in product(MACHINES, DEVICES)
    for rate, limit, policy in [(0.2, 5.0, "fixed"), (2.0, 1.0, "greedy"), (1e9, 1e-9, "greedy")]
]
SPECULATORS = [
    *(Speculator(0.002, 0.00002, 0.0001, 0.7), Speculator(0.02, 0.001, 0, [0.9, 0.4], 0.3)),
    *(Speculator(1e-9, 1e-9, 1e6, 1 - 2**-53, 0), Speculator(1, 0.5, 0.1, 1e-300)),
]

ANSWERS = [
    *(1, 7, 40, engine.Geometric(9), engine.LogNormal(30, 1.5), 0, 2.5, 1e12, -3),
    engine.Pairs([3, 0, 50], [1, 20, 6]),
]
STEPS = [
    *(LinearService(0.02, 0.00025), LinearService(0, 0.001), LinearService(0.01, 0)),
    *([0.02, 0.021, 0.03], [0.5], LinearService(1e308, 0), [1e-300, 1], [3, 2], []),
]
ENGINE_RUNS = [
    engine.simulate(10, 20, STEPS[0], requests=640),
    engine.simulate(
        *(1, engine.LogNormal(60, 2), STEPS[0], 30),
        **dict(slots=4, prefill=engine.Whole(1e-4), limits=(0.5, 0.05), requests=640),
    ),
    engine.simulate(None, 3, STEPS[3], arrivals=[0, 0.5, 7], blocks=2),
]
SHARED = [
    *(engine.Continuous(rate, 200, STEPS[0]) for rate in (0.01, 10, 19.9)),
    *(engine.Continuous(5, 20, STEPS[3]), engine.Continuous(6, 200, STEPS[0], slots=40)),
]


def saved() -> list[Path]:
    """Write files as tools write them, one of each kind."""
    folder = Path(tempfile.mkdtemp(prefix="measured-"))
    strategies = [{"type_": "concurrent", "streams": 4}, {"type_": "poisson", "rate": 2.0}]
    contents = [
        json.dumps(benchmark_files.vllm_serve()),
        json.dumps(benchmark_files.vllm_serve(request_rate=2.0, max_concurrency=None)),
        json.dumps(benchmark_files.guidellm(strategies)),
        benchmark_files.genai_perf_csv(benchmark_files.TIMES, 4.0),
        benchmark_files.vllm_latency([0.9, 1.1]),
        "batch,latency (ms)\n1,51\n2,50\n4,53\n8,54\n",
        "concurrency,throughput (requests/s),p99 latency (ms)\n1,10,120\n8,40,300\n",
    ]
    for place, content in enumerate(contents):
        (folder / f"{place}").write_text(content)
    return [folder / f"{place}" for place in range(len(contents))]


SAVED = saved()
MEASURED = [measurements.load(path) for path in SAVED if path.name != "4"]
DIAGNOSES = [
    measurements.diagnose([1, 2, 4, 8, 16, 32], [0.05, 0.051, 0.052, 0.055, 0.058, 0.1]),
    measurements.diagnose([8, 32], [1e-300, 2e-300]),
]


STRATEGIES: dict[str, st.SearchStrategy[Any]] = {
    "self": services,
    "service": services,
    "t_fixed": numbers,
    "t_req": numbers,
    "arrival_rate": numbers,
    "utilization": shares,
    "batch": st.one_of(sizes, lists(sizes), lists(sizes).map(np.array)),
    "batches": lists(st.one_of(st.integers(1, 64), sizes), least=1),
    "times": lists(numbers, least=1),
    "arrivals": lists(st.one_of(numbers, st.integers(-100, 100))).map(sorted),
    "services": st.one_of(numbers, lists(numbers)),
    "max_batch": st.one_of(st.integers(1, 300), numbers),
    "max_wait": st.one_of(st.just(float("inf")), numbers),
    "workers": st.one_of(st.integers(1, 9), numbers),
    "buffer": st.one_of(st.none(), st.integers(0, 40), numbers),
    "service_rate": positive,
    "service_mean": numbers,
    "service_second_moment": numbers,
    "servers": st.one_of(st.integers(1, 64), st.integers(1, 3000), numbers),
    "capacity": st.one_of(st.integers(1, 100), numbers),
    "load": st.one_of(st.integers(0, 60), st.floats(0, 60), decimals, numbers),
    "delay_probability": st.one_of(st.floats(0, 1), numbers),
    "staffing_margin": st.one_of(st.floats(0, 9), numbers),
    "service_time": positive,
    "service_cv": st.one_of(st.floats(0, 5), numbers),
    "transform": st.sampled_from([None, queues.gamma_transform(1, 1), math.sqrt]),
    "layout": layouts,
    "layout in an engine": layouts,
    "engine": st.sampled_from(ENGINES),
    "batched_tokens": st.one_of(st.sampled_from([1, 512, 8192]), numbers),
    "at_most": st.one_of(st.integers(1, 10**6), numbers),
    "state_dtype": st.sampled_from([None, None, *kvcache.BYTES, "float16"]),
    "stages": st.one_of(st.sampled_from([1, 1, 2, 3]), numbers),
    "sequences": st.one_of(st.integers(1, 9), numbers),
    "unified": st.booleans(),
    "weights": st.one_of(st.just(0), st.integers(0, 10**12), lists(st.integers(0, 10**9))),
    "activations": st.one_of(st.just(0), numbers),
    "reserve": st.one_of(st.just(0), numbers, lists(st.integers(0, 10**9))),
    "config": configs,
    "trace": st.just(ARRIVED),
    "summary": st.just(ARRIVED.summary()),
    "window": st.one_of(st.floats(0.001, 9), numbers),
    "differences": st.one_of(st.integers(0, 9), numbers),
    "arrivals of a check": st.sampled_from(CHECKED),
    "piece": st.one_of(st.none(), st.floats(1, 40), numbers),
    "cell": st.one_of(st.floats(0.01, 9), numbers),
    "penalty": st.one_of(st.floats(0, 9), numbers),
    "flicker_cv": st.one_of(st.floats(0, 3), numbers),
    "flicker_memory": st.one_of(st.floats(0.01, 9), numbers),
    "periods": st.one_of(st.integers(1, 9), numbers),
    "recipe": st.sampled_from(RECIPES),
    "max_tokens": st.one_of(st.integers(1, 4096), numbers),
    "room": st.sampled_from([*paging.ROOMS, "half"]),
    "buddy": st.booleans(),
    "spare": st.one_of(st.integers(0, 9), numbers),
    "allocator": st.sampled_from(ALLOCATORS),
    "input_tokens": lists(st.one_of(st.integers(0, 40), numbers)),
    "output_tokens": lists(st.one_of(st.integers(1, 40), numbers)),
    "pool": st.one_of(st.integers(1, 999), numbers),
    "arrivals of sequences": st.one_of(st.none(), lists(st.integers(0, 50)).map(sorted)),
    "lengths": lists(st.one_of(st.integers(0, 999), numbers)),
    "prefix": st.one_of(st.integers(0, 99), numbers),
    "dtype": st.sampled_from([*kvcache.BYTES, "float16"]),
    "tensor_parallel": st.one_of(st.sampled_from([1, 2, 4, 8, 16, 64, 3]), numbers),
    "tokens": st.one_of(st.integers(0, 10**6), numbers),
    "memory": st.one_of(st.integers(0, 10**13), numbers),
    "block_size": st.one_of(st.sampled_from([1, 16, 64, 256]), numbers),
    "encoder_tokens": st.one_of(st.none(), st.integers(0, 200), numbers),
    **dict.fromkeys(SIZES, st.one_of(st.integers(1, 9), numbers)),
    "shape": st.sampled_from([model.shape for model in MODELS]),
    "model": st.sampled_from(MODELS),
    "seed": st.one_of(st.integers(0, 9), numbers),
    "prompt": lists(st.one_of(st.integers(0, 8), numbers)),
    "count": st.one_of(st.integers(1, 12), numbers),
    "keep": st.sampled_from([*attention.KEEP, "everything"]),
    "server_aware": st.booleans(),
    "phases": st.one_of(st.integers(1, 9), numbers),
    "cv": st.one_of(st.floats(0, 100), numbers),
    "peak": st.one_of(st.floats(1, 20), numbers),
    "share": st.one_of(st.floats(0, 0.1), shares),
    "burst": st.one_of(st.floats(1, 100), numbers),
    "values": lists(positive),
    "simulation": st.sampled_from(RUNS),
    "q": shares,
    "what": st.one_of(shares, st.sampled_from([*simulation.RESULTS, "median"])),
    "level": shares,
    "arrival_rate of a run": st.one_of(st.none(), numbers),
    "policy of a run": st.sampled_from(KINDS),
    "service of a run": services,
    "workers of a run": st.one_of(st.integers(1, 4), numbers),
    "buffer of a run": st.one_of(st.none(), st.integers(0, 9), numbers),
    "arrivals of a run": st.sampled_from(TRAFFIC),
    "requests of a run": st.one_of(st.integers(32, 999), st.sampled_from([0, 31.0, 33.5, 1e300])),
    "seed of a run": st.one_of(st.integers(0, 9), numbers),
    "noise of a run": st.sampled_from(NOISE),
    "progress of a run": st.sampled_from([None, False]),
    "throughput": lists(numbers),
    "latency": lists(numbers),
    "limit": numbers,
    "slo": positive,
    "tail": st.one_of(st.just(float("inf")), numbers),
    "std": st.one_of(st.none(), numbers),
    "percentiles": st.one_of(st.just(()), st.dictionaries(st.integers(1, 99), positive)),
    "quantile": st.one_of(st.sampled_from([0.5, 0.9, 0.99, 0.999]), st.floats(0, 1), numbers),
    "requests": st.sampled_from([1, 2000, 20_000]),
    "choices": st.one_of(st.integers(1, 5), numbers),
    "replicas": st.one_of(st.integers(1, 99), numbers),
    "foresight": shares,
    "ordered": st.sampled_from(ORDERED),
    **dict.fromkeys(("arrival_rates", "service_means", "service_second_moments"), lists(numbers)),
    "preemptive": st.booleans(),
    "arrival_rate of a fleet": numbers,
    "service_time of a fleet": positive,
    "replicas of a fleet": st.one_of(st.integers(1, 9), numbers),
    "router of a fleet": st.sampled_from(fleet.ROUTERS),
    "choices of a fleet": st.one_of(st.integers(1, 5), numbers),
    "noise of a fleet": st.sampled_from(NOISE),
    "hedge of a fleet": st.one_of(st.none(), numbers),
    "requests of a fleet": st.one_of(st.integers(32, 999), st.sampled_from([0, 31.0, 33.5, 1e300])),
    "seed of a fleet": st.one_of(st.integers(0, 9), numbers),
    "model of a machine": st.sampled_from(MACHINES),
    "accelerator": st.sampled_from(DEVICES),
    "devices": st.one_of(st.sampled_from([1, 2, 4, 8, 3]), numbers),
    "dtype of a machine": st.sampled_from(["fp16", "fp32", "int8", "int4", "fp12"]),
    "cache_dtype": st.sampled_from(["fp16", "fp8", "q8_0", "fp12"]),
    "arithmetic": st.sampled_from([None, "fp16", "int8", "fp8"]),
    **dict.fromkeys(SHARES, shares),
    "call_time": numbers,
    "input_tokens of a question": st.one_of(st.integers(1, 2048), numbers),
    "output_tokens of a question": st.one_of(st.integers(1, 2048), numbers),
    "machine": st.builds(lambda question: question.machine, st.sampled_from(QUESTIONS)),
    "question": st.sampled_from(QUESTIONS),
    "max_batch of a question": st.one_of(st.sampled_from([1, 3, 7]), st.integers(513, 10**20)),
    "policy of a question": st.sampled_from(["greedy", "fixed", "window"]),
    "service of a question": st.one_of(st.none(), services),
    "token_slo": st.one_of(st.none(), numbers),
    "input_tokens of a machine": st.one_of(st.integers(1, 2048), numbers),
    "output_tokens of a machine": st.one_of(st.integers(1, 2048), numbers),
    "step_fixed": numbers,
    "step_per_sequence": numbers,
    "draft_token_time": numbers,
    "acceptance": st.one_of(st.floats(0, 1), lists(st.floats(0, 1)), shares),
    "repeat_share": shares,
    "running": st.one_of(st.integers(1, 200), numbers),
    "deepest": st.one_of(st.integers(0, 20), numbers),
    "output_tokens of a plan": st.one_of(st.integers(1, 999), numbers),
    "depths": st.one_of(st.integers(0, 9), lists(st.integers(0, 9)), numbers),
    "speculator": st.sampled_from(SPECULATORS),
    "speculator of a play": st.sampled_from(SPECULATORS),
    "arrival_rate of a play": st.one_of(st.floats(0.1, 20), numbers),
    "output_tokens of a play": st.one_of(st.floats(0, 60), st.sampled_from([1e12, 1e300])),
    "depths of a play": st.one_of(st.integers(0, 9), lists(st.integers(0, 9)), numbers),
    "geometric of a play": st.booleans(),
    "requests of a play": st.sampled_from([1, 64, 200, 1e300]),
    "seed of a play": st.one_of(st.integers(0, 9), numbers),
    "shared engine": st.sampled_from(SHARED),
    "run engine": st.sampled_from(ENGINE_RUNS),
    "run times": st.sampled_from([run.response for run in ENGINE_RUNS]),
    "mean of an engine": st.one_of(st.floats(1, 1000), numbers),
    "cv of an engine": st.one_of(st.floats(0, 10), numbers),
    "token_time of an engine": st.one_of(st.floats(0, 1), numbers),
    "budget of an engine": st.one_of(st.none(), st.integers(1, 4096), numbers),
    "prompts of an engine": lists(st.one_of(st.integers(0, 999), numbers)),
    "outputs of an engine": lists(st.one_of(st.integers(1, 999), numbers)),
    "ordered of an engine": st.booleans(),
    "arrival_rate of an engine": st.one_of(st.sampled_from([0.01, 1, 5, 20]), numbers),
    "output_tokens of an engine": st.sampled_from(ANSWERS),
    "step_times of an engine": st.sampled_from(STEPS),
    "prompt_tokens of an engine": st.sampled_from([0, 5, 40, engine.Geometric(20), -1, 1e300]),
    "slots of an engine": st.one_of(st.none(), st.integers(1, 20), numbers),
    "blocks of an engine": st.one_of(st.none(), st.integers(1, 40), numbers),
    "paged of an engine": st.sampled_from([None, paging.Paged(4, 1)]),
    "prefill of an engine": st.sampled_from([None, engine.Chunked(1e-3, 16), engine.Whole(1e-4)]),
    "batching of an engine": st.sampled_from(["continuous", "static", "padded", "none"]),
    "limits of an engine": st.sampled_from([None, (0.1, 0.05), (float("inf"), 1)]),
    "arrivals of an engine": st.sampled_from(TRAFFIC),
    "requests of an engine": st.one_of(st.integers(32, 500), st.sampled_from([0, 31.0, 33.5])),
    "seed of an engine": st.one_of(st.integers(0, 9), numbers),
    "progress of an engine": st.sampled_from([None, False]),
    "batch of an engine": st.one_of(st.integers(1, 300), numbers),
    "excess of an engine": st.one_of(st.floats(0.001, 2), numbers),
    "path of a file": st.sampled_from([*SAVED, SAVED[0].parent / "nothing"]),
    "batch of a file": st.one_of(st.none(), st.integers(1, 9), numbers),
    "concurrency": st.one_of(st.none(), st.integers(1, 9), numbers),
    "measured": st.sampled_from(MEASURED),
    "diagnosis": st.sampled_from(DIAGNOSES),
    "what of an engine's run": st.sampled_from(["busy", "goodput", "median", 0.5]),
    "what of an engine": st.one_of(
        shares, st.sampled_from(["mean", "std", "busy", "goodput", "median"])
    ),
}
"""Arguments by name, from ordinary to extreme; most are valid."""


@st.composite
def near_capacity(draw: st.DrawFn, **others: st.SearchStrategy[Any]) -> dict[str, Any]:
    """Draw a service with traffic around what it bears at a batch of 64."""
    service = draw(services)
    share = draw(st.sampled_from([0.1, 0.5, 0.75, 0.9, 0.999, 1, 1.001, 1 + 1e-15]))
    rate = min(float(share * 64 / (service.t_fixed + service.t_req * 64)), 1e308)
    drawn = {name: draw(strategy) for name, strategy in others.items()}
    return {"service": service, "arrival_rate": float(f"{rate:.6g}"), **drawn}


@st.composite
def measured(draw: st.DrawFn) -> dict[str, Any]:
    """Draw batches and times that scatter about a line, or do not."""
    batches = draw(st.lists(positive.map(lambda x: x + 1), min_size=2, max_size=9, unique=True))
    if draw(st.booleans()):
        return {"batches": batches, "times": [draw(positive) for _ in batches]}
    t_fixed, t_req = draw(decimals), draw(decimals)
    scatter = [draw(st.floats(0.9, 1.1)) for _ in batches]
    times = [(t_fixed + t_req * b) * s for b, s in zip(batches, scatter, strict=True)]
    return {"batches": batches, "times": times}


@st.composite
def served(draw: st.DrawFn) -> dict[str, Any]:
    """Draw arrivals and as many service times."""
    rows = draw(lists(st.tuples(numbers, st.one_of(decimals, numbers))))
    return {"arrivals": sorted(row[0] for row in rows), "services": [row[1] for row in rows]}


@st.composite
def filling(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a window in which a batch may fill or time out."""
    size, rate = draw(st.integers(1, 300)), draw(decimals)
    share = draw(st.sampled_from([0.01, 0.3, 0.9, 1, 1.1, 2, 10]))
    return {"arrival_rate": rate, "max_batch": size, "max_wait": share * size / rate}


RATES = [0, 0.1, 0.5, 0.9, 0.999, 1 - 1e-15, 1, 1 + 1e-15, 2]
"""Arrival rates over the service rate, around capacity."""


@st.composite
def single(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a service rate with arrivals around it."""
    service_rate = draw(positive)
    arrival_rate = min(draw(st.sampled_from(RATES)) * service_rate, 1e308)
    return {"arrival_rate": arrival_rate, "service_rate": service_rate}


@st.composite
def general(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a service time of any variability with arrivals around its capacity."""
    mean = draw(st.one_of(decimals, st.floats(1e-100, 1e100)))
    second = mean**2 * (1 + draw(st.sampled_from([0, 1e-16, 0.25, 1, 16, 1e6])))
    arrival_rate = draw(st.sampled_from(RATES)) / mean
    return {
        "arrival_rate": arrival_rate,
        "service_mean": mean,
        "service_second_moment": second,
    }


@st.composite
def inverted(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a gamma law of service times, as its two moments and its transform."""
    mean, variation = draw(decimals), draw(st.sampled_from([0, 0.1, 0.75, 1, 3]))
    return {
        "arrival_rate": draw(st.sampled_from([0.1, 0.5, 0.9, 0.99, 1.5])) / mean,
        "service_mean": mean,
        "service_second_moment": mean**2 * (1 + variation**2),
        "transform": queues.gamma_transform(mean, variation),
    }


@st.composite
def several(draw: st.DrawFn, **others: st.SearchStrategy[Any]) -> dict[str, Any]:
    """Draw servers with arrivals around what they can do together."""
    count = draw(st.one_of(st.integers(1, 64), st.integers(1, 3000)))
    rate = draw(st.one_of(decimals, st.just(1)))
    shares = [0, 1e-9, 0.1, 0.5, 0.9, 0.999, 1, 1 + 1e-15, 2, 50]
    drawn = {name: draw(strategy) for name, strategy in others.items()}
    drawn |= {"arrival_rate": draw(st.sampled_from(shares)) * count * rate, "servers": count}
    if "capacity" in drawn:
        drawn["capacity"] += count
    for name, value in [("service_rate", rate), ("service_time", 1 / rate)]:
        drawn |= {name: value} if name in drawn else {}
    if "service_mean" in drawn:
        moment = (1 + drawn["service_second_moment"]) / rate**2
        drawn |= {"service_mean": 1 / rate, "service_second_moment": moment}
    return drawn


@st.composite
def routed(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a fleet with traffic around what it can serve."""
    names = [name for name in STRATEGIES if name.endswith(" of a fleet")]
    drawn = {name.removesuffix(" of a fleet"): draw(STRATEGIES[name]) for name in names}
    drawn |= {"replicas": draw(st.integers(1, 9)), "requests": draw(st.integers(32, 999))}
    drawn["service_time"] = draw(decimals)
    share = draw(st.sampled_from([1e-9, 0.1, 0.5, 0.9, 0.999, 1, 2]))
    return drawn | {"arrival_rate": share * drawn["replicas"] / drawn["service_time"]}


@st.composite
def classed(draw: st.DrawFn) -> dict[str, Any]:
    """Draw classes of requests with a load around one."""
    rows = draw(st.lists(st.tuples(decimals, st.floats(0, 9)), min_size=1, max_size=5))
    share = draw(st.sampled_from([0.1, 0.9, 1 - 1e-12, 1, 2])) / len(rows)
    return {
        "arrival_rates": [share / time for time, _ in rows],
        "service_means": [time for time, _ in rows],
        "service_second_moments": [time**2 * (1 + more) for time, more in rows],
        "preemptive": draw(st.booleans()),
    }


@st.composite
def lengths(draw: st.DrawFn, **others: st.SearchStrategy[Any]) -> dict[str, Any]:
    """Draw lengths of requests with a load below one."""
    mean, share = draw(decimals), draw(st.sampled_from([1e-3, 0.5, 0.9, 0.9999, 1]))
    drawn = {name: draw(strategy) for name, strategy in others.items()}
    variation = draw(st.floats(0, 9))
    return {"arrival_rate": share / mean, "service_mean": mean, "service_cv": variation, **drawn}


@st.composite
def shaped(draw: st.DrawFn) -> dict[str, Any]:
    """Draw sizes of a decoder whose heads can share keys."""
    sizes = {name: draw(st.integers(1, 9)) for name in SIZES}
    return sizes | {"heads": sizes["kv_heads"] * draw(st.integers(1, 4))}


@st.composite
def continued(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a model with a prompt in its vocabulary, and a count that may just fit."""
    model = draw(st.sampled_from(MODELS))
    tokens = st.integers(0, model.shape.vocabulary - 1)
    prompt = draw(st.lists(tokens, min_size=1, max_size=model.shape.positions))
    room = model.shape.positions - len(prompt) + 1
    keep = draw(st.sampled_from(attention.KEEP))
    return {"model": model, "prompt": prompt, "count": draw(st.integers(1, room + 1)), "keep": keep}


@st.composite
def sequences(draw: st.DrawFn, **others: st.SearchStrategy[Any]) -> dict[str, Any]:
    """Draw sequences that fit an allocator, and perhaps steps at which they arrive."""
    drawn = {name: draw(strategy) for name, strategy in others.items()}
    rows = draw(
        st.lists(st.tuples(st.integers(0, 40), st.integers(1, 24)), min_size=1, max_size=12)
    )
    drawn |= {"input_tokens": [row[0] for row in rows], "output_tokens": [row[1] for row in rows]}
    if "pool" in drawn:
        waits = st.lists(st.integers(0, 50), min_size=len(rows), max_size=len(rows)).map(sorted)
        drawn["arrivals"] = draw(st.one_of(st.none(), waits))
    return drawn | {"allocator": draw(st.sampled_from(ALLOCATORS))}


@st.composite
def alike(draw: st.DrawFn) -> dict[str, Any]:
    """Draw sequences with a prefix that may fit into each."""
    prefix = draw(st.integers(0, 99))
    lengths = [prefix + rest for rest in draw(lists(st.integers(0, 99)))]
    return {"lengths": lengths, "prefix": prefix, "block_size": draw(st.integers(1, 40))}


@st.composite
def queueing(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a queue with traffic around its capacity, or a trace."""
    names = STRATEGIES.keys()
    found = {name.removesuffix(" of a run"): name for name in names if name.endswith(" of a run")}
    drawn = {name: draw(STRATEGIES[of_run]) for name, of_run in found.items()}
    drawn["workers"], drawn["requests"] = draw(st.integers(1, 4)), draw(st.integers(32, 999))
    drawn["service"] = LinearService(draw(st.floats(0.01, 10)), draw(st.floats(0, 1)))
    kind, service = drawn["policy"], drawn["service"]
    size = getattr(kind, "batch", None) or kind.max_batch
    share = draw(st.sampled_from([0.01, 0.5, 0.9, 0.99, 1 - 1e-15, 1, 1.001, 3]))
    drawn["arrival_rate"] = share * drawn["workers"] * service.rate(size)
    if isinstance(drawn["arrivals"], list):
        drawn["arrival_rate"] = None
    return drawn


@st.composite
def points(draw: st.DrawFn, first: str, second: str) -> dict[str, Any]:
    """Draw two lists of one length, the first increasing if it is of batch sizes."""
    drawn = draw(lists(st.tuples(st.one_of(st.integers(1, 9), numbers), decimals)))
    left = [pair[0] for pair in drawn]
    return {
        first: sorted(set(left)) if first == "batches" else left,
        second: sorted(pair[1] for pair in drawn[: len(set(left))])
        if first == "batches" and draw(st.booleans())
        else [pair[1] for pair in drawn[: len(set(left)) if first == "batches" else None]],
    }


@st.composite
def limited(draw: st.DrawFn) -> dict[str, Any]:
    """Draw latencies with a limit among them."""
    drawn = draw(points("batches", "latency"))
    limit = draw(st.sampled_from([*drawn["latency"], 0.01]))
    return {**drawn, "limit": limit * draw(st.sampled_from([1, 1.01]))}


def renamed(strategy: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Hand the service to a method as its object."""
    return strategy.map(lambda drawn: {"self": drawn.pop("service"), **drawn})


TOGETHER: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "serving.service.LinearService.fit": measured(),
    "serving.measurements.diagnose": measured(),
    "serving.service.LinearService.min_batch": renamed(near_capacity(utilization=shares)),
    "serving.surrogate.optimum": near_capacity(),
    "serving.surrogate.response": near_capacity(
        batch=st.one_of(st.integers(64, 99), st.just(64), st.just([64, 128.5, 1000]))
    ),
    "serving.queues.departures": served(),
    "serving.decision.decide": near_capacity(
        slo=positive,
        max_batch=st.integers(64, 80),
        quantile=st.sampled_from([0.5, 0.99]),
        percentiles=st.sampled_from([(), {66: 0.1, 70: 0.05}]),
        std=st.sampled_from([None, 0.01]),
    ),
    "serving.advice.advice": near_capacity(
        batch=st.integers(60, 99), slo=positive, tail=st.one_of(st.just(float("inf")), positive)
    ),
    "serving.tradeoff.pareto": points("throughput", "latency"),
    "serving.tradeoff.knee": points("batches", "throughput"),
    "serving.tradeoff.crossing": limited(),
    "serving.window.form": filling(),
    "serving.exact.FixedBatchQueue": near_capacity(
        batch=st.sampled_from([64, 64, 63, 8]), workers=st.sampled_from([1, 1, 2, 30])
    ),
    "serving.exact.GreedyQueue": near_capacity(
        max_batch=st.sampled_from([64, 64, 66, 8]), buffer=st.sampled_from([None, None, 0, 3, 20])
    ),
    "serving.queues.mm1": single(),
    "serving.queues.mg1": st.one_of(general(), inverted()),
    "serving.queues.mmc": several(service_rate=st.none()),
    "serving.queues.mmck": several(service_rate=st.none(), capacity=st.integers(0, 300)),
    "serving.queues.mdc": several(service_time=st.none()),
    "serving.queues.mgc": several(
        service_mean=st.none(), service_second_moment=st.sampled_from([0, 0.5, 1, 9])
    ),
    "serving.attention.Shape": shaped(),
    "serving.paging.waste": sequences(),
    "serving.paging.simulate": sequences(pool=st.integers(20, 400)),
    "serving.paging.shared_blocks": alike(),
    "serving.attention.generate": continued(),
    "serving.simulation.simulate": queueing(),
    "serving.fleet.simulate": routed(),
    "serving.fleet.round_robin": several(service_rate=st.none()).map(
        lambda drawn: {"replicas" if name == "servers" else name: x for name, x in drawn.items()}
    ),
    "serving.queues.priorities": classed(),
    "serving.queues.shortest_first": lengths(foresight=st.sampled_from([0, 0.3, 1])),
    "serving.queues.srpt": lengths(),
}
"""Arguments that go together, for functions that refuse most others."""


def drawn(one: Documented) -> st.SearchStrategy[dict[str, Any]]:
    """Arguments of a function: as they come, or such that go together."""
    apart = st.fixed_dictionaries({name: STRATEGIES[key(one, name)] for name in arguments(one)})
    return st.one_of(apart, TOGETHER.get(one.name, apart))


TYPICAL: dict[str, Any] = {
    "self": LinearService(0.050, 0.0005),
    "service": LinearService(0.050, 0.0005),
    "t_fixed": 0.050,
    "t_req": 0.0005,
    "arrival_rate": 100,
    "utilization": 0.75,
    "batch": 16,
    "batches": [8, 16, 32],
    "times": [0.054, 0.058, 0.066],
    "arrivals": [0.0, 1.0, 5.0],
    "services": [1.0, 2.0, 3.0],
    "max_batch": 8,
    "max_wait": 0.050,
    "workers": 2,
    "buffer": None,
    "service_rate": 125,
    "service_mean": 0.008,
    "service_second_moment": 0.0001,
    "servers": 3,
    "capacity": 5,
    "load": 1.5,
    "delay_probability": 0.2,
    "staffing_margin": 1.0,
    "service_time": 0.008,
    "service_cv": 0.75,
    "transform": queues.gamma_transform(0.008, 0.75),
    "layout": kvcache.Layout((kvcache.LayerGroup(80, 1024, 1024),), "bf16", 1),
    "layout in an engine": kvcache.Layout((kvcache.LayerGroup(80, 1024, 1024),), "bf16", 1),
    "engine": "sglang",
    "batched_tokens": 512,
    "stages": 2,
    "state_dtype": None,
    "at_most": 4096,
    "sequences": 4,
    "unified": False,
    "weights": 10**10,
    "activations": 10**9,
    "reserve": 10**8,
    "config": {"num_hidden_layers": 80, "hidden_size": 8192, "num_attention_heads": 64},
    "trace": ARRIVED,
    "summary": ARRIVED.summary(),
    "window": 2.0,
    "differences": 1,
    "arrivals of a check": CHECKED[0],
    "piece": 40,
    "cell": 0.5,
    "penalty": 2,
    "flicker_cv": 0.5,
    "flicker_memory": 0.1,
    "periods": 2,
    "recipe": RECIPES[0],
    "max_tokens": 2048,
    "room": "exact",
    "buddy": True,
    "spare": 1,
    "allocator": paging.Paged(16),
    "input_tokens": [8, 9, 10],
    "output_tokens": [1, 2, 3],
    "pool": 99,
    "arrivals of sequences": [0, 1, 2],
    "lengths": [8, 9, 10],
    "prefix": 5,
    "dtype": "bf16",
    "tensor_parallel": 1,
    "tokens": 2048,
    "memory": 10**12,
    "block_size": 16,
    "encoder_tokens": None,
    **{name: getattr(MODELS[1].shape, name) for name in SIZES},
    "shape": MODELS[1].shape,
    "model": MODELS[1],
    "seed": 3,
    "prompt": [3, 1, 4],
    "count": 2,
    "keep": "keys and values",
    "server_aware": True,
    "phases": 3,
    "cv": 2,
    "peak": 5,
    "share": 0.1,
    "burst": 9,
    "values": [1, 2.5, 4],
    "simulation": RUNS[0],
    "q": 0.99,
    "what": "mean",
    "level": 0.9,
    "arrival_rate of a run": 100,
    "policy of a run": policies.Greedy(8),
    "service of a run": LinearService(0.050, 0.0005),
    "workers of a run": 2,
    "buffer of a run": 20,
    "arrivals of a run": simulation.Erlang(2),
    "requests of a run": 320,
    "seed of a run": 3,
    "noise of a run": simulation.Gamma(0.5),
    "progress of a run": False,
    "throughput": [30.0, 400.0, 700.0],
    "latency": [0.029, 0.030, 0.032],
    "limit": 0.031,
    "slo": 0.200,
    "tail": 0.268,
    "std": None,
    "percentiles": (),
    "quantile": 0.99,
    "requests": 20_000,
    "choices": 2,
    "replicas": 3,
    "foresight": 0.5,
    "ordered": ORDERED[0],
    "arrival_rates": [0.1, 0.2, 0.1],
    "service_means": [1, 0.5, 2],
    "service_second_moments": [2, 0.5, 4],
    "preemptive": True,
    "arrival_rate of a fleet": 2,
    "service_time of a fleet": 0.5,
    "replicas of a fleet": 3,
    "router of a fleet": "choices",
    "choices of a fleet": 2,
    "noise of a fleet": simulation.Gamma(0.5),
    "hedge of a fleet": 1.5,
    "requests of a fleet": 320,
    "seed of a fleet": 3,
    "model of a machine": MACHINES[0],
    "accelerator": DEVICES[0],
    "devices": 4,
    "dtype of a machine": "fp16",
    "cache_dtype": "fp16",
    "arithmetic": None,
    **dict.fromkeys(SHARES, 0.5),
    "call_time": 1e-5,
    "input_tokens of a question": 128,
    "output_tokens of a question": 8,
    "machine": QUESTIONS[0].machine,
    "question": QUESTIONS[0],
    "max_batch of a question": 3,
    "policy of a question": "greedy",
    "service of a question": None,
    "token_slo": None,
    "input_tokens of a machine": 128,
    "output_tokens of a machine": 8,
    "step_fixed": 0.020,
    "step_per_sequence": 0.00025,
    "draft_token_time": 0.00075,
    "acceptance": 0.7,
    "repeat_share": 0.5,
    "running": 100,
    "deepest": 8,
    "output_tokens of a plan": 30,
    "depths": [4, 3, 1, 0],
    "speculator": SPECULATORS[0],
    "speculator of a play": SPECULATORS[0],
    "arrival_rate of a play": 100,
    "output_tokens of a play": 30,
    "depths of a play": 2,
    "geometric of a play": True,
    "requests of a play": 64,
    "seed of a play": 3,
    "shared engine": SHARED[1],
    "run engine": ENGINE_RUNS[0],
    "run times": ENGINE_RUNS[0].response,
    "mean of an engine": 200,
    "cv of an engine": 1.5,
    "token_time of an engine": 1e-4,
    "budget of an engine": 512,
    "prompts of an engine": [8, 9, 10],
    "outputs of an engine": [1, 2, 3],
    "ordered of an engine": False,
    "arrival_rate of an engine": 2,
    "output_tokens of an engine": 20,
    "step_times of an engine": [0.02, 0.021, 0.03],
    "prompt_tokens of an engine": 5,
    "slots of an engine": 8,
    "blocks of an engine": 99,
    "paged of an engine": None,
    "prefill of an engine": engine.Chunked(1e-4, 64),
    "batching of an engine": "continuous",
    "limits of an engine": None,
    "arrivals of an engine": None,
    "requests of an engine": 320,
    "seed of an engine": 3,
    "progress of an engine": False,
    "batch of an engine": 16,
    "excess of an engine": 0.1,
    "path of a file": SAVED[3],
    "batch of a file": 8,
    "concurrency": 4,
    "measured": MEASURED[0],
    "diagnosis": DIAGNOSES[0],
    "what of an engine's run": "busy",
    "what of an engine": 0.5,
}
"""One right argument of each name."""

EXTREME = [0, 1e-300, 1e-160, 1, 1.7976931348623157e308]
"""Numbers whose products, quotients and squares leave float64."""


def rows(*entries: float) -> list[list[float]]:
    """All rows of three of these numbers."""
    return [list(row) for row in product(entries, repeat=3)]


EXTREMES: dict[str, list[Any]] = {
    "service": [LinearService(x, y) for x, y in product(EXTREME[::2], EXTREME) if x or y],
    "t_fixed": EXTREME,
    "t_req": EXTREME,
    "arrival_rate": [*EXTREME, 0.5],
    "utilization": [5e-324, 1e-9, 0.5, 1 - 1e-16, 1],
    "batch": [*EXTREME[3:], *([1, x] for x in EXTREME[3:])],
    "batches": rows(1, 64, 1e160),
    "times": rows(1e-300, 1, 1.7976931348623157e308),
    "arrivals": [row for row in rows(-1.7976931348623157e308, 0, 1e308) if row == sorted(row)],
    "services": [0, 1e308, *rows(0, 1, 1e308)],
    "max_batch": [1, 2, 8, 10**9, 10**16, 1e160, 1e300, 1.7976931348623157e308],
    "max_wait": [*EXTREME, 1e9, float("inf")],
    "workers": [1, 2, 1e300],
    "buffer": [None, 0, 5, 1e300],
    "service_rate": EXTREME,
    "service_mean": [*EXTREME, 1e-308],
    "service_second_moment": EXTREME,
    "servers": [1, 2, 40, 1e300],
    "capacity": [1, 2, 50, 1e300],
    "load": [*EXTREME, 39.999999],
    "delay_probability": [5e-324, 1e-9, 0.5, 1],
    "staffing_margin": EXTREME,
    "service_time": EXTREME,
    "service_cv": EXTREME,
    "transform": [None, queues.gamma_transform(1, 0), queues.gamma_transform(1e-300, 1)],
    "layout": [
        kvcache.Layout((kvcache.LayerGroup(1, dim, dim),), dtype, 1)
        for dim, dtype in product([128, 1280, 128 * 10**298], kvcache.BYTES)
    ],
    "layout in an engine": [
        kvcache.Layout((kvcache.LayerGroup(2, 32, dim), *more), "q8_0", 1)
        for dim, more in [(32 * 10**300, ()), (0, (kvcache.LayerGroup(1, 32, 0, 9),))]
    ],
    "engine": ["vllm", "tensorrt-llm", "llama.cpp"],
    "batched_tokens": [1, 1.7976931348623157e308],
    "stages": [1, 3],
    "state_dtype": ["bf16"],
    "at_most": [1, 10**20],
    "sequences": [1, 1e160],
    "unified": [True],
    "weights": [0, 10**20],
    "activations": [0, 1e-300, 1e300],
    "reserve": [0, 1, 1.7976931348623157e308],
    "config": [
        {"num_hidden_layers": layers, "num_attention_heads": heads, "head_dim": dim}
        for layers, heads, dim in product([0, 1, 80, 1e308], [1, 64], [1, 128, 1e308])
    ],
    "trace": [ARRIVED],
    "summary": [ARRIVED.summary()],
    "window": [*EXTREME, 1e-9, 2.0],
    "differences": [0, 1, 2, 1e300],
    "arrivals of a check": CHECKED,
    "piece": [None, *EXTREME, 40.0],
    "cell": [1e-300, 1e-9, 0.5, 9.0, 10.0],
    "penalty": [0, 1e-300, 1.7976931348623157e308],
    "flicker_cv": [0, 1e-160, 10],
    "flicker_memory": [1e-300, 1e-9, 1e-5, 1, 1.7976931348623157e308],
    "periods": [1, 1000, 1e300],
    "recipe": RECIPES,
    "max_tokens": [*EXTREME, 64],
    "room": list(paging.ROOMS),
    "buddy": [True, False],
    "spare": [*EXTREME, 10],
    "allocator": ALLOCATORS,
    "input_tokens": [[0, 0, 0], [1, 10**15, 5], [1e160] * 3, [3, 30, 0]],
    "output_tokens": [[1, 1, 1], [1, 10**15, 5], [1e160] * 3, [20, 30, 9]],
    "pool": [*EXTREME, 256, 10**15],
    "arrivals of sequences": [None, [0, 0, 9]],
    "lengths": [[], [0], [10**15] * 3, [1e160], [3, 4, 5]],
    "prefix": [*EXTREME, 2],
    "dtype": [*kvcache.BYTES],
    "tensor_parallel": [*EXTREME, 2, 64, 128],
    "tokens": [*EXTREME, 2048, 10**20],
    "memory": [*EXTREME, 2**31, 10**20],
    "block_size": [*EXTREME, 16],
    "encoder_tokens": [None, *EXTREME, 100],
    **dict.fromkeys(SIZES, [1, 1e160, 10**20]),
    "shape": [MODELS[0].shape, attention.Shape(10**20, 6, 2, 10**9, 1), MODELS[2].shape],
    "model": MODELS,
    "seed": [0, 10**16, 1e160, 1.7976931348623157e308],
    "prompt": [[0], [0] * 12, [1e160], rows(0, 6, 8)[5]],
    "count": [1, 2, 10**9, 1e300],
    "keep": list(attention.KEEP),
    "server_aware": [True, False],
    "phases": EXTREME,
    "cv": [*EXTREME, 100],
    "peak": [*EXTREME, 1 + 2**-52],
    "share": [*EXTREME[:4], 1 - 2**-53],
    "burst": EXTREME,
    "values": [[], [0.0], *rows(1e-300, 1, 1.7976931348623157e308)],
    "simulation": RUNS,
    "q": [0, 5e-324, 0.5, 1 - 1e-16, 1],
    "what": [0, 0.5, 1, *simulation.RESULTS],
    "level": [5e-324, 0.5, 1 - 1e-16, 1],
    "arrival_rate of a run": [*EXTREME, 1e-9, 1e9],
    "policy of a run": [KINDS[0], KINDS[3], KINDS[5], policies.Window(10**300, 1e300)],
    "service of a run": [LinearService(x, y) for x, y in product(EXTREME[::2], EXTREME) if x or y],
    "workers of a run": [1, 1e300],
    "buffer of a run": [None, 8],
    "arrivals of a run": [None, TRAFFIC[3]],
    "requests of a run": [64],
    "seed of a run": [1.7976931348623157e308],
    "noise of a run": [simulation.Gamma(100)],
    "progress of a run": [False],
    "throughput": rows(0, 1, 1.7976931348623157e308),
    "latency": rows(0, 1, 1.7976931348623157e308),
    "limit": EXTREME,
    "slo": [1],
    "tail": [0, 1, float("inf")],
    "std": [None],
    "percentiles": [()],
    "quantile": [1 - 1e-16],
    "requests": [2000],
    "choices": [1, 2, 1000, 1e300],
    "replicas": [1, 2, 10_000, 1e300],
    "foresight": [0, 5e-324, 0.5, 1 - 1e-16, 1],
    "ordered": ORDERED,
    **dict.fromkeys(
        ("arrival_rates", "service_means", "service_second_moments"), rows(0, 1e-300, 1e300)
    ),
    "preemptive": [True, False],
    "arrival_rate of a fleet": [*EXTREME, 1e-9],
    "service_time of a fleet": EXTREME,
    "replicas of a fleet": [2, 1e300],
    "router of a fleet": ["choices", "round robin", "least work"],
    "choices of a fleet": [1, 2],
    "noise of a fleet": [simulation.Gamma(100)],
    "hedge of a fleet": [None, *EXTREME[::2]],
    "requests of a fleet": [64],
    "seed of a fleet": [1.7976931348623157e308],
    "model of a machine": MACHINES,
    "accelerator": DEVICES,
    "devices": [1, 8, 16, 1e300],
    "dtype of a machine": ["int4", "int8"],
    "cache_dtype": ["fp32"],
    "arithmetic": [None, "fp16"],
    **dict.fromkeys(SHARES, [1e-300]),
    "call_time": [0, 1.7976931348623157e308],
    "input_tokens of a question": [1, 2047, 1e300],
    "output_tokens of a question": [1, 2, 10**20],
    "machine": [QUESTIONS[0].machine, QUESTIONS[-1].machine],
    "question": QUESTIONS,
    "max_batch of a question": [1, 4],
    "policy of a question": ["greedy", "fixed"],
    "service of a question": [None],
    "token_slo": [None, 5e-324],
    "input_tokens of a machine": [1, 2047, 1e300],
    "output_tokens of a machine": [1, 2, 10**20],
    "step_fixed": [*EXTREME, 1e-9],
    "step_per_sequence": [*EXTREME, 1e-9],
    "draft_token_time": [0, 1e-300, 1],
    "acceptance": [5e-324, 1 - 1e-16],
    "repeat_share": [0, 1e-300, 1],
    "running": [1, 200, 1e300],
    "deepest": [0, 64, 1e300],
    "output_tokens of a plan": [*EXTREME, 1e9],
    "depths": [0, 64, [64, 0], [0, 64], 1e300],
    "speculator": SPECULATORS,
    "speculator of a play": SPECULATORS,
    "arrival_rate of a play": EXTREME,
    "output_tokens of a play": [1, 1e300],
    "depths of a play": [0, [64, 0]],
    "geometric of a play": [False],
    "requests of a play": [64, 1e300],
    "seed of a play": [1.7976931348623157e308],
    "shared engine": SHARED,
    "run engine": ENGINE_RUNS,
    "run times": [run.response for run in ENGINE_RUNS],
    "mean of an engine": [*EXTREME, 200],
    "cv of an engine": [*EXTREME, 10],
    "token_time of an engine": EXTREME,
    "budget of an engine": [None, *EXTREME],
    "prompts of an engine": [[0, 0, 5], [1e160] * 3, []],
    "outputs of an engine": [[1, 1, 5], [1e160] * 3, []],
    "ordered of an engine": [True, False],
    "arrival_rate of an engine": [*EXTREME, 1e-9, 40],
    "output_tokens of an engine": [1, 40, 1e300, engine.LogNormal(9, 10)],
    "step_times of an engine": STEPS,
    "prompt_tokens of an engine": [0],
    "slots of an engine": [None, 1, 1e300],
    "blocks of an engine": [None, 1e300],
    "paged of an engine": [paging.Paged(10**300)],
    "prefill of an engine": [engine.Chunked(1e300, 1), engine.Whole(1e-4)],
    "batching of an engine": ["padded"],
    "limits of an engine": [(0, 0)],
    "arrivals of an engine": [None],
    "requests of an engine": [64],
    "seed of an engine": [1.7976931348623157e308],
    "progress of an engine": [False],
    "batch of an engine": [1, 2, 10**9, 1e300],
    "excess of an engine": [*EXTREME, 1e-16],
    "path of a file": SAVED,
    "batch of a file": [None, 1, 10**20],
    "concurrency": [None, 1, 10**20],
    "measured": MEASURED,
    "diagnosis": DIAGNOSES,
    "what of an engine's run": ["busy", "throughput", "met"],
    "what of an engine": [0, 0.5, 1, "mean", "std", "busy"],
}
"""Arguments of which every combination is tried."""
EXTREMES["self"] = EXTREMES["service"]


def combinations(one: Documented) -> Iterator[dict[str, Any]]:
    """Every combination of extreme arguments."""
    names = arguments(one)
    for values in product(*(EXTREMES[key(one, name)] for name in names)):
        yield dict(zip(names, values, strict=True))


NARROW = {
    ("experts_touched", "batch"): st.integers(1, 300),
    ("chain_yield", "drafted"): st.integers(0, 300),
    ("round_robin_load", "delay_probability"): st.floats(1e-300, 2),
    ("capacity_tail", "tail_root"): st.floats(1e-30, 1e3),  # below, the exact value loses digits
}
"""Arguments whose exact powers would not end, or whose roots lose the last digits of float64."""
SIGNED = {"arrivals"}
"""Numbers that may be negative."""
ENDLESS = {"max_wait", "tail"}
"""Numbers that may be infinite."""
OBJECTS = {"self", "service", "allocator", "shape", "model", "transform", "speculator", "layout"}
"""Arguments that are no numbers."""


def wrong(name: str, kind: str) -> list[Any]:
    """Values that an argument of a name and documented type must refuse."""
    negative = [] if name in SIGNED else NEGATIVE
    allowed = {"None": [None], "bool": [True]}
    right = [value for word, values in allowed.items() if word in kind for value in values]
    wrong = [value for value in WRONG if not any(value is one for one in right)]
    if "array" in kind:
        return [*wrong, *WRONG_ARRAYS, *([value] * 3 for value in negative)]
    finite = [x for x in wrong if not (name in ENDLESS and isinstance(x, float) and x > 1)]
    return [x for x in [*finite, *negative] if x is not None or "optional" not in kind]
