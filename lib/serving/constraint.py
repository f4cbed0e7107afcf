"""The one constraint of serving: a batch must keep up, fit into memory and answer in time.

A `Question` names a model on its machine, the traffic and the promise. `region` tries every batch
size: the queue decides which are stable, the cache which fit, the exact law of response times
which keep the promise. What is left is the feasible region. `relax` asks again with one thing
changed, `largest_rate` asks how much traffic could be carried.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import errors
from ._question import POLICIES, Question, lines, load, queue, steps, times
from ._relax import relax
from ._walk import CLOSEST
from .exact import LARGEST_CAP
from .service import LinearService

__all__ = [
    "CONDITIONS",
    "POLICIES",
    "Question",
    "Region",
    "largest_rate",
    "region",
    "relax",
]

CONDITIONS = {"stable": "keep up", "fits": "fit into memory", "timely": "answer in time"}
"""The three conditions by name, and what they say of a batch size."""


@dataclass(frozen=True)
class Region:
    """Batch sizes, and which of them can be run.

    Attributes
    ----------
    question : Question
        What was asked.
    batches : ndarray, shape (n,)
        Sizes that were tried: 1, 2, ... [requests].
    stable, fits, timely : ndarray, shape (n,)
        Whether each keeps up, fits into memory, and answers in time [1].
    response : ndarray, shape (n,)
        Percentile of the response time, ``inf`` where the queue is not stable [s].
    mean : ndarray, shape (n,)
        Mean response time, ``inf`` where the queue is not stable [s].
    step : ndarray, shape (n,)
        Least time between two tokens, at full length [s].
    """

    question: Question
    batches: NDArray[np.int64]
    stable: NDArray[np.bool_]
    fits: NDArray[np.bool_]
    timely: NDArray[np.bool_]
    response: NDArray[np.float64]
    mean: NDArray[np.float64]
    step: NDArray[np.float64]

    @property
    def feasible(self) -> NDArray[np.int64]:
        """Sizes that meet all three conditions [requests]."""
        return self.batches[self.stable & self.fits & self.timely]

    @property
    def best(self) -> int | None:
        """The feasible size of least mean response time, None if there is none [requests]."""
        inside = self.stable & self.fits & self.timely
        if not inside.any():
            return None
        return int(self.batches[np.where(inside, self.mean, np.inf).argmin()])

    @property
    def binds(self) -> tuple[str, ...]:
        """Conditions that end the region, by their names in `CONDITIONS`.

        If it is empty, those that the size which breaks fewest of them breaks.
        """
        found = self.feasible
        edges = [found[0] - 1, found[-1] + 1] if found.size else [min(self.batches, key=self._miss)]
        broken = {name for size in edges for name in self._broken(int(size))}
        return tuple(name for name in CONDITIONS if name in broken)

    @property
    def reason(self) -> str:
        """The region in words: its sizes, and what ends it on either side."""
        found = self.feasible
        if found.size:
            below, above = (self._words(int(size)) for size in (found[0] - 1, found[-1] + 1))
            words = f"B = {_ranges(found)}" + (f"; below, {below}" if below else "")
            return words + (f"; above, {above}" if above else "; nothing larger was tried")
        if not self.question.most:
            return (
                f"nothing fits: {self.question.budget.reason or 'not one request as long as these'}"
            )
        nearest = min(self.batches.tolist(), key=self._miss)
        return f"no batch size will do; at B = {nearest}, {self._words(nearest)}"

    def _broken(self, size: int) -> list[str]:
        """Which conditions a size breaks; an unstable queue is late, which is not said again."""
        if not 1 <= size <= self.batches.size:
            return []
        holds = {name: bool(getattr(self, name)[size - 1]) for name in CONDITIONS}
        holds["timely"] |= not holds["stable"]
        return [name for name in CONDITIONS if not holds[name]]

    def _words(self, size: int) -> str:
        return " and ".join(f"it does not {CONDITIONS[name]}" for name in self._broken(size))

    def _miss(self, size: int) -> tuple[int, float, int, int]:
        """How far a size is from feasible: conditions broken, lateness, places, and less."""
        late = float(self.response[size - 1])
        return len(self._broken(size)), late, max(size - self.question.most, 0), -size


def region(question: Question, max_batch: int = 64) -> Region:
    """Find the batch sizes that keep up, fit into memory and answer in time.

    Parameters
    ----------
    question : Question
        What is served, on what, to whom, and what is promised.
    max_batch : int
        Largest size to try, from 1 to 512 [requests].

    Returns
    -------
    Region
        Each size from 1 with the three conditions, and what binds.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If ``max_batch`` is out of range.

    Notes
    -----
    A batch is served from its first token to its last before the next one starts: what the
    source assumes. A size within 1e-5 of its capacity is stable, but its percentile is not
    computed and counts as too late. Source: chapter 15.

    Examples
    --------
    >>> from serving import catalog, roofline
    >>> llama, device = catalog.model("llama-2-70b"), catalog.accelerator("a100-80gb")
    >>> machine = roofline.Machine(llama, device, devices=4)
    >>> question = Question(machine, 2.0, input_tokens=512, output_tokens=128, slo=15.0)
    >>> region(question, max_batch=16).reason
    'B = 6 to 16; below, it does not answer in time; nothing larger was tried'
    """
    sizes = _sizes(question, max_batch)
    served, lasts = lines(question, sizes), times(question, sizes).tolist()
    loads = [load(question, *pair) for pair in zip(sizes.tolist(), lasts, strict=True)]
    response, mean = np.full((2, sizes.size), np.inf)
    for index in (place for place, one in enumerate(loads) if one <= 1 - CLOSEST):
        law = queue(question.policy, question.arrival_rate, int(sizes[index]), served[index])
        response[index], mean[index] = law.quantile(question.quantile), law.mean
    stable, step = np.array([one < 1 for one in loads]), steps(question, sizes)
    timely = response <= question.slo
    if question.token_slo is not None:
        timely &= step <= question.token_slo
    return Region(question, sizes, stable, sizes <= question.most, timely, response, mean, step)


def largest_rate(question: Question, max_batch: int = 64) -> float:
    """Find how much traffic could be carried within memory and in time.

    Parameters
    ----------
    question : Question
        What is served, on what, and what is promised; its arrival rate does not count.
    max_batch : int
        Largest size to try, from 1 to 512 [requests].

    Returns
    -------
    float
        Largest arrival rate for which some size is feasible, to a millionth of its capacity; 0.0
        if there is none [requests/s].

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If ``max_batch`` is out of range.

    Notes
    -----
    By bisection for each size; with full batches, which may be late with less traffic, between two
    of 64 loads, the first from capacity downwards that will do. Sizes that cannot bear more than
    what was found already are passed over.
    """
    sizes = _sizes(question, max_batch)
    sizes = sizes[sizes <= question.most]
    if not sizes.size:
        return 0.0
    lasts, served = times(question, sizes), lines(question, sizes)
    allowed = lasts <= question.slo
    if question.token_slo is not None:
        allowed &= steps(question, sizes) <= question.token_slo
    found = 0.0
    for size in sizes[allowed][::-1].tolist():
        capacity = size / float(lasts[size - 1])
        if capacity > found:
            found = max(found, _largest(question, size, served[size - 1], capacity, found))
    return found


def _largest(
    question: Question, size: int, line: LinearService, capacity: float, found: float
) -> float:
    """Largest rate at which batches of a size answer in time, 0.0 if it is not above ``found``."""

    def early(share: float) -> bool:
        """Whether enough answers are in time at a share of the capacity."""
        law = queue(question.policy, share * capacity, size, line)
        return bool(law.cdf(question.slo) >= question.quantile)

    if question.policy == "greedy":  # answers come later with more traffic
        low, high = found / capacity + 1e-6 if found else 1e-4, 1 - 2 * float(CLOSEST)
        if low >= high or not early(low):
            return 0.0
    else:  # a full batch may be late with less
        grid = np.arange(64, 0, -1) / 64 - 1 / 128
        inside = next((index for index, share in enumerate(grid) if early(share)), None)
        if inside is None:
            return 0.0
        low, high = grid[inside], grid[inside - 1] if inside else 1 - 2 * float(CLOSEST)
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if early(middle) else (low, middle)
    return float(low * capacity)


def _sizes(question: Question, max_batch: int) -> NDArray[np.int64]:
    """Sizes to try."""
    if not isinstance(question, Question):
        raise TypeError(f"question must be a constraint.Question, got {question!r}")
    most = errors.integer("max_batch", max_batch, at_least=1)
    errors.number("max_batch", max_batch, at_most=LARGEST_CAP)
    return np.arange(1, most + 1)


def _ranges(sizes: NDArray[np.int64]) -> str:
    """Write whole numbers as ranges."""
    parts = np.split(sizes, np.flatnonzero(np.diff(sizes) > 1) + 1)
    return ", ".join(f"{p[0]}" if p.size == 1 else f"{p[0]} to {p[-1]}" for p in parts if p.size)
