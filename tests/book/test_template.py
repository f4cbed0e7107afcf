"""The template runs with what its reader may put into it, and says why where nothing will do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import notebooks
from serving import catalog

TEMPLATE = notebooks.ROOT / "chapters" / "capstone-template.ipynb"
SMALL = {"name": "llama-3.1-8b", "devices": 1, "count": 4}


def run(capsys: pytest.CaptureFixture[str], **changed: Any) -> str:
    """Run the cells with some of the first cell's names changed, and return what is printed."""
    first, *rest = [cell for _, cell in notebooks.code_cells(notebooks.read(TEMPLATE))]
    names: dict[str, Any] = {}
    exec(first.source, names)
    assert not set(changed) - set(names), "the first cell must have what a reader replaces"
    names |= changed
    for cell in rest:
        exec(cell.source, names)
    return " ".join(capsys.readouterr().out.split())


def written(folder: Path, count: int, prompts: Any, answers: Any, gap: float) -> str:
    """A trace in a file, Poisson."""
    rng = np.random.default_rng(5)
    times = np.cumsum(rng.exponential(gap, count))
    rows = zip(times, rng.choice(prompts, count), rng.choice(answers, count), strict=True)
    path = folder / "mine.csv"
    path.write_text("time,input,output\n" + "".join(f"{t},{i},{o}\n" for t, i, o in rows))
    return str(path)


def test_a_short_trace_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, 60, [50, 300], [20, 100], 0.5)
    said = run(capsys, path=path, **SMALL)
    assert said.startswith("1 replicas for the trace as it was")
    assert "1 replicas, 1 devices: enough in 95% of 4 scenarios" in said


def test_very_long_prompts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, 200, [20_000, 60_000, 100_000], [50, 400], 5.0)
    limits = {"first": 60.0, "token": 0.2, "quantile": 0.9}
    said = run(capsys, path=path, limits=limits, **SMALL)
    assert "enough in 95% of 4 scenarios" in said


def test_a_configuration_in_the_place_of_a_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = catalog.model("llama-3.1-8b")
    config = tmp_path / "config.json"
    config.write_text(json.dumps({**model.config, "max_position_embeddings": model.context}))
    path = written(tmp_path, 300, [50, 300], [20, 100], 0.02)
    own = {"config": str(config), "parameters": model.parameters}
    assert run(capsys, path=path, **SMALL, **own) == run(capsys, path=path, **SMALL)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"limits": {"first": 0.01, "token": 0.2, "quantile": 0.95}}, "the first token takes"),
        (
            {"limits": {"first": 9.0, "token": 0.004, "quantile": 0.95}},
            "leaves no room for prompts",
        ),
        ({"name": "llama-3.1-405b", "accelerator": "l4"}, "do not fit: weights"),
        ({"name": "opt-13b"}, "do not fit: the context of opt-13b is 2048 tokens"),
    ],
)
def test_an_impossible_promise_is_answered_with_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], changed: dict[str, Any], words: str
) -> None:
    path = written(tmp_path, 200, [1500, 3000], [20, 100], 0.1)
    said = run(capsys, path=path, **{**SMALL, "dtype": "bf16", **changed})
    assert said.startswith("no number: ")
    assert "no number is enough: " in said
    assert said.count(words) == 2, said
