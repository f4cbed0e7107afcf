"""Start the lab's server, or time its model, in a process of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from . import errors
from ._lab_process import Program
from .policies import Fixed, Greedy, Window

SERVER = ["-m", "serving._lab_server"]
LARGEST = 32
"""Largest batch [requests]."""


class Server:
    """A small transformer behind HTTP on this machine alone, in batches by a policy.

    As a context manager it starts a process, and at the end answers what it has accepted, refuses
    what is new (503), and ends. It refuses with a reason: a body that is too large (413), that is
    no prompt (400), other paths (404) and methods (405), and requests beyond its places (429) or
    connections (503).

    Parameters
    ----------
    policy : Fixed, Greedy or Window
        When a batch is closed; a window must be aware of its server.
    places : int
        Most requests that wait, those in service not counted, at least 1 [requests].
    connections : int
        Most connections that are open, at least 1 [1].

    Attributes
    ----------
    url : str
        Where prompts are posted, ``{"prompt": [1, 2, 3, 4]}``, once it has started.

    Raises
    ------
    TypeError
        If an argument is of a wrong type.
    ValueError
        If an argument is out of range.
    RuntimeError
        If the process dies.
    """

    url: str

    def __init__(
        self, policy: Fixed | Greedy | Window, places: int = 1024, connections: int = 512
    ) -> None:
        size, wait = closing(policy)
        self._job = {
            "size": size,
            "wait": wait,
            "places": errors.integer("places", places, at_least=1),
            "connections": errors.integer("connections", connections, at_least=1),
        }

    def __enter__(self) -> Server:
        self._program = Program(SERVER, self._job).__enter__()
        try:
            self._said = self._program.lines()
            self.url = next(self._said)["url"]
        except BaseException:
            self._program.__exit__(None)
            raise
        return self

    def use(self, policy: Fixed | Greedy | Window) -> None:
        """Close batches by another policy from now on.

        Parameters
        ----------
        policy : Fixed, Greedy or Window
            As of the class.

        Raises
        ------
        TypeError
            If ``policy`` is something else.
        ValueError
            If it is a policy that the server does not have.
        RuntimeError
            If the process has died.
        """
        size, wait = closing(policy)
        self._program.say({"size": size, "wait": wait})
        next(self._said)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._program.end()
        finally:
            self._program.__exit__(kind)


def closing(policy: Fixed | Greedy | Window) -> tuple[int, float]:
    """Size at which a batch is full, and how long its first request waits for that."""
    if isinstance(policy, Fixed):
        size, wait = policy.batch, math.inf
    elif isinstance(policy, Greedy):
        size, wait = policy.max_batch, 0.0
    elif isinstance(policy, Window):
        size, wait = policy.max_batch, policy.max_wait
        if not policy.server_aware:
            raise ValueError(f"policy must close batches for an idle server, got {policy!r}")
    else:
        raise TypeError(f"policy must be Fixed, Greedy or Window of policies, got {policy!r}")
    if size > LARGEST:
        raise ValueError(f"policy must have batches of at most {LARGEST}, got {policy!r}")
    return size, wait


def profile(
    batches: Sequence[int] = (1, 8, 32), repeats: int = 40, progress: bool = True
) -> NDArray[np.float64]:
    """Time batches of the lab's model, in a process of its own and without HTTP.

    Parameters
    ----------
    batches : sequence of int
        Batch sizes, from 1 to 32 [requests].
    repeats : int
        How often each is timed, at least 1 [1].
    progress : bool
        Whether a bar on stderr counts the batches.

    Returns
    -------
    ndarray, shape (len(batches), repeats)
        Time of each batch; sizes are timed in turn [s].

    Raises
    ------
    TypeError
        If a number is not real.
    ValueError
        If an argument is out of range.
    RuntimeError
        If the process dies.
    """
    from tqdm import tqdm  # here, for the package installs without

    sizes = [errors.integer("batches", size, at_least=1) for size in batches]
    if not sizes or max(sizes) > LARGEST:
        raise ValueError(f"batches must be sizes of at most {LARGEST}, got {batches!r}")
    times = errors.integer("repeats", repeats, at_least=1)
    with Program(SERVER, {"batches": sizes, "repeats": times}) as program:
        bar = tqdm(total=len(sizes) * times, unit=" batches", disable=not progress)
        with bar:
            found = [said for said in program.lines() if bar.update() or True]
    return np.array([seconds for _, seconds in found]).reshape(times, len(sizes)).T
