"""From a folder with one file or folder a student to what nbgrader grades."""

from __future__ import annotations

import copy
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

LARGEST = 20 << 20
"""A notebook of code and a few pictures is far smaller [bytes]."""


@dataclass(frozen=True)
class Submission:
    """What one student handed in: a notebook, or why there is none."""

    student: str
    path: Path
    notebook: NotebookNode | None
    note: str = ""


def student_name(path: Path) -> str:
    """Take a student's name from the file or folder that was handed in.

    Parameters
    ----------
    path : Path
        The file or folder.

    Returns
    -------
    str
        Its name, of letters, digits and ``. _ @ -`` alone: nbgrader makes paths of it.

    Raises
    ------
    ValueError
        If nothing is left.
    """
    name = path.name if path.is_dir() else path.stem
    kept = re.sub(r"[^\w.@-]+", "_", name).strip("._-")
    if not kept:
        raise ValueError(f"a submission must be named for its student, got {path.name!r}")
    return kept


def found(folder: Path, assignment: str) -> list[Submission]:
    """Read all submissions of a folder.

    Parameters
    ----------
    folder : Path
        One file or folder a student.
    assignment : str
        Name of the assignment.

    Returns
    -------
    list of Submission
        In the order of the names; what cannot be read has a note and no notebook.

    Raises
    ------
    FileNotFoundError
        If there is no such folder, or nothing is in it.
    ValueError
        If two files have the same student's name.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"SUBMISSIONS must be a folder, got {str(folder)!r}")
    paths = sorted(path for path in folder.iterdir() if not path.name.startswith((".", "__")))
    if not paths:
        raise FileNotFoundError(f"SUBMISSIONS is empty: {str(folder)!r}")
    names: dict[str, Path] = {}
    for path in paths:
        name = student_name(path)
        if name.lower() in names:
            raise ValueError(f"{path.name!r} and {names[name.lower()].name!r} are of one student")
        names[name.lower()] = path
    return [_read(path, assignment) for path in paths]


def _read(path: Path, assignment: str) -> Submission:
    student, candidates = student_name(path), [path]
    if path.is_dir():
        candidates = sorted(set(_notebooks(path)))
        named = [one for one in candidates if one.stem == assignment]
        candidates = named if len(named) == 1 else candidates
    if len(candidates) != 1:
        return Submission(student, path, None, f"{len(candidates)} notebooks in the folder")
    try:
        if candidates[0].stat().st_size > LARGEST:
            raise ValueError("too large")
        notebook = nbformat.reads(candidates[0].read_text(encoding="utf-8"), as_version=4)
        nbformat.validate(notebook)
    except Exception:  # whatever a student's file holds
        return Submission(student, path, None, "the file is no notebook")
    return Submission(student, path, notebook)


def _notebooks(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*.ipynb"):
        if ".ipynb_checkpoints" not in path.parts and not path.name.startswith("."):
            yield path


def restored(notebook: NotebookNode, release: NotebookNode) -> tuple[NotebookNode, str]:
    """Give a submission the marks of its cells back as they were released.

    Editors lose them, and a student may change them: points, kinds and ids come from the
    release, and a graded cell that is missing is put at the end.

    Parameters
    ----------
    notebook : NotebookNode
        The submission.
    release : NotebookNode
        The notebook as it was released.

    Returns
    -------
    tuple
        The notebook to grade, and a note, empty if nothing was missing.
    """
    known = {
        cell.metadata.nbgrader.grade_id: cell
        for cell in release.cells
        if "nbgrader" in cell.metadata
    }
    left, result = dict(known), copy.deepcopy(notebook)
    for cell in result.cells:
        name = (cell.metadata.pop("nbgrader", None) or {}).get("grade_id")
        if name in left:
            cell.metadata.nbgrader = copy.deepcopy(left.pop(name).metadata.nbgrader)
    lost = [copy.deepcopy(cell) for cell in left.values() if cell.metadata.nbgrader.grade]
    result.cells.extend(lost)
    result.metadata.kernelspec = copy.deepcopy(release.metadata.kernelspec)
    note = f"{len(lost)} graded cells were missing and were put back" if lost else ""
    return result, note


def hand_in(course: Path, assignment: str, student: str, notebook: NotebookNode) -> None:
    """Put a notebook where nbgrader looks for it.

    Parameters
    ----------
    course : Path
        The course's folder.
    assignment : str
        Name of the assignment.
    student : str
        Name of the student.
    notebook : NotebookNode
        The notebook to grade.
    """
    folder = course / "submitted" / student / assignment
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / f"{assignment}.ipynb")
