"""Widths of a model, read from its configuration: what its arithmetic and its traffic depend on."""

from __future__ import annotations

from typing import Any, NamedTuple

from . import _fields


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


def shape(config: Any) -> Shape:
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
    fields = _fields.language(config)
    layers, width = _fields.layers(fields), _fields.count(fields, _fields.WIDTH)
    names = _fields.DECODER_HEADS if _fields.given(fields, _fields.DECODER_HEADS) else _fields.HEADS
    heads = max(_fields.per_layer(fields, names, layers, 1))
    head_dim = _fields.count(fields, _fields.HEAD_DIM, max(width // heads, 1))
    if not _fields.latent(fields):
        return Shape(layers, width, heads * head_dim)
    query, rotary = (
        _fields.count(fields, (f"qk_{kind}_head_dim",), head_dim) for kind in ("nope", "rope")
    )
    value = _fields.count(fields, ("v_head_dim",), query)
    return Shape(layers, width, heads * (query + rotary + value) // 2)
