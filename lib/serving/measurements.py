"""Measurements of others: what was published, files of benchmark tools, and what they bear."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._bearing import Ranks, Support, rank_interval, supports
from ._diagnosis import Diagnosis, Reach, diagnose
from ._little import Little, little
from ._load import load
from ._points import Measured, Point, join
from .catalog import Accelerator, Model, accelerator, model

__all__ = [
    "BatchTimes",
    "Curve",
    "Diagnosis",
    "Little",
    "Measured",
    "Point",
    "Ranks",
    "Reach",
    "Setup",
    "Support",
    "curve",
    "curve_names",
    "diagnose",
    "join",
    "little",
    "load",
    "names",
    "published",
    "rank_interval",
    "setup",
    "supports",
]


@dataclass(frozen=True)
class BatchTimes:
    """A published table of times against batch size.

    Attributes
    ----------
    name : str
        Short name.
    batches : ndarray, shape (n,)
        Batch sizes [requests].
    times : ndarray, shape (n,)
        Time of one batch [s].
    source : str
        Where it was published.
    citation : str
        Its key in the bibliography.
    setting : str
        Model, precision, hardware, lengths, as published.
    input_tokens, output_tokens : int
        Tokens each request reads and writes; 0 where requests are not text [tokens].
    """

    name: str
    batches: NDArray[np.int64]
    times: NDArray[np.float64]
    source: str
    citation: str
    setting: str
    input_tokens: int
    output_tokens: int


def _fixed(published: NDArray[Any]) -> NDArray[Any]:
    """Guard what was published against change by its readers."""
    published.setflags(write=False)
    return published


@dataclass(frozen=True)
class Curve:
    """Published throughput and latency of one server against batch size.

    Attributes
    ----------
    name : str
        Short name.
    batches : ndarray, shape (n,)
        Batch sizes [requests].
    throughput : ndarray, shape (n,)
        Tokens written in a second, over the whole batch [tokens/s].
    latency : ndarray, shape (n,)
        Median latency of what the setting says [s].
    source : str
        Where it was published.
    citation : str
        Its key in the bibliography.
    setting : str
        Model, precision, hardware, lengths, and what is timed, as published.
    input_tokens, output_tokens : int
        Tokens each request reads and writes; 0 where that is not said [tokens].
    tolerance : float
        Relative error with which the numbers were read, 0 for printed ones [1].
    first_token : ndarray, shape (n,), or None
        Mean time until the first token, where it was published [s].
    """

    name: str
    batches: NDArray[np.int64]
    throughput: NDArray[np.float64]
    latency: NDArray[np.float64]
    source: str
    citation: str
    setting: str
    input_tokens: int
    output_tokens: int
    tolerance: float
    first_token: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Setup:
    """What was run for a published table or curve of a language model.

    Attributes
    ----------
    model : Model
        The model; the parameters of GPT models are counted from their published shapes.
    accelerator : Accelerator
        The device.
    devices : int
        How many of them shared every layer [1].
    dtype, cache_dtype : str
        Formats of weights and cache; the cache in that of the weights where nothing is said.
    """

    model: Model
    accelerator: Accelerator
    devices: int
    dtype: str
    cache_dtype: str

    @property
    def options(self) -> dict[str, Any]:
        """What `serving.roofline` takes beside the model and the accelerator."""
        return {"devices": self.devices, "dtype": self.dtype, "cache_dtype": self.cache_dtype}


def _rows(file: str) -> dict[str, dict[str, Any]]:
    return tomllib.loads(resources.files("serving").joinpath("data", file).read_text("utf-8"))


@cache
def _curves() -> dict[str, Curve]:
    return {
        name: Curve(
            name,
            _fixed(np.array(row["batches"], dtype=np.int64)),
            _fixed(np.array(row["tokens_per_second"], dtype=np.float64)),
            _fixed(np.array(row["p50_milliseconds"], dtype=np.float64) / 1000),
            row["source"],
            row["citation"],
            row["setting"],
            row["input_tokens"],
            row["output_tokens"],
            row["tolerance"],
            _fixed(np.array(row["first_token_milliseconds"], dtype=np.float64) / 1000)
            if "first_token_milliseconds" in row
            else None,
        )
        for name, row in _rows("tradeoffs.toml").items()
    }


def _times(row: dict[str, Any]) -> NDArray[np.float64]:
    """Times as printed, or from the rate of a server that always works."""
    if "per_second" in row:
        return np.array(row["batches"]) / np.array(row["per_second"], dtype=np.float64)
    return np.array(row["milliseconds"], dtype=np.float64) / 1000


@cache
def _setups() -> dict[str, Setup]:
    rows = _rows("setups.toml")
    models = {
        name: Model(
            name,
            row["parameters"],
            row["parameters"],
            row["context"],
            MappingProxyType(row["config"]),
            row["source"],
        )
        for name, row in rows["models"].items()
    }
    return {
        name: Setup(
            models.get(row["model"]) or model(row["model"]),
            accelerator(row["accelerator"]),
            row["devices"],
            row["dtype"],
            row["dtype"],
        )
        for name, row in rows["setups"].items()
    }


@cache
def _tables() -> dict[str, BatchTimes]:
    return {
        name: BatchTimes(
            name,
            _fixed(np.array(row["batches"], dtype=np.int64)),
            _fixed(_times(row)),
            row["source"],
            row["citation"],
            row["setting"],
            row["input_tokens"],
            row["output_tokens"],
        )
        for name, row in _rows("batch-times.toml").items()
    }


def names() -> tuple[str, ...]:
    """Names of the published tables.

    Returns
    -------
    tuple of str
        Each is an argument of `published`.
    """
    return tuple(_tables())


def published(name: str) -> BatchTimes:
    """Return a published table of batch times.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    BatchTimes
        Sizes [requests], times [s] and the source.

    Raises
    ------
    ValueError
        If there is no table of that name.

    Examples
    --------
    >>> published("gpt-175b").batches
    array([ 1,  2,  4,  8, 12, 16, 20, 32])
    """
    if name not in _tables():
        raise ValueError(f"name must be one of {', '.join(names())}, got {name!r}")
    return _tables()[name]


def setup(name: str) -> Setup:
    """Return what was run for a published table or curve.

    Parameters
    ----------
    name : str
        One of `names` or `curve_names`.

    Returns
    -------
    Setup
        Model, device, how many, and formats.

    Raises
    ------
    ValueError
        If it is not a language model's, or not said.

    Examples
    --------
    >>> setup("gpt-175b").devices
    8
    """
    if name not in _setups():
        raise ValueError(f"name must be one of {', '.join(_setups())}, got {name!r}")
    return _setups()[name]


def curve_names() -> tuple[str, ...]:
    """Names of the published trade-off curves.

    Returns
    -------
    tuple of str
        Each is an argument of `curve`.
    """
    return tuple(_curves())


def curve(name: str) -> Curve:
    """Return a published curve of throughput and latency against batch size.

    Parameters
    ----------
    name : str
        One of `curve_names`.

    Returns
    -------
    Curve
        Sizes [requests], throughput [tokens/s], latency [s] and the source.

    Raises
    ------
    ValueError
        If there is no curve of that name.

    Examples
    --------
    >>> curve("llama-2-70b-128-128").latency
    array([0.029, 0.03 , 0.032, 0.037])
    """
    if name not in _curves():
        raise ValueError(f"name must be one of {', '.join(curve_names())}, got {name!r}")
    return _curves()[name]
