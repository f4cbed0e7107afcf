"""Put new numbers into the prose of a chapter whose data were recorded anew.

Each call of ``claim`` that no longer holds gets the value that it has now, and every sentence that
quotes it as well. Whether the sentences around the numbers are still true is for a reader to say.

    python tools/restate.py chapters/20b-batch-policies.ipynb
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
import nbformat

from serving import book, units


def phrases(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """Run the code of a notebook, and find each phrase that it claims as it should be now."""
    found: dict[str, str] = {}

    def claim(text: str, value: Any) -> None:
        """Note what the text should say."""
        digits = len(units.phrase(text)[0].partition(".")[2])
        new = units.restated(text, value, digits)
        if found.setdefault(text, new) != new:
            raise SystemExit(f"{text!r} is claimed of {found[text]!r} and of {new!r}: tell apart")

    # An assumption is what the chapter decides: it stays checked, by the claim that there was.
    kept = book.claim, book.given
    book.claim, book.given = claim, book.claim  # type: ignore[assignment]
    try:
        space: dict[str, Any] = {}
        for cell in notebook.cells:
            if cell.cell_type == "code":
                exec(compile(cell.source, cell.id, "exec"), space)
    finally:
        book.claim, book.given = kept
    return {old: new for old, new in found.items() if old != new}


def put(text: str, changed: Mapping[str, str]) -> str:
    """Replace phrases in a text, each where it stands as a whole, all at once."""
    if not changed:
        return text
    longest = sorted(changed, key=len, reverse=True)
    one = "|".join(re.sub(r"\\?\s+", r"\\s+", re.escape(phrase)) for phrase in longest)
    pattern = re.compile(rf"(?<![\w.,])(?:{one})(?!\w)")
    return pattern.sub(lambda found: changed[" ".join(found[0].split())], text)


def numerals(changed: Mapping[str, str]) -> dict[str, str]:
    """The same phrases by number and unit alone, for names that the prose writes as formulas."""
    pairs = {}
    for old, new in changed.items():
        start = units.NUMERAL.search(old)
        if start and start.start():
            pairs[old[start.start() :]] = new[start.start() :]
    return pairs


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("chapters", nargs="+", type=Path)
    os.environ[book.STILL] = "1"
    mpl.use("agg")
    for path in parser.parse_args().chapters:
        notebook = nbformat.read(path, as_version=4)
        changed = phrases(notebook)
        for cell in notebook.cells:
            cell.source = put(cell.source, changed)
            if cell.cell_type == "markdown":
                cell.source = put(cell.source, numerals(changed))
        path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
        for old, new in changed.items():
            print(f"{path.name}: {old} is now {new}")


if __name__ == "__main__":
    main()
