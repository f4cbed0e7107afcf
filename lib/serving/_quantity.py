"""What a live chart draws: formulas, tables and their sums, for Python and for the page.

Each quantity has two ways to its value that share nothing but the formula: `values` evaluates it
here, for the still picture, and `spec` is what the page computes from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import RegularGridInterpolator

from . import formulas
from ._formula import Formula
from .errors import UnstableError

Point = Mapping[str, Any]
Array = NDArray[np.float64]

_OPERATIONS: dict[str, Callable[..., Any]] = {
    "sum": np.add,
    "difference": np.subtract,
    "product": np.multiply,
    "ratio": np.divide,
    "least": np.minimum,
    "largest": np.maximum,
}


class Quantity:
    """A number that depends on the parameters of a chart; may be added, multiplied, divided."""

    def spec(self) -> Any:
        """What the page computes it from, as JSON has it."""
        raise NotImplementedError

    def values(self, point: Point) -> Array:
        """Value over arrays of parameters in SI units, ``inf`` where there is none."""
        raise NotImplementedError

    def names(self) -> set[str]:
        """Python names of the parameters it depends on."""
        raise NotImplementedError

    def formulas(self) -> set[str]:
        """Names of the formulas that the page needs for it."""
        return set()

    def __add__(self, other: Any) -> Quantity:
        return Combined("sum", (self, quantity(other)))

    def __sub__(self, other: Any) -> Quantity:
        return Combined("difference", (self, quantity(other)))

    def __mul__(self, other: Any) -> Quantity:
        return Combined("product", (self, quantity(other)))

    def __truediv__(self, other: Any) -> Quantity:
        return Combined("ratio", (self, quantity(other)))

    def __radd__(self, other: Any) -> Quantity:
        return quantity(other) + self

    def __rsub__(self, other: Any) -> Quantity:
        return quantity(other) - self

    def __rmul__(self, other: Any) -> Quantity:
        return quantity(other) * self

    def __rtruediv__(self, other: Any) -> Quantity:
        return quantity(other) / self


@dataclass(frozen=True)
class Number(Quantity):
    """A number that no slider moves."""

    number: float

    def spec(self) -> Any:
        """Give the number."""
        return self.number

    def values(self, point: Point) -> Array:
        """Give the number, as an array."""
        return np.asarray(self.number, dtype=np.float64)

    def names(self) -> set[str]:
        """Nothing."""
        return set()


@dataclass(frozen=True)
class Parameter(Quantity):
    """A parameter of the chart, by its Python name."""

    name: str

    def spec(self) -> Any:
        """Give the name."""
        return self.name

    def values(self, point: Point) -> Array:
        """Give the parameter's own value."""
        return np.asarray(point[self.name], dtype=np.float64)

    def names(self) -> set[str]:
        """Give the name alone."""
        return {self.name}


@dataclass(frozen=True)
class Value(Quantity):
    """A formula, some of its arguments perhaps given by other quantities."""

    formula: Formula
    given: Mapping[str, Quantity] = field(default_factory=dict)

    def spec(self) -> Any:
        """Name the formula and what it is given."""
        given = {name: one.spec() for name, one in self.given.items()}
        return {"formula": self.formula.name} | ({"at": given} if given else {})

    def values(self, point: Point) -> Array:
        """Evaluate the formula by `serving.formulas.curve`."""
        given = [
            self.given[entry.name].values(point)
            if entry.name in self.given
            else np.asarray(point[entry.name], dtype=np.float64)
            for entry in self.formula.parameters
        ]
        arrays = np.broadcast_arrays(*given)
        known = np.logical_and.reduce([np.isfinite(one) for one in arrays])
        result = np.full(known.shape, np.inf)
        result[known] = formulas.curve(self.formula.function, *(one[known] for one in arrays))
        return result

    def names(self) -> set[str]:
        """Collect the parameters that are not given and what the given ones need."""
        free = {entry.name for entry in self.formula.parameters} - set(self.given)
        return free.union(*(one.names() for one in self.given.values()))

    def formulas(self) -> set[str]:
        """Name the formula and those of its arguments."""
        return {self.formula.name}.union(*(one.formulas() for one in self.given.values()))


@dataclass(frozen=True)
class Combined(Quantity):
    """A sum, difference, product or ratio of two quantities, or the smaller or larger of them."""

    operation: str
    of: tuple[Quantity, Quantity]

    def spec(self) -> Any:
        """Name the operation and what it is done to."""
        return {"op": self.operation, "of": [one.spec() for one in self.of]}

    def values(self, point: Point) -> Array:
        """Combine the values; where one is missing, so is the result."""
        first, second = np.broadcast_arrays(*(one.values(point) for one in self.of))
        known = np.isfinite(first) & np.isfinite(second)
        result = np.full(known.shape, np.inf)
        result[known] = _OPERATIONS[self.operation](first[known], second[known])
        return result

    def names(self) -> set[str]:
        """Collect the parameters of both."""
        return set().union(*(one.names() for one in self.of))

    def formulas(self) -> set[str]:
        """Collect the formulas of both."""
        return set().union(*(one.formulas() for one in self.of))


MANY = 1000
"""Points at which a function of a table is not called any more, for a still of a plane."""


@dataclass(frozen=True)
class Table(Quantity):
    """Values that Python computes when the book is built, over a grid of up to three quantities.

    The page interpolates between the grid's lines and shows nothing outside them; the still
    picture calls the function itself.
    """

    function: Callable[..., float]
    lines: Mapping[str, Sequence[float]]
    given: Mapping[str, Quantity]
    logarithmic: bool = True
    entries: Sequence[float | None] | None = None

    def spec(self) -> Any:
        """Compute the table, six digits an entry; null where there is no value."""
        if self.entries is not None:  # computed before: a hole is one of the table
            return self._written(self.entries) | {"empty": "grid"}
        grid = product(*self.lines.values())
        values = [self._entry(dict(zip(self.lines, point, strict=True))) for point in grid]
        return self._written([float(f"{one:.6g}") if np.isfinite(one) else None for one in values])

    def _written(self, values: Sequence[float | None]) -> dict[str, Any]:
        return {
            "names": list(self.lines),
            "lines": [list(lines) for lines in self.lines.values()],
            "at": [self._at(name).spec() for name in self.lines],
            "log": self.logarithmic,
            "values": list(values),
        }

    def values(self, point: Point) -> Array:
        """Call the function at each point inside the grid, or interpolate where they are many."""
        places = np.broadcast_arrays(*(self._at(name).values(point) for name in self.lines))
        if places[0].size > MANY:
            return self._between(places)
        result = np.full(places[0].shape, np.inf)
        for index in np.ndindex(result.shape):
            at = {name: float(one[index]) for name, one in zip(self.lines, places, strict=True)}
            if all(self.lines[name][0] <= x <= self.lines[name][-1] for name, x in at.items()):
                result[index] = self._entry(at)
        return result

    def _between(self, places: Sequence[Array]) -> Array:
        """Interpolate the table as the page does, by another's code."""
        sizes = [len(lines) for lines in self.lines.values()]
        entries = np.array(self.spec()["values"], dtype=np.float64).reshape(sizes)
        known = np.log(entries) if self.logarithmic else entries
        lines = [np.array(one, dtype=np.float64) for one in self.lines.values()]
        between = RegularGridInterpolator(lines, known, bounds_error=False, fill_value=np.nan)
        found = between(np.stack(np.broadcast_arrays(*places), axis=-1))
        found = np.exp(found) if self.logarithmic else found
        return np.where(np.isnan(found), np.inf, found)

    def names(self) -> set[str]:
        """Collect the parameters of what the grid is laid over."""
        return set().union(*(self._at(name).names() for name in self.lines))

    def formulas(self) -> set[str]:
        """Collect the formulas of what the grid is laid over."""
        return set().union(*(self._at(name).formulas() for name in self.lines))

    def _at(self, name: str) -> Quantity:
        return self.given.get(name, Parameter(name))

    def _entry(self, point: dict[str, float]) -> float:
        whole = {name: int(x) if float(x).is_integer() else x for name, x in point.items()}
        try:
            return float(self.function(**whole))
        except UnstableError:
            return float("inf")


@dataclass(frozen=True)
class Best(Quantity):
    """The whole number, of a range, at which a quantity is least while no ratio exceeds one."""

    name: str
    low: int
    high: int
    objective: Quantity
    limits: tuple[Quantity, ...]

    def spec(self) -> Any:
        """Name the number, its range, what is to be small and what is to stay below one."""
        return {
            "best": self.name,
            "range": [self.low, self.high],
            "objective": self.objective.spec(),
            "limits": [one.spec() for one in self.limits],
        }

    def values(self, point: Point) -> Array:
        """Try every number."""
        tried = np.arange(self.low, self.high + 1)
        needed = sorted(self.names())
        places = np.broadcast_arrays(*(point[name] for name in needed), np.float64(0))
        result = np.full(places[0].shape, np.inf)
        for index in np.ndindex(result.shape):
            at = {name: one[index] for name, one in zip(needed, places, strict=False)}
            at[self.name] = tried
            aims = np.array(np.broadcast_to(self.objective.values(at), tried.shape))
            for limit in self.limits:
                beyond = limit.values(at) > 1 + 1e-12  # one that is just met may be rounded up
                aims[np.broadcast_to(beyond, tried.shape)] = np.inf
            if np.isfinite(aims).any():
                result[index] = tried[aims.argmin()]
        return result

    def names(self) -> set[str]:
        """Collect the parameters of all but the number itself."""
        parts = (self.objective, *self.limits)
        return set().union(*(one.names() for one in parts)) - {self.name}

    def formulas(self) -> set[str]:
        """Collect the formulas of the objective and the limits."""
        return set().union(*(one.formulas() for one in (self.objective, *self.limits)))


def quantity(what: Any) -> Quantity:
    """Read what may stand for a quantity.

    Parameters
    ----------
    what : Quantity, callable, str or float
        A quantity, a formula, the Python name of a parameter, or a number.

    Returns
    -------
    Quantity
        The same as a quantity.

    Raises
    ------
    TypeError
        If it is none of these.
    """
    if isinstance(what, Quantity):
        return what
    if isinstance(what, str):
        return Parameter(what)
    if isinstance(what, (int, float, np.number)) and not isinstance(what, bool):
        return Number(float(what) if not isinstance(what, int) else what)
    made = getattr(what, "formula", None)
    if isinstance(made, Formula):
        return Value(made)
    raise TypeError(f"a quantity is a formula, a parameter's name or a number, got {what!r}")
