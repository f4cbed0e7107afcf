"""What the configuration of a model says that its cache keeps.

A field that implies a cache which is not modelled is refused by its name, never guessed.
"""

from __future__ import annotations

import json
import re
import reprlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import errors
from ._layers import LayerGroup

LAYERS = ("num_hidden_layers", "n_layer", "num_layers")
HEADS = ("num_attention_heads", "n_head")
WIDTH = ("hidden_size", "n_embd", "n_embed")
KV_HEADS = ("num_key_value_heads", "num_kv_heads", "n_head_kv")
HEAD_DIM = ("head_dim", "kv_channels")
KNOWN = {*LAYERS, *HEADS, *WIDTH, *KV_HEADS, *HEAD_DIM, "multi_query", "max_window_layers"}
NESTED = ("text_config", "llm_config", "language_config")
"""Where a configuration of several parts keeps that of its language model."""

FULL = {"full_attention", "attention", "full", "global"}
"""Kinds of layers that keep every token."""
KINDS = re.compile(r"layer_types|layers_block_type|block_types?|attention_(?:layers|types)")
"""Fields that list the kind of every layer."""
OTHERS: dict[str, re.Pattern[str]] = {
    "latent attention": re.compile(r"(?:q|kv)_lora_rank|qk_\w+_head_dim|v_head_dim"),
    "attention within a window": re.compile(
        r".*window.*|(?:attention_|attn_)?chunk_size|.*local_att.*|swa_.*|local_rope.*|.*_every_n_.*"
    ),
    "layers of several kinds": re.compile(
        rf"{KINDS.pattern}|hybrid_.*|block_configs|attn_type.*|.*(?:attn|attention)_layer_.*"
        r"|full_att\w*_(?:interval|idxs|layers)|global_att.*|\w*global_\w*head\w*|num_query_heads"
    ),
    "a state of constant size": re.compile(
        r"(?:ssm|mamba|rwkv|recurrent|conv|lru|delta|gdn|retention|time_mix)_.*|state_size|d_state"
        r"|d_conv|linear_(?:attn|attention|num|key|value|conv|head).*"
    ),
    "attention to an encoder": re.compile(
        r"is_encoder_decoder|.*cross_att.*|(?:num_)?(?:encoder|decoder)_layers"
    ),
    "keys shared between layers": re.compile(r".*shared_kv.*|.*kv_shar.*|cla_.*|yoco.*"),
    "sparse attention": re.compile(r"index_(?:topk|n_heads|head_dim)|.*sparse_att.*|blocksparse.*"),
    "keys and values kept in a way of its own": re.compile(
        r"(?:.*_)?(?:kv|key_value|mqa|gqa|multi_query)(?:_.*)?|.*k_eq_v.*|compress_.*"
    ),
    "an encoder without a cache": re.compile(r"architectures"),
}
"""What the fields of a configuration imply that is not modelled, unless they are off."""


def groups(config: Any, devices: int) -> tuple[LayerGroup, ...]:
    """Read the groups of layers that a configuration describes, as one device keeps them."""
    whole = _read(config)
    part = next((whole[name] for name in NESTED if isinstance(whole.get(name), Mapping)), whole)
    heads = _count(part, HEADS)
    head_dim = _head_dim(part, heads)
    _refuse_others({**whole, **part}, head_dim)
    kv_heads = _per_device(heads, _kv_heads(part, heads), devices)
    width = kv_heads * head_dim
    return (LayerGroup(_count(part, LAYERS), width, width),)


def _read(config: Any) -> Mapping[str, Any]:
    if isinstance(config, (str, Path)):
        try:
            config = json.loads(Path(config).read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise ValueError(f"config cannot be read from {str(config)!r}: {error}") from None
    if not isinstance(config, Mapping):
        raise TypeError(f"config must be a dict or the path of a config.json, got {config!r}")
    return {str(name): value for name, value in config.items()}


def _count(part: Mapping[str, Any], names: tuple[str, ...], default: int | None = None) -> int:
    found = {
        name: errors.integer(f"config: {name}", part[name], at_least=1)
        for name in names
        if part.get(name) is not None
    }
    if len(set(found.values())) > 1:
        raise ValueError(f"config contradicts itself: {found}")
    if not found and default is None:
        raise ValueError(f"config must have {names[0]}, got {reprlib.repr(dict(part))}")
    return next(iter(found.values()), default or 0)


def _head_dim(part: Mapping[str, Any], heads: int) -> int:
    if any(part.get(name) is not None for name in HEAD_DIM):
        return _count(part, HEAD_DIM)
    width = _count(part, WIDTH)
    if width % heads:
        raise ValueError(
            f"config: {WIDTH[0]} = {width} must be a multiple of {HEADS[0]} = {heads}, "
            f"or {HEAD_DIM[0]} be given"
        )
    return width // heads


def _kv_heads(part: Mapping[str, Any], heads: int) -> int:
    if part.get("multi_query") and not part.get("new_decoder_architecture"):
        return 1
    kv_heads = _count(part, KV_HEADS, default=heads)
    if heads % kv_heads:
        raise ValueError(
            f"config: {HEADS[0]} = {heads} must be a multiple of {KV_HEADS[0]} = {kv_heads}"
        )
    return kv_heads


def _per_device(heads: int, kv_heads: int, devices: int) -> int:
    if heads % devices or (kv_heads % devices and devices % kv_heads):
        raise ValueError(
            f"tensor_parallel = {devices} cannot split {HEADS[0]} = {heads} and {KV_HEADS[0]} = "
            f"{kv_heads} evenly; engines refuse it"
        )
    return max(1, kv_heads // devices)


def _refuse_others(fields: Mapping[str, Any], head_dim: int) -> None:
    """Raise an error that names the first field that implies another kind of cache."""
    for name, value in fields.items():
        if name not in KNOWN and value and not _harmless(name, fields, head_dim):
            for kind, pattern in OTHERS.items():
                if pattern.fullmatch(name.lower()):
                    raise ValueError(
                        f"config: {name} = {reprlib.repr(value)} implies {kind}, "
                        f"which is not modelled"
                    )


def _harmless(name: str, fields: Mapping[str, Any], head_dim: int) -> bool:
    """Whether a field that may imply another cache says here that it does not."""
    value = fields[name]
    if KINDS.fullmatch(name):
        return isinstance(value, list) and all(isinstance(x, str) and x in FULL for x in value)
    if name == "architectures":
        return "MaskedLM" not in str(value)
    if name.startswith("sliding_window"):
        return fields.get("use_sliding_window") is False
    return name == "v_head_dim" and value == head_dim
