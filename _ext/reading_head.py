"""What machines read of a page: a description and Open Graph; what visitors of no page see.

Title and description stand in every page, the description being the beginning of its first
paragraph. With ``html.baseurl`` in ``_config.yml`` come the page's address, a picture for previews,
``sitemap.xml`` and ``robots.txt``, and ``404.html`` gets absolute links, since it is shown at any
depth.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

import matplotlib
from docutils import nodes
from matplotlib.figure import Figure
from sphinx.application import Sphinx
from sphinx.util import logging

from extension import described
from reading_names import greek, plain

log = logging.getLogger(__name__)
LENGTH = 200
"""Characters of a description, at most."""
CARD = "_static/card.png"
RELATIVE = re.compile(r'\b(href|src|action|data-content_root)="(?![a-z]+:|/|#)([^"]*)"')
LOST = """<section><h1>There is no such page</h1>
<p>The address is wrong, or the page has moved. The <a href="{contents}">contents</a> list every
chapter; the <a href="search.html">search</a> finds words and symbols.</p></section>"""


def description(document: nodes.document) -> str:
    """Return the beginning of the first paragraph, whole sentences if they fit."""
    for paragraph in document.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section):
            words = "".join(
                greek(plain(text.astext()))
                if isinstance(text.parent, nodes.math)
                else text.astext()
                for text in paragraph.findall(nodes.Text)
            ).split()
            return shortened(" ".join(words))
    return ""


def shortened(text: str) -> str:
    """Cut a text after the last sentence that fits, else after the last word."""
    if len(text) <= LENGTH:
        return text
    sentences = [end.start() + 1 for end in re.finditer(r"[.?!] ", text[: LENGTH + 1])]
    return text[: sentences[-1]] if sentences else text[:LENGTH].rpartition(" ")[0] + " …"


def add_metadata(
    app: Sphinx, page: str, template: str, context: dict, document: nodes.document | None
) -> None:
    """Put the description and Open Graph into the head of a page."""
    if document is None:
        return
    base, root = app.config.html_baseurl, app.config.root_doc
    about = description(document)
    title = next(iter(document.findall(nodes.title)), nodes.Text("")).astext()
    named = {"description": about, "twitter:card": "summary_large_image" if base else "summary"}
    graph = {
        "og:title": title,
        "og:description": about,
        "og:type": "website" if page == root else "article",
        "og:site_name": app.config.html_title,
    }
    if base:
        graph["og:url"] = address(app, page)
        graph["og:image"] = f"{base.rstrip('/')}/{CARD}"
        graph["og:image:alt"] = app.config.html_title
    tags = [
        f'<meta name="{name}" content="{escape(text)}">' for name, text in named.items() if text
    ]
    tags += [
        f'<meta property="{name}" content="{escape(text)}">' for name, text in graph.items() if text
    ]
    context["metatags"] = context.get("metatags", "") + "\n".join(["", *tags, ""])


def address(app: Sphinx, page: str) -> str:
    """Return the public address of a page."""
    return f"{app.config.html_baseurl.rstrip('/')}/{app.builder.get_target_uri(page)}"


def lost(app: Sphinx) -> Iterator[tuple[str, dict, str]]:
    """Make the page that a server shows when there is no page."""
    contents = app.builder.get_target_uri(app.config.root_doc)
    body = LOST.format(contents=contents)
    yield "404", {"title": "There is no such page", "body": body}, "page.html"


def finish(app: Sphinx, error: Exception | None) -> None:
    """Open the book at its first page; write what only a public address makes sense of."""
    base = app.config.html_baseurl
    if error or app.builder.name != "html":
        return
    out = Path(app.outdir)
    if app.config.root_doc != "index":
        shutil.copyfile(out / app.builder.get_target_uri(app.config.root_doc), out / "index.html")
    if not base:
        return
    path = urlsplit(base).path.rstrip("/")
    page = (out / "404.html").read_text("utf-8")
    absolute = RELATIVE.sub(
        lambda link: f'{link[1]}="{path}/{link[2].removeprefix("./")}"',
        page,
    )
    (out / "404.html").write_text(absolute, encoding="utf-8")
    entries = "".join(
        f"<url><loc>{escape(address(app, name))}</loc></url>\n"
        for name in sorted(app.env.found_docs)
    )
    (out / "sitemap.xml").write_text(
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{entries}</urlset>\n',
        encoding="utf-8",
    )
    (out / "robots.txt").write_text(
        f"User-agent: *\nAllow: /\nSitemap: {base.rstrip('/')}/sitemap.xml\n", encoding="utf-8"
    )
    draw_card(app.config.html_title, out / CARD)


def draw_card(project: str, file: Path) -> None:
    """Draw the picture that previews of a link show: the title of the book."""
    title, _, rest = project.partition(": ")
    with matplotlib.rc_context({"font.family": "DejaVu Sans"}):
        figure = Figure(figsize=(12, 6.3), dpi=100, facecolor="#10233f")
        figure.text(0.07, 0.55, title, fontsize=54, fontweight="bold", color="white")
        figure.text(0.07, 0.42, rest, fontsize=27, color="#c9d8ee")
        figure.savefig(file, metadata={"Software": None})


def setup(app: Sphinx) -> dict[str, object]:
    """Register with Sphinx; a change of this file makes every page anew."""
    app.connect("html-page-context", add_metadata)
    app.connect("html-collect-pages", lost)
    app.connect("build-finished", finish)
    return described(__file__)
