"""Whether batch times lie on a line: curvature, a kink, outliers, and how far it is carried."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from . import errors
from .service import FittedService, LinearService

Array = NDArray[np.float64]
LEVEL = 0.05
"""Probability of finding a curve, or an outlier, where there is none [1]."""
EXACT = 1e-18
"""Sum of squared relative errors that rounding alone leaves [1]."""


class Reach(NamedTuple):
    """A batch size that was asked of a fit.

    Parameters
    ----------
    factor : float
        How far it lies beyond the measured sizes; 1 inside them [1].
    line : float
        Time by the line through all sizes [s].
    local : float or None
        Time by the line through the nearest half of the sizes, of the two largest at least; None
        where that is no time [s].
    """

    factor: float
    line: float
    local: float | None


@dataclass(frozen=True)
class Diagnosis:
    """A line through batch times, and what speaks against it.

    Attributes
    ----------
    service : FittedService
        The line, by `serving.LinearService.fit`.
    worst : float
        Largest relative residual of the line, positive where the batch took longer [1].
    worst_batch : float
        Size at which it stands [requests].
    curvature : float or None
        Probability of a better fit by a parabola, as much as this one, were the truth a line and
        errors relative and independent; None with fewer than 4 sizes [1].
    kink : float or None
        The same of two lines that meet at a measured size, with fewer than 6 measurements
        None; near, since where they meet is sought [1].
    kink_at : float or None
        Size at which those two lines meet [requests].
    steeper : float or None
        Slope of the second line over that of the first; None where the first is not rising [1].
    outliers : tuple of int
        Places of measurements that the others, with a curve where they follow one, do not
        explain [1].
    """

    service: FittedService
    worst: float
    worst_batch: float
    curvature: float | None
    kink: float | None
    kink_at: float | None
    steeper: float | None
    outliers: tuple[int, ...]
    _batches: Array = field(repr=False, compare=False)
    _times: Array = field(repr=False, compare=False)

    @property
    def straight(self) -> bool | None:
        """Whether a line is all that the measurements tell.

        Returns
        -------
        bool or None
            False where a parabola or a kink is found, with a probability of error of 5 % over
            both; None where there are too few sizes to tell.
        """
        return _straight(self.curvature, self.kink)

    def reach(self, batch: float) -> Reach:
        """Find how far a batch size lies outside the measured ones, and what that may cost.

        Parameters
        ----------
        batch : float
            Size that is asked, at least 1 [requests].

        Returns
        -------
        Reach
            How far, and the time by two lines: where they differ, the range decides the answer.

        Raises
        ------
        TypeError
            If ``batch`` is not a real number.
        ValueError
            If ``batch`` is below 1 or so large that its time leaves float64.
        """
        size = errors.number("batch", batch, at_least=1)
        least, most = float(self._batches.min()), float(self._batches.max())
        line = float(self.service.time(batch))
        sizes = np.unique(self._batches)
        near = sizes[np.argsort(np.abs(sizes - size), kind="stable")][
            : max(2, (sizes.size + 1) // 2)
        ]
        chosen = np.isin(self._batches, near)
        with np.errstate(all="ignore"):
            coefficients, _ = _least_squares(
                _design(self._batches[chosen], most, 2), self._times[chosen]
            )
            local = float(coefficients @ [1.0, size / most])
        usable = np.isfinite(local) and local > 0
        return Reach(max(size / most, least / size, 1.0), line, local if usable else None)


def diagnose(batches: ArrayLike, times: ArrayLike) -> Diagnosis:
    """Fit a line to measured batch times and test whether it is one.

    Parameters
    ----------
    batches : array_like, shape (n,)
        Batch sizes, at least 1, of two different values or more [requests].
    times : array_like, shape (n,)
        Measured time of each, above 0 [s].

    Returns
    -------
    Diagnosis
        The line of `serving.LinearService.fit`, its relative residuals, and the tests.

    Raises
    ------
    TypeError
        If an entry is not a real number.
    ValueError
        If the data do not determine a line with times at least 0.

    Notes
    -----
    The tests weigh relative errors, since a timer's error grows with the time; F tests of the
    added term. Outliers by the studentised residual without the measurement itself, over all of
    them at 5 %. Source: Draper and Smith 1998, ch. 8.

    Examples
    --------
    >>> found = diagnose([1, 2, 4, 8, 16], [0.0505, 0.0512, 0.0519, 0.0542, 0.0579])
    >>> found.straight, round(found.worst, 3), found.outliers
    (True, 0.003, ())
    """
    service = LinearService.fit(batches, times)
    sizes, measured = errors.array("batches", batches), errors.array("times", times)
    at = int(np.argmax(np.abs(service.relative_residuals)))
    with np.errstate(all="ignore"):
        tests, outliers = _faults(sizes, measured)
    return Diagnosis(
        service,
        float(service.relative_residuals[at]),
        float(sizes[at]),
        tests.curvature,
        tests.kink,
        tests.kink_at,
        tests.steeper,
        outliers,
        sizes,
        measured,
    )


def _design(sizes: Array, scale: float, terms: int) -> Array:
    """Powers of the sizes, one column each."""
    return np.vander(sizes / scale, terms, increasing=True)


def _least_squares(design: Array, times: Array) -> tuple[Array, float]:
    """Coefficients of least squared relative errors, and their sum."""
    unit = times.max()  # squares of raw numbers might leave float64
    weighted = design * (unit / times)[:, None]
    if not np.all(np.isfinite(weighted)):
        return np.full(design.shape[1], np.nan), np.nan
    scale = np.abs(weighted).max(axis=0)
    solved, *_ = np.linalg.lstsq(weighted / scale, np.ones(times.size), rcond=None)
    left = 1 - weighted @ (solved / scale)
    return solved / scale * unit, float(left @ left)


def _added(less: float, more: float, terms: int, freedom: int) -> float | None:
    """Probability of such a gain by added terms if they have no part."""
    if not (np.isfinite(less) and np.isfinite(more)) or freedom < 1:
        return None
    if less <= EXACT:
        return 1.0
    gain = max(less - more, 0.0) / terms / max(more, EXACT * less) * freedom
    return float(stats.f.sf(gain, terms, freedom))


class Bends(NamedTuple):
    """Tests of a line against a parabola and against two lines, and the better of these."""

    curvature: float | None = None
    kink: float | None = None
    kink_at: float | None = None
    steeper: float | None = None
    design: Array | None = None


def _straight(*probabilities: float | None) -> bool | None:
    found = [p for p in probabilities if p is not None]
    return None if not found else min(found) >= LEVEL / len(found)


def _faults(sizes: Array, times: Array) -> tuple[Bends, tuple[int, ...]]:
    """Tests of a bend, and outliers; a measurement that alone makes a bend is an outlier.

    The only time at the smallest or the largest size may be either; it counts as a bend.
    """
    all_of_them = _bends(sizes, times)
    out = _outliers(_design(sizes, sizes.max(), 2), times)
    if _straight(all_of_them.curvature, all_of_them.kink) is not False:
        return all_of_them, out
    kept = np.unique(np.delete(sizes, out))
    told = kept[0] == sizes.min() and kept[-1] == sizes.max()
    if told and 0 < len(out) <= max(1, sizes.size // 8):
        rest = _bends(np.delete(sizes, out), np.delete(times, out))
        if _straight(rest.curvature, rest.kink):
            return rest, out
    assert all_of_them.design is not None
    return all_of_them, _outliers(all_of_them.design, times)


def _bends(sizes: Array, times: Array) -> Bends:
    distinct = np.unique(sizes)
    if distinct.size < 4:
        return Bends()
    line, curve = _design(sizes, sizes.max(), 2), _design(sizes, sizes.max(), 3)
    straight = _least_squares(line, times)[1]
    curvature = _added(straight, _least_squares(curve, times)[1], 1, sizes.size - 3)
    if sizes.size < 6 or curvature is None:
        return Bends(curvature, design=curve)
    tried = []
    for at in distinct[1:-1]:
        bent = np.column_stack([line, np.maximum(sizes - at, 0) / sizes.max()])
        coefficients, left = _least_squares(bent, times)
        tried.append((left, float(at), coefficients, bent))
    left, place, coefficients, bent = min(tried, key=lambda one: one[0])
    kink = _added(straight, left, 2, sizes.size - 4)
    first, second = coefficients[1], coefficients[1] + coefficients[2]
    steeper = float(second / first) if first > 0 and np.isfinite(second / first) else None
    better = bent if kink is not None and kink < curvature else curve
    return Bends(curvature, kink, place, steeper, better)


def _outliers(design: Array, times: Array) -> tuple[int, ...]:
    """Measurements whose studentised residual is too large for one of so many."""
    weighted = design * (times.max() / times)[:, None]
    count, terms = weighted.shape
    freedom = count - terms - 1
    if freedom < 1 or not np.all(np.isfinite(weighted)):
        return ()
    weighted = weighted / np.abs(weighted).max(axis=0)
    basis, _ = np.linalg.qr(weighted)
    left = 1 - basis @ (basis.T @ np.ones(count))
    leverage = np.sum(basis**2, axis=1)
    total = float(left @ left)
    if total <= EXACT:
        return ()
    apart = np.maximum(1 - leverage, 1e-12)
    others = np.maximum(total - left**2 / apart, EXACT * total) / freedom
    p = 2 * stats.t.sf(np.abs(left) / np.sqrt(others * apart), freedom)
    told = (p * count < LEVEL) & (leverage < 1 - 1e-9)
    return tuple(int(place) for place in np.flatnonzero(told))
