"""An engine's scheduler written out, one sequence and one step at a time, to compare with."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace


@dataclass(eq=False)
class Sequence:
    """A request on its way through an engine."""

    arrival: float
    prompt: int
    answer: int
    written: int = 0
    unread: int = 0
    blocks: int = 0
    times: list[float] = field(default_factory=list)  # of its tokens

    @property
    def held(self) -> int:
        """Tokens of prompt and answer so far."""
        return self.prompt + self.written


def schedule(
    requests: list[tuple[float, int, int]],
    step_time: Callable[[int], float],
    reading: float = 0.0,
    slots: int | None = None,
    blocks: int = 10**9,
    block_size: int = 16,
    spare: int = 0,
    budget: int | None = None,
    whole: bool = False,
    batching: str = "continuous",
) -> SimpleNamespace:
    """Serve all requests, and tell what happened."""
    coming = deque(Sequence(*request) for request in requests)
    waiting, running, done = deque[Sequence](), list[Sequence](), list[Sequence]()
    log = SimpleNamespace(preempted=0, read=0, steps=0, refused=0, running=0.0, blocks=0.0)
    room = budget or 10**9
    slots = slots or 10**9
    now, free, widest = 0.0, blocks, 0

    def grow() -> bool:
        """Give blocks to those that need one; tell whether somebody lost all of his."""
        nonlocal free
        before = log.preempted
        for sequence in list(running):
            while sequence in running and not sequence.unread:
                if sequence.held < sequence.blocks * block_size:
                    break
                if free:
                    free, sequence.blocks = free - 1, sequence.blocks + 1
                    break
                newest = running.pop()
                free, newest.blocks = free + newest.blocks, 0
                waiting.appendleft(newest)
                log.preempted += 1
        return log.preempted > before

    def admit() -> tuple[list[Sequence], int]:
        """Those whose prompts are read to the end in this step, and all tokens that are read."""
        nonlocal free
        joined, read = [], 0
        decoding = sum(not s.unread for s in running)
        if running and running[-1].unread:
            newest = running[-1]
            read = max(0, min(newest.unread, room - decoding))
            newest.unread -= read
            if newest.unread:
                return joined, read
            joined.append(newest)
        if batching != "continuous" and running:
            return joined, read
        while waiting and len(running) < slots:
            first = waiting[0]
            if -(-(first.prompt + first.answer) // block_size) > blocks:
                waiting.popleft()
                log.refused += 1
                continue
            need = -(-(first.held + 1) // block_size)
            if need > free or (running and free - need < spare):
                break
            left = room - read - (0 if whole else decoding + len(joined))
            if first.held and (left < first.held if whole and read else left <= 0 and not whole):
                break
            running.append(waiting.popleft())
            free, first.blocks = free - need, need
            first.unread = first.held
            taken = first.unread if whole else min(first.unread, max(0, left))
            first.unread, read = first.unread - taken, read + taken
            if first.unread:
                break
            joined.append(first)
        return joined, read

    while coming or waiting or running:
        if not waiting and not running:
            now = max(now, coming[0].arrival)
        while coming and coming[0].arrival <= now:
            waiting.append(coming.popleft())
        if not running:
            widest = 0
        if whole:
            joined, read = admit()
            if not joined:
                grow()
        else:
            joined, read = ([], 0) if grow() else admit()
        if not running:
            continue
        alone = whole and joined
        given = joined if alone else [s for s in running if not s.unread]
        size = len(given)
        if batching == "padded":
            size = widest = max(size, widest)
        lasting = step_time(size) + reading * read
        now += lasting
        log.steps += 1
        log.read += read
        log.running += len(running) * lasting
        log.blocks += (blocks - free) * lasting
        for sequence in given:
            sequence.written += 1
            sequence.times.append(now)
            if sequence.written == sequence.answer:
                running.remove(sequence)
                free += sequence.blocks
                done.append(sequence)
    log.responses = [s.times[-1] - s.arrival for s in done]
    log.firsts = [s.times[0] - s.arrival for s in done]
    log.gaps = [b - a for s in done for a, b in zip(s.times, s.times[1:], strict=False)]
    log.elapsed = now
    return log
