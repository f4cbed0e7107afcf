"""Errors that name the argument, its value and what is allowed; checks of arguments.

Numbers are compared as the decimals they print as: ``0.07`` is seven hundredths, not the
nearest binary fraction, so that a batch that just reaches a target of 70 % is found to reach it.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Set
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray


class UnstableError(ValueError):
    """The queue would grow without bound: more work arrives than the server can do."""


def exact(name: str, value: Any) -> Fraction:
    """Return a finite real number as the exact fraction that its decimal text means.

    Parameters
    ----------
    name : str
        Name of the argument, for the error.
    value : int, float, Fraction, Decimal or NumPy number
        Scalar to convert [any].

    Returns
    -------
    Fraction
        The same number, exactly [any].

    Raises
    ------
    TypeError
        If ``value`` is not a real number (a bool, a string, an array ...).
    ValueError
        If ``value`` is NaN, infinite or too large for float64.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (numbers.Real, Decimal)):
        raise TypeError(f"{name} must be a real number, got {value!r}")
    if isinstance(value, numbers.Rational):
        result = Fraction(int(value.numerator), int(value.denominator))
        finite = abs(result) <= Fraction(np.finfo(float).max)
    else:
        finite = math.isfinite(value)
        result = Fraction(str(value)) if finite else Fraction(0)
    if not finite:
        raise ValueError(f"{name} must be finite, got {value!r}")
    return result


def number(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
) -> float:
    """Return ``value`` as a float after checking its type and range.

    Parameters
    ----------
    name : str
        Name of the argument, for the error.
    value : int, float, Fraction, Decimal or NumPy number
        Scalar to check [any].
    above, at_least, at_most : float, optional
        Bounds; ``above`` is strict [any].

    Returns
    -------
    float
        The value [any].

    Raises
    ------
    TypeError
        If ``value`` is not a real number.
    ValueError
        If ``value`` is not finite or lies outside the bounds.
    """
    fraction = exact(name, value)
    bounds = (
        ("greater than", above, lambda bound: fraction > exact("above", bound)),
        ("at least", at_least, lambda bound: fraction >= exact("at_least", bound)),
        ("at most", at_most, lambda bound: fraction <= exact("at_most", bound)),
    )
    for words, bound, holds in bounds:
        if bound is not None and not holds(bound):
            raise ValueError(f"{name} must be {words} {bound}, got {value!r}")
    return float(fraction)


def integer(name: str, value: Any, *, at_least: int | None = None) -> int:
    """Return ``value`` as an int if it is a whole number (``8`` or ``8.0``) within the bound.

    Parameters
    ----------
    name : str
        Name of the argument, for the error.
    value : int, float or NumPy number
        Scalar to check [any].
    at_least : int, optional
        Least allowed value [any].

    Returns
    -------
    int
        The value [any].

    Raises
    ------
    TypeError
        If ``value`` is not a real number.
    ValueError
        If ``value`` is not whole or is below ``at_least``.
    """
    fraction = exact(name, value)
    if fraction.denominator != 1:
        raise ValueError(f"{name} must be a whole number, got {value!r}")
    number(name, value, at_least=at_least)
    return int(fraction)


def duration(name: str, value: Any) -> float:
    """Return a time as a float after checking that it is not negative; it may be ``inf``.

    Parameters
    ----------
    name : str
        Name of the argument, for the error.
    value : int, float, Fraction, Decimal or NumPy number
        Time to check [s].

    Returns
    -------
    float
        The time [s].

    Raises
    ------
    TypeError
        If ``value`` is not a real number.
    ValueError
        If ``value`` is negative or NaN.
    """
    if isinstance(value, (float, np.floating, Decimal)) and value == math.inf:
        return math.inf
    return number(name, value, at_least=0)


def brief(number: Fraction) -> str:
    """Write a number of any size to six digits.

    Parameters
    ----------
    number : Fraction
        The number; it may be beyond float64.

    Returns
    -------
    str
        Such as ``"0.7"`` or ``"1.5e+400"``.
    """
    return f"{Decimal(number.numerator) / Decimal(number.denominator):.6g}"


def is_scalar(value: Any) -> bool:
    """Tell one thing from a sequence: numbers, texts, sets and arrays without axes are one.

    Parameters
    ----------
    value : object
        Anything.

    Returns
    -------
    bool
        Whether it is one thing.
    """
    if isinstance(value, np.ndarray):
        return value.ndim == 0
    return isinstance(value, (str, bytes, Mapping, Set)) or not isinstance(value, Iterable)


def array(name: str, values: Any, *, at_least: float | None = None) -> NDArray[np.float64]:
    """Return ``values`` as a float64 array after checking that each entry is a finite number.

    Parameters
    ----------
    name : str
        Name of the argument, for the error.
    values : array_like
        Numbers of any shape [any].
    at_least : float, optional
        Least allowed entry [any].

    Returns
    -------
    ndarray
        The entries, same shape as ``values`` [any].

    Raises
    ------
    TypeError
        If an entry is not a real number.
    ValueError
        If the rows differ in length, or an entry is not finite or below ``at_least``.
    """
    if np.ma.is_masked(values):
        raise ValueError(f"{name} must have no masked entries, got {values!r}")
    if isinstance(values, (Mapping, Set)):
        raise TypeError(f"{name} must be a sequence of numbers, got {values!r}")
    if not is_scalar(values) and not isinstance(values, np.ndarray):
        values = list(values)
    try:
        raw = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must be rows of equal length, got {values!r}") from error
    if raw.dtype.kind not in "iuf" or isinstance(values, list):
        entries = raw if raw.dtype.kind not in "iuf" else np.asarray(values, dtype=object)
        for entry in entries.flat:  # the first entry that is no number gives the error
            if raw.dtype.kind != "f" or isinstance(entry, bool):
                exact(name, entry)
        if raw.dtype.kind in "bSUMmcV":  # no numbers, even where there are no entries
            raise TypeError(f"{name} must hold real numbers, got {values!r}")
    if raw.dtype in (np.float16, np.float32):  # 0.07 is seven hundredths in any precision
        raw = raw.astype(str)
    result: NDArray[np.float64] = raw.astype(np.float64)
    bad = ~np.isfinite(result)
    if at_least is not None:
        bad |= result < at_least
    if bad.any():
        index = tuple(int(place) for place in np.argwhere(bad)[0])
        where = f"{name}[{', '.join(map(str, index))}]" if index else name
        allowed = "finite" if at_least is None else f"finite and at least {at_least}"
        raise ValueError(f"{where} must be {allowed}, got {result[index]}")
    return result
