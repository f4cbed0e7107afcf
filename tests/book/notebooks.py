"""Chapters and pages of the book, and the MyST in which their text is written."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import nbformat
import yaml
from bs4 import BeautifulSoup
from IPython.core.inputtransformer2 import TransformerManager
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parents[2]

DIRECTIVE = re.compile(r"\{([\w:.+-]+)\}\s*(.*)", re.DOTALL)
OPTION = re.compile(r":([\w-]+):[ \t]*(.*)")
TITLE = re.compile(r"^\d+[a-z]?\.\d+ (?=\S)")
"""Number of an exercise before its title."""
LABEL = re.compile(r"\\label\{([^}]*)\}")
NOT_TEXT = {
    *("code", "code-block", "code-cell", "sourcecode", "literalinclude", "include", "mermaid"),
    *("raw", "bibliography", "toctree", "tableofcontents", "contents", "eval-rst", "index"),
}
"""Directives whose body and argument are no prose."""
IDENTIFIER = {"solution", "solution-start", "figure", "image", "iframe"}
"""Directives whose argument is a label or a file name."""
EXERCISES = {"exercise", "exercise-start"}
"""Directives whose argument is a numbered title; its number is checked elsewhere."""
WORDED = ("alt", "caption", "title")
"""Options of directives, and attributes of raw HTML, whose value is prose."""


@dataclass(frozen=True)
class Text:
    """A paragraph, a cell of a table or an item, as inline tokens."""

    inline: Sequence[Token]


@dataclass(frozen=True)
class Heading:
    """A heading and its level."""

    level: int
    inline: Sequence[Token]


@dataclass(frozen=True)
class Equation:
    """A displayed equation and its label, empty if it has none."""

    latex: str
    label: str = ""


@dataclass(frozen=True)
class Directive:
    """A directive; what stands in it follows as blocks of its own."""

    name: str
    argument: str
    options: dict[str, str] = field(default_factory=dict)


Block = Text | Heading | Equation | Directive


def numbered_chapters(root: Path = ROOT) -> list[Path]:
    """Notebooks of the numbered chapters."""
    return sorted(root.glob("chapters/[0-9][0-9]*-*.ipynb"))


def notebooks(root: Path = ROOT) -> list[Path]:
    """All notebooks of the book, appendices included."""
    return [*root.glob("intro.ipynb"), *sorted(root.glob("chapters/*.ipynb"))]


def pages(root: Path = ROOT) -> list[Path]:
    """Pages of the book that are plain Markdown."""
    return sorted(root.glob("chapters/*.md"))


def read(path: Path) -> NotebookNode:
    """Read a notebook, or a page as a notebook of one markdown cell."""
    if path.suffix == ".ipynb":
        return nbformat.read(path, as_version=4)
    cell = nbformat.v4.new_markdown_cell(path.read_text("utf-8"))
    return nbformat.v4.new_notebook(cells=[cell])


def chapter_label(name: str) -> str:
    """Return what a chapter's file name begins with, ``05`` or ``20a``; empty for other pages."""
    found = re.match(r"(\d\d[a-z]?)-", name)
    return found[1] if found else ""


def chapter_number(name: str) -> int | None:
    """Return the number in a chapter's file name, None for appendices and pages."""
    label = chapter_label(name)
    return int(label[:2]) if label else None


def markdown_cells(notebook: NotebookNode) -> list[tuple[int, str]]:
    """Position and source of each markdown cell."""
    return [(n, c.source) for n, c in enumerate(notebook.cells) if c.cell_type == "markdown"]


def code_cells(notebook: NotebookNode) -> list[tuple[int, NotebookNode]]:
    """Position and content of each code cell."""
    return [(n, c) for n, c in enumerate(notebook.cells) if c.cell_type == "code"]


@cache
def tree(source: str) -> ast.Module:
    """Syntax tree of a code cell; magics become calls, as in the kernel."""
    return ast.parse(TransformerManager().transform_cell(source))


def called(node: ast.AST) -> str:
    """Last name of the function that a node calls, empty if it is no call of a name."""
    if not isinstance(node, ast.Call):
        return ""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def calls(source: str, *names: str) -> list[ast.Call]:
    """Calls of functions by their last name, wherever they stand in a cell."""
    return [
        node
        for node in ast.walk(tree(source))
        if isinstance(node, ast.Call) and called(node) in names
    ]


@cache
def _parser() -> MarkdownIt:
    settings = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["parse"]
    extensions = set(settings["myst_enable_extensions"])
    return create_md_parser(MdParserConfig(enable_extensions=extensions), RendererHTML)


def blocks(markdown: str) -> Iterator[Block]:
    """Blocks of a text in order, those inside directives included."""
    level = 0
    for token in _parser().parse(markdown):
        if token.type == "heading_open":
            level = int(token.tag[1:])
        elif token.type == "heading_close":
            level = 0
        elif token.type == "inline":
            inline = token.children or []
            yield Heading(level, inline) if level else Text(inline)
        elif token.type.startswith("math_block"):  # with the label in the info, if any
            yield Equation(token.content, token.info)
        elif token.type == "html_block":
            yield Text([_words(hypertext(token.content))])
        elif token.type == "amsmath":
            label = LABEL.search(token.content)
            yield Equation(LABEL.sub("", token.content), label[1] if label else "")
        elif token.type in {"fence", "colon_fence"} and DIRECTIVE.fullmatch(token.info.strip()):
            yield from _directive(token)


def _directive(token: Token) -> Iterator[Block]:
    match = DIRECTIVE.fullmatch(token.info.strip())
    assert match is not None
    name, argument = match[1], match[2].strip()
    options, body = options_and_body(token.content)
    yield Directive(name, argument, options)
    yield from (Text([_words(options[key])]) for key in WORDED if key in options)
    if name == "math":
        yield Equation(f"{argument}\n{body}", options.get("label", ""))
    elif name == "raw" and argument == "html":
        yield Text([_words(hypertext(body))])
    elif name not in NOT_TEXT:
        if name in EXERCISES:
            argument = TITLE.sub("", argument, count=1)
        if argument and name not in IDENTIFIER:
            yield from (Text(t.children or []) for t in _parser().parseInline(argument))
        yield from blocks(body)


def _words(content: str) -> Token:
    return Token("text", "", 0, content=content)


def hypertext(markup: str) -> str:
    """Words of raw HTML, those that describe its pictures included."""
    soup = BeautifulSoup(markup, "html.parser")
    described = [str(tag[key]) for tag in soup.find_all(True) for key in WORDED if tag.get(key)]
    return " ".join([soup.get_text(" "), *described])


def options_and_body(content: str) -> tuple[dict[str, str], str]:
    """Part the option lines of a directive (``:key: value``, or YAML in ``---``) from its body."""
    lines = content.split("\n")
    options: dict[str, str] = {}
    if lines[0].strip() == "---" and "---" in (line.strip() for line in lines[1:]):
        end = next(n for n, line in enumerate(lines[1:], start=1) if line.strip() == "---")
        pairs = (line.partition(":") for line in lines[1:end])
        options = {key.strip(): value.strip() for key, _, value in pairs}
        return options, "\n".join(lines[end + 1 :])
    while lines and (match := OPTION.fullmatch(lines[0].strip())):
        options[match[1]] = match[2].strip()
        lines = lines[1:]
    return options, "\n".join(lines)


def plain(inline: Sequence[Token]) -> str:
    """Words of inline tokens, without their emphasis."""
    text = "".join(t.content if t.type not in {"softbreak", "hardbreak"} else " " for t in inline)
    return " ".join(text.split())


def links(block: Block) -> Iterator[tuple[str, str]]:
    """Target and words of each link of a block."""
    inline = block.inline if isinstance(block, (Text, Heading)) else ()
    for start, token in enumerate(inline):
        if token.type == "link_open":
            end = next(n for n in range(start, len(inline)) if inline[n].type == "link_close")
            yield str(token.attrs["href"]), plain(inline[start:end])


def citations(block: Block) -> Iterator[str]:
    """Keys that a block cites."""
    inline = block.inline if isinstance(block, (Text, Heading)) else ()
    for token in inline:
        if token.type == "myst_role" and str(token.meta["name"]).startswith("cite"):
            yield from (key.strip() for key in token.content.split(","))
