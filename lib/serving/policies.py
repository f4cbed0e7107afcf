"""When a batch is closed: the policies of a batching server.

They are descriptions, checked once; `serving.simulation` simulates each of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import errors


@dataclass(frozen=True)
class Fixed:
    """Batches of exactly so many consecutive requests, without a timer.

    Parameters
    ----------
    batch : int
        Size of each batch, at least 1 [requests].

    Raises
    ------
    TypeError
        If ``batch`` is not a real number.
    ValueError
        If ``batch`` is not whole or is below 1.
    """

    batch: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "batch", errors.integer("batch", self.batch, at_least=1))


@dataclass(frozen=True)
class Greedy:
    """An idle server takes what waits, up to a largest batch: it never waits for more.

    Parameters
    ----------
    max_batch : int
        Largest batch, at least 1 [requests].

    Raises
    ------
    TypeError
        If ``max_batch`` is not a real number.
    ValueError
        If ``max_batch`` is not whole or is below 1.
    """

    max_batch: int

    def __post_init__(self) -> None:
        size = errors.integer("max_batch", self.max_batch, at_least=1)
        object.__setattr__(self, "max_batch", size)


@dataclass(frozen=True)
class Window:
    """A batch is closed when it is full, or when its first request has waited long enough.

    A window that is aware of its servers does so only when one of them is idle; while all are
    busy the queue goes on growing. With ``max_wait`` 0 it is `Greedy`, and with ``inf`` `Fixed`.
    A blind window closes whatever the servers do, and closed batches wait for a free one.

    Parameters
    ----------
    max_batch : int
        Size at which a batch is full, at least 1 [requests].
    max_wait : float
        Longest time that the first request waits for others, at least 0, perhaps ``inf`` [s].
    server_aware : bool
        Whether a batch is closed only when a server is idle.

    Raises
    ------
    TypeError
        If a number is not real or ``server_aware`` is not a bool.
    ValueError
        If ``max_batch`` is not whole or is below 1, or ``max_wait`` is negative or NaN.
    """

    max_batch: int
    max_wait: float
    server_aware: bool = True

    def __post_init__(self) -> None:
        size = errors.integer("max_batch", self.max_batch, at_least=1)
        object.__setattr__(self, "max_batch", size)
        object.__setattr__(self, "max_wait", errors.duration("max_wait", self.max_wait))
        if not isinstance(self.server_aware, bool):
            raise TypeError(f"server_aware must be True or False, got {self.server_aware!r}")
