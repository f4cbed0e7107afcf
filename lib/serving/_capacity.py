"""How many blocks and tokens an engine makes of the memory for its cache."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from . import _vllm, errors
from ._budget import Bytes, per_rank
from ._layers import BYTES, ROWS, State

if TYPE_CHECKING:
    from .kvcache import Layout

BLOCKS = {"vllm": 16, "vllm-v1": 16, "vllm-v0": 16, "sglang": 1, "tensorrt-llm": 32}
"""Engines that `capacity` knows, and the tokens of their blocks by default."""
LOGS = {
    "vllm": "GPU KV cache size: {tokens:,} tokens\n"
    "Maximum concurrency for {length:,} tokens per request: {concurrency:.2f}x",
    "vllm-v0": "# GPU blocks: {blocks}\n"
    "Maximum concurrency for {length} tokens per request: {concurrency:.2f}x",
    "sglang": "max_total_num_tokens={tokens}",
    "tensorrt-llm": "Number of blocks in KV cache primary pool: {blocks}",
}
"""What the engines' logs say of it; "vllm-v1" says it as "vllm" does."""


@dataclass(frozen=True)
class Capacity:
    """What an engine makes of the memory for its cache.

    Attributes
    ----------
    blocks : int
        Blocks on each device [blocks].
    block_tokens : int
        Tokens of a block, the shortest if layers have different ones; 0 if all are states
        [tokens].
    block_bytes : int
        Size of a block on the device that holds the most of it, in all layers [bytes].
    tokens : int
        The tokens that its log prints [tokens].
    concurrency : float
        Requests of full length that fit at once, as the log prints it, fractions included [1].
    request_blocks : int
        Blocks of one request of full length [blocks].
    longest : int
        Longest request that fits alone, at most the full length [tokens].
    log : str
        What to look for in the engine's log.
    reason : str
        Why not even one request of full length fits; empty if one does.
    """

    blocks: int
    block_tokens: int
    block_bytes: int
    tokens: int
    concurrency: float
    request_blocks: int
    longest: int
    log: str = ""
    reason: str = ""

    @property
    def request_bytes(self) -> int:
        """Size of one request of full length on that device [bytes]."""
        return self.request_blocks * self.block_bytes


def capacity(
    layout: Layout,
    memory: Bytes,
    tokens: int,
    engine: str = "vllm",
    block_size: int | None = None,
    batched_tokens: int = 8192,
    stages: int = 1,
    state_dtype: str | None = None,
) -> Capacity:
    """Count the blocks and tokens that an engine makes of the memory for its cache.

    Parameters
    ----------
    layout : Layout
        What the cache keeps on each device.
    memory : int or sequence of int
        Memory for the cache on each device: one number for all, or one for each, stage by stage.
        The least of a stage counts, and then the stage with the fewest blocks [bytes].
    tokens : int
        Longest request that is admitted, vLLM's ``max_model_len`` [tokens].
    engine : str
        ``"vllm"`` as it is now; ``"vllm-v1"``, whose line of tokens counts layers with a window
        at full length; ``"vllm-v0"``, which keeps all tokens in all layers; ``"sglang"``;
        ``"tensorrt-llm"``, for which ``memory`` is the share of what was free.
    block_size : int or None
        Tokens of a block; without it the engine's default: 16 for vLLM, 1 for SGLang, 32 for
        TensorRT-LLM, 64 in its older versions [tokens].
    batched_tokens : int
        Most tokens in one step, vLLM's ``max_num_batched_tokens``; layers with a window keep
        them besides it [tokens].
    stages : int
        Stages of a pipeline, over which the layers are split as vLLM does [1].
    state_dtype : str or None
        Format of states; without it that of the layout. vLLM takes the model's own format unless
        the configuration has ``mamba_ssm_dtype``, and always for the inputs of convolutions.

    Returns
    -------
    Capacity
        Blocks, tokens, concurrency, and the longest request. If not one request fits, the
        concurrency is below 1 and ``.reason`` says why.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If an argument is too small or not whole, ``tokens`` is more than the configuration
        states, ``engine`` is unknown, ``memory`` has not equally many numbers for each stage, or
        ``layout`` has layers that the engine's rule, as it stands here, does not cover.

    Notes
    -----
    Source: vLLM, ``vllm/v1/core/kv_cache_utils.py``, commit 001cabc1, for "vllm-v1"; later
    ``_report_kv_cache_config`` prints int(concurrency x length), for "vllm";
    ``vllm/worker/worker.py`` for "vllm-v0". TensorRT-LLM, ``kvCacheManager.cpp``,
    ``calculateMaxNumBlocks``: whole tokens, blocks rounded up. SGLang,
    ``python/sglang/srt/mem_cache/memory_pool.py``, commit 000ccdba.

    Layers that attend within chunks are counted as layers with a window, two blocks more than
    vLLM counts. A request has two blocks for each table of states, as with prefix caching, which
    is vLLM's default now ("align" in ``MambaSpec``); for "vllm-v1" one.

    Examples
    --------
    >>> from serving.kvcache import layout, memory_budget
    >>> llama3 = layout({"num_hidden_layers": 32, "hidden_size": 4096,
    ...                  "num_attention_heads": 32, "num_key_value_heads": 8})
    >>> found = capacity(llama3, memory_budget(24 * 2**30, weights=15 * 2**30).cache, 8192)
    >>> print(found.log)
    GPU KV cache size: 54,064 tokens
    Maximum concurrency for 8,192 tokens per request: 6.60x
    """
    is_layout(layout)
    length = errors.integer("tokens", tokens, at_least=1)
    if layout.context is not None and length > layout.context:
        raise ValueError(
            f"tokens must be at most {layout.context}, the longest sequence that the "
            f"configuration states, got {tokens!r}"
        )
    batched = errors.integer("batched_tokens", batched_tokens, at_least=1)
    block = rounding(BLOCKS, engine, block_size)
    if state_dtype is not None:
        layout = replace(layout, states=_stored(layout.states, state_dtype))
    parts = _stages(layout, errors.integer("stages", stages, at_least=1))
    room = per_rank("memory", memory)
    if len(room) > 1 and len(room) % len(parts):
        raise ValueError(
            f"memory must have equally many numbers for each of stages = {len(parts)}, "
            f"got {memory!r}"
        )
    each = len(room) // len(parts) or 1
    least = [min(room[stage * each :][:each] or room) for stage in range(len(parts))]
    if engine.startswith("vllm"):
        if engine == "vllm-v0" and layout.states:
            raise ValueError("engine = 'vllm-v0' keeps states outside its blocks, layout has them")
        kept = {"windows": engine != "vllm-v0", "state_blocks": 2 if engine == "vllm" else 1}
        pools = [_vllm.pool(part, block, **kept) for part in parts]
        blocks = min(left // one.block_bytes for left, one in zip(least, pools, strict=True))
        size = max(one.block_bytes for one in pools)
        found = _counted(blocks, size, length, lambda n: pools[0].blocks(n, batched), min(least))
        return _logged(
            replace(found, **_vllm_lines(engine, found, pools[0], length)), engine, length
        )
    for part in parts:
        _one_kind(part, engine)
    fits = min(left // part.bytes_per_token for left, part in zip(least, parts, strict=True))
    blocks = -(-fits // block) if engine == "tensorrt-llm" else fits // block
    window = layout.groups[0].window if engine == "tensorrt-llm" else None
    size = max(part.bytes_per_token for part in parts) * block
    found = _counted(blocks, size, length, lambda n: -(-min(n, window or n) // block), min(least))
    return _logged(replace(found, block_tokens=block, tokens=blocks * block), engine, length)


def _logged(found: Capacity, engine: str, length: int) -> Capacity:
    lines = LOGS.get(engine, LOGS["vllm"])
    return replace(found, log=lines.format(length=length, **vars(found)))


def _stored(states: tuple[State, ...], dtype: str) -> tuple[State, ...]:
    """Give states another format."""
    if not isinstance(dtype, str) or dtype not in BYTES:
        raise ValueError(f"state_dtype must be one of {', '.join(BYTES)}, got {dtype!r}")
    if any((state.numbers - state.recent) % ROWS[dtype][0] for state in states):
        raise ValueError(f"state_dtype = {dtype!r} cannot store the states of {states}")
    return tuple(replace(state, dtype=dtype) for state in states)


def _vllm_lines(
    engine: str, found: Capacity, pool: _vllm.Pool, length: int
) -> dict[str, int | float]:
    """What the versions print: the line of tokens, and the concurrency."""
    block = min((kind.block for kind in pool.kinds if kind.block), default=0)
    if engine == "vllm-v0":
        kept = found.blocks * block
        return {"block_tokens": block, "tokens": kept, "concurrency": kept / length}
    if engine == "vllm-v1":
        return {"block_tokens": block, "tokens": found.blocks // sum(pool.tables) * block}
    printed = found.concurrency * length  # in floats, as the engine computes it
    exact = found.blocks * length // found.request_blocks
    return {"block_tokens": block, "tokens": int(printed) if math.isfinite(printed) else exact}


def _counted(
    blocks: int, size: int, length: int, needs: Callable[[int], int], room: int
) -> Capacity:
    """Count requests in blocks, and find the longest that fits."""
    request, longest = needs(length), largest(lambda n: needs(n) <= blocks, length)
    reason = ""
    if request > blocks:
        reason = (
            f"one request of tokens = {length} takes {request * size} bytes, and memory = {room} "
            f"bytes holds {blocks} blocks of {size} bytes"
        )
    return Capacity(blocks, 0, size, 0, blocks / request, request, longest, reason=reason)


def largest(fits: Callable[[int], bool], most: int) -> int:
    """Find the largest whole number, at most so large, that fits; 0 if not even 1 does.

    Parameters
    ----------
    fits : callable
        Tells of a number whether it fits; if it does, all smaller ones do.
    most : int
        Largest number of interest [any].

    Returns
    -------
    int
        The number [any].
    """
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _stages(layout: Layout, count: int) -> list[Layout]:
    """Split the layers over the stages of a pipeline."""
    if count == 1:
        return [layout]
    if len(layout.groups) != 1 or layout.states:
        raise ValueError(
            f"stages = {count} cannot be split: the layout has layers of several kinds and does "
            f"not say in which order"
        )
    [group] = layout.groups
    if group.layers < count:
        raise ValueError(f"stages = {count} must be at most the {group.layers} layers of layout")
    return [
        replace(layout, groups=(replace(group, layers=layers),))
        for layers in _vllm.stages(group.layers, count)
    ]


def _one_kind(layout: Layout, engine: str) -> None:
    if layout.states or len({(group.window, group.encoder) for group in layout.groups}) != 1:
        raise ValueError(
            f"engine = {engine!r}: its rule for layers of several kinds is not modelled, got "
            f"layout = {layout!r}"
        )
    if layout.groups[0].encoder:
        raise ValueError(f"engine = {engine!r} keeps no tokens of an encoder, layout has them")


def is_layout(layout: object) -> None:
    """Refuse what is no layout, keeps nothing, or as much as an encoder of unknown length."""
    groups = getattr(layout, "groups", None)
    if not isinstance(groups, tuple):
        raise TypeError(f"layout must be a Layout, got {layout!r}")
    if not all(group.keys + group.values and group.layers for group in groups) or not (
        groups or layout.states  # type: ignore[attr-defined]
    ):
        raise ValueError(f"layout must keep something in each group of layers, got {layout!r}")
    if any(group.encoder and group.window is None for group in groups):
        raise ValueError(
            f"layout does not say how many tokens an encoder hands over, got {layout!r}"
        )


def rounding(known: dict[str, int], engine: str, block_size: int | None) -> int:
    """Tokens to which an engine rounds: what was asked for, or its default [tokens]."""
    if not isinstance(engine, str) or engine not in known:
        raise ValueError(f"engine must be one of {', '.join(known)}, got {engine!r}")
    if block_size is None:
        return known[engine]
    return errors.integer("block_size", block_size, at_least=1)
