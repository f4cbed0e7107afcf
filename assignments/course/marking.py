"""Tasks and their properties: each property has points and, when it fails, one plain sentence."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import wire
from .draws import Draw
from .student import Reply, Student, Wrong

Check = Callable[[Student, Draw], None]
UNITS = {1000: "1000: check ms and s", 1024**3 / 1e9: "GiB over GB: check the unit of memory"}
LARGEST = 10**30
"""No answer is larger."""


@dataclass(frozen=True)
class Property:
    """What must hold of an answer, and what that is worth."""

    points: float
    title: str
    check: Check


@dataclass(frozen=True)
class Task:
    """A graded cell: its properties, and whether `serving` may be imported for it."""

    serving: bool
    properties: tuple[Property, ...]
    seconds: float = 4.0

    @property
    def points(self) -> float:
        """All that can be had [1]."""
        return sum(one.points for one in self.properties)


@dataclass(frozen=True)
class Result:
    """The mark of a task with a line for each property."""

    points: float
    of: float
    lines: tuple[str, ...]


def mark(task: Task, cells: Sequence[str], draw: Draw, closed: Iterable[str | Path] = ()) -> Result:
    """Mark one task of a submission.

    Parameters
    ----------
    task : Task
        What is asked.
    cells : sequence of str
        The submission's code, a text a cell.
    draw : Draw
        The student's numbers.
    closed : iterable of path
        Folders that the submission may not read.

    Returns
    -------
    Result
        Points and sentences.
    """
    runnable = [plain(cell) for cell in cells]
    # A cell that imports what is forbidden at its top would fail half-way: it is left out whole.
    # Imports inside functions are refused when they are called.
    allowed = [c for c in runnable if task.serving or not imports(c, "serving")]
    with Student(allowed, task.serving, closed, task.seconds) as student:
        result = assess(task, student, draw)
    if len(allowed) == len(runnable):
        return result
    note = "note: a cell that imports serving was left out; this task forbids it"
    return Result(result.points, result.of, (*result.lines, note))


def assess(task: Task, student: Student, draw: Draw) -> Result:
    """Go through the properties of a task.

    Parameters
    ----------
    task : Task
        What is asked.
    student : Student
        The submission.
    draw : Draw
        The student's numbers.

    Returns
    -------
    Result
        Points and sentences.
    """
    seed, got, lines = draw.getrandbits(64), 0.0, []
    for number, one in enumerate(task.properties):
        try:
            one.check(student, Draw(seed + number))
        except Wrong as wrong:
            lines.append(f"[no]  {one.title} (0 of {one.points:g}): {wrong}")
        else:
            got += one.points
            lines.append(f"[yes] {one.title} ({one.points:g} of {one.points:g})")
    return Result(got, task.points, tuple(lines))


def plain(cell: str) -> str:
    """Take out the lines that only a notebook understands.

    Parameters
    ----------
    cell : str
        Code of a cell.

    Returns
    -------
    str
        Python, or nothing for a cell of another language.
    """
    if cell.lstrip().startswith("%%"):
        return ""
    lines = cell.split("\n")
    return "\n".join("" if line.lstrip().startswith(("%", "!", "?")) else line for line in lines)


def imports(source: str, module: str) -> bool:
    """Whether running a cell would import a module by an import statement.

    Parameters
    ----------
    source : str
        Python code.
    module : str
        The module's name.

    Returns
    -------
    bool
        True if it would; an import inside a function is run when that is called, if ever, and
        code that is not Python imports nothing.
    """
    try:
        left: list[ast.AST] = [ast.parse(source)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    while left:
        node = left.pop()
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        if any(name.partition(".")[0] == module for name in names):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            left.extend(ast.iter_child_nodes(node))
    return False


def number(value: Any, what: str) -> float:
    """Take an answer as a number.

    Parameters
    ----------
    value : object
        The answer.
    what : str
        What it should be, for the sentence.

    Returns
    -------
    float
        The number, finite.

    Raises
    ------
    Wrong
        If it is none.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Wrong(f"{what} must be a number, and what came is {kind(value)}")
    if not abs(value) < LARGEST:  # NaN is not, either
        raise Wrong(f"{what} must be finite, and of a size met in practice")
    return value


def whole(value: Any, what: str) -> int:
    """Take an answer as a whole number.

    Parameters
    ----------
    value : object
        The answer.
    what : str
        What it should be, for the sentence.

    Returns
    -------
    int
        The number.

    Raises
    ------
    Wrong
        If it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise Wrong(f"{what} must be a whole number (int), and what came is {kind(value)}")
    number(value, what)
    return value


def kind(value: Any) -> str:
    """Name the kind of an answer.

    Parameters
    ----------
    value : object
        The answer.

    Returns
    -------
    str
        What it is, in words.
    """
    if value is None:
        return "None: is a return missing?"
    if isinstance(value, wire.Tree):
        return "a SymPy expression"
    return value.kind if isinstance(value, wire.Unknown) else f"of type {type(value).__name__}"


def close(got: Any, expected: float, what: str, rel: float = 1e-6) -> None:
    """Compare an answer with the right one, which the sentence does not tell.

    Parameters
    ----------
    got : object
        The answer.
    expected : float
        The right one.
    what : str
        What it is, for the sentence.
    rel : float
        Relative tolerance [1].

    Raises
    ------
    Wrong
        If they differ; a ratio that betrays a unit is named.
    """
    value = number(got, what)
    if value == expected or math.isclose(value, expected, rel_tol=rel, abs_tol=1e-12):
        return
    if value and expected:
        ratio = max(value / expected, expected / value)
        for factor, hint in UNITS.items():
            if math.isclose(ratio, factor, rel_tol=1e-3):
                raise Wrong(f"{what} is off by {hint}")
    raise Wrong(f"{what} is not right")


def symbols(*names: str) -> list[dict[str, str]]:
    """Positive SymPy symbols as arguments of a call.

    Parameters
    ----------
    *names : str
        Their names.

    Returns
    -------
    list of dict
        An argument a name.
    """
    return [{"symbol": name} for name in names]


def same_expression(
    got: Any,
    truth: Callable[..., float],
    points: Iterable[Mapping[str, float]],
    what: str,
) -> None:
    """Compare an expression with the right one as functions of their symbols.

    Parameters
    ----------
    got : object
        The answer.
    truth : callable
        The right one, of the same names.
    points : iterable of mapping
        Values of the symbols inside the domain; two expressions of one form agree at all of them.
    what : str
        What it is, for the sentence.

    Raises
    ------
    Wrong
        If they differ.
    """
    if isinstance(got, (int, float)) and not isinstance(got, bool):
        got = wire.Tree("Add", (float(number(got, what)),))
    if not isinstance(got, wire.Tree):
        raise Wrong(f"{what} must be a SymPy expression, and what came is {kind(got)}")
    for values in points:
        if not got.symbols <= set(values):
            raise Wrong(f"{what} has a symbol that is none of the arguments")
        expected = truth(**values)
        # Sums of drawn numbers lose a few digits; a wrong term costs far more than 1e-8.
        if not math.isclose(got.value(values), expected, rel_tol=1e-8):
            missing = set(values) - got.symbols
            note = f"; it does not depend on {sorted(missing)[0]}" if missing else ""
            raise Wrong(f"{what} is another function of its symbols{note}")


def refused(student: Student, name: str, *args: Any, why: str) -> None:
    """Demand a ValueError.

    Parameters
    ----------
    student : Student
        The submission.
    name : str
        The function.
    *args : object
        What it is called with.
    why : str
        When it must refuse, for the sentence.

    Raises
    ------
    Wrong
        If it answers.
    """
    if not student.refuses(name, *args):
        raise Wrong(f"{name} must raise ValueError {why}, and it answered")


__all__ = [
    "Check",
    "Draw",
    "Property",
    "Reply",
    "Result",
    "Student",
    "Task",
    "Wrong",
    "assess",
    "close",
    "imports",
    "kind",
    "mark",
    "number",
    "plain",
    "refused",
    "same_expression",
    "symbols",
    "whole",
]
