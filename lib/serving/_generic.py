"""Elementary functions that take numbers, NumPy arrays and SymPy expressions alike.

``numpy.sqrt`` fails on a symbol and ``math.sqrt`` on an array; the formulas of the book are
written once and need one name for all three.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import ModuleType
from typing import Any

import numpy as np
import sympy

_NAMED: ContextVar[bool] = ContextVar("_NAMED", default=False)


@contextmanager
def named() -> Iterator[None]:
    """Keep, on symbols, the functions that SymPy would write out and that lose digits so.

    Inside, ``expm1(x)`` is a function of that name and not ``exp(x) - 1``, for a printer that has
    one to print; the others alike.
    """
    token = _NAMED.set(True)
    try:
        yield
    finally:
        _NAMED.reset(token)


def _written(name: str, x: Any, meaning: Any) -> Any:
    """What a symbolic argument gives: the meaning, or a function of that name."""
    return sympy.Function(name)(x) if _NAMED.get() else meaning


def _library(*values: Any) -> ModuleType:
    if any(isinstance(value, sympy.Basic) for value in values):
        return sympy
    if any(isinstance(value, np.ndarray) for value in values):
        return np
    return math


def log(x: Any) -> Any:
    """Natural logarithm."""
    return _library(x).log(x)


def log1p(x: Any) -> Any:
    """Natural logarithm of ``1 + x``, with all its digits near 0 and near -1."""
    library = _library(x)
    if library is sympy:
        return _written("log1p", x, sympy.log(1 + x))
    if library is np:
        return np.where(x < -0.5, np.log(1 + x), np.log1p(x))
    return math.log(1 + x) if x < -0.5 else math.log1p(x)


def exp(x: Any) -> Any:
    """Exponential function."""
    library = _library(x)
    if library is math and x < -1000:  # below float64, and a fraction may be beyond it
        return 0.0
    return library.exp(x)


def expm1(x: Any) -> Any:
    """``exp(x) - 1``, with all its digits near 0."""
    library = _library(x)
    if library is sympy:
        return _written("expm1", x, sympy.exp(x) - 1)
    if library is math and x < -1000:  # as in `exp`
        return -1.0
    return library.expm1(x)


def log_sinhc(x: Any) -> Any:
    """Natural logarithm of ``sinh(x) / x`` for positive numbers, with all its digits near 0."""
    library = _library(x)
    if library is sympy:
        return _written("log_sinhc", x, sympy.log(sympy.sinh(x) / x))
    if library is np:
        near = _near_zero(np.minimum(x, 1))
        return np.where(x < 0.1, near, x + np.log(-np.expm1(-2 * x)) - np.log(2 * x))
    if x < 0.1:
        return _near_zero(x)
    return x + math.log(-expm1(-2 * x)) - math.log(2 * x)


def _near_zero(x: Any) -> Any:
    """Series of log(sinh(x) / x)."""
    return x**2 / 6 - x**4 / 180 + x**6 / 2835 - x**8 / 37800


def forgotten(x: Any) -> Any:
    """``1 - (1 - exp(-x)) / x`` for positive numbers, with all its digits near 0."""
    library = _library(x)
    if library is sympy:
        return _written("forgotten", x, 1 - (1 - sympy.exp(-x)) / x)
    if library is np:
        return np.where(x < 0.1, _hardly(np.minimum(x, 1)), 1 + np.expm1(-x) / x)
    return _hardly(x) if x < 0.1 else 1 + expm1(-x) / x


def _hardly(x: Any) -> Any:
    """Series of the same."""
    return x / 2 - x**2 / 6 + x**3 / 24 - x**4 / 120 + x**5 / 720 - x**6 / 5040 + x**7 / 40320


def sqrt(x: Any) -> Any:
    """Square root."""
    library = _library(x)
    if library is math and 0 < x < 1e-290:  # below float64's normal numbers, a fraction perhaps
        return math.sqrt(x * 4**500) / 2**500
    return library.sqrt(x)


def minimum(x: Any, y: Any) -> Any:
    """Return the smaller of two, element by element."""
    library = _library(x, y)
    if library is sympy:
        return sympy.Min(x, y)
    return np.minimum(x, y) if library is np else min(x, y)


def maximum(x: Any, y: Any) -> Any:
    """Return the larger of two, element by element."""
    library = _library(x, y)
    if library is sympy:
        return sympy.Max(x, y)
    return np.maximum(x, y) if library is np else max(x, y)


def where(condition: Any, x: Any, y: Any) -> Any:
    """``x`` where the condition holds, else ``y``."""
    library = _library(condition, x, y)
    if library is sympy:
        return sympy.Piecewise((x, condition), (y, True))
    return np.where(condition, x, y) if library is np else (x if condition else y)


def almost(x: Any) -> Any:
    """``x`` less what rounding may have taken from a number; symbols have no rounding."""
    if _library(x) is sympy and not _NAMED.get():
        return x
    return x - x / 10**12
