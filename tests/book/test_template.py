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
    assert "within 3 s and others 0.1 s" in said
    assert "1 replicas, 1 devices: enough in 95% of 4 scenarios" in said
    assert "60 requests are few for such a percentile" in said


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


def lines(folder: Path, gap: int) -> str:
    """A trace as lines of JSON, its requests at whole multiples of a gap."""
    path = folder / "mine.jsonl"
    rows = ({"timestamp": gap * k, "input_length": 300, "output_length": 20} for k in range(300))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_seconds_are_told_from_milliseconds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    by_s = run(capsys, path=lines(tmp_path, 2), time_unit="s", **SMALL)
    assert by_s.startswith("1 replicas for the trace as it was")
    assert "300 requests are few" in by_s
    assert run(capsys, path=lines(tmp_path, 2000), **SMALL) == by_s
    assert not run(capsys, path=lines(tmp_path, 2), **SMALL).startswith("1 replicas")


def test_what_is_left_out_of_the_unknowns_is_as_published(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = run(capsys, unknowns={}, count=2)
    assert said.startswith("4 replicas for the trace as it was")  # as chapter 22 finds
    assert "step_ratio moves it most" in said or "reading_ratio moves it most" in said
    known = run(capsys, unknowns={"step_ratio": [1.8], "reading_ratio": [1.4]}, count=2)
    assert "To measure a ratio better would not help" in known
    assert "are few" not in known


def test_an_unknown_that_can_make_it_impossible_is_the_first_to_measure(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A step of one sequence takes 17.4 ms at least: twice of it fits into 50 ms, thrice not."""
    limits = {"first": 9.0, "token": 0.05, "quantile": 0.95}
    unknowns = {"step_ratio": [2.0, 3.0], "reading_ratio": [1.2, 1.7]}
    said = run(capsys, limits=limits, unknowns=unknowns, count=20)
    assert "step_ratio moves it most. Measure first: step_ratio" in said
    assert "of the scenarios no number keeps the promise" in said


def test_weights_of_another_format_than_the_arithmetic(
    capsys: pytest.CaptureFixture[str],
) -> None:
    small = {"dtype": "int4", "arithmetic": "bf16", "devices": 2, "count": 2}
    assert "enough in 95% of 2 scenarios" in run(capsys, **small)


@pytest.mark.parametrize("moments", [[5.0], [5.0, 5.0, 5.0]])
def test_a_trace_of_one_moment_is_refused_by_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], moments: list[float]
) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("time,input,output\n" + "".join(f"{t},9,9\n" for t in moments))
    with pytest.raises(ValueError, match="mine.csv must hold requests of at least two moments"):
        run(capsys, path=str(path), **SMALL)


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
