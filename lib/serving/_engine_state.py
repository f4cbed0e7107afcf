"""What an engine that is simulated step by step remembers: one record of arrays, with names.

Times are in units of a step of one sequence, counted from the end of the last chunk of arrivals. A
place of -1 is nobody's.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from . import _kernels
from ._kernels import Array

CIRCLE = 1 << 16
"""Steps that the circular list tells apart; longer answers go round it."""
RESPONSE, TTFT, ITL = range(3)
"""Rows of the times that are counted."""


class Rules(NamedTuple):
    """What does not change in a run."""

    slope: float  # time that a sequence adds to a step, beyond the table
    reading: float  # time of a token of a prompt
    slots: int
    blocks: int  # 0 for no end of memory
    block_size: int
    spare: int  # blocks that admission leaves
    budget: int  # tokens a step
    whole: bool  # prompts are read whole, in steps of their own
    static: int  # 1 if nobody joins a batch, 2 if its places are paid for until its end
    first_limit: float
    each_limit: float


def _record(whole: str, real: str = "") -> np.dtype[Any]:
    """Names of whole numbers, and of real ones."""
    names = [(name, np.int64) for name in whole.split()]
    return np.dtype([*names, *((name, np.float64) for name in real.split())], align=True)


SEQUENCE = _record(
    "last "  # step of its last token
    "length prompt "  # of its answer and its prompt
    "written start "  # tokens written when it (re)started, and the step of that
    "next "  # next in the list of its last step, of those preempted, or of spare rows
    "older newer",  # neighbours in order of admission
    "arrived first token",  # times of its arrival, its first token, its last one before a pause
)
STATE = _record(
    "step head "  # number of the step; next arrival
    "free used decoding "  # free blocks; sequences with slots, and those that get tokens
    "partial rest "  # the one that is read in chunks, and its tokens to read
    "newest stack "  # newest with a slot; last to be preempted
    "spare rows "  # row whose sequence has ended; rows that have been used
    "fresh wide",  # number of those in `Engine.fresh`; rows of a static batch
    "now ended",  # time, and when the last step ended that gave all a token
)
TALLY = _record("", "count total squares least largest")
SUMS = _record(
    "",
    "running blocks busy "  # sequences and blocks, over time; time of steps
    "steps tokens read "  # steps; tokens made, and read
    "preempted refused met answered",  # requests; tokens of what was answered
)


class Engine(NamedTuple):
    """The record, which all pieces of the loop are given."""

    rules: Rules
    table: Array  # times of steps of 0, 1, ... sequences
    state: Any
    pool: Any  # sequences, running and preempted
    ring: Array  # first of the list of sequences that end in each of the next steps
    phases: Array  # sequences by the steps at which they fill a block
    fresh: Array  # those that got a token since the last step that gave one to all
    times: Array  # of arrivals, those that wait first
    prompts: Array
    outputs: Array
    bins: Array
    tally: Any
    sums: Any


def _records(kind: np.dtype[Any], count: int) -> Any:
    """Records of zeros: of NumPy for a compiled loop, else of Python, whose fields are quick."""
    if _kernels.numba is None:
        zeros = {name: kind[name].type().item() for name in kind.names or ()}
        return [SimpleNamespace(**zeros) for _ in range(count)]
    return np.zeros(count, dtype=kind).view(np.recarray)


def new(rules: Rules, table: Array) -> Engine:
    """Make an engine without sequences."""
    [state] = _records(STATE, 1)
    state.partial = state.newest = state.stack = state.spare = -1
    state.free = rules.blocks
    nothing = np.empty(0, dtype=np.int64)
    engine = Engine(
        *(rules, table, state, _records(SEQUENCE, 0)),
        *(np.full(CIRCLE, -1, dtype=np.int64), np.zeros(rules.block_size, dtype=np.int64)),
        *(nothing, np.empty(0), nothing, nothing),
        *(np.zeros((3, _kernels.BINS), dtype=np.int64), None, None),
    )
    return counting(engine)


def counting(engine: Engine) -> Engine:
    """Begin to count anew."""
    tally = _records(TALLY, 3)
    for row in tally:
        row.least = np.inf
    return engine._replace(tally=tally, sums=_records(SUMS, 1)[0])


def larger(engine: Engine, rows: int) -> Engine:
    """Make rows for so many sequences."""
    added = _records(SEQUENCE, rows - len(engine.pool))
    if isinstance(added, list):
        pool = engine.pool + added
    else:
        pool = np.concatenate([engine.pool, added]).view(np.recarray)
    fresh = np.zeros(rows, dtype=np.int64)
    fresh[: engine.fresh.size] = engine.fresh
    return engine._replace(pool=pool, fresh=fresh)
