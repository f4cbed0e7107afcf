"""Programs of the labs in processes of their own, spoken to by lines of JSON."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
"""Linear algebra on one thread: a batch on one core leaves the other to the client."""
PATIENCE = 60.0
"""How long a program may take to end by itself [s]."""


class Program:
    """A Python program that is given a job, or jobs, says lines, and ends when its stdin does."""

    def __init__(self, arguments: list[str], job: dict[str, Any] | None = None) -> None:
        self.arguments, self.job = arguments, job

    def __enter__(self) -> Program:
        self.stderr = tempfile.TemporaryFile()  # a pipe that nobody reads might block it
        self.process = subprocess.Popen(
            [sys.executable, *self.arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.stderr,
            text=True,
            encoding="utf-8",
            env=os.environ | ONE_THREAD,
        )
        if self.job is not None:
            self.say(self.job)
        return self

    def say(self, what: dict[str, Any]) -> None:
        """Send it a line."""
        with contextlib.suppress(BrokenPipeError):  # who waits for its lines is told why
            print(json.dumps(what), file=self.process.stdin, flush=True)

    def lines(self) -> Iterator[Any]:
        """Yield what it says, until it ends; an error if it fails."""
        for line in self.process.stdout or ():
            yield json.loads(line)
        if self.process.wait(PATIENCE):
            raise RuntimeError(self.complaint())

    def complaint(self) -> str:
        """Say how it has died."""
        self.stderr.seek(0)
        said = self.stderr.read().decode("utf-8", "replace").strip().splitlines()
        reason = said[-1] if said else f"exit status {self.process.returncode}"
        return f"{self.arguments[-1].rpartition('/')[2]} died: {reason}"

    def end(self) -> None:
        """Let it end, which may take a while, by the end of its stdin."""
        try:
            self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise RuntimeError(f"{self.arguments[-1]} did not end in {PATIENCE:g} s") from None
        if self.process.returncode:
            raise RuntimeError(self.complaint())

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.process.kill()  # it has ended, or nobody waits for it any more
        with contextlib.suppress(BrokenPipeError):
            self.process.communicate()
        self.stderr.close()
