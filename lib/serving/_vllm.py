"""How vLLM parts the memory of a cache into blocks.

All blocks have one size in bytes, whatever the layer. Layers of one kind, and as many of each
kind in a group, share a block table; a request has a table in each group.

Source: vLLM, ``vllm/v1/core/kv_cache_utils.py`` (``get_kv_cache_groups``,
``unify_kv_cache_spec_page_size``, ``_get_kv_cache_groups_uniform_page_size``,
``get_kv_cache_config_from_groups``) and ``vllm/v1/kv_cache_interface.py``
(``max_memory_usage_bytes``), commit 001cabc1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ._layers import LayerGroup, State, row_bytes, token_bytes

if TYPE_CHECKING:
    from .kvcache import Layout


@dataclass(frozen=True)
class Kind:
    """Layers of one kind in the pool.

    Attributes
    ----------
    layers : int
        How many there are [1].
    page : int
        Size of a block in one layer [bytes].
    block : int
        Tokens of a block; 0 for a state, which takes as many whatever the length [tokens].
    window : int or None
        Latest tokens that the layers keep, or the tokens of an encoder; of a state, the blocks
        that it takes [tokens].
    encoder : bool
        Whether they keep the tokens of an encoder.
    """

    layers: int
    page: int
    block: int
    window: int | None = None
    encoder: bool = False

    def blocks(self, tokens: int, batched_tokens: int) -> int:
        """Count the blocks of a request of some length in one of its tables [blocks]."""
        if not self.block:
            return self.window or 1
        if self.window is None:
            return -(-tokens // self.block)
        if self.encoder:
            return -(-self.window // self.block)
        # a step's tokens come before older ones are let go; a window may begin within a block
        return -(-min(self.window - 1 + batched_tokens, tokens) // self.block) + 1


@dataclass(frozen=True)
class Pool:
    """Blocks of one size.

    Attributes
    ----------
    block_bytes : int
        Size of a block, all layers that share it [bytes].
    kinds : tuple of Kind
        Kinds of layers.
    tables : tuple of int
        Block tables that a request has for each kind [1].
    """

    block_bytes: int
    kinds: tuple[Kind, ...]
    tables: tuple[int, ...]

    def blocks(self, tokens: int, batched_tokens: int) -> int:
        """Count the blocks of a request of some length [blocks]."""
        return sum(
            count * kind.blocks(tokens, batched_tokens)
            for count, kind in zip(self.tables, self.kinds, strict=True)
        )


def pool(layout: Layout, block_size: int, windows: bool = True, state_blocks: int = 1) -> Pool:
    """Part the layers of a layout into groups as vLLM does.

    Parameters
    ----------
    layout : Layout
        What the cache keeps.
    block_size : int
        Tokens of a block where nothing asks for more [tokens].
    windows : bool
        Whether layers with a window let go of old tokens.
    state_blocks : int
        Blocks that a state takes of each table [blocks].

    Returns
    -------
    Pool
        Size of a block, and what a request takes.

    Raises
    ------
    ValueError
        If the sizes of the blocks do not divide each other.
    """
    kinds = [
        Kind(
            group.layers,
            block_size * _layer_bytes(group, layout.dtype),
            block_size,
            group.window if windows or group.encoder else None,
            group.encoder,
        )
        for group in layout.groups
    ]
    if len({(kind.window, kind.encoder) for kind in kinds}) == 1 and not layout.states:
        size = sum(kind.layers * kind.page for kind in kinds)
        return Pool(size, (replace(kinds[0], layers=1, page=size),), (1,))
    kinds = _one_page(_with_states(kinds, layout.states, state_blocks))
    layers = [kind.layers for kind in kinds]
    least, most = min(layers), max(layers)
    shared = most if 2 * most < 3 * least else least
    return Pool(shared * kinds[0].page, tuple(kinds), tuple(-(-n // shared) for n in layers))


def _layer_bytes(group: LayerGroup, dtype: str) -> int:
    return token_bytes(replace(group, layers=1), dtype)


def _with_states(kinds: list[Kind], states: Sequence[State], blocks: int) -> list[Kind]:
    """Add layers that keep a state, in blocks of attention long enough to hold one.

    The inputs of convolutions are kept in the format of the model, of 2 bytes.

    Source: vLLM, ``vllm/model_executor/models/config.py``, class
    ``HybridAttentionMambaModelConfig``.
    """
    pages = [
        row_bytes(state.recent, "bf16") + row_bytes(state.numbers - state.recent, state.dtype)
        for state in states
    ]
    if not kinds:
        return [Kind(s.layers, page, 0, blocks) for s, page in zip(states, pages, strict=True)]
    if not states:
        return kinds
    token = max(kind.page // kind.block for kind in kinds)
    block = kinds[0].block * -(-max(pages) // (kinds[0].block * token))
    longer = [replace(k, block=block, page=k.page // k.block * block) for k in kinds]
    return [*longer, *(Kind(state.layers, block * token, 0, blocks) for state in states)]


def _one_page(kinds: list[Kind]) -> list[Kind]:
    """Give all kinds blocks of one size: narrow layers get blocks of more tokens."""
    page = max(kind.page for kind in kinds)
    for kind in kinds:
        if page % kind.page:
            raise ValueError(
                f"layout has layers with blocks of {kind.page} and of {page} bytes, which do not "
                f"divide; vLLM refuses it"
            )
    return [replace(kind, page=page, block=kind.block * (page // kind.page)) for kind in kinds]


def stages(layers: int, count: int) -> list[int]:
    """Split layers over the stages of a pipeline; the last but one get what remains.

    Parameters
    ----------
    layers : int
        Layers of the model [1].
    count : int
        Stages [1].

    Returns
    -------
    list of int
        Layers of each stage [1].

    Notes
    -----
    Source: vLLM, ``vllm/distributed/utils.py``, ``get_pp_indices``.
    """
    parts = [layers // count] * count
    for stage in range(2, layers % count + 2):
        parts[-stage] += 1
    return parts
