"""Around the text: terms explained, tables to take along, numbers, facts of a chapter."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from reading import article, chapters, number_faults, table_faults, term_faults, words

ROOT = Path(__file__).parents[2]
GLOSSARY = "chapters/appendix-glossary.html"
NOT_PAGES = ("_static", "genindex.html", "index.html", "404.html", "search.html")


def pages(site: Path) -> list[Path]:
    """The pages of the book, by name."""
    found = site.rglob("*.html")
    return sorted(p for p in found if not p.relative_to(site).as_posix().startswith(NOT_PAGES))


def number(page: Path) -> str:
    return page.name.partition("-")[0].lstrip("0")


def test_terms_are_explained_once_a_page_and_in_the_words_of_the_glossary(site):
    glossary = article(site / GLOSSARY)
    assert len(glossary.select("dl.glossary dt")) > 70
    for page in pages(site):
        assert not list(term_faults(article(page), glossary)), page.name
    assert all(len(article(page).select("a.glossary-term")) >= 8 for page in chapters(site))


TERM = """<article><p>A <a class="glossary-term" href="g.html#term-batch"
data-tip-template="tip-term-batch">batch</a></p>
<template id="tip-term-batch"><p>batch: Requests together.</p></template></article>"""
TERMS = '<dl class="glossary"><dt id="term-batch">batch</dt><dd><p>Requests together.</p></dd></dl>'


@pytest.mark.parametrize(
    ("right", "wrong", "fault"),
    [
        ("Requests together.</p></template>", "Another.</p></template>", "is explained as"),
        ('<template id="tip-term-batch">', '<template id="tip">', "has no definition"),
        ("#term-batch", "#term-bath", "has no definition"),
        ("<p>A <a", "<h2>A <a", "is marked inside h2"),
        ("</article>", TERM.partition("</p>")[0] + "</p></article>", "is marked twice"),
    ],
)
def test_a_fault_of_a_term_is_found(right, wrong, fault):
    glossary = BeautifulSoup(TERMS, "html.parser")
    assert not list(term_faults(BeautifulSoup(TERM, "html.parser"), glossary))
    assert right in TERM
    planted = BeautifulSoup(TERM.replace(right, wrong), "html.parser")
    assert fault in "\n".join(term_faults(planted, glossary))


def test_every_table_is_a_file_that_says_the_same(site):
    for page in pages(site):
        assert not list(table_faults(article(page), page.parent)), page.name
    assert len(list(site.glob("_downloads/tables/*.csv"))) > 150


TABLE = """<article><table class="dataframe"><tr><th>B</th><th>wait (ms)</th></tr>
<tr><td>8</td><td>9,641.5</td></tr></table><a class="table-csv" href="t.csv">CSV</a></article>"""


@pytest.mark.parametrize(
    ("file", "fault"),
    [
        ("B,wait (ms)\n8,9641.5\n", "says ['9641.5']"),
        ('B,wait\n8,"9,641.5"\n', "says ['wait']"),
        ("B,wait (ms)\n", "another shape"),
        (None, "is not there"),
    ],
)
def test_a_fault_of_a_table_is_found(file, fault, tmp_path):
    page = BeautifulSoup(TABLE, "html.parser")
    (tmp_path / "t.csv").write_text('B,wait (ms)\n8,"9,641.5"\n', encoding="utf-8")
    assert not list(table_faults(page, tmp_path))
    (tmp_path / "t.csv").unlink()
    if file is not None:
        (tmp_path / "t.csv").write_text(file, encoding="utf-8")
    assert fault in "\n".join(table_faults(page, tmp_path))


def test_a_table_without_a_file_is_found(tmp_path):
    page = BeautifulSoup(TABLE.partition("<a class")[0], "html.parser")
    assert list(table_faults(page, tmp_path)) == ["1 tables, 0 files"]


def test_figures_tables_and_equations_are_numbered_by_chapter(site):
    assert len(chapters(site)) > 15
    for page in chapters(site):
        assert not list(number_faults(article(page), number(page))), page.name


NUMBERED = """<article>
<figure class="numbered" id="figure-5-1"><div class="cell_output"><img></div><figcaption>
<span class="caption-number">Figure 5.1</span> A finding
<a class="headerlink" href="#figure-5-1">#</a></figcaption></figure>
<span class="eqno">(5.1)<a class="headerlink" href="#e">#</a></span></article>"""


@pytest.mark.parametrize(
    ("right", "wrong", "fault"),
    [
        ("Figure 5.1", "Figure 5.2", "comes after"),
        ("Figure 5.1", "Figure 6.1", "comes after"),
        ('id="figure-5-1"', "", "no anchor"),
        (" A finding", "", "has no title"),
        ("</article>", '<div class="cell_output"><img></div></article>', "1 outputs"),
        ("(5.1)", "(18)", "equations are numbered"),
    ],
)
def test_a_fault_of_a_number_is_found(right, wrong, fault):
    assert not list(number_faults(BeautifulSoup(NUMBERED, "html.parser"), "5"))
    planted = NUMBERED.replace(right, wrong)
    assert fault in "\n".join(number_faults(BeautifulSoup(planted, "html.parser"), "5"))


def test_every_exercise_has_a_permalink(site):
    for page in chapters(site):
        exercises = article(page).select("article div.exercise")
        links = [one.select_one(".admonition-title .headerlink") for one in exercises]
        assert [link["href"] for link in links] == [f"#{one['id']}" for one in exercises] != []


def needed(notebook: Path) -> set[str]:
    """The earlier chapters that a notebook names under "What to know first"."""
    own = notebook.name.partition("-")[0]
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    text = "\n\n".join("".join(cell["source"]) for cell in cells)
    [paragraph] = re.findall(r"\*\*What to know first:\*\*.*", text)
    linked = re.findall(r"\((\d\d[a-z]?)-[\w-]+\.ipynb\)", paragraph)
    return {one.lstrip("0") for one in linked if one < own}


def test_a_chapter_says_how_long_it_takes_what_it_builds_on_and_where_it_leads(site):
    facts = {number(page): article(page).select("ul.chapter-facts li") for page in chapters(site)}
    builds_on: dict[str, set[str]] = dict.fromkeys(facts, set())
    leads_to: dict[str, set[str]] = dict.fromkeys(facts, set())
    for chapter, items in facts.items():
        minutes, exercises = map(int, re.findall(r"\d+", words(items[0])))
        assert 5 <= minutes <= 60 and 4 <= exercises <= 6, (chapter, words(items[0]))
        for item in items[1:]:
            named = set(re.findall(r"chapter (\d+[a-z]?)", words(item)))
            linked = {number(Path(a["href"])) for a in item.select("a")}
            assert named == linked
            (builds_on if words(item).startswith("Builds on") else leads_to)[chapter] = named
    notebooks = {number(p): p for p in ROOT.glob("chapters/[0-9][0-9]*-*.ipynb")}
    assert builds_on == {chapter: needed(notebooks[chapter]) for chapter in facts}
    assert leads_to == {c: {d for d in facts if c in builds_on[d]} for c in facts}


def test_every_notebook_says_how_to_run_it_and_can_be_taken_along(site):
    notebooks = sorted(path.name for path in (ROOT / "chapters").glob("*.ipynb"))
    for name in notebooks:
        page = site / "chapters" / name.replace(".ipynb", ".html")
        box = article(page).select_one("details.run-chapter")
        assert f"make lab PAGE=chapters/{name}" in words(box)
        assert "mybinder" not in str(box) and "colab" not in str(box)
        offered = (page.parent / box.select_one("a.download")["href"]).resolve()
        assert offered.read_bytes() == (ROOT / "chapters" / name).read_bytes()


def test_pages_describe_themselves(site):
    said = {}
    for page in pages(site):
        head = article(page)
        tags = {m.get("name") or m.get("property"): m.get("content") for m in head("meta")}
        assert tags["og:title"] == words(head.h1).rstrip("#"), page.name
        assert tags["og:type"] == ("website" if page.name == "intro.html" else "article")
        if page.name != "bibliography.html":
            assert tags["description"] == tags["og:description"]
            assert 30 < len(tags["description"]) <= 202, page.name
            assert not set(tags["description"]) & set("\\$"), page.name
            said[tags["description"]] = page.name
    assert len(said) == len(pages(site)) - 1


def test_what_needs_an_address_is_left_out_while_there_is_none(site):
    assert not (site / "sitemap.xml").exists() and not (site / "robots.txt").exists()
    assert "canonical" not in (site / "intro.html").read_text("utf-8")


def test_a_lost_reader_finds_contents_and_search(site):
    lost = article(site / "404.html").select("article a")
    assert {"intro.html", "search.html"} <= {link["href"] for link in lost}
    assert all((site / link["href"]).is_file() for link in lost if link["href"][0] != "#")


def test_the_page_on_execution_lists_every_notebook(site):
    tables = article(site / "chapters" / "appendix-execution.html").select("article table")
    seconds, versions = [[[words(c) for c in row("td")] for row in t("tr")[1:]] for t in tables]
    assert len(seconds) == len(list(ROOT.glob("chapters/*.ipynb"))) + 1
    known = re.compile(r"\d+\.\d|not executed in this build")
    assert all(known.fullmatch(time) for _, time in seconds)
    assert {"Python", "numpy", "sympy", "jupyter-book"} <= {name for name, _ in versions}
