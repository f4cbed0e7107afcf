r"""Search that finds "P99", "ρ_serv", "E[T]" and "429".

Words keep what Sphinx's own splitter throws away. A symbol is one word, by the name of its
letters, however it was written: ``\rho_{\text{serv}}``, ``ρ_serv`` and ``rho_serv`` are alike.
``reading_search.js`` does the same to the reader's query. The rows of the notation and the terms of
the glossary are entries of the index, so that a symbol leads to its meaning first.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish
from sphinx.transforms.post_transforms import SphinxPostTransform

from extension import described
from reading_names import GREEK, greek, plain, spell

SCRIPT = Path(__file__).with_suffix(".js")
# A mean, E[T_batch]; a number with its decimals; a word.
WORD = re.compile(r"(?<!\w)[Ee]\[\w+[^\]\s]*\]?|\d+(?:\.\d+)+|\w+")


def words(text: str) -> list[str]:
    """Split a text into the words that are searched; ``splitQuery`` in the script is its twin."""
    if "\\" in text or "_{" in text:
        text = plain(text)
    text = re.sub(r"(\d),(?=\d{3}(?!\d))", r"\1", spell(text))
    return [re.sub(r"\[(\w+).*", r"[\1]", word) for word in WORD.findall(text)]


class SearchBook(SearchEnglish):
    """English that keeps symbols, numbers and the names of the code."""

    js_splitter_code = SCRIPT.read_text("utf-8").replace(
        "__GREEK__", json.dumps(GREEK, ensure_ascii=False)
    )

    def split(self, input: str) -> list[str]:  # noqa: A002 (Sphinx's name)
        """Split a text into words; a name with an index is found by its parts as well."""
        found = words(input)
        parts = [part for word in found if "_" in word for part in re.findall("[^\\W_]{2,}", word)]
        return found + parts

    def stem(self, word: str) -> str:
        """Cut the ending off a plain word; leave anything else."""
        lower = word.lower()
        return super().stem(lower) if re.fullmatch("[a-z]+", lower) else lower


class IndexNames(SphinxPostTransform):
    """Give the rows of the notation and the glossary's terms entries of the index."""

    default_priority = 6  # outputs of notebooks are there by now
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        """Transform one page."""
        for table in list(self.document.findall(nodes.table)):
            heads = [entry.astext().strip() for entry in next(table.findall(nodes.row), [])]
            if heads[:1] == ["symbol"] and heads[-1:] == ["Python name"]:
                for row in next(table.findall(nodes.tbody)):
                    self.index_symbol(row)
        for glossary in self.document.findall(addnodes.glossary):
            for term in glossary.findall(nodes.term):
                name = term.astext().partition(" (")[0]
                others = self.config.terms_aliases.get(name, [])
                term += index(term["ids"][0], [name, *others])

    def index_symbol(self, row: nodes.Element) -> None:
        """Make a row of the notation a target, and index it by what one may type."""
        symbol, meaning, *_, name = (entry.astext().strip() for entry in row)
        [ascii_name, *_] = [*plain(symbol).split(), ""]
        anchor = f"symbol-{nodes.make_id(name or ascii_name)}"
        if anchor not in self.document.ids:
            row["ids"].append(anchor)
            self.document.ids[anchor] = row
        row[0] += index(
            row["ids"][0] if row["ids"] else anchor, [ascii_name, greek(ascii_name), name, meaning]
        )


def index(anchor: str, names: list[str]) -> addnodes.index:
    """Return entries of the index, which the search shows first."""
    shown = dict.fromkeys(name.replace(";", ",") for name in names if name)
    return addnodes.index(entries=[("single", name, anchor, "main", None) for name in shown])


def outdated(app: Sphinx, *changes: object) -> list[str]:
    """Name the pages with meanings: Sphinx forgets the entries of pages that it does not write."""
    return [page for page in app.config.search_meanings if page in app.env.found_docs]


def setup(app: Sphinx) -> dict[str, object]:
    """Register with Sphinx; a change of these files makes every page anew."""
    app.add_config_value("search_meanings", [], "env", [list])
    app.connect("env-get-outdated", outdated)
    app.add_search_language(SearchBook)
    app.add_post_transform(IndexNames)
    return described(__file__, SCRIPT)
