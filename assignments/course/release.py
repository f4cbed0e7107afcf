"""Release an assignment and prove it: `make assignment NAME=service-time`.

The notebook without solutions is made, and then graded as two submissions: as it is, which must
get nothing, and with the solutions, which must get all that is marked without a hand.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import nbformat

from .batch import Batch
from .grade import grade, rows
from .plugin import tasks
from .student import ASSIGNMENTS
from .submissions import Submission


def release(course: Path, assignment: str) -> Path:
    """Make the version for the students.

    Parameters
    ----------
    course : Path
        The course's folder.
    assignment : str
        Name of the assignment.

    Returns
    -------
    Path
        The notebook.
    """
    with Batch(course) as batch:
        batch.run("generate_assignment", assignment)
    return course / "release" / assignment / f"{assignment}.ipynb"


def faults(assignment: str) -> list[str]:
    """Try an assignment out in a course of its own.

    Parameters
    ----------
    assignment : str
        Name of the assignment.

    Returns
    -------
    list of str
        What is wrong with it, empty if nothing is.
    """
    wrong = []
    source = nbformat.read(ASSIGNMENTS / "source" / assignment / f"{assignment}.ipynb", 4)
    automatic = sum(task.points for task in tasks(assignment).values())
    with tempfile.TemporaryDirectory(prefix="course-") as folder:
        course = Path(folder)
        path = release(course, assignment)
        released = nbformat.read(path, 4)
        if "SOLUTION" in path.read_text():
            wrong.append("the released notebook holds a solution")
        handed = [Submission("stub", path, released), Submission("solution", path, source)]
        notes = grade(course, assignment, handed)
        got = {row["student"]: row for row in rows(course, assignment, notes)}
        wrong += [f"{name}: {note}" for name, note in notes.items() if note]
        for name, points in (("stub", 0.0), ("solution", automatic)):
            if got[name]["score"] != f"{points:g}":
                wrong.append(f"the {name} gets {got[name]['score']} points, not {points:g}")
        ran = course / "autograded" / "stub" / assignment / f"{assignment}.ipynb"
        for cell in nbformat.read(ran, 4).cells if ran.exists() else []:
            if any(out.output_type == "error" for out in cell.get("outputs", [])):
                wrong.append(f"a cell of the released notebook fails: {cell.source[:60]!r}")
    return wrong


def main() -> None:
    """Release from the command line."""
    parser = argparse.ArgumentParser(description="Release an assignment, and try it out.")
    parser.add_argument("name", help="the assignment, such as service-time")
    parser.add_argument("--course", type=Path, default=ASSIGNMENTS, help="the course's folder")
    options = parser.parse_args()
    known = sorted(path.name for path in (ASSIGNMENTS / "source").iterdir() if path.is_dir())
    if options.name not in known:
        parser.error(f"NAME must be one of {', '.join(known)}, got {options.name!r}")
    wrong = faults(options.name)
    if wrong:
        parser.exit(1, "\n".join([f"{options.name} is not ready:", *wrong]) + "\n")
    path = release(options.course.resolve(), options.name)
    print("The stub gets 0 points and the solution all that is marked automatically. Hand out:")
    print(f"  {path}")


if __name__ == "__main__":
    main()
