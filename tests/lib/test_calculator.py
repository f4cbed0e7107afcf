"""The calculators: the page counts as the package does, and its tables are as exact as claimed."""

from __future__ import annotations

import json
import random
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from serving import _fit, catalog, kvcache, live

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
