"""Submissions made for the tests: right, lazy, wrong in one way, and hostile ones.

Ten of them into a folder, to try `make grade` out on:

    PYTHONPATH=assignments python tests/course/made.py RELEASED.ipynb FOLDER
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course.marking import Task, imports, plain
from course.student import ASSIGNMENTS, Student

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


def opened(task: Task, cells: Sequence[str]) -> Student:
    """A submission in one process for several draws, under the rule of a task."""
    code = [plain(cell) for cell in cells]
    code = [cell for cell in code if task.serving or not imports(cell, "serving")]
    return Student(code, task.serving, seconds=task.seconds)


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


NAME = "service-time"
SHARE, FIT, LOAD = "share-batch-answer", "fit-answer", "load-answer"
RIGHT = {
    cell.metadata.nbgrader.grade_id: cell.source
    for cell in source(NAME).cells
    if cell.cell_type == "code" and cell.metadata.nbgrader.solution
}
EIGHT = {
    SHARE: "def share_batch(*_): return 8",
    FIT: "def fit(*_): return 8",
    LOAD: "def load(*_): return 8",
}
LOOKUP = {
    SHARE: "def share_batch(share, t_fixed, t_req): return t_fixed / t_req",
    FIT: "def fit(*_): return 0.050, 0.0005",
    LOAD: "def load(*_): return 0.3625",
}
FAKE = """
import sys, types, builtins
for name in ("checks", "checks.service_time", "course", "course.plugin", "course.marking"):
    sys.modules[name] = types.ModuleType(name)
sys.displayhook = lambda value: print(3)
get_ipython().display_formatter.format = lambda *a, **k: ({"text/plain": "3"}, {})
def load(*_): return 0.3625
print(2); 2.0
"""


def ten(released: NotebookNode) -> dict[str, NotebookNode]:
    """Ten submissions of assignment 1, by the student's name."""
    answers = {
        "01-right": RIGHT,
        "02-stub": {},
        "03-eight": EIGHT,
        "04-lookup": LOOKUP,
        "05-swapped": RIGHT | {FIT: RIGHT[FIT].replace(" / 1000", "")},
        "06-unchecked": RIGHT | {LOAD: RIGHT[LOAD].replace("share >= 1", "share >= 1e9")},
        "07-loops": RIGHT | {FIT: "def fit(*_):\n    while True: pass"},
        "08-raises": RIGHT | {FIT: "def fit(*_): raise KeyError('4711')"},
        "09-imports": RIGHT | {LOAD: "from serving.formulas import utilization as load"},
        "10-redefines": {SHARE: FAKE},
    }
    text = {"01-right": "It needs batches of 43 requests today."}
    return {name: answered(released, given, text.get(name)) for name, given in answers.items()}


if __name__ == "__main__":
    folder = Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for student, notebook in ten(nbformat.read(sys.argv[1], 4)).items():
        write(notebook, folder, student)
