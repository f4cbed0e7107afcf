"""Figures are the same bytes each time and carry no background of their own."""

import io

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from serving import plotting


@pytest.fixture(autouse=True)
def style():
    with mpl.rc_context():
        plotting.use()
        yield
    plt.close("all")


def drawn(scale=1.0):
    ax = plotting.axes("A finding", "batch size (requests)", "time (ms)")
    ax.plot([1, 2, 3], [scale, 4, 9])
    plotting.label(ax, 2, 4, "here", plotting.COLORS["wait"])
    file = io.BytesIO()
    ax.figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def test_the_same_figure_is_the_same_bytes():
    assert drawn() == drawn()


def test_another_curve_is_other_bytes():
    assert drawn(1.001) != drawn()


def test_no_date_and_no_background():
    svg = drawn().decode()
    assert "<dc:date>" not in svg
    background = svg.split('id="patch_1"')[1].split("</g>")[0]
    assert "fill: none" in background


def luminance(color):
    def linear(c):
        return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(c) for c in mpl.colors.to_rgb(color))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("color", plotting.COLORS.values(), ids=plotting.COLORS.keys())
def test_labels_are_legible_on_white(color):
    # WCAG asks 3:1 of bold text and graphics; the dark theme inverts lightness and keeps the ratio
    assert 1.05 / (luminance(color) + 0.05) >= 3
