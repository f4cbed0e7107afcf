"""Times of one kind that a simulated engine has measured, and intervals from parts of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from . import _plan, errors
from ._server import law

if TYPE_CHECKING:
    from ._engine_run import Tally


@dataclass(frozen=True, eq=False)
class Times:
    """Times of one kind that a run has measured."""

    _unit: float = field(repr=False)
    _tallies: tuple[Tally, ...] = field(repr=False)

    @property
    def count(self) -> int:
        """How many were measured [1]."""
        return sum(tally.served for tally in self._tallies)

    @property
    def mean(self) -> float:
        """Mean [s]."""
        return self._unit * math.fsum(tally.total for tally in self._tallies) / self._some

    @property
    def std(self) -> float:
        """Standard deviation [s]."""
        square = math.fsum(tally.squares for tally in self._tallies) / self._some
        return math.sqrt(max(0.0, self._unit**2 * square - self.mean**2))

    @property
    def _some(self) -> int:
        if not self.count:
            raise ValueError("requests is too few: no time of this kind was measured")
        return self.count

    def quantile(self, q: float) -> float:
        """Time that a share ``q`` does not exceed.

        Parameters
        ----------
        q : float
            The share, 0 to 1 [1].

        Returns
        -------
        float
            Quantile, at most 2^-14 = 6.1e-5 of its value off [s].

        Raises
        ------
        TypeError
            If ``q`` is not a real number.
        ValueError
            If ``q`` is out of range, or nothing was measured.
        """
        share = errors.number("q", q, at_least=0, at_most=1)
        middles, below = self._law
        place = int(np.searchsorted(below, share * float(below[-1])))
        least = min(tally.least for tally in self._tallies)
        largest = max(tally.largest for tally in self._tallies)
        return self._unit * min(max(float(middles[place]), least), largest)

    def interval(self, what: str | float = "mean", level: float = 0.95) -> tuple[float, float]:
        """Interval that holds the long-run value with a probability of about ``level``.

        Parameters
        ----------
        what : str or float
            "mean", "std", or the ``q`` of a quantile [1].
        level : float
            The probability, above 0 and below 1 [1].

        Returns
        -------
        tuple of float
            Lower and upper end [s].

        Raises
        ------
        TypeError
            If ``what`` is neither a name nor a number, or ``level`` is not a real number.
        ValueError
            If an argument is out of range, or too few requests were simulated.

        Notes
        -----
        Batch means, as of `serving.simulation`. Source: Law 2015, ch. 9.
        """
        if not isinstance(what, str):
            what = errors.number("what", what, at_least=0, at_most=1)
        elif what not in ("mean", "std"):
            raise ValueError(f"what must be a number, 'mean' or 'std', got {what!r}")
        pieces = [replace(self, _tallies=(tally,)) for tally in self._tallies if tally.served]
        half = half_width(what, [piece._result(what) for piece in pieces], level)
        middle = self._result(what)
        if not isinstance(what, str):
            half += _plan.RESOLUTION * middle
        return max(0.0, middle - half), middle + half

    def _result(self, what: str | float) -> float:
        return float(getattr(self, what) if isinstance(what, str) else self.quantile(what))

    @cached_property
    def _law(self) -> tuple[NDArray[Any], NDArray[Any]]:
        return law(self._tallies) if self._some else (np.zeros(0), np.zeros(0))


def half_width(
    what: str | float, values: Sequence[float], level: float, least: int = _plan.PARTS
) -> float:
    """Half of an interval, from the results of equal parts of a run."""
    share = errors.number("level", level, above=0)
    if share >= 1:
        raise ValueError(f"level must be below 1, got {level!r}")
    if len(values) < least:
        raise ValueError(
            f"what = {what!r} has no interval: requests are too few, {len(values)} of "
            f"{least} parts of the run have a result"
        )
    student = -float(special.stdtrit(len(values) - 1, (1 - share) / 2))
    return student * float(np.std(values, ddof=1)) / math.sqrt(len(values))
