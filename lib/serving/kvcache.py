"""How large the key-value cache of a model is, read from its configuration.

A cache is described as groups of layers that keep the same thing for each token (heads of keys
and values, one latent row, the tokens of a window, those of an encoder), and as states that do
not grow. A configuration that asks for another kind of cache is refused by the name of the
field, never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _config, _fields, errors
from ._allocation import Allocation, allocation, longest_context
from ._budget import Budget, memory_budget
from ._capacity import Capacity, capacity
from ._layers import BYTES, LayerGroup, State, kept, token_bytes

__all__ = [
    "BYTES",
    "Allocation",
    "Budget",
    "Capacity",
    "LayerGroup",
    "Layout",
    "State",
    "allocation",
    "capacity",
    "dimensions",
    "layout",
    "longest_context",
    "memory_budget",
]


@dataclass(frozen=True)
class Layout:
    """What the cache of a model keeps on each device.

    Attributes
    ----------
    groups : tuple of LayerGroup
        Its layers by what they keep of each token.
    dtype : str
        Format of the numbers, a key of `BYTES`.
    tensor_parallel : int
        Devices over which the heads are split [1].
    states : tuple of State
        Layers that keep a state of constant size.
    context : int or None
        Longest sequence that the configuration states, None if it states none [tokens].
    """

    groups: tuple[LayerGroup, ...]
    dtype: str
    tensor_parallel: int
    states: tuple[State, ...] = ()
    context: int | None = None

    def __post_init__(self) -> None:
        """Refuse a format that cannot store the rows."""
        for group in self.groups:
            token_bytes(group, self.dtype)

    @property
    def bytes_per_token(self) -> int:
        """What one more token costs on each device while no window is full [bytes]."""
        return sum(token_bytes(group, self.dtype) for group in self.groups if not group.encoder)

    def sequence_bytes(self, tokens: int, encoder_tokens: int | None = None) -> int:
        """Bytes that a sequence keeps on each device.

        Parameters
        ----------
        tokens : int
            Tokens of the sequence, prompt and answer, at least 0 [tokens].
        encoder_tokens : int, optional
            Tokens that an encoder hands over; by default the most that it can [tokens].

        Returns
        -------
        int
            Its bytes, exactly [bytes].

        Raises
        ------
        TypeError
            If an argument is not a real number.
        ValueError
            If an argument is negative, not whole, or more than the configuration states; if
            ``encoder_tokens`` is not given and the configuration does not state them.

        Notes
        -----
        A window and a state bound what is kept, not how long a sequence may be: the longest is
        `context`, positions that are interpolated by a factor included. A server that is told to
        go beyond it is told so in the configuration, for example by ``max_position_embeddings``.
        """
        length = self._checked("tokens", tokens, 0)
        return self._bytes(length, self._handed(encoder_tokens), 1)

    def max_sequences(
        self, memory: int, tokens: int, block_size: int = 16, encoder_tokens: int | None = None
    ) -> int:
        """Count the sequences of one length that fit into the memory of a device.

        Parameters
        ----------
        memory : int
            Memory for the cache on each device, at least 0 [bytes].
        tokens : int
            Tokens of each sequence, at least 1 [tokens].
        block_size : int
            Tokens of a block; each group of layers takes whole blocks for a sequence. With 1
            nothing is rounded [tokens].
        encoder_tokens : int, optional
            Tokens that an encoder hands over; by default the most that it can [tokens].

        Returns
        -------
        int
            How many fit; 0 if the memory is smaller than one sequence [requests].

        Raises
        ------
        TypeError
            If an argument is not a real number.
        ValueError
            If an argument is too small, not whole, or more than the configuration states; if
            ``encoder_tokens`` is not given and the configuration does not state them.

        Notes
        -----
        Source: Kwon et al. 2023, section 4, for the blocks; 16 tokens are vLLM's default.
        """
        room = errors.integer("memory", memory, at_least=0)
        length = self._checked("tokens", tokens, 1)
        block = errors.integer("block_size", block_size, at_least=1)
        return room // self._bytes(length, self._handed(encoder_tokens), block)

    def _checked(self, name: str, tokens: int, at_least: int) -> int:
        length = errors.integer(name, tokens, at_least=at_least)
        if self.context is not None and length > self.context:
            raise ValueError(
                f"{name} must be at most {self.context}, the longest sequence that the "
                f"configuration states, got {tokens!r}"
            )
        return length

    def _handed(self, encoder_tokens: int | None) -> int | None:
        if encoder_tokens is None:
            return None
        return errors.integer("encoder_tokens", encoder_tokens, at_least=0)

    def _bytes(self, tokens: int, encoder_tokens: int | None, block: int) -> int:
        rows = sum(
            -(-kept(group, tokens, encoder_tokens) // block)
            * block
            * token_bytes(group, self.dtype)
            for group in self.groups
        )
        return rows + sum(state.bytes for state in self.states)


def dimensions(config: Mapping[str, Any] | str | Path) -> tuple[int, int]:
    """Read the layers and the width of a model, all that the source's formula asks for.

    Parameters
    ----------
    config : dict, str or Path
        Content of a Hugging Face ``config.json``, or the path of one.

    Returns
    -------
    layers : int
        Layers of the language model, whatever they keep [1].
    width : int
        Width of the model [1].

    Raises
    ------
    TypeError
        If ``config`` or a field has the wrong type.
    ValueError
        If ``config`` cannot be read or lacks a field.

    Examples
    --------
    >>> dimensions({"n_layer": 12, "n_embd": 768})
    (12, 768)
    """
    fields = _fields.language(config)
    return _fields.layers(fields), _fields.count(fields, _fields.WIDTH)


def layout(
    config: Mapping[str, Any] | str | Path, dtype: str = "bf16", tensor_parallel: int = 1
) -> Layout:
    """Read from a model's configuration what its cache keeps on each device.

    Parameters
    ----------
    config : dict, str or Path
        Content of a Hugging Face ``config.json``, or the path of one.
    dtype : str
        Format of the cache, a key of `BYTES`.
    tensor_parallel : int
        Devices over which the heads are split, at least 1 [1].

    Returns
    -------
    Layout
        The cache.

    Raises
    ------
    TypeError
        If an argument or a field has the wrong type.
    ValueError
        If ``config`` cannot be read, lacks a field, contradicts itself or implies a cache that
        is not modelled; if ``dtype`` is unknown; if the heads cannot be split as engines do.

    Notes
    -----
    Query heads must divide evenly over the devices. Heads of keys must divide evenly too, or,
    if there are fewer than devices, each is copied to equally many devices. Source: vLLM,
    ``vllm/model_executor/models/llama.py``, class ``LlamaAttention``. A latent row is kept whole
    on each device, since all heads read it; states are split by their heads or channels.

    Fields decide, by whatever name a family gives them. A field that is left out means what the
    class of the model assumes, which its ``model_type`` tells (transformers 5.24.0); a field that
    is null means nothing. States are counted as numbers of 4 bytes, as llama.cpp keeps them;
    layers that attend within chunks as if a chunk were full.

    Examples
    --------
    >>> llama2_70b = {"num_hidden_layers": 80, "hidden_size": 8192,
    ...               "num_attention_heads": 64, "num_key_value_heads": 8}
    >>> layout(llama2_70b).bytes_per_token
    327680
    >>> layout(llama2_70b, tensor_parallel=4).max_sequences(45 * 10**9, tokens=4096)
    134
    """
    if not isinstance(dtype, str) or dtype not in BYTES:
        raise ValueError(f"dtype must be one of {', '.join(BYTES)}, got {dtype!r}")
    devices = errors.integer("tensor_parallel", tensor_parallel, at_least=1)
    groups, states, context = _config.read(config, devices)
    return Layout(groups, dtype, devices, states, context)
