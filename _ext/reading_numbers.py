r"""Figures, tables and equations carry the number of their chapter: Figure 5.2, Table 5.1, (5.3).

What a notebook draws or tabulates gets a number in the order of the page, a caption and an anchor,
``#figure-5-2`` or ``#table-5-1``. A figure's caption is the title drawn in it, a table has none
unless its cell's metadata gives one: ``{"caption": "…"}``. With ``{"label": "best-batch"}`` the
cell has an anchor that stays when others are added. Prose points at it with the number written out,
``[Figure 5.2](#best-batch)`` or ``[equation (5.1)](#equation-eq-min-batch)``, so that the notebook
reads well by itself; a number that is not the right one is a warning, which fails the build.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

from extension import described
from reading_tables import is_frame, number_caption, numbered

log = logging.getLogger(__name__)
CHAPTER = re.compile(r"(\d+[a-z]?)\. ")
NUMBER = re.compile(r"(?:Figure|Table|Equation|\() ?(\d+[a-z]?\.\d+)", re.IGNORECASE)


def outputs(document: nodes.document) -> Iterator[tuple[str, nodes.Element]]:
    """Yield the figures and tables of a page in order, each with its kind."""
    for node in list(document.findall(nodes.Element)):
        if node.get("nb_element") == "mime_bundle":
            if kind := kind_of(node):
                yield kind, node
        elif isinstance(node, nodes.table) and not in_output(node):
            yield "table", node


def in_output(node: nodes.Node) -> bool:
    """Tell whether a node is inside what a cell puts out."""
    while node.parent is not None:
        node = node.parent
        if isinstance(node, nodes.Element) and node.get("nb_element") == "mime_bundle":
            return True
    return False


def kind_of(bundle: nodes.Element) -> str:
    """Tell whether an output is a figure, a table or neither."""
    if any(bundle.findall(is_frame)) or any(bundle.findall(nodes.table)):
        return "table"
    return "figure" if any(bundle.findall(nodes.image)) or is_live(bundle) else ""


def is_live(bundle: nodes.Element) -> bool:
    """Tell whether an output is a live chart, which holds its still picture and its title."""
    return any('<figure class="live' in raw.astext() for raw in bundle.findall(nodes.raw))


def title_of(node: nodes.Element, folder: Path) -> str:
    """Return what a picture says: the title drawn in it, or the first sentence of its text."""
    image = next(iter(node.findall(nodes.image)), None)
    if image is None:
        charts = "".join(raw.astext() for raw in node.findall(nodes.raw))
        return html.unescape("; ".join(re.findall(r"<figcaption>([^<]*)</figcaption>", charts)))
    path = folder / image["uri"]
    title = svg_title(path.read_text("utf-8")) if path.suffix == ".svg" else ""
    return title or image.get("alt", "").partition(". ")[0]


def svg_title(svg: str) -> str:
    """Return the title that Matplotlib drew: of the texts in bold, the topmost one or two."""
    bold = []
    for part in svg.split("<!-- ")[1:]:
        text, _, drawing = part.partition(" -->")
        place = re.search(r"translate\(\S+ (\S+)\)", drawing)
        if place and "Bold" in drawing:
            bold.append((float(place[1]), html.unescape(text)))
    top = [text for y, text in bold if y == min(bold)[0]]
    return "; ".join(top) if len(top) <= 2 else ""


def metadata_of(node: nodes.Node) -> dict[str, str]:
    """Return the metadata of the cell that a node is in."""
    while node is not None:
        if isinstance(node, nodes.Element) and "cell_metadata" in node:
            return node["cell_metadata"]
        node = node.parent
    return {}


def number_outputs(app: Sphinx, document: nodes.document) -> None:
    """Number the figures, tables and equations of a chapter when it is read."""
    page = app.env.docname
    names: dict[str, str] = {}
    title = next(iter(document.findall(nodes.title)), None)
    chapter = CHAPTER.match(title.astext()) if title is not None else None
    if chapter:
        count = {"figure": 0, "table": 0}
        for kind, node in outputs(document):
            count[kind] += 1
            number = f"{chapter[1]}.{count[kind]}"
            box = wrap(node, kind, number, Path(app.srcdir))
            names |= dict.fromkeys(box["ids"], number)
            for anchor in box["ids"]:
                document.ids[anchor] = box
                label(app, page, anchor, f"{kind.capitalize()} {number}")
        names |= number_equations(app, document, page, chapter[1])
    app.env.reading_numbers = getattr(app.env, "reading_numbers", {}) | {page: names}


def wrap(node: nodes.Element, kind: str, number: str, folder: Path) -> numbered:
    """Put an output into a figure with number and caption."""
    metadata = metadata_of(node)
    anchor = f"{kind}-{number.replace('.', '-')}"
    ids = [metadata["label"], anchor] if metadata.get("label") else [anchor]
    box = numbered(ids=ids, kind=kind, number=number)
    node.parent.replace(node, box)
    caption = metadata.get("caption", "")
    drawn = "" if caption else title_of(node, folder)
    box += [node, number_caption("", caption or drawn, drawn=bool(drawn))]
    return box


def label(app: Sphinx, page: str, anchor: str, name: str) -> None:
    """Let links of all pages find an anchor."""
    domain = app.env.domains["std"]
    domain.anonlabels[anchor] = page, anchor
    domain.labels[anchor] = page, anchor, name


def number_equations(
    app: Sphinx, document: nodes.document, page: str, chapter: str
) -> dict[str, str]:
    """Number the labelled equations by chapter."""
    names = {}
    equations = app.env.domains["math"].equations
    labelled = [one for one in document.findall(nodes.math_block) if one.get("number")]
    for count, equation in enumerate(labelled, 1):
        equation["number"] = f"{chapter}.{count}"
        equations[equation["label"]] = page, equation["number"]
        names |= dict.fromkeys(equation["ids"], equation["number"])
        for anchor in equation["ids"]:
            label(app, page, anchor, f"({equation['number']})")
    return names


def check_references(app: Sphinx, document: nodes.document, page: str) -> None:
    """Warn where prose gives a figure, a table or an equation another number than it has."""
    all_names = app.env.reading_numbers
    known = {anchor: number for names in all_names.values() for anchor, number in names.items()}
    for reference in document.findall(nodes.reference):
        anchor = reference.get("refid") or reference.get("refuri", "").rpartition("#")[2]
        said = NUMBER.search(reference.astext())
        if said and anchor in known and said[1] != known[anchor]:
            log.warning(
                "the text says %s, but %s has number %s",
                reference.astext(),
                anchor,
                known[anchor],
                location=reference,
            )


def visit_numbered(writer: HTML5Translator, node: numbered) -> None:
    """Open the figure."""
    writer.body.append(writer.starttag(node, "figure", CLASS=f"numbered numbered-{node['kind']}"))


def depart_numbered(writer: HTML5Translator, node: numbered) -> None:
    """Close the figure."""
    writer.body.append("</figure>\n")


def visit_caption(writer: HTML5Translator, node: number_caption) -> None:
    """Open the caption: the number first. Who sees the picture has read a title drawn in it."""
    kind, number = node.parent["kind"], node.parent["number"]
    name = f"{kind.capitalize()} {number}"
    look = "caption-drawn" if node["drawn"] else "caption-text"
    writer.body.append(
        f'<figcaption><span class="caption-number">{name}</span> <span class="{look}">'
    )


def depart_caption(writer: HTML5Translator, node: number_caption) -> None:
    """Close the caption: the permalink last."""
    kind, anchor = node.parent["kind"], node.parent["ids"][0]
    link = f'<a class="headerlink" href="#{anchor}" title="Link to this {kind}">#</a>'
    writer.body.append(f"</span>{link}</figcaption>\n")


def setup(app: Sphinx) -> dict[str, object]:
    """Register with Sphinx; a change of this file makes every page anew."""
    app.add_node(numbered, html=(visit_numbered, depart_numbered))
    app.add_node(number_caption, html=(visit_caption, depart_caption))
    app.connect("doctree-read", number_outputs)
    app.connect("doctree-resolved", check_references)
    return described(__file__, whole=True)
