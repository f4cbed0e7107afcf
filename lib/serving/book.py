"""What the chapters use: numbers tied to the text, tables, explorations."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ipywidgets
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown, display

from . import units

STILL = "SERVING_STILL"
"""Environment variable under which `explore` shows a still picture; every runner sets it."""


class ClaimError(AssertionError):
    """A number in the text is not the number that the code gives."""


def claim(text: str, value: Any) -> None:
    """State that the text's number is this value, rounded half up to the digits it shows.

    The tests read the literal, and look for it in the prose of the chapter.

    Parameters
    ----------
    text : str
        A literal with one number and its unit or name, as it stands in the prose:
        ``"149.5 ms"``, ``"B = 10"``, ``"36.3 %"``.
    value : float
        The value in SI units; a share where the text says ``%`` [any].

    Raises
    ------
    ClaimError
        If the rounded value is another number.
    TypeError
        If ``value`` is not a real number.
    ValueError
        If ``text`` has no unit or name or not exactly one number, or ``value`` is not finite.

    Examples
    --------
    >>> claim("149.5 ms", 0.14949)
    """
    numeral, unit = units.phrase(text)
    plain = numeral.replace(",", "")
    digits = len(plain.partition(".")[2])
    actual = units.rounded(value, digits, unit)
    if actual.replace(",", "") != plain.replace("-", "−"):
        raise ClaimError(f"the text says {text!r}; the value is {actual} ({value!r})")


def given(text: str, value: Any) -> None:
    """State that an assumption of the text is the value that the code uses.

    The same check as `claim`, for numbers that go in rather than come out.

    Parameters
    ----------
    text : str
        A literal with one number and its unit or name, as it stands in the prose.
    value : float
        The value in SI units [any].

    Raises
    ------
    ClaimError
        If the value is another number.
    TypeError
        If ``value`` is not a real number.
    ValueError
        If ``text`` has no unit or name or not exactly one number, or ``value`` is not finite.

    Examples
    --------
    >>> given("100 requests/s", 100)
    """
    claim(text, value)


@dataclass(frozen=True)
class Table:
    """A table of texts; a first column of names heads the rows.

    Attributes
    ----------
    frame : DataFrame
        The cells as they are shown.
    """

    frame: pd.DataFrame

    def __repr__(self) -> str:
        return self.frame.to_string(index=self._named)

    def _repr_html_(self) -> str:
        return self.frame.to_html(index=self._named, border=0)

    @property
    def _named(self) -> bool:
        return not isinstance(self.frame.index, pd.RangeIndex)


def table(
    columns: Mapping[str, Sequence[Any]],
    digits: Mapping[str, int] | int = 1,
    infinity: str = "unstable",
) -> Table:
    """Show columns as a table, with numbers rounded half up; the prose may quote its cells.

    Parameters
    ----------
    columns : mapping of str to sequence
        Header to entries. A header that ends in a unit in parentheses, ``"wait (ms)"``, has
        entries in SI units, which are converted; None shows as a dash.
    digits : int or mapping of str to int
        Decimals, for all columns or by header; whole numbers are shown without [1].
    infinity : str
        What an entry of ``inf`` shows as.

    Returns
    -------
    Table
        Jupyter draws it.

    Raises
    ------
    ValueError
        If there is no column, columns differ in length or an entry is NaN.

    Examples
    --------
    >>> table({"B": [8, 16], "wait (ms)": [0.0561, np.inf]})
     B wait (ms)
     8      56.1
    16  unstable
    """
    lengths = {header: len(entries) for header, entries in columns.items()}
    if len(set(lengths.values())) != 1:
        raise ValueError(f"columns must have equal lengths, got {lengths}")
    places = digits if isinstance(digits, Mapping) else dict.fromkeys(columns, digits)
    shown = {
        header: [
            infinity if _infinite(entry) else _cell(header, entry, places.get(header, 1))
            for entry in entries
        ]
        for header, entries in columns.items()
    }
    frame = pd.DataFrame(shown)
    first = frame.columns[0]
    if all(map(_is_text, columns[first])):  # names head their rows
        frame = frame.set_index(first).rename_axis(index=None, columns=first or None)
    return Table(frame)


def explore(function: Callable[..., Any], **ranges: Any) -> None:
    """Let the reader move the arguments of a function; a still picture where nobody can.

    Parameters
    ----------
    function : callable
        Draws or shows something; its parameters need defaults, which the still picture uses.
    **ranges : tuple, list or widget
        What each argument may be, as for `ipywidgets.interact`.

    Raises
    ------
    TypeError
        If a parameter of ``function`` has no default, or a range no parameter.
    ValueError
        If a default lies outside its range, so that the picture would show what no slider can.
    """
    parameters = inspect.signature(function).parameters
    missing = [name for name, p in parameters.items() if p.default is inspect.Parameter.empty]
    unknown = [name for name in ranges if name not in parameters]
    if missing or unknown:
        raise TypeError(
            f"function must have a default for each parameter and a parameter for each range; "
            f"without default: {missing}, without parameter: {unknown}"
        )
    for name, allowed in ranges.items():
        _check_default(name, parameters[name].default, allowed)
    if not os.environ.get(STILL):
        ipywidgets.interact(function, **ranges)
        return
    result = function()
    if result is not None:
        display(result)  # type: ignore[no-untyped-call]
    plt.show()
    defaults = ", ".join(f"`{name} = {p.default}`" for name, p in parameters.items())
    display(Markdown(f"*Still picture at {defaults}; in JupyterLab this cell has sliders.*"))


def _check_default(name: str, default: Any, allowed: Any) -> None:
    inside = True
    if isinstance(allowed, list):
        inside = default in [one[1] if isinstance(one, tuple) else one for one in allowed]
    elif isinstance(allowed, tuple):
        inside = bool(allowed[0] <= default <= allowed[1])
    if not inside:
        raise ValueError(f"the default {name} = {default!r} lies outside its range {allowed!r}")


def _is_text(entry: Any) -> bool:
    return isinstance(entry, str)


def _infinite(entry: Any) -> bool:
    return not _is_text(entry) and entry is not None and bool(np.isposinf(entry))


def _cell(header: str, entry: Any, digits: int) -> str:
    if _is_text(entry):
        return str(entry)
    if entry is None:
        return "–"
    unit = header.rpartition("(")[2].rstrip(")") if header.endswith(")") else ""
    whole = isinstance(entry, (int, np.integer)) and unit not in units.UNITS
    return units.rounded(entry, 0 if whole else digits, unit)
