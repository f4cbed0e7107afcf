"""Every assignment: its form, and full marks for its solution whatever is drawn."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from course.marking import Draw, Task, assess
from course.student import ASSIGNMENTS, Student
from made import NAMES, opened, solutions, source

SEEDS = 50
CASES = [
    (name, task)
    for name in NAMES
    for task in importlib.import_module(f"checks.{name.replace('-', '_')}").TASKS
]


def tasks(name: str) -> dict[str, Task]:
    return importlib.import_module(f"checks.{name.replace('-', '_')}").TASKS


def stubs(name: str) -> list[str]:
    """The solutions taken out as nbgrader takes them out."""

    def lines(cell: str) -> Iterator[str]:
        inside = False
        for line in cell.split("\n"):
            if "BEGIN SOLUTION" in line:
                inside = True
                yield line.replace("### BEGIN SOLUTION", "raise NotImplementedError()")
            elif "END SOLUTION" in line:
                inside = False
            elif not inside:
                yield line

    return ["\n".join(lines(cell)) for cell in solutions(name)]


@pytest.mark.parametrize("name", NAMES)
def test_cells_have_schema_three_and_an_id_of_their_own(name: str) -> None:
    marks = [cell.metadata.nbgrader for cell in source(name).cells]
    assert {mark.schema_version for mark in marks} == {3}
    ids = [mark.grade_id for mark in marks]
    assert len(set(ids)) == len(ids)
    assert not any(cell.get("outputs") for cell in source(name).cells)


@pytest.mark.parametrize("name", NAMES)
def test_points_are_those_of_the_rubric(name: str) -> None:
    graded = [cell for cell in source(name).cells if cell.metadata.nbgrader.grade]
    by_hand = [cell.metadata.nbgrader.points for cell in graded if cell.cell_type == "markdown"]
    automatic = {
        cell.metadata.nbgrader.grade_id: cell.metadata.nbgrader.points
        for cell in graded
        if cell.cell_type == "code"
    }
    assert by_hand == [2]
    assert automatic == {name: task.points for name, task in tasks(name).items()}
    assert list(automatic.values()) == [3, 3, 2]


@pytest.mark.parametrize("name", NAMES)
def test_an_assignment_names_its_objectives_and_what_may_be_imported(name: str) -> None:
    notebook = source(name)
    chapters = (ASSIGNMENTS.parent / "chapters").glob("[0-9]*.ipynb")
    stated = set(re.findall(r"(LO-\d\d\w?\.\d): ", "".join(map(Path.read_text, chapters))))
    assert set(notebook.metadata.serving.objectives) <= stated
    assert notebook.metadata.serving.objectives
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert "**What you may import.**" in text
    assert "**What is given.**" in text


@pytest.mark.parametrize(("name", "task"), CASES)
def test_a_right_solution_gets_all_points_whatever_is_drawn(name: str, task: str) -> None:
    asked = tasks(name)[task]
    with opened(asked, solutions(name)) as student:
        for seed in range(SEEDS):
            student.spent = 0.0
            result = assess(asked, student, Draw.of(str(seed), name, "ada", task))
            assert result.points == asked.points, (seed, result.lines)


@pytest.mark.parametrize("name", NAMES)
def test_a_right_solution_passes_the_visible_examples(name: str) -> None:
    cells = {cell.metadata.nbgrader.grade_id: cell.source for cell in source(name).cells}
    passed = {task: f"passed_{place}" for place, task in enumerate(tasks(name))}
    shown = [f"{cells[task]}\ndef {done}(): return True" for task, done in passed.items()]
    with Student([*solutions(name), *shown], serving=True, seconds=8.0) as student:
        assert [task for task in passed if student.call(passed[task]).value is not True] == []


@pytest.mark.parametrize(("name", "task"), CASES)
def test_the_empty_stub_gets_nothing(name: str, task: str) -> None:
    asked = tasks(name)[task]
    with Student(stubs(name), asked.serving) as student:
        result = assess(asked, student, Draw.of("a secret", name, "ada", task))
    assert result.points == 0
    assert all("is not written yet" in line for line in result.lines), result.lines


ANSWERS = ["8", "10**400", "None", "'8'", "[8, 8, 8]", "float('nan')"]


@pytest.mark.parametrize(("name", "task"), CASES)
def test_one_answer_for_everything_is_worth_the_visible_part_at_most(name: str, task: str) -> None:
    asked = tasks(name)[task]
    names = [cell.split("def ")[1].split("(")[0] for cell in solutions(name) if "def " in cell]
    code = [f"answers, now = [{', '.join(ANSWERS)}], [0]", "def choose(place): now[0] = place"]
    code += [f"def {one}(*a, **k): return answers[now[0]]" for one in names]
    with Student(["\n".join(code)], asked.serving) as student:
        for place, answer in enumerate(ANSWERS):
            assert student.call("choose", place).error is None
            result = assess(asked, student, Draw.of("a secret", name, "ada", task))
            assert result.points <= asked.properties[0].points, (answer, result.lines)


RECORD = """
import numpy, sympy
seen = {}

def key(args):
    def plain(one):
        try:
            return numpy.asarray(one, dtype=float).tolist()
        except TypeError:
            return str(one)
    return str([plain(one) for one in args])

def recorded(name, function):
    def call(*args):
        answer = function(*args)
        seen.setdefault(name, {})[key(args)] = answer
        return answer
    return call

def looked_up(answers):
    return lambda *args: answers.get(key(args), list(answers.values())[-1])
"""


@pytest.mark.parametrize(("name", "task"), CASES)
def test_a_lookup_of_the_examples_is_worth_the_visible_part(name: str, task: str) -> None:
    asked = tasks(name)[task]
    cells = {cell.metadata.nbgrader.grade_id: cell.source for cell in source(name).cells}
    function = cells[f"{task}-answer"].split("def ")[1].split("(")[0]
    wrap = f"{function} = recorded({function!r}, {function})"
    freeze = f"{function} = looked_up(seen[{function!r}])"
    code = [*solutions(name), RECORD, wrap, cells[task], freeze]
    with Student(code, asked.serving, seconds=asked.seconds) as student:
        result = assess(asked, student, Draw.of("a secret", name, "ada", task))
    visible = sum(one.points for one in asked.properties if "example" in one.title)
    assert 0 < result.points <= visible, result.lines


@pytest.mark.parametrize(("name", "task"), CASES)
def test_always_refusing_is_worth_nothing(name: str, task: str) -> None:
    asked = tasks(name)[task]
    names = [cell.split("def ")[1].split("(")[0] for cell in solutions(name) if "def " in cell]
    code = "\n".join(f"def {one}(*a, **k): raise ValueError" for one in names)
    with Student([code], asked.serving) as student:
        result = assess(asked, student, Draw.of("a secret", name, "ada", task))
    assert result.points == 0, result.lines
