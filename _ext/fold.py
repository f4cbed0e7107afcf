"""Hints and solutions that fold without a script: boxes of the class ``dropdown`` as ``details``."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

OPEN = re.compile(r'<div class="((?:[\w-]+ )*)dropdown admonition"')
TITLE = re.compile(r'\s*<p class="admonition-title">(.*?)</p>', re.DOTALL)
DIV = re.compile(r"<(/?)div\b")


def folded(body: str) -> str:
    """Turn every box that folds into ``details`` with its title as ``summary``.

    Parameters
    ----------
    body : str
        HTML of a page as Sphinx writes it, every element closed.

    Returns
    -------
    str
        The same page; inner boxes are turned as well.

    Examples
    --------
    >>> folded('<div class="dropdown admonition"><p class="admonition-title">A</p>b</div>')
    '<details class="admonition"><summary class="admonition-title">A</summary>b</details>'
    """
    while (found := OPEN.search(body)) is not None:
        end = _end(body, found.start())
        inside = body[found.end() : end]
        inside = TITLE.sub(r'<summary class="admonition-title">\1</summary>', inside, count=1)
        head = f'{body[: found.start()]}<details class="{found[1]}admonition"'
        body = f"{head}{inside}</details>{body[end + len('</div>') :]}"
    return body


def _end(body: str, start: int) -> int:
    """Where the ``div`` closes that opens at ``start``."""
    depth = 0
    for tag in DIV.finditer(body, start):
        depth += -1 if tag[1] else 1
        if not depth:
            return tag.start()
    raise ValueError("a box is not closed")


def fold_page(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Fold the boxes of one page."""
    if "body" in context:
        context["body"] = folded(context["body"]).replace(
            '<summary aria-label="Toggle hidden content">', "<summary>"
        )


def setup(app: Sphinx) -> dict[str, object]:
    """Register with Sphinx; a change of this file makes every page anew."""
    app.connect("html-page-context", fold_page)
    return {
        "env_version": hashlib.sha256(Path(__file__).read_bytes()).hexdigest(),
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
