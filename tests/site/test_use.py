"""What a reader does with the book: searches, changes the theme, goes without a mouse."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from looking import PHONE, Diary, opened, tab

CHAPTER = "chapters/05-batch-size.html"
SEARCHES = {
    "P99": "08-tail.html",
    "p99 latency": "takeaways.html",
    "ρ_serv": "appendix-notation.html",
    "rho_serv": "appendix-notation.html",
    "λ_arr": "appendix-notation.html",
    "KV": "11-cache-size.html",
    "429": "appendix-ledger.html",
    "batch": "05-batch-size.html",
}
"""Words, and a page that must be among those found."""
FOUND = (
    "() => { const said = document.querySelector('#search-results .search-summary');"
    " return said && /found|not match/i.test(said.textContent); }"
)
FOCUS = "document.activeElement"


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A tab on a desk."""
    with tab(browser) as page:
        yield page


def results(page: Page) -> list[str]:
    """Pages that a search finds, by their addresses."""
    page.wait_for_function(FOUND)
    links = page.locator("#search-results li a[href]")
    return [link.get_attribute("href") or "" for link in links.all()]


def on_disk_or_served(where: str, site: Path, served: str) -> str:
    """The address of the book, as a folder or from a server."""
    return served if where == "served" else f"{site.as_uri()}/"


@pytest.mark.parametrize("where", ["served", "disk"])
def test_search_finds_terms_numbers_and_symbols(where, page, site, served):
    start = on_disk_or_served(where, site, served)
    for words, wanted in SEARCHES.items():
        page.goto(f"{start}search.html")
        field = page.locator("form.bd-search input[name=q]:visible")
        field.fill(words)
        field.press("Enter")
        found = results(page)
        assert any(wanted in link for link in found), (words, found)


def test_search_finds_nothing_where_nothing_is(page, served):
    page.goto(f"{served}search.html?q=zyzzyva")
    assert results(page) == []


def test_search_opens_by_keys_on_any_page(page, served):
    opened(page, served + CHAPTER)
    page.keyboard.press("Control+k")
    page.keyboard.type("P99")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=P99**")
    assert results(page)


@pytest.mark.parametrize("where", ["served", "disk"])
def test_the_theme_is_switched_and_stays(where, page, site, served):
    start = on_disk_or_served(where, site, served)
    theme = "document.documentElement.dataset.theme"
    ground = "getComputedStyle(document.body).backgroundColor"
    opened(page, start + CHAPTER)
    assert page.evaluate(theme) == "light"
    bright = page.evaluate(ground)
    button = page.locator(".theme-switch-button:visible").first
    for _ in range(3):
        button.click()
        if page.evaluate(theme) == "dark":
            break
    assert page.evaluate(theme) == "dark"
    page.wait_for_function(f"(bright) => {ground} !== bright", arg=bright)
    opened(page, start + "chapters/04-waiting.html")
    assert page.evaluate(theme) == "dark"


def test_the_first_tab_skips_to_the_text(page, served):
    opened(page, served + CHAPTER)
    page.keyboard.press("Tab")
    assert page.evaluate(f"{FOCUS}.textContent").strip() == "Skip to main content"
    box = page.locator(":focus").bounding_box()
    assert box and box["y"] >= 0 and box["width"] > 20
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate(f"Boolean({FOCUS}.closest('main'))")


def test_what_has_the_focus_is_seen(page, served):
    opened(page, served + CHAPTER)
    look = (
        "() => { const { outlineStyle, outlineWidth, boxShadow, textDecoration, backgroundColor,"
        " borderColor } = getComputedStyle(document.activeElement);"
        " return [outlineStyle, outlineWidth, boxShadow, textDecoration, backgroundColor,"
        " borderColor].join(); }"
    )
    bare = "() => { globalThis.seen = document.activeElement; seen.blur(); }"
    page.add_style_tag(content="* { transition: none !important; }")  # no look between two looks
    unseen = []
    for _ in range(60):
        page.keyboard.press("Tab")
        focused = page.evaluate(look)
        name = page.evaluate(f"{FOCUS}.outerHTML.slice(0, 80)")
        page.evaluate(bare)
        plain = page.evaluate(look.replace("document.activeElement", "seen"))
        page.evaluate("seen.focus()")
        if focused == plain:
            unseen.append(name)
    assert not unseen


def test_folded_boxes_open_by_keyboard(page, served):
    opened(page, served + CHAPTER)
    page.evaluate("for (const box of document.querySelectorAll('details')) box.open = false")
    summaries = page.locator("article details > summary")
    assert summaries.count() >= 5
    for key, summary in zip(("Enter", "Space"), summaries.all(), strict=False):
        box = summary.locator("xpath=..")
        summary.focus()
        page.keyboard.press(key)
        assert box.evaluate("(box) => box.open")
        page.keyboard.press(key)
        assert not box.evaluate("(box) => box.open")


def test_the_contents_open_on_a_telephone(browser, served):
    with tab(browser, width=PHONE) as page:
        diary = Diary(page, served)
        opened(page, served + CHAPTER)
        link = page.locator(".bd-sidebar-primary:visible, dialog[open]").get_by_role(
            "link", name="4. Why does waiting explode?"
        )
        assert not link.is_visible()
        page.locator("button.primary-toggle:visible").first.press("Enter")
        link.first.click()
        page.wait_for_url("**/04-waiting.html")
        assert not diary.faults


def test_headings_figures_tables_and_equations_have_permanent_links(page, served):
    opened(page, served + CHAPTER)
    for kind in ("h2", "figure, .cell_output [id^=fig]", ".math"):
        assert page.locator(f"article :is({kind}) a.headerlink").count(), kind


def test_the_first_address_leads_to_the_book(page, served):
    diary = Diary(page, served)
    page.goto(f"{served}index.html")
    page.wait_for_function("() => document.querySelector('#main-content h1')")
    assert not diary.faults
