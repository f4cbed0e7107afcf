"""Little's law on measurements: requests in flight against throughput times latency."""

from __future__ import annotations

from dataclasses import dataclass

from ._points import Measured, Point

SLACK = 0.05
"""Relative deviation that rounding, and start and end of a run, explain [1]."""
ERRORS = {1e3: "milliseconds and seconds", 1e6: "microseconds and seconds"}
"""Units that differ by a factor."""


@dataclass(frozen=True)
class Little:
    """Little's law on one point: requests in flight against throughput times latency.

    Attributes
    ----------
    point : Point
        The point.
    in_flight : float
        Requests in flight, as measured, or as the client kept them [requests].
    product : float
        Throughput times mean latency [requests].
    deviation : float
        The product over what is in flight, minus 1 [1].
    gap : float
        Time for which a place of the client is empty between two requests: what is in flight
        over the throughput, minus the latency; negative where there is no room for one [s].
    reading : str
        What the deviation says.
    """

    point: Point
    in_flight: float
    product: float
    deviation: float
    gap: float
    reading: str


def little(measured: Measured) -> tuple[Little, ...]:
    """Check Little's law wherever a point has what it takes.

    Parameters
    ----------
    measured : Measured
        What `load` returns.

    Returns
    -------
    tuple of Little
        One for each point with a throughput, a mean latency, and requests in flight that were
        measured or that a closed loop kept.

    Raises
    ------
    TypeError
        If ``measured`` is something else.
    ValueError
        If no point has all three.

    Notes
    -----
    Source: Little 1961. In a closed loop without a pause the product is the concurrency; with a
    pause Z between answer and next request, the concurrency is X (R + Z).
    """
    check(measured)
    points = [(point, _in_flight(point)) for point in measured.points]
    found = tuple(
        _little(point, present) for point, present in points if present and _product(point)
    )
    if not found:
        raise ValueError(
            "measured must have a point with throughput, mean latency and concurrency, got "
            f"{len(measured.points)} of the kind {', '.join(measured.loops)}"
        )
    return found


def check(measured: Measured) -> None:
    """Refuse what is no measurement."""
    if not isinstance(measured, Measured):
        raise TypeError(f"measured must be what load returns, got {measured!r}")


def _in_flight(point: Point) -> float | None:
    kept = point.concurrency if point.loop == "closed" else None
    return point.in_flight or kept


def _product(point: Point) -> float | None:
    if point.throughput is None or point.latency is None:
        return None
    return point.throughput * point.latency


def _little(point: Point, present: float) -> Little:
    product = _product(point)
    assert product is not None and point.throughput is not None and point.latency is not None
    deviation = product / present - 1
    gap = present / point.throughput - point.latency
    return Little(point, present, product, deviation, gap, _reading(point, product, present))


def _reading(point: Point, product: float, present: float) -> str:
    ratio = product / present
    for factor, units in ERRORS.items():
        for power in (factor, 1 / factor):
            if abs(ratio / power - 1) < 0.2:
                return f"off by a factor of {power:g}: {units} are mixed"
    if abs(ratio - 1) <= SLACK:
        return "consistent: the same requests were counted, timed and kept in flight"
    if point.batch and abs(ratio / point.batch - 1) <= SLACK:
        return f"the throughput counts items, {point.batch} in each request"
    if ratio < 1:
        return (
            "places of the client stand empty: it pauses, cannot keep up, loses requests, or start "
            "and end of the run weigh"
        )
    return (
        "more is in the system than was kept in flight: the latency holds time before sending, is "
        "no mean, or is of other requests than the throughput"
    )
