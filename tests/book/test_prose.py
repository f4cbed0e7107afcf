"""Every number in the text comes from the code, and every number promised is in the text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from nbformat import v4

import notebooks
import prose
from serving import book
from synthetic import NAME, changed, clean, code, replaced, shown, text

PLANS = {"instructors.md"}
"""Pages whose numbers are hours, weeks and points that somebody decided."""
FILES = [path for path in (*notebooks.notebooks(), *notebooks.pages()) if path.name not in PLANS]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_number_of_the_book_is_given(path: Path) -> None:
    faults = prose.check(notebooks.read(path), path.name)
    assert not faults, "\n".join(faults)


def test_a_chapter_that_keeps_its_promises_has_no_fault() -> None:
    assert prose.check(clean(), NAME) == []


def only_fault(notebook: notebooks.NotebookNode) -> str:
    [fault] = prose.check(notebook, NAME)
    return fault


def with_text(extra: str) -> notebooks.NotebookNode:
    return replaced(clean(), "One server only.", f"One server only.\n\n{extra}")


def test_a_number_that_code_no_longer_gives_is_found() -> None:
    notebook = replaced(clean(), "Aim for 36.3 % or less.", "Aim for 36.4 % or less.")
    assert "the number 36.4 in 'Aim for 36.4 % or less.'" in only_fault(notebook)


def test_a_claim_that_the_text_no_longer_makes_is_found() -> None:
    notebook = replaced(clean(), r"The least batch is $B_{\min} = 6$, not", "Not")
    assert "no sentence says 'B_min = 6' any more" in only_fault(notebook)


@pytest.mark.parametrize(
    ("extra", "number"),
    [
        ("It takes 77 ms.", "77"),
        ("It takes 10ms.", "10"),  # glued to its unit
        ("It takes 1,234.5 s.", "1,234.5"),
        ("It takes about½ a second.", "½"),
        ("It takes **7** of them.", "7"),
        ("- an item with 7 requests", "7"),
        ("| header |\n|---|\n| 7 requests |", "7"),
        ("A term\n: explained by 7 requests", "7"),
        ("> said 7 people", "7"),
        ("See [the 7 ways](badges.md#proved).", "7"),
        ("```{note}\nIt takes 77 ms.\n```", "77"),
        ("```{note} It takes 77 ms.\n```", "77"),
        (":::{admonition} Title\n:class: tip\nIt takes 77 ms.\n:::", "77"),
        ("````{note}\n```{tip}\nNested: 77 ms.\n```\n````", "77"),
        ("```{exercise-start} At 77 requests\n:label: x\n```", "77"),
        (r"At $B = 77$ it fails.", "77"),
        (r"At $B = 2.5$ it fails.", "2.5"),
        (r"It takes $2\,\text{ms}$ then.", "2"),  # structural only without a unit
        (r"It takes $2\,\%$ of it.", "2"),
        (r"It takes $2~ms$ then.", "2"),
        ("It takes $2$ ms then.", "2"),
        ("It takes $T = 1$ ms then.", "1"),
        ("At $B = 2$ it fails.", "2"),
        ("$$\nB = 2 .\n$$", "2"),
        ("### 77 headings", "77"),
        ("# 5. Of 77 titles", "77"),
        ("At `77` it fails.", "77"),
        ("It takes `77 ms` then.", "77"),
        ("At `B = 77` it fails.", "77"),
        ("<div>77</div>", "77"),
        ('<img alt="at 77" src="5.svg"/>', "77"),
        ('At <abbr title="77">this</abbr> it fails.', "77"),
        ("```{raw} html\n<p>77</p>\n```", "77"),
        ("```{figure} 5.svg\n:alt: The load at 77\nWords.\n```", "77"),
        ("```{figure} 5.svg\nA load of 77.\n```", "77"),
        ("```{list-table} The load at 77\n* - Words\n```", "77"),
        ("$$\nB = 77\n$$", "77"),
        ("\\begin{align}\nB &= 77\n\\end{align}", "77"),
        ("```{math}\n:label: eq-9\nB = 77\n```", "77"),
        ("At {math}`B = 77` it fails.", "77"),
    ],
)
def test_a_number_that_nothing_gives_is_found(extra: str, number: str) -> None:
    assert f"nothing gives the number {number} in" in only_fault(with_text(extra))


@pytest.mark.parametrize(
    "metadata",
    [
        {"mystnb": {"image": {"alt": "It takes 77 ms."}}},
        {"mystnb": {"figure": {"caption": "It takes 77 ms."}}},
        {"caption": "It takes 77 ms."},
    ],
)
def test_a_number_that_describes_an_output_is_checked(metadata: dict[str, object]) -> None:
    notebook = changed(clean(), "explore(draw)", metadata=metadata)
    assert "cell 2: nothing gives the number 77 in 'It takes 77 ms.'" in only_fault(notebook)
    notebook.cells.append(code('claim("77 ms", 0.077)'))
    assert prose.check(notebook, NAME) == []


@pytest.mark.parametrize(
    "extra",
    [
        "```python\nx = 77\n```",
        "Inline `f(77)`, `range(7)`, `seed=77` and `x + 77 == y` as well.",
        "{cite:p}`kleinrock1975` and {ref}`section 77 <x>`",
        "(label-77)=",
        "<!-- 77 -->",
        '<img src="77.svg"/>',
        "% a comment with 77",
        "[words](figure-77.png)",
        "```{code-block} python\n:lineno-start: 77\nx = 77\n```",
        "```{note}\n:name: note-77\nWords.\n```",
        "```{note}\n---\nname: note-77\n---\nWords.\n```",
        r"Half of it is $\frac{1}{2} x^2 + 0$, and $B_{1/2}$ as well.",
        r"For $x \ge 0$, $P + Q = 1$, and $2\,s_{\text{elem}}$ besides $2 s$.",
    ],
)
def test_what_is_no_prose_is_left_alone(extra: str) -> None:
    assert prose.check(with_text(extra), NAME) == []


@pytest.mark.parametrize(
    "call",
    [
        'claim(f"{7} ms", 0.007)',
        "claim(sentence, 0.007)",
        "claim(value=0.007, text=sentence)",
        "claim()",
        'book.claim("7" + " ms", 0.007)',
        'lies.claim("36.3 %", load)',
        "list(map(claim, texts, values))",
        "from serving.book import claim as promise",
        'if fast:\n    claim("36.3 %", load)',  # may never run
        'def check():\n    claim("36.3 %", load)',
        'try:\n    given("36.3 %", load)\nexcept Exception:\n    pass',
    ],
)
def test_a_claim_that_cannot_be_read_or_may_not_run_is_found(call: str) -> None:
    notebook = clean()
    notebook.cells.append(code(call))
    assert f"{NAME}: cell {len(notebook.cells) - 1}: " in only_fault(notebook)


def test_a_table_gives_its_cells_with_unit_or_header() -> None:
    cell = next(cell for cell in clean().cells if cell.source.startswith("table("))
    assert list(prose.tabulated(cell)) == [
        *("B = 8", "54.0 ms", "service = 54.0"),
        *("B = 16", "58.0 ms", "service = 58.0"),
    ]


def test_names_that_head_the_rows_of_a_table_are_no_numbers() -> None:
    table = book.table({"model": ["GPT-3", "77"], "wait (ms)": [0.007, 0.008]})
    assert list(prose.tabulated(code("table", shown(table))))[:2] == ["7.0 ms", "wait = 7.0"]


def test_a_table_that_changed_is_found_by_the_sentence_that_quotes_it() -> None:
    notebook = changed(clean(), "table(", outputs=[text("no table")])
    found = [re.findall(r"the number (\S+) in", fault) for fault in prose.check(notebook, NAME)]
    assert found == [["16"], ["8"], ["54.0"]]


def test_a_table_of_pandas_gives_nothing() -> None:
    html = '<table border="1" class="dataframe"><tbody><tr><td>77</td></tr></tbody></table>'
    cell = code("frame", v4.new_output("display_data", {"text/html": html}))
    assert list(prose.tabulated(cell)) == []


@pytest.mark.parametrize(
    ("phrase", "sentence"),
    [
        ("B = 10", "at *B* = 10 it"),
        ("B = 10", "at `B` = 10 it"),
        ("B = 10", "at `B = 10` it"),
        ("B = 10", "at $B = 10$ it"),
        ("B = 10", "at $B$ = 10."),
        ("B = 10", "at $B=10$"),
        ("−3 %", "by -3 % or so"),
        ("-3 %", "by −3 % or so"),
        ("5 ms", "takes 5\N{NO-BREAK SPACE}ms"),
        ("5 ms", "takes 5\nms"),
        ("5 ms", r"takes $5\,\mathrm{ms}$"),
        ("5 ms", "2–5 ms"),
        ("1,234 ms", r"takes $1{,}234~\text{ms}$"),
        ("36 %", r"is $36\,\%$."),
        ("ρ_serv = 0.36", r"$\rho_{\text{serv}} = 0.36$"),
        ("T_fixed = 50 ms", r"$T_{\text{fixed}}$ = 50 ms"),
        ("B_min = 6", r"$$B_{\min} &= 6$$"),
    ],
)
def test_a_phrase_is_found_however_it_is_set(phrase: str, sentence: str) -> None:
    [segment] = prose.segments(sentence)
    assert prose.pattern(phrase).search(segment.text)
    assert not list(prose.unknown_numerals(segment, [prose.pattern(phrase), *RANGE]))


RANGE = [re.compile("2–")]


@pytest.mark.parametrize(
    ("phrase", "sentence"),
    [
        ("5 ms", "takes 15 ms"),
        ("5 ms", "takes 1.5 ms"),
        ("5 ms", "takes 1,005 ms"),
        ("5 ms", "takes −5 ms"),
        ("5 ms", "-5 ms are gone"),
        ("5 ms", "1/5 ms"),
        ("5 ms", "10^5 ms"),
        ("5 ms", "takes 5 msec"),
        ("5 ms", "takes 5ms"),
        ("100 requests", "100 requests/s"),
        ("B = 10", "B = 100"),
        ("B = 10", "B = 10.5"),
        ("B = 10", "B = 10,000"),
        ("B = 10", "B = 10 %"),
        ("B = 10", "B = 10^2"),
        ("B = 10", "B = 10 million"),
        ("B = 8", "B = 8 s"),
        ("B = 8", r"$B = 8\,\text{GiB}$"),
        ("B = 8", "B = 8 requests/s"),
        ("B = 10", r"B = 10 \times 10"),
        ("B = 10", "`f(B = 10)`"),
        ("B = 10", "LB = 10"),
    ],
)
def test_a_phrase_is_not_found_in_another_number(phrase: str, sentence: str) -> None:
    [segment] = prose.segments(sentence)
    assert not prose.pattern(phrase).search(segment.text)


def uncovered(sentence: str) -> list[str]:
    [segment] = prose.segments(sentence)
    return list(prose.unknown_numerals(segment, prose.reviewed()))


@pytest.mark.parametrize(
    "sentence",
    [
        *("See chapter 9, chapters 2 to 5 and chapters 11 and 15.", "Exercise 3 and LO-05.2."),
        *("M/M/1, M/G/1, M/D/c and M/G/c/K", "GPT-3, GPT-175B and Llama 3.1 70B."),
        *("Llama-2 70B in FP16 or FP8", "ResNet-50 on T4, V100, A100, A40, H100 and MI300X"),
        *("P50, P95 and P99, and C³ or C3", "Erlang 1909 (Little, 1961)"),
    ],
)
def test_names_with_digits_need_no_claim(sentence: str) -> None:
    assert uncovered(sentence) == []


@pytest.mark.parametrize(
    "sentence",
    [
        *("8 requests", "149.5 ms", "B = 10", "36.3 %", "2000 requests", "In 2000 tokens"),
        *(
            "(2000 tokens)",
            "(at most 2048)",
            "(the limit, 2000, is far)",
            "Exercise 3.5",
            "3 exercises",
        ),
        *("9.1 GiB", "In all 9.1 GiB", "9.1 Warm-up", "Little 2000 requests", "Little 1961.5"),
        *("chapter 5.5", "GPT-4", "Llama 70B", "P99.9", "100 A", "section 5", "T40", "70B"),
    ],
)
def test_a_result_is_on_no_list(sentence: str) -> None:
    assert uncovered(sentence) != []


def test_each_reviewed_pattern_says_why() -> None:
    rows = prose.tomllib.loads(prose.REVIEWED.read_text("utf-8"))["numerals"]
    assert all(set(row) == {"pattern", "reason"} and row["reason"] for row in rows)
