"""Code cells and committed outputs: short, executed, described, free of the machine's traces."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator

from nbformat import NotebookNode

from notebooks import called, calls, code_cells, tree

MAX_LINES = 12
PICTURES = ("image/svg+xml", "image/png", "image/jpeg")
MIN_ALT = 20
PHONE = 328
"""Width of a picture on a phone that is 360 pixels wide [px]."""
LEGIBLE = 7
"""Least size of its letters there [px]."""
PAPER = re.compile(r'viewBox="0 0 ([\d.]+) ')
LETTERS = re.compile(r"scale\(([\d.]+) -\1\)")
"""Size of letters over 100, as Matplotlib writes it; exponents are smaller and are left out."""
FILLER = re.compile(
    r"\b(?:figures?|images?|pictures?|plots?|charts?|graphs?|an?|the|of|with)\b", re.I
)
SILENT = {"claim", "given", "use", "label"}
"""Functions that return nothing and show nothing; so do those named assert_something."""
SHOWING = ("print", "display", "explore", "axes")
"""Functions that leave an output wherever in a cell they are called."""
ADDRESS = re.compile(r"<[\w.]+(?: object)? at 0x[0-9a-f]+>")
PATHS = re.compile(r"/(?:home|root|tmp|Users)/|[A-Za-z]:\\{1,4}Users\\")
WRAPPED = re.compile(r"np\.(?:float|int|uint)\d+\(|np\.(?:True|False)_")
HUSHING = {
    *("warnings", "filterwarnings", "simplefilter", "catch_warnings", "errstate", "seterr"),
    *("redirect_stderr", "capture_output", "captureWarnings"),
}
"""Names whose use hides a warning."""
TAGS = {"hide-input", "hide-output"}
"""Tags that change how a cell looks and not whether it is tested."""
MARKERS = re.compile(r"#\s*(?:NBVAL|PYTEST_VALIDATE)_\w+", re.I)
GUARDED = {"claim", "given", "table", "explore"}
"""Functions on which the checks of the text rely, so that no chapter may put another there."""
BACK_DOORS = {"exec", "eval", "globals", "locals", "vars", "setattr", "get_ipython"}
"""Functions that could do so unseen."""


def check(notebook: NotebookNode, name: str) -> list[str]:
    """Faults of the code cells of a notebook and of its metadata."""
    code = code_cells(notebook)
    faults = [f"cell {n}: {fault}" for n, cell in code for fault in _cell(cell)]
    faults += [
        f"cell {n}: execution count is {cell.execution_count}, not {place}: execute the notebook"
        for place, (n, cell) in enumerate(code, start=1)
        if cell.execution_count != place
    ]
    if code and not any(cell.outputs for _, cell in code):
        faults.append("no cell has an output: execute the notebook")
    if notebook.metadata.get("language_info") != {"name": "python"} and code:
        faults.append("language_info must hold the name alone: let the runner write the notebook")
    return [f"{name}: {fault}" for fault in faults]


def _cell(cell: NotebookNode) -> Iterator[str]:
    lines = sum(bool(line.strip()) for line in cell.source.splitlines())
    if lines > MAX_LINES:
        yield f"{lines} lines, at most {MAX_LINES}: move a function to the package"
    if shows(cell.source) and not cell.outputs:
        yield "it shows something and has no output: execute the notebook"
    yield from _alternative(cell)
    yield from _letters(cell)
    yield from _outputs(cell)
    if found := WRAPPED.search(written(cell)):
        yield f"the output shows {found[0]}: show the number alone, by float(), int() or bool()"
    if found := ADDRESS.search(written(cell)):
        yield f"the output shows {found[0]}, another one at each run: end the cell with plt.show()"
    if found := PATHS.search(cell.source + written(cell)):
        yield f"the path {found[0]} is of one machine: use a relative path"
    untested = sorted({*cell.metadata.get("tags", [])} - TAGS)
    if untested := [*untested, *MARKERS.findall(cell.source)]:
        yield f"{', '.join(untested)} may keep it from being tested: only {sorted(TAGS)} may stand"
    if rebound := sorted(set(_rebound(cell.source))):
        yield f"{', '.join(rebound)} must be what serving.book gives: use another name"
    hushing = sorted(HUSHING & _names(cell.source))
    if hushing or "%%capture" in cell.source:
        yield f"{', '.join(hushing) or '%%capture'} hides warnings: mend what warns"


def shows(source: str) -> bool:
    """Whether a cell must leave an output."""
    body = tree(source).body
    if body and isinstance(body[-1], ast.Expr) and not _silent(body[-1].value):
        return True
    inside = {
        id(call)
        for node in ast.walk(tree(source))
        if isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef))
        for call in ast.walk(node)
    }
    return any(id(call) not in inside for call in calls(source, *SHOWING))


def _silent(value: ast.expr) -> bool:
    name = called(value)
    return name in SILENT or name.startswith("assert_")


def _alternative(cell: NotebookNode) -> Iterator[str]:
    picture = any(kind in output.get("data", {}) for output in cell.outputs for kind in PICTURES)
    alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
    if picture and not alt:
        yield "a picture without words: write mystnb.image.alt in the cell's metadata"
    elif picture and len(FILLER.sub("", alt).strip()) < MIN_ALT:
        yield f"the alternative text {alt!r} does not tell what is to be seen"
    elif alt and not picture:
        yield "an alternative text and no picture: execute the notebook"


def _letters(cell: NotebookNode) -> Iterator[str]:
    """Letters of a drawing that nobody reads on a phone."""
    for output in cell.outputs:
        drawing = str(output.get("data", {}).get("image/svg+xml", ""))
        sizes = [100 * float(size) for size in LETTERS.findall(drawing)]
        if sizes and (paper := PAPER.search(drawing)):
            shown = min(sizes) * PHONE / float(paper[1])
            if shown < LEGIBLE:
                yield (
                    f"letters of {shown:.2f} px on a phone, at least {LEGIBLE}: make the figure "
                    "narrower, its panels stacked, or the letters larger"
                )


def _outputs(cell: NotebookNode) -> Iterator[str]:
    for output in cell.outputs:
        if output.output_type == "error":
            yield f"it fails with {output.ename}: mend it"
        if output.output_type == "stream" and output.name == "stderr":
            yield "it writes to stderr: mend what it complains of"
        if any("widget" in kind for kind in output.get("data", {})):
            yield "a widget is committed: execute with SERVING_STILL=1, through the runner"


def written(cell: NotebookNode) -> str:
    """All text of a cell's outputs; coded pictures are none."""
    texts = []
    for output in cell.outputs:
        texts.append(output.get("text", ""))
        texts += output.get("traceback", [])
        for kind, data in output.get("data", {}).items():
            if not kind.startswith("image/") or kind == "image/svg+xml":
                texts.append(data if isinstance(data, str) else json.dumps(data))
    return "\n".join(["", *texts])


def _names(source: str) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree(source)):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.alias):
            names.update(node.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            names.update((node.module or "").split("."))
    return names


def _rebound(source: str) -> Iterator[str]:
    """Guarded names that a cell gives another meaning, and functions that could do so."""
    for node in ast.walk(tree(source)):
        yield from {*GUARDED, "*"} & set(_bound(node))
        if isinstance(node, ast.Name) and node.id in BACK_DOORS:
            yield node.id


def _bound(node: ast.AST) -> list[str | None]:
    """Names to which a node gives a meaning; an import from serving.book gives the right one."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        return [node.id]
    if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
        return [node.attr]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        right = getattr(node, "module", "") == "serving.book"
        return [one.asname or one.name for one in node.names if one.asname or not right]
    if isinstance(node, ast.arg):
        return [node.arg]
    if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler)):
        return [node.name]
    return []
