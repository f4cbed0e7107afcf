"""What the pages say when settings differ from the book's own, tried on a book of one chapter."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from reading_run import launchers

EXTENSIONS = Path(__file__).parents[2] / "_ext"
CONF = """
import sys
sys.path.insert(0, {extensions!r})
extensions = ["myst_parser", "reading_numbers", "reading_tables", "reading_head"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
math_numfig = False
html_title = "A book: of one chapter"
html_baseurl = {baseurl!r}
root_doc = "intro"
"""
INTRO = """# A book

It says what $\\rho_{\\text{serv}}$ is. More.

```{toctree}
chapters/03-one
```
"""
CHAPTER = """# 3. One

| a (ms) | b |
| --- | --- |
| 1 | $x_1$ |

$$
a = b
$$ (eq-a)

See [Table TABLE](#table-3-1) and [equation (EQUATION)](#equation-eq-a).
"""


def build(folder: Path, baseurl: str = "", table: str = "3.1", equation: str = "3.1") -> str:
    """Build the book in a folder, and return what Sphinx complains of."""
    source = folder / "source"
    (source / "chapters").mkdir(parents=True)
    conf = CONF.format(extensions=str(EXTENSIONS), baseurl=baseurl)
    (source / "conf.py").write_text(conf, encoding="utf-8")
    (source / "intro.md").write_text(INTRO, encoding="utf-8")
    text = CHAPTER.replace("TABLE", table).replace("EQUATION", equation)
    (source / "chapters" / "03-one.md").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-q", "-n", str(source), str(folder / "html")]
    return subprocess.run(command, capture_output=True, text=True, check=True).stderr


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """Folder and complaints of the book as it stands."""
    folder = tmp_path_factory.mktemp("plain")
    return folder / "html", build(folder)


def test_numbers_in_prose_are_those_of_the_page(plain):
    assert plain[1] == ""


def test_another_number_in_prose_is_a_warning(tmp_path):
    table, equation = build(tmp_path, table="3.2", equation="5.1").splitlines()
    assert "the text says Table 3.2, but table-3-1 has number 3.1" in table
    assert "the text says equation (5.1), but equation-eq-a has number 3.1" in equation


def test_without_an_address_nothing_names_one(plain):
    html, _ = plain
    assert not {"sitemap.xml", "robots.txt"} & {path.name for path in html.iterdir()}
    assert not re.search(r"og:url|og:image|canonical", (html / "intro.html").read_text("utf-8"))
    assert 'href="intro.html"' in (html / "404.html").read_text("utf-8")


def test_with_an_address_pages_name_theirs_and_the_lost_page_works_at_any_depth(tmp_path):
    build(tmp_path, baseurl="https://example.org/book/")
    html = tmp_path / "html"
    page = "https://example.org/book/chapters/03-one.html"
    assert f"<loc>{page}</loc>" in (html / "sitemap.xml").read_text("utf-8")
    assert "https://example.org/book/sitemap.xml" in (html / "robots.txt").read_text("utf-8")
    head = BeautifulSoup((html / "chapters" / "03-one.html").read_text("utf-8"), "html.parser")
    tags = {tag.get("property"): tag["content"] for tag in head("meta") if tag.get("property")}
    assert tags["og:url"] == page and head.find("link", rel="canonical")["href"] == page
    picture = tags["og:image"].removeprefix("https://example.org/book/")
    assert (html / picture).read_bytes().startswith(b"\x89PNG")
    lost = BeautifulSoup((html / "404.html").read_text("utf-8"), "html.parser")
    links = [tag.get("href") or tag.get("src") for tag in lost(["a", "link", "script"])]
    led = [link for link in links if link and not link.startswith("#")]
    assert "/book/intro.html" in led and "/book/search.html" in led
    assert all(link.startswith(("/book/", "https://")) for link in led)


def test_a_description_writes_symbols_in_letters(plain):
    head = BeautifulSoup((plain[0] / "intro.html").read_text("utf-8"), "html.parser")
    said = head.find("meta", attrs={"name": "description"})["content"]
    assert said == "It says what ρ_serv is. More."


def test_tables_of_the_text_are_written_in_letters_too(plain):
    [file] = (plain[0] / "_downloads" / "tables").iterdir()
    assert file.name == "03-one-1.csv"
    assert file.read_bytes().decode() == "a (ms),b\r\n1,x_1\r\n"


def addresses(address: str) -> list[str]:
    """The links that a notebook gets for a repository."""
    parts = launchers("chapters/05-x.ipynb", address, "main")
    return [part["refuri"] for part in parts if isinstance(part, nodes.reference)]


def test_binder_and_colab_open_the_notebook_in_the_repository():
    assert addresses("") == []
    assert addresses("https://github.com/us/book") == [
        "https://mybinder.org/v2/gh/us/book/main?urlpath=lab%2Ftree%2Fchapters%2F05-x.ipynb",
        "https://colab.research.google.com/github/us/book/blob/main/chapters/05-x.ipynb",
    ]
    [binder] = addresses("https://example.org/book")
    assert binder.startswith("https://mybinder.org/v2/git/https%3A%2F%2Fexample.org%2Fbook/main?")
