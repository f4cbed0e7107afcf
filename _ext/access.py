"""HTML that keyboards and screen readers need, in the place of what the theme makes by script."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

from extension import described, mend_pages

OPEN = re.compile(r'<div class="((?:[\w-]+ )*)dropdown admonition"')
LINK = re.compile(r"</?a\b[^>]*>")
TITLE = re.compile(r'\s*<p class="admonition-title">(.*?)</p>', re.DOTALL)
REPEATED = re.compile(r' id="(?:(?:exercise|solution|proof)-content|proof)"')
ROLES = re.compile(r' role="(?:doc-biblioentry|list)"(?=[^>]*>)')
DIV = re.compile(r"<(/?)div\b")
PAGES = "Pages of this chapter"


def folded(body: str) -> str:
    """Turn every box of the class ``dropdown`` into ``details`` with its title as ``summary``.

    Links in the title go: a summary is pressed itself.

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
        inside = TITLE.sub(_summary, inside, count=1)
        head = f'{body[: found.start()]}<details class="{found[1]}admonition"'
        body = f"{head}{inside}</details>{body[end + len('</div>') :]}"
    return body


def _summary(title: re.Match[str]) -> str:
    return f'<summary class="admonition-title">{LINK.sub("", title[1])}</summary>'


def _end(body: str, start: int) -> int:
    """Where the ``div`` closes that opens at ``start``."""
    depth = 0
    for tag in DIV.finditer(body, start):
        depth += -1 if tag[1] else 1
        if not depth:
            return tag.start()
    raise ValueError("a box is not closed")


def accessible(body: str) -> str:
    """Fold boxes, and leave out what misleads: labels, roles, empty headers, repeated names.

    Parameters
    ----------
    body : str
        HTML of a page as Sphinx writes it.

    Returns
    -------
    str
        The same page; summaries are read as they stand, an empty corner of a table is no header.
    """
    body = body.replace('<summary aria-label="Toggle hidden content">', "<summary>")
    body = ROLES.sub("", REPEATED.sub("", body))
    return folded(body.replace("<th></th>", "<td></td>"))


def name_toggles(
    app: Sphinx, page: str, template: str, context: dict[str, Any], tree: object
) -> None:
    """Give the arrow that unfolds the pages of a chapter in the sidebar a name that is read."""
    generate = context.get("generate_toctree_html")
    if generate is None:
        return

    def named(*arguments: Any, **options: Any) -> Any:
        """Make the list of pages as the theme does."""
        made = generate(*arguments, **options)
        for toggle in made.select("summary > .toctree-toggle"):
            toggle.parent["aria-label"] = PAGES
        return made

    context["generate_toctree_html"] = named


def setup(app: Sphinx) -> dict[str, object]:
    """Register with Sphinx; a change of this file makes every page anew."""
    mend_pages(app, accessible)
    app.connect("html-page-context", name_toggles, priority=940)  # after the theme
    return described(__file__)
