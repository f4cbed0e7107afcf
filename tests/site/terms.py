"""What a live chart should say: its terms evaluated by `serving.formulas.value`, in Python."""

from __future__ import annotations

import operator
import random
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from itertools import product
from math import exp, isfinite, log
from typing import Any

from serving import UnstableError, formulas
from serving._special import FUNCTIONS

Point = Mapping[str, float]
UNSTABLE, UNDEFINED, GRID = "unstable", "undefined", "grid"
KINDS = {"unstable": UNSTABLE, "domain": UNDEFINED, "large": UNDEFINED, "grid": GRID}
"""Words of the page for a point without a value, and those of this module."""
OPERATIONS: dict[str, Callable[..., float]] = {
    "sum": operator.add,
    "difference": operator.sub,
    "product": operator.mul,
    "ratio": operator.truediv,
    "least": min,
    "largest": max,
}


class Outside(Exception):
    """There is no value, for a reason."""


def value(term: Any, point: Point) -> float:
    """Evaluate a term; raises Outside where it has no value."""
    if isinstance(term, str):
        return float(point[term])
    if not isinstance(term, Mapping):
        return float(term)
    if "formula" in term:
        return _formula(term, point)
    if "special" in term:
        return _special(term, [value(one, point) for one in term["of"]])
    if "lines" in term:
        return _table(term, [value(one, point) for one in term["at"]])
    try:
        found = reduce(OPERATIONS[term["op"]], (value(one, point) for one in term["of"]))
    except ZeroDivisionError:
        raise Outside(UNDEFINED) from None
    if not isfinite(found):
        raise Outside(UNDEFINED)
    return found


def _formula(term: Mapping[str, Any], point: Point) -> float:
    made = formulas.REGISTRY[term["formula"]]
    known = {**point, **{name: value(one, point) for name, one in term.get("at", {}).items()}}
    try:
        return float(
            formulas.value(made.function, **{one.name: known[one.name] for one in made.parameters})
        )
    except UnstableError:
        raise Outside(UNSTABLE) from None
    except ValueError:
        raise Outside(UNDEFINED) from None


def _shares(lines: list[float], x: float) -> list[tuple[int, float]]:
    """The grid lines on both sides of a number, and how much each counts."""
    if not lines[0] <= x <= lines[-1]:
        raise Outside(GRID)
    k = min(bisect_right(lines, x), len(lines) - 1) - 1
    upper = (x - lines[k]) / (lines[k + 1] - lines[k])
    return [(n, share) for n, share in ((k, 1 - upper), (k + 1, upper)) if share]


def _special(term: Mapping[str, Any], given: list[float]) -> float:
    whole = [int(x) if float(x).is_integer() else x for x in given]
    try:
        found = float(FUNCTIONS[term["special"]](*whole))
    except ValueError:
        raise Outside(UNDEFINED) from None
    if not isfinite(found):
        raise Outside(UNDEFINED)
    return found


def _table(table: Mapping[str, Any], at: list[float]) -> float:
    cells = [(0, 1.0)]
    for lines, x in zip(table["lines"], at, strict=True):
        known = _shares(lines, x)
        cells = [(k * len(lines) + n, u * v) for (k, u), (n, v) in product(cells, known)]
    entries = [(table["values"][k], share) for k, share in cells]
    if any(entry is None for entry, _ in entries):
        raise Outside(table.get("empty", UNSTABLE))
    inner, outer = (log, exp) if table["log"] else (float, float)
    return outer(sum(share * inner(entry) for entry, share in entries))


def said(term: Any, point: Point) -> float | str:
    """The value of a term, or why there is none."""
    try:
        return value(term, point)
    except Outside as reason:
        return str(reason)


def heard(found: Mapping[str, Any]) -> float | str:
    """What the page says, in the words of this module."""
    return KINDS[found["outside"]["kind"]] if "outside" in found else found["value"]


def _inside(one: Mapping[str, Any], chance: random.Random) -> float:
    low, high = one["low"], one["high"]
    if one["whole"]:
        return chance.randint(low, high)
    if low > 0 and chance.random() < 0.5:
        return low * (high / low) ** chance.random()
    # Numbers of few digits meet the edges of a domain exactly.
    return min(high, max(low, float(f"{chance.uniform(low, high):.2g}")))


def _anywhere(one: Mapping[str, Any], chance: random.Random) -> float:
    drawn = _inside(one, chance) * chance.choice([1, 1, 1, 0.25, 4, 30, 0, -1])
    return round(drawn) if one["whole"] else drawn


def points(spec: Mapping[str, Any], count: int, seed: str) -> Iterator[dict[str, float]]:
    """Settings of a chart's parameters, half of them inside their ranges."""
    chance = random.Random(seed)
    for number in range(count):
        draw = _anywhere if number % 2 else _inside
        yield {**spec["fixed"], **{one["name"]: draw(one, chance) for one in spec["parameters"]}}
