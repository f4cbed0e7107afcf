"""The loop that plays the steps of an engine that speculates, compiled where numba is installed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ._kernels import Array, compiled


@compiled
def play(
    rng: np.random.Generator,
    rate: float,  # of arrivals
    answer: float,  # mean tokens
    geometric: bool,
    kept: Array,  # chance that the first token of a draft, the first two, ... are accepted: by kind
    plan: Array,  # tokens drafted when 1, 2, ... sequences run
    fixed: Array,  # time of a step by the place in the plan
    each: Array,  # time that a sequence adds to it
    length: int,  # requests of a part
    warm_up: int,  # parts that are not measured
    sums: Array,  # responses of each part
    moments: Array,  # time, sequences over time, steps of sequences, their tokens
) -> Any:
    """Answer requests until each part has its number."""
    size = 1024
    left, came, kind = np.empty(size), np.empty(size), np.empty(size, dtype=np.int64)
    part, done, running, now = 0, 0, 0, 0.0
    next_one = rng.standard_exponential() / rate
    while part < sums.size:
        if running == 0 and next_one > now:
            if part >= warm_up:
                moments[0] += next_one - now
            now = next_one = 0.0  # the clock starts anew, so that it keeps its digits
        while next_one <= now:
            if running == size:
                left = np.concatenate((left, np.empty(size)))
                came = np.concatenate((came, np.empty(size)))
                kind = np.concatenate((kind, np.empty(size, dtype=np.int64)))
                size *= 2
            left[running] = math.ceil(answer)
            if geometric and answer > 1:
                chance = math.log1p(-1 / answer)
                left[running] = 1 + math.floor(math.log1p(-rng.random()) / chance)
            kind[running] = int(rng.random() * kept.shape[0])
            came[running] = next_one
            running += 1
            next_one += rng.standard_exponential() / rate
        place = min(running, plan.size) - 1
        depth = plan[place]
        lasting = fixed[place] + each[place] * running
        now += lasting
        measured = part >= warm_up
        if measured:
            moments[0] += lasting
            moments[1] += lasting * running
            moments[2] += running
        one = 0
        while one < running:
            draw, got, row = rng.random(), 0, kind[one]
            while got < depth and draw < kept[row, got]:
                got += 1
            if measured:
                moments[3] += min(got + 1.0, left[one])
            left[one] -= got + 1
            if left[one] > 0:
                one += 1
                continue
            if part < sums.size:
                sums[part] += now - came[one]
                done += 1
                if done == length:
                    part, done = part + 1, 0
            running -= 1
            left[one], came[one], kind[one] = left[running], came[running], kind[running]
    return None
