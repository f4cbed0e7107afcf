"""Many calls of one function on any executor; what finishes is kept when something fails."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from typing import Any

Results = tuple[dict[int, Any], dict[int, BaseException]]
"""What finished and what failed, by the place of the case."""


class SweepError(RuntimeError):
    """Cases of a sweep failed while they ran; the results of the others are kept.

    Attributes
    ----------
    finished : dict
        The `Simulation` of each case that finished, by the place of the case.
    failed : dict
        The exception of each other case, by the place of the case.
    """

    def __init__(
        self, message: str, finished: dict[int, Any], failed: dict[int, BaseException]
    ) -> None:
        super().__init__(message, finished, failed)
        self.finished = finished
        self.failed = failed

    def __str__(self) -> str:
        return str(self.args[0])


@contextmanager
def bar(total: int, unit: str, shown: bool | None, long: bool) -> Iterator[Callable[[int], Any]]:
    """Show progress on stderr if that is asked for, or a long run is watched in a terminal."""
    if not isinstance(shown, (bool, type(None))):
        raise TypeError(f"progress must be True, False or None, got {shown!r}")
    watched = long and sys.stderr.isatty() and not os.environ.get("SERVING_STILL")
    try:
        from tqdm import tqdm
    except ImportError:
        if shown:
            raise
        watched = False
    if not (watched if shown is None else shown):
        yield lambda count: None
        return
    with tqdm(total=total, unit=unit, unit_scale=total > 10**6, file=sys.stderr) as drawn:
        yield drawn.update


def finish(
    function: Callable[..., Any],
    cases: Sequence[Mapping[str, Any]],
    executor: Executor | None,
    progress: bool | None,
) -> list[Any]:
    """Call a function with each case and return the results in order, or raise SweepError."""
    everything = range(len(cases))
    with bar(len(cases), " cases", progress, long=True) as tick:
        if executor is not None:
            finished, failed = _gather(function, cases, everything, executor, tick)
        else:
            finished, failed = _in_processes(function, cases, tick)
    if failed:
        raise _error(cases, finished, failed)
    return [finished[place] for place in everything]


def _gather(
    function: Callable[..., Any],
    cases: Sequence[Mapping[str, Any]],
    places: Iterable[int],
    executor: Executor,
    tick: Callable[[int], Any],
) -> Results:
    finished: dict[int, Any] = {}
    failed: dict[int, BaseException] = {}
    futures: dict[Future[Any], int] = {}
    try:
        for place in places:
            try:
                futures[executor.submit(function, **cases[place])] = place
            except BrokenExecutor as error:  # an earlier case has broken it already
                failed[place] = error
        for future in as_completed(futures):
            if error := future.exception():
                failed[futures[future]] = error
            else:
                finished[futures[future]] = future.result()
                tick(1)
    finally:
        for future in futures:
            future.cancel()
    return finished, failed


def _in_processes(
    function: Callable[..., Any], cases: Sequence[Mapping[str, Any]], tick: Callable[[int], Any]
) -> Results:
    """One process a processor; a death stops all, so each case that is left then runs alone."""
    if not cases:
        return {}, {}
    with _pool(min(len(cases), os.cpu_count() or 1)) as pool:
        finished, failed = _gather(function, cases, range(len(cases)), pool, tick)
    for place in sorted(failed):
        if isinstance(failed[place], BrokenExecutor):
            with _pool(1) as pool:
                found, lost = _gather(function, cases, [place], pool, tick)
            del failed[place]
            finished |= found
            failed |= lost
    return finished, failed


def _pool(processes: int) -> ProcessPoolExecutor:
    """Processes that do not copy this one, whose threads a copy would lack."""
    server = "forkserver" in multiprocessing.get_all_start_methods()
    context: Any = multiprocessing.get_context("forkserver" if server else "spawn")
    if server:
        context.set_forkserver_preload(["serving._server"])
    return ProcessPoolExecutor(processes, mp_context=context)


def _error(
    cases: Sequence[Mapping[str, Any]], finished: dict[int, Any], failed: dict[int, BaseException]
) -> SweepError:
    places = sorted(failed)
    first = failed[places[0]]
    what = "the process died" if isinstance(first, BrokenExecutor) else repr(first)
    named = "; ".join(f"cases[{place}] = {cases[place]!r}" for place in places[:3])
    more = f" and {len(places) - 3} more" if len(places) > 3 else ""
    error = SweepError(
        f"{len(finished)} of {len(cases)} cases finished (see .finished); failed, {what}: "
        f"{named}{more}",
        finished,
        failed,
    )
    error.__cause__ = first
    return error
