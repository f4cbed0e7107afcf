"""The loop of an engine step by step, compiled where numba is installed; the numbers are the same.

A running sequence gets one token a step, so that the step of its last token is known when it
starts: it waits in the circular list of that step, and nothing is done for it in between. It also
fills its last block at steps that are known modulo the size of a block: how many do so at each
remainder is all that the memory needs. A step costs the same however many sequences run.

Times are in units of a step of one sequence, counted from the end of the last chunk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ._kernels import SHIFT, Array, compiled, numba

LAST, LENGTH, PROMPT, WRITTEN, START, NEXT, BACK, OLDER, NEWER = range(9)
"""Of a sequence: step of its last token; lengths; written when it (re)started, and the step of
that; neighbours in its list, and in order of admission."""
ARRIVED, FIRST, TOKEN = range(3)
"""Of a sequence: times of its arrival, its first token, and its last one before a pause."""
STEP, HEAD, FREE, DECODING, USED, PARTIAL, REST, NEWEST, SPARE, STACK, FRESH, WIDE = range(12)
"""Of the engine: step; next arrival; free blocks; sequences that get tokens, and that have slots;
the one that is read in chunks, and its tokens to read; newest; free records; preempted; those
that got a token since the last step that gave one to all; rows of a static batch."""
NOW, ENDED = range(2)
"""Time, and when the last step ended that gave all of them a token."""
RESPONSE, TTFT, ITL = range(3)
"""Rows of the times that are counted."""
COUNT, TOTAL, SQUARES, LEAST, LARGEST = range(5)
RUNNING, BLOCKS, BUSY, STEPS, TOKENS, READ, PREEMPTED, REFUSED, MET, ANSWERED = range(10)
"""Sums over time of sequences and blocks; time of steps; steps, tokens made and read; counts of
preempted, refused and answered in time; tokens of what was answered."""


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile into its callers, if that is possible: a call would cost more than what is done."""
    return function if numba is None else numba.njit(inline="always")(function)


class Rules(NamedTuple):
    """What does not change in a run; times in units."""

    slope: float  # beyond the table
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


class Memory(NamedTuple):
    """What an engine remembers between chunks."""

    pool: Array  # of sequences, running and preempted
    marks: Array
    fresh: Array
    ring: Array  # lists of sequences by the step of their last token
    phases: Array  # sequences by the steps at which they fill a block
    state: Array
    clock: Array


@inlined
def count(row: int, value: float, times: int, bins: Array, tally: Array) -> None:
    """Count a time."""
    bins[row, np.float64(value).view(np.int64) >> SHIFT] += times
    tally[row, COUNT] += times
    tally[row, TOTAL] += times * value
    tally[row, SQUARES] += times * value * value
    tally[row, LEAST] = min(tally[row, LEAST], value)
    tally[row, LARGEST] = max(tally[row, LARGEST], value)


@inlined
def release(slot: int, pool: Array, state: Array) -> None:
    """Take a sequence out of the order of admission."""
    older, newer = pool[slot, OLDER], pool[slot, NEWER]
    if older >= 0:
        pool[older, NEWER] = newer
    if newer >= 0:
        pool[newer, OLDER] = older
    else:
        state[NEWEST] = older
    state[USED] -= 1


@inlined
def phase(slot: int, pool: Array, block_size: int) -> int:
    """Remainder of the steps at which a sequence needs a new block."""
    return (pool[slot, START] - pool[slot, PROMPT] - pool[slot, WRITTEN]) % block_size


@compiled
def preempt(
    rules: Rules,
    table: Array,
    pool: Array,
    marks: Array,
    fresh: Array,
    ring: Array,
    phases: Array,
    state: Array,
    clock: Array,
) -> None:
    """Take the newest sequence's blocks; it is the next to be admitted, and starts again."""
    slot = state[NEWEST]
    release(slot, pool, state)
    if slot == state[PARTIAL]:
        state[PARTIAL] = -1
        state[FREE] += (pool[slot, PROMPT] + pool[slot, WRITTEN]) // rules.block_size + 1
    else:
        phases[phase(slot, pool, rules.block_size)] -= 1
        pool[slot, WRITTEN] += state[STEP] - pool[slot, START]
        held = pool[slot, PROMPT] + pool[slot, WRITTEN]
        state[FREE] += (held + rules.block_size - 1) // rules.block_size
        after, before = pool[slot, NEXT], pool[slot, BACK]
        if after >= 0:
            pool[after, BACK] = before
        if before >= 0:
            pool[before, NEXT] = after
        else:
            ring[pool[slot, LAST] & (ring.size - 1)] = after
        state[DECODING] -= 1
        if state[FRESH] > 0 and fresh[state[FRESH] - 1] == slot:
            state[FRESH] -= 1
        else:
            marks[slot, TOKEN] = clock[ENDED]
    pool[slot, NEXT] = state[STACK]
    state[STACK] = slot


@inlined
def finish(
    slot: int,
    rules: Rules,
    table: Array,
    pool: Array,
    marks: Array,
    fresh: Array,
    ring: Array,
    phases: Array,
    state: Array,
    clock: Array,
    bins: Array,
    tally: Array,
    sums: Array,
) -> None:
    """Count a sequence whose last token has come, and forget it."""
    now, length = clock[NOW], pool[slot, LENGTH]
    count(RESPONSE, now - marks[slot, ARRIVED], 1, bins, tally)
    first = marks[slot, FIRST] - marks[slot, ARRIVED]
    each = (now - marks[slot, FIRST]) / max(1, length - 1)
    if first <= rules.first_limit and each <= rules.each_limit:
        sums[MET] += 1.0
    sums[ANSWERED] += length
    if rules.blocks > 0:
        held = pool[slot, PROMPT] + length
        state[FREE] += (held + rules.block_size - 1) // rules.block_size
        phases[phase(slot, pool, rules.block_size)] -= 1
    release(slot, pool, state)
    state[DECODING] -= 1
    pool[slot, NEXT] = state[SPARE]
    state[SPARE] = slot


@inlined
def enlist(slot: int, pool: Array, ring: Array) -> None:
    """Put a sequence into the list of the step of its last token."""
    place = pool[slot, LAST] & (ring.size - 1)
    after = ring[place]
    pool[slot, NEXT], pool[slot, BACK] = after, -1
    if after >= 0:
        pool[after, BACK] = slot
    ring[place] = slot


@inlined
def admit(
    rules: Rules,
    table: Array,
    pool: Array,
    marks: Array,
    fresh: Array,
    ring: Array,
    phases: Array,
    state: Array,
    clock: Array,
    times: Array,
    prompts: Array,
    outputs: Array,
    sums: Array,
) -> int:
    """Give slots and blocks in order of arrival, and return the tokens to read."""
    read, joined, now = 0, 0, clock[NOW]
    if state[PARTIAL] >= 0:
        read = max(0, min(state[REST], rules.budget - state[DECODING]))
        state[REST] -= read
        if state[REST] > 0:
            return read
        fresh[state[FRESH]] = state[PARTIAL]
        state[FRESH] += 1
        state[PARTIAL] = -1
        joined = 1
    if rules.static > 0 and state[USED] > 0:
        return read
    while state[USED] < rules.slots:
        slot = state[STACK]
        if slot >= 0:
            prompt, written = pool[slot, PROMPT], pool[slot, WRITTEN]
        elif state[HEAD] < times.size and times[state[HEAD]] <= now:
            prompt, written = prompts[state[HEAD]], 0
        else:
            break
        need = 0
        if rules.blocks > 0:
            need = (prompt + written) // rules.block_size + 1
            if slot < 0:
                final = prompt + outputs[state[HEAD]]
                if (final + rules.block_size - 1) // rules.block_size > rules.blocks:
                    sums[REFUSED] += 1.0
                    state[HEAD] += 1
                    continue
            if need > state[FREE] or (state[USED] > 0 and state[FREE] - need < rules.spare):
                break
        tokens = prompt + written
        chunk = tokens
        if rules.whole:
            if read > 0 and tokens > 0 and read + tokens > rules.budget:
                break
        elif tokens > 0:
            chunk = min(tokens, rules.budget - state[DECODING] - joined - read)
            if chunk <= 0:
                break
        if slot >= 0:
            state[STACK] = pool[slot, NEXT]
        else:
            slot = state[SPARE]
            state[SPARE] = pool[slot, NEXT]
            pool[slot, PROMPT], pool[slot, LENGTH] = prompt, outputs[state[HEAD]]
            pool[slot, WRITTEN] = 0
            marks[slot, ARRIVED] = times[state[HEAD]]
            state[HEAD] += 1
        state[FREE] -= need
        state[USED] += 1
        pool[slot, OLDER], pool[slot, NEWER] = state[NEWEST], -1
        if state[NEWEST] >= 0:
            pool[state[NEWEST], NEWER] = slot
        state[NEWEST] = slot
        read += chunk
        if chunk < tokens:
            state[PARTIAL], state[REST] = slot, tokens - chunk
            break
        fresh[state[FRESH]] = slot
        state[FRESH] += 1
        joined += 1
    return read


@inlined
def start(
    slot: int,
    rules: Rules,
    table: Array,
    pool: Array,
    marks: Array,
    fresh: Array,
    ring: Array,
    phases: Array,
    state: Array,
    clock: Array,
    bins: Array,
    tally: Array,
    sums: Array,
) -> bool:
    """Give a sequence the token that comes with the last of its prompt; tell if it goes on."""
    now = clock[NOW]
    if pool[slot, WRITTEN] == 0:
        marks[slot, FIRST] = now
        count(TTFT, now - marks[slot, ARRIVED], 1, bins, tally)
    else:
        count(ITL, now - marks[slot, TOKEN], 1, bins, tally)
    marks[slot, TOKEN] = now
    step = state[STEP] - (1 if rules.whole else 0)
    pool[slot, START] = step
    pool[slot, LAST] = step + pool[slot, LENGTH] - pool[slot, WRITTEN] - 1
    state[DECODING] += 1
    if rules.blocks > 0:
        phases[phase(slot, pool, rules.block_size)] += 1
    if pool[slot, LAST] < state[STEP]:
        finish(
            slot, rules, table, pool, marks, fresh, ring, phases, state, clock, bins, tally, sums
        )
        return False
    enlist(slot, pool, ring)
    return True


@inlined
def step(
    read: int,
    before: int,
    rules: Rules,
    table: Array,
    pool: Array,
    marks: Array,
    fresh: Array,
    ring: Array,
    phases: Array,
    state: Array,
    clock: Array,
    bins: Array,
    tally: Array,
    sums: Array,
) -> None:
    """Let the time of a step pass, and give tokens."""
    joined = state[FRESH] - before
    alone = rules.whole and joined > 0
    size = joined if alone else state[DECODING] + joined
    if rules.static == 2:
        size = state[WIDE] = max(state[WIDE], size)
    if size < table.size:
        lasting = table[size]
    else:
        lasting = table[-1] + rules.slope * (size - table.size + 1)
    lasting += rules.reading * read
    clock[NOW] += lasting
    sums[RUNNING] += state[USED] * lasting
    sums[BLOCKS] += (rules.blocks - state[FREE]) * lasting
    sums[BUSY] += lasting
    sums[STEPS] += 1.0
    sums[READ] += read
    sums[TOKENS] += joined
    if not alone:
        sums[TOKENS] += state[DECODING]
        old = state[DECODING] - before
        if old > 0:
            count(ITL, clock[NOW] - clock[ENDED], old, bins, tally)
        for place in range(before):
            count(ITL, clock[NOW] - marks[fresh[place], TOKEN], 1, bins, tally)
        clock[ENDED] = clock[NOW]
    kept = before
    for place in range(before, state[FRESH]):
        if start(
            fresh[place],
            rules,
            table,
            pool,
            marks,
            fresh,
            ring,
            phases,
            state,
            clock,
            bins,
            tally,
            sums,
        ):
            fresh[kept] = fresh[place]
            kept += 1
    state[FRESH] = kept
    if alone:
        return
    place = state[STEP] & (ring.size - 1)
    slot = ring[place]
    ring[place] = -1
    while slot >= 0:
        after = pool[slot, NEXT]
        if pool[slot, LAST] == state[STEP]:
            finish(
                slot,
                rules,
                table,
                pool,
                marks,
                fresh,
                ring,
                phases,
                state,
                clock,
                bins,
                tally,
                sums,
            )
        else:  # in a later round of the circle
            enlist(slot, pool, ring)
        slot = after
    state[STEP] += 1
    state[FRESH] = 0


@inlined
def glide(
    rules: Rules,
    table: Array,
    pool: Array,
    marks: Array,
    fresh: Array,
    ring: Array,
    phases: Array,
    state: Array,
    clock: Array,
    come: float,
    bins: Array,
    tally: Array,
    sums: Array,
) -> None:
    """Run the steps up to a time in which nobody joins, leaves or lacks a block."""
    free, turn, last = state[FREE], 0, ring.size - 1
    bounded = rules.blocks > 0
    size = max(state[DECODING], state[WIDE])
    if size < table.size:
        lasting = table[size]
    else:
        lasting = table[-1] + rules.slope * (size - table.size + 1)
    now, begun, number = clock[NOW], state[STEP], state[STEP]
    held = 0.0
    while ring[number & last] < 0 and now < come:
        if bounded:
            turn = phases[number % rules.block_size]
            if turn > free:
                break
            free -= turn
            held += (rules.blocks - free) * lasting
        now += lasting
        number += 1
    steps = number - begun
    if steps == 0:
        return
    count(ITL, clock[NOW] + lasting - clock[ENDED], state[DECODING], bins, tally)
    if steps > 1:
        count(ITL, lasting, (steps - 1) * state[DECODING], bins, tally)
    sums[RUNNING] += state[USED] * lasting * steps
    sums[BLOCKS] += held
    sums[BUSY] += lasting * steps
    sums[STEPS] += steps
    sums[TOKENS] += steps * state[DECODING]
    state[STEP], state[FREE] = number, free
    clock[NOW] = clock[ENDED] = now


@compiled
def advance(
    rules: Rules,
    table: Array,
    pool: Array,
    marks: Array,
    fresh: Array,
    ring: Array,
    phases: Array,
    state: Array,
    clock: Array,
    times: Array,  # of arrivals, those that wait first
    prompts: Array,
    outputs: Array,
    final: bool,  # whether no more will arrive
    bins: Array,
    tally: Array,
    sums: Array,
) -> None:
    """Run steps until more arrivals must be known."""
    end = times.size
    while True:
        if state[USED] == 0:
            state[WIDE] = 0
            if state[STACK] < 0:
                if state[HEAD] == end:
                    return
                clock[NOW] = max(clock[NOW], times[state[HEAD]])
        if not final and (end == 0 or times[end - 1] <= clock[NOW]):
            return
        if state[FRESH] == 0 and state[PARTIAL] < 0 and state[USED] > 0:
            come = times[state[HEAD]] if state[HEAD] < end else np.inf
            if state[USED] == rules.slots or rules.static > 0:
                come = np.inf if final else times[end - 1]
            elif state[STACK] >= 0:
                come = clock[NOW]
            if come > clock[NOW]:
                glide(
                    rules,
                    table,
                    pool,
                    marks,
                    fresh,
                    ring,
                    phases,
                    state,
                    clock,
                    come,
                    bins,
                    tally,
                    sums,
                )
                if come <= clock[NOW]:
                    continue
        before, read = state[FRESH], 0
        grown = rules.blocks == 0
        if rules.whole:
            read = admit(
                rules,
                table,
                pool,
                marks,
                fresh,
                ring,
                phases,
                state,
                clock,
                times,
                prompts,
                outputs,
                sums,
            )
            grown = grown or state[FRESH] > before
        pressed = False
        if not grown:
            turn = state[STEP] % rules.block_size
            while phases[turn] > state[FREE]:
                preempt(rules, table, pool, marks, fresh, ring, phases, state, clock)
                sums[PREEMPTED] += 1.0
                pressed = True
            state[FREE] -= phases[turn]
            before = min(before, state[FRESH])
        if not rules.whole and not pressed:
            read = admit(
                rules,
                table,
                pool,
                marks,
                fresh,
                ring,
                phases,
                state,
                clock,
                times,
                prompts,
                outputs,
                sums,
            )
        if state[USED] > 0:  # else all were refused
            step(
                read,
                before,
                rules,
                table,
                pool,
                marks,
                fresh,
                ring,
                phases,
                state,
                clock,
                bins,
                tally,
                sums,
            )
