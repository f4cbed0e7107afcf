"""What a live chart draws and no closed form gives: Poisson sums of a window, requests played."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _fit, window
from ._quantity import Point, Quantity

MOST = 512
SECOND = 1.0


class Batch(NamedTuple):
    """A batch that was played: when its requests came, when it started and ended, in seconds."""

    arrivals: list[float]
    start: float
    end: float


def gaps() -> list[float]:
    """Gaps of mean 1 between requests, by the generator that the page has as well."""
    drawn, seed = [], 20_261
    for _ in range(MOST):
        seed = seed * 48_271 % 2_147_483_647
        drawn.append(-math.log(seed / 2_147_483_647))
    return drawn


def replay(size: int, wait: float, rate: float, fixed: float, each: float) -> list[Batch]:
    """Play requests through a server that waits for a full batch or for so long, while idle."""
    if not (rate > 0 and size >= 1 and min(wait, fixed, each) >= 0):
        raise ValueError(
            f"replay: rate must be above 0, size at least 1, and no time below 0, "
            f"got {(rate, size, wait, fixed, each)!r}"
        )
    arrivals = list(np.cumsum(np.array(gaps()) / rate))
    batches, first, free = [], 0, 0.0
    while first < MOST:
        full = arrivals[first + size - 1] if first + size <= MOST else math.inf
        start = max(free, min(full, arrivals[first] + wait))
        last = first + 1
        while last < min(MOST, first + size) and arrivals[last] <= start:
            last += 1
        if last == MOST:  # who else would come is not known
            break
        free = start + fixed + each * (last - first)
        batches.append(Batch(arrivals[first:last], start, free))
        first = last
    return batches


def mean_of_second(*setting: Any) -> float:
    """Mean response of the requests of the first second, ``inf`` where there is none."""
    batches = replay(*setting)
    responses = [b.end - a for b in batches for a in b.arrivals if a <= SECOND]
    return sum(responses) / len(responses) if responses else math.inf


FUNCTIONS: dict[str, Callable[..., float]] = {
    "window_mean_size": lambda *given: window.form(*given).mean_size,
    "window_mean_delay": lambda *given: window.form(*given).mean_delay,
    "window_full": lambda *given: window.form(*given).full,
    "replay": mean_of_second,
    **{
        f"fit_{what}": lambda *given, what=what: float(getattr(_fit.named(*given), what))
        for what in _fit.Fit._fields
    },
}
"""By the names that the page has for them."""


@dataclass(frozen=True)
class Special(Quantity):
    """A function that the page computes by a recurrence of its own."""

    name: str
    of: tuple[Quantity, ...]

    def spec(self) -> Any:
        """Name the function and its arguments."""
        return {"special": self.name, "of": [one.spec() for one in self.of]}

    def values(self, point: Point) -> NDArray[np.float64]:
        """Call the package's function at each point."""
        places = np.broadcast_arrays(*(one.values(point) for one in self.of))
        result = np.full(places[0].shape, np.inf)
        for index in np.ndindex(result.shape):
            given = [float(one[index]) for one in places]
            whole = [int(x) if x.is_integer() else x for x in given]
            if all(map(math.isfinite, given)):
                result[index] = FUNCTIONS[self.name](*whole)
        return result

    def names(self) -> set[str]:
        """Collect the parameters of the arguments."""
        return set().union(*(one.names() for one in self.of))

    def formulas(self) -> set[str]:
        """Collect the formulas of the arguments."""
        return set().union(*(one.formulas() for one in self.of))
