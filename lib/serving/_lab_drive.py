"""Drive a server from another process, and what that measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import errors
from ._lab_process import Program

Array = NDArray[np.float64]

CLIENT = Path(__file__).with_name("_lab_client.py")


class Client:
    """The process of the load generator, for many drives: starting one takes longer than some."""

    def __enter__(self) -> Client:
        self._program = Program(["-P", str(CLIENT)]).__enter__()
        self._said = self._program.lines()
        return self

    def run(self, job: dict[str, Any], progress: bool) -> dict[str, list[Any]]:
        """Let it do a job, and return what it has measured."""
        from tqdm import tqdm  # here, for the package installs without

        count = len(job["arrivals"])
        self._program.say(job)
        with tqdm(total=count, unit=" requests", disable=not progress) as bar:
            for said in self._said:
                if "result" in said:
                    bar.update(count - bar.n)
                    return dict(said["result"])
                bar.update(said["ended"] - bar.n)
        raise RuntimeError("the client ended without a result")

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._program.__exit__(kind)


@dataclass(frozen=True, eq=False)
class Drive:
    """What became of each request, in the order of the schedule; times from its start.

    Attributes
    ----------
    scheduled : ndarray, shape (n,)
        When it was to be sent, drawn ahead [s].
    sent : ndarray, shape (n,)
        When it was sent [s].
    first : ndarray, shape (n,)
        When the answer began; of a stream, its first event; NaN if there was none [s].
    done : ndarray, shape (n,)
        When the answer had come, or the request had failed [s].
    status : ndarray, shape (n,)
        Status of HTTP, such as 200; 0 where there was no answer [1].
    tokens : tuple of ndarray
        Events of each stream by the time at which they came, in seconds; empty without
        streams [tokens].
    answers : tuple of str
        The body of the answer, or the last event of a stream.
    errors : tuple of str
        Why there was no answer; empty where there was one.
    """

    scheduled: Array
    sent: Array
    first: Array
    done: Array
    status: NDArray[np.int64]
    tokens: tuple[Array, ...]
    answers: tuple[str, ...]
    errors: tuple[str, ...]

    @property
    def latency(self) -> Array:
        """Times from the scheduled moment to the end of the answer, shape (n,) [s]."""
        return self.done - self.scheduled

    @property
    def lag(self) -> Array:
        """How late the client sent each request, shape (n,) [s]."""
        return self.sent - self.scheduled

    @property
    def answered(self) -> NDArray[np.bool_]:
        """Whether each request was answered with success, shape (n,) [1]."""
        return self.status == 200


def drive(
    url: str,
    arrivals: ArrayLike,
    bodies: Mapping[str, Any] | Sequence[Any],
    *,
    stream: bool = False,
    timeout: float = 60.0,
    in_flight: int | None = None,
    progress: bool = True,
    client: Client | None = None,
) -> Drive:
    """Send requests at moments drawn ahead, from a process of its own, and time the answers.

    Parameters
    ----------
    url : str
        Where each request is posted, ``http://…``.
    arrivals : array_like, shape (n,)
        When each is sent, from the start, not decreasing [s].
    bodies : mapping or sequence
        What is posted as JSON: one body for all, or bodies that are taken in turn.
    stream : bool
        Whether answers are streams of events (lines ``data: …``) whose times are wanted.
    timeout : float
        How long an answer may take before the request counts as failed, above 0 [s].
    in_flight : int or None
        Most requests that are under way; others wait in the client, as they do behind a tool
        of so many connections. None, an open loop, holds none back [requests].
    progress : bool
        Whether a bar on stderr counts the requests that have ended.
    client : Client or None
        A process that has been started; None starts one.

    Returns
    -------
    Drive
        Times and status of every request, of failed ones too.

    Raises
    ------
    TypeError
        If an argument is of a wrong type.
    ValueError
        If an argument is out of range, or ``bodies`` is empty.
    RuntimeError
        If the process of the client dies; the message is its last line.
    """
    moments = errors.array("arrivals", arrivals, at_least=0)
    if moments.ndim != 1 or not moments.size or (np.diff(moments) < 0).any():
        raise ValueError(f"arrivals must be a list of times that do not decrease, got {arrivals!r}")
    if not isinstance(url, str) or not url.startswith("http://"):
        raise ValueError(f"url must begin with http://, got {url!r}")
    if in_flight is not None:
        in_flight = errors.integer("in_flight", in_flight, at_least=1)
    posted = [dict(bodies)] if isinstance(bodies, Mapping) else list(bodies)
    if not posted:
        raise ValueError("bodies must hold at least one body, got none")
    job = {
        "url": url,
        "arrivals": moments.tolist(),
        "bodies": posted,
        "stream": bool(stream),
        "timeout": errors.number("timeout", timeout, above=0),
        "in_flight": in_flight,
    }
    if client is not None:
        return _drive(moments, client.run(job, progress))
    with Client() as started:
        return _drive(moments, started.run(job, progress))


def _drive(scheduled: Array, found: Mapping[str, list[Any]]) -> Drive:
    sent, first, done = (np.array(found[n], dtype=float) for n in ("sent", "first", "done"))
    tokens: Iterable[Array] = (np.array(times, dtype=float) for times in found["tokens"])
    status = np.array(found["status"], dtype=np.int64)
    words = (tuple(found[name]) for name in ("answers", "errors"))
    return Drive(scheduled, sent, first, done, status, tuple(tokens), *words)
