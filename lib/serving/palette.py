"""One colour a quantity: the same in equation, figure, chart and text.

The colours stand in ``data/palette.toml``, twice: for light pages and for dark ones.
"""

from __future__ import annotations

import tomllib
from importlib import resources

_READ = tomllib.loads(
    resources.files(__package__).joinpath("data", "palette.toml").read_text("utf-8")
)
LIGHT: dict[str, str] = _READ["light"]
"""Colour of each quantity on a light page."""
DARK: dict[str, str] = _READ["dark"]
"""Colour of the same on a dark page."""
SYMBOLS: dict[str, str] = _READ["symbols"]
"""Quantity whose colour a symbol of the notation table wears, by the symbol's name."""

_PAGES = {"light": "#ffffff", "dark": "#14181e"}
_DARK_PAGES = ('html[data-theme="dark"]', 'body[data-jp-theme-light="false"]')
LEGIBLE = 5.2
"""Contrast of text with its page: 4.5 is needed, and boxes are tinted."""


def contrast(one: str, other: str) -> float:
    """Contrast of two colours, by the rule of WCAG 2.

    Parameters
    ----------
    one, other : str
        Colours as ``#rrggbb``.

    Returns
    -------
    float
        From 1, for equal colours, to 21 [1].

    Examples
    --------
    >>> contrast("#000000", "#ffffff")
    21.0
    """
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def css() -> str:
    """Write the palette as style sheet.

    Returns
    -------
    str
        Two variables for each quantity, ``--c-name`` for what is drawn and ``--t-name`` for
        text, light, dark and light again in print; a class ``c-name`` writes in the colour.

    Examples
    --------
    >>> css().splitlines()[1]
    '  --c-wait: #d55e00;'
    """
    light, dark = (
        "".join(
            f"  --c-{name}: {color};\n  --t-{name}: {_legible(color, page)};\n"
            for name, color in colors.items()
        )
        for colors, page in ((LIGHT, _PAGES["light"]), (DARK, _PAGES["dark"]))
    )
    classes = "".join(f".c-{name} {{ color: var(--t-{name}); }}\n" for name in LIGHT)
    pages = ", ".join(_DARK_PAGES)
    return f":root {{\n{light}}}\n@media screen {{\n{pages} {{\n{dark}}}\n}}\n{classes}"


def _channels(color: str) -> list[int]:
    return [int(color[k : k + 2], 16) for k in (1, 3, 5)]


def _luminance(color: str) -> float:
    shares = [channel / 255 for channel in _channels(color)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in shares]
    return sum(weight * x for weight, x in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _legible(color: str, page: str) -> str:
    """The colour, moved away from the page until text in it can be read."""
    end = 0 if _luminance(page) > 0.5 else 255
    for percent in range(0, 101, 2):
        moved = [round(x + (end - x) * percent / 100) for x in _channels(color)]
        made = "#" + "".join(f"{x:02x}" for x in moved)
        if contrast(made, page) >= LEGIBLE:
            return made
    raise ValueError(f"{color} cannot be made legible on {page}")
