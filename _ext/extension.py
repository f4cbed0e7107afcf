"""What every local extension tells Sphinx of itself."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx


def described(*files: str | Path, whole: bool = False) -> dict[str, object]:
    """Describe an extension to Sphinx.

    Parameters
    ----------
    *files : str or Path
        What it consists of: a change of these makes every page anew.
    whole : bool
        Whether it looks at all pages together, so that they are read by one process.

    Returns
    -------
    dict
        What ``setup`` returns.
    """
    content = b"".join(Path(file).read_bytes() for file in files)
    return {
        "env_version": hashlib.sha256(content).hexdigest(),
        "parallel_read_safe": not whole,
        "parallel_write_safe": True,
    }


def mend_pages(app: Sphinx, mend: Callable[[str], str]) -> None:
    """Have a function change the HTML of every page's text.

    Parameters
    ----------
    app : Sphinx
        The application.
    mend : callable
        Takes the HTML as Sphinx writes it and returns what is to stand in its place.
    """

    def change(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
        """Change one page."""
        if "body" in context:
            context["body"] = mend(context["body"])

    app.connect("html-page-context", change)
