"""A pool of memory shared by running sequences: who gets which piece, step by step."""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(slots=True, eq=False)
class Request:
    """A sequence on its way through a server.

    Attributes
    ----------
    prompt, answer : int
        Its lengths [tokens].
    room, piece : int
        What it asks for, and what a contiguous allocator takes for it [tokens].
    written : int
        Tokens of the answer written so far [tokens].
    place : int
        Where its piece starts, or how many blocks it has [1].
    """

    prompt: int
    answer: int
    room: int
    piece: int
    written: int = 0
    place: int = 0

    @property
    def final(self) -> int:
        """Tokens that it will hold in the end."""
        return self.prompt + self.answer


class Pool(Protocol):
    """Memory from which running sequences take."""

    held: int
    internal: int
    rounding: int

    def admit(self, request: Request) -> bool:
        """Take what a sequence needs to start; tell whether there was enough."""

    def grow(self, request: Request) -> bool:
        """Take what it needs for one more token; tell whether there was enough."""

    def release(self, request: Request) -> None:
        """Give back all that it has."""


class Gaps:
    """Free memory, of which the first gap that is large enough is taken."""

    def __init__(self, size: int) -> None:
        self.gaps = [(0, size)]

    def take(self, size: int) -> int | None:
        """Start of a piece, if there is one."""
        for index, (start, length) in enumerate(self.gaps):
            if length >= size:
                rest = [(start + size, length - size)] if length > size else []
                self.gaps[index : index + 1] = rest
                return start
        return None

    def give(self, start: int, size: int) -> None:
        """Return a piece; neighbours that are free become one gap."""
        insort(self.gaps, (start, size))
        index = self.gaps.index((start, size))
        for left in (index, index - 1):
            if 0 <= left < len(self.gaps) - 1:
                (first, length), (second, more) = self.gaps[left : left + 2]
                if first + length == second:
                    self.gaps[left : left + 2] = [(first, length + more)]


class Buddies:
    """Free memory in pieces of powers of two, halved when taken and joined when returned.

    A pool that is no power of two starts as the sum of those that its binary digits name.
    """

    def __init__(self, size: int) -> None:
        self.free: list[set[int]] = [set() for _ in range(size.bit_length())]
        start = 0
        for level in reversed(range(size.bit_length())):
            if size >> level & 1:
                self.free[level].add(start)
                start += 1 << level

    def take(self, size: int) -> int | None:
        """Start of a piece, if there is one."""
        wanted = (size - 1).bit_length()
        for level in range(wanted, len(self.free)):
            if self.free[level]:
                start = min(self.free[level])
                self.free[level].remove(start)
                for half in range(wanted, level):
                    self.free[half].add(start + (1 << half))
                return start
        return None

    def give(self, start: int, size: int) -> None:
        """Return a piece, and join it with its buddy as long as that is free."""
        level = (size - 1).bit_length()
        while start ^ (1 << level) in self.free[level]:
            self.free[level].remove(start ^ (1 << level))
            start &= ~(1 << level)
            level += 1
        self.free[level].add(start)


class ContiguousPool:
    """Pool from which each sequence takes one piece, for all of its life."""

    def __init__(self, memory: Gaps | Buddies) -> None:
        self.memory = memory
        self.held = self.internal = self.rounding = 0

    def admit(self, request: Request) -> bool:
        """Take the piece of a sequence."""
        start = self.memory.take(request.piece)
        if start is None:
            return False
        request.place = start
        self._count(request, 1)
        return True

    def grow(self, request: Request) -> bool:
        """Take nothing: all is reserved."""
        return True

    def release(self, request: Request) -> None:
        """Give the piece back."""
        self.memory.give(request.place, request.piece)
        self._count(request, -1)

    def _count(self, request: Request, sign: int) -> None:
        self.held += sign * request.piece
        self.internal += sign * (request.room - request.final)
        self.rounding += sign * (request.piece - request.room)


class PagedPool:
    """Pool of blocks of equal size, of which a sequence takes one more when its last is full."""

    rounding = 0

    def __init__(self, blocks: int, size: int, spare: int) -> None:
        self.free, self.size, self.spare = blocks, size, spare
        self.held = self.internal = 0

    def admit(self, request: Request) -> bool:
        """Take the blocks of all tokens so far and of the next one, if enough are left."""
        blocks = -(-(request.prompt + request.written + 1) // self.size)
        left = self.free - blocks >= self.spare or not self.held
        return left and self._take(request, blocks)

    def grow(self, request: Request) -> bool:
        """Take a block if the last one is full."""
        full = request.prompt + request.written == request.place * self.size
        return not full or self._take(request, 1)

    def release(self, request: Request) -> None:
        """Give all blocks back."""
        self._count(request, -request.place)

    def _take(self, request: Request, blocks: int) -> bool:
        if blocks > self.free:
            return False
        self._count(request, blocks)
        return True

    def _count(self, request: Request, blocks: int) -> None:
        self.internal -= max(0, request.place * self.size - request.final)
        request.place += blocks
        self.free -= blocks
        self.held += blocks * self.size
        self.internal += max(0, request.place * self.size - request.final)


@dataclass
class Log:
    """What happened, step by step.

    Attributes
    ----------
    rows : list of tuple
        Running and waiting sequences; tokens used, ahead, internal and rounded, a row a step.
    preempted, recomputed : int
        Sequences that had to start again [1], and tokens that they read once more [tokens].
    """

    rows: list[tuple[int, ...]] = field(default_factory=list)
    preempted: int = 0
    recomputed: int = 0


def run(requests: Sequence[Request], arrivals: Sequence[int], pool: Pool) -> Log:
    """Let sequences run first come first served until the last has finished."""
    log, waiting, running = Log(), deque[Request](), list[Request]()
    used = came = step = 0

    def leave(request: Request, out: Callable[[Request], None]) -> None:
        """Take a sequence out of the pool and count its tokens no more."""
        nonlocal used
        pool.release(request)
        used -= request.prompt + request.written
        out(request)

    while came < len(requests) or waiting or running:
        while came < len(requests) and arrivals[came] <= step:
            waiting.append(requests[came])
            came += 1
        before, place = log.preempted, 0
        while place < len(running):
            while place < len(running) and not pool.grow(running[place]):
                newest = running.pop()
                log.preempted += 1
                leave(newest, waiting.appendleft)
            place += 1
        while waiting and before == log.preempted and pool.admit(waiting[0]):
            running.append(waiting.popleft())
            used += running[-1].prompt + running[-1].written
            log.recomputed += used_again(running[-1])
        for request in running:
            request.written += 1
        used += len(running)
        ahead = pool.held - used - pool.internal - pool.rounding
        log.rows.append((len(running), len(waiting), used, ahead, pool.internal, pool.rounding))
        done = [request for request in running if request.written == request.answer]
        running = [request for request in running if request.written < request.answer]
        for request in done:
            leave(request, lambda _: None)
        step += 1
    return log


def used_again(request: Request) -> int:
    """Tokens that a sequence reads once more because it was preempted."""
    return request.prompt + request.written if request.written else 0
