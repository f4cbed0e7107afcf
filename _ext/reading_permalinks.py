"""Exercises have permalinks, as headings and equations have."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.writers.html5 import HTML5Translator

from extension import described


class permalink(nodes.General, nodes.Inline, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """A link to the place where it stands; no part of the title's text."""


class LinkExercises(SphinxPostTransform):
    """Put a permalink behind the title of each exercise."""

    default_priority = 30  # sphinx-exercise has put titles together and copied them by now
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        """Transform one page."""
        for node in list(self.document.findall(nodes.Element)):
            if node.get("type") == "exercise" and node["ids"]:
                node[0] += permalink(anchor=node["ids"][0])


def visit_permalink(writer: HTML5Translator, node: permalink) -> None:
    """Write the link."""
    writer.body.append(
        f'<a class="headerlink" href="#{node["anchor"]}" title="Link to this exercise">#</a>'
    )
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, object]:
    """Register with Sphinx; a change of this file makes every page anew."""
    app.add_node(permalink, html=(visit_permalink, None))
    app.add_post_transform(LinkExercises)
    return described(__file__)
