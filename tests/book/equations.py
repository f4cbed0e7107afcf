"""Equations of the text: labelled ones are the package's formulas, all use declared symbols."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from nbformat import NotebookNode

from notebooks import Block, Equation, Heading, Text, blocks, chapter_number, markdown_cells
from serving import _latex, notation, reader
from serving.formulas import REGISTRY

OPERATORS = {
    *(r"\frac", r"\tfrac", r"\dfrac", r"\sqrt", r"\sum", r"\prod", r"\int", r"\lim"),
    *(r"\min", r"\max", r"\ln", r"\log", r"\exp", r"\Pr", r"\partial"),
    *(r"\to", r"\infty", r"\le", r"\leq", r"\ge", r"\geq", r"\ne", r"\neq", r"\ll", r"\gg"),
    *(r"\approx", r"\sim", r"\equiv", r"\propto", r"\pm", r"\times", r"\cdot", r"\div"),
    *(r"\ldots", r"\cdots", r"\dots", r"\in", r"\mid", r"\vert", r"\lvert", r"\rvert"),
    *(r"\Rightarrow", r"\Leftrightarrow", r"\implies", r"\iff", r"\mapsto"),
    *(r"\lfloor", r"\rfloor", r"\lceil", r"\rceil", r"\langle", r"\rangle"),
    *(r"\underbrace", r"\overbrace", r"\boxed", r"\tag"),
    *(r"\{", r"\}", r"\%", r"\|", r"\limits", r"\nolimits"),
}
"""Commands that are no symbols."""

STYLES = {
    *(r"\mathrm", r"\mathbf", r"\mathit", r"\mathsf", r"\mathcal", r"\mathbb", r"\boldsymbol"),
    *(r"\operatorname", r"\bar", r"\hat", r"\tilde", r"\dot", r"\vec", r"\overline", r"\widehat"),
}
"""Commands that make another symbol of what they take."""
UPRIGHT = re.compile(r"((?:_\{?|\d)(?:\\[,;: ]|~|\s)*)\\mathrm\{([^{}]*)\}")
"""Words in an index or after a number, where they are no symbol of their own."""
LETTER = re.compile(r"[^\W\d_]|\\[A-Za-z]+")
TEXT = re.compile(r"\\text\{[^}]*\}|\\(?:begin|end)\{\w+\*?\}")


def check(notebook: NotebookNode, name: str) -> list[str]:
    """Symbols that are not declared, labels of no formula, equations that differ from theirs."""
    faults: list[str] = []
    for n, source in markdown_cells(notebook):
        for block in blocks(source):
            for latex in mathematics(block):
                faults += [f"cell {n}: {fault} in ${latex.strip()}$" for fault in strangers(latex)]
            if isinstance(block, Equation) and block.label:
                faults += [f"cell {n}: {fault}" for fault in _labelled(block, name)]
    return [f"{name}: {fault}" for fault in faults]


def _labelled(equation: Equation, name: str) -> Iterator[str]:
    formula = {made.label: made for made in REGISTRY.values()}.get(equation.label)
    if formula is None:
        yield f"the label {equation.label} is of no formula: add the formula or drop the label"
        return
    if formula.chapter != chapter_number(name):
        yield f"{equation.label} belongs to chapter {formula.chapter}, says its formula"
    try:
        reader.check(formula, equation.latex)
    except reader.EquationError as error:
        yield f"{equation.label} is not its formula: {error}"


def completeness(notebooks: Iterable[NotebookNode]) -> list[str]:
    """Formulas that do not have exactly one labelled equation in the book."""
    found = Counter(
        block.label
        for notebook in notebooks
        for _, source in markdown_cells(notebook)
        for block in blocks(source)
        if isinstance(block, Equation)
    )
    return [
        f"chapter {made.chapter}: {made.label} labels {found[made.label]} equations: write one"
        for made in REGISTRY.values()
        if found[made.label] != 1
    ]


def formulas_unread() -> list[str]:
    """Formulas whose own LaTeX is another expression than their code."""
    faults = []
    for made in REGISTRY.values():
        try:
            reader.check(made, made.latex)
        except reader.EquationError as error:
            faults.append(f"{made.name}: {error}")
    return faults


def mathematics(block: Block) -> Iterator[str]:
    """LaTeX of all mathematics in a block."""
    if isinstance(block, Equation):
        yield block.latex
    elif isinstance(block, (Text, Heading)):
        for token in block.inline:
            role = token.meta.get("name") if token.type == "myst_role" else ""
            if token.type.startswith("math") or role == "math":
                yield token.content


@cache
def declared() -> tuple[tuple[str, ...], ...]:
    """Symbols of the notation as tokens, longest first; a function also without its argument."""
    symbols = [entry.latex for entry in notation.TABLE] + list(notation.LOCAL)
    symbols += [match[1] for latex in symbols if (match := re.fullmatch(r"(.+?)\(.*\)", latex))]
    return tuple(sorted({tuple(_tokens(latex)) for latex in symbols}, key=len, reverse=True))


@cache
def indexed() -> frozenset[tuple[str, ...]]:
    """Symbols that are declared with an index, such as the W of W_i, without it."""
    return frozenset(symbol[:-2] for symbol in declared() if symbol[-2:-1] == ("_",))


@cache
def indices() -> frozenset[str]:
    """Letters that may stand in an index: declared ones, and those of declared indices."""
    return frozenset(symbol[-1] for symbol in declared() if len(symbol) == 1 or symbol[-2] == "_")


def _tokens(latex: str) -> list[str]:
    return _latex.tokens(UPRIGHT.sub(r"\1\\text{\2}", latex))


def strangers(latex: str) -> list[str]:
    """Symbols of an equation that the notation does not declare."""
    return [f"the symbol {symbol} is not in the notation table" for symbol in _unknown(latex)]


def _unknown(latex: str) -> Iterator[str]:
    rest = _tokens(latex)
    while rest:
        length = _known(rest)
        start = length or 1 + (_group(rest[1:]) if rest[0] in STYLES else 0)
        script = _script(rest[start:]) or _mark(rest[start:])
        if length and script or not length and not _harmless(rest):
            length = start + script
            yield "".join(rest[:length])
        rest = rest[length or 1 :]


def _known(rest: Sequence[str]) -> int:
    """Count the tokens of the symbol that stands first, 0 if none is known."""
    for symbol in declared():
        if tuple(rest[: len(symbol)]) == symbol:
            end = len(symbol)
            if symbol in indexed() and _is_index(rest[end:]):
                return end + _script(rest[end:])
            return end
    for base in indexed():
        if tuple(rest[: len(base)]) == base and _is_index(rest[len(base) :]):
            return len(base) + _script(rest[len(base) :])
    return 0


def _script(rest: Sequence[str]) -> int:
    """Count the tokens of the subscript that stands first, 0 if there is none."""
    return 1 + _group(rest[1:]) if rest and rest[0] == "_" else 0


def _mark(rest: Sequence[str]) -> int:
    """Count the tokens of a prime, a star or words that make another symbol of what they follow."""
    if rest and rest[0] in {"'", "^"}:
        length = 1 + (_group(rest[1:]) if rest[0] == "^" else 0)
        if all(one in {*"'^{}*+-", r"\prime"} or TEXT.fullmatch(one) for one in rest[:length]):
            return length
    return 0


def _group(rest: Sequence[str]) -> int:
    """Count the tokens that a command takes: one, or a braced group."""
    depth = 0
    for n, token in enumerate(rest, start=1):
        depth += {"{": 1, "}": -1}.get(token, 0)
        if depth == 0:
            return n
    return len(rest)


def _is_index(rest: Sequence[str]) -> bool:
    script = rest[1 : _script(rest)]
    return bool(script) and all(
        token in {"{", "}", "+", "-"} or token.isdigit() or token in indices() for token in script
    )


def _harmless(rest: Sequence[str]) -> bool:
    token, after = rest[0], rest[1] if len(rest) > 1 else ""
    if token in OPERATORS or TEXT.fullmatch(token):
        return True
    if (token, after) in {("E", "["), ("e", "^")}:  # an expectation, the exponential function
        return True
    return token != "'" and not LETTER.search(token)
