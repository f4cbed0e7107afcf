"""The loop of an engine step by step, compiled where numba is installed; the numbers are the same.

A step costs the same however many sequences run: only those that join and leave are touched, and
steps in which nobody does are run through in one go.
"""

from __future__ import annotations

import numpy as np

from ._engine_sequence import accept, count, enlist, filled, finish, preempt, rebase, seat, start
from ._engine_state import ITL, Engine
from ._kernels import bare, inlined


@bare
def advance(engine: Engine, final: bool) -> float:
    """Run steps until more arrivals must be known, and return the time that has passed."""
    state, times = engine.state, engine.times
    end = times.size
    while True:
        if state.used == 0:
            state.wide = 0
            if state.stack < 0:
                if state.head == end:
                    break
                state.now = max(state.now, times[state.head])
        if not final and (end == 0 or times[end - 1] <= state.now):
            break
        until = undisturbed(engine, final)
        if until > state.now:
            glide(until, engine)
            if until <= state.now:
                continue
        pressed = not engine.rules.whole and press(engine)
        before = state.fresh
        read = 0 if pressed else admit(engine)
        if engine.rules.whole and state.fresh == before:
            press(engine)
            before = state.fresh
        if state.used > 0:  # else all were refused
            step(read, before, engine)
    return rebase(engine)


@inlined
def lasting(size: int, engine: Engine) -> float:
    """Time of a step in which so many sequences get a token."""
    table = engine.table
    if size < table.size:
        return table[size]
    return table[-1] + engine.rules.slope * (size - table.size + 1)


@inlined
def undisturbed(engine: Engine, final: bool) -> float:
    """Until when nobody joins, if nobody leaves; the present if somebody may."""
    state, times, end = engine.state, engine.times, engine.times.size
    if state.used == 0 or state.fresh > 0 or state.partial >= 0:
        return state.now
    if state.used == engine.rules.slots or engine.rules.static > 0:
        return np.inf if final else times[end - 1]
    if state.stack >= 0:
        return state.now
    return times[state.head] if state.head < end else np.inf


@inlined
def glide(until: float, engine: Engine) -> None:
    """Run the steps up to a time in which nobody joins, leaves or lacks a block."""
    rules, state, ring, sums = engine.rules, engine.state, engine.ring, engine.sums
    each = lasting(max(state.decoding, state.wide), engine)
    now, number, free, held = state.now, state.step, state.free, 0.0
    while ring[number & (ring.size - 1)] < 0 and now < until:
        if rules.blocks > 0:
            turn = engine.phases[number % rules.block_size]
            if turn > free:
                break
            free -= turn
            held += (rules.blocks - free) * each
        now += each
        number += 1
    steps = number - state.step
    if steps == 0:
        return
    count(ITL, state.now + each - state.ended, state.decoding, engine)
    if steps > 1:
        count(ITL, each, (steps - 1) * state.decoding, engine)
    sums.running += state.used * each * steps
    sums.blocks += held
    sums.busy += each * steps
    sums.steps += steps
    sums.tokens += steps * state.decoding
    state.step, state.free = number, free
    state.now = state.ended = now


@inlined
def press(engine: Engine) -> bool:
    """Give the blocks that the next tokens need; tell if somebody lost his for them."""
    rules, state, phases = engine.rules, engine.state, engine.phases
    if rules.blocks == 0:
        return False
    turn, pressed = state.step % rules.block_size, False
    while phases[turn] > state.free:
        preempt(engine)
        pressed = True
    state.free -= phases[turn]
    return pressed


@inlined
def admit(engine: Engine) -> int:
    """Give slots and blocks in order of arrival, and return the tokens to read."""
    rules, state = engine.rules, engine.state
    read = read_on(engine)
    if state.partial >= 0 or (rules.static > 0 and state.used > 0):
        return read
    while state.used < rules.slots:
        slot = state.stack
        if slot >= 0:
            tokens = engine.pool[slot].prompt + engine.pool[slot].written
        elif state.head < engine.times.size and engine.times[state.head] <= state.now:
            tokens = engine.prompts[state.head]
        else:
            break
        need = 0
        if rules.blocks > 0:
            if slot < 0 and filled(tokens + engine.outputs[state.head], rules) > rules.blocks:
                engine.sums.refused += 1.0
                state.head += 1
                continue
            need = tokens // rules.block_size + 1
            if need > state.free or (state.used > 0 and state.free - need < rules.spare):
                break
        chunk = portion(tokens, read, engine)
        if chunk < 0:
            break
        slot = accept(slot, engine)
        seat(slot, engine)
        state.free -= need
        read += chunk
        if chunk < tokens:
            state.partial, state.rest = slot, tokens - chunk
            break
        engine.fresh[state.fresh] = slot
        state.fresh += 1
    return read


@inlined
def read_on(engine: Engine) -> int:
    """Read more of the prompt that is read in chunks, and return the tokens."""
    state = engine.state
    if state.partial < 0:
        return 0
    read = max(0, min(state.rest, engine.rules.budget - state.decoding))
    state.rest -= read
    if state.rest == 0:
        engine.fresh[state.fresh] = state.partial
        state.fresh += 1
        state.partial = -1
    return read


@inlined
def portion(tokens: int, read: int, engine: Engine) -> int:
    """How many of these tokens a step reads that reads others already; -1 if it is full."""
    rules, state = engine.rules, engine.state
    if tokens == 0:
        return 0
    if rules.whole:
        return -1 if read > 0 and read + tokens > rules.budget else tokens
    room = rules.budget - state.decoding - state.fresh - read
    return min(tokens, room) if room > 0 else -1


@inlined
def step(read: int, before: int, engine: Engine) -> None:
    """Let the time of a step pass, and give tokens; `before` had one since all were given one."""
    rules, state, sums = engine.rules, engine.state, engine.sums
    joined = state.fresh - before
    alone = rules.whole and joined > 0
    size = joined if alone else state.decoding + joined
    if rules.static == 2:
        size = state.wide = max(state.wide, size)
    took = lasting(size, engine) + rules.reading * read
    state.now += took
    sums.running += state.used * took
    sums.blocks += (rules.blocks - state.free) * took
    sums.busy += took
    sums.steps += 1.0
    sums.read += read
    sums.tokens += joined
    if not alone:
        sums.tokens += state.decoding
        old = state.decoding - before
        if old > 0:
            count(ITL, state.now - state.ended, old, engine)
        for place in range(before):
            count(ITL, state.now - engine.pool[engine.fresh[place]].token, 1, engine)
        state.ended = state.now
    kept = before
    for place in range(before, state.fresh):
        slot = engine.fresh[place]
        if start(slot, engine):
            engine.fresh[kept] = slot
            kept += 1
    state.fresh = kept
    if not alone:
        end(engine)
        state.step += 1
        state.fresh = 0


@inlined
def end(engine: Engine) -> None:
    """Let those go whose last token this step has given."""
    state, ring = engine.state, engine.ring
    place = state.step & (ring.size - 1)
    slot = ring[place]
    ring[place] = -1
    while slot >= 0:
        after = engine.pool[slot].next
        if engine.pool[slot].last == state.step:
            finish(slot, engine)
        else:  # in a later round of the circle
            enlist(slot, engine)
        slot = after
