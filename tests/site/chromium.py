"""Chromium, found on this machine and started so that it asks nobody but the pages' own host."""

from __future__ import annotations

import os
import shutil

from playwright.sync_api import Browser, Playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
ABSENT = "no Chromium found: install Debian's package chromium, or name a program in CHROMIUM"
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    # A foreign address is reported as such, and reached from no machine.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


def find() -> str | None:
    """The program: the one that CHROMIUM names, else the first of the usual names."""
    named = os.environ.get("CHROMIUM")
    if named:
        if shutil.which(named) is None:
            raise FileNotFoundError(f"CHROMIUM names {named!r}, which is no program")
        return named
    return next(filter(None, map(shutil.which, NAMES)), None)


def launch(playwright: Playwright, program: str) -> Browser:
    """A browser without a window."""
    return playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
