"""Under the title of a chapter: how long it takes, what it builds on, where it leads.

The time is that of the running prose at 200 words a minute and of the equations at half a minute
each; exercises are counted by themselves. What a chapter builds on are the earlier chapters that
its "What to know first" links to; it leads to the chapters that build on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import ascii_lowercase
from typing import NamedTuple

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform

from extension import described

CHAPTER = re.compile(r"(\d+[a-z]?)\. (.+)")
NEEDS = "What to know first"
WORDS_PER_MINUTE = 200
MINUTES_PER_EQUATION = 0.5
# What is not read in a row: code and its outputs, hints and solutions.
ASIDE = ("cell", "dropdown", "solution", "exercise")


class Facts(NamedTuple):
    """What is known of a chapter when it has been read."""

    number: str  # with a letter where a chapter has several pages
    title: str
    minutes: int
    exercises: int
    needs: tuple[str, ...]

    @property
    def place(self) -> tuple[int, str]:
        """Where it stands among the others."""
        return int(self.number.rstrip(ascii_lowercase)), self.number


def is_aside(node: nodes.Node) -> bool:
    """Tell whether a node is read by itself, outside of the running text."""
    return isinstance(node, nodes.Element) and bool(set(ASIDE) & set(node.get("classes", ())))


def running(node: nodes.Node) -> Iterator[nodes.Node]:
    """Yield the paragraphs and equations that are read in a row."""
    if isinstance(node, nodes.paragraph | nodes.math_block):
        yield node
    elif not is_aside(node):
        for child in node.children:
            yield from running(child)


def minutes(document: nodes.document) -> int:
    """Estimate how long a reader takes, in whole minutes."""
    parts = list(running(document))
    equations = sum(isinstance(part, nodes.math_block) for part in parts)
    words = sum(len(part.astext().split()) for part in parts if isinstance(part, nodes.paragraph))
    return max(1, round(words / WORDS_PER_MINUTE + equations * MINUTES_PER_EQUATION))


def collect(app: Sphinx, document: nodes.document) -> None:
    """Note the facts of a chapter when it is read."""
    env = app.env
    heading = next(iter(document.findall(nodes.title)), None)
    chapter = CHAPTER.match(heading.astext()) if heading is not None else None
    if not hasattr(env, "reading_facts"):
        env.reading_facts = {}
    if chapter is None:
        env.reading_facts.pop(env.docname, None)
        return
    exercises = [one for one in document.findall() if one.__class__.__name__ == "exercise_node"]
    needs = [
        link["reftarget"]
        for paragraph in document.findall(nodes.paragraph)
        if paragraph.astext().startswith(NEEDS)
        for link in paragraph.findall(addnodes.pending_xref)
        if link.get("refdomain") == "doc"
    ]
    env.reading_facts[env.docname] = Facts(
        chapter[1], chapter[2], minutes(document), len(exercises), tuple(dict.fromkeys(needs))
    )


def purge(app: Sphinx, env: BuildEnvironment, page: str) -> None:
    """Forget a chapter that is read again or is gone."""
    getattr(env, "reading_facts", {}).pop(page, None)


def rewrite(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Write every chapter again when what one of them builds on, or a title, has changed."""
    facts = {page: one[:2] + one[4:] for page, one in env.reading_facts.items()}
    before, env.reading_facts_written = getattr(env, "reading_facts_written", None), facts
    return [] if before == facts else list(facts)


class ShowFacts(SphinxPostTransform):
    """Put the facts under the title."""

    default_priority = 12  # after references and terms: the links here are made whole
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        """Transform one page."""
        facts: dict[str, Facts] = self.env.reading_facts
        page = self.env.docname
        if page not in facts:
            return
        own = facts[page]
        before = [one for one in own.needs if one in facts and facts[one].place < own.place]
        after = [one for one in facts if page in facts[one].needs]
        after = [one for one in after if facts[one].place > own.place]
        items = [[nodes.Text(f"{own.minutes} minutes to read, and {own.exercises} exercises")]]
        for words, pages in (("Builds on ", before), ("Leads to ", after)):
            if pages:
                items.append([nodes.Text(words), *self.links(pages)])
        rows = [nodes.list_item("", nodes.paragraph("", "", *item)) for item in items]
        title = next(iter(self.document.findall(nodes.title)))
        title.parent.insert(1, nodes.bullet_list("", *rows, classes=["chapter-facts"]))

    def links(self, pages: list[str]) -> list[nodes.Node]:
        """Link chapters by number, in order; the title shows on hover."""
        facts: dict[str, Facts] = self.env.reading_facts
        links: list[nodes.Node] = []
        for page in sorted(pages, key=lambda one: facts[one].place):
            uri = self.app.builder.get_relative_uri(self.env.docname, page)
            link = nodes.reference("", f"chapter {facts[page].number}", internal=True, refuri=uri)
            link["reftitle"] = facts[page].title
            links += [nodes.Text(", "), link]
        return links[1:]


def setup(app: Sphinx) -> dict[str, object]:
    """Register with Sphinx; a change of this file makes every page anew."""
    app.connect("doctree-read", collect)
    app.connect("env-purge-doc", purge)
    app.connect("env-updated", rewrite)
    app.add_post_transform(ShowFacts)
    return described(__file__, whole=True)
