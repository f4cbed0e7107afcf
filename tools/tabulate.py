"""Write the tables of exact queues that the calculator's page interpolates.

They take some minutes and change only where the package's exact queues or the grids do; the tests
compute entries drawn at random again.
"""

from __future__ import annotations

import json
from pathlib import Path

from serving import _tabulated

TARGET = Path(_tabulated.__file__).parent / "data" / _tabulated.FILE


def main() -> None:
    """Compute and write."""
    written = [f'"{name}":{json.dumps(one, separators=(",", ":"))}' for name, one in _rows()]
    TARGET.write_text("{" + ",\n".join(written) + "}\n", encoding="utf-8")


def _rows() -> list[tuple[str, object]]:
    return list(_tabulated.tables().items())


if __name__ == "__main__":
    main()
