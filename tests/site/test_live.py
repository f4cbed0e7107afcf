"""Live charts: the page says what `serving` says, and obeys hand, keyboard and address."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, Route

from built import SITE, names
from looking import Diary, opened, tab
from terms import heard, points, said

CHART = re.compile(r'<figure class="live" id="([^"]+)" data-live="([^"]*)"')
WRITTEN = (  # polled from here: a policy without unsafe-eval lets no page wait for a string
    "async (key) => { const { live } = document.getElementById(key);"
    " while (live.remembering) await new Promise((done) => requestAnimationFrame(done)); }"
)
FRAME = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
WITHOUT_AXIS = ("bars", "gantt")
"""Kinds of charts whose horizontal axis is no parameter: pressing on them changes nothing."""
ACCURACY = 1e-12
DRAWS = 200


def charts() -> list[tuple[str, str, dict[str, Any]]]:
    """Page, id and description of each live chart of the book."""
    return [
        (name, found[1], json.loads(unescape(found[2])))
        for name in names()
        for found in CHART.finditer((SITE / name).read_text(encoding="utf-8"))
    ]


CHARTS = charts()
each_chart = pytest.mark.parametrize(
    ("name_of_page", "key", "spec"), CHARTS, ids=[f"{name}-{key}" for name, key, _ in CHARTS]
)


def test_the_book_has_live_charts(site):
    assert CHARTS


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A tab of a reader with a mouse and a keyboard."""
    with tab(browser) as page:
        yield page


def differences(expected: list[Any], shown: list[Any]) -> list[str]:
    """Where the page and `serving` disagree."""
    return [
        f"{number}: {ours} here, {theirs} in the page"
        for number, (ours, theirs) in enumerate(zip(expected, shown, strict=True))
        if not (
            ours == theirs
            if isinstance(ours, str) or isinstance(theirs, str)
            else abs(ours - theirs) <= ACCURACY * abs(ours)
        )
    ]


def disagreements(page: Page, key: str, spec: dict[str, Any]) -> list[str]:
    """Where the page's chart and `serving` disagree, over many settings."""
    settings = list(points(spec, DRAWS, key))
    found = page.evaluate(
        f"(all) => all.map((one) => document.getElementById({key!r}).live.evaluate(one))", settings
    )
    terms = {one["label"]: one["term"] for one in spec["curves"]}
    if "equation" in spec:
        terms["equation"] = spec["equation"]["term"]
    faults = []
    for label, term in terms.items():
        expected = [said(term, point) for point in settings]
        assert sum(isinstance(one, float) for one in expected) >= DRAWS // 10, label
        shown = [heard(one[label]) for one in found]
        faults += [f"{label} {one}" for one in differences(expected, shown)]
    return faults


@each_chart
def test_values_are_those_of_serving(name_of_page, key, spec, page, served):
    page.goto(served + name_of_page)
    faults = disagreements(page, key, spec)
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    "fault",
    [
        "const { value } = live; live.value = (...all) => value(...all) * (1 + 1e-11)",
        "for (const one of Object.values(live.formulas)) one.domain = []",
        "for (const one of Object.values(live.formulas)) for (const c of one.domain) c[1] = !c[1]",
    ],
)
def test_a_page_that_says_something_else_is_found(fault, page, served):
    name, key, spec = CHARTS[0]
    page.goto(served + name)
    page.evaluate(f"() => {{ {fault} }}")
    assert disagreements(page, key, spec)


def test_a_value_that_differs_a_little_is_found():
    assert differences([1.0, "unstable", 2.0], [1 + 1e-13, "unstable", 2.0]) == []
    assert len(differences([1.0, "unstable", 2.0], [1 + 1e-11, 3.0, "undefined"])) == 3


def test_settings_inside_and_outside_of_capacity_are_drawn(site):
    kinds = {
        said(curve["term"], point)
        for _, key, spec in CHARTS
        for point in points(spec, DRAWS, key)
        for curve in spec["curves"]
    }
    assert {"unstable", "undefined"} <= {one for one in kinds if isinstance(one, str)}


class Hand:
    """What a reader does with one chart."""

    def __init__(self, page: Page, key: str, spec: dict[str, Any]) -> None:
        self.page, self.spec = page, spec
        self.figure: Locator = page.locator(f"#{key}")
        self.svg = self.figure.locator("svg.live-picture")
        self.legend = self.figure.locator(".live-legend")

    def field(self, name: str) -> Locator:
        """The field of a parameter."""
        return self.figure.locator(f'input[data-parameter="{name}"]')

    def row(self, name: str) -> Locator:
        """All that belongs to a parameter."""
        return self.field(name).locator("xpath=..")

    def point(self) -> dict[str, float]:
        """Settings of the chart."""
        return self.figure.evaluate("(figure) => figure.live.point")

    def picture(self) -> tuple[str, str]:
        """What is seen: the drawing and the values."""
        self.page.evaluate(FRAME)
        return self.svg.inner_html(), self.legend.inner_text()

    def values(self) -> list[float | str]:
        """Numbers of the legend in SI units, or words."""
        self.page.evaluate(FRAME)
        above, below = self.spec["y"]["scale"]
        texts = self.legend.locator("output").all_inner_texts()
        return [_number(text, above / below) for text in texts[: len(self.spec["curves"])]]


def _number(text: str, scale: float) -> float | str:
    words = text.replace(",", "").replace("−", "-").replace(" × 10^", "e")
    found = re.match(r"-?\d[\d.]*(e-?\d+)?", words)
    return float(found[0]) * scale if found else words


def other(one: dict[str, Any]) -> str:
    """A setting of a parameter near its default, as it is typed."""
    above, below = one["scale"]
    step = max(1, round(0.05 * one["value"])) if one["whole"] else 0.05 * (one["high"] - one["low"])
    down = one["value"] - step
    near = down if down >= one["low"] else one["value"] + step
    return str(near) if one["whole"] else f"{near * below / above:.3g}"


def guess(hand: Hand) -> None:
    """Guess, where the chart asks for it, and see the curves."""
    if "guess" not in hand.spec:
        return
    button = hand.figure.locator(".live-ask button")
    assert not hand.legend.is_visible()
    button.click()
    assert "Guess first" in hand.figure.locator(".live-ask [role=alert]").inner_text()
    hand.figure.locator(".live-ask input").fill("100")
    button.click()
    assert hand.legend.is_visible()
    hand.picture()
    assert hand.svg.locator(".live-guessed").count() == 1
    assert re.search(r"too (high|low)|right", hand.figure.locator(".live-answer").inner_text())


def check_values(hand: Hand) -> None:
    """The legend says what `serving` says, to four digits."""
    point = hand.point()
    for curve, shown in zip(hand.spec["curves"], hand.values(), strict=True):
        expected = said(curve["term"], point)
        if isinstance(expected, float):
            assert shown == pytest.approx(expected, rel=6e-4), curve["label"]
        else:
            assert re.match("unstable|not defined|too large|outside", str(shown)), curve["label"]


def check_field_and_slider(hand: Hand, one: dict[str, Any]) -> None:
    """Typing and sliding move the picture."""
    name, field, before = one["name"], hand.field(one["name"]), hand.picture()
    field.fill(other(one))
    assert hand.picture() != before, name
    typed = hand.point()[name]
    assert typed * one["scale"][1] / one["scale"][0] == pytest.approx(float(other(one)), rel=1e-12)
    check_values(hand)
    slider, before = hand.row(name).locator("input[type=range]"), hand.picture()
    slider.focus()
    hand.page.keyboard.press("ArrowRight" if typed < one["high"] else "ArrowLeft")
    assert hand.point()[name] != typed, name
    assert hand.picture() != before, name
    assert float(field.input_value()) != float(other(one))
    check_values(hand)


def check_bad_input(hand: Hand, one: dict[str, Any]) -> None:
    """Bad input is answered beside the field, and the last good picture stays."""
    field, fault = hand.field(one["name"]), hand.row(one["name"]).locator("[role=alert]")
    good, before, point = field.input_value(), hand.picture(), hand.point()
    above, below = one["scale"]
    beyond = f"{one['high'] * below / above * 1.5 + 1:.6g}"
    for bad in ("", "many", "-1e9", beyond, "1e400", "1;2", *(["2.5"] if one["whole"] else [])):
        field.fill(bad)
        assert "Allowed is" in fault.inner_text(), bad
        assert field.get_attribute("aria-invalid") == "true", bad
        assert fault.get_attribute("id") in (field.get_attribute("aria-describedby") or "").split()
        assert (hand.picture(), hand.point()) == (before, point), bad
    field.fill(good)
    hand.page.evaluate(FRAME)
    assert not fault.inner_text()
    assert field.get_attribute("aria-invalid") is None


def check_keyboard(hand: Hand) -> None:
    """Tab goes through all fields, in order; arrow keys move numbers in the sentence."""
    parameters = [one["name"] for one in hand.spec["parameters"]]
    hand.field(parameters[0]).focus()
    reached = [parameters[0]]
    for _ in range(2 * len(parameters)):
        hand.page.keyboard.press("Tab")
        found = hand.page.evaluate("document.activeElement.dataset.parameter")
        reached += [found] if found else []
    assert reached == parameters
    for number in hand.figure.locator(".live-drag").all():
        before = hand.point()
        number.focus()
        hand.page.keyboard.press("ArrowLeft")
        hand.page.keyboard.press("ArrowLeft")
        hand.page.keyboard.press("ArrowRight")
        assert hand.point() != before, number.inner_text()


def check_pointer(hand: Hand) -> None:
    """Pressing on the picture moves the parameter of the horizontal axis there, if it has one."""
    before = hand.point()
    name = hand.spec["x"]
    hand.svg.scroll_into_view_if_needed()
    box = hand.svg.bounding_box()
    assert box
    seen = []
    hand.page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + box["height"] / 2)
    hand.page.mouse.down()
    for share in (0.4, 0.8):
        hand.page.mouse.move(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
        seen.append(hand.point()[name])
    hand.page.mouse.up()
    if hand.spec["kind"] in WITHOUT_AXIS:
        assert hand.point() == before
    else:
        assert seen[0] < seen[1]


@each_chart
def test_a_chart_obeys(name_of_page, key, spec, page, served):
    diary = Diary(page, served)
    opened(page, served + name_of_page)
    hand = Hand(page, key, spec)
    guess(hand)
    text, start = hand.picture(), hand.point()
    check_values(hand)
    for one in spec["parameters"]:
        check_field_and_slider(hand, one)
        check_bad_input(hand, one)
    check_keyboard(hand)
    check_pointer(hand)

    page.evaluate(WRITTEN, key)
    point, address = hand.point(), page.url
    assert address.startswith(f"{served}{name_of_page}?")
    page.goto("about:blank")
    opened(page, address)
    assert hand.point() == point
    assert hand.figure.locator(".live-ask").count() == 0  # what was sent is shown at once
    check_values(hand)

    hand.figure.locator(".live-reset").click()
    assert hand.point() == start
    assert hand.picture()[1] == text[1]
    page.evaluate(WRITTEN, key)
    assert page.url == served + name_of_page
    assert not diary.faults


@each_chart
def test_a_chart_has_a_still_where_no_script_runs(name_of_page, key, spec, browser, served):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(served + name_of_page)
        still = page.locator(f"#{key} + .live-still")
        assert still.is_visible()
        assert still.locator("svg[role=img]").first.get_attribute("aria-label")


@each_chart
def test_a_chart_is_printed_as_a_still(name_of_page, key, spec, page, served):
    opened(page, served + name_of_page)
    live, still = page.locator(f"#{key}"), page.locator(f"#{key} + .live-still")
    assert live.is_visible()
    assert not still.is_visible()
    page.emulate_media(media="print")
    assert not live.locator("svg.live-picture").is_visible()
    assert not live.locator(".live-controls").is_visible()
    assert still.is_visible()


def test_a_chart_of_another_layout_keeps_its_still(page, served):
    name, key, spec = CHARTS[0]
    layout = f"&quot;layout&quot;:{spec['layout']},"

    def aged(route: Route) -> None:
        answer = route.fetch()
        assert layout in answer.text()
        route.fulfill(response=answer, body=answer.text().replace(layout, ""))

    page.route(f"**/{name}", aged)
    diary = Diary(page, served)
    opened(page, served + name)
    figure = page.locator(f"#{key}")
    assert page.locator(f"#{key} + .live-still").is_visible()
    assert figure.locator("svg.live-picture").count() == 0
    assert "another version" in figure.locator(".live-note").inner_text()
    assert not diary.faults
