"""What a page lacks of what a reader expects around its text: terms, tables, numbers, facts."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from bs4 import BeautifulSoup, Tag

TERM = "a.glossary-term"
NO_TERM = ["h1", "h2", "h3", "h4", "figcaption", "code", "pre", "table", "math", "template"]
NUMBERED = re.compile(r"(Figure|Table) (\d+[a-z]?)\.(\d+)")


def words(tag: Tag) -> str:
    """The text of an element, spaces made one."""
    return " ".join(tag.get_text().split())


@cache
def article(page: Path) -> BeautifulSoup:
    """The text of a built page."""
    return BeautifulSoup(page.read_text("utf-8"), "html.parser")


def chapters(site: Path) -> list[Path]:
    """The pages of the numbered chapters."""
    return sorted(site.glob("chapters/[0-9][0-9]*-*.html"))


def term_faults(page: BeautifulSoup, glossary: BeautifulSoup) -> Iterator[str]:
    """Terms without an explanation, explained twice or where nobody reads on."""
    seen: set[str] = set()
    for use in page.select(TERM):
        anchor = str(use["href"]).partition("#")[2]
        entry = glossary.find(id=anchor)
        tip = page.find("template", id=str(use["data-tip-template"]))
        if anchor in seen:
            yield f"{anchor} is marked twice"
        seen.add(anchor)
        if use.find_parent(NO_TERM) or use.find_parent("a"):
            yield f"{anchor} is marked inside {use.find_parent(NO_TERM + ['a']).name}"
        if entry is None or tip is None:
            yield f"{anchor} has no definition"
        elif words(entry.find_next("dd")) not in words(tip):
            yield f"{anchor} is explained as {words(tip)!r}"


def table_faults(page: BeautifulSoup, folder: Path) -> Iterator[str]:
    """Tables without a file, and files that do not hold what the table shows."""
    tables = [table for table in page.select("article table") if not table.find_parent("template")]
    links = page.select("article a.table-csv")
    if len(tables) != len(links):
        yield f"{len(tables)} tables, {len(links)} files"
    for table, link in zip(tables, links, strict=False):
        file = folder / str(link["href"])
        if not file.is_file():
            yield f"{link['href']} is not there"
            continue
        with file.open(encoding="utf-8", newline="") as opened:
            written = [[" ".join(cell.split()) for cell in row] for row in csv.reader(opened)]
        shown = [[shown_cell(cell) for cell in row.find_all(["th", "td"])] for row in table("tr")]
        if [len(row) for row in written] != [len(row) for row in shown]:
            yield f"{file.name} has another shape"
        for row, cells in zip(written, shown, strict=False):
            differ = [a for a, b in zip(row, cells, strict=False) if b is not None and a != b]
            if differ:
                yield f"{file.name} says {differ}"


def shown_cell(cell: Tag) -> str | None:
    """The text of a cell; None where it holds maths, which the file writes its own way."""
    text = words(cell)
    return None if cell.find(["math", "span"], class_=lambda c: c != "pre") or "$" in text else text


def number_faults(page: BeautifulSoup, chapter: str) -> Iterator[str]:
    """Figures, tables and equations of a chapter that are not numbered one after the other."""
    count = {"Figure": 0, "Table": 0}
    for box in page.select("article figure.numbered"):
        match = NUMBERED.fullmatch(words(box.select_one(".caption-number")))
        if match is None or match[2] != chapter or int(match[3]) != count[match[1]] + 1:
            yield f"{words(box.find_all('figcaption')[-1])!r} comes after {count}"
            continue
        count[match[1]] += 1
        anchor = f"{match[1].lower()}-{match[2]}-{match[3]}"
        links = [link["href"] for link in box.select("figcaption > .headerlink")]
        if page.find(id=anchor) is None or len(links) != 1:
            yield f"{match[0]} has no anchor or no permalink"
        if match[1] == "Figure" and len(words(box.find_all("figcaption")[-1])) < len(match[0]) + 5:
            yield f"{match[0]} has no title"
    outside = [
        tag
        for tag in page.select(
            "article div.cell_output img, article figure.live, article table.dataframe"
        )
        if not tag.find_parent("figure", class_="numbered")
    ]
    if outside:
        yield f"{len(outside)} outputs have no number"
    equations = [words(number).rstrip("#") for number in page.select("article .eqno")]
    expected = [f"({chapter}.{n})" for n in range(1, len(equations) + 1)]
    if equations != expected:
        yield f"equations are numbered {equations}"
