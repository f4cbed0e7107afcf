"""The load generator: a process of its own, which sends on a schedule whatever the server does.

It reads jobs from stdin, each a line of JSON, and writes lines of JSON to stdout: how many requests
have ended, now and then, and at the end of each job all that was measured. It is run as a file, for
importing the package takes seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import sys
import threading
import time
from typing import Any

import aiohttp

DATA = b"data:"
"""Begins each line of a stream of server-sent events that carries something."""
LAST = b"[DONE]"
"""Ends such a stream, and carries nothing."""
LEAD = 0.1
"""From here to the start of the schedule, so that the first request is not late [s]."""
REPORT = 0.1
"""Time from one report of progress to the next [s]."""


class Run:
    """One schedule on its way."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.job = job
        self.bodies = [json.dumps(body).encode() for body in job["bodies"]]
        count = len(job["arrivals"])
        self.times: dict[str, list[Any]] = {
            name: [None] * count for name in ("sent", "first", "done")
        }
        self.status = [0] * count
        self.tokens: list[list[float]] = [[] for _ in range(count)]
        self.answers: list[bytes] = [b""] * count
        self.errors = [""] * count
        self.ended = 0
        self.tasks: set[asyncio.Task[None]] = set()

    async def all(self) -> None:
        """Send every request and wait until each has ended."""
        limits = aiohttp.ClientTimeout(total=self.job["timeout"])
        # No limit, for a client that queues would hide the wait; and a connection for each request,
        # for a server that closes an idle one in the moment of its next use would lose that.
        connector = aiohttp.TCPConnector(limit=0, force_close=True)
        self.loop, self.over = asyncio.get_running_loop(), asyncio.Event()
        self.room = asyncio.Semaphore(self.job["in_flight"] or len(self.status))
        async with aiohttp.ClientSession(timeout=limits, connector=connector) as self.session:
            self.start = time.perf_counter() + LEAD
            # The loop's own timers are a millisecond late; a thread that sleeps is not.
            pace = threading.Thread(target=self.pace, daemon=True)
            pace.start()
            while not self.over.is_set():
                print(json.dumps({"ended": self.ended}), flush=True)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self.over.wait(), REPORT)
            pace.join()

    def pace(self) -> None:
        """Start each request at its moment."""
        for number, moment in enumerate(self.job["arrivals"]):
            ahead = self.start + moment - time.perf_counter()
            if ahead > 0:
                time.sleep(ahead)
            self.loop.call_soon_threadsafe(self.begin, number)

    def begin(self, number: int) -> None:
        """Make a task of one request, and keep it: the loop alone would let it be collected."""
        task = self.loop.create_task(self.one(number))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def now(self) -> float:
        """Seconds since the start of the schedule."""
        return time.perf_counter() - self.start

    async def one(self, number: int) -> None:
        """Send one request, and note what becomes of it: a failed one is no less a request."""
        async with self.room:
            self.times["sent"][number] = self.now()
            try:
                await self.exchange(number)
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                self.errors[number] = f"{type(error).__name__}: {error}".rstrip(": ")
            self.times["done"][number] = self.now()
        self.ended += 1
        if self.ended == len(self.status):
            self.over.set()

    async def exchange(self, number: int) -> None:
        """Post one body and read the answer to its end."""
        headers = {"Content-Type": "application/json"}
        body = self.bodies[number % len(self.bodies)]
        async with self.session.post(self.job["url"], data=body, headers=headers) as answer:
            if not self.job["stream"] or answer.status != 200:
                self.times["first"][number] = self.now()
                self.answers[number] = await answer.read()
            else:
                await self.read(number, answer)
            self.status[number] = answer.status

    async def read(self, number: int, answer: aiohttp.ClientResponse) -> None:
        """Note when each event of a stream comes."""
        async for line in answer.content:
            event = line[len(DATA) :].strip()
            if line.startswith(DATA) and event != LAST:
                self.tokens[number].append(self.now())
                self.answers[number] = event
        self.times["first"][number] = next(iter(self.tokens[number]), None)

    def result(self) -> dict[str, Any]:
        """All that was measured, ready for JSON."""
        texts = [answer.decode("utf-8", "replace") for answer in self.answers]
        kept = {"status": self.status, "tokens": self.tokens, "errors": self.errors}
        return self.times | kept | {"answers": texts}


def main() -> None:
    """Run the jobs of stdin."""
    # Collecting garbage stops everything for milliseconds, which would be measured.
    gc.freeze()
    gc.disable()
    for line in sys.stdin:
        run = Run(json.loads(line))
        asyncio.run(run.all())
        print(json.dumps({"result": run.result()}), flush=True)
        gc.collect()


if __name__ == "__main__":
    main()
