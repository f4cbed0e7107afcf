"""The calculators: the page counts as the package does, and its tables are as exact as claimed."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from serving import (
    LinearService,
    UnstableError,
    _fit,
    _javascript,
    _tabulated,
    calculator,
    catalog,
    exact,
    kvcache,
    live,
    surrogate,
)

quickjs = pytest.importorskip("quickjs", reason="no JavaScript engine: pip install quickjs")

DRAWS = 200
FILES = ("1-arithmetic.js", "2-fit.js", "2-model.js", "2-specials.js")


@pytest.fixture(scope="module")
def page() -> Any:
    """Give a JavaScript engine that has the model and the catalogue."""
    context = quickjs.Context()
    for name in FILES:
        context.eval((Path(live.__file__).parent / live.RUNTIME / name).read_text("utf-8"))
    context.eval(f"live.data.catalog = {json.dumps(_fit.data())}")
    return context


def asked(context: Any, expression: str, *data: object) -> Any:
    """Call a JavaScript function with data, and give back its data."""
    written = ", ".join(json.dumps(one) for one in data)
    return json.loads(context.eval(f"JSON.stringify(({expression})({written}))"))


def test_the_whole_script_can_be_read(page):
    page.eval(f"new Function({json.dumps(live.script())})")
    with pytest.raises(quickjs.JSException, match="SyntaxError"):
        page.eval(f"new Function({json.dumps(live.script() + '; let a; let a;')})")


FITS = """(all) => all.map((one) => {
  try { return live.fit(...one); } catch (reason) { return reason.words || String(reason); }
})"""


@cache
def drawn() -> list[tuple[Any, ...]]:
    """Draw choices of all kinds: each model, few and many tokens, formats that do not fit."""
    source = random.Random(7)
    models, machines = [*catalog.models()], [*catalog.accelerators()]
    formats = [*kvcache.BYTES]
    return [
        (
            models[k % len(models)],
            source.choice(machines),
            source.choice(_fit.DEVICES[:6]),
            source.choice(["bf16", *formats]),
            source.choice(formats),
            source.choice(_fit.SHARES),
            source.choice([1, 16, 17, int(2 ** source.uniform(0, 20))]),
        )
        for k in range(DRAWS)
    ]


def places(setting: tuple[Any, ...]) -> list[Any]:
    """The same choice by places in the lists of the page."""
    model, machine, devices, cache, weights, share, tokens = setting
    formats = [name for name, *_ in _fit.data()["formats"]]
    names = [one["name"] for one in _fit.data()["models"]]
    machines = [name for name, _ in _fit.data()["accelerators"]]
    return [
        names.index(model),
        machines.index(machine),
        devices,
        formats.index(cache),
        formats.index(weights),
        share,
        tokens,
    ]


@cache
def counted(setting: tuple[Any, ...]) -> dict[str, int] | str:
    """What `serving.kvcache` says, one call for each number."""
    model, machine, devices, cache, weights, share, tokens = setting
    chosen, device = catalog.model(model), catalog.accelerator(machine)
    try:
        kept = kvcache.layout(chosen.config, cache, devices)
        sequence = kept.sequence_bytes(tokens)
    except ValueError as refusal:
        return str(refusal)
    held = -(-chosen.parameters * kvcache.BYTES[weights] // devices)
    room = kvcache.memory_budget(device.memory, share, int(held)).cache
    return {
        "token": kept.bytes_per_token,
        "sequence": sequence,
        "weights": int(held),
        "usable": kvcache.memory_budget(device.memory, share).cache,
        "room": room,
        "count": kept.max_sequences(room, tokens),
    }


def faults(page: Any) -> list[str]:
    """Where the page and the package disagree."""
    settings = drawn()
    shown = asked(page, FITS, [places(one) for one in settings])
    return [
        f"{setting}: {ours} here, {theirs} in the page"
        for setting, ours, theirs in zip(settings, map(counted, settings), shown, strict=True)
        if (isinstance(ours, str) != isinstance(theirs, str))
        or (not isinstance(ours, str) and ours != theirs)
    ]


def test_the_page_counts_to_the_byte(page):
    known = [counted(one) for one in drawn()]
    refused = [one for one in known if isinstance(one, str)]
    assert len(refused) > DRAWS // 20
    assert sum(not isinstance(one, str) and one["count"] > 0 for one in known) > DRAWS // 4
    assert any(not isinstance(one, str) and one["room"] == 0 for one in known)
    assert not faults(page)


@pytest.mark.parametrize(
    "fault",
    [
        "live.data.catalog.models.forEach((m) => { for (const l of Object.values(m.layouts))"
        " if (l.groups) for (const g of l.groups) g[3] = null; })",
        "live.data.catalog.models.forEach((m) => { for (const l of Object.values(m.layouts))"
        " if (l.groups) l.states = 0; })",
        "live.data.catalog.models.forEach((m) => { for (const l of Object.values(m.layouts))"
        " if (l.groups) l.context = null; })",
        "live.data.catalog.formats[8][2] += 1",
        "live.data.catalog.accelerators[0][1] -= 2 ** 20",
    ],
)
def test_a_page_that_counts_otherwise_is_found(page, fault):
    kept = page.eval("JSON.stringify(live.data.catalog)")
    page.eval(fault)
    assert faults(page)
    page.eval(f"live.data.catalog = {kept}")
    assert not faults(page)


def test_the_page_names_what_it_refuses(page):
    setting = ("llama-2-70b", "a100-80gb", 3, "bf16", "bf16", 0.9, 100)
    [words] = asked(page, FITS, [places(setting)])
    assert "cannot split" in words
    [words] = asked(page, FITS, [places((*setting[:2], 1, *setting[3:6], 5000))])
    assert re.fullmatch(r"The configuration of llama-2-70b states 4,?096 tokens as the .*", words)
    [words] = asked(page, FITS, [places(("gpt-3", *setting[1:2], 1, "fp8_scaled", *setting[4:]))])
    assert isinstance(words, dict)


def test_one_more_token_takes_what_a_longer_sequence_keeps(page):
    """Past a full window less than before it, and nothing where all layers have one."""
    names = ["llama-3.1-8b", "gemma-3-27b", "mistral-7b-v0.1", "deepseek-v3", "mamba-2.8b"]
    ask = "(all) => all.map((one) => live.oneMore(...one))"
    seen = {}
    for name in names:
        kept = kvcache.layout(catalog.model(name).config, "bf16", 1)
        last = kept.context or 100_000
        for tokens in (1, 1023, 1024, 4096, last - 1):
            [found] = asked(page, ask, [places((name, "h100-sxm", 1, "bf16", "bf16", 0.9, tokens))])
            assert found == kept.sequence_bytes(tokens + 1) - kept.sequence_bytes(tokens)
            seen[name, tokens] = found
    assert 0 < seen["gemma-3-27b", 1024] < seen["gemma-3-27b", 1023]
    assert seen["mistral-7b-v0.1", 4096] == 0 < seen["mistral-7b-v0.1", 1024]
    longest = places(("gpt-oss-20b", "h100-sxm", 1, "bf16", "bf16", 0.9, 131_072))
    assert asked(page, ask, [longest]) == asked(page, ask, [[*longest[:-1], 131_071]])


def test_the_first_option_of_each_choice_is_the_example_of_the_book():
    first = {
        name: value
        for options in _fit.presets().values()
        for name, value in next(iter(options.values())).items()
    }
    setting = [first[name] for name in _fit.ARGUMENTS if name != "tokens"]
    assert _fit.named(*setting, 2048) == _fit.fit(
        "gpt-3", "a100-80gb", 8, "bf16", "bf16", 0.9, 2048
    )
    assert _fit.named(*setting, 2048).count == 27


# Tables of exact queues.


def test_entries_of_the_tables_are_those_of_the_exact_queues():
    source = random.Random(5)
    for policy, lines in _tabulated.LINES.items():
        grid = list(product(*lines.values()))
        for what in ("mean", "p99"):
            entries = _tabulated.read()[policy][what]
            assert len(entries) == len(grid)
            for k in source.sample(range(len(grid)), 12):
                point = dict(zip(lines, grid[k], strict=True))
                again = _tabulated.computed(policy, what, **point)
                close = None if again is None else pytest.approx(again, rel=2e-5)
                assert entries[k] == close, (policy, what, point)


@pytest.fixture(scope="module")
def chooser() -> Any:
    """Give an engine with the chart that chooses a batch: its terms, and its data."""
    context = quickjs.Context()
    folder = Path(live.__file__).parent / live.RUNTIME
    for name in ("1-arithmetic.js", "2-fit.js", "2-model.js", "2-specials.js", "3-numbers.js"):
        context.eval((folder / name).read_text("utf-8"))
    context.eval((folder / "7-verdicts.js").read_text("utf-8"))
    context.eval(_javascript.script())
    context.eval(f"spec = {json.dumps(calculator.batch().spec)}")
    context.eval("spec.verdict = live.withTerms(spec)")
    return context


TERM = "(name, all) => all.map((p) => live.attempt(spec.verdict.terms[name], p))"


def servers(count: int) -> Iterator[dict[str, float]]:
    """Draw servers inside the tables, near their edges and corners too."""
    source = random.Random(11)
    for _ in range(count):
        cap = source.choice(_tabulated.LINES["greedy"]["max_batch"])
        fill = source.choice([source.uniform(0.004, 0.98), source.uniform(0.85, 0.989)])
        own = source.choice([source.uniform(0, 0.94), source.uniform(0, 0.2)])
        rate = float(f"{10 ** source.uniform(0, 3):.3g}")
        yield {
            "arrival_rate": rate,
            "t_fixed": fill * cap * (1 - own) / rate,
            "t_req": own / rate,
            "max_batch": cap,
        }


def test_greedy_servers_are_as_exact_as_claimed(chooser):
    points = list(servers(60))
    shown = {w: asked(chooser, TERM, w, points) for w in ("greedyMean", "greedyTail")}
    compared = 0
    for k, point in enumerate(points):
        found = [shown[w][k].get("value") for w in ("greedyMean", "greedyTail")]
        if found[0] is None:
            continue
        service = LinearService(point["t_fixed"], point["t_req"])
        queue = exact.GreedyQueue(point["arrival_rate"], point["max_batch"], service)
        truth = [queue.mean, queue.quantile(0.99)]
        assert found == pytest.approx(truth, rel=calculator.ACCURACY), point
        compared += 1
    assert compared > 40


def test_fixed_batches_are_as_exact_as_claimed(chooser):
    source = random.Random(13)
    points = []
    for _ in range(120):
        load = source.choice([source.uniform(0.01, 0.99), source.uniform(0.9, 0.99)])
        size, rate = round(2 ** source.uniform(0, 8)), 10 ** source.uniform(-1, 3)
        part = source.random()
        points.append(
            {
                "arrival_rate": rate,
                "batch": size,
                "t_fixed": part * load * size / rate,
                "t_req": (1 - part) * load / rate,
            }
        )
    shown = {w: asked(chooser, TERM, w, points) for w in ("fixedMean", "fixedTail")}
    for k, point in enumerate(points):
        service = LinearService(point["t_fixed"], point["t_req"])
        queue = exact.FixedBatchQueue(point["arrival_rate"], point["batch"], service)
        found = [shown[w][k].get("value") for w in ("fixedMean", "fixedTail")]
        truth = [queue.mean, queue.quantile(0.99)]
        assert found == pytest.approx(truth, rel=calculator.ACCURACY), point


EXAMPLE = {
    "arrival_rate": 100,
    "t_fixed": 0.05,
    "t_req": 0.0005,
    "max_batch": 64,
    "utilization_target": 0.9,
    "response_limit": 0.2,
}


def kind(context: Any, name: str, **changes: float) -> str:
    """Why a term has no value, empty if it has one."""
    [found] = asked(context, TERM, name, [EXAMPLE | {"batch": 7} | changes])
    return found["outside"]["kind"] if "outside" in found else ""


def test_outside_of_the_tables_nothing_is_said(chooser):
    assert kind(chooser, "fixedTail") == kind(chooser, "greedyTail") == ""
    assert kind(chooser, "fixedTail", batch=5) == "unstable"
    assert kind(chooser, "greedyTail", max_batch=4) == "unstable"
    assert kind(chooser, "greedyTail", max_batch=7) == "grid"
    assert kind(chooser, "fixedTail", batch=1, arrival_rate=19.7) == "grid"  # load above 0.99
    assert kind(chooser, "greedyTail", arrival_rate=1) == "grid"  # hardly busy
    assert kind(chooser, "fixedTail", batch=200, arrival_rate=1) == "grid"  # hardly busy


def test_the_least_and_the_surrogate_batch_are_those_of_the_package(chooser):
    source = random.Random(17)
    points = [
        EXAMPLE
        | {
            "arrival_rate": float(f"{10 ** source.uniform(0, 3):.2g}"),
            "t_fixed": float(f"{10 ** source.uniform(-2, 0):.1g}"),
            "utilization_target": source.choice([0.5, 0.75, 0.9]),
        }
        for _ in range(60)
    ]
    shown = {w: asked(chooser, TERM, w, points) for w in ("least", "planned", "surrogate")}
    compared = 0
    for k, point in enumerate(points):
        service = LinearService(point["t_fixed"], point["t_req"])
        rate, target = point["arrival_rate"], point["utilization_target"]
        asks = {
            "least": lambda s=service, r=rate: s.min_batch(r),
            "planned": lambda s=service, r=rate, t=target: s.min_batch(r, t),
            "surrogate": lambda s=service, r=rate: surrogate.optimum(r, s),
        }
        for name, ask in asks.items():
            try:
                here = ask()
            except UnstableError:
                here = None
            compared += here is not None
            if name == "surrogate" and shown["least"][k].get("value") is None:
                continue  # the page says nothing of it then
            large = name != "surrogate" and (here or 0) > calculator.LARGEST_BATCH
            beyond = here is None or large
            assert shown[name][k].get("value") == (None if beyond else here), (name, point)
    assert compared > 100


def test_requests_that_no_batch_keeps_up_with_are_told_from_a_batch_too_large(chooser):
    ask = "(p) => live.noBatch(p, 256)"
    words = asked(chooser, ask, EXAMPLE | {"arrival_rate": 400, "t_req": 0.003})
    assert words.startswith("No batch of any size keeps up") and " 1.2 s " in words
    with pytest.raises(UnstableError):
        LinearService(0.05, 0.003).min_batch(400)
    large = EXAMPLE | {"arrival_rate": 1900}
    assert LinearService(0.05, 0.0005).min_batch(1900) > calculator.LARGEST_BATCH
    assert asked(chooser, ask, large) == "No batch up to 256 keeps up."


def test_the_choice_is_that_of_the_exact_queues(chooser):
    ask = "(p) => live.fixedChoice(spec.verdict, p, 6, 64, spec.data.queues.accuracy)"
    found = asked(chooser, ask, EXAMPLE)
    service = LinearService(0.05, 0.0005)
    tails = {b: exact.FixedBatchQueue(100, b, service).quantile(0.99) for b in range(6, 33)}
    best = min(tails, key=tails.get)
    assert best in found["similar"]
    assert found["value"] == pytest.approx(tails[found["size"]], rel=calculator.ACCURACY)
    assert all(tails[b] <= 0.2 for b in found["within"])
    almost = 0.2 / (1 + 2 * calculator.ACCURACY)
    assert all(tails[b] > almost for b in tails if b not in found["within"])
    assert found["within"] == list(range(7, found["within"][-1] + 1))
