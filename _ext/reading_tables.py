"""Every table as CSV: the outputs of the notebooks, and the tables of the text.

The files lie under ``_downloads/tables/``, one a table, named by page and place; a link below the
table leads there. Cells are written as the page shows them, in UTF-8, with the units in the
headers; symbols are written in plain letters, ``λ_arr``.
"""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.writers.html5 import HTML5Translator

from extension import described
from reading_names import greek, plain

FOLDER = "_downloads/tables"
FRAME = "dataframe"
"""Class of the tables in the notebooks' outputs."""

Rows = list[list[str]]


class numbered(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """A figure or a table with its caption."""


class number_caption(nodes.General, nodes.TextElement):  # noqa: N801
    """Number and title of a figure or a table."""


class csv_link(nodes.General, nodes.Inline, nodes.Element):  # noqa: N801
    """The link to a table's file."""


def written(text: str) -> str:
    """Return the text of a cell, its maths in plain letters."""
    shown = re.sub(r"\$([^$]+)\$", lambda maths: greek(plain(maths[1])), text)
    return " ".join(shown.split())


def rows_of_html(html: str) -> Rows:
    """Read the first table in an output."""
    rows = BeautifulSoup(html, "html.parser").table.find_all("tr")
    return [[written(cell.get_text()) for cell in row.find_all(["th", "td"])] for row in rows]


def rows_of_node(table: nodes.table) -> Rows:
    """Read a table of the text."""
    return [[_entry(entry) for entry in row] for row in table.findall(nodes.row)]


def _entry(entry: nodes.Element) -> str:
    parts = [
        f"${text}$" if isinstance(text.parent, nodes.math) else text.astext()
        for text in entry.findall(nodes.Text)
    ]
    return written("".join(parts))


def is_frame(node: nodes.Node) -> bool:
    """Tell whether a node is an output that holds a table."""
    return isinstance(node, nodes.raw) and f'class="{FRAME}' in node.astext()


def as_csv(rows: Rows) -> str:
    """Write rows as CSV, as RFC 4180 has it."""
    file = io.StringIO()
    csv.writer(file).writerows(rows)
    return file.getvalue()


class OfferTables(SphinxPostTransform):
    """Write the tables of a page, and put a link below each."""

    default_priority = 7  # outputs of notebooks are chosen by now, references not yet resolved
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        """Transform one page."""
        page = self.env.docname
        folder = Path(self.app.outdir) / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        tables = [
            node
            for node in self.document.findall(nodes.Element)
            if is_frame(node) or isinstance(node, nodes.table)
        ]
        for number, node in enumerate(tables, 1):
            frame = isinstance(node, nodes.raw)
            rows = rows_of_html(node.astext()) if frame else rows_of_node(node)
            name = f"{page.rpartition('/')[2]}-{number}.csv"
            (folder / name).write_text(as_csv(rows), encoding="utf-8", newline="")
            root = "../" * page.count("/")
            link = csv_link(uri=f"{root}{FOLDER}/{name}", name=name)
            self.offer(node, link)

    def offer(self, table: nodes.Element, link: csv_link) -> None:
        """Put the link into the caption of the table, or below a table that has none."""
        parent: nodes.Element = table
        while parent is not None and not isinstance(parent, numbered):
            parent = parent.parent
        if parent is not None:
            parent[-1] += link
        else:
            table.parent.insert(table.parent.index(table) + 1, nodes.paragraph("", "", link))


def visit_link(writer: HTML5Translator, node: csv_link) -> None:
    """Write the link."""
    writer.body.append(
        f'<a class="table-csv" href="{node["uri"]}" download="{node["name"]}"'
        ' title="Download this table as CSV">CSV</a> '
    )
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, object]:
    """Register with Sphinx; a change of this file makes every page anew."""
    app.add_node(csv_link, html=(visit_link, None))
    app.add_post_transform(OfferTables)
    return described(__file__)
