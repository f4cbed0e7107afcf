"""The book as one PDF: pages joined with links that hold, and headings that become bookmarks."""

from __future__ import annotations

import sys
from collections import Counter

import pytest
from bs4 import BeautifulSoup

import chromium
import pdf

TOC = {
    "root": "intro",
    "parts": [
        {"chapters": [{"file": "chapters/badges"}]},
        {
            "caption": "Part I",
            "chapters": [{"file": "chapters/01-a", "sections": [{"file": "chapters/02-b"}]}],
        },
    ],
}
CONFIG = {"title": "A book", "author": "Us", "copyright": "2026"}
PAGES = {
    "intro": '<h1 id="t">Intro</h1><p><a href="chapters/01-a.html#t">one</a></p>',
    "chapters/badges": "<h1>Badges</h1>",
    "chapters/01-a": '<h1 id="t">1. A<a class="headerlink" href="#t">#</a></h1><h2 id="s">Why?</h2>'
    '<p id="p"><a href="#s">up</a> <a href="02-b.html">two</a> <a href="../_sources/x.ipynb">x</a> '
    '<a href="https://example.org">out</a></p><template><p>tip</p></template>'
    '<details class="run-chapter"><p>run</p></details><details><p>hint</p></details>'
    '<img src="../_images/f.svg" alt="f">',
    "chapters/02-b": '<h1 id="t">2. B</h1>',
}


@pytest.fixture
def html(tmp_path):
    """Four built pages."""
    folder = tmp_path / "html"
    (folder / "chapters").mkdir(parents=True)
    for name, body in PAGES.items():
        text = f"<html><head></head><body><article>{body}</article></body></html>"
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def joined(html):
    """The pages, joined."""
    return BeautifulSoup(pdf.join(html, CONFIG, TOC), "html.parser")


def test_pages_stand_in_the_order_of_the_contents_under_their_parts(joined):
    headings = [(tag.name, tag.get_text()) for tag in joined(["h1", "h2", "h3"])]
    assert headings == [
        ("h1", "Intro"),
        ("h1", "Badges"),
        ("h1", "Part I"),
        ("h2", "1. A"),
        ("h3", "Why?"),
        ("h2", "2. B"),
    ]


def test_every_link_leads_into_the_file_or_out_of_the_book(joined):
    ids = Counter(tag["id"] for tag in joined.find_all(id=True))
    assert max(ids.values()) == 1
    links = [link["href"] for link in joined("a") if link.get("href")]
    assert {"#01-a--t", "#01-a--s", "#02-b", "https://example.org"} <= set(links)
    assert all(link[1:] in ids for link in links if link.startswith("#"))
    assert [link.get_text() for link in joined("a") if not link.get("href")] == ["x"]


def test_what_means_nothing_on_paper_goes_and_what_is_folded_opens(joined):
    text = joined.get_text()
    assert "tip" not in text and "run" not in text and "#" not in text
    assert all("open" in details.attrs for details in joined("details"))
    assert "hint" in text


def test_a_picture_is_found_from_the_joined_file(joined, html):
    assert joined.img["src"] == (html / "_images" / "f.svg").as_uri()


def test_without_a_browser_one_is_told_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    with pytest.raises(SystemExit, match="apt-get install chromium"):
        pdf.browser()
    monkeypatch.setenv("CHROMIUM", "/nowhere/chromium")
    with pytest.raises(SystemExit, match="'/nowhere/chromium', which is no program"):
        pdf.browser()


def test_headings_become_bookmarks(html, tmp_path, monkeypatch):
    if chromium.find() is None:
        pytest.skip(chromium.ABSENT)
    for name, content in (("_config.yml", CONFIG), ("_toc.yml", TOC)):
        (tmp_path / name).write_text(repr(content), encoding="utf-8")
    monkeypatch.setattr(pdf, "ROOT", tmp_path)
    out = tmp_path / "book.pdf"
    monkeypatch.setattr(sys, "argv", ["pdf.py", "--html", str(html), "--out", str(out)])
    assert pdf.main() == 0
    printed = out.read_bytes()
    assert printed.startswith(b"%PDF-") and b"/StructTreeRoot" in printed
    for heading in (b"Part I", b"1. A", b"Why?", b"2. B"):
        assert b"/Title (" + heading + b")" in printed, heading
