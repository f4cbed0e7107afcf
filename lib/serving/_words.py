"""What stands under a live chart: a sentence with numbers to drag, an equation in numbers."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import sympy

from . import _mathml as mathml
from . import _parameters, notation
from ._formula import Formula
from ._quantity import Quantity, Value
from .formulas import REGISTRY


def sentence(
    text: str, labels: Collection[str], moved: Collection[str], results: Collection[str]
) -> list[tuple[str, str]]:
    """Split a sentence into words, parameters, curves, results and formulas."""
    parts: list[tuple[str, str]] = []
    for number, part in enumerate(re.split(r"\{([^}]*)\}", text)):
        if not number % 2:
            parts += [("text", part)] if part else []
        elif part in moved:
            parts.append(("parameter", part))
        elif part in labels:
            parts.append(("curve", part))
        elif part in results:
            parts.append(("result", part))
        elif part in REGISTRY:
            parts.append(("formula", part))
        else:
            raise ValueError(
                f"sentence: {part!r} is no parameter with a range, curve, result or formula"
            )
    return parts


def _braced(made: Formula, stack: Sequence[tuple[str, str, Quantity]]) -> str:
    """LaTeX of a sum with a brace under each term, if the stack is the formula's sum."""
    terms = [one.formula for _, _, one in stack if isinstance(one, Value) and not one.given]
    difference = made.expression - sum(one.expression for one in terms)
    if not terms or len(terms) < len(stack) or sympy.simplify(difference) != 0:
        return ""
    return " + ".join(
        rf"\underbrace{{{one.latex}}}_{{\text{{{label}}}}}"
        for (label, _, _), one in zip(reversed(stack), reversed(terms), strict=True)
    )


def follower(kind: str, text: str, results: Mapping[str, tuple[Quantity, str]]) -> Any:
    """What the page needs to show one part of a sentence."""
    if kind == "result":
        what, unit = results[text]
        return {"term": what.spec(), **_parameters.scaled(unit)}
    if kind != "formula":
        return text
    unit = _parameters.usual(REGISTRY[text].result.unit)
    return {"term": {"formula": text}, **_parameters.scaled(unit)}


def equation(
    shown: Value, stack: Sequence[tuple[str, str, Quantity]]
) -> tuple[dict[str, Any], set[str]]:
    """The equation for the page, and the formulas that its symbols stand for."""
    made = shown.formula
    colors = {label: color for label, color, _ in stack}
    right = mathml.math(_braced(made, stack) or made.latex, block=True, colors=colors)
    arguments = {entry.name for entry in made.parameters}
    found = set(re.findall(r"data-symbol='(\w+)'", right)) - arguments
    symbols = {one for one in found if one in REGISTRY}
    return {
        "left": mathml.symbol(made.name),
        "right": right,
        "term": shown.spec(),
        "parameters": [entry.name for entry in made.parameters],
        **_parameters.scaled(_parameters.usual(notation.by_name(made.name).unit)),
    }, symbols
