"""What the reader of a live chart moves: ranges, defaults, and the units they are shown in."""

from __future__ import annotations

import math
import numbers
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from . import _mathml, errors, notation, units

USUAL = {"s": "ms", "bytes": "GB", "bytes/s": "TB/s", "1": "", "operations/s": "TFLOP/s"}
"""Units in which quantities of SI units are shown unless told otherwise."""
OTHERS = {"TFLOP/s": Fraction(10**12), "kB/token": Fraction(10**3)}
"""Units beside those of the text."""
DECADES = 100
"""A range whose ends have at least this ratio has a logarithmic slider, if it is not whole."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a chart that can be moved.

    Attributes
    ----------
    name : str
        Python name.
    low, high, value : float
        Its range and the text's value, in SI units [any].
    whole : bool
        Whether it takes integers only.
    log : bool
        Whether its slider is logarithmic.
    unit : str
        The unit it is shown in.
    """

    name: str
    low: float
    high: float
    value: float
    whole: bool
    log: bool
    unit: str

    @property
    def named(self) -> str:
        """What it is, in words."""
        return notation.by_name(self.name).meaning.split(";")[0]

    def spec(self) -> dict[str, Any]:
        """Give what the page needs, as JSON has it."""
        return {
            "name": self.name,
            "symbol": _mathml.symbol(self.name),
            "meaning": self.named,
            "low": self.low,
            "high": self.high,
            "value": self.value,
            "whole": self.whole,
            "log": self.log,
            **scaled(self.unit),
        }


def usual(unit: str) -> str:
    """Unit in which a quantity of an SI unit is shown."""
    return USUAL.get(unit, unit)


def factor(unit: str) -> Fraction:
    """SI units in one unit."""
    return OTHERS.get(unit, units.UNITS.get(unit, Fraction(1)))


def scaled(unit: str) -> dict[str, Any]:
    """A unit and the SI units in it, as a fraction in lowest terms."""
    size = factor(unit)
    return {"unit": unit, "scale": [size.numerator, size.denominator]}


def titled(what: str, unit: str) -> str:
    """Title of an axis."""
    return f"{what} ({unit})" if unit else what


def written(number: float, unit: str) -> str:
    """A number of SI units in another unit, with at most four digits."""
    if not math.isfinite(number):
        return "unstable"
    amount = number / float(factor(unit))
    size = 0 if amount == 0 else math.floor(math.log10(abs(amount)))
    if not -4 < size < 9:
        text = f"{amount:.3e}"
    else:
        text = units.rounded(amount, max(0, 3 - size))
        text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{text} {unit}".strip()


def plain(name: str, value: Any) -> float:
    """A number as JSON has it: of Python, whole if its type is."""
    number = errors.number(name, value)
    return int(value) if isinstance(value, numbers.Integral) else number


def make(
    x: str,
    ranges: Mapping[str, tuple[float, float]],
    defaults: Mapping[str, float],
    needed: Collection[str],
    shown: Mapping[str, str],
    logarithmic: Collection[str],
    log_x: bool,
) -> tuple[Parameter, ...]:
    """Check the parameters of a chart and put them in order, that of the axis first."""
    if x not in ranges:
        raise ValueError(f"ranges: the horizontal axis {x!r} needs a range")
    if missing := sorted(set(needed) - set(defaults)):
        raise ValueError(f"defaults: {', '.join(missing)} must have a value")
    if unused := sorted(set(ranges) - set(needed)):
        raise ValueError(f"ranges: no curve depends on {', '.join(unused)}")
    if unused := sorted(set(defaults) - set(needed)):
        raise ValueError(f"defaults: no curve depends on {', '.join(unused)}")
    if unknown := sorted(set(shown) - set(ranges)):
        raise ValueError(f"units: {', '.join(unknown)} is no parameter with a range")
    made = []
    for name in sorted(ranges, key=lambda one: one != x):
        low, high, value = (plain(name, one) for one in (*ranges[name], defaults[name]))
        if not low < high:
            raise ValueError(f"ranges: {name} must go from less to more, got {ranges[name]}")
        if not low <= value <= high:
            raise ValueError(f"defaults: {name} = {value!r} lies outside its range {low}..{high}")
        whole = all(isinstance(one, int) for one in (low, high, value))
        wide = not whole and low > 0 and math.isclose(max(high / low, DECADES), high / low)
        log = name in logarithmic or wide or (name == x and log_x)
        if log and low <= 0:
            raise ValueError(f"ranges: a logarithmic {name} must be above 0, got {low}")
        unit = shown.get(name, usual(notation.by_name(name).unit))
        made.append(Parameter(name, low, high, value, whole, log, unit))
    return tuple(made)


def choices(
    presets: Mapping[str, Mapping[str, Mapping[str, float]]],
    parameters: Collection[Parameter],
    fixed: Mapping[str, float],
) -> list[dict[str, Any]]:
    """Check choices that set several parameters at once, and write them as JSON has it."""
    text = dict(fixed) | {one.name: one.value for one in parameters}
    for label, options in presets.items():
        for option, values in options.items():
            for name, value in values.items():
                if name not in text:
                    raise ValueError(f"presets: {option!r} sets {name}, which no curve depends on")
                ends = [(one.low, one.high) for one in parameters if one.name == name]
                if ends and not ends[0][0] <= value <= ends[0][1]:
                    raise ValueError(f"presets: {option!r} sets {name} outside its range")
        first = next(iter(options.values()), {})
        if not first or any(text[name] != value for name, value in first.items()):
            raise ValueError(f"presets: the first option of {label!r} must hold the defaults")
    return [
        {
            "label": label,
            "options": [
                {"label": one, "values": {n: plain(n, x) for n, x in v.items()}}
                for one, v in named.items()
            ],
        }
        for label, named in presets.items()
    ]
