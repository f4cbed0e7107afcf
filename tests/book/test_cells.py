"""Code cells are short, executed and described, and show nothing that must not be published."""

from __future__ import annotations

import io
from copy import deepcopy
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt
from nbformat import v4

import cells
import notebooks
from serving import plotting
from synthetic import ALT, NAME, changed, chapter, clean, code, markdown, picture, stream, text


@pytest.mark.parametrize("path", notebooks.notebooks(), ids=lambda path: path.name)
def test_cells_of_the_book_are_in_order(path: Path) -> None:
    faults = cells.check(notebooks.read(path), path.name)
    assert not faults, "\n".join(faults)


def test_a_chapter_in_order_has_no_fault() -> None:
    assert cells.check(clean(), NAME) == []


def faults_of(*extra: notebooks.NotebookNode) -> list[str]:
    return cells.check(chapter(code("1 + 1", text("2")), *extra), NAME)


def only_fault(*extra: notebooks.NotebookNode) -> str:
    [fault] = faults_of(*extra)
    return fault


def test_a_cell_of_thirteen_lines_is_found() -> None:
    lines = [f"x{n} = {n}" for n in range(13)]
    assert faults_of(code("\n\n".join(lines[:12]))) == []  # blank lines do not count
    assert only_fault(code("\n".join(lines))).startswith(f"{NAME}: cell 1: 13 lines")


@pytest.mark.parametrize("count", [None, 1, 3])
def test_a_cell_out_of_order_is_found(count: int | None) -> None:
    notebook = chapter(code("x = 1"), code("x = 2"), code("x", text("2")))
    notebook.cells[1].execution_count = count
    [fault] = cells.check(notebook, NAME)
    assert f"cell 1: execution count is {count}, not 2" in fault


@pytest.mark.parametrize(
    "source",
    [
        *("x", "x + 1", "f(x)", "x, y", "x;", "table({})", "print(x)", "explore(draw)"),
        *("plt.show()", "sp.simplify(x)", "explore(draw)\nx = 1"),
        *("for x in y:\n    print(x)", "try:\n    f()\nexcept ValueError as e:\n    print(e)"),
        'ax = plotting.axes("title", "x", "y")\nax.plot(x)\ny = 1',
    ],
)
def test_a_cell_whose_output_was_cleared_is_found(source: str) -> None:
    assert "cell 1: it shows something and has no output" in only_fault(code(source))


@pytest.mark.parametrize(
    "source",
    [
        *("x = 1", "claim('B = 1', 1)", "given('B = 1', 1)", "plotting.use()"),
        *("import numpy", "def f(x):\n    print(x)", "f = lambda x: print(x)"),
        "np.testing.assert_allclose(x, y)",
    ],
)
def test_a_cell_that_shows_nothing_needs_no_output(source: str) -> None:
    assert faults_of(code(source)) == []


@pytest.mark.parametrize("shown", ["np.float64(2.0)", "(1, np.int64(3))", "np.True_"])
def test_a_number_in_its_wrapping_is_found(shown: str) -> None:
    assert "show the number alone" in only_fault(code("x", text(shown)))


def test_an_address_in_memory_is_found() -> None:
    shown = "<matplotlib.legend.Legend at 0x7f4ab86054d0>"
    assert "another one at each run" in only_fault(code("ax.legend()", text(shown)))


def test_cleared_outputs_of_a_whole_chapter_are_found() -> None:
    notebook = clean()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.update(outputs=[], execution_count=None)
    faults = cells.check(notebook, NAME)
    assert f"{NAME}: no cell has an output: execute the notebook" in faults
    unexecuted = sum("execution count is None" in fault for fault in faults)
    assert unexecuted == len(notebooks.code_cells(notebook))


@pytest.mark.parametrize("kind", ["image/svg+xml", "image/png"])
def test_a_figure_without_alternative_text_is_found(kind: str) -> None:
    drawn = v4.new_output("display_data", {kind: "PHN2Zz4="})
    assert "a picture without words" in only_fault(code("draw(7)", drawn))
    assert faults_of(code("draw(7)", drawn, alt=ALT)) == []


@pytest.mark.parametrize("alt", ["A figure.", "figure figure figure figure", "A plot of the graph"])
def test_an_alternative_text_that_says_nothing_is_found(alt: str) -> None:
    assert "does not tell" in only_fault(code("draw()", picture(), alt=alt))


@pytest.mark.parametrize(
    ("width", "size", "fault"), [(6.4, 11, ""), (6.4, 9, "6.41 px"), (7.2, 11, "6.96 px")]
)
def test_letters_that_nobody_reads_on_a_phone_are_found(
    width: float, size: float, fault: str
) -> None:
    drawing = io.StringIO()
    with mpl.rc_context(plotting.STYLE | {"font.size": size, "axes.titlesize": size}):
        figure, ax = plt.subplots(figsize=(width, 3))
        ax.set(title="A title", xlabel="batch size (requests)")
        figure.savefig(drawing, format="svg")
        plt.close(figure)
    cell = code("draw()", v4.new_output("display_data", {"image/svg+xml": drawing.getvalue()}))
    cell.metadata["mystnb"] = {"image": {"alt": ALT}}
    if fault:
        assert f"letters of {fault} on a phone" in only_fault(cell)
    else:
        assert faults_of(cell) == []


def test_a_picture_that_was_cleared_is_found() -> None:
    assert "and no picture" in only_fault(code("for x in y:\n    draw(x)", alt=ALT))


def test_a_widget_is_found() -> None:
    view = {"application/vnd.jupyter.widget-view+json": {"model_id": "7"}, "text/plain": "x"}
    assert "a widget" in only_fault(code("explore(f)", v4.new_output("display_data", view)))


def test_stderr_and_errors_are_found() -> None:
    assert "stderr" in only_fault(code("f()", stream("stderr", "a warning")))
    failed = v4.new_output("error", ename="ClaimError", evalue="", traceback=["no"])
    assert "it fails with ClaimError" in only_fault(code("f()", failed))


@pytest.mark.parametrize("folder", ["/home/", "/root/", "/tmp/", "/Users/", "C:\\Users\\"])
def test_a_path_of_one_machine_is_found(folder: str) -> None:
    path = f"{folder}name"
    assert "of one machine" in only_fault(code(f"x = r'{path}'"))
    assert "of one machine" in only_fault(code("print(x)", stream("stdout", path)))
    assert "of one machine" in only_fault(code("x", text(path)))


def test_letters_of_a_coded_picture_are_no_path() -> None:
    drawn = v4.new_output("display_data", {"image/png": "abc/tmp/abc"})
    assert faults_of(code("draw()", drawn, alt=ALT)) == []


@pytest.mark.parametrize(
    "source",
    [
        "import warnings",
        "from warnings import catch_warnings as quiet",
        "warnings.filterwarnings('ignore')",
        "with np.errstate(all='ignore'):\n    x = 1 / y",
        "%%capture\nf()",
    ],
)
def test_a_cell_that_hides_warnings_is_found(source: str) -> None:
    assert "hides warnings" in faults_of(code(source))[-1]


@pytest.mark.parametrize(
    "source",
    [
        *("claim = print", "def given(text, value):\n    pass", "class table:\n    pass"),
        *("book.claim = print", "del claim", "for given in x:\n    pass", "x, table = y"),
        *("import given", "import x as claim", "from x import claim", "from x import y as table"),
        *("from serving.book import given as claim", "from serving.book_of_lies import claim"),
        *("from x import *", "explore = 1", "f = lambda claim: claim", "(claim := print)"),
        *("setattr(book, 'claim', print)", "exec('claim = print')", "globals().update(x)"),
        *("%alias claim true", "try:\n    f()\nexcept E as claim:\n    pass"),
    ],
)
def test_another_meaning_of_what_the_checks_rely_on_is_found(source: str) -> None:
    assert "must be what serving.book gives" in "\n".join(faults_of(code(source)))


def test_what_the_checks_rely_on_may_be_imported_and_called() -> None:
    source = "from serving.book import claim, given\nimport serving.book as book\nx.table(1).y = 2"
    assert faults_of(code(source)) == []


@pytest.mark.parametrize("tag", ["nbval-skip", "nbval-ignore-output", "raises-exception", "x"])
def test_a_tag_that_may_keep_a_cell_from_being_tested_is_found(tag: str) -> None:
    cell = code("x = 1")
    cell.metadata["tags"] = ["hide-input"]
    assert faults_of(cell) == []
    cell.metadata["tags"] = ["hide-input", tag]
    assert f"{tag} may keep it from being tested" in only_fault(cell)


@pytest.mark.parametrize(
    "marker", ["# NBVAL_SKIP", "#nbval_ignore_output", "# PYTEST_VALIDATE_IGNORE_OUTPUT"]
)
def test_a_comment_that_keeps_a_cell_from_being_tested_is_found(marker: str) -> None:
    assert f"{marker} may keep it" in only_fault(code(f"x = 1\n  {marker}\ny = 2"))


@pytest.mark.parametrize("language", [None, {}, {"name": "python", "version": "3.11.7"}])
def test_a_version_in_the_metadata_is_found(language: dict[str, str] | None) -> None:
    notebook = deepcopy(clean())
    notebook.metadata["language_info"] = language
    [fault] = cells.check(notebook, NAME)
    assert "language_info must hold the name alone" in fault


def test_a_page_without_code_has_no_fault() -> None:
    assert cells.check(v4.new_notebook(cells=[markdown("Words.")]), "intro.md") == []


def test_a_cleared_table_is_found() -> None:
    [fault] = cells.check(changed(clean(), "table(", outputs=[]), NAME)
    assert "it shows something and has no output" in fault
