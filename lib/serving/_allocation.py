"""How many bytes an engine allocates for a context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import errors
from ._budget import Bytes, per_rank
from ._capacity import BLOCKS, capacity, is_layout, largest, rounding
from ._layers import row_bytes, token_bytes

if TYPE_CHECKING:
    from .kvcache import Layout

CELLS = {"llama.cpp": 256, "ik_llama.cpp": 256, "whisper.cpp": 256, "ggml": 1, "sglang": 1}
"""Engines that `allocation` knows, and the tokens to which they round by default."""


@dataclass(frozen=True)
class Allocation:
    """What an engine allocates for its cache on each device.

    Attributes
    ----------
    cells : tuple of int
        Tokens for which each group of layers has room, in all sequences [tokens].
    keys, values : int
        What tokens of the text take; a latent row counts as keys [bytes].
    encoder : int
        What the tokens of an encoder take [bytes].
    states : int
        What states of constant size take [bytes].
    """

    cells: tuple[int, ...]
    keys: int
    values: int
    encoder: int
    states: int

    @property
    def total(self) -> int:
        """All of it [bytes]."""
        return self.keys + self.values + self.encoder + self.states


def allocation(
    layout: Layout,
    tokens: int,
    engine: str = "llama.cpp",
    sequences: int = 1,
    batched_tokens: int = 512,
    block_size: int | None = None,
    unified: bool = False,
) -> Allocation:
    """Count the bytes that an engine allocates for a context of some length.

    Parameters
    ----------
    layout : Layout
        What the cache keeps on each device.
    tokens : int
        The context that was asked for, of all sequences together: llama.cpp's ``n_ctx``
        [tokens].
    engine : str
        ``"llama.cpp"``; ``"ik_llama.cpp"`` and ``"ggml"`` (early programs), which keep all tokens
        in all layers; ``"whisper.cpp"``; ``"sglang"``, whose log prints keys and values apart.
    sequences : int
        Sequences that can be in progress, llama.cpp's ``--parallel`` [1].
    batched_tokens : int
        Most tokens in one step, llama.cpp's ``n_ubatch``; layers with a window keep them besides
        it [tokens].
    block_size : int or None
        Tokens to which cells are rounded up; without it the engine's default: 256 for llama.cpp,
        ik_llama.cpp and whisper.cpp (1 before it had flash attention), 1 for ggml and SGLang,
        which adds one block instead [tokens].
    unified : bool
        Whether llama.cpp's sequences share their cells.

    Returns
    -------
    Allocation
        Cells and bytes, by what they are for.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If an argument is too small or not whole, ``tokens`` is more for each sequence than the
        configuration states, ``engine`` is unknown, or ``layout`` has layers that the engine
        does not know.

    Notes
    -----
    Source: llama.cpp, ``src/llama-context.cpp`` (the context is rounded to 256 for each
    sequence), ``src/llama-kv-cache-iswa.cpp``, commit 02c28f53 (cells of layers with a window)
    and ``src/llama-memory-recurrent.cpp``, commit 0054ee8c (a state for each sequence);
    whisper.cpp, ``src/whisper.cpp``, ``whisper_init_state``; SGLang, class ``MHATokenToKVPool``
    (one page besides the tokens). A log may print GiB and MiB under the labels GB and MB.

    Examples
    --------
    >>> from serving.kvcache import layout
    >>> llama3 = layout({"num_hidden_layers": 32, "hidden_size": 4096,
    ...                  "num_attention_heads": 32, "num_key_value_heads": 8}, "q8_0")
    >>> allocation(llama3, 8192).total / 2**20
    544.0
    """
    is_layout(layout)
    context = errors.integer("tokens", tokens, at_least=1)
    slots = errors.integer("sequences", sequences, at_least=1)
    batched = errors.integer("batched_tokens", batched_tokens, at_least=1)
    pad = rounding(CELLS, engine, block_size)
    if layout.context is not None and engine != "sglang" and -(-context // slots) > layout.context:
        raise ValueError(
            f"tokens must be at most {layout.context} for each sequence, as the configuration "
            f"states, got {tokens!r} for sequences = {sequences}"
        )
    if not isinstance(unified, bool):
        raise TypeError(f"unified must be True or False, got {unified!r}")
    cells = []
    for group in layout.groups:
        if group.encoder and engine != "whisper.cpp":
            raise ValueError(f"engine = {engine!r} keeps no tokens of an encoder, layout has them")
        if group.encoder:
            cells.append(_up(group.window or 0, pad) * slots)
        elif engine == "llama.cpp":
            cells.append(_llama_cells(context, group.window, slots, batched, pad, unified))
        else:
            cells.append(context + pad if engine == "sglang" else _up(context, pad))
    rows = [
        (n * group.layers, group, group.dtype or layout.dtype)
        for n, group in zip(cells, layout.groups, strict=True)
    ]
    return Allocation(
        tuple(cells),
        sum(n * row_bytes(group.keys, form) for n, group, form in rows if not group.encoder),
        sum(n * row_bytes(group.values, form) for n, group, form in rows if not group.encoder),
        sum(
            n * token_bytes(group, form) // group.layers for n, group, form in rows if group.encoder
        ),
        slots * sum(state.bytes for state in layout.states),
    )


def longest_context(
    layout: Layout,
    memory: Bytes,
    at_most: int,
    engine: str = "vllm",
    block_size: int | None = None,
    batched_tokens: int | None = None,
    sequences: int = 1,
) -> int:
    """Find the longest context that an engine can be given.

    Parameters
    ----------
    layout : Layout
        What the cache keeps on each device.
    memory : int or sequence of int
        Memory for the cache on each device, of which the least counts [bytes].
    at_most : int
        Longest context of interest. The longest of the model, if its configuration states one,
        bounds each sequence as well [tokens].
    engine : str
        One that `capacity` or `allocation` knows. The former's context is that of a request that
        is alone, the latter's that of all sequences together.
    block_size, batched_tokens : int or None
        As in `capacity` and `allocation`; without them the engine's defaults [tokens].
    sequences : int
        Sequences that can be in progress, for engines that allocate at once [1].

    Returns
    -------
    int
        How long it can be, 0 if even one token is too many [tokens].

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If an argument is too small or not whole, ``engine`` is unknown, or ``layout`` has layers
        that the engine does not know.

    Examples
    --------
    >>> from serving.kvcache import layout
    >>> llama3 = layout({"num_hidden_layers": 32, "hidden_size": 4096,
    ...                  "num_attention_heads": 32, "num_key_value_heads": 8})
    >>> longest_context(llama3, 4 * 2**30, 131072, "llama.cpp")
    32768
    """
    is_layout(layout)
    most = errors.integer("at_most", at_most, at_least=1)
    slots = errors.integer("sequences", sequences, at_least=1)
    alone = isinstance(engine, str) and engine in BLOCKS
    if layout.context is not None:
        most = min(most, layout.context * (1 if alone else slots))
    step = {} if batched_tokens is None else {"batched_tokens": batched_tokens}
    if alone:
        return capacity(layout, memory, most, engine, block_size, **step).longest
    room = min(per_rank("memory", memory))

    def fits(tokens: int) -> bool:
        """Whether a context takes no more than there is."""
        made = allocation(layout, tokens, engine, sequences, block_size=block_size, **step)
        return made.total <= room

    return largest(fits, most)


def _llama_cells(
    context: int, window: int | None, slots: int, batched: int, pad: int, unified: bool
) -> int:
    streams, sharing = (1, slots) if unified else (slots, 1)
    each = _up(_up(context, pad) // streams, pad)
    if window is not None:
        each = _up(min(each, window * sharing + batched), pad)
    return each * streams


def _up(tokens: int, block: int) -> int:
    return -(-tokens // block) * block
