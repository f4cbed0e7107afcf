"""A server that takes what waits, up to a cap, with no end of places to wait.

At the end of a service x requests wait. The next batch takes ``min(x, B)`` of them, or the first
to come if there is none, and Poisson arrivals join. From B on, this chain moves like the walk of
`serving._walk`; below, each state has a law of its own.

Source: Powell and Humblet 1986; Neuts 1989; chapter 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import signal, special
from scipy.linalg import toeplitz

from ._walk import Walk, enough, poisson

Array = NDArray[np.float64]

NODES, WEIGHTS = np.polynomial.legendre.leggauss(48)


@dataclass(frozen=True)
class Unbounded:
    """States at the ends of services, and how long those who wait have waited.

    Look at the end of a service, and back by k services of full batches and some rest. Of the Z
    requests that waited then, all but k batches still wait at the end, and these are the ones
    that have waited longer. They and the Poisson arrivals since make up the next batch.

    Attributes
    ----------
    rate : float
        Arrival rate [requests/s].
    times : ndarray, shape (B,)
        Time of a batch of each size, equally spaced [s].
    walk : Walk
        Change of the number that waits over the service of a full batch.
    """

    rate: float
    times: Array
    walk: Walk

    @cached_property
    def chain(self) -> Array:
        """Probabilities of 0, 1, ... requests that wait when a service ends.

        The generating function solves p(z) (1 - z^-B f_B(z)) = sum over x < B of p_x R_x(z), with
        R_x(z) = f_x(z) - z^(x-B) f_B(z) and f_x that of the arrivals in a service that finds x.
        The left factor splits into one with powers up and one with powers down (Wiener and Hopf);
        the latter moves to the right, where only the powers from 0 on count.
        """
        size = self.times.size
        reach = size + enough(self.rate * self.times[-1])
        count = np.arange(reach + 1)
        found = self.times[np.maximum(np.arange(size), 1) - 1]
        full = np.append(poisson(count, self.rate * self.times[-1]), np.zeros(size))
        shift = size - np.arange(size)
        arrive = poisson(count, self.rate * found[:, None])
        right = arrive - full[count + shift[:, None]]
        length = 2 * (reach + 1)
        falls = np.conj(np.fft.rfft(self.walk.falls(reach), length))
        right = np.fft.irfft(np.fft.rfft(right, length) * falls, length)[:, : reach + 1]
        rises = self.walk.rises
        returns = right[:, :size] @ np.triu(toeplitz(np.append(rises, np.zeros(size))[:size]))
        equations = np.vstack([np.eye(size) - returns.T, np.ones(size)])
        below = np.linalg.lstsq(equations, np.append(np.zeros(size), 1.0), rcond=None)[0]
        shares = signal.fftconvolve(below @ right, rises)[: max(rises.size, 2 * size)]
        shares[shares < 1e-15 * shares.max()] = 0.0  # noise of the transforms
        for _ in range(4):  # services more, in sums of positive terms, give small shares digits
            after = np.convolve(shares[size:], full[: reach + 1])[: shares.size]
            after[: reach + 1] += (shares[:size] @ arrive)[: after.size]
            shares = after / after.sum()
        return shares

    @cached_property
    def _starts(self) -> Array:
        """Probability that a batch is of size 1 ... B and leaves nobody; 0 for B in the last."""
        taken = np.maximum(np.arange(self.times.size), 1)
        return np.bincount(taken, self.chain[: taken.size], taken.size + 1)[1:]

    @cached_property
    def _behind(self) -> Array:
        """Probability that a batch is full and leaves 0, 1, ... requests waiting."""
        return np.append(self.chain[self.times.size :], np.zeros(2))

    @cached_property
    def _more_behind(self) -> Array:
        """Probability that a batch is full and leaves 0, 1, ... or more."""
        return np.cumsum(self._behind[::-1])[::-1]

    @cached_property
    def total_wait(self) -> float:
        """Mean total wait of the requests of a batch."""
        left = np.arange(self._behind.size)
        service = self.times[-1]
        area = self._starts @ (self.rate * self.times**2 / 2)
        return float(area + self._behind @ (left * service + self.rate * service**2 / 2))

    @cached_property
    def square_wait(self) -> float:
        """Mean total of the squares of their waits, by the factorial moment of those waiting."""
        left, service = np.arange(self._behind.size), self.times[-1]
        area = self._starts @ (self.rate * self.times**3 / 3)
        fallen = left * (left - 1.0) * service / self.rate + left * service**2
        return float(area + self._behind @ (fallen + self.rate * service**3 / 3))

    @cached_property
    def waits_with(self) -> Array:
        """Mean total wait of the requests of a batch, together with each size of the batch."""
        size = self.times.size
        with_size = np.zeros(size)
        below = np.arange(1, size)
        arrive = poisson(below, self.rate * self.times[:, None])
        with_size[:-1] = (self._starts * self.times) @ arrive * below / 2
        new = below - np.arange(size)[:, None]
        left = np.append(self._behind, np.zeros(size))[:size, None]
        mean_wait = (below - new / 2) * self.times[-1]
        since = np.where(new >= 0, poisson(np.maximum(new, 0), self.rate * self.times[-1]), 0.0)
        with_size[:-1] += np.sum(left * since * mean_wait, axis=0)
        back, added = 1, np.inf
        while size > 1 and added > 1e-16 * self.total_wait:
            more = self._waits_from(back)
            with_size[:-1] += more
            back, added = back + 1, more.sum()
        with_size[-1] = self.total_wait - with_size.sum()
        return with_size

    def _waits_from(self, back: int) -> Array:
        """What waits beyond ``back`` full services add to `waits_with`, for sizes below B."""
        size = self.times.size
        full = self.times[-1]
        total = np.zeros(size - 1)
        place = np.arange(1, size)
        some = np.flatnonzero(self._starts > 1e-20)
        for found in [*some, None]:
            span = full if found is None else self.times[found]
            rest = (NODES + 1) / 2 * span
            if found is None:
                waited = self._waited_behind(back, self.rate * (full - rest))
            else:
                means = self.rate * (span - rest)[:, None]
                waited = self._starts[found] * poisson(back * size + place, means)
            new = poisson(np.arange(size - 1), self.rate * (back * full + rest)[:, None])
            old = waited * place * (WEIGHTS * span / 2)[:, None]
            length = 2 * size
            joined = np.fft.rfft(old, length) * np.fft.rfft(new, length)
            total += np.maximum(np.fft.irfft(joined.sum(axis=0), length)[: size - 1], 0.0)
        return total

    def _waited_behind(self, back: int, means: Array) -> Array:
        """Probability of Z = back B + 1 ... back B + B - 1 in a full batch's service."""
        count = np.arange(enough(float(means.max())))
        index = back * self.times.size + np.arange(1, self.times.size) - count[:, None]
        last = self._behind.size - 1
        left = np.where(index < 0, 0.0, self._behind[np.clip(index, 0, last)])
        return poisson(count, means[:, None]) @ left

    def late(self, time: float) -> float:
        """Mean number of requests of a batch that take longer, from arrival to answer."""
        size, waits = self.times.size, time - self.times
        masses = np.append(self._starts[:-1], self._starts[-1] + self._more_behind[0])
        early = waits < 0
        total = float((masses * np.arange(1, size + 1))[early].sum())
        back = np.floor(waits / self.times[-1]).astype(np.int64)
        for k in np.unique(back[~early]):
            total += self._late(int(k), time, np.flatnonzero(~early & (back == k)))
        return total

    def _late(self, back: int, time: float, chosen: NDArray[np.int64]) -> float:
        """The same for some sizes of the batch, given by their index in ``times``."""
        size, full = self.times.size, self.times[-1]
        place = np.arange(1, size)
        # A service of b that precedes a batch of c matters through b + c alone.
        sums = np.arange(2 * size - 1)
        both = 2 * self.times[0] + sums * (self.times[-1] - self.times[0]) / max(size - 1, 1)
        means = self.rate * (both + back * full - time)
        found = sums - chosen[:, None]
        inside = (found >= 0) & (found < size)
        weights = np.where(inside, self._starts[np.clip(found, 0, size - 1)], 0.0)
        waited = weights @ poisson(back * size + place, means[:, None])
        waits = time - self.times[chosen]
        behind = self.rate * ((back + 1) * full - waits)
        waited += self._waited_behind(back, behind)
        new = chosen[:, None] + 1 - place
        joins = poisson(np.maximum(new, 0), self.rate * waits[:, None])
        partial = np.where((new >= 0) & (chosen[:, None] < size - 1), joins, 0.0)
        total = float(np.sum(waited * partial * place))
        if chosen[-1] == size - 1:
            total += waited[-1] @ (place * special.pdtrc(size - place - 1, self.rate * waits[-1]))
            before = np.maximum(self.rate * (self.times - waits[-1] + back * full), 0.0)
            beyond = self._starts @ special.pdtrc((back + 1) * size - 1, before)
            count = np.arange(enough(behind[-1]))
            index = np.clip((back + 1) * size - count, 0, self._behind.size - 1)
            beyond += poisson(count, behind[-1]) @ self._more_behind[index]
            total += size * float(beyond)
        return total
