"""Where the memory of a cache goes: contiguous pieces or pages, sequence by sequence and in time.

A sequence with a prompt of s tokens writes o tokens, one a step, and holds s + j tokens once it
has written the j-th. What an allocator sets aside for it beyond these is kept for tokens to come
(ahead), never filled (internal), or a rounding of the allocator's (rounding).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _pool, errors

ROOMS = ("longest", "power of two", "exact")
"""How far ahead a contiguous allocator reserves: see `Contiguous`."""
MOST_TOKENS = 10**15
"""Largest length and pool; whole numbers are exact far beyond it."""
LONGEST_RUN = 10**7
"""Most tokens that a simulation writes, and its latest arrival."""


@dataclass(frozen=True)
class Contiguous:
    """One piece of memory for each sequence, reserved when it starts.

    Parameters
    ----------
    max_tokens : int
        Most tokens of a sequence, prompt and answer, at least 1 [tokens].
    room : str
        What is reserved: room for the "longest" sequence; the prompt and the answer rounded up
        to a "power of two"; or the "exact" length, which only an oracle knows.
    buddy : bool
        Whether pieces are rounded up to powers of two, as buddy allocation does; else the first
        gap that is large enough is taken.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If ``max_tokens`` is too small or not whole, or ``room`` is unknown.

    Notes
    -----
    Source: Kwon et al. 2023, section 6.1, for the three ways to reserve; Knuth, The Art of
    Computer Programming 1, section 2.5, for first fit and buddies.
    """

    max_tokens: int
    room: str = "longest"
    buddy: bool = True

    def __post_init__(self) -> None:
        errors.integer("max_tokens", self.max_tokens, at_least=1)
        if not isinstance(self.room, str) or self.room not in ROOMS:
            raise ValueError(f"room must be one of {', '.join(ROOMS)}, got {self.room!r}")
        if not isinstance(self.buddy, bool):
            raise TypeError(f"buddy must be True or False, got {self.buddy!r}")


@dataclass(frozen=True)
class Paged:
    """Blocks of equal size that lie anywhere, one more whenever the last is full.

    Parameters
    ----------
    block_size : int
        Tokens of a block, at least 1 [tokens].
    spare : int
        Blocks that must stay free when a sequence starts beside others [1].

    Raises
    ------
    TypeError
        If an argument is not a real number.
    ValueError
        If ``block_size`` or ``spare`` is too small or not whole.

    Notes
    -----
    Source: Kwon et al. 2023, section 4; 16 tokens are vLLM's default.
    """

    block_size: int = 16
    spare: int = 0

    def __post_init__(self) -> None:
        errors.integer("block_size", self.block_size, at_least=1)
        errors.integer("spare", self.spare, at_least=0)


Allocator = Contiguous | Paged


class Shares(NamedTuple):
    """What memory is set aside for, as shares of one whole.

    Attributes
    ----------
    used : float
        Holds tokens [1].
    ahead : float
        Reserved for tokens that will come [1].
    internal : float
        Reserved and never filled [1].
    external : float
        Rounding of pieces by the allocator and, in a pool, what is free while someone waits [1].
    """

    used: float
    ahead: float
    internal: float
    external: float


def waste(input_tokens: ArrayLike, output_tokens: ArrayLike, allocator: Allocator) -> Shares:
    """Sum over the lives of sequences what is set aside for them, and for what.

    Parameters
    ----------
    input_tokens : array_like, shape (n,)
        Prompt of each sequence, at least 0 [tokens].
    output_tokens : array_like, shape (n,)
        Answer of each, at least 1 [tokens].
    allocator : Contiguous or Paged
        Who sets it aside.

    Returns
    -------
    Shares
        Shares of all token-steps that are set aside; gaps between sequences are none of them.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If lengths are no whole numbers, too small, differ in number or exceed ``max_tokens``.

    Notes
    -----
    A sequence in its j-th step holds s + j tokens; the sums over j are closed and exact.

    Examples
    --------
    >>> waste([100], [300], Contiguous(2048)).used
    0.122314453125
    >>> round(waste([100], [300], Paged(16)).used, 3)
    0.971
    """
    rows = _lengths(input_tokens, output_tokens, allocator)
    used = sum(s * o + o * (o + 1) // 2 for s, o in rows)
    if isinstance(allocator, Paged):
        size = int(allocator.block_size)
        held = sum(size * (_blocks_up_to(s + o, size) - _blocks_up_to(s, size)) for s, o in rows)
        internal = sum((-(s + o) % size) * _steps_in_last_block(s, o, size) for s, o in rows)
        external = 0
    else:
        rooms = [_room(s, o, allocator) for s, o in rows]
        pieces = [_piece(room, allocator) for room in rooms]
        held = sum(o * piece for (_, o), piece in zip(rows, pieces, strict=True))
        internal = sum(o * (room - s - o) for (s, o), room in zip(rows, rooms, strict=True))
        external = sum(
            o * (piece - room) for (_, o), room, piece in zip(rows, rooms, pieces, strict=True)
        )
    parts = (used, held - used - internal - external, internal, external)
    return Shares(*(float(Fraction(part, held)) for part in parts))


def shared_blocks(lengths: ArrayLike, prefix: int, block_size: int = 16) -> int:
    """Count the blocks of sequences that begin alike, each full block of the prefix once.

    Parameters
    ----------
    lengths : array_like, shape (n,)
        Tokens of each sequence, at least those of the prefix [tokens].
    prefix : int
        Tokens with which all of them begin, at least 0 [tokens].
    block_size : int
        Tokens of a block, at least 1 [tokens].

    Returns
    -------
    int
        Blocks in memory [1].

    Raises
    ------
    TypeError
        If an argument is not of real numbers.
    ValueError
        If an argument is too small or not whole, or ``prefix`` is longer than a sequence.

    Notes
    -----
    A block that holds the end of the prefix and the start of what differs is not shared.
    Source: Kwon et al. 2023, section 4.4.

    Examples
    --------
    >>> shared_blocks([1100] * 8, prefix=1000)
    118
    >>> shared_blocks([1100] * 8, prefix=0)
    552
    """
    size = errors.integer("block_size", block_size, at_least=1)
    alike = errors.integer("prefix", prefix, at_least=0)
    rows = _whole("lengths", lengths, at_least=0)
    if rows and min(rows) < alike:
        raise ValueError(
            f"prefix must be at most the shortest of lengths, {min(rows)}, got {prefix}"
        )
    return sum(-(-row // size) for row in rows) - max(0, len(rows) - 1) * (alike // size)


@dataclass(frozen=True, eq=False)
class Run:
    """A pool of memory over time.

    Attributes
    ----------
    pool : int
        Its tokens [tokens].
    running, waiting : ndarray, shape (steps,)
        Sequences in each step [requests].
    used, ahead, internal, rounding, free : ndarray, shape (steps,)
        Parts of the pool in each step, as in `Shares`; ``free`` is in no sequence [tokens].
    preempted : int
        How often a sequence lost its memory and had to start again [1].
    recomputed : int
        Tokens whose keys and values were made once more for that [tokens].
    """

    pool: int
    running: NDArray[np.int64] = field(repr=False)
    waiting: NDArray[np.int64] = field(repr=False)
    used: NDArray[np.int64] = field(repr=False)
    ahead: NDArray[np.int64] = field(repr=False)
    internal: NDArray[np.int64] = field(repr=False)
    rounding: NDArray[np.int64] = field(repr=False)
    free: NDArray[np.int64] = field(repr=False)
    preempted: int
    recomputed: int

    @property
    def contended(self) -> NDArray[np.intp]:
        """Steps in which a sequence waits, without the first tenth of them [1]."""
        steps = np.flatnonzero(self.waiting)
        return steps[len(steps) // 10 :]

    @property
    def mean_running(self) -> float:
        """Mean number that runs while another waits; 0 if none ever does [requests]."""
        steps = self.contended
        return float(self.running[steps].mean()) if len(steps) else 0.0

    @property
    def shares(self) -> Shares:
        """What the pool is used for while a sequence waits, and all zero if none ever does."""
        steps = self.contended
        parts = (self.used, self.ahead, self.internal, self.rounding + self.free)
        scale = self.pool * max(1, len(steps))
        return Shares(*(float(part[steps].sum() / scale) for part in parts))


def simulate(
    input_tokens: ArrayLike,
    output_tokens: ArrayLike,
    allocator: Allocator,
    pool: int,
    arrivals: ArrayLike | None = None,
) -> Run:
    """Run sequences through a pool of memory, first come first served, a token a step each.

    Parameters
    ----------
    input_tokens : array_like, shape (n,)
        Prompt of each sequence, at least 0 [tokens].
    output_tokens : array_like, shape (n,)
        Answer of each, at least 1; at most ten million in all [tokens].
    allocator : Contiguous or Paged
        Who sets memory aside.
    pool : int
        Tokens of which there is memory, enough for any one of the sequences [tokens].
    arrivals : array_like, shape (n,), or None
        Step of each arrival, not before the one before it; None if all wait from the start [1].

    Returns
    -------
    Run
        The pool in each step, until the last sequence has finished.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If lengths or arrivals are no whole numbers, too small or too large, differ in number or
        exceed ``max_tokens``, or ``pool`` has no room for one of the sequences.

    Notes
    -----
    The first of those that wait starts as soon as there is room for it, and nobody passes it.
    With pages it needs blocks for its prompt and one token; when a running sequence needs a
    block and none is free, the newest gives up all of its own and waits at the head. What it
    wrote is kept as text, and read again with its prompt when it starts once more. Source: Kwon
    et al. 2023, section 4.5.

    Examples
    --------
    >>> simulate([3, 3], [5, 5], Contiguous(8), pool=12).running
    array([1, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    >>> simulate([3, 3], [5, 5], Paged(4), pool=12).running
    array([2, 2, 2, 2, 2])
    """
    rows = _lengths(input_tokens, output_tokens, allocator)
    size = errors.integer("pool", pool, at_least=1)
    if size > MOST_TOKENS:
        raise ValueError(f"pool must be at most {MOST_TOKENS}, got {pool!r}")
    if sum(o for _, o in rows) > LONGEST_RUN:
        raise ValueError(
            f"output_tokens must add up to at most {LONGEST_RUN}, got {output_tokens!r}"
        )
    steps = [0] * len(rows) if arrivals is None else _whole("arrivals", arrivals, at_least=0)
    if len(steps) != len(rows) or steps != sorted(steps) or steps[-1] > LONGEST_RUN:
        raise ValueError(
            f"arrivals must be one of each sequence, in order and at most {LONGEST_RUN}, "
            f"got {arrivals!r}"
        )
    requests, memory = _prepared(rows, allocator, size)
    log = _pool.run(requests, steps, memory)
    running, waiting, *parts = np.array(log.rows, dtype=np.int64).T
    free = size - np.sum(parts, axis=0)
    return Run(size, running, waiting, *parts, free, log.preempted, log.recomputed)


def _prepared(
    rows: list[tuple[int, int]], allocator: Allocator, size: int
) -> tuple[list[_pool.Request], _pool.Pool]:
    """Sequences as the pool wants them, and the pool."""
    memory: _pool.Pool
    if isinstance(allocator, Paged):
        block = int(allocator.block_size)
        largest = size // block * block
        memory = _pool.PagedPool(size // block, block, int(allocator.spare))
        requests = [_pool.Request(s, o, s + o, s + o) for s, o in rows]
    else:
        kind = _pool.Buddies if allocator.buddy else _pool.Gaps
        memory = _pool.ContiguousPool(kind(size))
        largest = 1 << (size.bit_length() - 1) if allocator.buddy else size
        rooms = [_room(s, o, allocator) for s, o in rows]
        requests = [
            _pool.Request(s, o, room, _piece(room, allocator))
            for (s, o), room in zip(rows, rooms, strict=True)
        ]
    if (most := max(request.piece for request in requests)) > largest:
        raise ValueError(f"pool must have room for a piece of {most} tokens, got {size}")
    return requests, memory


def _whole(name: str, values: ArrayLike, at_least: int) -> list[int]:
    found = errors.array(name, values, at_least=at_least)
    if found.ndim != 1:
        raise ValueError(f"{name} must be a list of numbers, got {values!r}")
    for bad in found[(found % 1 > 0) | (found > MOST_TOKENS)]:
        raise ValueError(f"{name} must hold whole numbers up to {MOST_TOKENS}, got {bad}")
    return [int(value) for value in found]


def _lengths(
    input_tokens: ArrayLike, output_tokens: ArrayLike, allocator: Allocator
) -> list[tuple[int, int]]:
    if not isinstance(allocator, (Contiguous, Paged)):
        raise TypeError(f"allocator must be Contiguous or Paged, got {allocator!r}")
    prompts = _whole("input_tokens", input_tokens, at_least=0)
    answers = _whole("output_tokens", output_tokens, at_least=1)
    if len(prompts) != len(answers) or not prompts:
        raise ValueError(
            f"input_tokens and output_tokens must be of equally many sequences, at least 1, "
            f"got {len(prompts)} and {len(answers)}"
        )
    rows = list(zip(prompts, answers, strict=True))
    longest = max(s + o for s, o in rows)
    if isinstance(allocator, Contiguous) and longest > allocator.max_tokens:
        raise ValueError(
            f"input_tokens and output_tokens of a sequence must add up to at most "
            f"max_tokens = {allocator.max_tokens}, got {longest}"
        )
    return rows


def _power_of_two(tokens: int) -> int:
    return 1 << (tokens - 1).bit_length()


def _room(prompt: int, answer: int, allocator: Contiguous) -> int:
    """Tokens that a contiguous allocator reserves."""
    if allocator.room == "exact":
        return prompt + answer
    longest = int(allocator.max_tokens)
    if allocator.room == "longest":
        return longest
    return min(prompt + _power_of_two(answer), longest)


def _piece(room: int, allocator: Contiguous) -> int:
    """Tokens of the piece that is taken for a room."""
    return _power_of_two(room) if allocator.buddy else room


def _blocks_up_to(tokens: int, size: int) -> int:
    """Sum of the blocks that 1, 2, ... tokens take."""
    full, rest = divmod(tokens, size)
    return size * full * (full + 1) // 2 + rest * (full + 1)


def _steps_in_last_block(prompt: int, answer: int, size: int) -> int:
    """Steps in which a sequence writes into what will be its last block."""
    return min(answer, (prompt + answer - 1) % size + 1)
