"""Still pictures of the charts that are no curves: bars, regions, requests on a time axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from numpy.typing import NDArray

from . import _special, palette
from ._parameters import Parameter, factor, titled, written
from ._quantity import quantity

if TYPE_CHECKING:
    from .live import Chart

CELLS = 90
Array = NDArray[Any]


def bars(chart: Chart, ax: Axes) -> None:
    """Draw one bar a curve at the text's values."""
    y = chart.spec["y"]
    for row, curve in enumerate(reversed(chart.curves)):
        value = float(quantity(curve.quantity).values(chart.point))
        length = value / float(factor(y["unit"])) if np.isfinite(value) else 0.0
        ax.barh(row, length, color=palette.LIGHT[curve.color])
        shown = f"{curve.label}: {written(value, y['unit'])}"
        ax.text(0.01, row + 0.45, shown, transform=ax.get_yaxis_transform())
    ax.set(title=chart.title, xlabel=titled(y["label"], y["unit"]), yticks=[])
    ax.set_ylim(-0.6, len(chart.curves) - 0.1)
    if y["log"]:
        ax.set_xscale("log")


def region(chart: Chart, ax: Axes) -> None:
    """Draw where every ratio is at most one, and elsewhere which one is exceeded most."""
    across = chart.parameters[0]
    up = next(one for one in chart.parameters if one.name == chart.spec["vertical"])
    xs, ys = _cut(across), _cut(up)
    point = chart.point | {across.name: xs[None, :], up.name: ys[:, None]}
    shape = (ys.size, xs.size)
    ratios = np.array(
        [np.broadcast_to(quantity(one.quantity).values(point), shape) for one in chart.curves]
    )
    known = np.where(np.isfinite(ratios), ratios, 0)  # one without a value comes last
    worst = np.where(known.max(axis=0) > 1, known.argmax(axis=0), ratios.argmax(axis=0))
    worst[ratios.max(axis=0) <= 1] = -1
    ends_x, ends_y = _ends(across, xs), _ends(up, ys)
    for number, curve in enumerate(chart.curves):
        boxes = [
            Path([(a, c), (b, c), (b, d), (a, d), (a, c)], closed=True)
            for row, c, d in zip(worst == number, ends_y, ends_y[1:], strict=False)
            for a, b in _runs(row, ends_x)
        ]
        if boxes:
            area = Path.make_compound_path(*boxes)
            color = palette.LIGHT[curve.color]
            ax.add_patch(PathPatch(area, facecolor=color, alpha=0.6, linewidth=0))
    ax.set(xlim=ends_x[[0, -1]], ylim=ends_y[[0, -1]])
    for curve in chart.curves:
        ax.plot([], [], "s", color=palette.LIGHT[curve.color], label=f"beyond: {curve.label}")
    ax.set(title=chart.title, xlabel=titled(across.named, across.unit))
    ax.set(ylabel=titled(up.named, up.unit))
    for one, scale in ((across, ax.set_xscale), (up, ax.set_yscale)):
        if one.log:
            scale("log")
    ax.legend(loc="best", fontsize=9)


def gantt(chart: Chart, ax: Axes) -> None:
    """Draw when requests wait and when their batches are served, one lane a policy."""
    for lane, curve in enumerate(reversed(chart.curves)):
        special = quantity(curve.quantity)
        if not isinstance(special, _special.Special):
            raise TypeError(f"curves: a gantt chart plays requests, got {curve.label!r}")
        size, wait, *rest = (float(one.values(chart.point)) for one in special.of)
        batches = _special.replay(int(size), wait, *rest)
        most = max(len(batch.arrivals) for batch in batches)
        for batch in batches:
            if batch.arrivals[0] > _special.SECOND:
                break
            rows = lane + 0.8 * (np.arange(len(batch.arrivals)) + 0.5) / most
            ax.hlines(rows, batch.arrivals, batch.start, color="#777777", linewidth=0.8)
            height = 0.8 * len(batch.arrivals) / most
            ax.bar(batch.start, height, batch.end - batch.start, lane, align="edge",
                   color=palette.LIGHT[curve.color])  # fmt: skip
        ax.annotate(curve.label, (0, lane + 0.84), color=palette.LIGHT[curve.color])
    ax.set(title=chart.title, xlabel="time (s)", yticks=[], xlim=(0, _special.SECOND))
    ax.set_ylim(0, len(chart.curves) + 0.1)


def _runs(row: Array, ends: Array) -> list[tuple[float, float]]:
    """Ends of each stretch in which a row of cells is true."""
    steps = np.flatnonzero(np.diff(np.concatenate([[False], row, [False]]).astype(int)))
    return [(ends[a], ends[b]) for a, b in zip(steps[::2], steps[1::2], strict=True)]


def _ends(one: Parameter, places: Array) -> Array:
    """Ends of the cells around places, in the unit shown."""
    between = np.sqrt(places[1:] * places[:-1]) if one.log else (places[1:] + places[:-1]) / 2
    return np.concatenate([[one.low], between, [one.high]]) / float(factor(one.unit))


def _cut(one: Parameter) -> Array:
    if one.log:
        return np.geomspace(one.low, one.high, CELLS)
    count = min(CELLS, int(one.high - one.low) + 1) if one.whole else CELLS
    spread = np.linspace(one.low, one.high, count)
    return np.unique(np.round(spread)) if one.whole else spread


PICTURES = {"bars": bars, "region": region, "gantt": gantt}
"""By kind of chart."""
