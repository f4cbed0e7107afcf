"""Terms explain themselves to the pointer, to the keyboard and to a finger."""

from __future__ import annotations

import pytest

PAGE = "chapters/05-batch-size.html"
TIP = "#tip"
TERM = "article a.glossary-term"


@pytest.fixture
def opened(browser, site):
    """A page from the disk, in a browser with pointer and keyboard."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto((site / PAGE).as_uri())
    yield page
    page.close()


def shown(page) -> bool:
    return page.locator(TIP).is_visible()


def definition(page, term) -> str:
    """What the template of a term says."""
    return term.evaluate(
        "a => document.getElementById(a.dataset.tipTemplate).content.textContent.trim()"
    )


def test_a_tip_opens_to_the_pointer_can_be_pointed_at_and_leaves_with_it(opened):
    term = opened.locator(TERM).first
    term.hover()
    opened.wait_for_selector(TIP)
    assert opened.locator(TIP).inner_text().startswith("server: ")
    assert opened.locator(TIP).text_content().strip() == definition(opened, term)
    assert term.get_attribute("aria-describedby") == "tip"
    opened.locator(TIP).hover()
    opened.wait_for_timeout(500)  # longer than a tip stays when it is left
    assert shown(opened)
    opened.mouse.move(2, 2)
    opened.wait_for_selector(TIP, state="hidden")
    assert term.get_attribute("aria-describedby") is None


def test_escape_closes_a_tip_of_the_pointer_and_of_the_keyboard(opened):
    term = opened.locator(TERM).first
    term.hover()
    opened.wait_for_selector(TIP)
    opened.keyboard.press("Escape")
    assert not shown(opened)
    opened.mouse.move(2, 2)
    term.focus()
    assert shown(opened)
    opened.keyboard.press("Escape")
    assert not shown(opened)
    assert opened.evaluate("document.activeElement.className") == "glossary-term"


def test_the_keyboard_goes_from_term_to_term(opened):
    first = opened.locator(TERM).first
    first.focus()
    opened.keyboard.press("Tab")
    second = opened.locator(TERM).nth(1)
    assert opened.locator(TIP).text_content().strip() == definition(opened, second)
    assert first.get_attribute("aria-describedby") is None
    opened.evaluate("document.activeElement.blur()")
    assert not shown(opened)


def test_an_element_lists_the_tips_inside_it_each_once(opened):
    opened.evaluate(
        """() => document.querySelector("article p").insertAdjacentHTML("afterbegin",
        '<span tabindex="0" data-tip-list id="all"><i data-tip="alpha">a</i> = ' +
        '<i data-tip="beta">b</i> + <i data-tip="alpha">a</i></span>')"""
    )
    opened.locator("#all").focus()
    assert opened.locator(TIP).locator("p").all_inner_texts() == ["alpha", "beta"]
    opened.locator("#all i").nth(1).hover()
    opened.wait_for_function("() => document.getElementById('tip').textContent === 'beta'")


def test_a_finger_opens_a_tip_first_and_follows_the_link_then(browser, site):
    context = browser.new_context(viewport={"width": 360, "height": 700}, has_touch=True)
    page = context.new_page()
    page.goto((site / PAGE).as_uri())
    page.locator(TERM).first.tap()
    assert shown(page)
    box = page.locator(TIP).bounding_box()
    assert 0 <= box["x"] and box["x"] + box["width"] <= 360
    page.locator("article h1").tap()
    assert not shown(page)
    page.locator(TERM).nth(1).tap()
    assert shown(page) and page.url.endswith(PAGE)
    page.locator(TERM).nth(1).tap()
    page.wait_for_url("**/appendix-glossary.html#term-batch")
    context.close()
