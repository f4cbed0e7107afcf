"""The load generator keeps its schedule whatever the server does, and loses no request."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from aiohttp import web

from serving import _lab_process, lab

LONG = 60.0  # until a test fails that would otherwise hang [s]


class Held:
    """A server that answers nobody before it has so many requests at once."""

    def __init__(self, together: int = 1) -> None:
        self.together, self.open = together, 0
        self.bodies: list[Any] = []
        self.most = 0

    async def plain(self, request: web.Request) -> web.Response:
        self.bodies.append(await request.json())
        self.open += 1
        self.most = max(self.most, self.open)
        if self.open >= self.together:
            self.full.set()
        await self.full.wait()
        self.open -= 1
        return web.json_response({"number": len(self.bodies)})

    async def stream(self, request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await answer.prepare(request)
        for line in ("data: 1\n\n", ": nothing\n\n", "data: 2\n", "\n", "data: [DONE]\n\n"):
            await answer.write(line.encode())
        return answer

    async def never(self, request: web.Request) -> web.Response:
        await self.over.wait()  # the end of the test
        raise web.HTTPOk

    async def cut(self, request: web.Request) -> web.Response:
        assert request.transport is not None
        request.transport.close()
        raise web.HTTPOk

    @contextmanager
    def served(self) -> Iterator[str]:
        """Serve from a thread of this process."""
        ready, address = threading.Event(), []

        async def serve() -> None:
            self.full, self.over = asyncio.Event(), asyncio.Event()
            self.loop = asyncio.get_running_loop()
            app = web.Application()
            for path in ("plain", "stream", "never", "cut"):
                app.router.add_post(f"/{path}", getattr(self, path))
            runner = web.AppRunner(app, shutdown_timeout=0)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            address.append(f"http://127.0.0.1:{runner.addresses[0][1]}")
            ready.set()
            await self.over.wait()
            await runner.cleanup()

        thread = threading.Thread(target=asyncio.run, args=(serve(),))
        thread.start()
        assert ready.wait(LONG)
        try:
            yield address[0]
        finally:
            self.loop.call_soon_threadsafe(self.over.set)
            thread.join(LONG)


def test_an_open_loop_sends_whatever_the_server_does() -> None:
    held = Held(together=5)  # answers nobody until all five are there
    with held.served() as url:
        run = lab.drive(f"{url}/plain", [0.0, 0.01, 0.01, 0.02, 0.03], {"a": 1}, progress=False)
    assert [*run.status] == [200] * 5
    assert held.most == 5
    assert (run.lag >= 0).all()
    assert (run.sent <= run.first).all() and (run.first <= run.done).all()
    assert run.latency == pytest.approx(run.done - [0.0, 0.01, 0.01, 0.02, 0.03])
    assert run.answered.all()


def test_a_capped_client_holds_requests_back_and_their_latency_counts_from_the_schedule() -> None:
    held = Held()
    with held.served() as url:
        run = lab.drive(f"{url}/plain", [0.0] * 6, {"a": 1}, in_flight=1, progress=False)
    assert held.most == 1
    assert (np.sort(run.sent)[1:] >= np.sort(run.done)[:-1]).all()
    assert run.latency.max() > (run.done - run.sent).max()


def test_bodies_are_taken_in_turn() -> None:
    held = Held()
    with held.served() as url:
        lab.drive(f"{url}/plain", [0.0] * 5, ["x", {"y": 1}], in_flight=1, progress=False)
    assert held.bodies == ["x", {"y": 1}, "x", {"y": 1}, "x"]


def test_the_events_of_a_stream_are_timed() -> None:
    with Held().served() as url:
        run = lab.drive(f"{url}/stream", [0.0, 0.0], {}, stream=True, progress=False)
    assert [len(times) for times in run.tokens] == [2, 2]
    assert [times[0] for times in run.tokens] == [*run.first]
    assert all(times[-1] <= done for times, done in zip(run.tokens, run.done, strict=True))
    assert run.answers == ("2", "2")


@pytest.mark.parametrize("path", ["never", "cut"])
def test_a_failed_request_is_recorded(path: str) -> None:
    with Held().served() as url:
        run = lab.drive(f"{url}/{path}", [0.0, 0.1], {}, timeout=0.5, progress=False)
    assert [*run.status] == [0, 0]
    assert all(run.errors) and not run.answered.any()
    assert np.isfinite(run.done).all() and np.isnan(run.first).all()


def test_a_server_that_is_not_there_fails_every_request() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/"
        run = lab.drive(url, [0.0] * 3, {}, progress=False)
    assert [*run.status] == [0] * 3
    assert all("ClientConnectorError" in error for error in run.errors)


def test_other_statuses_are_kept_with_what_was_said() -> None:
    with Held().served() as url:
        run = lab.drive(f"{url}/nowhere", [0.0], {}, stream=True, progress=False)
    assert [*run.status] == [404]
    assert run.answers == ("404: Not Found",)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"arrivals": []}, "arrivals must be a list of times"),
        ({"arrivals": [2.0, 1.0]}, "arrivals must be a list of times that do not decrease"),
        ({"arrivals": [-1.0]}, "must be finite and at least 0, got -1.0"),
        ({"url": "ftp://x"}, "url must begin with http://, got 'ftp://x'"),
        ({"bodies": []}, "bodies must hold at least one body"),
        ({"timeout": 0}, "timeout must be greater than 0, got 0"),
        ({"in_flight": 0}, "in_flight must be at least 1, got 0"),
    ],
)
def test_a_drive_that_cannot_be_is_refused(changed: dict[str, Any], reason: str) -> None:
    job: dict[str, Any] = {"url": "http://127.0.0.1:1/", "arrivals": [0.0], "bodies": {}}
    with pytest.raises(ValueError, match=reason):
        lab.drive(**job | changed)


def test_a_program_that_dies_says_why() -> None:
    with _lab_process.Program(["-c", "raise SystemExit('no more')"], {}) as program:
        with pytest.raises(RuntimeError, match="died: no more"):
            list(program.lines())
