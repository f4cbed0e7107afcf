"""Exercises of a chapter: labelled, each with a folded hint and a folded solution."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nbformat import NotebookNode

from notebooks import EXERCISES, Directive, blocks, markdown_cells

LEAST, MOST = 4, 6


def check(notebook: NotebookNode, number: str) -> list[str]:
    """Faults of the exercises of a chapter."""
    groups = grouped(notebook)
    faults = [
        fault
        for k, (exercise, *rest) in enumerate(groups, start=1)
        for fault in _exercise(exercise, rest, number, k)
    ]
    if not LEAST <= len(groups) <= MOST:
        faults.append(f"{len(groups)} exercises, where {LEAST} to {MOST} belong")
    if not executes(notebook):
        faults.append("no solution holds an executed code cell: compute at least one of them")
    return faults


def grouped(notebook: NotebookNode) -> list[list[Directive]]:
    """Each exercise with the directives that follow it, up to the next."""
    groups: list[list[Directive]] = []
    for _, source in markdown_cells(notebook):
        for block in blocks(source):
            if not isinstance(block, Directive):
                continue
            if block.name in EXERCISES:
                groups.append([block])
            elif groups:
                groups[-1].append(block)
    return groups


def _exercise(exercise: Directive, rest: Sequence[Directive], number: str, k: int) -> Iterator[str]:
    label, number = f"ex-{number}-{k}", number.removeprefix("0")
    if not re.match(rf"{number}\.{k} [A-Z]", exercise.argument):
        yield f"exercise {k} must have a title '{number}.{k} …', has {exercise.argument!r}"
    if (found := exercise.options.get("label")) != label:
        yield f"exercise {k} must have the label {label}, has {found}"
    hints = [n for n, one in enumerate(rest) if is_hint(one)]
    solutions = [n for n, one in enumerate(rest) if one.name in {"solution", "solution-start"}]
    if not hints:
        yield f"{label} needs a folded hint: an admonition 'Hint …' of class dropdown"
    if [rest[n].argument for n in solutions] != [label]:
        yield f"{label} needs one solution of that label before the next exercise"
    elif not folded(rest[solutions[0]]):
        yield f"the solution of {label} must be of class dropdown"
    elif hints and hints[0] > solutions[0]:
        yield f"the hint of {label} must stand before its solution"


def folded(directive: Directive) -> bool:
    """Whether a directive is shown folded."""
    return "dropdown" in directive.options.get("class", "").split()


def is_hint(directive: Directive) -> bool:
    """Whether a directive is a folded hint."""
    titled = directive.name == "admonition" and directive.argument.startswith("Hint")
    return folded(directive) and titled


def executes(notebook: NotebookNode) -> bool:
    """Whether a code cell between the start and the end of a solution was executed."""
    inside = False
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for block in blocks(cell.source):
                if isinstance(block, Directive):
                    inside = block.name == "solution-start" or (
                        inside and block.name != "solution-end"
                    )
        elif inside and cell.cell_type == "code" and cell.execution_count:
            return True
    return False
