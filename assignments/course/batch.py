"""nbgrader's own interface in a process that is replaced when it dies or never ends."""

from __future__ import annotations

import logging
import multiprocessing
import os
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from .student import ASSIGNMENTS

SECONDS = 900
"""Longer than the limits of cells and calls allow together [s]."""


class Batch:
    """A course in which nbgrader's actions are run one after another.

    Parameters
    ----------
    course : Path
        The course's folder.
    """

    def __init__(self, course: Path) -> None:
        self.course = course
        self._process: Any = None

    def __enter__(self) -> Batch:
        """The process starts with the first action."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._end()

    def run(self, action: str, *arguments: str) -> str:
        """Run an action.

        Parameters
        ----------
        action : str
            A method of nbgrader's interface, such as ``autograde``.
        *arguments : str
            Its assignment and perhaps its student.

        Returns
        -------
        str
            What nbgrader logged.

        Raises
        ------
        RuntimeError
            If it failed, died or never ended; the message has the log.
        """
        if self._process is None:
            self._start()
        reply: dict[str, Any] = {"success": False, "error": f"{action} died"}
        try:
            self._connection.send((action, *arguments))
            if self._connection.poll(SECONDS):
                reply = self._connection.recv()
            else:
                reply["error"] = f"{action} did not end in {SECONDS} s"
                self._end()
        except (EOFError, OSError):
            self._end()
        log = str(reply.get("log", ""))
        if not reply["success"]:
            raise RuntimeError(f"nbgrader: {' '.join((action, *arguments))}\n{log}{reply['error']}")
        return log

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, str(self.course)))
        self._process.start()
        theirs.close()

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._connection.close()
            self._process = None


def _serve(connection: Connection, course: str) -> None:
    """Run actions until the other side hangs up; whatever they write goes to a file."""
    logs = Path(course) / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    with (logs / "nbgrader.txt").open("a") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    bin_folder = str(Path(sys.executable).parent)  # nbgrader calls alembic by its name
    os.environ["PATH"] = bin_folder + os.pathsep + os.environ.get("PATH", os.defpath)
    interface = _interface(course)
    while True:
        try:
            action, *arguments = connection.recv()
        except EOFError:
            return
        connection.send(getattr(interface, action)(*arguments))


def _interface(course: str) -> Any:
    from nbgrader.apps.api import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import PyFileConfigLoader

    config = PyFileConfigLoader("nbgrader_config.py", str(ASSIGNMENTS)).load_config()
    config.CourseDirectory.root = course
    config.NbGraderAPI.log_level = logging.WARNING
    return NbGraderAPI(coursedir=CourseDirectory(config=config), config=config)
