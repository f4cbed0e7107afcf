"""Submissions made for the tests: right, lazy, wrong in one way, and hostile ones."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course.student import ASSIGNMENTS

NAMES = sorted(path.name for path in (ASSIGNMENTS / "source").iterdir() if path.is_dir())


def source(name: str) -> NotebookNode:
    """The notebook with the solutions."""
    return nbformat.read(ASSIGNMENTS / "source" / name / f"{name}.ipynb", 4)


def solutions(name: str) -> list[str]:
    """Code of the notebook with the solutions, as a student would hand it in."""
    return [
        cell.source
        for cell in source(name).cells
        if cell.cell_type == "code" and not cell.metadata.nbgrader.grade
    ]


def answered(
    released: NotebookNode, answers: Mapping[str, str], text: str | None = None
) -> NotebookNode:
    """A released notebook with answers written into its cells, by their ids."""
    notebook, left = copy.deepcopy(released), dict(answers)
    for cell in notebook.cells:
        name = cell.metadata.nbgrader.grade_id
        if name in left:
            cell.source = left.pop(name)
        if text and cell.cell_type == "markdown" and cell.metadata.nbgrader.grade:
            cell.source = text
    assert not left, f"no such cells: {sorted(left)}"
    return notebook


def write(notebook: NotebookNode, folder: Path, student: str) -> None:
    nbformat.write(notebook, folder / f"{student}.ipynb")
