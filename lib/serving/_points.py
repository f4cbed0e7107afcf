"""Measured points: what one run of a benchmark says, and several of them together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import errors

AGREE = 0.10
"""Relative difference up to which two times of one batch size are repetitions [1]."""
NOTHING: Mapping[float, float] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Point:
    """What one run says: batches of one size, or requests at one concurrency or rate.

    Attributes
    ----------
    file : str
        The file that it is from.
    row : int
        Row of the file [1].
    tool : str
        What wrote it.
    batch : int or None
        Size of the batches that were timed as a whole [requests].
    concurrency : int or None
        Most requests that the client kept in flight at once [requests].
    rate : float or None
        Requests a second that the client sent; ``inf`` for all at once [1/s].
    throughput : float or None
        Completed requests a second [requests/s].
    latency : float or None
        Mean time, of a batch or of a request from sending to its end [s].
    latency_from : str
        Which fields of the file the mean is from.
    count : int or None
        How many times were measured: completed requests, or batches [1].
    failed : int or None
        Requests that failed or were cut off [requests].
    in_flight : float or None
        Mean number of requests in flight, as the tool measured it [requests].
    percentiles : mapping of float to float
        Percentiles of the time by their percentage [s].
    latencies : ndarray, shape (count,), or None
        Each time, where the file keeps them [s].
    """

    file: str
    row: int
    tool: str
    batch: int | None = None
    concurrency: int | None = None
    rate: float | None = None
    throughput: float | None = None
    latency: float | None = None
    latency_from: str = ""
    count: int | None = None
    failed: int | None = None
    in_flight: float | None = None
    percentiles: Mapping[float, float] = field(default_factory=lambda: NOTHING)
    latencies: NDArray[np.float64] | None = field(default=None, repr=False)

    @property
    def loop(self) -> str:
        """How requests were sent.

        Returns
        -------
        str
            ``"batches"`` one after another, ``"closed"`` (a new request when one is done),
            ``"open"`` (at a rate, whatever the server does), ``"capped"`` (at a rate, but never
            more than so many at once), ``"at once"``, or ``"unknown"``.
        """
        if self.concurrency is not None:
            at_rate = self.rate is not None and math.isfinite(self.rate)
            return "capped" if at_rate else "closed"
        if self.rate is not None:
            return "open" if math.isfinite(self.rate) else "at once"
        return "unknown" if self.batch is None else "batches"


@dataclass(frozen=True, eq=False)
class Measured:
    """Measurements that one file, or several, hold.

    Attributes
    ----------
    points : tuple of Point
        One for each run, in the order of the file.
    """

    points: tuple[Point, ...]

    @property
    def loops(self) -> tuple[str, ...]:
        """Ways in which requests were sent, each once.

        Returns
        -------
        tuple of str
            See `Point.loop`.
        """
        return tuple(dict.fromkeys(point.loop for point in self.points))

    @property
    def timed(self) -> tuple[Point, ...]:
        """Points of batches of a known size that were timed as a whole.

        Returns
        -------
        tuple of Point
            Those with a size and a mean time that were not sent by a client at a rate or
            concurrency.
        """
        return tuple(p for p in self.points if p.loop == "batches" and p.latency is not None)

    @property
    def batches(self) -> NDArray[np.int64]:
        """Sizes of the timed batches.

        Returns
        -------
        ndarray, shape (n,)
            In the order of the file [requests].
        """
        return np.array([point.batch for point in self.timed], dtype=np.int64)

    @property
    def times(self) -> NDArray[np.float64]:
        """Mean times of the timed batches.

        Returns
        -------
        ndarray, shape (n,)
            In the order of the file [s].
        """
        return np.array([point.latency for point in self.timed], dtype=np.float64)


def join(*measured: Measured) -> Measured:
    """Put together what several files hold, such as one for each batch size.

    Parameters
    ----------
    *measured : Measured
        One or more.

    Returns
    -------
    Measured
        All their points.

    Raises
    ------
    TypeError
        If something else is given.
    ValueError
        If nothing is given, or two times of one batch size disagree.
    """
    if not measured:
        raise ValueError("measured must be one or more, got none")
    for one in measured:
        if not isinstance(one, Measured):
            raise TypeError(f"measured must be what load returns, got {one!r}")
    return agreeing(tuple(point for one in measured for point in one.points))


def agreeing(points: tuple[Point, ...]) -> Measured:
    """Refuse two times of one batch size that are no repetitions of each other."""
    first: dict[int, Point] = {}
    whole = Measured(points)
    for point in whole.timed:
        assert point.batch is not None and point.latency is not None
        known = first.setdefault(point.batch, point)
        assert known.latency is not None
        if abs(point.latency - known.latency) > AGREE * min(point.latency, known.latency):
            raise ValueError(
                f"path {point.file!r}: row {point.row}, column 'batch': batch {point.batch} takes "
                f"{point.latency:.6g} s here and {known.latency:.6g} s in row {known.row} of "
                f"{known.file!r}; two times of one batch must agree within {AGREE:.0%}"
            )
    return whole


def stated(points: tuple[Point, ...], batch: Any, concurrency: Any) -> tuple[Point, ...]:
    """Add what the caller knows and the file does not say."""
    given = {"batch": batch, "concurrency": concurrency}
    known = {
        name: errors.integer(name, value, at_least=1)
        for name, value in given.items()
        if value is not None
    }
    for point in points:
        for name, value in known.items():
            said = getattr(point, name)
            if said is not None and said != value:
                raise ValueError(
                    f"{name} must be left out, got {value!r}: row {point.row} of "
                    f"{point.file!r} says {said}"
                )
        if known and point.loop not in {"unknown", "batches", "closed"}:
            raise ValueError(
                f"{' and '.join(known)} must be left out, got {batch if batch else concurrency!r}: "
                f"row {point.row} of {point.file!r} is a run of the kind {point.loop!r}"
            )
    return tuple(replace(point, **known) for point in points)
