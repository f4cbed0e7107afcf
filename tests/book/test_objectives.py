"""Each objective is practised: by an exercise, and by a question or a graded task."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat
import pytest

import exercises
import notebooks
import selftest
from serving import objectives
from serving.objectives import Objective, Piece
from synthetic import clean, question, replaced

FOUND = objectives.chapters(notebooks.ROOT / "chapters", notebooks.ROOT / "assignments")
EVERY = [one for chapter in FOUND for one in chapter.objectives]
FIELD_CASES = {
    *("triton5957", "triton7986", "triton4250", "tfserving1312", "yolov4triton58"),
    *("ray43288", "ttxla4891", "phubers7", "triton8094"),
}
"""Keys of the public threads in which somebody asked a sizing question."""


@pytest.mark.parametrize("objective", EVERY, ids=lambda one: one.name)
def test_the_objective_is_practised(objective: Objective) -> None:
    assert not objective.missing, f"{objective.name} lacks {' and '.join(objective.missing)}"


def test_every_chapter_is_read() -> None:
    assert [chapter.file for chapter in FOUND] == [p.name for p in notebooks.numbered_chapters()]
    assert all(len(chapter.objectives) >= 3 for chapter in FOUND)


@pytest.mark.parametrize("path", notebooks.numbered_chapters(), ids=lambda path: path.name)
def test_pieces_are_those_that_the_page_has(path: Path) -> None:
    notebook = notebooks.read(path)
    text = "\n\n".join(source for _, source in notebooks.markdown_cells(notebook))
    pieces = objectives.pieces(text)
    assert [one.target for one in pieces if one.kind == "question"] == [
        one.label for one in selftest.questions(notebook)
    ]
    assert [one.target for one in pieces if one.kind == "exercise"] == [
        group[0].options["label"] for group in exercises.grouped(notebook)
    ]
    assert all(one.objectives for one in pieces), [p.target for p in pieces if not p.objectives]


def written(folder: Path, notebook: notebooks.NotebookNode) -> list[Objective]:
    """Objectives of a folder with one chapter and two graded tasks."""
    nbformat.write(notebook, folder / "05-synthetic.ipynb")
    source = folder / "assignments" / "source" / "one"
    source.mkdir(parents=True, exist_ok=True)
    cells = [
        {"cell_type": "code", "metadata": {"serving": {"objectives": ["LO-05.3"]}}},
        {"cell_type": "code", "metadata": {}},
    ]
    metadata = {"serving": {"objectives": ["LO-05.1"]}}
    (source / "one.ipynb").write_text(json.dumps({"cells": cells, "metadata": metadata}))
    [chapter] = objectives.chapters(folder, folder / "assignments")
    return list(chapter.objectives)


def test_covered_objectives_lack_nothing(tmp_path: Path) -> None:
    found = written(tmp_path, clean())
    assert [one.name for one in found] == ["LO-05.1", "LO-05.2", "LO-05.3"]
    assert [one.missing for one in found] == [[], [], []]
    assert [piece.target for piece in found[2].of("exercise")] == ["ex-05-3", "ex-05-4"]
    assert found[0].of("task") == [Piece("task", "one", "", ("LO-05.1",))]
    assert found[2].of("task") == [Piece("task", "one", "", ("LO-05.3",))]


def test_an_objective_without_a_question_is_found_unless_it_is_graded(tmp_path: Path) -> None:
    notebook = clean()
    for k in (2, 3):
        other = question(k).replace(f"lo-05-{k}", "lo-05-1")
        notebook = replaced(notebook, question(k).strip(), other.strip())
    found = written(tmp_path, notebook)
    assert [one.missing for one in found] == [[], ["a question or a graded task"], []]


def test_an_objective_without_an_exercise_is_found(tmp_path: Path) -> None:
    notebook = replaced(clean(), ":label: ex-05-2\n:class: lo-05-2", ":label: ex-05-2")
    assert written(tmp_path, notebook)[1].missing == ["an exercise"]


def test_an_unknown_objective_is_refused(tmp_path: Path) -> None:
    notebook = replaced(clean(), ":class: question lo-05-2", ":class: question lo-05-7")
    with pytest.raises(ValueError, match="question 'Question 2' names LO-05.7"):
        written(tmp_path, notebook)


def test_the_map_links_what_practises() -> None:
    shown = objectives.table(FOUND).data
    assert shown.count("\n| **LO-") == len(EVERY)
    targets = set(re.findall(r"\(#([\w-]+)\)", shown))
    assert targets == {piece.target for one in EVERY for piece in one.pieces if piece.target}
    assert "[Question 1](#check-05-1)" in shown


def test_every_public_question_is_an_exercise() -> None:
    asked = set()
    for path in notebooks.numbered_chapters():
        text = "\n\n".join(s for _, s in notebooks.markdown_cells(notebooks.read(path)))
        for exercise in re.findall(r"\{exercise-start\}(.*?)\{exercise-end\}", text, re.DOTALL):
            asked |= set(re.findall(r"\{cite\}`(\w+)`", exercise))
    assert asked >= FIELD_CASES, FIELD_CASES - asked
