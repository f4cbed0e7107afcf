"""Values between a submission's process and the checker, as JSON: never as pickled objects.

Only `pack` runs beside submitted code; `unpack` builds nothing but numbers, texts, lists,
dictionaries and expression trees, so an answer cannot run code in the checker.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LARGEST = 200_000
"""Longer lists and deeper trees than any task asks for."""
NODES = 400
FUNCTIONS = {"exp": math.exp, "log": math.log, "Abs": abs, "Min": min, "Max": max}


@dataclass(frozen=True)
class Unknown:
    """A value of a kind that no task asks for, known by its type's name alone."""

    kind: str


@dataclass(frozen=True)
class Tree:
    """A SymPy expression: an operation and what it acts on."""

    op: str
    args: tuple[Any, ...]

    def value(self, numbers: Mapping[str, float]) -> float:
        """Evaluate the expression; NaN where it has no real value.

        Parameters
        ----------
        numbers : mapping of str to float
            A value for each symbol.

        Returns
        -------
        float
            The value.
        """
        try:
            result = _value(self, numbers)
        except (ArithmeticError, ValueError):
            return math.nan
        return result if isinstance(result, float) else math.nan

    @property
    def symbols(self) -> set[str]:
        """Names of its symbols."""
        if self.op == "Symbol":
            return {self.args[0]}
        return set().union(*(arg.symbols for arg in self.args if isinstance(arg, Tree)))


def _value(tree: Any, numbers: Mapping[str, float]) -> Any:
    if isinstance(tree, float):
        return tree
    if tree.op == "Symbol":
        return float(numbers[tree.args[0]])
    parts = [_value(arg, numbers) for arg in tree.args]
    if tree.op == "Add":
        return math.fsum(parts)
    if tree.op == "Mul":
        return math.prod(parts)
    if tree.op == "Pow":
        return parts[0] ** parts[1]
    return FUNCTIONS[tree.op](*parts)


def pack(value: Any, depth: int = 0) -> Any:
    """Write a value that a submission returned as what JSON knows.

    Parameters
    ----------
    value : object
        Anything.
    depth : int
        How deep it lies in what was returned.

    Returns
    -------
    object
        Numbers, texts and tagged lists.
    """
    if depth > 60:
        return {"other": "something nested too deeply"}
    if value is None or isinstance(value, (bool, str)):
        return value
    if hasattr(value, "tolist") and type(value).__module__ == "numpy":  # arrays and scalars
        value = value.tolist()
    if type(value) in (int, float):
        return value
    if isinstance(value, (list, tuple)):
        return {"list": [pack(item, depth + 1) for item in value[:LARGEST]]}
    if isinstance(value, dict):
        items = list(value.items())[:LARGEST]
        return {"dict": [[str(key), pack(item, depth + 1)] for key, item in items]}
    if hasattr(value, "free_symbols") and hasattr(value, "func"):
        return _pack_expression(value, depth)
    return {"other": type(value).__name__}


def _pack_expression(value: Any, depth: int) -> Any:
    if depth > 60:
        return {"other": "an expression nested too deeply"}
    if value.is_Symbol:
        return {"tree": "Symbol", "args": [value.name]}
    if value.is_number and not value.free_symbols:
        try:
            return {"tree": "Add", "args": [float(value)]}
        except (TypeError, OverflowError, ValueError):
            return {"other": "a number that is not real"}
    return {
        "tree": type(value).__name__,
        "args": [_pack_expression(arg, depth + 1) for arg in value.args],
    }


def unpack(raw: Any) -> Any:
    """Read what `pack` wrote, trusting nothing.

    Parameters
    ----------
    raw : object
        What JSON gave.

    Returns
    -------
    object
        A number, text, list, dictionary, None, `Tree` or `Unknown`.
    """
    if raw is None or isinstance(raw, (bool, int, float, str)):
        return raw
    if isinstance(raw, dict):
        if isinstance(raw.get("list"), list):
            return [unpack(item) for item in raw["list"]]
        if isinstance(raw.get("dict"), list):
            return {str(key): unpack(item) for key, item in raw["dict"]}
        if isinstance(raw.get("tree"), str):
            return _tree(raw, [NODES])
    kind = raw.get("other") if isinstance(raw, dict) else None
    return Unknown(str(kind)[:40])


def _tree(raw: Any, left: list[int]) -> Any:
    left[0] -= 1
    if left[0] < 0:
        return Unknown("an expression of too many parts")
    op, args = str(raw.get("tree")), raw.get("args")
    if not isinstance(args, list):
        return Unknown("expression")
    if op == "Symbol":
        return Tree(op, (str(args[0]),))
    if op not in {"Add", "Mul", "Pow", *FUNCTIONS}:
        return Unknown(f"expression with {op[:20]}")
    parts = [_tree(a, left) if isinstance(a, dict) else float(a) for a in args]
    wrong = next((part for part in parts if isinstance(part, Unknown)), None)
    return wrong if wrong else Tree(op, tuple(parts))
