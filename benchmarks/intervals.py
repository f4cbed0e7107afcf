"""Count how often a 95 % interval of a simulation holds the exact value, over 200 seeds.

Right intervals hold it 190 times, and 181 to 198 times but for one run in a hundred or so. Run it
with `python benchmarks/intervals.py`; it takes a minute. Reference values of fixed batches are read
from `SERVING_DATA` where that is set.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from pathlib import Path

from scipy import optimize

from serving import LinearService
from serving.policies import Fixed
from serving.simulation import Simulation, simulate

SEEDS = 200
REQUESTS = 1_000_000
ONE = LinearService(1, 0)
GPT3 = LinearService(0.050, 0.0005)


def waits(load: float, t: float) -> float:
    """Return how many wait at most t services in M/D/1 (Erlang 1909)."""
    terms = (
        (-load * (t - n)) ** n / math.factorial(n) * math.exp(load * (t - n))
        for n in range(int(t) + 1)
    )
    return (1 - load) * math.fsum(terms)


def cases() -> Iterator[tuple[str, dict[str, object], dict[str | float, float]]]:
    """Name, arguments and exact results of each case."""
    for load in (0.5, 0.8):
        exact: dict[str | float, float] = {"mean": 1 + load / (2 * (1 - load)), "busy": load}
        for q in (0.9, 0.99):
            exact[q] = 1 + optimize.brentq(lambda t, q=q, x=load: waits(x, t) - q, 0, 15)
        yield f"M/D/1 at {load}", {"arrival_rate": load, "policy": Fixed(1), "service": ONE}, exact
    if folder := os.environ.get("SERVING_DATA"):
        reference = json.loads((Path(folder) / "reference" / "queueing.json").read_text())
        for size, row in reference["fixed_batches_exact_gpt3"]["rows"].items():
            names = {"mean": "ET_exact_ms", 0.5: "P50_ms", 0.95: "P95_ms", 0.99: "P99_ms"}
            yield (
                f"batches of {size}",
                {"arrival_rate": 100, "policy": Fixed(int(size)), "service": GPT3},
                {what: row[name] / 1e3 for what, name in names.items()},
            )


def covered(run: Simulation, what: str | float, exact: float) -> bool:
    """Tell whether the interval holds the exact value."""
    low, high = run.interval(what)
    return low <= exact <= high


def main() -> None:
    """Print the counts, and mark those outside 181 to 198."""
    print(f"{SEEDS} seeds of {REQUESTS:,} requests")
    for name, arguments, exact in cases():
        counts = dict.fromkeys(exact, 0)
        for seed in range(SEEDS):
            run = simulate(**arguments, requests=REQUESTS, seed=seed)
            for what, value in exact.items():
                counts[what] += covered(run, what, value)
        marked = (f"{w}: {n}{'' if 181 <= n <= 198 else ' (!)'}" for w, n in counts.items())
        print(f"{name:14} {', '.join(marked)}", flush=True)


if __name__ == "__main__":
    main()
