"""Measure the simulator against bare drawing of its random numbers, and against its peers.

All run turn by turn in one process, so that a slow machine slows all sides. Each gives the mean
and the 99th percentile of the response; what counts is customers a second of processor time. Run
it with `python benchmarks/simulation.py`; peers are measured where they are installed
(`pip install -r benchmarks/requirements-peers.txt`, in an environment of its own). LINE's engine is
a compiled program in its wheel; its Python interface has no P99 without a Java archive that the
wheel lacks, so the program is called by itself.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from serving import LinearService, engine, fleet
from serving._kernels import compiled
from serving._plan import CHUNK
from serving.policies import Fixed, Greedy, Window
from serving.simulation import Gamma, simulate

REPETITIONS = 5
MANY, SOME, FEW = 10_000_000, 1_000_000, 30_000
GPT3, ONE = LinearService(0.050, 0.0005), LinearService(0.010, 0)
STEP, LENGTHS = LinearService(0.020, 0.00025), engine.Geometric(200)
PAGED = {"slots": 128, "blocks": 2000, "prefill": engine.Chunked(1e-5, 512)}
EXPONENTIAL = {"noise": Gamma(1)}


class Result(NamedTuple):
    """What a run found, and of an engine its steps and tokens for each request."""

    mean: float = float("nan")
    last: float = float("nan")
    steps: float = 0.0
    tokens: float = 0.0


@compiled
def fill(rng: np.random.Generator, out: np.ndarray) -> None:
    """Draw exponential numbers in a compiled loop, the fastest way there is."""
    for place in range(out.size):
        out[place] = rng.standard_exponential()


def floor(customers: int, numbers: int = 1) -> Result:
    """Draw so many numbers for each customer, and do nothing with them; by the chunk, as we do."""
    rng, out = np.random.default_rng(0), np.empty(CHUNK)
    for _ in range(customers * numbers // out.size):
        fill(rng, out)
    return Result()


def lengths_floor(customers: int) -> Result:
    """Draw a gap and a geometric length for each customer."""
    rng, out = np.random.default_rng(0), np.empty(CHUNK)
    for _ in range(customers // out.size):
        fill(rng, out)
        rng.geometric(1 / LENGTHS.mean, out.size)
    return Result()


def ours(customers: int, *arguments: object, **more: object) -> Result:
    """Simulate with this package."""
    run = simulate(*arguments, **more, requests=customers)
    return Result(run.mean, run.quantile(0.99))


def stepped(customers: int, *arguments: object, **more: object) -> Result:
    """Simulate an engine step by step."""
    run = engine.simulate(*arguments, **more, requests=customers)
    made = run.steps / run.requests, run.tokens / run.requests
    return Result(run.response.mean, run.response.quantile(0.99), *made)


def routed(customers: int, *arguments: object, **more: object) -> Result:
    """Simulate replicas behind a router."""
    run = fleet.simulate(*arguments, **more, requests=customers)
    return Result(run.mean, run.quantile(0.99))


def simpy_queue(customers: int, batch: int) -> Result:
    """M/M/1, or fixed batches of GPT-3, in SimPy."""
    import simpy

    draw, responses = random.Random(0), []
    environment = simpy.Environment()
    server = simpy.Resource(environment)

    def serve(arrived: list[float]):  # noqa: ANN202
        with server.request() as turn:
            yield turn
            yield environment.timeout(GPT3.time(batch) if batch > 1 else draw.expovariate(100))
        responses.extend(environment.now - arrival for arrival in arrived)

    def source():  # noqa: ANN202
        waiting = []
        for _ in range(customers):
            yield environment.timeout(draw.expovariate(100 if batch > 1 else 80))
            waiting.append(environment.now)
            if len(waiting) == batch:
                environment.process(serve(waiting))
                waiting = []

    environment.process(source())
    environment.run()
    return Result(float(np.mean(responses)), float(np.quantile(responses, 0.99)))


def ciw_queue(customers: int) -> Result:
    """M/M/1 in Ciw."""
    import ciw

    ciw.seed(0)
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(rate=80)],
        service_distributions=[ciw.dists.Exponential(rate=100)],
        number_of_servers=[1],
    )
    run = ciw.Simulation(network)
    run.simulate_until_max_customers(customers)
    responses = [record.exit_date - record.arrival_date for record in run.get_all_records()]
    return Result(float(np.mean(responses)), float(np.quantile(responses, 0.99)))


def queueing_tool_queue(customers: int) -> Result:
    """M/M/1 in queueing-tool."""
    np.infty = np.inf  # it asks for a name that NumPy 2 dropped
    import queueing_tool

    draw = random.Random(0)
    queue = queueing_tool.QueueServer(
        arrival_f=lambda t: t + draw.expovariate(80),
        service_f=lambda t: t + draw.expovariate(100),
        collect_data=True,
    )
    queue.set_active()
    queue.simulate(n=2 * customers)
    data = queue.fetch_data()
    responses = (data[:, 2] - data[:, 0])[data[:, 2] > 0]
    return Result(float(np.mean(responses)), float(np.quantile(responses, 0.99)))


def line_queue(customers: int) -> Result:
    """M/M/1 in LINE's simulator LDES, the time of its process included."""
    import line_solver as line
    from line_solver.io.linemodel_io import save_model

    model = line.Network("M/M/1")
    source, sink = line.Source(model, "source"), line.Sink(model, "sink")
    queue = line.Queue(model, "queue", line.SchedStrategy.FCFS)
    kind = line.OpenClass(model, "customers")
    source.setArrival(kind, line.Exp(80))
    queue.setService(kind, line.Exp(100))
    model.link(line.Network.serialRouting(source, queue, sink))
    engine = Path(line.__file__).parent / "bin" / "ldes"
    with tempfile.TemporaryDirectory() as folder:
        asked, told = Path(folder) / "model.json", Path(folder) / "result.json"
        save_model(model, str(asked))
        order = [engine, "solve", asked, "-o", told, "-s", str(customers), "--seed", "1"]
        subprocess.run([*order, "--respt-samples"], check=True, capture_output=True)
        [samples] = filter(None, json.loads(told.read_text())["respTimeSamples"][1])
    return Result(float(np.mean(samples)), float(np.quantile(samples, 0.99)))


def cpu_seconds() -> float:
    """Processor time of this process and of those it started."""
    return time.process_time() + sum(os.times()[2:4])


SIMULATED: dict[str, tuple[Callable[..., Result], tuple[object, ...], dict[str, object], str]] = {
    "fixed batches": (ours, (100, Fixed(8), GPT3), {}, "1 number"),
    "M/M/1": (ours, (80, Fixed(1), ONE), EXPONENTIAL, "2 numbers"),
    "greedy": (ours, (100, Greedy(8), GPT3), {}, "1 number"),
    "greedy, M/M/1": (ours, (80, Greedy(1), ONE), EXPONENTIAL, "2 numbers"),
    "window, aware": (ours, (100, Window(16, 0.02), GPT3), {}, "1 number"),
    "window, blind": (ours, (100, Window(16, 0.05, False), GPT3), {}, "1 number"),
    "greedy, 4 servers": (ours, (400, Greedy(8), GPT3), {"workers": 4}, "1 number"),
    "greedy, buffer": (ours, (200, Greedy(8), GPT3), {"buffer": 8}, "1 number"),
    "engine": (stepped, (10, 200, STEP), {}, "1 number"),
    "engine, short": (stepped, (100, 20, STEP), {}, "1 number"),
    "engine, lengths": (stepped, (10, LENGTHS, STEP), {}, "gap and length"),
    "engine, 60 slots": (stepped, (6, LENGTHS, STEP), {"slots": 60}, "gap and length"),
    "engine, pages": (stepped, (10, LENGTHS, STEP, 100), PAGED, "gap and length"),
    "fleet, random": (routed, (8, 1, 10, "random"), EXPONENTIAL, "2 numbers"),
    "fleet, choices": (routed, (8, 1, 10, "choices"), EXPONENTIAL, "2 numbers"),
    "fleet, least work": (routed, (8, 1, 10, "least work"), EXPONENTIAL, "2 numbers"),
}
PEERS: dict[str, tuple[str, Callable[..., Result], tuple[object, ...], str]] = {
    "SimPy, M/M/1": ("simpy", simpy_queue, (1,), "M/M/1"),
    "SimPy, batches": ("simpy", simpy_queue, (8,), "fixed batches"),
    "Ciw, M/M/1": ("ciw", ciw_queue, (), "M/M/1"),
    "queueing-tool, M/M/1": ("queueing_tool", queueing_tool_queue, (), "M/M/1"),
    "LINE, M/M/1": ("line_solver", line_queue, (), "M/M/1"),
}


def main() -> None:
    """Print customers a second, the ratio to the floor or to the peer, mean and P99.

    Of engines the steps and tokens in a second follow.
    """
    runs = {f"{n} number{'s' * (n > 1)}": (floor, MANY, (n,), {}) for n in (1, 2)}
    runs |= {"gap and length": (lengths_floor, MANY, (), {})}
    floors = set(runs)
    runs |= {name: (f, MANY, given, more) for name, (f, given, more, _) in SIMULATED.items()}
    runs |= {
        name: (f, SOME if f is line_queue else FEW, given, {})
        for name, (module, f, given, _) in PEERS.items()
        if find_spec(module)
    }
    times: dict[str, list[float]] = {name: [] for name in runs}
    results: dict[str, Result] = {}
    for function, _, given, more in runs.values():
        function(3200, *given, **more)  # compiles
    for _ in range(REPETITIONS):
        for name, (function, customers, given, more) in runs.items():
            start = cpu_seconds()
            results[name] = function(customers, *given, **more)
            times[name].append((cpu_seconds() - start) / customers)
    median = {name: statistics.median(values) for name, values in times.items()}
    print(f"{os.cpu_count()} processors, medians of {REPETITIONS}; customers in a CPU second")
    for name, seconds in median.items():
        found = results[name]
        if name in SIMULATED:
            ratio = f"{seconds / median[SIMULATED[name][3]]:6.2f} floors"
        elif name in PEERS:
            ratio = f"{seconds / median[PEERS[name][3]]:6.0f} times slower than ours"
        else:
            ratio = "       floor"
        told = "" if name in floors else f"  mean {found.mean:.5f} P99 {found.last:.5f}"
        if found.steps:
            told += f"  steps {found.steps / seconds:,.0f} tokens {found.tokens / seconds:,.0f}"
        print(f"{name:21} {1 / seconds:13,.0f} {ratio}{told}")


if __name__ == "__main__":
    main()
