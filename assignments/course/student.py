"""Calls a submission's functions from outside: whatever they do, an answer or a sentence comes."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import wire

WORKER = Path(__file__).with_name("worker.py")
ASSIGNMENTS = Path(__file__).resolve().parent.parent
LIBRARY = ASSIGNMENTS.parent / "lib"
SECONDS = 4.0
"""Computing time of a call, and of a cell: a busy machine takes nothing from it [s]."""
PATIENT = 5
"""So many times as long by the clock, and the process is ended: it may sleep, or not listen."""
START = 20.0
"""Python and NumPy are loaded in less, even on a busy machine [s]."""
MEMORY = 4 << 30
LONGEST = 8 << 20
"""Largest answer that is read [bytes]."""
PATIENCE = 2
"""A submission that hangs or dies so often in one task is asked nothing more in it."""
BUDGET = 60.0
"""All calls of a task together may take so long [s]."""


class Wrong(Exception):
    """What went wrong with a property, in one line: no expected number, no drawn parameter."""


@dataclass(frozen=True)
class Reply:
    """What a call gave: a value, or the names of the error's classes."""

    value: Any = None
    error: str | None = None
    kinds: tuple[str, ...] = ()


class Student:
    """One submission under one rule about imports, in a process of its own.

    Parameters
    ----------
    cells : iterable of str
        The code of the notebook, a text a cell.
    serving : bool
        Whether the package may be imported.
    closed : iterable of path
        More folders that its code may not read.
    seconds : float
        Computing time for a call and for a cell [s].
    """

    def __init__(
        self,
        cells: Iterable[str],
        serving: bool,
        closed: Iterable[str | Path] = (),
        seconds: float = SECONDS,
    ) -> None:
        self.cells, self.serving, self.seconds = list(cells), serving, seconds
        self.closed = [str(ASSIGNMENTS), *map(str, closed)]
        self.lost, self.dropped, self.spent = 0, 0, 0.0
        self._process: subprocess.Popen[bytes] | None = None
        self._home: tempfile.TemporaryDirectory[str] | None = None
        self._buffer = b""

    def __enter__(self) -> Student:
        """Nothing runs before the first call."""
        return self

    def __exit__(self, *_: object) -> None:
        """End its process."""
        self._end()

    def call(self, name: str, *args: Any, **keywords: Any) -> Reply:
        """Call one of its functions.

        Parameters
        ----------
        name : str
            The function.
        *args, **keywords : object
            What JSON knows; ``{"symbol": name}`` becomes a positive SymPy symbol and
            ``{"array": list}`` a NumPy array.

        Returns
        -------
        Reply
            Its value, or its error.
        """
        if self.lost >= PATIENCE or self.spent > BUDGET:
            return Reply(error="Skipped")
        began = time.monotonic()
        try:
            return self._reply(name, args, keywords)
        finally:
            self.spent += time.monotonic() - began

    def _reply(self, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Reply:
        request = {"name": name, "args": args, "keywords": keywords, "seconds": self.seconds}
        try:
            if self._process is None:
                self._start()  # a RuntimeError here is the course's fault, and passes
            raw = self._ask(request, PATIENT * self.seconds)
        except (OSError, ValueError) as error:
            self._end()
            self.lost += 1
            return Reply(error="TooLong" if isinstance(error, TimeoutError) else "Died")
        if raw.get("error"):
            if raw["error"] == "TooLong":
                self.lost += 1
            return Reply(error=str(raw["error"])[:60], kinds=tuple(map(str, raw.get("kinds", ()))))
        try:
            return Reply(value=wire.unpack(raw.get("value")))
        except Exception:  # what a process of submitted code sends may have any shape
            return Reply(value=wire.Unknown("answer"))

    def value(self, name: str, *args: Any, **keywords: Any) -> Any:
        """Call one of its functions, which must not raise.

        Parameters
        ----------
        name : str
            The function.
        *args, **keywords : object
            As for `call`.

        Returns
        -------
        object
            Its value.

        Raises
        ------
        Wrong
            If there was none, with the reason.
        """
        reply = self.call(name, *args, **keywords)
        if reply.error is None:
            return reply.value
        raise Wrong(_told(name, reply.error, self.seconds))

    def refuses(self, name: str, *args: Any, **keywords: Any) -> bool:
        """Whether a call raises a ValueError, or a kind of it, of its own.

        Parameters
        ----------
        name : str
            The function.
        *args, **keywords : object
            As for `call`.

        Returns
        -------
        bool
            True if it does; False if it returned something.

        Raises
        ------
        Wrong
            If it failed in another way.
        """
        reply = self.call(name, *args, **keywords)
        if reply.error is None:
            return False
        if "ValueError" in reply.kinds:
            return True
        raise Wrong(_told(name, reply.error, self.seconds))

    def _start(self) -> None:
        """Run the cells; one in which the process ends is left out, and the others run again."""
        while self._process is None:
            self._open()
            for place, cell in enumerate(self.cells):
                try:
                    self._ask({"cell": cell}, PATIENT * self.seconds)
                except (OSError, ValueError):
                    self._end()
                    del self.cells[place]
                    self.dropped += 1
                    if self.dropped > PATIENCE:
                        raise
                    break

    def _open(self) -> None:
        self._home = tempfile.TemporaryDirectory(prefix="submission-", ignore_cleanup_errors=True)
        home = self._home.name
        ours, theirs = os.pipe(), os.pipe()  # requests, replies
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(WORKER), str(ours[0]), str(theirs[1])],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(ours[0], theirs[1]),
                env=surroundings(home, self.serving),
                cwd=home,
                start_new_session=True,
            )
        finally:
            os.close(ours[0])
            os.close(theirs[1])
        self._requests, self._replies, self._buffer = ours[1], theirs[0], b""
        closed = self.closed + ([] if self.serving else [str(LIBRARY / "serving")])
        start = {
            "closed": closed,
            "forbidden": [] if self.serving else ["serving"],
            "seconds": self.seconds,
            "memory": MEMORY,
        }
        try:
            self._ask(start, START)
        except (OSError, ValueError) as error:  # nothing of the submission has run yet
            self._end()
            raise RuntimeError("the process for submissions does not start") from error

    def _ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        line = json.dumps(request).encode() + b"\n"
        until = time.monotonic() + seconds
        while line:
            if not select.select([], [self._requests], [], max(0.0, until - time.monotonic()))[1]:
                raise TimeoutError
            line = line[os.write(self._requests, line[:4096]) :]
        while b"\n" not in self._buffer:
            if not select.select([self._replies], [], [], max(0.0, until - time.monotonic()))[0]:
                raise TimeoutError
            piece = os.read(self._replies, 1 << 16)
            if not piece or len(self._buffer) > LONGEST:
                raise ConnectionError
            self._buffer += piece
        answer, _, self._buffer = self._buffer.partition(b"\n")
        try:
            reply = json.loads(answer)
        except RecursionError:
            raise ValueError("an answer must not be nested without end") from None
        if not isinstance(reply, dict):
            raise ValueError("an answer must be a dictionary")
        return reply

    def _end(self) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, 9)
            self._process.wait()
            os.close(self._requests)
            os.close(self._replies)
            self._process = None
        if self._home is not None:
            self._home.cleanup()
            self._home = None


def surroundings(home: str, serving: bool) -> dict[str, str]:
    """Environment of a process that runs submitted code: nothing of the course is in it.

    Parameters
    ----------
    home : str
        The folder that is all its own.
    serving : bool
        Whether the package is on its path.

    Returns
    -------
    dict of str to str
        The variables.
    """
    ours = [os.path.realpath(folder) for folder in (ASSIGNMENTS, LIBRARY)]
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    installed = [folder for folder in given if folder and os.path.realpath(folder) not in ours]
    folders = ("HOME", "TMPDIR", "MPLCONFIGDIR", "NUMBA_CACHE_DIR", "IPYTHONDIR")
    return dict.fromkeys(folders, home) | {
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "MPLBACKEND": "Agg",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join([str(LIBRARY)] * serving + installed),
        "SERVING_STILL": "1",
    }


def _told(name: str, error: str, seconds: float) -> str:
    return {
        "Missing": f"there is no function {name} in the notebook; did its cell fail?",
        "NotImplementedError": f"{name} is not written yet",
        "TooLong": f"{name} did not come back within {seconds:g} seconds",
        "Died": f"{name} ended or exhausted the process that ran it",
        "Skipped": "not asked: earlier calls did not come back, or took too long together",
        "ImportError": f"{name} imports what this task does not allow",
        "ModuleNotFoundError": f"{name} imports what this task does not allow",
        "PermissionError": f"{name} did something that graded code may not do",
    }.get(error, f"{name} raised {error if error.isidentifier() else 'an error'}")
