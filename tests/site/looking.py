"""A page, opened in the browser in both themes and two widths: everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, Response

AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
CHECKS = Path(__file__).with_name("checks.js").read_text(encoding="utf-8")
DESK, PHONE = 1280, 360
WIDTHS = {"light": (DESK, PHONE), "dark": (PHONE, DESK)}
"""The width at which a theme's page is opened, and the one to which it is then brought."""
HEIGHT = 800
PATIENCE = 300_000
"""Milliseconds until something is taken never to come: enough for a machine that is very busy."""
OWN = ("data:", "blob:", "about:")
ICON = "/favicon.svg"
_ECHO = "Failed to load resource"


class Diary:
    """What a tab complains of and asks for, written down while it happens."""

    def __init__(self, page: Page, origin: str) -> None:
        self.faults: list[str] = []
        self._origin = origin
        self._lost: set[str] = set()
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.faults.append(f"uncaught: {error.message}"))
        page.on("request", self._request)
        page.on("requestfailed", self._failed)
        page.on("response", self._response)

    def _own(self, url: str) -> bool:
        return url.startswith((self._origin, *OWN))

    def _console(self, message: ConsoleMessage) -> None:
        repeated = message.text.startswith(_ECHO) and message.location["url"] in self._lost
        if message.type in ("error", "warning") and not repeated:
            self.faults.append(f"console {message.type}: {message.text}")

    def _lose(self, url: str, fault: str) -> None:
        self._lost.add(url)
        self.faults.append(fault)

    def _request(self, request: Request) -> None:
        if not self._own(request.url):
            self._lose(request.url, f"foreign request: {request.url}")

    def _failed(self, request: Request) -> None:
        # A tab that goes on to another page gives up the icon that it had begun to fetch.
        left = request.url.endswith(ICON) and request.failure == "net::ERR_ABORTED"
        if self._own(request.url) and not left:
            self._lose(request.url, f"failed request: {request.url} ({request.failure})")

    def _response(self, response: Response) -> None:
        if response.status >= 400:
            self._lose(response.url, f"failed request: {response.url} ({response.status})")


@contextmanager
def tab(browser: Browser, theme: str = "light", width: int = DESK) -> Iterator[Page]:
    """A tab of a reader who prefers a theme, and no movement, and was never here before."""
    with browser.new_context(
        color_scheme=theme,
        reduced_motion="reduce",
        viewport={"width": width, "height": HEIGHT},
    ) as context:
        context.set_default_timeout(PATIENCE)
        yield context.new_page()


def opened(page: Page, url: str) -> None:
    """Open a page and wait until it stands still."""
    page.goto(url)
    page.evaluate(CHECKS)
    page.evaluate("checks.settle()")


def look(
    browser: Browser,
    url: str,
    origin: str,
    thorough: bool = False,
    themes: Collection[str] = tuple(WIDTHS),
) -> tuple[list[str], dict[str, int]]:
    """
    Look at a page in both themes and at both widths.

    Parameters
    ----------
    browser
        The browser.
    url
        The page.
    origin
        What the address of each request must begin with.
    thorough
        Whether axe-core tries all its rules in the second theme and width too, not only those
        whose outcome depends on them: for what the theme puts on every page, one page will do.
    themes
        Names of the themes.

    Returns
    -------
    faults, counts
        What is wrong, each fault once; and how many formulas, pictures and looks of text there are.
    """
    faults: list[str] = []
    for theme in themes:
        first, second = WIDTHS[theme]
        with tab(browser, theme, first) as page:
            diary = Diary(page, origin)
            opened(page, url)
            faults += page.evaluate("[...checks.maths(), ...checks.pictures()]")
            shown = page.evaluate("document.documentElement.dataset.theme") or theme
            if shown != theme:
                faults.append(f"the theme is {shown} for those who want {theme}")
            counts = page.evaluate("checks.counted()")
            found = page.evaluate("checks.wide()")
            page.evaluate(AXE)
            found += page.evaluate("(all) => checks.access(all)", thorough or theme == "light")
            faults += [f"{fault} [{theme}, {first} px]" for fault in found]
            page.set_viewport_size({"width": second, "height": HEIGHT})
            faults += [
                f"{fault} [{theme}, {second} px]" for fault in page.evaluate("checks.wide()")
            ]
            faults += diary.faults
    return list(dict.fromkeys(faults)), counts
