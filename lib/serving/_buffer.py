"""A server that takes what waits, up to a cap, with an end of places to wait.

As in `serving._greedy`, but a request that finds all places taken is lost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ._walk import poisson

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Bounded:
    """States at the ends of services, and how long those who wait have waited.

    Attributes
    ----------
    rate : float
        Arrival rate [requests/s].
    times : ndarray, shape (B,)
        Time of a batch of each size [s].
    buffer : int
        Places to wait [requests].
    """

    rate: float
    times: Array
    buffer: int

    @cached_property
    def chain(self) -> Array:
        """Probabilities of 0 ... buffer requests that wait when a service ends.

        States are eliminated from the bottom, with sums in the place of differences (Grassmann,
        Taksar and Heyman 1985), so that small probabilities keep their digits.
        """
        moves = np.array([self._move(state) for state in range(self.buffer + 1)])
        for low in range(self.buffer):
            up = moves[low, low + 1 :]
            moves[low + 1 :, low] /= up.sum()
            moves[low + 1 :, low + 1 :] += np.outer(moves[low + 1 :, low], up)
        shares = np.ones(self.buffer + 1)
        for state in reversed(range(self.buffer)):
            shares[state] = shares[state + 1 :] @ moves[state + 1 :, state]
            shares[state:] /= max(shares[state], 1.0)
        return shares / shares.sum()

    def _move(self, state: int) -> Array:
        """Law of the state after a service that finds ``state``."""
        taken = min(max(state, 1), self.times.size)
        arrive = poisson(np.arange(self.buffer + 1), self.rate * self.times[taken - 1])
        return self._capped(np.append(np.zeros(max(state - taken, 0)), arrive), 1.0)

    def _capped(self, law: Array, total: float) -> Array:
        """Keep 0 ... buffer, and put what is beyond on the last."""
        kept = np.append(law, np.zeros(self.buffer))[: self.buffer]
        return np.append(kept, max(0.0, total - kept.sum()))

    @cached_property
    def _full_service(self) -> Array:
        """Transitions over the service of a full batch; none from states below it."""
        moves = np.zeros((self.buffer + 1, self.buffer + 1))
        for state in range(self.times.size, self.buffer + 1):
            moves[state] = self._move(state)
        return moves

    @cached_property
    def _starts(self) -> Array:
        """Probability that a batch is of size 1 ... B and leaves nobody; 0 for B in the last."""
        size = self.times.size
        taken = np.maximum(np.arange(min(size, self.buffer + 1)), 1)
        return np.bincount(taken, self.chain[: taken.size], size + 1)[1:]

    @cached_property
    def total_wait(self) -> float:
        """Mean total wait of the requests of a batch: the number that waits, over a service."""
        states = np.arange(self.buffer + 1)
        times = self.times[np.clip(states, 1, self.times.size) - 1]
        left = np.maximum(states - self.times.size, 0)
        place = states[1:, None]
        longer = times * special.pdtrc(place - 1, self.rate * times)
        longer -= place / self.rate * special.pdtrc(place, self.rate * times)
        area = left * times + np.sum(longer * (place <= self.buffer - left), axis=0)
        return float(self.chain @ area)

    @cached_property
    def square_wait(self) -> float:
        """Mean total of the squares of their waits."""
        return self._moments[1]

    @property
    def waits_with(self) -> Array:
        """Mean total wait of the requests of a batch, together with each size of the batch."""
        return self._moments[0]

    @cached_property
    def _moments(self) -> tuple[Array, float]:
        """Totals of waits by size and of squares, over spans on which all is smooth."""
        # All changes within a few gaps between arrivals of a service's two ends.
        near = 2.0 ** -np.arange(1, 2 + max(0, math.ceil(math.log2(self.rate * self.buffer + 1))))
        ends = [near * self.times[0], (1 - near) * self.times[0], 1 - near]
        edges = np.unique(np.concatenate([[0.0], self.times, *ends]))
        rules = [np.polynomial.legendre.leggauss(n) for n in [12] * (edges.size - 1)]
        halves, middles = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
        parts = list(zip(middles, halves, rules, strict=True))
        rest = np.concatenate([middle + half * rule[0] for middle, half, rule in parts])
        weights = np.concatenate([half * rule[1] for _, half, rule in parts])
        first, second = np.zeros(self.times.size), 0.0
        for back in range(self.buffer // self.times.size + 1):
            counts = np.array([self._counts(back, float(one)) for one in rest])
            waits = back * self.times[-1] + rest
            first += weights @ counts
            second += float(2 * (weights * waits) @ counts.sum(axis=1))
        return first, second

    def _counts(self, back: int, rest: float) -> Array:
        """Mean number that has waited longer, together with a batch of each size."""
        size, states = self.times.size, np.arange(self.buffer + 1)
        behind = self.chain[size:]
        arrive = poisson(states, self.rate * (self.times[-1] - rest))
        waited = self._capped(np.convolve(np.append(behind, 0.0), arrive), float(behind.sum()))
        found = np.flatnonzero((self._starts > 0) & (self.times >= rest))
        laws = poisson(states, self.rate * (self.times[found, None] - rest))
        waited += self._capped(self._starts[found] @ laws, float(self._starts[found].sum()))
        old = waited * np.clip(states - back * size, 0, size)
        now = self._capped(np.convolve(old, poisson(states, self.rate * rest)), float(old.sum()))
        for _ in range(back):
            now = now @ self._full_service
        row = np.append(now, np.zeros(size))
        return np.append(row[1:size], row[size:].sum())

    def late(self, time: float) -> float:
        """Mean number of requests of a batch that take longer, from arrival to answer."""
        size, total = self.times.size, 0.0
        masses = np.append(self._starts[:-1], self._starts[-1] + self.chain[size:].sum())
        for index, wait in enumerate(time - self.times):
            if wait < 0:
                total += (index + 1) * masses[index]
            elif masses[index] > 0:
                back = int(wait // self.times[-1])
                if back <= self.buffer // size:
                    rest = max(wait - back * self.times[-1], 0.0)
                    total += self._counts(back, rest)[index]
        return float(total)
