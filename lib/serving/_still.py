"""The still picture of a live chart, for pages without scripts and for print, and its words."""

from __future__ import annotations

import html
import io
import re
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from . import _parameters, _still_kinds, palette, plotting
from ._parameters import titled, written
from ._quantity import quantity

if TYPE_CHECKING:
    from .live import Chart

POINTS = 300
Array = NDArray[np.float64]


def svg(chart: Chart) -> str:
    """Draw a chart at the text's values."""
    with mpl.rc_context(plotting.STYLE | {"svg.fonttype": "none"}):
        figure, ax = plt.subplots()
        try:
            _draw(chart, ax)
            stream = io.StringIO()
            figure.savefig(stream, format="svg", metadata={"Date": None})
        finally:
            plt.close(figure)
    drawn = stream.getvalue()
    drawn = drawn[drawn.index("<svg") :]
    drawn = re.sub(r"<metadata>.*?</metadata>\s*", "", drawn, flags=re.DOTALL)
    drawn = re.sub(r'(<svg[^>]*?) width="[^"]*" height="[^"]*"', r"\1", drawn, count=1)
    # Pages hold several stills, and names must differ.
    drawn = re.sub(r'( id="|"#|\(#)(?=[\w.-]+["\)])', rf"\1{chart.name}-", drawn)
    label = html.escape(words(chart))
    return drawn.replace("<svg", f'<svg role="img" aria-label="{label}"', 1).rstrip()


def words(chart: Chart) -> str:
    """Say what a chart shows at the text's values."""
    first, others = chart.parameters[0], chart.parameters[1:]
    unit, label = chart.spec["y"]["unit"], chart.spec["y"]["label"]
    values = ", ".join(
        f"{one.label} {written(float(quantity(one.quantity).values(chart.point)), unit)}"
        for one in chart.curves
    )
    said = [f"{one.named} {written(one.value, one.unit)}" for one in others]
    if chart.kind in _still_kinds.PICTURES:
        said = [f"{first.named} {written(first.value, first.unit)}", *said]
        return f"{chart.title}. With {', '.join(said)}: {values}."
    start = f"With {', '.join(said)}: at" if said else "At"
    return (
        f"{chart.title}. {label[:1].upper()}{label[1:]} against {first.named}."
        f" {start} {written(first.value, first.unit)}, {values}."
    )


def _draw(chart: Chart, ax: Axes) -> None:
    if chart.kind in _still_kinds.PICTURES:
        _still_kinds.PICTURES[chart.kind](chart, ax)
        return
    x = chart.parameters[0]
    places = _places(x.low, x.high, x.whole, x.log)
    at = chart.point | {x.name: places}
    across, up = (float(_parameters.factor(one)) for one in (x.unit, chart.spec["y"]["unit"]))
    heights = {c.label: quantity(c.quantity).values(at) + 0 * places for c in chart.curves}
    stacked = [c for c in chart.curves if chart.kind == "stack" and not c.line]
    base = np.zeros_like(places, dtype=float)
    for curve in stacked:  # where the stack has no top, its parts are not drawn either
        base = base + heights[curve.label]
    outside = ~np.isfinite(base) if stacked else ~np.isfinite([*heights.values()]).any(axis=0)
    heights |= {one.label: np.where(outside, np.inf, heights[one.label]) for one in stacked}
    _shade(ax, places / across, outside)
    base = np.zeros_like(places, dtype=float)
    for curve in chart.curves:
        color = palette.LIGHT[curve.color]
        height = np.where(np.isfinite(heights[curve.label]), heights[curve.label], np.nan)
        if curve in stacked:
            ax.fill_between(places / across, base / up, (base + height) / up, color=color,
                            label=curve.label, linewidth=0)  # fmt: skip
            base = base + height
        else:
            style = "--" if curve.dashed else "-"
            ax.plot(places / across, height / up, style, color=color, label=curve.label)
    if stacked:
        heights["total"] = base
    _axes(chart, ax, [*heights.values()])
    for mark in chart.marks:
        _mark(chart, ax, mark, at, places, heights)
    ax.legend(loc="best", fontsize=9)


def _shade(ax: Axes, places: Array, outside: NDArray[np.bool_]) -> None:
    """Shade each stretch where there is nothing to draw."""
    steps = np.flatnonzero(np.diff(np.concatenate([[False], outside, [False]]).astype(int)))
    for first, last in zip(steps[::2], steps[1::2] - 1, strict=True):
        ax.axvspan(places[first], places[last], color="#888888", alpha=0.15, linewidth=0)
        middle = (places[first] + places[last]) / 2
        ax.text(middle, 0.5, "no value", rotation=90, ha="center", va="center", fontsize=9,
                transform=ax.get_xaxis_transform())  # fmt: skip


def _places(low: float, high: float, whole: bool, log: bool) -> Array:
    spread = np.geomspace(low, high, POINTS) if log else np.linspace(low, high, POINTS)
    return np.unique(np.round(spread)) if whole else spread


def _axes(chart: Chart, ax: Axes, drawn: list[Array]) -> None:
    x, y = chart.parameters[0], chart.spec["y"]
    up = float(_parameters.factor(y["unit"]))
    ax.set(title=chart.title, xlabel=titled(x.named, x.unit))
    ax.set(ylabel=titled(y["label"], y["unit"]))
    if x.log:
        ax.set_xscale("log")
    if y["log"]:
        ax.set_yscale("log")
    finite = np.concatenate([one[np.isfinite(one)] for one in drawn])
    if finite.size and finite.max() > 0 and not y["log"]:
        high = y["top"] if y["top"] is not None else min(finite.max(), 4 * np.median(finite))
        ax.set_ylim(y["bottom"] / up if y["bottom"] else 0, high / up * 1.05)
    elif y["top"] is not None or y["bottom"] is not None:
        ends = [None if y[end] is None else y[end] / up for end in ("bottom", "top")]
        ax.set_ylim(*ends)


def _mark(
    chart: Chart, ax: Axes, mark: Any, at: dict[str, Any], places: Array, heights: dict[str, Array]
) -> None:
    x = chart.parameters[0]
    across, up = (float(_parameters.factor(one)) for one in (x.unit, chart.spec["y"]["unit"]))
    along = heights.get(mark.curve)
    if mark.at is None and along is not None:
        place = float(places[np.argmin(np.where(np.isfinite(along), along, np.inf))])
    else:
        place = float(quantity(mark.at).values(at | {x.name: x.value}))
    if not x.low <= place <= x.high:
        return
    color = palette.LIGHT[mark.color]
    label = f"{mark.label}: {written(place, x.unit)}"
    if along is None:
        ax.axvline(place / across, color=color, linestyle=":", label=label)
    else:
        height = float(np.interp(place, places, np.where(np.isfinite(along), along, np.nan)))
        ax.plot(place / across, height / up, "o", color=color, label=label)
