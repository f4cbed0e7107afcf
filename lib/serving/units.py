"""Numbers as the text writes them: units, rounding half up, and the numeral of a phrase."""

from __future__ import annotations

import numbers
import re
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Any

import sympy

from . import errors

UNITS: dict[str, Fraction] = {
    "%": Fraction(1, 100),
    "s": Fraction(1),
    "ms": Fraction(1, 10**3),
    "µs": Fraction(1, 10**6),  # the micro sign, and the Greek letter that looks like it
    "\u03bcs": Fraction(1, 10**6),
    "min": Fraction(60),
    "kB": Fraction(10**3),
    "MB": Fraction(10**6),
    "GB": Fraction(10**9),
    "TB": Fraction(10**12),
    "KiB": Fraction(2**10),
    "MiB": Fraction(2**20),
    "GiB": Fraction(2**30),
    "TB/s": Fraction(10**12),
    "GB/s": Fraction(10**9),
    "million": Fraction(10**6),
    "billion": Fraction(10**9),
}
"""Units whose numbers differ from the SI number inside; any other word counts as 1."""

NUMERAL = re.compile(r"(?<![\w.,])[-−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?!\w|[.,]\d)")
"""A number in prose: not part of a word such as P99, commas between thousands."""

SIGNIFICANT = Context(prec=12, rounding=ROUND_HALF_UP)


def decimal(number: Any, unit: str = "") -> Decimal:
    """Return a number in a unit, rounded to 12 significant digits unless it is an integer.

    Twelve digits remove the noise of binary arithmetic, so that rounding half up afterwards
    treats 0.3625 as the tie that it is.

    Parameters
    ----------
    number : int, float, Fraction, SymPy or NumPy number
        The number in SI units [any].
    unit : str
        A key of `UNITS`; any other word leaves the number as it is.

    Returns
    -------
    Decimal
        The number in the unit [any].

    Raises
    ------
    TypeError
        If ``number`` is not a real number.
    ValueError
        If it is not finite.
    """
    if isinstance(number, sympy.Basic):
        number = Fraction(number.p, number.q) if number.is_Rational else float(number)
    fraction = errors.exact("number", number) / UNITS.get(unit, Fraction(1))
    whole = isinstance(number, numbers.Integral)  # a count of bytes has no noise to remove
    context = Context(prec=400, rounding=ROUND_HALF_UP) if whole else SIGNIFICANT
    return context.divide(Decimal(fraction.numerator), Decimal(fraction.denominator))


def rounded(number: Any, digits: int, unit: str = "") -> str:
    """Write a number with a fixed count of decimals, rounded half up.

    Parameters
    ----------
    number : int, float, Fraction, SymPy or NumPy number
        The number in SI units [any].
    digits : int
        Decimals to keep, at least 0 [1].
    unit : str
        A key of `UNITS`; any other word leaves the number as it is.

    Returns
    -------
    str
        Its text, thousands separated by commas, without the unit.

    Raises
    ------
    TypeError
        If ``number`` is not a real number.
    ValueError
        If it is not finite.

    Examples
    --------
    >>> rounded(0.3625, 1, "%"), rounded(0.1494901, 1, "ms")
    ('36.3', '149.5')
    """
    places = Decimal(1).scaleb(-errors.integer("digits", digits, at_least=0))
    text = f"{decimal(number, unit).quantize(places, ROUND_HALF_UP, Context(prec=400)):,f}"
    return text.replace("-", "−") if text.strip("-0.,") else text.lstrip("-")


def phrase(text: str) -> tuple[str, str]:
    """Find the one numeral of a phrase and the unit that follows it.

    Parameters
    ----------
    text : str
        Such as ``"149.5 ms"`` or ``"B = 10"``.

    Returns
    -------
    tuple of str
        Numeral and unit (empty if no word follows the numeral).

    Raises
    ------
    ValueError
        If there is not exactly one numeral, or no unit or name beside it.

    Examples
    --------
    >>> phrase("149.5 ms"), phrase("B = 10")
    (('149.5', 'ms'), ('10', ''))
    """
    found = list(NUMERAL.finditer(text))
    if len(found) != 1:
        raise ValueError(f"text must hold exactly one number, got {text!r}")
    numeral = found[0].group()
    if not re.search(r"[^\W\d_]|%", text):
        raise ValueError(f"text must name a unit or a quantity beside the number, got {text!r}")
    after = text[found[0].end() :].split()
    return numeral, after[0].rstrip(".,;:!?)") if after else ""


def restated(text: str, value: Any, digits: int) -> str:
    """Write a phrase anew with another number in it.

    Parameters
    ----------
    text : str
        A phrase with one numeral and its unit or name.
    value : int, float, Fraction, SymPy or NumPy number
        The number in SI units [any].
    digits : int
        Decimals to keep, at least 0 [1].

    Returns
    -------
    str
        The phrase with the value, rounded half up, in the numeral's place.

    Raises
    ------
    TypeError
        If ``value`` is not a real number.
    ValueError
        If ``text`` has no unit or name or not exactly one number, or ``value`` is not finite.

    Examples
    --------
    >>> restated("149.5 ms", 0.1494901, 3)
    '149.490 ms'
    """
    numeral, unit = phrase(text)
    return text.replace(numeral, rounded(value, digits, unit))
