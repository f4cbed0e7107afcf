"""Grade a folder of submissions: `make grade NAME=service-time SUBMISSIONS=folder`.

nbgrader does the work, student by student; what one submission does reaches no other.
"""

from __future__ import annotations

import argparse
import csv
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import Gradebook, MissingEntry
from tqdm import tqdm

from .batch import Batch
from .draws import course_secret
from .student import ASSIGNMENTS
from .submissions import Submission, found, hand_in, restored

COLUMNS = ("student", "assignment", "score", "of", "to grade", "points to grade", "note")


def grade(course: Path, assignment: str, submissions: Sequence[Submission]) -> dict[str, str]:
    """Grade submissions one after another.

    Parameters
    ----------
    course : Path
        The course's folder, with the assignment released.
    assignment : str
        Name of the assignment.
    submissions : sequence of Submission
        What was handed in.

    Returns
    -------
    dict of str to str
        A note for each student, empty where all went well.
    """
    course_secret()  # made now, and not in the middle
    release = nbformat.read(course / "release" / assignment / f"{assignment}.ipynb", as_version=4)
    logs, notes = course / "logs" / assignment, {}
    logs.mkdir(parents=True, exist_ok=True)
    bar = tqdm(submissions, desc=f"grading {assignment}", unit="student")
    with Batch(course) as batch:
        for one in bar:
            bar.set_postfix_str(one.student)
            notes[one.student] = one.note
            if one.notebook is None:
                continue
            try:
                ready, notes[one.student] = restored(one.notebook, release)
                hand_in(course, assignment, one.student, ready)
                said = batch.run("autograde", assignment, one.student)
                batch.run("generate_feedback", assignment, one.student)
            except Exception as error:  # of whatever kind: the next student's work is next
                said = str(error)
                notes[one.student] = f"grading failed, see logs/{assignment}/{one.student}.txt"
            (logs / f"{one.student}.txt").write_text(said)
    return notes


def rows(course: Path, assignment: str, notes: Mapping[str, str]) -> list[dict[str, Any]]:
    """Read the marks out of nbgrader's gradebook.

    Parameters
    ----------
    course : Path
        The course's folder.
    assignment : str
        Name of the assignment.
    notes : mapping of str to str
        A note for each student of this run.

    Returns
    -------
    list of dict
        A row a student, of this run and of earlier ones, by COLUMNS.
    """
    result = []
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        of = book.find_assignment(assignment).max_score
        students = {one.student.id for one in book.assignment_submissions(assignment)}
        for student in sorted(students | set(notes)):
            note = notes.get(student, "")
            row = dict.fromkeys(COLUMNS, "") | {
                "student": student,
                "assignment": assignment,
                "of": f"{of:g}",
                "note": note,
            }
            try:
                handed = book.find_submission(assignment, student)
            except MissingEntry:
                handed = None
            if handed is None or note.startswith("grading failed"):
                row |= {"to grade": "everything", "points to grade": f"{of:g}"}
            else:
                open_ones = [
                    grade
                    for notebook in handed.notebooks
                    for grade in notebook.grades
                    if grade.needs_manual_grade
                ]
                row["score"] = f"{handed.score:g}"
                row["to grade"] = " ".join(one.cell.name for one in open_ones)
                left = sum(one.cell.max_score for one in open_ones)
                row["points to grade"] = f"{left:g}"
            result.append(row)
    return result


def publish(course: Path, assignment: str, table: Sequence[Mapping[str, Any]]) -> Path:
    """Write the table and gather the feedback pages.

    Parameters
    ----------
    course : Path
        The course's folder.
    assignment : str
        Name of the assignment.
    table : sequence of mapping
        A row a student.

    Returns
    -------
    Path
        The folder with ``grades.csv`` and a page for each student.
    """
    folder = course / "grades" / assignment
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "grades.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(table)
    for row in table:
        page = course / "feedback" / row["student"] / assignment / f"{assignment}.html"
        if page.exists():
            shutil.copyfile(page, folder / f"{row['student']}.html")
    return folder


def main() -> None:
    """Grade from the command line."""
    parser = argparse.ArgumentParser(description="Grade a folder of submissions.")
    parser.add_argument("name", help="the assignment, such as service-time")
    parser.add_argument("submissions", type=Path, help="one file or folder a student")
    parser.add_argument("--course", type=Path, default=ASSIGNMENTS, help="the course's folder")
    options = parser.parse_args()
    course = options.course.resolve()
    if not (course / "release" / options.name).is_dir():
        parser.error(f"release it first: make assignment NAME={options.name}")
    if options.submissions.resolve() == course / "submitted":
        parser.error("these are collected by nbgrader: use `nbgrader autograde` for them")
    try:
        submissions = found(options.submissions, options.name)
    except (FileNotFoundError, ValueError) as error:
        parser.error(str(error))
    notes = grade(course, options.name, submissions)
    table = rows(course, options.name, notes)
    folder = publish(course, options.name, table)
    by_hand = sum(bool(row["to grade"]) for row in table)
    print(f"{len(table)} students, {by_hand} with answers to grade by hand")
    print(f"  marks     {folder / 'grades.csv'}")
    print(f"  feedback  {folder}/STUDENT.html")


if __name__ == "__main__":
    main()
