"""What makes a short function a formula: its symbols, domain, equation and source.

The decorated function stays plain algebra, for numbers, arrays and SymPy symbols alike. From it
and its domain, `value` derives a checked number and `curve` a line to draw.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import sympy
from numpy.typing import NDArray

from . import errors, notation

REGISTRY: dict[str, Formula] = {}
"""Every formula of the package by name, in the order of definition."""


class Stable(NamedTuple):
    """A comparison whose violation means that the queue grows without bound."""

    comparison: Any


class Condition(NamedTuple):
    """One comparison of a domain, and whether it is the one that keeps the queue stable."""

    relation: sympy.Rel
    stability: bool


def stable(comparison: Any) -> Stable:
    """Mark a comparison of a domain as the condition of stability.

    Parameters
    ----------
    comparison : bool, ndarray or Relational
        A single comparison [1].

    Returns
    -------
    Stable
        The comparison, marked.
    """
    return Stable(comparison)


def domain_of(function: Callable[..., Any]) -> Callable[..., tuple[Any, ...]]:
    """Domain of another formula, for one that holds for the same arguments.

    Parameters
    ----------
    function : callable
        A formula of the same parameters.

    Returns
    -------
    callable
        Its domain.

    Raises
    ------
    TypeError
        If ``function`` is not a formula.
    """
    return _formula_of(function).domain


@dataclass(frozen=True)
class Formula:
    """A closed form of the book with what is known about it.

    Attributes
    ----------
    function : callable
        The algebra itself.
    domain : callable
        Same parameters; a tuple of single comparisons.
    latex : str
        Its right-hand side as LaTeX.
    source : str
        Where it is found in the literature, or ``"here"`` when the chapter derives it anew.
    chapter : int
        The chapter that derives it [1].
    """

    function: Callable[..., Any]
    domain: Callable[..., tuple[Any, ...]]
    latex: str
    source: str
    chapter: int

    @property
    def name(self) -> str:
        """Name of the function, which is also the Python name of its result."""
        return self.function.__name__

    @property
    def label(self) -> str:
        """Label of its equation in the text."""
        return "eq-" + self.name.replace("_", "-")

    @cached_property
    def parameters(self) -> tuple[notation.Entry, ...]:
        """Rows of the notation table for its arguments, in order."""
        names = inspect.signature(self.function).parameters
        return tuple(notation.by_name(name) for name in names)

    @cached_property
    def result(self) -> notation.Entry:
        """Row of the notation table for its result."""
        return notation.by_name(self.name)

    @cached_property
    def symbols(self) -> tuple[sympy.Symbol, ...]:
        """Real symbols named as the arguments are in Python."""
        return tuple(sympy.Symbol(entry.name, real=True) for entry in self.parameters)

    @property
    def expression(self) -> sympy.Expr:
        """The formula on its own symbols."""
        return self.function(*self.symbols)

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """The domain on the formula's own symbols."""
        return tuple(
            Condition(getattr(item, "comparison", item), isinstance(item, Stable))
            for item in self.domain(*self.symbols)
        )

    def sides(self, condition: Condition) -> Callable[..., tuple[Any, Any]]:
        """Make a function of arrays that gives both sides of a condition.

        Parameters
        ----------
        condition : Condition
            One of `conditions`.

        Returns
        -------
        callable
            Takes the formula's arguments, returns the left and the right side.
        """
        sides = (condition.relation.lhs, condition.relation.rhs)
        return sympy.lambdify(self.symbols, sides, "numpy")

    def holds(self, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        """Evaluate the domain.

        Parameters
        ----------
        arguments : tuple
            Numbers or arrays, in the order of the parameters.

        Returns
        -------
        tuple of bool or ndarray
            Whether each condition holds [1].
        """
        return tuple(getattr(item, "comparison", item) for item in self.domain(*arguments))


def formula(
    *, domain: Callable[..., tuple[Any, ...]], latex: str, source: str, chapter: int
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Turn a function into a formula; the function itself is returned, with ``.formula`` on it.

    Parameters
    ----------
    domain : callable
        Takes the same parameters; returns a tuple of single comparisons, each perhaps marked
        with `stable`. Only ``+ - * /`` and whole powers, so that it can be decided exactly.
    latex : str
        Right-hand side of the equation.
    source : str
        Where it is found.
    chapter : int
        The chapter that derives it [1].

    Returns
    -------
    callable
        The decorator.

    Raises
    ------
    TypeError
        If the domain chains comparisons, uses ``and`` or ``==``, or has other parameters.
    KeyError
        If an argument or the result is not in the notation table.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        """Check the formula, hang it on its function and register it."""
        made = Formula(function, domain, latex, source, chapter)
        if tuple(inspect.signature(domain).parameters) != tuple(p.name for p in made.parameters):
            raise TypeError(f"the domain of {made.name} must take the same parameters as it")
        for condition in made.conditions:  # a chain or an `and` raises here, in SymPy
            if not isinstance(condition.relation, sympy.core.relational.Relational):
                raise TypeError(
                    f"the domain of {made.name} must be single comparisons, "
                    f"got {condition.relation!r}"
                )
        function.formula = made  # type: ignore[attr-defined]
        function.__doc__ = _documented(made)
        REGISTRY[made.name] = made
        return function

    return decorate


def value(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Evaluate a formula inside its domain.

    Numbers are read as the decimals they print as and the domain is decided in exact
    arithmetic, so that a load of exactly one is never taken for a little less.

    Parameters
    ----------
    function : callable
        A function of `serving.formulas`.
    *args, **kwargs : float or array_like
        Its arguments, in the units of the notation table; arrays broadcast [any].

    Returns
    -------
    float or ndarray
        The value, in the unit of its result [any].

    Raises
    ------
    TypeError
        If ``function`` is not a formula or an argument is not a number.
    UnstableError
        If the queue would grow without bound.
    ValueError
        If another condition of the domain is violated, or the result is not finite.

    Examples
    --------
    >>> from serving import formulas
    >>> value(formulas.utilization, arrival_rate=100, batch=16, t_fixed=0.05, t_req=0.0005)
    0.3625
    """
    made = _formula_of(function)
    arguments = _bind(made, args, kwargs)
    if not all(errors.is_scalar(argument) for argument in arguments.values()):
        return _array_value(made, arguments)
    numbers = tuple(errors.exact(name, argument) for name, argument in arguments.items())
    for condition, holds in zip(made.conditions, made.holds(numbers), strict=True):
        if not holds:
            raise _violation(made, condition, arguments)
    try:
        result = float(made.function(*numbers))
    except (OverflowError, ZeroDivisionError):
        result = math.nan
    return _finite(made, result, arguments)


def curve(function: Callable[..., Any], *args: Any, **kwargs: Any) -> NDArray[np.float64]:
    """Evaluate a formula over arrays: its values inside the domain, ``inf`` outside.

    Parameters
    ----------
    function : callable
        A function of `serving.formulas`.
    *args, **kwargs : float or array_like
        Its arguments, in the units of the notation table; arrays broadcast [any].

    Returns
    -------
    ndarray
        Values of the broadcast shape, float64 [any].

    Raises
    ------
    TypeError
        If ``function`` is not a formula or an argument is not a number.
    ValueError
        If an argument is not finite.
    """
    made = _formula_of(function)
    grids = _grids(_bind(made, args, kwargs))
    holds, close = _decided(made, grids)
    inside = np.logical_and.reduce(holds)
    result = np.full(inside.shape, np.inf)
    result[inside] = _evaluated(made, tuple(grid[inside] for grid in grids), close[inside])
    return result


def _formula_of(function: Callable[..., Any]) -> Formula:
    made = getattr(function, "formula", None)
    if not isinstance(made, Formula):
        raise TypeError(f"function must be one of serving.formulas, got {function!r}")
    return made


def _bind(made: Formula, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    return dict(inspect.signature(made.function).bind(*args, **kwargs).arguments)


def _grids(arguments: dict[str, Any]) -> tuple[NDArray[np.float64], ...]:
    arrays = [errors.array(name, argument) for name, argument in arguments.items()]
    try:
        return tuple(np.array(grid) for grid in np.broadcast_arrays(*arrays))
    except ValueError:
        shapes = ", ".join(f"{n} {a.shape}" for n, a in zip(arguments, arrays, strict=True))
        raise ValueError(f"arrays must have shapes that broadcast, got {shapes}") from None


def _array_value(made: Formula, arguments: dict[str, Any]) -> NDArray[np.float64]:
    grids = _grids(arguments)
    holds, close = _decided(made, grids)
    for condition, everywhere in zip(made.conditions, holds, strict=True):
        if not everywhere.all():
            raise _violation(made, condition, _first(arguments, grids, ~everywhere))
    return _evaluated(made, grids, close)


def _decided(
    made: Formula, grids: tuple[NDArray[np.float64], ...]
) -> tuple[list[NDArray[np.bool_]], NDArray[np.bool_]]:
    """Where each condition holds, and where floats cannot tell, so that it is decided exactly.

    They cannot tell a load very close to one, nor products of very large or small numbers.
    """
    shape = grids[0].shape
    sizes = np.abs(np.array(grids))
    close = np.any((sizes > 1e50) | ((sizes > 0) & (sizes < 1e-50)), axis=0)
    with np.errstate(all="ignore"):
        holds = [np.array(np.broadcast_to(held, shape)) for held in made.holds(grids)]
        for condition in made.conditions:
            if condition.stability:
                load, capacity = made.sides(condition)(*grids)
                close |= np.abs(load - capacity) <= 1e-9 * np.abs(capacity)
    for index in map(tuple, np.argwhere(close)):
        numbers = (
            errors.exact(entry.name, grid[index])
            for entry, grid in zip(made.parameters, grids, strict=True)
        )
        for held, exactly in zip(holds, made.holds(tuple(numbers)), strict=True):
            held[index] = exactly
    return holds, close


def _evaluated(
    made: Formula, grids: tuple[NDArray[np.float64], ...], close: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Values inside the domain, found exactly where floats lose them: close to it, or too large."""
    try:
        with np.errstate(over="raise", divide="raise", invalid="raise", under="ignore"):
            result = np.array(made.function(*(grid[~close] for grid in grids)), dtype=np.float64)
    except FloatingPointError:
        result, close = np.array([]), np.ones_like(close)
    values = np.empty(close.shape)
    values[~close] = result
    for index in map(tuple, np.argwhere(close)):
        values[index] = value(made.function, *(grid[index] for grid in grids))
    return values


def _first(
    arguments: dict[str, Any], grids: tuple[NDArray[np.float64], ...], mask: NDArray[np.bool_]
) -> dict[str, Any]:
    index = tuple(axis[0] for axis in np.nonzero(np.broadcast_to(mask, grids[0].shape)))
    return {name: float(grid[index]) for name, grid in zip(arguments, grids, strict=True)}


def _violation(made: Formula, condition: Condition, arguments: dict[str, Any]) -> ValueError:
    used = {symbol.name for symbol in condition.relation.free_symbols}
    given = ", ".join(f"{name} = {arguments[name]!r}" for name in arguments if name in used)
    if condition.stability:
        return errors.UnstableError(
            f"{made.name}: the queue is unstable: {condition.relation} is required, got {given}"
        )
    return ValueError(f"{made.name}: {condition.relation} is required, got {given}")


def _finite(made: Formula, result: float, arguments: dict[str, Any]) -> float:
    if math.isfinite(result):
        return result
    given = ", ".join(f"{name} = {argument!r}" for name, argument in arguments.items())
    raise ValueError(f"{made.name}: the result is too large for float64 at {given}")


def _documented(made: Formula) -> str:
    """Docstring with the sections that follow from the notation table and the domain."""
    lines = [inspect.cleandoc(made.function.__doc__ or ""), "", "Parameters", "----------"]
    for entry in made.parameters:
        lines += [f"{entry.name} : float, ndarray or Expr"]
        lines += [f"    {entry.meaning[0].upper()}{entry.meaning[1:]} [{entry.unit}]."]
    lines += ["", "Returns", "-------", "float, ndarray or Expr"]
    lines += [f"    {made.result.meaning[0].upper()}{made.result.meaning[1:]}"]
    lines[-1] += f" [{made.result.unit}], not checked: see `value` and `curve`."
    lines += ["", "Notes", "-----"]
    lines += [f"Domain: {', '.join(str(c.relation) for c in made.conditions)}."]
    lines += ["", f"Source: {made.source}; chapter {made.chapter}."]
    return "\n".join(lines)
