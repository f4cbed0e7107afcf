"""The batch that a timeout window forms: its size, and how long requests gather in it.

The first request opens the window. It closes when ``max_batch`` requests are in it or after
``max_wait``, whichever comes first, and whether the server is busy or not. Requests arrive as a
Poisson process, whose probabilities are regularised gamma functions: no sums that lose digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special

from . import errors

LONGEST = 10**7
"""More probabilities are not listed one by one."""


@dataclass(frozen=True)
class Window:
    """A batching window and the batches it forms.

    Attributes
    ----------
    arrival_rate : float
        Arrival rate [requests/s].
    max_batch : int
        Size at which the batch is full [requests].
    max_wait : float
        Time after which the window closes in any case, perhaps ``inf`` [s].
    mean_size : float
        Mean batch size [requests].
    mean_delay : float
        Mean delay of a request until its window closes, each request counted once [s].
    mean_length : float
        Mean time for which a window is open [s].
    full : float
        Probability that the batch fills [1].
    """

    arrival_rate: float
    max_batch: int
    max_wait: float
    mean_size: float
    mean_delay: float
    mean_length: float
    full: float

    @property
    def full_delay(self) -> float:
        """Mean delay of a request in a batch that fills [s].

        Raises
        ------
        ValueError
            If no batch fills, as far as float64 can tell.
        """
        if self.full == 0:
            raise ValueError(
                f"a batch of max_batch = {self.max_batch} never fills within max_wait = "
                f"{self.max_wait} at arrival_rate = {self.arrival_rate}"
            )
        k, mean = float(self.max_batch - 1), self.arrival_rate * self.max_wait
        return k / (2 * self.arrival_rate) * (_at_least(k + 1, mean) / self.full)

    @cached_property
    def sizes(self) -> NDArray[np.float64]:
        """Probabilities of the batch sizes 1 to ``max_batch``, in this order [1].

        Raises
        ------
        ValueError
            If ``max_batch`` is too large to list them.
        """
        if self.max_batch > LONGEST:
            raise ValueError(
                f"max_batch must be at most {LONGEST} to list sizes, got {self.max_batch}"
            )
        further, mean = np.arange(self.max_batch - 1), self.arrival_rate * self.max_wait
        if math.isinf(mean):
            timed_out = np.zeros(further.size)
        else:
            logs = special.xlogy(further, mean) - special.gammaln(further + 1) - mean
            timed_out = np.exp(logs)
        return np.append(timed_out, self.full)


def form(arrival_rate: float, max_batch: int, max_wait: float) -> Window:
    """Find the mean size and delay of the batches that a window forms, and their law.

    Parameters
    ----------
    arrival_rate : float
        Arrival rate, above 0 [requests/s].
    max_batch : int
        Size at which the batch is full, at least 1 [requests].
    max_wait : float
        Time after which the window closes in any case, at least 0; ``inf`` waits until the
        batch is full [s].

    Returns
    -------
    Window
        The window with its means; probabilities are computed when asked for.

    Raises
    ------
    TypeError
        If an argument is not a real number.
    ValueError
        If an argument is out of range, or a mean is too large for float64.

    Notes
    -----
    Source: Reddi et al., Inference Foundations, section on response time, whose sums chapter 3
    folds into three probabilities.

    Examples
    --------
    >>> formed = form(arrival_rate=100, max_batch=8, max_wait=0.050)
    >>> round(formed.mean_size, 3), round(formed.mean_delay, 5), round(formed.full, 3)
    (5.745, 0.02654, 0.238)
    """
    rate = errors.number("arrival_rate", arrival_rate, above=0)
    size = errors.integer("max_batch", max_batch, at_least=1)
    wait = errors.duration("max_wait", max_wait)
    k, mean = float(size - 1), rate * wait
    full, over = _at_least(k, mean), _at_least(k + 1, mean)
    timed_out, fewer = _below(k, mean), _below(k - 1, mean)
    joined = mean * fewer if fewer else 0.0  # arrivals after the first, in windows that time out
    filling = k / rate * over if over else 0.0  # time open, in windows that fill
    waiting = wait * timed_out if timed_out else 0.0  # and in those that time out
    mean_size = 1 + joined + k * full
    length = filling + waiting
    delay = filling / 2 * (size / mean_size)
    if timed_out:
        delay += wait / 2 * ((joined + 2 * timed_out) / mean_size)
    if not math.isfinite(length + delay):
        raise ValueError(
            f"max_batch / arrival_rate must be a finite float64, got {max_batch} / {arrival_rate}"
        )
    return Window(rate, size, wait, mean_size, delay, length, full)


def _at_least(count: float, mean: float) -> float:
    """Probability that a Poisson number is at least ``count``, with all its digits."""
    if count <= 0 or mean > 1e300:  # there the law is a step, and the gamma functions overflow
        return float(mean >= count)
    return float(special.gammainc(count, mean))


def _below(count: float, mean: float) -> float:
    """Probability that it is less, which ``1 - _at_least`` would round."""
    if count <= 0 or mean > 1e300:
        return float(mean < count)
    return float(special.gammaincc(count, mean))
