"""The built pages, and a browser to look at them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

import chromium
from built import SITE, names
from server import serving


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Hand each built page to the tests that ask for a name."""
    if "name" in metafunc.fixturenames:
        metafunc.parametrize("name", names())


def pytest_runtest_setup(item: pytest.Function) -> None:
    """Skip what needs a browser where there is none; said here, it is one line of the summary."""
    if "browser" in item.fixturenames and chromium.find() is None:
        pytest.skip(chromium.ABSENT)


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the built pages."""
    assert names(), f"no pages in {SITE}: `make pages` builds them"
    return SITE


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser, for one module: as long as it runs, no other event loop can in this process."""
    with sync_playwright() as playwright:
        running = chromium.launch(playwright, chromium.find() or "")
        yield running
        running.close()


@pytest.fixture(scope="session")
def served(site: Path) -> Iterator[str]:
    """The address at which the built pages are served."""
    with serving(site) as address:
        yield address
