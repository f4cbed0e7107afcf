"""Source, release, submissions, marks and feedback, by the tools that an instructor uses."""

from __future__ import annotations

import csv
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import nbformat
import pytest

from course.student import ASSIGNMENTS, LIBRARY
from made import FIT, LOAD, NAME, NAMES, RIGHT, answered, ten, write

pytest.importorskip("nbgrader", reason="nbgrader is not installed: the extra `course` has it")

SECRET = "xyzzy-4711"
VANDAL = """
import glob, os, shutil
def load(arrival_rate, batch, t_fixed, t_req):
    for folder in ("..", "../..", "COURSE", "/tmp/mine"):
        shutil.rmtree(folder, ignore_errors=True)
    return 0.3625
for path in glob.glob("COURSE/**", recursive=True):
    try: open(path, "w").write("gone")
    except OSError: pass
os.system("rm -rf COURSE")
"""


def tool(*command: str) -> subprocess.CompletedProcess[str]:
    python_path = [str(ASSIGNMENTS), str(LIBRARY), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {
        "COURSE_SECRET": SECRET,
        "PYTHONPATH": os.pathsep.join(filter(None, python_path)),
    }
    return subprocess.run(
        [sys.executable, "-m", *command], env=environment, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graded course, made once: pytest's other workers wait for it. No test changes it."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = base / "a course"
    with (base / "course.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            folder.mkdir()
            graded(folder)
    assert (folder / "grades").exists(), "another worker could not grade it"
    return folder


def graded(folder: Path) -> None:
    """Release assignment 1, hand it in ten times and more, and grade it."""
    done = tool("course.release", NAME, "--course", str(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    released = nbformat.read(folder / "release" / NAME / f"{NAME}.ipynb", 4)
    handed = folder / "handed in"
    handed.mkdir()

    for student, notebook in ten(released).items():
        write(notebook, handed, student)

    def hand_in(student: str, answers: Mapping[str, str]) -> None:
        write(answered(released, answers), handed, student)

    hand_in("11-dies", RIGHT | {FIT: "import os; os._exit(1)"})
    hand_in("12-memory", RIGHT | {FIT: "x = []\nwhile True: x.append(bytearray(10**8))"})
    hand_in("13-exits", RIGHT | {FIT: "import sys; sys.exit(0)"})
    hand_in("14-vandal", RIGHT | {LOAD: VANDAL.replace("COURSE", str(folder))})
    hand_in("15-prints", RIGHT | {FIT: "while True: print('x' * 1000)"})

    tampered = answered(released, RIGHT)
    for cell in tampered.cells:
        if cell.metadata.nbgrader.grade_id == "fit":
            cell.source, cell.metadata.nbgrader.points = "3.0", 300
        if cell.metadata.nbgrader.grade_id == "fit-answer":
            cell.source = "def fit(*_): return 8"
        if cell.metadata.nbgrader.grade_id == "load":
            cell.metadata.nbgrader.solution = True
    write(tampered, handed, "16-tampers")
    bare = answered(released, RIGHT)
    bare.cells = [cell for cell in bare.cells if cell.cell_type == "code"]
    for cell in bare.cells:
        del cell.metadata["nbgrader"]
    (handed / "17-folder" / "deep").mkdir(parents=True)
    nbformat.write(bare, handed / "17-folder" / "deep" / "my copy.ipynb")
    (handed / "18-text.ipynb").write_text("I could not upload it.")
    write(answered(released, RIGHT, "Batches of 43."), handed, "99-right")

    before = {path: path.read_bytes() for path in handed.rglob("*") if path.is_file()}
    done = tool("course.grade", NAME, str(handed), "--course", str(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "99-right" in done.stderr  # the bar names the student that is graded
    assert before == {path: path.read_bytes() for path in handed.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def marks(course: Path) -> dict[str, dict[str, str]]:
    with (course / "grades" / NAME / "grades.csv").open(newline="", encoding="utf-8") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


@pytest.mark.parametrize(
    ("student", "score"),
    [
        ("01-right", "8"),
        ("02-stub", "0"),
        ("03-eight", "0"),
        ("04-lookup", "1"),
        ("05-swapped", "5.5"),
        ("06-unchecked", "7"),
        ("07-loops", "5"),
        ("08-raises", "5"),
        ("09-imports", "6"),
        ("10-redefines", "0"),
        ("11-dies", "5"),
        ("12-memory", "5"),
        ("13-exits", "5"),
        ("14-vandal", "6"),
        ("15-prints", "5"),
        ("16-tampers", "5"),
        ("17-folder", "8"),
        ("18-text", ""),
        ("99-right", "8"),
    ],
)
def test_marks(marks: dict[str, dict[str, str]], student: str, score: str) -> None:
    row = marks[student]
    assert (row["score"], row["of"], row["assignment"]) == (score, "10", NAME), row


def test_texts_are_left_to_a_person(marks: dict[str, dict[str, str]]) -> None:
    right, stub = marks["01-right"], marks["02-stub"]
    assert (right["to grade"], right["points to grade"]) == ("interpretation", "2")
    assert (stub["to grade"], stub["points to grade"]) == ("", "0")  # nothing was written
    assert marks["18-text"]["to grade"] == "everything"
    assert marks["18-text"]["note"] == "the file is no notebook"
    assert "put back" in marks["17-folder"]["note"]


def test_every_student_has_a_page_and_it_says_what_went_wrong(course: Path) -> None:
    pages = {path.stem: path.read_text() for path in (course / "grades" / NAME).glob("*.html")}
    assert len(pages) == 18
    assert "off by 1000: check ms and s" in pages["05-swapped"]
    assert "did not come back" in pages["07-loops"]
    assert "The kernel ended here" in pages["11-dies"]
    assert "8 of 8" not in pages["16-tampers"]


def test_pages_notebooks_and_logs_show_nothing_of_the_checks(course: Path) -> None:
    """Neither the secret nor the checks' code, names of files, right numbers or drawn ones."""
    shown = [*(course / "grades").rglob("*.html"), *(course / "autograded").rglob("*.ipynb")]
    assert len(shown) > 30
    banned = re.compile(rf"{SECRET}|checks/|checks\.service|marking\.py|_fit_noisy|same_expression")
    own = {"10-redefines"}  # what this student wrote names the checker
    for path in shown:
        if not own & {path.stem, *path.parts}:
            assert not banned.search(path.read_text()), path
        told = re.findall(r"\[no\] .*", path.read_text())
        # Points, limits and the factor of a unit; the drawn numbers have four digits.
        assert not [line for line in told if re.search(r"\d\.\d{3}|\d{5}", line)], path


def test_the_released_notebook_has_no_solution(course: Path) -> None:
    text = (course / "release" / NAME / f"{NAME}.ipynb").read_text()
    assert "NotImplementedError" in text
    assert not re.search("SOLUTION|polyfit|sp.solve|HIDDEN", text)
    assert "checks" not in json.dumps([cell.source for cell in nbformat.reads(text, 4).cells
                                       if cell.cell_type == "code"])  # fmt: skip


def test_grading_again_gives_the_same_and_keeps_a_mark_given_by_hand(
    course: Path, marks: dict[str, dict[str, str]], tmp_path: Path
) -> None:
    from nbgrader.api import Gradebook

    course = shutil.copytree(course, tmp_path / "its copy")
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        book.find_grade("interpretation", NAME, NAME, "99-right").manual_score = 1.5
        book.db.commit()
    again = tmp_path / "one"
    again.mkdir()
    name = "99-right.ipynb"
    (again / name).write_bytes((course / "handed in" / name).read_bytes())
    done = tool("course.grade", NAME, str(again), "--course", str(course))
    assert done.returncode == 0, done.stderr
    with (course / "grades" / NAME / "grades.csv").open(newline="", encoding="utf-8") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert rows["99-right"]["score"] == "9.5"
    assert {name: row["score"] for name, row in rows.items() if name != "99-right"} == {
        name: row["score"] for name, row in marks.items() if name not in ("99-right", "18-text")
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("course.grade", NAME, "no such folder"), "must be a folder"),
        (("course.grade", "no-such-name", "."), "make assignment NAME=no-such-name"),
        (("course.release", "no-such-name"), f"must be one of {', '.join(NAMES)}"),
    ],
)
def test_wrong_calls_are_told(course: Path, arguments: tuple[str, ...], said: str) -> None:
    done = tool(*arguments, "--course", str(course))
    assert done.returncode == 2
    assert said in done.stderr
