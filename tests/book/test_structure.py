"""A chapter opens with its question, wears its badges and closes with exercises."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from nbformat import v4

import notebooks
import structure
from synthetic import (
    NAME,
    changed,
    chapter,
    clean,
    code,
    exercise,
    markdown,
    replaced,
    text,
    without,
)


def test_there_are_chapters() -> None:
    assert notebooks.numbered_chapters(), "no chapters/NN-*.ipynb: the other checks check nothing"


@pytest.mark.parametrize("path", notebooks.numbered_chapters(), ids=lambda path: path.name)
def test_chapters_have_their_shape(path: Path) -> None:
    faults = structure.check(notebooks.read(path), path.name)
    assert not faults, "\n".join(faults)


def test_a_chapter_in_shape_has_no_fault() -> None:
    assert structure.check(clean(), NAME) == []


def only_fault(notebook: notebooks.NotebookNode, name: str = NAME) -> str:
    [fault] = structure.check(notebook, name)
    return fault


@pytest.mark.parametrize(
    "title",
    ["# How large is the load?", "# 4. How large is the load?", "# 5. The load", "## 5. Large?"],
)
def test_a_title_that_is_no_numbered_question_is_found(title: str) -> None:
    faults = structure.check(replaced(clean(), "# 5. How large is the load?", title), NAME)
    assert f"{NAME}: cell 0: it must begin with the title '# 5. A question?'" in faults


@pytest.mark.parametrize("objective", ["", "- LO-05.4: divide.", "- LO-04.3: divide."])
def test_a_missing_objective_is_found(objective: str) -> None:
    fault = only_fault(replaced(clean(), "- LO-05.3: divide.", objective))
    assert "LO-05.1, LO-05.2, LO-05.3" in fault


def test_a_page_of_a_chapter_has_a_letter() -> None:
    lettered = replaced(clean(), "# 5. How", "# 5a. How")
    for plain, page in [("LO-05.", "LO-05a."), ("ex-05-", "ex-05a-"), ("check-05-", "check-05a-")]:
        for cell in lettered.cells:
            cell.source = cell.source.replace(plain, page)
    for cell in lettered.cells:
        cell.source = re.sub(r"(exercise-start}|exercise}) 5\.", r"\1 5a.", cell.source)
    assert structure.check(lettered, NAME.replace("05-", "05a-")) == []
    assert structure.check(lettered, NAME) != []


def test_more_objectives_are_allowed() -> None:
    more = replaced(clean(), "- LO-05.3: divide.", "- LO-05.3: divide.\n- LO-05.4: add.")
    assert structure.check(more, NAME) == []


def test_a_second_import_is_found() -> None:
    notebook = replaced(clean(), 'claim("36.3 %", load(16))', "import math")
    assert any(
        "the first code cell alone must import" in f for f in structure.check(notebook, NAME)
    )


def test_a_first_code_cell_without_imports_is_found() -> None:
    notebook = clean()
    notebook.cells.insert(1, code("x = 1"))
    assert "the first code cell alone must import; cells [2]" in only_fault(notebook)


def test_a_chapter_without_exploration_is_found() -> None:
    notebook = replaced(clean(), "explore(draw)", "draw()")
    assert "nothing to operate in the first 6 cells" in only_fault(notebook)


def test_a_live_chart_is_something_to_operate() -> None:
    notebook = replaced(clean(), "explore(draw)", "live.chart(draw)")
    assert not any("nothing to operate" in fault for fault in structure.check(notebook, NAME))


def test_a_late_exploration_is_found() -> None:
    notebook = clean()
    notebook.cells[2:2] = [code("1 + 1", text("2")), *(markdown("Words.") for _ in range(3))]
    assert "nothing to operate in the first 6 cells" in only_fault(notebook)


@pytest.mark.parametrize(
    ("part", "fault"),
    [
        ("**What to know first:**", "the opening must say 'What to know first: …'"),
        ("{admonition} Guess first", "no admonition 'Guess first'"),
        ("{admonition} If you run a server", "no admonition 'If you run a server'"),
    ],
)
def test_a_missing_part_is_found(part: str, fault: str) -> None:
    assert fault in only_fault(replaced(clean(), part, "{note}" if "{" in part else ""))


@pytest.mark.parametrize(
    "heading, badge",
    [("What a batch costs", "[proved](badges.md#proved)"),
     ("How long does it take?", "[measured](badges.md#measured)")],
)  # fmt: skip
def test_a_section_with_results_and_no_badge_is_found(heading: str, badge: str) -> None:
    fault = only_fault(replaced(clean(), badge, ""))
    assert f"section {heading!r}: results without a badge" in fault


def test_a_section_without_results_needs_no_badge() -> None:
    more = replaced(clean(), "## Limits", "## Words\n\nWithout numbers.\n\n## Limits")
    faults = structure.check(more, NAME)
    assert not any("badge" in fault for fault in faults)


@pytest.mark.parametrize("anchor", ["#true", "", "#Proved"])
def test_an_unknown_badge_is_found(anchor: str) -> None:
    faults = structure.check(replaced(clean(), "badges.md#proved", f"badges.md{anchor}"), NAME)
    assert any(f"there is no badge {anchor[1:]!r}" in fault for fault in faults)


def test_a_badge_that_reads_otherwise_is_found() -> None:
    fault = only_fault(replaced(clean(), "[proved](", "[certain]("))
    assert "the badge proved must read 'proved', reads 'certain'" in fault


def test_a_badge_of_three_words_is_read() -> None:
    badge = "[rule of thumb](badges.md#rule-of-thumb)"
    assert structure.check(replaced(clean(), "[measured](badges.md#measured)", badge), NAME) == []


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("sp.simplify(x)", "0"),
        ("sp.simplify(x), sp.simplify(y)", "(0, 0)"),
        ("a == b", "True"),
        ("[x.is_positive for x in y]", "[True, True]"),
        ("sp.Tuple(*[sp.simplify(x[n] - y[n]) for n in x])", "(0, 0)"),
        ("z = x * (y + 1)\nsp.simplify(z - x * y - x)", "0"),
    ],
)
def test_a_proof_shows_zero_or_true(source: str, output: str) -> None:
    notebook = changed(clean(), "sp.simplify", source=source, outputs=[text(output)])
    assert structure.check(notebook, NAME) == []


@pytest.mark.parametrize(
    ("source", "output"),
    [
        *(("sp.simplify(x)", "B"), ("x", "0"), ("sp.simplify(x), y", "(0, B)"), ("x", "False")),
        *(("sp.simplify(x - x)", "0"), ("sp.simplify(0 * f(x))", "0"), ("sp.simplify(0)", "0")),
        *(("True", "True"), ("f(x) == f(x)", "True"), ("sp.simplify(x)\ny", "0")),
        ("sp.simplify(x - y), sp.simplify(x - x)", "(0, 0)"),
        ("y = f(x)\nsp.simplify(y - f(x))", "0"),
        ("[sp.simplify(x - x) for x in y]", "[0, 0]"),
    ],
)
def test_a_proof_that_shows_something_else_is_found(source: str, output: str) -> None:
    notebook = changed(clean(), "sp.simplify", source=source, outputs=[text(output)])
    assert "proved, but no cell shows 0" in only_fault(notebook)


def test_a_proof_in_words_is_a_proof() -> None:
    proof = "```{prf:proof}\nIt follows.\n```\n\n1. One."
    assert structure.check(without(replaced(clean(), "1. One.", proof), "sp.simplify"), NAME) == []


def test_a_measurement_without_source_is_found() -> None:
    notebook = replaced(clean(), "batch {cite}`kleinrock1975` took", "batch took")
    faults = structure.check(notebook, NAME)
    assert any("measured, but nothing is cited" in fault for fault in faults)


@pytest.mark.parametrize(
    "title", ["## What to take away", "## Limits", "## Check yourself", "## Exercises"]
)
def test_a_missing_closing_section_is_found(title: str) -> None:
    notebook = replaced(clean(), title, "## Something else")
    assert any("the last sections must be" in fault for fault in structure.check(notebook, NAME))


def test_a_summary_without_a_number_is_found() -> None:
    notebook = replaced(clean(), "The load is 36.3 % in the example.", "Divide.")
    assert "section 'What to take away': say the result" in only_fault(notebook)


def test_a_missing_hint_is_found() -> None:
    bare = exercise(2).replace("{admonition} Hint", "{admonition} Word")
    assert "ex-05-2 needs a folded hint" in only_fault(replaced(clean(), exercise(2).strip(), bare))


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("Hint for this exercise\n:class: dropdown", "Hint", "ex-05-2 needs a folded hint"),
        ("ex-05-2\n:class: lo", "ex-05-7\n:class: lo", "exercise 2 must have the label ex-05-2"),
        ("} 5.2 Divide", "}", "exercise 2 must have a title '5.2 …', has ''"),
        ("5.2 Divide", "5.3 Divide", "exercise 2 must have a title '5.2 …'"),
        ("5.2 Divide", "4.2 GiB", "exercise 2 must have a title '5.2 …'"),
        ("{solution-start} ex-05-2", "{solution-start} ex-05-1", "ex-05-2 needs one solution"),
        ("ex-05-2\n:class: dropdown", "ex-05-2", "the solution of ex-05-2 must be of class"),
    ],
)
def test_a_faulty_exercise_is_found(old: str, new: str, fault: str) -> None:
    assert old in exercise(2)
    notebook = replaced(clean(), exercise(2).strip(), exercise(2).replace(old, new).strip())
    assert fault in only_fault(notebook)


def test_a_hint_after_the_solution_is_found() -> None:
    hint = "```{admonition} Hint for this exercise\n:class: dropdown\nDivide.\n```\n"
    assert hint in exercise(2)
    late = exercise(2).replace(hint, "") + "\n" + hint
    notebook = replaced(clean(), exercise(2).strip(), late.strip())
    assert "the hint of ex-05-2 must stand before its solution" in only_fault(notebook)


@pytest.mark.parametrize("count", [3, 7])
def test_too_few_or_too_many_exercises_are_found(count: int) -> None:
    notebook = clean()
    notebook.cells[-3:] = []  # the fourth, its code and its end
    for k in range(4, count + 1):
        notebook.cells.append(markdown(exercise(k)))
    assert f"{count} exercises, where 4 to 6 belong" in only_fault(notebook)


def test_solutions_without_code_are_found() -> None:
    notebook = clean()
    notebook.cells = [cell for cell in notebook.cells if not cell.source.startswith('claim("29')]
    assert "no solution holds an executed code cell" in only_fault(notebook)


def test_an_unknown_citation_key_is_found() -> None:
    fault = only_fault(replaced(clean(), "{cite}`erlang1909`", "{cite}`erlang1909, nobody2001`"))
    assert "'nobody2001' is not in references.bib" in fault


def test_a_single_citation_is_found() -> None:
    notebook = replaced(clean(), " {cite}`erlang1909`", "")
    assert "fewer than two works are cited" in only_fault(notebook)


PAGES = [*notebooks.notebooks(), *notebooks.pages()]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_chapters_that_exist_are_named_with_a_link(path: Path) -> None:
    faults = structure.unlinked(notebooks.read(path), path.name)
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    ("named", "missing"),
    [
        ("More in chapter 2.", ["2"]),
        ("More in\nChapter **2**.", ["2"]),
        ("See chapters 1, 2 and 99.", ["1", "2"]),
        ("See chapters 1 to 99.", ["1"]),
        ("See chapters [1](01-serving-queue.ipynb) and 2.", ["2"]),
        ("See chapters [1](01-serving-queue.ipynb), and 99.", []),
        ("See [chapter 2](02-batch-time.ipynb), and chapter 99, 2 pages of it.", []),
        ("| a |\n|---|\n| chapter 2 |", ["2"]),
        ("```{note}\nMore in chapter 2.\n```", ["2"]),
        ("This is chapter 5.", []),  # the chapter itself
    ],
)
def test_a_chapter_that_is_named_without_a_link_is_found(named: str, missing: list[str]) -> None:
    faults = structure.unlinked(replaced(clean(), "One server only.", named), NAME)
    assert [re.search(r"link (\d+)", fault)[1] for fault in faults] == missing  # type: ignore[index]


def test_a_chapter_that_an_output_names_without_a_link_is_found() -> None:
    output = v4.new_output("display_data", {"text/markdown": "More in chapter 2."})
    [fault] = structure.unlinked(chapter(code("1", output)), NAME)
    assert fault == f"{NAME}: cell 0: link 2 to 02-batch-time.ipynb in 'chapter 2'"
