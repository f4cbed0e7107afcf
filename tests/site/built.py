"""Where the built pages are, and which there are."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
SITE = Path(os.environ.get("BUILT_SITE", ROOT / "_build" / "html")).resolve()
"""The pages to test. Another folder than the book's own can be named, to test what is published."""


def names() -> list[str]:
    """Every page that was built; none before `make book`."""
    pages = (path.relative_to(SITE) for path in SITE.rglob("*.html"))
    return sorted(page.as_posix() for page in pages if not page.parts[0].startswith("_"))
