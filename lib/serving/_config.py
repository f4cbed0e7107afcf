"""What the configuration of a model says that its cache keeps.

Each layer keeps something (`_kinds`): rows of keys and values for tokens, or a state (`_states`).
A field that implies a cache which is not modelled is refused by its name (`_refusals`).
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator
from typing import Any

from . import _fields, _kinds, _refusals, _states
from ._fields import Fields, count, given
from ._kinds import BOTH, CHUNK, CROSS, FULL, NONE, STATE, WINDOW
from ._layers import LayerGroup, State

INDEX = "fp8_scaled"
"""Format of the keys by which a sparse indexer chooses tokens, whatever that of the cache.

Source: vLLM, ``vllm/model_executor/models/deepseek_v2.py``, ``DeepseekV32IndexerCache``.
"""


def read(config: Any, devices: int) -> tuple[tuple[LayerGroup, ...], tuple[State, ...], int | None]:
    """Read the groups of layers and the states that one device keeps, and the longest context."""
    fields = _fields.language(config)
    _refusals.refuse_others(fields)
    rows: Counter[LayerGroup] = Counter()
    states: Counter[State] = Counter()
    for place, kind in enumerate(_kinds.kinds(fields)):
        if kind in (STATE, BOTH):
            recent, rest = _states.numbers(fields, devices)
            states[State(1, recent + rest, recent=recent)] += 1
        if kind not in (STATE, NONE):
            rows.update(_rows(fields, kind, place, devices))
    if not rows and not states:
        raise ValueError("config: no layer keeps anything")
    return (
        tuple(_times(group, times) for group, times in rows.items()),
        tuple(dataclasses.replace(one, layers=times) for one, times in states.items()),
        _fields.context(fields),
    )


def _times(group: LayerGroup, times: int) -> LayerGroup:
    return dataclasses.replace(group, layers=times)


def _rows(fields: Fields, kind: str, place: int, devices: int) -> Iterator[LayerGroup]:
    """Describe what one layer keeps of each token."""
    own = _own(fields, kind, place)
    keys, values = _widths(own, devices)
    if kind == CROSS or _fields.encoded(own):
        yield LayerGroup(1, keys, values, _fields.encoder_tokens(own), encoder=True)
    if kind != CROSS:
        yield LayerGroup(1, keys, values, _window(own, kind))
        if _fields.latent(own) and own.get("index_topk") and kind == FULL:
            yield LayerGroup(1, count(own, ("index_head_dim",)), 0, dtype=INDEX)


def _own(fields: Fields, kind: str, place: int) -> Fields:
    """Put what is stated for one layer, or one kind of layers, in the place of the general."""
    own = dict(fields)
    for general, special in _kinds.OF_LAYERS.get(kind, {}).items():
        shared = special == "num_global_key_value_heads" and own.get("attention_k_eq_v") is False
        if own.get(special) and not shared:
            own[general] = own[special]
    for name in (*_fields.HEADS, *_fields.KV_HEADS, *_fields.HEAD_DIM):
        if isinstance(own.get(name), list):
            _fields.listed(name, own[name], _fields.layers(fields))
            own[name] = own[name][place]
    if own.get("num_key_value_heads_per_layer"):
        own["num_key_value_heads"] = own["num_key_value_heads_per_layer"]
    layers = _fields.mapping("per_layer_config", own.get("per_layer_config") or {})
    for key, others in layers.items():
        if (str(key).lstrip("0") or "0") == str(place):
            own |= _fields.mapping("per_layer_config", others)
    if kind == WINDOW and own.get("attention_other_setting"):  # Step 3.5
        other = _fields.mapping("attention_other_setting", own["attention_other_setting"])
        own |= given(other, ("num_attention_heads", "num_attention_groups", "head_dim"))
    if own.get("block_configs"):
        own |= _of_block(own, own["block_configs"][place])
    return own


def _of_block(fields: Fields, block: Fields) -> dict[str, int]:
    attention = _fields.mapping("block_configs", block.get("attention", block))
    if not attention.get("n_heads_in_group"):
        return given(attention, ("num_key_value_heads",))
    heads, group = _heads(fields), count(attention, ("n_heads_in_group",))
    if heads % group:
        raise ValueError(f"config: n_heads_in_group = {group} must divide {heads} heads")
    return {"num_key_value_heads": heads // group}


def _window(fields: Fields, kind: str) -> int | None:
    if kind == CHUNK:
        return count(fields, ("attention_chunk_size",))
    if kind != WINDOW:
        return None
    return _fields.window(fields) or count(fields, ("sliding_window",))


def _widths(fields: Fields, devices: int) -> tuple[int, int]:
    """Count the numbers that one layer keeps of a token as keys and as values, on one device."""
    heads = _heads(fields)
    if _fields.latent(fields):  # one row for all heads, so that every device needs all of it
        _per_device(heads, heads, devices)
        return count(fields, ("kv_lora_rank",)) + count(fields, ("qk_rope_head_dim",)), 0
    kv_heads = _per_device(heads, _kv_heads(fields, heads), devices)
    head_dim = _head_dim(fields, heads)
    value_dim = count(fields, ("v_head_dim",)) if fields.get("v_head_dim") else head_dim
    return kv_heads * head_dim, kv_heads * value_dim


def _heads(fields: Fields) -> int:
    names = _fields.DECODER_HEADS if given(fields, _fields.DECODER_HEADS) else _fields.HEADS
    return count(fields, names)


def _head_dim(fields: Fields, heads: int) -> int:
    if "n_mamba_heads" in fields:  # Zamba: the shared attention is twice as wide as the model
        return count(fields, ("attention_head_dim",))
    if given(fields, _fields.HEAD_DIM):
        return count(fields, _fields.HEAD_DIM)
    width = count(fields, _fields.WIDTH)
    if width % heads:
        raise ValueError(
            f"config: {_fields.WIDTH[0]} = {width} must be a multiple of {_fields.HEADS[0]} = "
            f"{heads}, or {_fields.HEAD_DIM[0]} be given"
        )
    return width // heads


def _kv_heads(fields: Fields, heads: int) -> int:
    if fields.get("multi_query") and not fields.get("new_decoder_architecture"):
        return 1
    if fields.get("attn_type") == "multiquery_attention":
        return 1
    if fields.get("multi_query_attention"):
        return count(fields, ("multi_query_group_num",))
    names = _fields.KV_HEADS
    kv_heads = count(fields, names, default=heads)
    if heads % kv_heads:
        name = next(iter(given(fields, names)))
        raise ValueError(
            f"config: {_fields.HEADS[0]} = {heads} must be a multiple of {name} = {kv_heads}"
        )
    return kv_heads


def _per_device(heads: int, kv_heads: int, devices: int) -> int:
    if heads % devices or (kv_heads % devices and devices % kv_heads):
        raise ValueError(
            f"tensor_parallel = {devices} cannot split {_fields.HEADS[0]} = {heads} and "
            f"{_fields.KV_HEADS[0]} = {kv_heads} evenly; engines refuse it"
        )
    return max(1, kv_heads // devices)
