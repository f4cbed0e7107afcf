"""How many sequences of a catalogue's model fit into its accelerators, for a page that asks.

The page has the layouts as data and counts by itself; the functions here count by
`serving.kvcache`. Both take a model, an accelerator and formats by their place in a list.
"""

from __future__ import annotations

from functools import cache
from math import ceil
from typing import Any, NamedTuple

from . import catalog, errors, kvcache
from ._layers import ROWS

DEVICES = (1, 2, 3, 4, 6, 8, 16, 32)
"""Devices over which a model can be split in the page."""
SHARES = (0.9, 0.8, 0.85, 0.95, 1.0)
"""Shares of the memory that an engine may use, the usual one first."""
ARGUMENTS = ("model", "accelerator", "devices", "cache_format", "weight_format", "share", "tokens")


class Fit(NamedTuple):
    """What fits, on each device.

    Attributes
    ----------
    token : int
        One more token while no window is full [bytes].
    sequence : int
        A sequence [bytes].
    weights : int
        Weights, split evenly [bytes].
    usable : int
        What the engine may use [bytes].
    room : int
        What is left for the cache [bytes].
    count : int
        Sequences that fit, in blocks of 16 tokens [requests].
    """

    token: int
    sequence: int
    weights: int
    usable: int
    room: int
    count: int


def fit(
    model: str,
    accelerator: str,
    devices: int,
    cache_format: str,
    weight_format: str,
    share: float,
    tokens: int,
) -> Fit:
    """Count what fits, by the names of the catalogue."""
    chosen, device = catalog.model(model), catalog.accelerator(accelerator)
    kept = _kept(model, cache_format, devices)
    weights = ceil(kvcache.BYTES[weight_format] * chosen.parameters / devices)
    room = kvcache.memory_budget(device.memory, share, weights).cache
    return Fit(
        token=kept.bytes_per_token,
        sequence=kept.sequence_bytes(tokens),
        weights=weights,
        usable=kvcache.memory_budget(device.memory, share).cache,
        room=room,
        count=kept.max_sequences(room, tokens),
    )


def named(*setting: Any) -> Fit:
    """Count what fits, by places in the lists of `data`."""
    model, accelerator, devices, cache_format, weight_format, share, tokens = setting
    formats = [*ROWS]
    return fit(
        [*catalog.models()][int(model)],
        [*catalog.accelerators()][int(accelerator)],
        int(devices),
        formats[int(cache_format)],
        formats[int(weight_format)],
        share,
        errors.integer("tokens", tokens, at_least=1),
    )


@cache
def _kept(model: str, cache_format: str, devices: int) -> kvcache.Layout:
    return kvcache.layout(catalog.model(model).config, cache_format, devices)


@cache
def data() -> dict[str, Any]:
    """Models, accelerators and formats as the page needs them."""
    return {
        "models": [
            {
                "name": one.name,
                "parameters": one.parameters,
                "context": one.context,
                "layouts": {str(devices): _layout(one, devices) for devices in DEVICES},
            }
            for one in catalog.models().values()
        ],
        "accelerators": [[one.name, one.memory] for one in catalog.accelerators().values()],
        "formats": [[name, *size] for name, size in ROWS.items()],
    }


def _layout(model: catalog.Model, devices: int) -> dict[str, Any] | str:
    """Groups of layers on one of so many devices, or why there are none."""
    try:
        kept = _kept(model.name, "bf16", devices)
    except ValueError as refusal:
        return str(refusal)
    formats = [*ROWS]
    return {
        "groups": [
            [
                *(one.layers, one.keys, one.values, one.window, int(one.encoder)),
                None if one.dtype is None else formats.index(one.dtype),
            ]
            for one in kept.groups
        ],
        "states": sum(one.bytes for one in kept.states),
        "context": kept.context,
    }


def presets() -> dict[str, dict[str, dict[str, float]]]:
    """Choices of the page, the book's example first in each."""
    formats = {name: k for k, name in enumerate(ROWS)}
    usual = sorted(formats, key=lambda one: one != "bf16")
    devices = sorted(DEVICES, key=lambda one: one != 8)
    machines = {name: k for k, name in enumerate(catalog.accelerators())}
    ordered = sorted(machines, key=lambda one: one != "a100-80gb")
    return {
        "model": {name: {"model": k} for k, name in enumerate(catalog.models())},
        "accelerator": {name: {"accelerator": machines[name]} for name in ordered},
        "devices": {str(one): {"devices": one} for one in devices},
        "format of the cache": {name: {"cache_format": formats[name]} for name in usual},
        "format of the weights": {name: {"weight_format": formats[name]} for name in usual},
        "memory that the engine may use": {f"{100 * one:g} %": {"share": one} for one in SHARES},
    }
