"""The lab's server refuses what it should, stays up, and answers all that it has accepted."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import numpy as np
import pytest
from numpy.typing import NDArray

from serving import _lab_server, lab
from serving._lab_batcher import Answer, Batcher, Refused
from serving._lab_model import TOKENS, VOCABULARY, Model
from serving.policies import Fixed, Greedy, Window

PROMPT = {"prompt": [1, 2, 3, 4]}
LONG = 60.0  # until a test fails that would otherwise hang [s]


def echoed(prompts: NDArray[np.int64]) -> NDArray[np.int64]:
    return prompts[:, 0]


class Gate:
    """A model that computes only while its gate is open."""

    def __init__(self) -> None:
        self.begun, self.open = threading.Event(), threading.Event()

    def __call__(self, prompts: NDArray[np.int64]) -> NDArray[np.int64]:
        self.begun.set()
        assert self.open.wait(LONG)
        return prompts[:, 0]


Talk = Callable[[aiohttp.ClientSession, str, asyncio.Event], Awaitable[None]]


def talk(batcher: Batcher, talked: Talk, connections: int = 100) -> None:
    """Serve in this process while a client talks, and end."""

    async def both() -> None:
        loop, over = asyncio.get_running_loop(), asyncio.Event()
        address: asyncio.Future[str] = loop.create_future()
        served = loop.create_task(_lab_server.serve(batcher, connections, address.set_result, over))
        async with aiohttp.ClientSession() as session:
            try:
                await asyncio.wait_for(talked(session, await address, over), LONG)
            finally:
                over.set()
                await asyncio.wait_for(served, LONG)

    asyncio.run(both())


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(LONG):
        while not holds():
            await asyncio.sleep(0.001)


def greedy(compute: Any = echoed, size: int = 8, places: int = 100) -> Batcher:
    return Batcher(compute, size, 0.0, places)


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "reason"),
    [
        ("POST", "", b"{", 400, "the body is no JSON"),
        ("POST", "", b"\xff\xfe", 400, "the body is no JSON"),
        ("POST", "", b"[" * 4000, 400, "the body is no JSON"),
        ("POST", "", b"", 400, "the body is no JSON"),
        ("POST", "", b"[1, 2, 3, 4]", 400, 'the body must be {"prompt": […]}'),
        ("POST", "", b"{}", 400, 'the body must be {"prompt": […]}'),
        ("POST", "", b'{"prompt": [1, 2, 3, 4], "n": 1}', 400, "and nothing else"),
        ("POST", "", b'{"prompt": "1234"}', 400, "prompt must be a list of 4 tokens"),
        ("POST", "", b'{"prompt": [1, 2, 3]}', 400, "prompt must be a list of 4 tokens"),
        ("POST", "", b'{"prompt": [1, 2, 3, 256]}', 400, "an integer from 0 to 255"),
        ("POST", "", b'{"prompt": [1, 2, 3, -1]}', 400, "an integer from 0 to 255"),
        ("POST", "", b'{"prompt": [1, 2, 3, true]}', 400, "an integer from 0 to 255"),
        ("POST", "", b'{"prompt": [1, 2, 3, 4.0]}', 400, "an integer from 0 to 255"),
        ("POST", "", b'{"prompt": [1, 2, 3, NaN]}', 400, "an integer from 0 to 255"),
        ("POST", "", b" " * 5000, 413, "at most 4096 bytes"),
        ("POST", "/more", b"{}", 404, "there is only /v1/next"),
        ("GET", "", b"", 405, "takes POST, not GET"),
        ("DELETE", "", b"", 405, "takes POST, not DELETE"),
    ],
)
def test_a_bad_request_is_refused_with_a_reason(
    method: str, path: str, body: bytes, status: int, reason: str
) -> None:
    async def talked(session: aiohttp.ClientSession, url: str, over: asyncio.Event) -> None:
        async with session.request(method, url + path, data=body) as answer:
            assert answer.status == status
            assert reason in (await answer.json())["error"]
            assert ("Allow" in answer.headers) == (status == 405)
        async with session.post(url, json=PROMPT) as answer:  # and nothing is the worse for it
            assert (await answer.json())["token"] == 1

    talk(greedy(), talked)


def test_a_large_body_is_refused_even_if_it_does_not_say_so() -> None:
    async def body() -> Any:
        for _ in range(100):
            yield b" " * 1000

    async def talked(session: aiohttp.ClientSession, url: str, over: asyncio.Event) -> None:
        async with session.post(url, data=body()) as answer:
            assert answer.status == 413

    talk(greedy(), talked)


def test_a_full_queue_refuses_and_says_when_to_come_again() -> None:
    gate = Gate()
    batcher = greedy(gate, size=2, places=3)

    async def talked(session: aiohttp.ClientSession, url: str, over: asyncio.Event) -> None:
        first = asyncio.create_task(session.post(url, json=PROMPT))
        await until(gate.begun.is_set)
        waiting = [asyncio.create_task(session.post(url, json=PROMPT)) for _ in range(3)]
        await until(lambda: len(batcher.queue) == 3)
        async with session.post(url, json=PROMPT) as answer:
            assert answer.status == 429
            assert answer.headers["Retry-After"] == "1"
            assert (await answer.json())["error"] == "3 requests wait already"
        gate.open.set()
        answers = await asyncio.gather(first, *waiting)
        assert [answer.status for answer in answers] == [200] * 4
        assert [(await answer.json())["batch"] for answer in answers] == [1, 2, 2, 1]

    talk(batcher, talked)


def test_connections_beyond_the_limit_are_refused() -> None:
    gate = Gate()

    async def talked(session: aiohttp.ClientSession, url: str, over: asyncio.Event) -> None:
        both = [asyncio.create_task(session.post(url, json=PROMPT)) for _ in range(2)]
        await until(lambda: batcher.accepted == 2)
        async with session.post(url, json=PROMPT) as answer:
            assert answer.status == 503
            assert answer.headers["Retry-After"] == "1"
            assert (await answer.json())["error"] == "too many connections"
        gate.open.set()
        assert [answer.status for answer in await asyncio.gather(*both)] == [200] * 2

    batcher = greedy(gate)
    talk(batcher, talked, connections=2)


def test_what_is_accepted_is_answered_before_the_server_ends_and_what_is_new_refused() -> None:
    gate = Gate()
    batcher = greedy(gate, size=2)

    async def talked(session: aiohttp.ClientSession, url: str, over: asyncio.Event) -> None:
        accepted = [asyncio.create_task(session.post(url, json=PROMPT)) for _ in range(5)]
        await until(lambda: batcher.accepted == 5)
        over.set()
        await until(lambda: batcher.closing)
        async with session.post(url, json=PROMPT) as answer:
            assert answer.status == 503
            assert answer.headers["Retry-After"] == "1"
            assert (await answer.json())["error"] == "the server is shutting down"
        gate.open.set()
        answers = await asyncio.gather(*accepted)
        assert [(await answer.json())["token"] for answer in answers] == [1] * 5

    talk(batcher, talked)


def test_a_batch_that_never_fills_is_answered_at_the_end() -> None:
    batcher = Batcher(echoed, 8, np.inf, 100)

    async def talked(session: aiohttp.ClientSession, url: str, over: asyncio.Event) -> None:
        waiting = [asyncio.create_task(session.post(url, json=PROMPT)) for _ in range(3)]
        await until(lambda: batcher.accepted == 3)
        over.set()
        answers = await asyncio.gather(*waiting)
        assert [(await answer.json())["batch"] for answer in answers] == [3] * 3

    talk(batcher, talked)


def test_a_model_that_fails_fails_its_batch_alone() -> None:
    def fails_at_7(prompts: NDArray[np.int64]) -> NDArray[np.int64]:
        if (prompts == 7).any():
            raise ArithmeticError("seven")
        return prompts[:, 0]

    async def talked(session: aiohttp.ClientSession, url: str, over: asyncio.Event) -> None:
        async with session.post(url, json={"prompt": [7] * 4}) as answer:
            assert answer.status == 500
            assert (await answer.json())["error"] == "ArithmeticError: seven"
        async with session.post(url, json=PROMPT) as answer:
            assert answer.status == 200

    talk(greedy(fails_at_7), talked)


def test_a_client_that_leaves_harms_nobody() -> None:
    gate = Gate()
    batcher = greedy(gate)

    async def talked(session: aiohttp.ClientSession, url: str, over: asyncio.Event) -> None:
        gone = asyncio.create_task(session.post(url, json=PROMPT))
        await until(gate.begun.is_set)
        gone.cancel()
        stays = asyncio.create_task(session.post(url, json=PROMPT))
        await until(lambda: batcher.accepted == 2)
        gate.open.set()
        assert (await stays).status == 200

    talk(batcher, talked)


def taken(batcher: Batcher, prompts: int) -> list[Answer]:
    """Answers of a batcher that has all its requests before it begins, and then closes."""
    answers: list[Answer] = []
    for number in range(prompts):
        batcher.accept([number, 0, 0, 0], answers.append)
    batcher.thread.start()
    batcher.close()
    batcher.thread.join(LONG)
    assert not batcher.thread.is_alive()
    return answers


@pytest.mark.parametrize("wait", [0.0, 3600.0, np.inf])
def test_batches_are_taken_in_order_and_no_larger_than_allowed(wait: float) -> None:
    answers = taken(Batcher(echoed, 4, wait, 100), 10)
    assert [answer.token for answer in answers] == [*range(10)]
    assert [answer.batch for answer in answers] == [4] * 8 + [2] * 2


@pytest.mark.parametrize(("wait", "batches"), [(0.0, [1]), (0.01, [1]), (3600.0, []), (np.inf, [])])
def test_a_lone_request_is_taken_when_its_wait_is_over(wait: float, batches: list[int]) -> None:
    batcher, seen, answered = Batcher(echoed, 4, wait, 100), [], threading.Event()

    def note(answer: Answer) -> None:
        seen.append(answer)
        answered.set()

    batcher.thread.start()
    batcher.accept([1, 2, 3, 4], note)
    if batches:
        assert answered.wait(LONG)
        assert seen[0].waited >= wait
    assert [answer.batch for answer in seen] == batches
    batcher.close()
    batcher.thread.join(LONG)
    assert len(seen) == 1  # at the end, if not before


def test_nobody_is_accepted_after_the_end() -> None:
    batcher = greedy()
    taken(batcher, 1)
    with pytest.raises(Refused, match="shutting down"):
        batcher.accept([1, 2, 3, 4], print)


def test_the_model_says_the_same_of_a_prompt_alone_and_in_a_batch() -> None:
    model = Model()
    prompts = np.random.default_rng(1).integers(0, VOCABULARY, (9, TOKENS))
    together = model.next_tokens(prompts)
    assert together.shape == (9,)
    assert [*together] == [int(model.next_tokens(prompts[[k]])[0]) for k in range(9)]
    assert len(set(together)) > 1


def test_a_token_sees_itself_and_those_before_it_alone() -> None:
    from serving._lab_model import WIDTH, _attention

    drawn = np.random.default_rng(2).standard_normal((TOKENS, 3 * WIDTH), dtype=np.float32)
    other = drawn.copy()
    other[2:] += 1
    same = np.isclose(_attention(drawn), _attention(other), atol=1e-5).all(axis=1)
    assert [*same] == [True, True, False, False]


def test_a_server_of_its_own_answers_and_ends() -> None:
    with lab.Server(Fixed(2)) as server:
        host, port = server.url.removeprefix("http://").removesuffix("/v1/next").split(":")
        assert host == "127.0.0.1"
        run = lab.drive(server.url, [0.0] * 5, PROMPT, timeout=5.0, progress=False)
    assert [*run.status].count(200) == 4  # the fifth waits for a sixth
    assert [json.loads(answer)["batch"] for answer in run.answers if answer] == [2] * 4
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), LONG)


def test_a_server_takes_another_policy() -> None:
    with lab.Server(Fixed(8)) as server:
        server.use(Fixed(3))
        run = lab.drive(server.url, [0.0] * 6, PROMPT, progress=False)
        with pytest.raises(ValueError, match="batches of at most 32"):
            server.use(Greedy(33))
    assert [json.loads(answer)["batch"] for answer in run.answers] == [3] * 6
    assert sorted(json.loads(answer)["number"] for answer in run.answers) == [1] * 3 + [2] * 3


def test_a_server_under_overload_stays_up() -> None:
    with lab.Server(Greedy(2), places=4, connections=16) as server:
        run = lab.drive(server.url, [0.0] * 200, PROMPT, progress=False)
        after = lab.drive(server.url, [0.0], PROMPT, progress=False)
    assert set(run.status) <= {200, 429, 503, 0}
    assert {200, 503} <= set(run.status)
    assert [*after.status] == [200]


@pytest.mark.parametrize(
    ("arguments", "error", "reason"),
    [
        ((Fixed(33),), ValueError, "policy must have batches of at most 32"),
        ((Window(8, 0.1, False),), ValueError, "policy must close batches for an idle server"),
        (("greedy",), TypeError, "policy must be Fixed, Greedy or Window"),
        ((Greedy(8), 0), ValueError, "places must be at least 1, got 0"),
        ((Greedy(8), 1, 0.5), ValueError, "connections must be a whole number, got 0.5"),
    ],
)
def test_a_server_that_cannot_be_is_refused(
    arguments: tuple[Any, ...], error: type[Exception], reason: str
) -> None:
    with pytest.raises(error, match=reason):
        lab.Server(*arguments)


def test_a_profile_times_each_size() -> None:
    times = lab.profile((1, 3), repeats=2, progress=False)
    assert times.shape == (2, 2)
    assert (times > 0).all()


@pytest.mark.parametrize("batches", [(), (0,), (33,), (1.5,)])
def test_a_profile_of_impossible_batches_is_refused(batches: Any) -> None:
    with pytest.raises(ValueError, match="batches must be"):
        lab.profile(batches, progress=False)
