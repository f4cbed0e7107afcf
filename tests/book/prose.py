"""Numbers in prose: each is tied to the code that gives it, or stands on a reviewed list."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bs4 import BeautifulSoup
from nbformat import NotebookNode

from notebooks import (
    Block,
    Equation,
    Heading,
    Text,
    blocks,
    called,
    code_cells,
    hypertext,
    markdown_cells,
    tree,
)
from serving import units

REVIEWED = Path(__file__).with_name("reviewed.toml")
REGISTERS = ("claim", "given")

NUMERAL = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|[¼-¾⅐-⅞]")
WHOLE = re.compile(r"-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
HEADER = re.compile(r"(.*?)\s*\(([^()]*)\)")
STRUCTURAL = {"0", "1", "2"}
"""Numerals that belong to the structure of an equation, such as a square or a half."""
UNIT = rf"(?:(?:{'|'.join(map(re.escape, units.UNITS))}|[^\W\d_]+/s)(?![^\W_]))"
MEASURED = re.compile(
    r"(\d(?:[\d.]|\{,\})*(?:(?:\\[,;: ]|~|\s)*(?:\\(?:text|mathrm|textrm|mathsf)\{[^{}]*\}|\\%)"
    rf"|(?:\\[,;: ]|~)+{UNIT}(?![_^({{])))"
)
"""A numeral with a unit in an equation: a result, whatever the numeral."""

STATED = re.compile(
    rf"(?:[^\W\d]\w* = )?[-−]?(?:{NUMERAL.pattern})(?: ?(?:%|[^\W\d_]+(?:/[^\W\d_]+)?))?"
)
"""Inline code that states a number: alone, with a unit, or as the value of a name.

An expression, a call or an argument written without spaces (``seed=3``) is code.
"""
TITLE = re.compile(r"^\d+[a-z]?\. ")
"""Number of a chapter before its title; its shape is checked elsewhere."""
CODE = "\N{OBJECT REPLACEMENT CHARACTER}"
WORDS_IN_MATH = re.compile(r"\\(?:text|mathrm|operatorname)\{([^{}]*)\}")
SUBSCRIPT = re.compile(r"_\{\\?(\w+)\}")
SPACES_IN_MATH = re.compile(r"\\[,;: ]|\\q?quad\b|~")
GREEK = re.compile(r"\\(lambda|mu|rho|tau|sigma|beta)(?![A-Za-z])")
LETTERS = dict(zip("lambda mu rho tau sigma beta".split(), "λμρτσβ", strict=True))


@dataclass(frozen=True)
class Segment:
    """Running text as one line, and for each character whether it stands in mathematics."""

    text: str
    math: Sequence[bool]


@dataclass(frozen=True)
class Phrase:
    """A number that code gives, as the text writes it; a promised one must occur."""

    text: str
    cell: int
    promised: bool = True


def check(notebook: NotebookNode, name: str) -> list[str]:
    """Numerals that no code gives and promises that the text does not keep."""
    phrases, faults = collect(notebook)
    written = [(n, segments(source)) for n, source in markdown_cells(notebook)]
    written += [(n, list(described(cell))) for n, cell in code_cells(notebook)]
    known = [pattern(phrase.text) for phrase in phrases] + list(reviewed())
    faults += [
        f"cell {n}: {fault}"
        for n, texts in written
        for segment in texts
        for fault in unknown_numerals(segment, known)
    ]
    everything = [segment.text for _, texts in written for segment in texts]
    faults += [
        f"cell {p.cell}: no sentence says {p.text!r} any more: mend the text or drop the claim"
        for p in phrases
        if p.promised and not any(pattern(p.text).search(text) for text in everything)
    ]
    return [f"{name}: {fault}" for fault in faults]


def collect(notebook: NotebookNode) -> tuple[list[Phrase], list[str]]:
    """Phrases that the code cells and tables of a notebook give, and what is wrong with them."""
    phrases: list[Phrase] = []
    faults: list[str] = []
    for n, cell in code_cells(notebook):
        for phrase_or_fault in _registered(tree(cell.source)):
            if isinstance(phrase_or_fault, ast.Constant):
                phrases.append(Phrase(str(phrase_or_fault.value), n))
            else:
                faults.append(f"cell {n}: {phrase_or_fault}")
        phrases += [Phrase(text, n, promised=False) for text in tabulated(cell)]
    return phrases, faults


def _registered(module: ast.Module) -> Iterator[ast.Constant | str]:
    """First arguments of the calls of claim and given that certainly run, else a fault."""
    sure = {id(node.value) for node in module.body if isinstance(node, ast.Expr)}
    functions = {id(node.func) for node in ast.walk(module) if isinstance(node, ast.Call)}
    for node in ast.walk(module):
        if isinstance(node, ast.alias) and node.name in REGISTERS and node.asname:
            yield f"import {node.name} under its own name"
        elif isinstance(node, ast.Name) and node.id in REGISTERS and id(node) not in functions:
            yield f"call {node.id} itself, so that the number can be read from the cell"
        elif isinstance(node, ast.Call) and (name := called(node)) in REGISTERS:
            if isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) != "book":
                yield f"line {node.lineno}: {ast.unparse(node.func)} is not that of serving.book"
                continue
            named = [keyword.value for keyword in node.keywords if keyword.arg == "text"]
            first = [*node.args, *named][0] if node.args or named else None
            if not (isinstance(first, ast.Constant) and isinstance(first.value, str)):
                yield f"line {node.lineno}: the first argument of {name} must be a literal string"
            elif id(node) not in sure:
                yield f"line {node.lineno}: {name} must stand alone on a line, outside any block"
            else:
                yield first


def tabulated(cell: NotebookNode) -> Iterator[str]:
    """Phrases that the committed tables of a cell give."""
    for output in cell.get("outputs", []):
        soup = BeautifulSoup(output.get("data", {}).get("text/html", ""), "html.parser")
        for table in soup.select("table.dataframe"):
            if table.get("border", "0") == "0":  # by serving.book.table, not by pandas itself
                headers = [th.get_text() for th in table.select("thead th")]
                for row in table.select("tbody tr"):
                    cells = [cell.get_text().strip() for cell in row.select("th, td")]
                    for header, entry in zip(headers, cells, strict=True):
                        yield from _quotations(header, entry)


def described(cell: NotebookNode) -> Iterator[Segment]:
    """Alternative text and caption of what a code cell draws or tabulates."""
    settings = cell.metadata.get("mystnb", {})
    if alternative := settings.get("image", {}).get("alt"):
        yield Segment(normal(alternative), [False] * len(normal(alternative)))
    yield from segments(settings.get("figure", {}).get("caption", ""))
    yield from segments(cell.metadata.get("caption", ""))


def _quotations(header: str, entry: str) -> Iterator[str]:
    match = HEADER.fullmatch(header)
    name, unit = match.groups() if match else (header, "")
    if WHOLE.fullmatch(normal(entry)):
        if unit:
            yield f"{entry} {unit}"
        if name.strip():
            yield f"{name} = {entry}"


def normal(text: str) -> str:
    """One kind of minus sign and of space, and spaces around the equals sign."""
    text = re.sub(r"\s*=\s*", " = ", text.replace("\N{MINUS SIGN}", "-"))
    return re.sub(r"\s+", " ", text)


def _readable(latex: str) -> str:
    """Mathematics with its words and spaces as in running text."""
    text = latex.replace(r"\%", "%").replace("{,}", ",").replace(r"\!", "").replace("&", "")
    text = SPACES_IN_MATH.sub(" ", WORDS_IN_MATH.sub(r"\1", text))
    return SUBSCRIPT.sub(r"_\1", GREEK.sub(lambda match: LETTERS[match[1]], text))


def _mathematics(latex: str) -> Iterator[tuple[str, bool]]:
    for n, part in enumerate(MEASURED.split(latex)):
        yield _readable(part), n % 2 == 0


def _pieces(block: Block) -> Iterator[tuple[str, bool]]:
    """Texts of a block, and whether each is mathematics."""
    if isinstance(block, Equation):
        yield from _mathematics(block.latex.strip())
    for n, token in enumerate(block.inline if isinstance(block, (Text, Heading)) else ()):
        role = token.meta["name"] if token.type == "myst_role" else ""
        if token.type.startswith("math") or role == "math":
            yield from _mathematics(token.content)
        elif token.type in {"softbreak", "hardbreak"}:
            yield " ", False
        elif role or token.type == "code_inline" and not _spoken(token.content):
            yield CODE, False  # what is computed in code does not belong to the sentence
        elif token.type == "html_inline":
            yield hypertext(token.content), False
        elif token.type in {"text", "image", "code_inline"}:
            numbered = n == 0 and isinstance(block, Heading) and block.level == 1
            yield TITLE.sub("", token.content) if numbered else token.content, False


def _spoken(code: str) -> bool:
    """Whether inline code reads as words: it has no number, or states one."""
    return not NUMERAL.search(code) or bool(STATED.fullmatch(code))


def segments(markdown: str) -> list[Segment]:
    """Running texts of a markdown cell: paragraphs, items, headings, equations; not code."""
    return [segment for block in blocks(markdown) if (segment := _segment(block)).text]


def _segment(block: Block) -> Segment:
    text, math = "", []
    for piece, mathematical in _pieces(block):
        piece = normal(piece)
        piece = piece[1:] if text.endswith(" ") and piece.startswith(" ") else piece
        text += piece
        math += [mathematical] * len(piece)
    return Segment(text, math)


@cache
def pattern(phrase: str) -> re.Pattern[str]:
    """Where a phrase stands in normal text, and not inside a longer number, word or unit."""
    text = normal(phrase).strip()
    before = r"(?<![\w^])(?<!\d[.,/])(?<!^-)(?<![\s([=]-)"
    after = r"(?![\w^])(?![.,]\d)(?!/\w)"
    if text[-1:].isdigit():  # a number with a unit is another number
        after += rf"(?! ?{UNIT})(?! thousand\b)"
        after += r"(?! ?(?:×|·|\\times|\\cdot) ?10)"
    return re.compile(before + re.escape(text) + after)


@cache
def reviewed() -> tuple[re.Pattern[str], ...]:
    """Patterns of numerals that are names, not results."""
    rows = tomllib.loads(REVIEWED.read_text("utf-8"))["numerals"]
    return tuple(re.compile(row["pattern"]) for row in rows)


def unknown_numerals(segment: Segment, known: Sequence[re.Pattern[str]]) -> Iterator[str]:
    """Numerals of a text that nothing covers, each with the words around it."""
    covered = [False] * len(segment.text)
    for one in known:
        for match in one.finditer(segment.text):
            covered[match.start() : match.end()] = [True] * len(match[0])
    for match in NUMERAL.finditer(segment.text):
        start, end = match.span()
        if not all(covered[start:end]) and not _structural(segment, start, end):
            around = segment.text[max(0, start - 20) : end + 20].strip().replace(CODE, "…")
            yield (
                f"nothing gives the number {match[0]} in {around!r}: "
                f"write a claim or given with its unit or name"
            )


def _structural(segment: Segment, start: int, end: int) -> bool:
    """Whether a numeral belongs to the shape of its equation and is no result.

    A numeral alone in mathematics, one with a unit, and a side that is 2 are results. A side
    that is 0 or 1 is as a rule a boundary or a norm.
    """
    if segment.text[start:end] not in STRUCTURAL or not segment.math[start]:
        return False
    first, last = start, end
    while first > 0 and segment.math[first - 1]:
        first -= 1
    while last < len(segment.math) and segment.math[last]:
        last += 1
    before, after = segment.text[first:start].strip(), segment.text[end:last].strip(" .,;")
    if after:
        return True
    side = segment.text[start:end] == "2" and before.endswith(("=", r"\approx", "≈"))
    return bool(before) and not side and not re.match(f" ?{UNIT}", segment.text[last:])
