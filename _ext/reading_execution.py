"""The page on execution: seconds of each notebook, and the versions that the book was built with.

``tools/run.py`` leaves the seconds in ``_build/execution.json``, which is not committed: the stored
outputs stay the same on every machine, the page says what is known where it was built.

Directives: ``{execution-seconds}`` and ``{execution-versions}``, without options.
"""

from __future__ import annotations

import json
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective

from extension import described

RECORD = "_build/execution.json"
UNKNOWN = "not executed in this build"
PACKAGES = (
    *("numpy", "scipy", "sympy", "matplotlib", "pandas", "numba", "ipywidgets", "ipykernel"),
    *("nbclient", "myst-nb", "sphinx", "jupyter-book"),
)


class execution_seconds(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """Where the table of seconds goes, once all titles are known."""


def table(heads: list[str], rows: list[list[nodes.Node]]) -> nodes.table:
    """Return a table of the text."""
    group = nodes.tgroup("", *[nodes.colspec(colwidth=1) for _ in heads], cols=len(heads))
    group += nodes.thead("", row([nodes.Text(head) for head in heads]))
    group += nodes.tbody("", *map(row, rows))
    return nodes.table("", group, classes=["colwidths-auto"])


def row(cells: list[nodes.Node]) -> nodes.row:
    """Return a row of a table."""
    return nodes.row("", *[nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells])


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that are installed."""
    found = {"Python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


class ExecutionSeconds(SphinxDirective):
    """A row for each notebook: its title and its seconds."""

    def run(self) -> list[nodes.Node]:
        """Leave a place for the table; the record differs from build to build."""
        self.env.note_reread()
        return [execution_seconds()]


class ExecutionVersions(SphinxDirective):
    """A row for each package."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        self.env.note_reread()
        rows = [[nodes.Text(name), nodes.Text(number)] for name, number in versions().items()]
        return [table(["package", "version"], rows)]


class FillSeconds(SphinxPostTransform):
    """Write the seconds of the notebooks, in the order of the contents."""

    default_priority = 5

    def run(self, **kwargs: object) -> None:
        """Transform one page."""
        for place in list(self.document.findall(execution_seconds)):
            place.replace_self(table(["notebook", "time (s)"], self.rows()))

    def rows(self) -> list[list[nodes.Node]]:
        """Return a link and the seconds of each notebook."""
        record = Path(self.env.srcdir) / RECORD
        seconds = json.loads(record.read_text()) if record.exists() else {}
        rows: list[list[nodes.Node]] = []
        for page in self.env.collect_relations():
            if Path(self.env.doc2path(page)).suffix == ".ipynb":
                uri = self.app.builder.get_relative_uri(self.env.docname, page)
                link = nodes.reference(
                    "", self.env.titles[page].astext(), refuri=uri, internal=True
                )
                known = seconds.get(page.rpartition("/")[2])
                rows.append([link, nodes.Text(UNKNOWN if known is None else f"{known:.1f}")])
        return rows


def setup(app: Sphinx) -> dict[str, object]:
    """Register with Sphinx; a change of this file makes every page anew."""
    app.add_node(execution_seconds)
    app.add_directive("execution-seconds", ExecutionSeconds)
    app.add_directive("execution-versions", ExecutionVersions)
    app.add_post_transform(FillSeconds)
    return described(__file__)
