"""The whole book as one PDF, printed by Chromium from the built pages.

The pages are joined in the order of the table of contents, behind a title page and a list of
chapters; live charts show their still pictures, and hints and solutions are open. Headings become
the PDF's bookmarks.

    python tools/pdf.py                     _build/inference-foundations.pdf from _build/html
    python tools/pdf.py --html DIR --out FILE
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import yaml
from bs4 import BeautifulSoup, Tag

ROOT = Path(__file__).resolve().parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# Parts of a page that mean nothing on paper, and cells whose code is folded away.
UNPRINTED = (
    ".headerlink, template, button, script, .table-csv, .run-chapter, details.hide, figure.live"
)
STYLE = Path(__file__).with_suffix(".css")


class Page(NamedTuple):
    """A page of the book: its name, and the caption of the part that it opens."""

    name: str
    part: str


def contents(toc: dict) -> Iterator[Page]:
    """Yield the pages in order."""
    yield Page(toc["root"], "")
    for part in toc["parts"]:
        caption = part.get("caption", "")
        for chapter in part["chapters"]:
            for one in (chapter, *chapter.get("sections", ())):
                yield Page(one["file"], caption)
                caption = ""


def prefix(name: str) -> str:
    """Return the beginning of all ids of a page in the joined file."""
    return Path(name).name


def target(href: str, page: str, names: set[str]) -> str | None:
    """Return where a link of a page leads in the joined file; None if nowhere."""
    if "://" in href or href.startswith("mailto:"):
        return href
    path, _, anchor = href.partition("#")
    file = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else f"{page}.html"
    name = file.removesuffix(".html")
    if name not in names:
        return None
    return f"#{prefix(name)}--{anchor}" if anchor else f"#{prefix(name)}"


def article(html: Path, page: str, names: set[str], depth: int) -> Tag:
    """Return the text of a built page, its ids, links and headings fitted to the joined file."""
    text = BeautifulSoup((html / f"{page}.html").read_text("utf-8"), "html.parser")
    found = text.find("article")
    if not isinstance(found, Tag):
        raise ValueError(f"{page}.html has no article")
    for unprinted in found.select(UNPRINTED):
        unprinted.decompose()
    for tag in found.find_all(True):
        if "id" in tag.attrs and not tag.find_parent("svg"):  # there, ids name glyphs and clips
            tag["id"] = f"{prefix(page)}--{tag['id']}"
        if tag.name in ("h1", "h2", "h3", "h4", "h5"):
            tag.name = f"h{int(tag.name[1]) + depth}"
        elif tag.name == "a" and "href" in tag.attrs:
            leads = target(tag["href"], page, names)
            tag.attrs = {"href": leads} if leads else {}
        elif tag.name == "img":
            tag["src"] = (html / page).parent.joinpath(tag["src"]).resolve().as_uri()
        elif tag.name == "details":
            tag["open"] = ""
        for name in ("aria-labelledby", "aria-describedby", "data-tip-template", "tabindex"):
            tag.attrs.pop(name, None)
    found["id"] = prefix(page)
    return found


def join(html: Path, config: dict, toc: dict) -> str:
    """Join the built pages into one, behind a title page and a list of the chapters."""
    pages = list(contents(toc))
    names = {page.name for page in pages}
    body, listed, inside = [], [], False
    for page in pages:
        inside = inside or bool(page.part)
        if page.part:
            body.append(f'<h1 class="part-title">{page.part}</h1>')
            listed.append(f'<p class="part">{page.part}</p>')
        text = article(html, page.name, names, depth=int(inside))
        heading = text.find(["h1", "h2"]).get_text()
        listed.append(f'<p><a href="#{prefix(page.name)}">{heading}</a></p>')
        body.append(str(text))
    first = BeautifulSoup((html / f"{toc['root']}.html").read_text("utf-8"), "html.parser")
    sheets = [html / link["href"].partition("?")[0] for link in first.select("[rel=stylesheet]")]
    styles = [f'<link rel="stylesheet" href="{path.resolve().as_uri()}">' for path in sheets]
    owner = f"{config['copyright']} {config['author']}"
    return f"""<!doctype html>
<html lang="en" data-theme="light" data-mode="light">
<head><meta charset="utf-8"><title>{config["title"]}</title>
{"".join(styles)}<style>{STYLE.read_text("utf-8")}</style></head>
<body><div class="title-page"><p class="title">{config["title"]}</p><p>{config["author"]}</p>
<p>© {owner}. Text and figures: CC BY 4.0. Code: BSD-3-Clause.</p></div>
<nav class="book-contents"><p class="title">Contents</p>{"".join(listed)}</nav>
{"".join(body)}</body></html>"""


def browser() -> str:
    """Return the program that prints: the one that CHROMIUM names, or the first that is found."""
    named = os.environ.get("CHROMIUM")
    found = next(filter(None, map(shutil.which, [named] if named else BROWSERS)), None)
    if found is None:
        absent = f"CHROMIUM names {named!r}, which is no program" if named else "No Chromium found"
        raise SystemExit(
            f"{absent}: install it (Debian: apt-get install chromium), "
            "or name one: make pdf CHROMIUM=/path/to/chromium"
        )
    return found


def print_pdf(program: str, joined: Path, out: Path) -> None:
    """Print a page as PDF, with bookmarks and tags."""
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        raise SystemExit("Playwright is missing: make environment") from None
    arguments = ["--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"]
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=arguments)
        page = running.new_page()
        page.set_default_timeout(0)  # hundreds of pages take minutes on a small machine
        page.goto(joined.resolve().as_uri())
        page.pdf(path=out, outline=True, tagged=True, prefer_css_page_size=True)
        running.close()


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--html", type=Path, default=ROOT / "_build" / "html")
    parser.add_argument("--out", type=Path, default=ROOT / "_build" / "inference-foundations.pdf")
    options = parser.parse_args()
    program = browser()
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    joined = options.out.with_suffix(".html")
    joined.write_text(join(options.html, config, toc), encoding="utf-8")
    print_pdf(program, joined, options.out)
    joined.unlink()
    print(f"The book is printed:\n  {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
