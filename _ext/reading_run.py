"""Where a notebook runs: JupyterLab on the reader's machine, and Binder and Colab.

A box under the title of each notebook gives the command and the file; the notebook alone is a
download. Links to Binder and Colab are made from ``repository.url`` and ``repository.branch`` in
``_config.yml``, and left out while there is no address; Colab opens GitHub's repositories only.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.writers.html5 import HTML5Translator

from extension import described

GITHUB = "https://github.com/"


class run_box(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """What to do to run a page; closed at first."""


class OfferToRun(SphinxPostTransform):
    """Put the box under the title, and under what is said there of a chapter."""

    default_priority = 13
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        """Transform one page."""
        path = Path(self.env.doc2path(self.env.docname))
        if path.suffix != ".ipynb" or self.env.docname == self.config.root_doc:
            return
        title = next(iter(self.document.findall(nodes.title)), None)
        if title is None:
            return
        section = title.parent
        facts = [one for one in section if "chapter-facts" in one.get("classes", ())]
        at = section.index(facts[0]) + 1 if facts else 1
        source = path.relative_to(self.env.srcdir).as_posix()
        options = self.config.html_theme_options
        address = options.get("repository_url", "").rstrip("/")
        branch = options.get("repository_branch") or "main"
        section.insert(at, run_box("", *self.steps(source, address, branch)))

    def steps(self, source: str, address: str, branch: str) -> list[nodes.Node]:
        """Return what the box says of a notebook."""
        root = "../" * self.env.docname.count("/")
        uri = f"{root}_sources/{source}"
        download = addnodes.download_reference("", "this notebook", refuri=uri)
        package = f"git+{address}" if address else "path/to/the/book"
        steps = [
            said("In the folder of the book, this opens the chapter in JupyterLab:"),
            command(f"make lab PAGE={source}"),
            said("By itself, ", download, " needs the package of the book:"),
            command(f"pip install {package}"),
        ]
        elsewhere = launchers(source, address, branch)
        if elsewhere:
            steps.append(said("Or elsewhere: ", *elsewhere, "."))
        if len(elsewhere) > 2:
            steps.append(said("On Colab, run this in a cell first:"))
            steps.append(command(f"%pip install {package}"))
        return steps


def said(*parts: str | nodes.Node) -> nodes.paragraph:
    """Return a paragraph."""
    return nodes.paragraph("", "", *[nodes.Text(p) if isinstance(p, str) else p for p in parts])


def link(text: str, uri: str) -> nodes.reference:
    """Return a link."""
    return nodes.reference("", text, refuri=uri, internal="://" not in uri)


def command(text: str) -> nodes.literal_block:
    """Return a line to copy."""
    return nodes.literal_block(text, text, language="text")


def launchers(source: str, address: str, branch: str) -> list[str | nodes.Node]:
    """Return links to Binder and Colab, as far as they can open the repository."""
    if not address:
        return []
    opened = f"urlpath={quote(f'lab/tree/{source}', safe='')}"
    if not address.startswith(GITHUB):
        where = f"git/{quote(address, safe='')}/{branch}"
        return [link("Binder", f"https://mybinder.org/v2/{where}?{opened}")]
    name = address.removeprefix(GITHUB)
    binder = f"https://mybinder.org/v2/gh/{name}/{branch}?{opened}"
    colab = f"https://colab.research.google.com/github/{name}/blob/{branch}/{source}"
    return [link("Binder", binder), ", ", link("Colab", colab)]


def visit_box(writer: HTML5Translator, node: run_box) -> None:
    """Open the box."""
    writer.body.append('<details class="run-chapter"><summary>Run this page</summary>\n')


def depart_box(writer: HTML5Translator, node: run_box) -> None:
    """Close the box."""
    writer.body.append("</details>\n")


def setup(app: Sphinx) -> dict[str, object]:
    """Register with Sphinx; a change of this file makes every page anew."""
    app.add_node(run_box, html=(visit_box, depart_box))
    app.add_post_transform(OfferToRun)
    return described(__file__)
