"""Models and accelerators that people serve, each number with its public source.

The data stands in ``data/models.toml`` and ``data/accelerators.toml``.
"""

from __future__ import annotations

import json
import reprlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any

from . import _fields, errors


@dataclass(frozen=True)
class Model:
    """A model with open weights, as published.

    Attributes
    ----------
    name : str
        Short name.
    parameters : int
        Numbers in its weights [1].
    active_parameters : int
        Those that one token passes through: fewer where experts are chosen [1].
    context : int
        Longest sequence it was made for [tokens].
    config : Mapping
        Fields of its Hugging Face ``config.json`` that say what it computes and keeps.
    source : str
        Where the numbers were published.
    """

    name: str
    parameters: int
    active_parameters: int
    context: int
    config: Mapping[str, Any]
    source: str


@dataclass(frozen=True)
class Accelerator:
    """A device, as its maker describes it.

    Attributes
    ----------
    name : str
        Short name.
    memory : int
        Memory of the device [bytes].
    bandwidth : float
        Peak rate of reading that memory [bytes/s].
    peak : Mapping of str to float
        Peak dense arithmetic by format of the numbers: fp16, bf16, fp8 … [1/s].
    link : float
        Peak rate towards other devices, one direction [bytes/s].
    source : str
        Where the numbers were published.
    """

    name: str
    memory: int
    bandwidth: float
    peak: Mapping[str, float]
    link: float
    source: str


def _tables(file: str) -> dict[str, Any]:
    text = resources.files(__package__).joinpath("data", file).read_text("utf-8")
    return tomllib.loads(text)


@cache
def models() -> Mapping[str, Model]:
    """List the models of the catalogue.

    Returns
    -------
    Mapping of str to Model
        Each by its short name.
    """
    read: dict[str, Model] = {}
    for name, row in _tables("models.toml").items():
        active = row.get("active_parameters", row["parameters"])
        config = MappingProxyType(row["config"])
        read[name] = Model(name, row["parameters"], active, row["context"], config, row["source"])
    return MappingProxyType(read)


@cache
def accelerators() -> Mapping[str, Accelerator]:
    """List the accelerators of the catalogue.

    Returns
    -------
    Mapping of str to Accelerator
        Each by its short name.
    """
    read: dict[str, Accelerator] = {}
    for name, row in _tables("accelerators.toml").items():
        memory, peak = int(row["memory_gib"] * 2**30), MappingProxyType(row["peak"])
        read[name] = Accelerator(name, memory, row["bandwidth"], peak, row["link"], row["source"])
    return MappingProxyType(read)


def model(name: str) -> Model:
    """Look a model up.

    Parameters
    ----------
    name : str
        Its short name, a key of `models`.

    Returns
    -------
    Model
        The model.

    Raises
    ------
    ValueError
        If there is no such model; the error lists those there are.

    Examples
    --------
    >>> model("llama-2-70b").config["num_key_value_heads"]
    8
    """
    return _named("model", models(), name)


def configured(path: str | Path, parameters: int, active_parameters: int | None = None) -> Model:
    """Take a model that is not in the catalogue from its ``config.json``.

    Parameters
    ----------
    path : str or Path
        The file.
    parameters : int
        Numbers in its weights, at least 1; the file does not say [1].
    active_parameters : int, optional
        Those that one token passes through, at least 1 and at most ``parameters``; by default all
        of them [1].

    Returns
    -------
    Model
        The model, named after the folder of the file.

    Raises
    ------
    TypeError
        If a number is not real.
    ValueError
        If a number is out of range, or the file cannot be read or does not say how long a
        sequence may be.
    """
    path = Path(path)
    context = _fields.context(_fields.language(path))
    if context is None:
        raise ValueError(f"path must be of a configuration that states a context, got {path}")
    count = errors.integer("parameters", parameters, at_least=1)
    active = count if active_parameters is None else active_parameters
    errors.number("active_parameters", active, at_least=1, at_most=count)
    config = MappingProxyType(json.loads(path.read_text("utf-8")))
    return Model(path.resolve().parent.name, count, int(active), context, config, str(path))


def accelerator(name: str) -> Accelerator:
    """Look an accelerator up.

    Parameters
    ----------
    name : str
        Its short name, a key of `accelerators`.

    Returns
    -------
    Accelerator
        The device.

    Raises
    ------
    ValueError
        If there is no such accelerator; the error lists those there are.

    Examples
    --------
    >>> accelerator("a100-80gb").memory // 2**30
    80
    """
    return _named("accelerator", accelerators(), name)


def _named(what: str, known: Mapping[str, Any], name: str) -> Any:
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"{what} must be one of {', '.join(known)}, got {reprlib.repr(name)}")
    return known[name]
