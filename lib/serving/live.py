"""Formulas as charts that a reader moves by hand, in the page and in JupyterLab, without a kernel.

A chart is described once, by formulas of `serving.formulas` and the ranges of their parameters.
The page computes it from the JavaScript that SymPy prints of the same formulas; a still picture
from `serving.formulas.curve` stands in its place where no script runs, and in print.
"""

from __future__ import annotations

import html
import json
import math
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from typing import Any

from . import _fit, _javascript, _parameters, _still, _words, palette
from ._parameters import Parameter
from ._quantity import Best, Combined, Quantity, Table, Value, quantity
from ._special import FUNCTIONS, Special
from .book import STILL
from .formulas import REGISTRY

RUNTIME = "data/live"
LAYOUT = 1
"""Layout of what a figure tells the page, to be raised here and in ``data/live/8-chart.js`` when
it changes: a page that was made before the change then keeps its still pictures."""
FOREVER = 1e9
"""Longer than any second of requests: a window that never closes before it is full [s]."""
KINDS = ("line", "stack", "bars", "region", "gantt")
VERDICTS = ("batch", "fit")
"""Texts that the page writes under a chart: see ``data/live/7-verdicts.js``."""


@dataclass(frozen=True)
class Curve:
    """One quantity of a chart.

    Attributes
    ----------
    quantity : formula, Quantity, str or float
        What is drawn over the chart's horizontal axis [any].
    label : str
        Its name in the chart.
    color : str
        A name of the palette.
    line : bool
        Drawn as a line on top, where the chart stacks the others.
    dashed : bool
        Drawn in dashes.
    """

    quantity: Any
    label: str
    color: str = "total"
    line: bool = False
    dashed: bool = False


@dataclass(frozen=True)
class Mark:
    """A place on the horizontal axis that means something.

    Attributes
    ----------
    label : str
        What it is.
    at : formula, Quantity, str, float or None
        Where it is; None for the least value of a curve [any].
    curve : str
        Label of the curve on which it lies, ``"total"`` for the top of a stack; empty for a line
        over the whole height.
    color : str
        A name of the palette.
    """

    label: str
    at: Any = None
    curve: str = ""
    color: str = "total"


@dataclass(frozen=True)
class Guess:
    """A question that the reader answers on the chart before the curves are shown.

    Attributes
    ----------
    question : str
        What is asked.
    curve : str
        Label of the curve, ``"total"`` for the top of a stack.
    at : float
        Where on the horizontal axis, in its SI unit [any].
    """

    question: str
    curve: str
    at: float


@dataclass(frozen=True)
class Verdict:
    """What follows from the present numbers, in sentences that the page writes.

    Attributes
    ----------
    name : str
        One of `VERDICTS`.
    terms : mapping of str to formula, Quantity, str or float
        What the sentences are made of, by the names that the page has for them [any].
    strict : bool
        Whether a setting at which a curve has no value is refused, with a message by its field.
    """

    name: str
    terms: Mapping[str, Any]
    strict: bool = False


@dataclass(frozen=True)
class Chart:
    """A chart as the page and the still picture need it.

    Attributes
    ----------
    title : str
        What it finds, as a sentence.
    name : str
        Its name in the page's address.
    kind : str
        How the curves are drawn.
    parameters : tuple of Parameter
        What the reader moves, that of the horizontal axis first.
    fixed : mapping of str to float
        Parameters that stay, in SI units [any].
    curves : tuple of Curve
        What is drawn.
    marks : tuple of Mark
        Places that mean something.
    spec : mapping
        What the page computes it from.
    names : frozenset of str
        Formulas that the page needs.
    """

    title: str
    name: str
    kind: str
    parameters: tuple[Parameter, ...]
    fixed: Mapping[str, float]
    curves: tuple[Curve, ...]
    marks: tuple[Mark, ...]
    spec: Mapping[str, Any]
    names: frozenset[str]

    @property
    def point(self) -> dict[str, Any]:
        """The text's values of all parameters, in SI units."""
        return dict(self.fixed) | {one.name: one.value for one in self.parameters}

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/html": self._html(), "text/plain": _still.words(self)}

    def _html(self) -> str:
        data = json.dumps(self.spec, ensure_ascii=False, separators=(",", ":"))
        live = "" if os.environ.get(STILL) else _inline(self.names)
        return (
            f'<figure class="live" id="live-{self.name}" data-live="{html.escape(data)}">'
            f"<figcaption>{html.escape(self.title)}</figcaption></figure>\n"
            f'<div class="live-still">{_still.svg(self)}</div>{live}'
        )


def of(formula: Callable[..., Any], **given: Any) -> Quantity:
    """Take a formula with some of its arguments given.

    Parameters
    ----------
    formula : callable
        A function of `serving.formulas`.
    **given : formula, Quantity, str or float
        Arguments that are not the chart's parameter of the same name [any].

    Returns
    -------
    Quantity
        May be added, subtracted, multiplied and divided.

    Raises
    ------
    TypeError
        If ``formula`` is not a formula or has no argument of a name.

    Examples
    --------
    >>> from serving import formulas
    >>> sorted(of(formulas.min_batch, utilization_target=1).names())
    ['arrival_rate', 't_fixed', 't_req']
    """
    taken = quantity(formula)
    if not isinstance(taken, Value):
        raise TypeError(f"formula must be one of serving.formulas, got {formula!r}")
    known = {entry.name for entry in taken.formula.parameters}
    if unknown := sorted(set(given) - known):
        raise TypeError(f"{taken.formula.name} has no argument {', '.join(unknown)}")
    return Value(taken.formula, {name: quantity(one) for name, one in given.items()})


def grid(
    function: Callable[..., float],
    over: Mapping[str, Sequence[float]],
    logarithmic: bool = True,
    entries: Sequence[float | None] | None = None,
    **given: Any,
) -> Quantity:
    """Compute a function over a grid now, for the page to interpolate between the grid's lines.

    Parameters
    ----------
    function : callable
        Takes the names of ``over`` as keywords and returns a number in SI units; ``inf`` or an
        `UnstableError` where there is none. Whole numbers are passed as such.
    over : mapping of str to sequence of float
        Grid lines of up to three quantities, increasing [any].
    logarithmic : bool
        Whether the logarithm is interpolated; then the values must be above 0.
    entries : sequence of float or None, optional
        Values that were computed before, the last quantity running fastest; None where the
        table has a hole [any].
    **given : formula, Quantity, str or float
        What a quantity of ``over`` is, if not the chart's parameter of the same name [any].

    Returns
    -------
    Quantity
        Defined inside the grid only.

    Raises
    ------
    TypeError
        If a given name is not one of the grid.
    ValueError
        If there are not one to three quantities, lines do not increase, or entries are missing.
    """
    if not 1 <= len(over) <= 3:
        raise ValueError(f"over must have one to three quantities, got {list(over)}")
    for name, lines in over.items():
        if len(lines) < 2 or any(b <= a for a, b in zip(lines, lines[1:], strict=False)):
            raise ValueError(f"over: the lines of {name} must increase, got {list(lines)}")
    if unknown := sorted(set(given) - set(over)):
        raise TypeError(f"grid: {', '.join(unknown)} is no quantity of over")
    lines = {name: [_plain(one) for one in lines] for name, lines in over.items()}
    if entries is not None and len(entries) != (size := math.prod(map(len, lines.values()))):
        raise ValueError(f"entries must be {size} for this grid, got {len(entries)}")
    places = {n: quantity(one) for n, one in given.items()}
    return Table(function, lines, places, logarithmic, entries)


def window(what: str, **given: Any) -> Quantity:
    """Take what `serving.window.form` says of the batches of a timeout window.

    Parameters
    ----------
    what : str
        ``"mean_size"``, ``"mean_delay"`` or ``"full"``.
    **given : formula, Quantity, str or float
        ``arrival_rate``, ``max_batch`` and ``max_wait``, if not the chart's parameters [any].

    Returns
    -------
    Quantity
        The page computes it by a recurrence of its own.

    Raises
    ------
    ValueError
        If ``what`` or an argument is another.
    """
    return _special_of(f"window_{what}", ("arrival_rate", "max_batch", "max_wait"), given)


def replay(**given: Any) -> Quantity:
    """Play requests through a server for a second, for a chart of kind ``"gantt"``.

    Parameters
    ----------
    **given : formula, Quantity, str or float
        ``max_batch``, ``max_wait``, ``arrival_rate``, ``t_fixed`` and ``t_req``, if not the
        chart's parameters. The server waits, while idle, for a full batch or until the first
        request has waited ``max_wait``: 0 takes what is there, `FOREVER` full batches only [any].

    Returns
    -------
    Quantity
        Mean response of the requests of this second [s].

    Raises
    ------
    ValueError
        If an argument is another.
    """
    return _special_of(
        "replay", ("max_batch", "max_wait", "arrival_rate", "t_fixed", "t_req"), given
    )


def best(name: str, over: range, objective: Any, limits: Sequence[Any] = ()) -> Quantity:
    """Find the whole number at which a quantity is least while ratios stay at most one.

    Parameters
    ----------
    name : str
        Python name of the number in the objective and the limits, such as ``"batch"``.
    over : range
        Numbers that are tried, one after the other [any].
    objective : formula, Quantity, str or float
        What is to be small [any].
    limits : sequence of formula, Quantity, str or float
        Ratios of quantities to what is allowed [1].

    Returns
    -------
    Quantity
        The number, the smallest one of a tie; no value where none meets the limits.

    Raises
    ------
    ValueError
        If ``over`` is empty or not in steps of one.
    """
    if len(over) < 1 or over.step != 1:
        raise ValueError(f"over must be a range in steps of one, got {over}")
    ratios = tuple(quantity(one) for one in limits)
    return Best(name, over.start, over.stop - 1, quantity(objective), ratios)


def fit(what: str, **given: Any) -> Quantity:
    """Take what is to be known of a cache in a device's memory, by places in lists of the page.

    Parameters
    ----------
    what : str
        ``"token"``, ``"sequence"``, ``"weights"``, ``"usable"`` and ``"room"`` in bytes on each
        device, or ``"count"`` of the sequences that fit.
    **given : formula, Quantity, str or float
        ``model``, ``accelerator``, ``devices``, ``cache_format``, ``weight_format``, ``share``
        of the memory and ``tokens``, if not the chart's parameters [any].

    Returns
    -------
    Quantity
        The page counts it from layouts that it is given as ``data``: see `serving.calculator`.

    Raises
    ------
    ValueError
        If ``what`` or an argument is another.
    """
    return _special_of(f"fit_{what}", _fit.ARGUMENTS, given)


def least(one: Any, other: Any) -> Quantity:
    """Take the smaller of two quantities.

    Parameters
    ----------
    one, other : formula, Quantity, str or float
        The two [any].

    Returns
    -------
    Quantity
        Defined where both are.
    """
    return Combined("least", (quantity(one), quantity(other)))


def largest(one: Any, other: Any) -> Quantity:
    """Take the larger of two quantities.

    Parameters
    ----------
    one, other : formula, Quantity, str or float
        The two [any].

    Returns
    -------
    Quantity
        Defined where both are.
    """
    return Combined("largest", (quantity(one), quantity(other)))


def chart(
    title: str,
    x: str,
    curves: Sequence[Curve],
    ranges: Mapping[str, tuple[float, float]],
    defaults: Mapping[str, float],
    *,
    y: str = "",
    unit: str = "",
    kind: str = "line",
    vertical: str = "",
    top: float | None = None,
    log_x: bool = False,
    log_y: bool = False,
    bottom: float | None = None,
    marks: Sequence[Mark] = (),
    equation: Any = None,
    sentence: str = "",
    results: Mapping[str, tuple[Any, str]] | None = None,
    guess: Guess | None = None,
    presets: Mapping[str, Mapping[str, Mapping[str, float]]] | None = None,
    units: Mapping[str, str] | None = None,
    logarithmic: Collection[str] = (),
    verdict: Verdict | None = None,
    data: Mapping[str, Any] | None = None,
    note: str = "",
    name: str = "",
) -> Chart:
    """Make a chart of formulas that the reader moves.

    Parameters
    ----------
    title : str
        What it finds, as a sentence.
    x : str
        Python name of the parameter on the horizontal axis.
    curves : sequence of Curve
        What is drawn; stacked from the bottom up if ``kind`` is ``"stack"``.
    ranges : mapping of str to pair of float
        Least and largest value of each parameter that can be moved, in SI units; a parameter is
        whole if its range and its default are integers [any].
    defaults : mapping of str to float
        The text's values of all parameters, in SI units; one without a range stays fixed [any].
    y : str
        What the curves are: title of the vertical axis, of bars that of the horizontal one.
    unit : str
        Unit of the curves, perhaps a key of `serving.units.UNITS`.
    kind : str
        ``"line"`` or ``"stack"``; ``"bars"``, one a curve; ``"region"`` of two parameters in
        which every curve, the ratio of a quantity to its limit, is at most one; ``"gantt"`` of
        what `replay` plays.
    vertical : str
        Python name of the parameter on a region's vertical axis.
    top, bottom : float, optional
        Ends of the vertical axis, in the SI unit [any].
    log_x, log_y : bool
        Whether an axis is logarithmic.
    marks : sequence of Mark
        Places that mean something.
    equation : formula or Quantity, optional
        Shown under the chart with the present numbers put in; the terms of a stack that adds up
        to it are named and coloured.
    sentence : str
        A sentence under the chart; ``{name}`` of a parameter is a number that can be dragged, of
        a curve, a result or a formula its value.
    results : mapping of str to tuple, optional
        More values for the sentence, by name: a quantity and its unit.
    guess : Guess, optional
        A question before the curves are shown.
    presets : mapping, optional
        Choices, such as ``"model"``, by name: options by name, each with the values of parameters
        that it sets, in SI units; the first option holds the text's values [any].
    units : mapping of str to str, optional
        Units in which parameters are shown, where not the usual ones.
    logarithmic : collection of str
        Parameters whose sliders are logarithmic.
    verdict : Verdict, optional
        Sentences that follow from the present numbers, under the legend.
    data : mapping, optional
        What functions of the page look up, by name, as JSON has it.
    note : str
        What the reader must know about the curves, such as what a table holds for.
    name : str
        Its name in the page's address; made of the title unless told otherwise.

    Returns
    -------
    Chart
        Jupyter and the page show it.

    Raises
    ------
    KeyError
        If a parameter is not in the notation table or a color not in the palette.
    TypeError
        If something that should be a quantity is none.
    ValueError
        If a parameter has no default, a default lies outside its range, or a label is unknown.
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    drawn = [(one, quantity(one.quantity)) for one in curves]
    places = [None if one.at is None else quantity(one.at) for one in marks]
    shown = None if equation is None else quantity(equation)
    if shown is not None and not isinstance(shown, Value):
        raise TypeError(f"equation must be a formula, got {equation!r}")
    _check_names(curves, marks, guess, kind)
    if (vertical in ranges) != (kind == "region"):
        raise ValueError(f"vertical must be a parameter with a range in a region, got {vertical!r}")
    also = {n: (quantity(what), u) for n, (what, u) in (results or {}).items()}
    labels = [one.label for one in curves] + (["total"] if kind == "stack" else [])
    said = _words.sentence(sentence, labels, ranges, also)
    mentioned = [quantity(REGISTRY[what].function) for sort, what in said if sort == "formula"]
    everything = [*(one for _, one in drawn), *filter(None, [*places, shown]), *mentioned]
    everything += [what for what, _ in also.values()]
    if verdict and verdict.name not in VERDICTS:
        raise ValueError(f"verdict must be one of {', '.join(VERDICTS)}, got {verdict.name!r}")
    terms = {n: quantity(one) for n, one in verdict.terms.items()} if verdict else {}
    everything += terms.values()
    needed = {x, vertical}.difference({""}).union(*(one.names() for one in everything))
    parameters = _parameters.make(x, ranges, defaults, needed, units or {}, logarithmic, log_x)
    fixed = {one: _parameters.plain(one, defaults[one]) for one in sorted(needed - set(ranges))}
    choices = _parameters.choices(presets or {}, parameters, fixed)
    axis = {"label": y, **_parameters.scaled(unit), "log": log_y, "top": top, "bottom": bottom}
    spec = {
        "layout": LAYOUT,
        "kind": kind,
        "x": x,
        "vertical": vertical,
        "y": axis,
        "parameters": [one.spec() for one in parameters],
        "fixed": fixed,
        "presets": choices,
        "curves": [_curve(one, what, kind) for one, what in drawn],
        "marks": [_mark(one, what) for one, what in zip(marks, places, strict=True)],
        "note": note,
    }
    names = set[str]().union(*(one.formulas() for one in everything))
    if shown is not None:
        stack = [(c.label, c.color, q) for c, q in drawn if kind == "stack" and not c.line]
        spec["equation"], symbols = _words.equation(shown, stack)
        names |= symbols
    if guess and not parameters[0].low <= guess.at <= parameters[0].high:
        raise ValueError(f"guess: at = {guess.at} lies outside the range of {x}")
    if said:
        spec["sentence"] = [[sort, _words.follower(sort, what, also)] for sort, what in said]
    if guess:
        spec["guess"] = asdict(guess)
    if verdict:
        drawn_as = {id(what): {"curve": one.label} for one, what in drawn}
        made = {n: drawn_as.get(id(q)) or q.spec() for n, q in terms.items()}
        spec["verdict"] = {"name": verdict.name, "terms": made, "strict": verdict.strict}
    if data:
        spec["data"] = dict(data)
    slug = name or re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    return Chart(
        title, slug, kind, parameters, fixed, tuple(curves), tuple(marks), spec, frozenset(names)
    )


def script() -> str:
    """Give the script that moves the charts, without the formulas.

    Returns
    -------
    str
        JavaScript, its comments and indentation left out: readers fetch it, and do not read it.
    """
    whole = "\n".join(_files(".js"))
    bare = re.sub(r"^\s*/\*\*.*?\*/$|^\s*//[^\n]*$", "", whole, flags=re.MULTILINE | re.DOTALL)
    return "\n".join(line.strip() for line in bare.splitlines() if line.strip()) + "\n"


def style() -> str:
    """Give the style sheet of the charts, palette included.

    Returns
    -------
    str
        CSS.
    """
    return "\n".join([palette.css(), *_files(".css")])


def _files(ending: str) -> list[str]:
    folder = resources.files(__package__).joinpath(RUNTIME)
    found = sorted((one for one in folder.iterdir() if one.name.endswith(ending)), key=str)
    return [one.read_text("utf-8") for one in found]


def _inline(names: Collection[str]) -> str:
    """All that a chart needs beside its data, for a page that is not the book's."""
    code = "\n".join([script(), _javascript.script(names), "live.start();"])
    return f"<style>{style()}</style><script>{code.replace('</', '<' + chr(92) + '/')}</script>"


def _check_names(
    curves: Sequence[Curve], marks: Sequence[Mark], guess: Guess | None, kind: str
) -> None:
    """See that curves have names of their own, that those named exist, and the colours too."""
    labels = [one.label for one in curves] + (["total"] if kind == "stack" else [])
    if len(set(labels)) < len(labels) or not curves:
        raise ValueError(f"curves: each must have a label of its own, got {labels}")
    for mark in marks:
        if (mark.curve or mark.at is None) and mark.curve not in labels:
            raise ValueError(f"marks: there is no curve {mark.curve!r}; there are {labels}")
    if guess and guess.curve not in labels:
        raise ValueError(f"guess: there is no curve {guess.curve!r}; there are {labels}")
    for one in [*curves, *marks]:
        if one.color not in palette.LIGHT:
            raise KeyError(f"{one.color!r} is not in the palette: {', '.join(palette.LIGHT)}")


def _curve(one: Curve, what: Quantity, kind: str) -> dict[str, Any]:
    above = one.line or kind != "stack"
    looks = {"label": one.label, "color": one.color, "line": above, "dashed": one.dashed}
    return looks | {"term": what.spec()}


def _mark(one: Mark, at: Quantity | None) -> dict[str, Any]:
    looks = {"label": one.label, "color": one.color, "curve": one.curve}
    return looks | {"at": at.spec() if at else None}


def _special_of(name: str, arguments: Sequence[str], given: Mapping[str, Any]) -> Quantity:
    if name not in FUNCTIONS:
        sort, _, what = name.partition("_")
        known = [one.partition("_")[2] for one in FUNCTIONS if one.startswith(f"{sort}_")]
        raise ValueError(f"what must be one of {', '.join(known)}, got {what!r}")
    if unknown := sorted(set(given) - set(arguments)):
        raise ValueError(f"{', '.join(unknown)} must be one of {', '.join(arguments)}")
    return Special(name, tuple(quantity(given.get(one, one)) for one in arguments))


def _plain(number: Any) -> float:
    """A number as JSON writes it: an integer if it is one."""
    return int(number) if float(number).is_integer() else float(number)
