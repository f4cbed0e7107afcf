"""Questions close each chapter; exactly one choice is right, and nothing gives it away."""

from __future__ import annotations

from pathlib import Path

import pytest

import notebooks
import selftest
from synthetic import clean, markdown, question, replaced, without

CHAPTERS = notebooks.numbered_chapters()
BY_CHANCE = 0.45
"""No way to guess without reading is right more often; one choice of three is by chance."""


def faults_of(old: str, new: str) -> list[str]:
    """Faults after a change of the second question."""
    assert old in question(2)
    changed = question(2).replace(old, new, 1).strip()
    return selftest.check(replaced(clean(), question(2).strip(), changed), "05")


def test_questions_in_order_have_no_fault() -> None:
    assert selftest.check(clean(), "05") == []
    asked = selftest.questions(clean())
    assert [one.place for one in asked] == [1, 2, 0]
    assert [len(one.choices) for one in asked] == [3, 3, 3]
    assert asked[0].text == "The batch grows. What does the load do?"


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("✓ Right.", "✗ Not so.", "question 2: 0 choices begin with '✓ Right.': exactly one must"),
        ("✗ Not so.", "✓ Right.", "question 2: 2 choices begin with"),
        ("✗ Not so.", "Wrong.", "choice 1: its text must begin with"),
        ("✗ Not so. There is more to divide by than there was before.", "✗ Not so.", "say why"),
        (":class: choice dropdown", ":class: choice", "choice 1: it must be of class dropdown"),
        ("A. It", "B. It", "choice 1: its title must begin with 'A. '"),
        ("falls as well", "falls as well, because batches share the time", "make them alike"),
        ("check-05-2", "check-05-7", "question 2: its name must be check-05-2"),
        ("Question 2", "A question", "question 2: its title must be 'Question 2'"),
        ("The batch grows. What does the load do?", "", "question 2: it asks nothing"),
    ],
)
def test_a_faulty_question_is_found(old: str, new: str, fault: str) -> None:
    assert fault in "\n".join(faults_of(old, new))


def test_a_missing_choice_is_found() -> None:
    [first] = [part for part in question(2).split("\n\n") if "A. It" in part]
    assert "question 2: 2 choices, where 3 or 4 belong" in faults_of(f"\n\n{first}", "")


def test_too_few_questions_are_found() -> None:
    fewer = without(clean(), question(3).strip()[:40])
    assert selftest.check(fewer, "05") == ["2 questions, where 3 to 5 belong"]


def test_a_right_choice_that_never_moves_is_found() -> None:
    notebook = clean()
    for k in (1, 2, 3):
        same = question(3).replace("Question 3", f"Question {k}").replace("05-3", f"05-{k}")
        notebook = replaced(notebook, question(k).strip(), same.strip())
    faults = selftest.check(notebook, "05")
    assert faults == ["the right choice stands always in the same place"]


def test_words_after_the_choices_are_no_part_of_them() -> None:
    notebook = clean()
    notebook.cells.append(markdown("```{note}\nOther words.\n```\n\nAnd more."))
    asked = selftest.questions(notebook)
    assert all("ther words" not in choice.text for one in asked for choice in one.choices)


def test_no_way_to_guess_pays() -> None:
    asked = [one for path in CHAPTERS for one in selftest.questions(notebooks.read(path))]
    assert len(asked) >= 3 * len(CHAPTERS)
    shares = selftest.guessed(asked)
    assert set(shares) >= {"always A", "always B", "always C", "the longest", "the shortest"}
    assert max(shares.values()) <= BY_CHANCE, shares


def test_ways_to_guess_are_counted() -> None:
    shares = selftest.guessed(selftest.questions(clean()))
    assert shares["always A"] == shares["always B"] == shares["always C"] == pytest.approx(1 / 3)
    assert shares["always D"] == 0
    assert shares["the longest"] == pytest.approx(2 / 3)  # two are equally long


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.name)
def test_numbers_of_the_questions_are_claimed_before_the_exercises(path: Path) -> None:
    cells = notebooks.read(path).cells
    last = max(n for n, cell in enumerate(cells) if "{admonition} Question" in cell.source)
    assert cells[last + 1].source.startswith("## Exercises") or (
        cells[last + 1].cell_type == "code"
        and "hide-input" in cells[last + 1].metadata.get("tags", [])
    )
