"""Objectives of the chapters, and what exercises, questions and graded tasks practise them.

A chapter states its objectives as items, ``- LO-05.2: derive …``. An exercise and a question wear
the class ``lo-05-2`` for each that they practise; an assignment, or a cell of it, names them in its
metadata, ``{"serving": {"objectives": ["LO-05.2"]}}``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from IPython.display import Markdown

OBJECTIVE = re.compile(r"^- (LO-\d\d[a-z]?\.\d+): (.+)$", re.M)
TITLE = re.compile(r"^# (\d+[a-z]?)\. (.+)$", re.M)
DIRECTIVE = re.compile(
    r"^(`{3,}|:{3,})\{(exercise-start|exercise|admonition)\} (.+)\n((?::[\w-]+:.*\n)*)", re.M
)
TIE = re.compile(r"\blo-(\d\d[a-z]?)-(\d+)\b")
NAME = re.compile(r"^:(?:label|name): *(\S+)$", re.M)
CLASSES = re.compile(r"^:class: *(.*)$", re.M)


@dataclass(frozen=True)
class Piece:
    """An exercise, a question or a graded task.

    Attributes
    ----------
    kind : str
        ``"exercise"``, ``"question"`` or ``"task"``.
    title : str
        As the page shows it.
    target : str
        Label to link to; empty for a task.
    objectives : tuple of str
        What it practises, such as ``"LO-05.2"``.
    """

    kind: str
    title: str
    target: str
    objectives: tuple[str, ...]


@dataclass(frozen=True)
class Objective:
    """What a reader can do after a chapter, and the pieces that practise it.

    Attributes
    ----------
    name : str
        Such as ``"LO-05.2"``.
    text : str
        The sentence of the chapter.
    pieces : tuple of Piece
        What practises it, in the order of the pages.
    """

    name: str
    text: str
    pieces: tuple[Piece, ...] = ()

    def of(self, kind: str) -> list[Piece]:
        """Pieces of one kind.

        Parameters
        ----------
        kind : str
            ``"exercise"``, ``"question"`` or ``"task"``.

        Returns
        -------
        list of Piece
            In the order of the pages.
        """
        return [piece for piece in self.pieces if piece.kind == kind]

    @property
    def missing(self) -> list[str]:
        """What it lacks: an exercise, or a question or graded task.

        Returns
        -------
        list of str
            Empty if the objective is covered.
        """
        lacks = [] if self.of("exercise") else ["an exercise"]
        asked = self.of("question") or self.of("task")
        return lacks if asked else [*lacks, "a question or a graded task"]


@dataclass(frozen=True)
class Chapter:
    """A chapter with its objectives.

    Attributes
    ----------
    file : str
        Name of the notebook.
    title : str
        Number and question of the chapter.
    objectives : tuple of Objective
        In the order of the chapter.
    """

    file: str
    title: str
    objectives: tuple[Objective, ...]


def chapters(folder: Path, assignments: Path | None = None) -> list[Chapter]:
    """Read the objectives of all numbered chapters, and what practises them.

    Parameters
    ----------
    folder : Path
        Where the chapters are.
    assignments : Path, optional
        Where the assignments are; without them, or if there are none, there are no graded tasks.

    Returns
    -------
    list of Chapter
        By number.

    Raises
    ------
    ValueError
        If a piece names an objective that no chapter states.
    """
    texts = {path: _text(path) for path in sorted(folder.glob("[0-9][0-9]*-*.ipynb"))}
    found = [piece for text in texts.values() for piece in pieces(text)]
    found += _tasks(assignments) if assignments else []
    stated = [name for text in texts.values() for name, _ in OBJECTIVE.findall(text)]
    for piece in found:
        if unknown := sorted(set(piece.objectives) - set(stated)):
            raise ValueError(f"{piece.kind} {piece.title!r} names {unknown[0]}: no chapter has it")
    return [_chapter(path.name, text, found) for path, text in texts.items()]


def pieces(text: str) -> list[Piece]:
    r"""Exercises and questions in the text of a chapter.

    Parameters
    ----------
    text : str
        Its markdown.

    Returns
    -------
    list of Piece
        In their order.

    Examples
    --------
    >>> pieces("```{exercise-start} 5.1 Divide\n:label: ex-05-1\n:class: lo-05-2\n```")
    [Piece(kind='exercise', title='5.1 Divide', target='ex-05-1', objectives=('LO-05.2',))]
    """
    found = []
    for _, directive, title, options in DIRECTIVE.findall(text):
        classes, name = CLASSES.search(options), NAME.search(options)
        worn = classes[1] if classes else ""
        kind = "exercise" if directive.startswith("exercise") else "question"
        if kind == "exercise" or "question" in worn.split():
            ties = tuple(f"LO-{chapter}.{k}" for chapter, k in TIE.findall(worn))
            found.append(Piece(kind, title, name[1] if name else "", ties))
    return found


def _chapter(file: str, text: str, found: list[Piece]) -> Chapter:
    title = TITLE.search(text)
    stated = tuple(
        Objective(name, words, tuple(piece for piece in found if name in piece.objectives))
        for name, words in OBJECTIVE.findall(text)
    )
    return Chapter(file, f"{title[1]}. {title[2]}" if title else file, stated)


def _tasks(assignments: Path) -> Iterator[Piece]:
    """Assignments, and cells of them, that name objectives."""
    for path in sorted(assignments.glob("source/**/*.ipynb")):
        notebook = json.loads(path.read_text("utf-8"))
        for part in [notebook, *notebook["cells"]]:
            data = part.get("metadata", {})
            if named := data.get("serving", {}).get("objectives", []):
                grade = data.get("nbgrader", {}).get("grade_id", "")
                yield Piece("task", f"{path.stem}, {grade}".rstrip(", "), "", tuple(named))


def _cells(path: Path) -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["cells"]
    return cells


def _text(path: Path) -> str:
    """Join the markdown of a notebook."""
    written = [cell["source"] for cell in _cells(path) if cell["cell_type"] == "markdown"]
    return "\n\n".join(one if isinstance(one, str) else "".join(one) for one in written)


def table(found: list[Chapter]) -> Markdown:
    """Map the objectives of all chapters to what practises them.

    Parameters
    ----------
    found : list of Chapter
        What `chapters` gives.

    Returns
    -------
    Markdown
        A table for each chapter, with links.
    """
    return Markdown("\n\n".join(_block(chapter) for chapter in found if chapter.objectives))


def _block(chapter: Chapter) -> str:
    graded = any(one.of("task") for one in chapter.objectives)
    header = ["objective", "exercises", "questions", *(["graded tasks"] if graded else [])]
    rows = [
        [f"**{one.name}**: {one.text}", _links(one, "exercise"), _links(one, "question")]
        + ([_links(one, "task")] if graded else [])
        for one in chapter.objectives
    ]
    lines = [header, ["---"] * len(header), *rows]
    body = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    return f"**[{chapter.title}]({chapter.file})**\n\n{body}"


def _links(objective: Objective, kind: str) -> str:
    return ", ".join(
        f"[{piece.title}](#{piece.target})" if piece.target else piece.title
        for piece in objective.of(kind)
    )
