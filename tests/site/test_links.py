"""Links, anchors and what else can be read off a page without a browser."""

from __future__ import annotations

from pathlib import Path

import pytest

import links

PAGE = """<!doctype html>
<html lang="en"><head>
<meta http-equiv="Content-Security-Policy" content="script-src 'self'">
<link rel="canonical" href="https://example.org/page.html">
<link rel="stylesheet" href="page.css?v=1">
</head><body>
<p id="here">To <a href="#here">here</a>, <a href="other%20page.html#there">there</a>,
<a href="#top">the top</a>, <a href="https://example.org/">elsewhere</a>.</p>
<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" alt="A dot">
</body></html>
"""


def test_links_lead_somewhere(name, site):
    faults = links.check(site / name, site)
    assert not faults, "\n".join(faults)


def test_the_book_has_links_between_pages(site):
    pointers = links.read(site / "chapters" / "05-batch-size.html").pointers
    assert sum(tag == "a" and ".html#" in target for tag, target in pointers) > 10


def test_the_first_page_is_the_book(site):
    first = links.read(site / "index.html")
    assert ("a", "intro.html") in first.pointers or first.ids["main-content"]


def faults(folder: Path, page: str) -> list[str]:
    """Faults of a page that is called page.html."""
    site = folder / "site"
    site.mkdir()
    (folder / "secret.html").write_text("", encoding="utf-8")
    (site / "page.css").write_text("", encoding="utf-8")
    (site / "other page.html").write_text('<p id="there">', encoding="utf-8")
    (site / "page.html").write_text(page, encoding="utf-8")
    return links.check(site / "page.html", site)


def test_a_page_without_fault(tmp_path):
    assert faults(tmp_path, PAGE) == []


@pytest.mark.parametrize(
    ("markup", "fault"),
    [
        ('<a href="none.html">x</a>', "no such file: none.html"),
        ('<a href="">x</a><a href="#none">x</a>', "no such anchor: #none"),
        ('<a href="other%20page.html#here">x</a>', "no such anchor: other%20page.html#here"),
        ('<img src="none.svg" alt="x">', "no such file: none.svg"),
        ('<script src="none.js"></script>', "no such file: none.js"),
        ('<a href="../secret.html">x</a>', "outside the site: ../secret.html"),
        (
            '<a href="/page.html">x</a>',
            "not relative, so lost in a folder or on a disk: /page.html",
        ),
        ('<p onclick="x()">x</p>', "script in an attribute: <p onclick>"),
        ('<a href="javascript:x()">x</a>', "script in an address: javascript:x()"),
        (
            '<script src="https://example.org/x.js"></script>',
            "<script> loads from elsewhere: https://example.org/x.js",
        ),
        (
            '<link rel="preconnect" href="//example.org">',
            "<link> loads from elsewhere: //example.org",
        ),
        ('<p id="here">x</p>', "the id 'here' is there 2 times"),
        (
            '<meta http-equiv="refresh" content="0; url=none.html">',
            "no such file: none.html",
        ),
    ],
)
def test_what_is_wrong_is_found(markup, fault, tmp_path):
    assert faults(tmp_path, PAGE.replace("</body>", markup + "</body>")) == [fault]
