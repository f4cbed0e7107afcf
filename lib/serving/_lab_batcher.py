"""The batcher of the lab's server: a thread that closes batches by a policy and computes them.

It is a thread of its own so that requests are accepted, and their moments noted, while a batch
runs: a library of linear algebra lets other threads work. Its condition wakes it to within a
tenth of a millisecond, where a timer of the event loop would be up to one millisecond late.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Compute = Callable[[NDArray[np.int64]], NDArray[np.int64]]


@dataclass(frozen=True)
class Answer:
    """What a request gets: its token, or why there is none, and how it went.

    ``rest`` is how long the thread had computed nothing before the batch [s].
    """

    token: int | None
    number: int
    batch: int
    waited: float
    service: float
    rest: float
    fault: str = ""


@dataclass(frozen=True)
class Waiting:
    """A request that was accepted."""

    prompt: list[int]
    arrived: float
    answer: Callable[[Answer], Any]


class Refused(Exception):
    """A request that is not accepted: the queue is full, or the server closes."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Batcher:
    """Accept requests from any thread; compute them in batches, in order of arrival.

    A batch is closed when the thread is idle and ``size`` requests wait, or the first of them has
    waited for ``wait`` seconds, or nobody else will come because the batcher closes. Answers of a
    batch are handed over at once, by ``hand``, which may call them in another thread.
    """

    hand: Callable[[Callable[[], None]], Any] = staticmethod(lambda deliver: deliver())

    def __init__(self, compute: Compute, size: int, wait: float, places: int) -> None:
        self.compute, self.size, self.wait, self.places = compute, size, wait, places
        self.queue: deque[Waiting] = deque()
        self.changed = threading.Condition()
        self.accepted, self.batches, self.closing = 0, 0, False
        self.ended = time.perf_counter()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def accept(self, prompt: list[int], answer: Callable[[Answer], Any]) -> None:
        """Put a request into the queue; ``answer`` is called when its batch is computed."""
        with self.changed:
            if self.closing:
                raise Refused(503, "the server is shutting down")
            if len(self.queue) >= self.places:
                raise Refused(429, f"{self.places} requests wait already")
            self.queue.append(Waiting(prompt, time.perf_counter(), answer))
            self.accepted += 1
            self.changed.notify()

    def use(self, size: int, wait: float) -> None:
        """Close batches by other numbers from now on."""
        with self.changed:
            self.size, self.wait = size, wait
            self.changed.notify()

    def close(self) -> None:
        """Accept nobody from now on; what waits is still computed, and then the thread ends."""
        with self.changed:
            self.closing = True
            self.changed.notify()

    def _run(self) -> None:
        while batch := self._next():
            self._serve(batch)

    def _next(self) -> list[Waiting]:
        """Wait for the next batch; none if there will be none."""
        with self.changed:
            while (left := self._left()) > 0:
                self.changed.wait(None if left == math.inf else left)
            return [self.queue.popleft() for _ in range(min(self.size, len(self.queue)))]

    def _left(self) -> float:
        """How long until the next batch is closed, if nothing else happens."""
        if self.closing or len(self.queue) >= self.size:
            return 0.0
        if not self.queue:
            return math.inf
        return self.queue[0].arrived + self.wait - time.perf_counter()

    def _serve(self, batch: list[Waiting]) -> None:
        begun = time.perf_counter()
        rest = begun - self.ended
        fault, tokens = "", [None] * len(batch)
        try:
            tokens = self.compute(np.array([one.prompt for one in batch])).tolist()
        except Exception as error:  # whatever it is, the next batch may be well
            fault = f"{type(error).__name__}: {error}"
        self.ended = time.perf_counter()
        service = self.ended - begun
        self.batches += 1
        how = (self.batches, len(batch))

        def deliver() -> None:
            """Answer each request of the batch."""
            for one, token in zip(batch, tokens, strict=True):
                one.answer(Answer(token, *how, begun - one.arrived, service, rest, fault))

        self.hand(deliver)
