"""Questions that close a chapter: answered in the page, each choice with its explanation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from nbformat import NotebookNode

from notebooks import Directive, Text, blocks, markdown_cells, plain

HEADING = "Check yourself"
LEAST, MOST = 3, 5
RIGHT, WRONG = "✓ Right.", "✗ Not so."
LEAST_WORDS = 6
"""An explanation has at least so many words after its verdict."""
LONGEST = 1.7
"""No choice is so many times as long as the shortest of its question."""


@dataclass
class Choice:
    """What a reader may choose, and what stands in it."""

    title: str
    folded: bool
    text: str = ""

    @property
    def right(self) -> bool:
        """Whether it says that it is right."""
        return self.text.startswith(RIGHT)


@dataclass
class Question:
    """A question with its choices."""

    title: str
    label: str
    classes: list[str]
    text: str = ""
    choices: list[Choice] = field(default_factory=list)

    @property
    def place(self) -> int:
        """Place of the right choice."""
        return next(n for n, choice in enumerate(self.choices) if choice.right)


def questions(notebook: NotebookNode) -> list[Question]:
    """Questions of a chapter; what stands in a directive follows it, up to the next."""
    found: list[Question] = []
    for _, source in markdown_cells(notebook):
        inside: Question | Choice | None = None
        titled = False
        for block in blocks(source):
            if isinstance(block, Directive):
                inside, titled = _opened(block, found, inside), bool(block.argument)
            elif isinstance(block, Text) and inside and not titled:
                inside.text = f"{inside.text} {plain(block.inline)}".strip()
            elif isinstance(block, Text):
                titled = False  # the first text after a directive is its title
            else:
                inside = None
    return found


def _opened(
    block: Directive, found: list[Question], inside: Question | Choice | None
) -> Question | Choice | None:
    """Question or choice that a directive opens, if any; a choice stands in a question."""
    classes = block.options.get("class", "").split()
    if "question" in classes:
        found.append(Question(block.argument, block.options.get("name", ""), classes))
        return found[-1]
    if "choice" in classes and inside:
        found[-1].choices.append(Choice(block.argument, "dropdown" in classes))
        return found[-1].choices[-1]
    return None


def check(notebook: NotebookNode, number: str) -> list[str]:
    """Faults of the questions of a chapter."""
    asked = questions(notebook)
    faults = [
        f"question {k}: {fault}"
        for k, question in enumerate(asked, start=1)
        for fault in _question(question, f"check-{number}-{k}", k)
    ]
    if not LEAST <= len(asked) <= MOST:
        faults.append(f"{len(asked)} questions, where {LEAST} to {MOST} belong")
    if len(asked) > 1 and len({q.place for q in asked if any(c.right for c in q.choices)}) == 1:
        faults.append("the right choice stands always in the same place")
    return faults


def _question(question: Question, label: str, k: int) -> Iterator[str]:
    if question.title != f"Question {k}":
        yield f"its title must be 'Question {k}', is {question.title!r}"
    if question.label != label:
        yield f"its name must be {label}, is {question.label!r}"
    if not 3 <= len(question.choices) <= 4:
        yield f"{len(question.choices)} choices, where 3 or 4 belong"
    if (right := sum(choice.right for choice in question.choices)) != 1:
        yield f"{right} choices begin with {RIGHT!r}: exactly one must"
    if not question.text:
        yield "it asks nothing"
    for n, choice in enumerate(question.choices):
        yield from (f"choice {n + 1}: {fault}" for fault in _choice(choice, n))
    lengths = [len(choice.title) for choice in question.choices]
    if lengths and max(lengths) > LONGEST * min(lengths):
        yield f"its choices have lengths of {lengths}: make them alike"


def _choice(choice: Choice, place: int) -> Iterator[str]:
    letter = "ABCD"[place]
    if not re.match(rf"{letter}\. \S", choice.title):
        yield f"its title must begin with '{letter}. ', is {choice.title!r}"
    if not choice.folded:
        yield "it must be of class dropdown"
    verdict = next((one for one in (RIGHT, WRONG) if choice.text.startswith(one)), None)
    if verdict is None:
        yield f"its text must begin with {RIGHT!r} or {WRONG!r}, begins {choice.text[:20]!r}"
    elif len(choice.text.removeprefix(verdict).split()) < LEAST_WORDS:
        yield f"say why in {LEAST_WORDS} words or more, not in {choice.text!r}"


def guessed(asked: Sequence[Question]) -> dict[str, float]:
    """Share of questions that each way to guess without reading answers rightly."""
    shares = {
        f"always {'ABCD'[place]}": [question.place == place for question in asked]
        for place in range(4)
    }
    shares |= {
        "the longest": [_extreme(question, max) for question in asked],
        "the shortest": [_extreme(question, min) for question in asked],
    }
    return {way: sum(hits) / len(asked) for way, hits in shares.items()}


def _extreme(question: Question, which: type[max]) -> bool:  # type: ignore[valid-type]
    lengths = [len(choice.title) for choice in question.choices]
    return lengths[question.place] == which(lengths)
