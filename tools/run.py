"""Execute the chapters whose inputs changed, in parallel and in place.

A chapter is executed again when its code cells changed, be it in source, tags or outputs, or its
metadata, the package, the lock file or the Python version; an appendix, which names the chapters,
also when one of them is renamed or when an objective, or what practises it, is another. The outputs
are stored without anything that differs from run to run, so that executing twice leaves the file as
it was. Any failing cell fails the run.

    python tools/run.py                          the chapters that changed
    python tools/run.py --all --slowest 3        every chapter, and the three slowest cells
    python tools/run.py chapters/05-batch-size.ipynb
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import platform
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from traitlets.config import Config

ROOT = Path(__file__).resolve().parent.parent
KEYS = ROOT / "_build" / "keys.json"
# Seconds of each chapter at its last execution here, for the page that shows them.
SECONDS = ROOT / "_build" / "execution.json"
# Still pictures in the place of widgets; one thread for each kernel.
ENVIRONMENT = {"SERVING_STILL": "1", "OMP_NUM_THREADS": "1"}
# Lines of a chapter that the map of objectives shows or follows.
OBJECTIVES = re.compile(
    r"^(?:# .*|- LO-.*|[`:]{3,}\{(?:exercise|admonition)\S*\} .*|:(?:class|label|name):.*)$", re.M
)
SECONDS_PER_CELL = 600
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


class Kernel(AsyncKernelManager):
    """A kernel of the interpreter that runs this program, whatever else the machine has."""

    @property
    def kernel_spec(self) -> KernelSpec:
        """The command that starts the kernel."""
        argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return KernelSpec(argv=argv, display_name="Python 3", language="python")


@dataclass
class Result:
    """What became of one chapter: its seconds, those of each cell, and what failed."""

    path: Path
    seconds: float = 0.0
    cells: list[tuple[float, str]] = field(default_factory=list)
    error: str = ""


def common_key() -> bytes:
    """Return the hash of what all chapters depend on."""
    digest = hashlib.sha256(platform.python_version().encode())
    digest.update(str("SERVING_DATA" in os.environ).encode())
    package = sorted((ROOT / "lib" / "serving").rglob("*"))
    for path in [*package, ROOT / "requirements.txt", Path(__file__)]:
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.digest()


def key_of(path: Path, common: bytes) -> str:
    """Return the hash of all that a chapter's outputs depend on, and of the outputs."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    appendix = path.stem.startswith("appendix")
    course = ROOT.glob("assignments/source/**/*.ipynb")
    read = [*sorted(path.parent.glob("[0-9]*.ipynb")), *sorted(course)] if appendix else []
    named = [[one.name, *objectives(one)] for one in read]
    inputs = json.dumps([code, notebook["metadata"], named], sort_keys=True)
    return hashlib.sha256(common + inputs.encode()).hexdigest()


def objectives(path: Path) -> Iterator[str]:
    """Yield what the map of objectives takes from a notebook: their lines, titles and ties."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for part in [notebook, *notebook["cells"]]:
        yield from part["metadata"].get("serving", {}).get("objectives", [])
        if part.get("cell_type") == "markdown":
            yield from OBJECTIVES.findall("".join(part["source"]))


def normalise(notebook: NotebookNode, name: str) -> None:
    """Remove what differs between runs and machines; give ids to cells that have none."""
    notebook.metadata.pop("widgets", None)
    notebook.metadata["kernelspec"] = dict(KERNEL)
    notebook.metadata["language_info"] = {"name": "python"}
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    seen: set[str] = set()
    for number, cell in enumerate(notebook.cells):
        if not cell.get("id") or cell["id"] in seen:
            cell["id"] = hashlib.sha256(f"{name} {number} {cell.source}".encode()).hexdigest()[:8]
        seen.add(cell["id"])
        for passing in ("execution", "collapsed", "scrolled"):
            cell.metadata.pop(passing, None)


def complaints(notebook: NotebookNode) -> Iterator[str]:
    """Name the outputs that must not be published."""
    for number, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            if output.output_type == "error":  # a tag lets nbclient go on after a failing cell
                yield f"cell {number} ({cell.id}) fails: {output.ename}: {output.evalue}"
            if output.output_type == "stream" and output.name == "stderr":
                yield f"cell {number} ({cell.id}) writes to stderr:\n{output.text}"
            if any("widget" in kind for kind in output.get("data", {})):
                yield f"cell {number} ({cell.id}) shows a widget that has no still picture"


async def execute(path: Path, sockets: str) -> Result:
    """Execute one chapter in its own folder and store it if anything is different."""
    result, start = Result(path), time.perf_counter()
    before = path.read_bytes()
    notebook = nbformat.reads(before.decode("utf-8"), as_version=4)
    normalise(notebook, path.stem)
    # Kernels that start at the same moment can pick the same free port: use socket files.
    connection = {
        "transport": "tcp" if os.name == "nt" else "ipc",
        "connection_file": f"{sockets}/{path.stem}.json",
    }
    name, began = "", 0.0

    def cell_starts(cell: NotebookNode, cell_index: int) -> None:
        nonlocal name, began
        first = cell.source.strip().split("\n")[0]
        name, began = f"cell {cell_index} ({cell.id}): {first}", time.perf_counter()

    def cell_ends(cell: NotebookNode, cell_index: int, execute_reply: object) -> None:
        result.cells.append((time.perf_counter() - began, f"{path.stem}, {name}"))

    client = NotebookClient(
        notebook,
        kernel_manager_class=Kernel,
        config=Config(ConnectionFileMixin=connection),
        resources={"metadata": {"path": str(path.parent)}},
        timeout=SECONDS_PER_CELL,
        record_timing=False,
        coalesce_streams=True,
        shutdown_kernel="immediate",
        on_cell_execute=cell_starts,
        on_cell_executed=cell_ends,
    )
    try:
        await client.async_execute(env=os.environ | ENVIRONMENT)
        result.error = "\n".join(complaints(notebook))
    except (CellExecutionError, RuntimeError, TimeoutError) as error:
        colourless = re.sub(r"\x1b\[[\d;]*m", "", str(error))
        result.error = f"{name}\n{type(error).__name__}: {colourless}"
    if not result.error:
        normalise(notebook, path.stem)
        after = (nbformat.writes(notebook) + "\n").encode("utf-8")
        if after != before:
            path.write_bytes(after)
    result.seconds = time.perf_counter() - start
    return result


async def execute_all(paths: list[Path]) -> list[Result]:
    """Execute the chapters, as many at a time as there are processors, and report each."""
    room = asyncio.Semaphore(os.cpu_count() or 1)

    async def one(path: Path, sockets: str) -> Result:
        async with room:
            return await execute(path, sockets)

    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="kernels-") as sockets:
        for done in asyncio.as_completed([one(path, sockets) for path in paths]):
            result = await done
            results.append(result)
            state = "FAILED" if result.error else f"{result.seconds:5.1f} s"
            print(f"[{len(results)}/{len(paths)}] {result.path.stem:32} {state}", flush=True)
    return results


def record(results: list[Result], file: Path) -> None:
    """Note the seconds of each executed chapter beside those of the others; forget failures."""
    seconds = json.loads(file.read_text()) if file.exists() else {}
    for result in results:
        seconds[result.path.stem] = round(result.seconds, 1)
        if result.error:
            del seconds[result.path.stem]
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(seconds, indent=1, sort_keys=True) + "\n")


def main() -> int:
    """Run the command line; return 1 if any chapter failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("chapters", nargs="*", type=Path, help="default: all")
    parser.add_argument("--all", action="store_true", help="execute unchanged chapters as well")
    parser.add_argument("--slowest", type=int, default=0, metavar="N", help="name N slow cells")
    options = parser.parse_args()
    paths = [
        p.resolve()
        for p in options.chapters or [ROOT / "intro.ipynb", *sorted(ROOT.glob("chapters/*.ipynb"))]
    ]
    common = common_key()
    keys = json.loads(KEYS.read_text()) if KEYS.exists() else {}
    changed = [p for p in paths if options.all or keys.get(p.stem) != key_of(p, common)]
    print(f"{len(changed)} of {len(paths)} chapters to execute", flush=True)
    results = asyncio.run(execute_all(changed))
    for result in results:
        keys[result.path.stem] = "" if result.error else key_of(result.path, common)
        if result.error:
            print(f"\n{result.path.name}, {result.error}", file=sys.stderr)
    KEYS.parent.mkdir(exist_ok=True)
    KEYS.write_text(json.dumps(keys, indent=1, sort_keys=True) + "\n")
    record(results, SECONDS)
    cells = sorted((cell for result in results for cell in result.cells), reverse=True)
    for seconds, cell in cells[: options.slowest]:
        print(f"{seconds:6.2f} s  {cell}")
    return int(any(result.error for result in results))


if __name__ == "__main__":
    sys.exit(main())
