"""The life of a sequence in an engine: let in, given its first token, preempted, ended.

A running sequence gets one token a step, so that the step of its last token is known when it
starts: it waits in the list of that step, and nothing is done for it in between. It also fills its
last block at steps that are known modulo the size of a block: how many do so at each remainder is
all that the memory needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._engine_state import ITL, RESPONSE, TTFT, Engine, Rules
from ._kernels import SHIFT, inlined


@inlined
def count(row: int, value: float, times: int, engine: Engine) -> None:
    """Count a time so many times."""
    engine.bins[row, np.float64(value).view(np.int64) >> SHIFT] += times
    tally = engine.tally[row]
    tally.count += times
    tally.total += times * value
    tally.squares += times * value * value
    tally.least = min(tally.least, value)
    tally.largest = max(tally.largest, value)


@inlined
def filled(tokens: int, rules: Rules) -> int:
    """Blocks that hold so many tokens."""
    return (tokens + rules.block_size - 1) // rules.block_size


@inlined
def phase(sequence: Any, rules: Rules) -> int:
    """Remainder of the steps at which a sequence needs a new block."""
    return (sequence.start - sequence.prompt - sequence.written) % rules.block_size


@inlined
def enlist(slot: int, engine: Engine) -> None:
    """Put a sequence into the list of the step of its last token."""
    pool, ring = engine.pool, engine.ring
    place = pool[slot].last & (ring.size - 1)
    pool[slot].next = ring[place]
    ring[place] = slot


@inlined
def strike(slot: int, engine: Engine) -> None:
    """Take a sequence out of that list, in which the newest is mostly the first."""
    pool, ring = engine.pool, engine.ring
    place = pool[slot].last & (ring.size - 1)
    before, other = -1, ring[place]
    while other != slot:
        before, other = other, pool[other].next
    if before >= 0:
        pool[before].next = pool[slot].next
    else:
        ring[place] = pool[slot].next


@inlined
def seat(slot: int, engine: Engine) -> None:
    """Give a sequence a slot, as the newest."""
    state, pool = engine.state, engine.pool
    state.used += 1
    if engine.rules.blocks > 0:  # else nobody is preempted, and the order of no use
        pool[slot].older, pool[slot].newer = state.newest, -1
        if state.newest >= 0:
            pool[state.newest].newer = slot
        state.newest = slot


@inlined
def unseat(slot: int, engine: Engine) -> None:
    """Take the slot away."""
    state, pool = engine.state, engine.pool
    state.used -= 1
    if engine.rules.blocks > 0:
        older, newer = pool[slot].older, pool[slot].newer
        if older >= 0:
            pool[older].newer = newer
        if newer >= 0:
            pool[newer].older = older
        else:
            state.newest = older


@inlined
def preempt(engine: Engine) -> None:
    """Take the newest sequence's blocks; it is the next to be admitted, and starts again."""
    rules, state, slot = engine.rules, engine.state, engine.state.newest
    sequence = engine.pool[slot]
    unseat(slot, engine)
    if slot == state.partial:
        state.partial = -1
        state.free += (sequence.prompt + sequence.written) // rules.block_size + 1
    else:
        engine.phases[phase(sequence, rules)] -= 1
        sequence.written += state.step - sequence.start
        state.free += filled(sequence.prompt + sequence.written, rules)
        strike(slot, engine)
        state.decoding -= 1
        if state.fresh > 0 and engine.fresh[state.fresh - 1] == slot:
            state.fresh -= 1
        else:
            sequence.token = state.ended
    sequence.next, state.stack = state.stack, slot
    engine.sums.preempted += 1.0


@inlined
def accept(slot: int, engine: Engine) -> int:
    """Give a row to the next arrival, unless it is a preempted sequence, which has one."""
    state, pool = engine.state, engine.pool
    if slot >= 0:
        state.stack = pool[slot].next
        return slot
    slot = state.spare
    if slot >= 0:
        state.spare = pool[slot].next
    else:
        slot = state.rows
        state.rows += 1
    pool[slot].prompt, pool[slot].length = engine.prompts[state.head], engine.outputs[state.head]
    pool[slot].written = 0
    pool[slot].arrived = engine.times[state.head]
    state.head += 1
    return slot


@inlined
def start(slot: int, engine: Engine) -> bool:
    """Give a sequence the token that comes with the last of its prompt; tell if it goes on."""
    rules, state, sequence = engine.rules, engine.state, engine.pool[slot]
    if sequence.written == 0:
        sequence.first = state.now
        count(TTFT, state.now - sequence.arrived, 1, engine)
    else:
        count(ITL, state.now - sequence.token, 1, engine)
    sequence.token = state.now
    sequence.start = state.step - (1 if rules.whole else 0)
    sequence.last = sequence.start + sequence.length - sequence.written - 1
    state.decoding += 1
    if rules.blocks > 0:
        engine.phases[phase(sequence, rules)] += 1
    if sequence.last < state.step:
        finish(slot, engine)
        return False
    enlist(slot, engine)
    return True


@inlined
def finish(slot: int, engine: Engine) -> None:
    """Count a sequence whose last token has come, and forget it."""
    rules, state, sequence = engine.rules, engine.state, engine.pool[slot]
    count(RESPONSE, state.now - sequence.arrived, 1, engine)
    first = sequence.first - sequence.arrived
    each = (state.now - sequence.first) / max(1, sequence.length - 1)
    if first <= rules.first_limit and each <= rules.each_limit:
        engine.sums.met += 1.0
    engine.sums.answered += sequence.length
    if rules.blocks > 0:
        state.free += filled(sequence.prompt + sequence.length, rules)
        engine.phases[phase(sequence, rules)] -= 1
    unseat(slot, engine)
    state.decoding -= 1
    sequence.next, state.spare = state.spare, slot


@inlined
def rebase(engine: Engine) -> float:
    """Count times from now on, which keeps their digits; return the time that has passed."""
    state, now = engine.state, engine.state.now
    for slot in range(state.rows):
        sequence = engine.pool[slot]
        sequence.arrived -= now
        sequence.first -= now
        sequence.token -= now
    state.ended -= now
    state.now = 0.0
    return now
