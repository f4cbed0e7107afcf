"""The runner executes a chapter again when something changed on which its outputs depend."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
import pytest

import run
from notebooks import NotebookNode
from synthetic import clean, replaced, text


def key(notebook: NotebookNode, path: Path) -> str:
    nbformat.write(notebook, path)
    return run.key_of(path, b"")


@pytest.mark.parametrize(
    "change",
    [
        {"source": "plotting.use()"},
        {"outputs": [text("7")]},
        {"execution_count": None},
        {"metadata": {"tags": ["raises-exception"]}},
    ],
)
def test_a_changed_code_cell_is_executed_again(tmp_path: Path, change: dict[str, Any]) -> None:
    notebook = clean()
    before = key(notebook, tmp_path / "05-x.ipynb")
    notebook.cells[1].update(change)
    assert key(notebook, tmp_path / "05-x.ipynb") != before


def test_changed_metadata_are_executed_again_and_a_changed_sentence_is_not(tmp_path: Path) -> None:
    notebook = clean()
    before = key(notebook, tmp_path / "05-x.ipynb")
    assert key(replaced(notebook, "One server only.", "Two."), tmp_path / "05-x.ipynb") == before
    other = deepcopy(notebook)
    other.metadata["kernelspec"] = {"name": "other"}
    assert key(other, tmp_path / "05-x.ipynb") != before


def test_an_appendix_is_executed_again_when_a_chapter_is_renamed(tmp_path: Path) -> None:
    chapter, appendix = tmp_path / "05-x.ipynb", tmp_path / "appendix-x.ipynb"
    before = key(clean(), chapter), key(clean(), appendix)
    chapter.rename(tmp_path / "05-y.ipynb")
    assert run.key_of(tmp_path / "05-y.ipynb", b"") == before[0]
    assert run.key_of(appendix, b"") != before[1]


def test_a_file_that_moved_inside_the_package_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "ROOT", tmp_path)
    folder = tmp_path / "lib" / "serving" / "part"
    folder.mkdir(parents=True)
    (tmp_path / "requirements.txt").touch()
    (folder / "x.py").touch()
    monkeypatch.setattr(run, "__file__", str(tmp_path / "requirements.txt"))
    before = run.common_key()
    (folder / "x.py").rename(folder.parent / "x.py")
    assert run.common_key() != before


def test_seconds_are_recorded_beside_those_of_other_chapters_and_not_for_failures(
    tmp_path: Path,
) -> None:
    file = tmp_path / "_build" / "execution.json"
    run.record([run.Result(Path("05-x.ipynb"), 1.26), run.Result(Path("06-x.ipynb"), 2.0)], file)
    run.record([run.Result(Path("06-x.ipynb"), 3.0, error="cell 1 fails")], file)
    assert json.loads(file.read_text()) == {"05-x": 1.3}


def test_an_appendix_is_executed_again_when_what_practises_an_objective_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "ROOT", tmp_path)
    chapter, appendix = tmp_path / "05-x.ipynb", tmp_path / "appendix-x.ipynb"
    notebook = clean()
    before = key(notebook, chapter), key(notebook, appendix)
    nbformat.write(replaced(notebook, ":class: question lo-05-2", ":class: question"), chapter)
    assert run.key_of(chapter, b"") == before[0]
    assert run.key_of(appendix, b"") != before[1]
    nbformat.write(replaced(notebook, "One server only.", "Two."), chapter)
    assert run.key_of(appendix, b"") == before[1]
    task = nbformat.v4.new_code_cell(metadata={"serving": {"objectives": ["LO-05.2"]}})
    folder = tmp_path / "assignments" / "source" / "one"
    folder.mkdir(parents=True)
    nbformat.write(nbformat.v4.new_notebook(cells=[task]), folder / "one.ipynb")
    assert run.key_of(appendix, b"") != before[1]
