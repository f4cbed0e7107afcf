"""What weights, activations and the runtime leave of a device's memory for the cache."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import floor

from . import errors

Bytes = int | Iterable[int]
"""Bytes on every device alike, or on each."""


@dataclass(frozen=True)
class Budget:
    """Memory for the cache on each device.

    Attributes
    ----------
    ranks : tuple of int
        What is left on each device, 0 where nothing is [bytes].
    reason : str
        Why a device has nothing left; empty if all have something.
    """

    ranks: tuple[int, ...]
    reason: str = ""

    @property
    def cache(self) -> int:
        """What each device can use: engines give all the least that one has [bytes]."""
        return min(self.ranks)


def per_rank(name: str, value: Bytes, at_least: int = 0) -> tuple[int, ...]:
    """Read bytes that are one number for all devices, or one for each.

    Parameters
    ----------
    name : str
        Name of the argument, for the error.
    value : int or sequence of int
        The bytes [bytes].
    at_least : int
        Least allowed [bytes].

    Returns
    -------
    tuple of int
        One number, or one for each device [bytes].

    Raises
    ------
    TypeError
        If one is not a real number.
    ValueError
        If there is none, or one is not whole or too small.
    """
    if errors.is_scalar(value):
        return (errors.integer(name, value, at_least=at_least),)
    found = tuple(errors.integer(name, one, at_least=at_least) for one in value)  # type: ignore[union-attr]
    if not found:
        raise ValueError(f"{name} must be a number, or one for each device, got {value!r}")
    return found


def memory_budget(
    memory: Bytes,
    utilization: float = 0.9,
    weights: Bytes = 0,
    activations: Bytes = 0,
    reserve: Bytes = 0,
) -> Budget:
    """Compute what is left for the cache on each device.

    Parameters
    ----------
    memory : int or sequence of int
        Memory of a device, in all: one number for all devices, or one for each [bytes].
    utilization : float
        Share of it that the engine may use, above 0 and at most 1 [1].
    weights : int or sequence of int
        Weights on a device [bytes].
    activations : int or sequence of int
        Most that a step needs beside them, as an engine's trial run measures it [bytes].
    reserve : int or sequence of int
        What the runtime holds: its context, communication buffers, graphs [bytes].

    Returns
    -------
    Budget
        What is left, ``.cache`` where all devices get the least. Where the rest needs more than
        there is, ``.cache`` is 0 and ``.reason`` says which argument leaves nothing.

    Raises
    ------
    TypeError
        If an argument is not a real number.
    ValueError
        If an argument is negative, not whole or empty, ``utilization`` is not above 0 and at most
        1, or sequences differ in length.

    Notes
    -----
    Source: vLLM, ``vllm/worker/worker.py``, ``determine_num_available_blocks``. SGLang's share
    ``mem_fraction_static`` is of the same memory, for weights and cache. TensorRT-LLM's
    ``kv_cache_free_gpu_mem_fraction`` is of what is free once the weights are loaded: pass that
    as ``memory``.

    Examples
    --------
    >>> memory_budget(80 * 2**30, weights=[15 * 2**30, 16 * 2**30]).cache / 2**30
    56.0
    >>> memory_budget(24 * 2**30, weights=25 * 2**30).reason
    'weights = 26843545600 bytes leave nothing of 90 % of memory = 25769803776 bytes'
    """
    errors.number("utilization", utilization, above=0, at_most=1)
    share = errors.exact("utilization", utilization)
    given = {
        "memory": per_rank("memory", memory),
        "weights": per_rank("weights", weights),
        "activations": per_rank("activations", activations),
        "reserve": per_rank("reserve", reserve),
    }
    count = max(map(len, given.values()))
    if any(len(values) not in (1, count) for values in given.values()):
        sizes = {name: len(values) for name, values in given.items()}
        raise ValueError(f"memory, weights, activations and reserve differ in length: {sizes}")
    ranks, reason = [], ""
    for rank in range(count):
        here = {name: values[rank if len(values) > 1 else 0] for name, values in given.items()}
        left = may_use = floor(share * here["memory"])
        spent = []
        for name in ("weights", "activations", "reserve"):
            left -= here[name]
            spent += [f"{name} = {here[name]}"] if here[name] else []
            if left <= 0:
                break
        ranks.append(max(left, 0))
        if left <= 0 and not reason:
            where = f" on device {rank}" if count > 1 else ""
            what = f"{' + '.join(spent)} bytes leave nothing of " if may_use else "nothing is in "
            reason = (
                f"{what}{errors.brief(100 * share)} % of memory = {here['memory']} bytes{where}"
            )
    return Budget(tuple(ranks), reason)
