"""Glossary terms explain themselves: the first use of each on a page opens its definition.

The first use in running prose becomes a link to the glossary, dotted, and carries the definition
in a ``<template>`` that ``_static/tips.js`` shows on hover, on focus and by touch. Headings, links,
code, maths, tables and outputs are left alone.

Settings in ``_config.yml``:

``terms_aliases``
    Other words for a term, such as ``{time to first token: [TTFT]}``.
``terms_nouns``
    Terms that are verbs as well, such as ``wait``: linked only after an article or its like.
``terms_only``
    Words that mean the term on some pages only: term to the beginnings of their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.writers.html5 import HTML5Translator

from extension import described

# Text below any of these is not running prose.
NOT_PROSE = (
    nodes.title,
    nodes.subtitle,
    nodes.rubric,
    nodes.caption,
    nodes.reference,
    nodes.literal,
    nodes.literal_block,
    nodes.math,
    nodes.math_block,
    nodes.raw,
    nodes.table,
    nodes.term,
    nodes.footnote,
    nodes.citation,
    addnodes.pending_xref,
)
BEFORE_NOUN = "the|a|an|its|mean|exact|average|no|of"


class term_use(nodes.General, nodes.Inline, nodes.TextElement):  # noqa: N801
    """The first use of a term on a page (docutils names its nodes in lower case)."""


class term_template(nodes.comment):  # noqa: N801
    """What a tip says. It stands in the page unseen; as a comment it is not searched either."""


class Term(NamedTuple):
    """A term, the page and anchor of its definition, and what that says."""

    name: str
    page: str
    anchor: str
    definition: nodes.definition


@lru_cache(maxsize=1)
def terms(env: BuildEnvironment) -> dict[str, Term]:
    """Read the glossary: lower-case name, without what stands in parentheses, to term."""
    pages = {page for _, _, kind, page, _, _ in env.domains["std"].get_objects() if kind == "term"}
    found = {}
    for page in sorted(pages):
        for item in env.get_doctree(page).findall(nodes.definition_list_item):
            if not isinstance(item.parent.parent, addnodes.glossary):
                continue
            head, definition = item[0], item[-1]
            name = head.astext().partition(" (")[0]
            found[name.lower()] = Term(name, page, head["ids"][0], definition)
    return found


def plural(word: str) -> str:
    """Return a pattern for a word in singular and plural."""
    spelt = re.escape(word).replace(r"\ ", r"\s+")
    return spelt[:-1] + "(?:y|ies)" if word.endswith("y") else spelt + "(?:s|es)?"


def finder(words: dict[str, str], nouns: list[str]) -> re.Pattern[str]:
    """Return what finds the words, the longest first, as group ``w<number>`` of each word.

    Capitals count in abbreviations only.
    """
    before = "|".join(rf"(?<=\b{word}\s)" for word in BEFORE_NOUN.split("|"))
    order = sorted(enumerate(words), key=lambda one: len(one[1]), reverse=True)
    parts = []
    for number, word in order:
        spelt = f"(?:{before}){plural(word)}" if word in nouns else plural(word)
        parts.append(f"(?P<w{number}>{spelt if word.isupper() else f'(?i:{spelt})'})")
    return re.compile(rf"(?<![\w-])(?:{'|'.join(parts)})(?![\w-])")


def prose(document: nodes.document) -> Iterator[nodes.Text]:
    """Yield the texts of a page that are running prose."""
    for paragraph in list(document.findall(nodes.paragraph)):
        inside: nodes.Node | None = paragraph
        while inside is not None and not isinstance(inside, NOT_PROSE):
            if isinstance(inside, nodes.Element) and "cell_output" in inside.get("classes", ()):
                break
            inside = inside.parent
        if inside is None:
            yield from (
                text
                for text in list(paragraph.findall(nodes.Text))
                if not _below(text, paragraph, NOT_PROSE)
            )


def _below(node: nodes.Node, top: nodes.Node, kinds: tuple[type, ...]) -> bool:
    parent = node.parent
    while parent is not top:
        if isinstance(parent, kinds):
            return True
        parent = parent.parent
    return False


class ExplainTerms(SphinxPostTransform):
    """Mark the first use of each term, and put the definitions at the end of the page."""

    default_priority = 2  # before links, citations and outputs are resolved
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        """Transform one page."""
        known = terms(self.env)
        page = self.env.docname
        if page in {term.page for term in known.values()}:
            return
        words = vocabulary(known, self.config, page)
        meanings = [known[name] for name in words.values()]
        find = finder(words, self.config.terms_nouns)
        used: dict[str, Term] = {}
        for text in prose(self.document):
            self.mark(text, find, meanings, used)
        section = next(iter(self.document.findall(nodes.section)), self.document)
        section += [template(term, page) for _, term in sorted(used.items())]

    def mark(
        self,
        text: nodes.Text,
        find: re.Pattern[str],
        meanings: list[Term],
        used: dict[str, Term],
    ) -> None:
        """Split a text at the terms that are used for the first time."""
        whole, at = text.astext(), 0
        parts: list[nodes.Node] = []
        for match in find.finditer(whole):
            term = meanings[int(str(match.lastgroup)[1:])]
            if term.name in used:
                continue
            used[term.name] = term
            parts += [nodes.Text(whole[at : match.start()]), self.use(match[0], term)]
            at = match.end()
        if parts:
            text.parent.replace(text, [*parts, nodes.Text(whole[at:])])

    def use(self, text: str, term: Term) -> term_use:
        """Return a use of a term: a link to the glossary."""
        uri = self.app.builder.get_relative_uri(self.env.docname, term.page)
        return term_use("", text, uri=f"{uri}#{term.anchor}", tip=f"tip-{term.anchor}")


def vocabulary(known: dict[str, Term], config: Config, page: str) -> dict[str, str]:
    """Return the words that mean a term on this page, each with the key of its term."""
    words = {name: name for name in known}
    for name, others in config.terms_aliases.items():
        words |= dict.fromkeys(others, name)
    elsewhere = {
        name for name, pages in config.terms_only.items() if not page.startswith(tuple(pages))
    }
    return {word: name for word, name in words.items() if name not in elsewhere}


def template(term: Term, page: str) -> term_template:
    """Return what the tip of a term says: the term, then its definition with links from a page."""
    paragraphs = [one.deepcopy() for one in term.definition.children]
    for paragraph in paragraphs:
        for link in paragraph.findall(addnodes.pending_xref):
            link["refdoc"] = page
    paragraphs[0].insert(0, [nodes.strong("", term.name), nodes.Text(": ")])
    return term_template("", "", *paragraphs, tip=f"tip-{term.anchor}")


def visit_use(writer: HTML5Translator, node: term_use) -> None:
    """Open the link."""
    attributes = {"href": node["uri"], "data-tip-template": node["tip"]}
    writer.body.append(writer.starttag(node, "a", "", CLASS="glossary-term", **attributes))


def depart_use(writer: HTML5Translator, node: term_use) -> None:
    """Close the link."""
    writer.body.append("</a>")


def visit_template(writer: HTML5Translator, node: term_template) -> None:
    """Open the template."""
    writer.body.append(f'<template id="{node["tip"]}">')


def depart_template(writer: HTML5Translator, node: term_template) -> None:
    """Close the template."""
    writer.body.append("</template>\n")


def forget(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> set[str]:
    """Make every page anew when the glossary changed."""
    terms.cache_clear()
    pages = {page for _, _, kind, page, _, _ in env.domains["std"].get_objects() if kind == "term"}
    return env.found_docs if pages & (added | changed | removed) else set()


def setup(app: Sphinx) -> dict[str, object]:
    """Register with Sphinx; a change of this file makes every page anew."""
    app.add_config_value("terms_aliases", {}, "env", [dict])
    app.add_config_value("terms_nouns", [], "env", [list])
    app.add_config_value("terms_only", {}, "env", [dict])
    app.add_node(term_use, html=(visit_use, depart_use))
    app.add_node(term_template, html=(visit_template, depart_template))
    app.add_post_transform(ExplainTerms)
    app.connect("env-get-outdated", forget)
    return described(__file__)
