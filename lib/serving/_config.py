"""What the configuration of a model says that its cache keeps.

Each layer keeps something (`_kinds`): rows of keys and values for tokens, or a state (`_states`).
A field that implies a cache which is not modelled is refused by its name, never guessed.
"""

from __future__ import annotations

import dataclasses
import re
import reprlib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from . import _fields, _kinds, _states
from ._fields import Fields, count, given
from ._kinds import BOTH, CHUNK, CROSS, FULL, NONE, STATE, WINDOW
from ._layers import LayerGroup, State

INDEX = "fp8_scaled"
"""Format of the keys by which a sparse indexer chooses tokens, whatever that of the cache.

Source: vLLM, ``vllm/model_executor/models/deepseek_v2.py``, ``DeepseekV32IndexerCache``.
"""
LATENT = ("kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "q_lora_rank", "qk_head_dim")
OF_LAYERS = {
    WINDOW: {"num_key_value_heads": "swa_num_key_value_heads", "head_dim": "swa_head_dim"}
    | {"v_head_dim": "swa_v_head_dim"},
    FULL: {"num_key_value_heads": "num_global_key_value_heads", "head_dim": "global_head_dim"},
}
"""Fields that layers of one kind have in the place of the general ones: MiMo, Gemma 4."""

READ = {
    *(*_fields.LAYERS, *_fields.DECODER_LAYERS, *_fields.HEADS, *_fields.DECODER_HEADS),
    *(*_fields.KV_HEADS, *_fields.HEAD_DIM, "v_head_dim", "use_mla", "multi_query"),
    *("is_encoder_decoder", "add_cross_attention", "num_kv_shared_layers", "max_window_layers"),
    *("no_rope_layers", "no_rope_layer_interval", "per_layer_config", "multi_query_attention"),
    *OF_LAYERS[FULL].values(),
}
"""Fields that are always taken into account, whatever decides what each layer keeps."""
NEEDS = {
    "multi_query_group_num": ("multi_query_attention",),
    "num_gqa_groups": ("num_kv_heads",),
    "use_cla": ("cla_share_factor",),
    "cla_share_factor": ("use_cla",),
    "attention_k_eq_v": ("global_head_dim", "per_layer_config"),
}
"""Fields that are understood beside another one."""
OF_ENCODER = re.compile(r"(?:num_)?encoder_.*|conv_.*|attention_window|cross_attention_hidden_size")
"""Fields of an encoder, which keeps nothing after it has handed its tokens over."""
WINDOWS = re.compile(
    r".*window.*|(?:attention_|attn_)?chunk_size|.*local_att.*|swa_.*|local_rope.*|.*_every_n_.*"
)
KINDS = re.compile(
    r"layer_types|layers_block_type|block_types?|attention_(?:layers|types)|hybrid_.*"
    r"|block_configs|attn_type.*|local_layer.*|.*(?:attn|attention)_layer_.*|global_att.*|num_query_heads"
    r"|full_att\w*_(?:interval|idxs|layers)|\w*global_\w*head\w*|layer_group_size"
)
STATES = re.compile(
    r"(?:ssm|mamba|rwkv|recurrent|conv|conv1d|lru|delta|gdn|retention|time_mix)_.*|state_size"
    r"|d_state|d_conv|linear_(?:attn|attention|num|key|value|conv|head).*|short_conv.*"
)
OTHERS: dict[str, re.Pattern[str]] = {
    "attention within a window": WINDOWS,
    "layers of several kinds": KINDS,
    "a state of constant size": STATES,
    "latent attention": re.compile(r"(?:q|kv|o)_lora_rank|qk_\w+_head_dim"),
    "attention to an encoder": re.compile(r".*cross_att.*|(?:num_)?(?:encoder|decoder)_layers"),
    "keys shared between layers": re.compile(r".*shared_kv.*|.*kv_shar.*|cla_.*|yoco.*"),
    "sparse attention": re.compile(r"index(?:er)?_.*|.*sparse_att.*|blocksparse.*"),
    "keys and values kept in a way of its own": re.compile(
        r"(?:.*_)?(?:kv|key_value|mqa|gqa|multi_query)(?:_.*)?|.*k_eq_v.*|compress_.*"
    ),
    "an encoder without a cache": re.compile(r"architectures"),
}
"""What the fields of a configuration imply that is not modelled, unless they are read or off."""


def read(
    config: Any, devices: int
) -> tuple[tuple[LayerGroup, ...], tuple[State, ...], int | None]:
    """Read the groups of layers and the states that one device keeps, and the longest context."""
    fields = _fields.language(config)
    _refuse_others(fields)
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
        if _latent(own) and own.get("index_topk") and kind == FULL:
            yield LayerGroup(1, count(own, ("index_head_dim",)), 0, dtype=INDEX)


def _own(fields: Fields, kind: str, place: int) -> Fields:
    """Put what is stated for one layer, or one kind of layers, in the place of the general."""
    own = dict(fields)
    for general, special in OF_LAYERS.get(kind, {}).items():
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


def _latent(fields: Fields) -> bool:
    if fields.get("use_mla"):
        return count(fields, ("kv_lora_rank",)) > 0
    return bool(fields.get("kv_lora_rank")) and fields.get("use_mla") is not False


def _widths(fields: Fields, devices: int) -> tuple[int, int]:
    """Count the numbers that one layer keeps of a token as keys and as values, on one device."""
    heads = _heads(fields)
    if _latent(fields):  # one row for all heads, so that every device needs all of it
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


def _refuse_others(fields: Fields) -> None:
    """Raise an error that names the first field that implies another kind of cache."""
    decides = _kinds.deciding(fields)
    settled = (WINDOWS, KINDS, STATES) if decides in _kinds.SETTLING else ()
    for name, value in fields.items():
        if not value or name == decides or _taken(name, fields, decides):
            continue
        for kind, pattern in OTHERS.items():
            if pattern.fullmatch(name.lower()) and pattern not in settled:
                raise ValueError(
                    f"config: {name} = {reprlib.repr(value)} implies {kind}, which is not modelled"
                )


def _taken(name: str, fields: Fields, decides: str | None) -> bool:
    """Whether a field is read, or says that the cache is not another one."""
    if name in LATENT:
        return bool(fields.get("kv_lora_rank"))
    if name in ("index_topk", "index_head_dim", "index_n_heads"):
        return _latent(fields)
    if name in _fields.WINDOW:
        return decides in _kinds.WINDOWED or _fields.window(fields) is None
    if name in OF_LAYERS[WINDOW].values():
        return decides in _kinds.WINDOWED
    if name == "attn_type":
        return str(fields[name]).endswith(("multihead_attention", "query_attention"))
    if name == "use_sliding_window":
        return bool(given(fields, _fields.WINDOW))
    if name == "architectures":
        return "MaskedLM" not in str(fields[name])
    if OF_ENCODER.fullmatch(name):
        return _fields.encoded(fields)
    return name in READ or any(other in fields for other in NEEDS.get(name, ()))
