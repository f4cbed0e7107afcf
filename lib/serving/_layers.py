"""Layers of a model by what they keep of a sequence, and the storage that this takes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

ROWS: dict[str, tuple[int, int]] = {
    "fp32": (1, 4),
    "fp16": (1, 2),
    "bf16": (1, 2),
    "fp8": (1, 1),
    "int8": (1, 1),
    "int4": (2, 1),
    "fp8_scaled": (128, 132),
    "q8_0": (32, 34),
    "q5_1": (32, 24),
    "q5_0": (32, 22),
    "q4_1": (32, 20),
    "q4_0": (32, 18),
}
"""Numbers that a format stores together, and the bytes that these take, scales included.

Source: ggml, ``ggml/src/ggml-common.h``, for the formats of 32 with a scale for each block;
``fp8_scaled`` has one of 4 bytes for 128 numbers.
"""

BYTES: dict[str, Fraction] = {name: Fraction(size, n) for name, (n, size) in ROWS.items()}
"""Storage of one number of the cache by the name of its format [bytes]."""


def row_bytes(numbers: int, dtype: str) -> int:
    """Storage of numbers that are kept side by side.

    Parameters
    ----------
    numbers : int
        How many [1].
    dtype : str
        Their format, a key of `ROWS`.

    Returns
    -------
    int
        What they take [bytes].

    Raises
    ------
    ValueError
        If they do not fill whole blocks of the format.
    """
    together, size = ROWS[dtype]
    if numbers % together:
        raise ValueError(
            f"dtype = {dtype!r} stores {together} numbers together, "
            f"so a row of {numbers} numbers cannot be stored"
        )
    return numbers // together * size


@dataclass(frozen=True)
class LayerGroup:
    """Layers that keep the same thing of each token.

    Attributes
    ----------
    layers : int
        How many there are [1].
    keys, values : int
        Numbers that one layer keeps of one token on each device; latent attention keeps one row,
        its ``values`` are 0 [1].
    window : int or None
        Latest tokens that they keep; without it, all. Of an encoder: the most that it hands over;
        without it, only the request says how many [tokens].
    encoder : bool
        Whether they keep the tokens of an encoder instead, whose number the answer does not change.
    dtype : str or None
        Format of their numbers, a key of `ROWS`, if it is not that of the cache.
    """

    layers: int
    keys: int
    values: int
    window: int | None = None
    encoder: bool = False
    dtype: str | None = None


@dataclass(frozen=True)
class State:
    """Layers that keep a state whose size does not grow with the sequence.

    Attributes
    ----------
    layers : int
        How many there are [1].
    numbers : int
        Numbers in the state of one layer on each device [1].
    dtype : str
        Format of these numbers, a key of `ROWS`.
    recent : int
        Those of them that are the latest inputs of a convolution, which some engines keep in
        another format [1].
    """

    layers: int
    numbers: int
    dtype: str = "fp32"
    recent: int = 0

    @property
    def bytes(self) -> int:
        """Storage of the state in all layers on each device [bytes]."""
        return self.layers * row_bytes(self.numbers, self.dtype)


def token_bytes(group: LayerGroup, dtype: str) -> int:
    """Count what one token takes in all layers of a group, on each device [bytes]."""
    form = group.dtype or dtype
    return group.layers * (row_bytes(group.keys, form) + row_bytes(group.values, form))


def kept(group: LayerGroup, tokens: int, encoder_tokens: int | None = None) -> int:
    """Count the tokens that a group keeps of a sequence of so many [tokens]."""
    if not group.encoder:
        return tokens if group.window is None else min(tokens, group.window)
    handed = group.window if encoder_tokens is None else encoder_tokens
    if handed is None:
        raise ValueError("encoder_tokens must be given: the configuration does not state them")
    if group.window is not None and handed > group.window:
        raise ValueError(f"encoder_tokens must be at most {group.window}, got {handed}")
    return handed
