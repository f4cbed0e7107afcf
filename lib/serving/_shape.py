"""Widths of a model, read from its configuration: what its arithmetic and its traffic depend on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from . import errors

NESTED = ("text_config", "llm_config", "language_config", "thinker_config")
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "num_transformer_layers")
WIDTH = ("hidden_size", "n_embd", "n_embed", "d_model", "model_dim")
HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads", "decoder_attention_heads")
HEAD_DIM = ("head_dim", "kv_channels", "attention_head_dim")


class Shape(NamedTuple):
    """Layers and widths of a model.

    Parameters
    ----------
    layers : int
        Its layers, of whatever kind [1].
    width : int
        Numbers that stand for one token between two layers [1].
    attention_width : int
        Numbers in the queries of one token, all heads together; the mean of queries and values
        where these differ, so that scores and weighted sums take as many operations [1].
    """

    layers: int
    width: int
    attention_width: int


def shape(config: Mapping[str, Any]) -> Shape:
    """Read the widths of a model from the fields of its configuration.

    Parameters
    ----------
    config : Mapping
        Content of a Hugging Face ``config.json``.

    Returns
    -------
    Shape
        Layers and widths.

    Raises
    ------
    ValueError
        If a field is missing.
    """
    part: Mapping[str, Any] = config
    for name in NESTED:
        if isinstance(part.get(name), Mapping):
            part = part[name]
    layers, width = _field(part, LAYERS), _field(part, WIDTH)
    heads = _field(part, HEADS, 1)
    if part.get("kv_lora_rank") is not None:
        query = _field(part, ("qk_nope_head_dim",)) + _field(part, ("qk_rope_head_dim",))
        return Shape(layers, width, heads * (query + _field(part, ("v_head_dim",))) // 2)
    return Shape(layers, width, heads * _field(part, HEAD_DIM, max(width // heads, 1)))


def _field(part: Mapping[str, Any], names: tuple[str, ...], default: int | None = None) -> int:
    for name in names:
        if part.get(name) is not None:
            value = part[name]
            largest = max(value) if isinstance(value, (list, tuple)) else value
            return errors.integer(f"model: config: {name}", largest, at_least=1)
    if default is None:
        raise ValueError(f"model must have {names[0]} in its config, got {sorted(part)}")
    return default
