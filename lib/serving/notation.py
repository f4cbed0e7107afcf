"""The symbols of the book: one table, from which text, code, sheet and checks are fed.

The rows stand in ``data/symbols.csv``, the letters of single derivations in ``data/letters.csv``.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib import resources
from typing import Any

import sympy


@dataclass(frozen=True)
class Entry:
    """One symbol of the book.

    Attributes
    ----------
    name : str
        Python name: the keyword of every function that takes the quantity.
    latex : str
        How the symbol is written in equations.
    meaning : str
        What it is, in words.
    unit : str
        SI unit; ``1`` for a pure number.
    formula : str
        Name of the formula that the symbol stands for, if it is not free.
    """

    name: str
    latex: str
    meaning: str
    unit: str
    formula: str = ""


def _rows(file: str) -> list[dict[str, str]]:
    text = resources.files(__package__).joinpath("data", file).read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


TABLE: tuple[Entry, ...] = tuple(Entry(**row) for row in _rows("symbols.csv"))
"""Symbols that stand in formulas."""

LOCAL: dict[str, str] = {row["latex"]: row["meaning"] for row in _rows("letters.csv")}
"""Letters that only derivations use, by the LaTeX that stands in the text."""


def by_name(name: str) -> Entry:
    """Look up a symbol by its Python name.

    Parameters
    ----------
    name : str
        Python name, such as ``"arrival_rate"``.

    Returns
    -------
    Entry
        Its row of the table.

    Raises
    ------
    KeyError
        If the table has no such symbol.
    """
    for entry in TABLE:
        if entry.name == name:
            return entry
    raise KeyError(f"{name!r} is not in the notation table")


def symbols(names: str, **assumptions: Any) -> tuple[sympy.Symbol, ...]:
    r"""SymPy symbols that print as the book writes them.

    Parameters
    ----------
    names : str
        Python names, separated by spaces.
    **assumptions : bool
        SymPy assumptions; ``positive=True`` unless told otherwise.

    Returns
    -------
    tuple of Symbol
        One symbol a name, in order.

    Raises
    ------
    KeyError
        If a name is not in the notation table.

    Examples
    --------
    >>> symbols("arrival_rate batch")
    (\lambda_{\text{arr}}, B)
    """
    assumptions = assumptions or {"positive": True}
    return tuple(sympy.Symbol(by_name(name).latex, **assumptions) for name in names.split())
