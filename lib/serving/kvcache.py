"""How large the key-value cache of a model is, read from its configuration.

A cache is described as groups of layers that keep the same thing for each token. One group is
enough for multi-head, grouped-query and multi-query attention. A configuration that asks for
another kind of cache is refused by the name of the field, never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import _config, errors
from ._allocation import Allocation, allocation
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
    "layout",
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
    """

    groups: tuple[LayerGroup, ...]
    dtype: str
    tensor_parallel: int
    states: tuple[State, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a format that cannot store the rows."""
        for group in self.groups:
            token_bytes(group, self.dtype)

    @property
    def bytes_per_token(self) -> int:
        """What one more token costs on each device while no window is full [bytes]."""
        return sum(token_bytes(group, self.dtype) for group in self.groups if not group.encoder)

    def sequence_bytes(self, tokens: int) -> int:
        """Bytes that a sequence keeps on each device.

        Parameters
        ----------
        tokens : int
            Tokens of the sequence, prompt and answer, at least 0 [tokens].

        Returns
        -------
        int
            Its bytes, exactly [bytes].

        Raises
        ------
        TypeError
            If ``tokens`` is not a real number.
        ValueError
            If ``tokens`` is negative or not whole.
        """
        length = errors.integer("tokens", tokens, at_least=0)
        return self._states + sum(
            kept(group, length) * token_bytes(group, self.dtype) for group in self.groups
        )

    def max_sequences(self, memory: int, tokens: int, block_size: int = 16) -> int:
        """Count the sequences of one length that fit into the memory of a device.

        Parameters
        ----------
        memory : int
            Memory for the cache on each device, at least 0 [bytes].
        tokens : int
            Tokens of each sequence, at least 1 [tokens].
        block_size : int
            Tokens of a block; a sequence takes whole blocks. With 1 nothing is rounded [tokens].

        Returns
        -------
        int
            How many fit, perhaps 0 [requests].

        Raises
        ------
        TypeError
            If an argument is not a real number.
        ValueError
            If an argument is too small or not whole.

        Notes
        -----
        Source: Kwon et al. 2023, section 4, for the blocks; 16 tokens are vLLM's default.
        """
        room = errors.integer("memory", memory, at_least=0)
        length = errors.integer("tokens", tokens, at_least=1)
        block = errors.integer("block_size", block_size, at_least=1)
        each = self._states + sum(
            -(-kept(group, length) // block) * block * token_bytes(group, self.dtype)
            for group in self.groups
        )
        return room // each

    @property
    def _states(self) -> int:
        return sum(state.bytes for state in self.states)


def layout(
    config: Mapping[str, Any] | str | Path, dtype: str = "bf16", tensor_parallel: int = 1
) -> Layout:
    """Read from a model's configuration what its cache keeps on each device.

    Parameters
    ----------
    config : dict, str or Path
        Content of a Hugging Face ``config.json``, or the path of one.
    dtype : str
        Format of the cache: fp32, fp16, bf16, fp8 or int8.
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
    ``vllm/model_executor/models/llama.py``, class ``LlamaAttention``.

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
    return Layout(_config.groups(config, devices), dtype, devices)
