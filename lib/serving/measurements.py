"""Measured batch times: those that others published and the book uses."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray


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


@cache
def _tables() -> dict[str, BatchTimes]:
    text = resources.files("serving").joinpath("data/batch-times.toml").read_text("utf-8")
    return {
        name: BatchTimes(
            name,
            _fixed(np.array(row["batches"], dtype=np.int64)),
            _fixed(np.array(row["milliseconds"], dtype=np.float64) / 1000),
            row["source"],
            row["citation"],
            row["setting"],
            row["input_tokens"],
            row["output_tokens"],
        )
        for name, row in tomllib.loads(text).items()
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
