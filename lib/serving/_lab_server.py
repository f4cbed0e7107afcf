"""The lab's server: HTTP in front of a batcher, in a process of its own.

It reads a job from stdin, one line of JSON, writes its address to stdout, and serves until stdin
ends: a server whose parent has died does not stay behind. It then answers all that it has
accepted, refuses what is new, and ends.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
from aiohttp import web

from ._lab_batcher import Answer, Batcher, Refused
from ._lab_model import TOKENS, VOCABULARY, Model

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

PATH = "/v1/next"
"""Where prompts are posted."""
RETRY = {"Retry-After": "1"}
LARGEST = 4096
"""Most bytes of a request's body [bytes]."""
PATIENCE = 3.0
"""How long a connection may keep the server from refusing it, or from ending [s]."""
SWITCH = 0.0005
"""How long a thread may keep others from running Python code [s]."""
WARM_UP = 3
"""Batches of some sizes that are computed before the server opens [1]."""


def refusal(status: int, reason: str) -> web.Response:
    """Say no, and why; to what may be otherwise later, when to come again."""
    headers = RETRY if status in (429, 503) else {}
    return web.json_response({"error": reason}, status=status, headers=headers)


@web.middleware
async def told(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Give every refusal, also those of the framework, the same form."""
    try:
        return await handler(request)
    except Refused as error:
        return refusal(error.status, str(error))
    except web.HTTPRequestEntityTooLarge:
        return refusal(413, f"a body must be at most {LARGEST} bytes")
    except web.HTTPMethodNotAllowed as error:
        answer = refusal(405, f"{PATH} takes POST, not {request.method}")
        answer.headers["Allow"] = error.headers["Allow"]
        return answer
    except web.HTTPNotFound:
        return refusal(404, f"there is only {PATH}")


def prompt_of(body: bytes) -> list[int]:
    """Read the prompt of a request's body; an error says what is wrong with it."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"the body is no JSON: {error}") from None
    if not isinstance(content, dict) or set(content) != {"prompt"}:
        raise Refused(400, 'the body must be {"prompt": […]} and nothing else')
    prompt = content["prompt"]
    if not isinstance(prompt, list) or len(prompt) != TOKENS:
        raise Refused(400, f"prompt must be a list of {TOKENS} tokens")
    for token in prompt:
        if type(token) is not int or not 0 <= token < VOCABULARY:
            raise Refused(400, f"a token must be an integer from 0 to {VOCABULARY - 1}")
    return prompt


def application(batcher: Batcher) -> web.Application:
    """What answers requests with the help of a batcher."""

    async def next_token(request: web.Request) -> web.Response:
        """Let the batcher choose the token that follows a prompt."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Answer] = loop.create_future()
        prompt = prompt_of(await request.read())

        def answered(given: Answer) -> None:
            """Hand over the answer, unless nobody waits for it any more."""
            if not future.done():
                future.set_result(given)

        batcher.accept(prompt, answered)
        answer = await future
        if answer.fault:
            return refusal(500, answer.fault)
        timed = {name: getattr(answer, name) for name in ("waited", "service", "rest")}
        times = {name: round(seconds, 6) for name, seconds in timed.items()}
        which = {"number": answer.number, "batch": answer.batch}
        return web.json_response({"token": answer.token, **which, **times})

    app = web.Application(middlewares=[told], client_max_size=LARGEST)
    app.router.add_post(PATH, next_token)
    return app


class Full(asyncio.Protocol):
    """A connection too many: its first request is refused, and it is closed."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember where to answer, and do not keep the place for somebody who asks nothing."""
        self.transport: Any = transport
        asyncio.get_running_loop().call_later(PATIENCE, transport.close)

    def data_received(self, data: bytes) -> None:
        """Refuse as soon as anything was asked."""
        body = json.dumps({"error": "too many connections"}).encode()
        lines = ["HTTP/1.1 503 Service Unavailable", "Content-Type: application/json"]
        lines += [f"Content-Length: {len(body)}", "Retry-After: 1", "Connection: close", "", ""]
        self.transport.write("\r\n".join(lines).encode() + body)
        self.transport.close()


async def serve(
    batcher: Batcher, connections: int, ready: Callable[[str], Any], over: asyncio.Event
) -> None:
    """Serve on the loopback interface until it is over, and answer all that was accepted."""
    runner = web.AppRunner(application(batcher), access_log=None, shutdown_timeout=PATIENCE)
    await runner.setup()
    handlers: Any = runner.server

    def protocol() -> asyncio.Protocol:
        """Take a connection, or refuse it."""
        return Full() if len(handlers.connections) >= connections else handlers()

    loop = asyncio.get_running_loop()
    listening = await loop.create_server(protocol, "127.0.0.1", 0, backlog=1024)
    batcher.hand = loop.call_soon_threadsafe
    batcher.thread.start()
    host, port = listening.sockets[0].getsockname()
    ready(f"http://{host}:{port}{PATH}")
    await over.wait()
    batcher.close()
    await loop.run_in_executor(None, batcher.thread.join)
    listening.close()
    await runner.cleanup()  # waits for answers on their way


def measure(model: Model, batches: list[int], repeats: int) -> None:
    """Time batches of each size in turn, so that a drift of the machine meets all of them."""
    rng = np.random.default_rng(0)
    for _ in range(repeats):
        for batch in batches:
            prompts = rng.integers(0, VOCABULARY, (batch, TOKENS))
            begun = time.perf_counter()
            model.next_tokens(prompts)
            print(json.dumps([batch, time.perf_counter() - begun]), flush=True)


async def until_stdin_ends(job: dict[str, Any], model: Model) -> None:
    """Serve as the job says."""
    loop, over = asyncio.get_running_loop(), asyncio.Event()

    batcher = Batcher(model.next_tokens, job["size"], job["wait"], job["places"])

    def listen() -> None:
        """Change the policy by each line of stdin until it ends, where nothing waits for it."""
        for line in sys.stdin:
            batcher.use(**json.loads(line))
            say("")
        loop.call_soon_threadsafe(over.set)

    threading.Thread(target=listen, daemon=True).start()
    await serve(batcher, job["connections"], say, over)


def say(url: str) -> None:
    """Tell the parent where the server is, or that it is as was wished."""
    print(json.dumps({"url": url}), flush=True)


def main() -> None:
    """Run the job of stdin."""
    job = json.loads(sys.stdin.readline())
    # A thread that waits for another one's Python code gets its turn after so long; the default
    # of five milliseconds is as long as a batch.
    sys.setswitchinterval(SWITCH)
    model = Model()
    for batch in [2**power for power in range(6)] * WARM_UP:
        model.next_tokens(np.zeros((batch, TOKENS), dtype=np.int64))
    if "batches" in job:
        measure(model, job["batches"], job["repeats"])
    else:
        asyncio.run(until_stdin_ends(job, model))


if __name__ == "__main__":
    main()
