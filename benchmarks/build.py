"""Measure the build and nbval against a floor: one kernel with a chapter's imports each.

All are timed in one run, turn by turn, and reported as ratios of medians, so that a slow machine
slows both sides. Run it with `make bench`; it needs the environment and removes `_build`.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import run  # noqa: E402

REPETITIONS = 3
NBVAL = [
    *("-m", "pytest", "--nbval", "--nbval-current-env", "intro.ipynb", "chapters", "-q"),
    *("-n", "2", "--dist", "loadfile", "-p", "no:hypothesispytest"),
]


def seconds(action: Callable[[], object]) -> float:
    """Return how long an action takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def command(*words: str) -> str:
    """Run a command in the project's folder and return what it prints; raise if it fails."""
    done = subprocess.run(words, cwd=ROOT, text=True, capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def empty_chapters(folder: Path) -> list[Path]:
    """Write each chapter cut down to its first code cell, the imports."""
    paths = []
    for path in [ROOT / "intro.ipynb", *sorted(ROOT.glob("chapters/*.ipynb"))]:
        notebook = nbformat.read(path, as_version=4)
        notebook.cells = [cell for cell in notebook.cells if cell.cell_type == "code"][:1]
        paths.append(folder / path.name)
        nbformat.write(notebook, paths[-1])
    return paths


def kernels(paths: list[Path]) -> None:
    """Execute notebooks as the runner does, without a word."""
    with contextlib.redirect_stdout(io.StringIO()):
        results = asyncio.run(run.execute_all(paths))
    if failed := [result.error for result in results if result.error]:
        sys.exit(failed[0])


def cold_book() -> None:
    """Execute and build everything, in the environment that exists."""
    shutil.rmtree(ROOT / "_build", ignore_errors=True)
    command("make", "book")


def main() -> None:
    """Print the medians, their ratios to the floor, and the slowest cells."""
    times: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        paths = empty_chapters(Path(folder))
        actions: dict[str, Callable[[], object]] = {
            "floor": lambda: kernels(paths),
            "execution and build, cold": cold_book,
            "make book, nothing changed": lambda: command("make", "book"),
            "nbval": lambda: command(sys.executable, *NBVAL),
        }
        kernels(paths)  # warms the file cache
        for _ in range(REPETITIONS):
            for name, action in actions.items():
                times.setdefault(name, []).append(seconds(action))
    median = {name: statistics.median(values) for name, values in times.items()}
    floor = median["floor"]
    print(f"{len(paths)} chapters, {os.cpu_count()} processors, medians of {REPETITIONS}")
    print(f"floor                      {floor:6.2f} s")
    for name, limit in (("execution and build, cold", 4), ("nbval", 3)):
        print(f"{name:26} {median[name]:6.2f} s = {median[name] / floor:.2f} floors, limit {limit}")
    name = "make book, nothing changed"
    print(f"{name:26} {median[name]:6.2f} s, limit 6 s")
    print("slowest cells:")
    report = command(sys.executable, "tools/run.py", "--all", "--slowest", "3")
    print("\n".join(report.splitlines()[-3:]))


if __name__ == "__main__":
    main()
