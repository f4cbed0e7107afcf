"""Measure a lab anew and store what it gave, for the pages: the machine should do nothing else.

python tools/labs.py engine                      three minutes; needs requirements-lab.txt
python tools/labs.py engine --short              half a minute, which is tried and not kept
python tools/labs.py policies                    three minutes
python tools/labs.py policies --requests 4000    narrower intervals
"""

from __future__ import annotations

import argparse
from pathlib import Path

from serving import _lab_engine_run, _lab_policies

FOLDER = Path(__file__).resolve().parent.parent / "lib" / "serving" / "data" / "labs"


def policies(options: argparse.Namespace) -> str:
    """Lab B."""
    return _lab_policies.dump(_lab_policies.measure_policies(options.requests))


def engine(options: argparse.Namespace) -> str:
    """Lab A."""
    return _lab_engine_run.measure_engine(options.short).dump()


LABS = {"engine": engine, "policies": policies}


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("lab", choices=LABS)
    parser.add_argument("--requests", type=int, default=2400, help="of each point")
    parser.add_argument("--short", action="store_true", help="of the engine: try, keep nothing")
    options = parser.parse_args()
    text = LABS[options.lab](options)
    if options.short and options.lab == "engine":
        print(f"engine: measured, {len(text) / 1000:.0f} kB")
        return
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{options.lab}.json"
    path.write_text(text, encoding="utf-8")
    print(f"{path}: {len(text) / 1000:.0f} kB")


if __name__ == "__main__":
    main()
