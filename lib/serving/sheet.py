"""Pages made from the tables: the formula sheet and the notation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import sympy
from IPython.display import Markdown

from . import notation
from ._formula import Formula
from .formulas import REGISTRY


def formulas(chapter_files: dict[int, str]) -> Markdown:
    """Every formula of the book: name, equation, unit, domain, source, chapter.

    Parameters
    ----------
    chapter_files : dict of int to str
        File of each chapter by number, for the links.

    Returns
    -------
    Markdown
        A block for each formula.
    """
    made = sorted(REGISTRY.values(), key=lambda one: one.chapter)
    return Markdown("\n\n".join(_block(one, chapter_files) for one in made))


def _block(made: Formula, chapter_files: dict[int, str]) -> str:
    where = ", ".join(f"${condition}$" for condition in domain(made))
    return (
        f"**`{made.name}`**, {made.result.meaning} [{made.result.unit}]: "
        f"[chapter {made.chapter}]({chapter_files[made.chapter]})\n\n"
        f"$$\n{made.result.latex} = {made.latex}\n$$\n\n"
        f"holds for {where}. Source: {made.source}."
    )


def symbols() -> Markdown:
    """Every symbol of the book: meaning, unit and Python name.

    Returns
    -------
    Markdown
        A table.
    """
    header = ("symbol", "meaning", "unit", "Python name")
    rows = [
        (f"${entry.latex}$", entry.meaning, entry.unit, f"`{entry.name}`")
        for entry in notation.TABLE
    ]
    rows += [(f"${latex}$", meaning, "", "") for latex, meaning in notation.LOCAL.items()]
    return _table(header, rows)


def domain(made: Formula) -> list[str]:
    """Conditions of a formula as LaTeX.

    Parameters
    ----------
    made : Formula
        The formula.

    Returns
    -------
    list of str
        One comparison each, in the order of its definition.
    """
    names = {
        symbol: entry.latex for symbol, entry in zip(made.symbols, made.parameters, strict=True)
    }
    return [sympy.latex(condition.relation, symbol_names=names) for condition in made.conditions]


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Markdown:
    lines = [header, ["---"] * len(header), *rows]
    return Markdown("\n".join(f"| {' | '.join(cells)} |" for cells in lines))
