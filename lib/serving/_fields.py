"""Fields of a model's configuration: where they stand, their other names, what a class assumes.

A Hugging Face ``config.json`` may keep the language model in a part of its own, names the same
thing in many ways, and omits what the model's class has as a default.
"""

from __future__ import annotations

import json
import reprlib
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from . import errors

Fields = Mapping[str, Any]

LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "num_transformer_layers")
DECODER_LAYERS = ("decoder_layers", "num_decoder_layers", "decoder_num_hidden_layers")
WIDTH = ("hidden_size", "d_model", "n_embd", "n_embed", "model_dim")
HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads")
HEADS += ("num_query_heads",)
DECODER_HEADS = ("decoder_attention_heads", "decoder_num_attention_heads")
KV_HEADS = ("num_key_value_heads", "num_kv_heads", "n_head_kv", "n_kv_heads", "kv_n_heads")
KV_HEADS += ("num_attention_groups", "num_query_groups", "num_key_value_heads_per_layer")
KV_HEADS += ("decoder_num_key_value_heads",)
HEAD_DIM = ("head_dim", "kv_channels", "d_kv", "attention_head_dim", "dim_head")
WINDOW = ("sliding_window", "sliding_window_size", "attention_window_size", "window_size")
CONTEXT = ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "n_ctx")
CONTEXT += ("max_sequence_length", "model_max_length", "max_context_length")
DECODER_CONTEXT = ("max_target_positions", "max_decoder_position_embeddings")
ENCODER_TOKENS = ("max_source_positions", "max_encoder_position_embeddings")
MOST_LAYERS = 10_000
"""Each layer is looked at; no model has nearly so many."""
GROUPS = (LAYERS, DECODER_LAYERS, WIDTH, HEADS, DECODER_HEADS, KV_HEADS, HEAD_DIM, WINDOW)
"""Names of the same thing."""
OUTER = ("model_type", "architectures", "is_encoder_decoder", "vision_config", "encoder")
"""Fields of the whole that also speak of its part, unless it says otherwise."""
NESTED = ("text_config", "llm_config", "language_config", "thinker_config", "decoder")
"""Where a configuration of several parts keeps that of its language model."""
INSIDE = ("attn_config",)
"""Parts whose fields belong to the whole: MPT and DBRX keep the heads of keys there."""


@cache
def _defaults() -> dict[str, dict[str, Any]]:
    text = resources.files(__package__).joinpath("data", "config-defaults.toml").read_text("utf-8")
    return tomllib.loads(text)


def language(config: Any) -> dict[str, Any]:
    """Read the fields of the language model, with what its class assumes where they are silent."""
    if isinstance(config, (str, Path)):
        try:
            config = json.loads(Path(config).read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise ValueError(f"config cannot be read from {str(config)!r}: {error}") from None
    if not isinstance(config, Mapping):
        raise TypeError(f"config must be a dict or the path of a config.json, got {config!r}")
    part = {str(name): value for name, value in config.items()}
    for name in NESTED:
        if isinstance(part.get(name), Mapping):
            outer = {key: part[key] for key in OUTER if key in part}
            return language({**outer, **part[name]})
    for name in INSIDE:
        if isinstance(part.get(name), Mapping):
            part |= {key: value for key, value in part[name].items() if key not in part}
    return part | _assumed(part)


def _assumed(part: Fields) -> dict[str, Any]:
    """Find what the class of the model assumes of fields that are silent under all their names."""
    kind, known = str(part.get("model_type", "")), _defaults()
    row = next(
        (known[one] for one in (kind, f"{kind}_text", f"{kind}_text_model") if one in known), {}
    )
    others = {name: group for group in GROUPS for name in group}
    return {
        name: value
        for name, value in row.items()
        if not any(other in part for other in others.get(name, (name,)))
    }


def given(fields: Fields, names: tuple[str, ...]) -> dict[str, Any]:
    """Find the fields that are there and not null."""
    return {name: fields[name] for name in names if fields.get(name) is not None}


def count(fields: Fields, names: tuple[str, ...], default: int | None = None) -> int:
    """Read a whole number of at least 1 that may stand under any of the names."""
    found = {
        name: errors.integer(f"config: {name}", value, at_least=1)
        for name, value in given(fields, names).items()
    }
    if len(set(found.values())) > 1:
        raise ValueError(f"config contradicts itself: {found}")
    if not found and default is None:
        raise ValueError(f"config must have {names[0]}, got {reprlib.repr(dict(fields))}")
    return next(iter(found.values()), default or 0)


def per_layer(
    fields: Fields, names: tuple[str, ...], layers: int, default: int | None = None
) -> list[int]:
    """Read a number for each layer: from a list, or one for all of them."""
    for name, value in given(fields, names).items():
        if isinstance(value, list):
            listed(name, value, layers)
            return [count({name: one}, (name,)) for one in value]
    return [count(fields, names, default)] * layers


def mapping(name: str, value: Any) -> Fields:
    """Refuse a field that should be a mapping and is not."""
    if not isinstance(value, Mapping):
        raise TypeError(f"config: {name} must hold mappings, got {reprlib.repr(value)}")
    return value


def listed(name: str, value: Any, layers: int) -> None:
    """Refuse a field that should have an entry for each layer and has not."""
    if not isinstance(value, (list, tuple, str)):
        raise TypeError(f"config: {name} must be a list, got {reprlib.repr(value)}")
    if len(value) != layers:
        raise ValueError(
            f"config: {name} must have an entry for each of {layers} layers, got {len(value)}"
        )


def encoded(fields: Fields) -> bool:
    """Whether the model answers with an encoder's output before it."""
    return bool(fields.get("is_encoder_decoder") or fields.get("add_cross_attention"))


def layers(fields: Fields) -> int:
    """Count the layers of the decoder that may attend; LongCat has two in each of its layers."""
    names = DECODER_LAYERS if given(fields, DECODER_LAYERS) else LAYERS
    found = count(fields, names) * count(fields, ("attention_sublayers",), 1)
    if found > MOST_LAYERS:
        raise ValueError(f"config: {names[0]} must be at most {MOST_LAYERS}, got {found:g}")
    return found


def window(fields: Fields) -> int | None:
    """Read the latest tokens that a layer with a window sees, None where there is no window."""
    found = {name: value for name, value in given(fields, WINDOW).items() if value not in (0, -1)}
    if not found or fields.get("use_sliding_window") is False:
        return None
    return count(found, WINDOW)


def context(fields: Fields) -> int | None:
    """Read the longest sequence that the configuration states, None if it is silent.

    Engines stretch it where positions are interpolated; Source: vLLM, ``vllm/config/model.py``,
    ``_get_and_verify_max_len``.
    """
    decoder = encoded(fields) and given(fields, DECODER_CONTEXT)
    stated = given(fields, DECODER_CONTEXT if decoder else CONTEXT)
    lengths = [count(stated, (name,)) for name in stated]
    rope = fields.get("rope_scaling") or fields.get("rope_parameters")
    if not lengths or not isinstance(rope, Mapping):
        return max(lengths, default=None)
    kind, factor = rope.get("rope_type", rope.get("type")), rope.get("factor")
    stated_stretched = "gemma3" in str(fields.get("model_type"))
    if kind not in ("yarn", "linear", "dynamic") or factor is None or stated_stretched:
        return max(lengths)
    start = count(rope, ("original_max_position_embeddings",), max(lengths))
    return max(*lengths, int(errors.exact("config: rope factor", factor) * start))


def encoder_tokens(fields: Fields) -> int | None:
    """Read how many tokens an encoder hands over at most, None if only the request says."""
    vision = fields.get("vision_config")
    if isinstance(vision, Mapping) and vision.get("max_num_tiles"):  # mllama: patches and a class
        side = count(vision, ("image_size",)) // count(vision, ("patch_size",))
        return count(vision, ("max_num_tiles",)) * (side**2 + 1)
    if isinstance(fields.get("encoder"), Mapping):
        return context(fields["encoder"])
    found = given(fields, ENCODER_TOKENS)
    return count(found, ENCODER_TOKENS) if found else context(fields)


def latent(fields: Fields) -> bool:
    """Whether a layer keeps one latent row of a token for all heads."""
    if fields.get("use_mla"):
        return count(fields, ("kv_lora_rank",)) > 0
    return bool(fields.get("kv_lora_rank")) and fields.get("use_mla") is not False
