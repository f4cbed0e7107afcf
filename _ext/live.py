"""Live charts in the pages: the scripts and styles of `serving.live`, where a page has a chart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from extension import described
from serving import _javascript, live, palette

FOLDER = "live"
SCRIPTS = ("live.js", "formulas.js")
STYLE = "live.css"
PALETTE = "palette.css"


def files() -> dict[str, str]:
    """Return the text of each file under ``_static``."""
    return {
        f"{FOLDER}/live.js": live.script(),
        f"{FOLDER}/formulas.js": _javascript.script() + "live.start();\n",
        f"{FOLDER}/{STYLE}": live.style(),
        PALETTE: palette.css(),
    }


def write_files(app: Sphinx) -> None:
    """Put the files into the site before the pages that name them."""
    if app.builder.format != "html":
        return
    for name, text in files().items():
        target = Path(app.outdir) / "_static" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def has_chart(body: str) -> bool:
    """Whether a page holds a live chart."""
    return '<figure class="live"' in body


def add_files(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Ask for the palette on every page, and for the scripts where there is a chart."""
    app.add_css_file(PALETTE)
    if not has_chart(context.get("body", "")):
        return
    app.add_css_file(f"{FOLDER}/{STYLE}")
    for name in SCRIPTS:
        app.add_js_file(f"{FOLDER}/{name}", loading_method="defer")


def setup(app: Sphinx) -> dict[str, object]:
    """Register with Sphinx; a change of this file makes every page anew."""
    app.connect("builder-inited", write_files)
    app.connect("html-page-context", add_files)
    return described(__file__)
