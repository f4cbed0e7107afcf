"""One style for every figure: deterministic SVG, legible on light and dark pages.

Figures have no background of their own; the page inverts their dark ink in its dark theme.
"""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib_inline.backend_inline import set_matplotlib_formats

from . import palette

COLORS: dict[str, str] = palette.LIGHT
"""One colour a quantity, all over the book, from ``data/palette.toml``."""

STYLE: dict[str, Any] = {
    "figure.figsize": (6.4, 3.6),
    "figure.facecolor": "none",
    "figure.constrained_layout.use": True,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.grid": True,
    "grid.color": "#999999",
    "grid.alpha": 0.25,
    "axes.edgecolor": "#333333",
    "axes.labelcolor": "#222222",
    "text.color": "#222222",
    "xtick.color": "#333333",
    "ytick.color": "#333333",
    "axes.prop_cycle": mpl.cycler(color=list(COLORS.values())[:6]),
    "lines.linewidth": 2,
    "legend.frameon": False,
    "font.size": 11,
    "font.family": "DejaVu Sans",
    "svg.fonttype": "path",
    "svg.hashsalt": "serving",
    "savefig.facecolor": "none",
}


def use() -> None:
    """Draw every figure of this kernel in the book's style, as SVG that is the same each time."""
    mpl.rcParams.update(STYLE)
    set_matplotlib_formats("svg", metadata={"Date": None})  # type: ignore[no-untyped-call]


def axes(title: str, xlabel: str, ylabel: str, **options: Any) -> Axes:
    """Start a figure with one pair of axes.

    Parameters
    ----------
    title : str
        What the figure finds, as a sentence.
    xlabel, ylabel : str
        Quantity and unit, ``"batch size (requests)"``.
    **options
        Passed to `matplotlib.pyplot.subplots`.

    Returns
    -------
    Axes
        Where to draw.
    """
    _, ax = plt.subplots(**options)
    ax.set(title=title, xlabel=xlabel, ylabel=ylabel)
    return ax


def label(ax: Axes, x: float, y: float, text: str, color: str = "#222222", **options: Any) -> None:
    """Write a label beside a line, in the colour of the line.

    Parameters
    ----------
    ax : Axes
        Where to write.
    x, y : float
        Place in data coordinates [any].
    text : str
        The label.
    color : str
        Colour of the line that it names.
    **options
        Passed to `matplotlib.axes.Axes.annotate`.
    """
    options = {"xytext": (4, 4), "textcoords": "offset points"} | options
    ax.annotate(text, (x, y), color=color, fontweight="bold", **options)
