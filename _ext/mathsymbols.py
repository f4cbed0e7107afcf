"""Symbols that explain themselves: equations point at the rows of the notation table.

In an equation the longest symbol of the table wins, as it does for the reader of the equations
(``serving.reader``). A page carries one explanation for each of its symbols; ``tips.js`` shows it
on hover and by touch, and all those of an equation when the equation has the focus.
"""

from __future__ import annotations

import re
from functools import cache
from html import escape
from typing import Any
from xml.etree import ElementTree as ET

from math_core import LatexToMathML
from sphinx.application import Sphinx

from extension import described
from serving import notation, palette

Key = tuple[Any, ...]
SYMBOL = re.compile(r'data-tip-template="(sym-[\w-]+)"')
TOKENS = {"mi", "mn", "mo", "mtext"}


@cache
def table() -> tuple[dict[str, str], dict[Key, list[tuple[list[Key], str]]]]:
    """Explain each symbol, and say how it is drawn.

    Returns
    -------
    explanations : dict
        HTML by identifier.
    patterns : dict
        By the first of the elements that stand side by side: all of them and the identifier,
        longest first.
    """
    convert = LatexToMathML().convert_with_local_state
    rows = [
        (f"sym-{entry.name}", entry.latex, entry.meaning, entry.unit) for entry in notation.TABLE
    ]
    rows += [
        (f"sym-letter-{n}", latex, meaning, "1")
        for n, (latex, meaning) in enumerate(notation.LOCAL.items())
    ]
    explanations, patterns = {}, {}
    for name, latex, meaning, unit in rows:
        drawn = convert(latex, displaystyle=False).replace("&ApplyFunction;", "\u2061")
        measured = "" if unit == "1" else f" ({escape(unit)})"
        explanations[name] = f"{drawn} {escape(meaning)}{measured}"
        patterns.setdefault(tuple(_key(part) for part in ET.fromstring(drawn)), name)
    ordered = sorted(patterns.items(), key=lambda one: -_size(one[0]))
    by_first: dict[Key, list[tuple[list[Key], str]]] = {}
    for key, name in ordered:
        by_first.setdefault(key[0], []).append((list(key), name))
    return explanations, by_first


def _key(element: ET.Element) -> Key:
    """What an element draws, whatever its attributes."""
    text = (element.text or "").strip() if element.tag in TOKENS else ""
    return element.tag, text, *(_key(part) for part in element)


def _size(key: Key) -> int:
    return 1 + sum(_size(part) for part in key if isinstance(part, tuple))


def explained(mathml: str) -> str:
    r"""Mark the symbols of an equation.

    Parameters
    ----------
    mathml : str
        A ``math`` element.

    Returns
    -------
    str
        The same equation; each symbol of the table has the class ``sym``, and that of its
        colour if it has one.

    Examples
    --------
    >>> explained("<math><mn>2</mn><mi>B</mi></math>")
    '<math><mn>2</mn><mi class="sym" data-tip-template="sym-batch">B</mi></math>'
    """
    root = ET.fromstring(mathml)
    _mark_inside(root)
    return ET.tostring(root, encoding="unicode", short_empty_elements=False)


def _mark_inside(element: ET.Element) -> None:
    if element.tag in {"msub", "munder", "mover", "munderover"}:
        # An index or a bar makes of a letter another symbol, one that the table does not know;
        # a brace holds terms, and its words may name a quantity that has a colour.
        words = "".join(element[-1].itertext())
        if words in palette.LIGHT and element.tag != "msub":
            element.set("class", f"c-{words}")
        if element.tag != "msub" and element[0].tag not in TOKENS:
            _mark_inside(element[0])
        return
    if element.tag == "msubsup":
        base, index, power = element
        if name := _longest([("msub", "", _key(base), _key(index))])[1]:
            _mark(element, name)
        else:
            _mark_inside(power)
        return
    row = element.tag in {"math", "mrow", "mtd", "msqrt", "mstyle", "mpadded"}
    at = 0
    while at < len(element):
        parts = element[at:] if row else element[at : at + 1]
        length, name = _longest([_key(part) for part in parts])
        if not name:
            _mark_inside(element[at])
        elif length == 1:
            _mark(element[at], name)
        else:
            box = ET.Element("mrow")
            box[:] = parts[:length]
            element[at : at + length] = [box]
            _mark(box, name)
        at += 1


def _longest(keys: list[Key]) -> tuple[int, str]:
    """How many elements from the first on are a symbol, perhaps raised to a power, and which."""
    for pattern, name in table()[1].get(keys[0], []):
        length = len(pattern)
        if keys[: length - 1] == pattern[:-1] and len(keys) >= length:
            last = keys[length - 1]
            if last == pattern[-1] or last[0] == "msup" and last[2] == pattern[-1]:
                return length, name
    return 0, ""


def _mark(element: ET.Element, name: str) -> None:
    color = palette.SYMBOLS.get(name.removeprefix("sym-"))
    element.set("class", f"sym c-{color}" if color else "sym")
    element.set("data-tip-template", name)


def add_explanations(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Put the explanations of a page's symbols at its end."""
    body = context.get("body", "")
    explanations = table()[0]
    context["body"] = body + "".join(
        f'<template id="{name}">{explanations[name]}</template>'
        for name in sorted(set(SYMBOL.findall(body)))
    )


def setup(app: Sphinx) -> dict[str, object]:
    """Register with Sphinx; a change of this file makes every page anew."""
    app.connect("html-page-context", add_explanations)
    return described(__file__)
