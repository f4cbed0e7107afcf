"""The built pages, and a browser to look at them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

import chromium
from server import serving

ROOT = Path(__file__).parents[2]
SITE = Path(os.environ.get("SITE", ROOT / "_build" / "html")).resolve()
"""The pages to test. Another folder than the book's own can be named, to test what is published."""


def names() -> list[str]:
    """Every page that was built; none before `make book`."""
    pages = (path.relative_to(SITE) for path in SITE.rglob("*.html"))
    return sorted(page.as_posix() for page in pages if not page.parts[0].startswith("_"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Hand each built page to the tests that ask for a name."""
    if "name" in metafunc.fixturenames:
        metafunc.parametrize("name", names())


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the built pages."""
    assert names(), f"no pages in {SITE}: `make book` builds them"
    return SITE


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser, for one module: as long as it runs, no other event loop can in this process."""
    program = chromium.find()
    if program is None:
        pytest.skip(chromium.ABSENT)
    with sync_playwright() as playwright:
        running = chromium.launch(playwright, program)
        yield running
        running.close()


@pytest.fixture(scope="session")
def served(site: Path) -> Iterator[str]:
    """The address at which the built pages are served."""
    with serving(site) as address:
        yield address
