"""A small transformer in NumPy: one forward pass over a batch of short prompts.

Prompts are so short that reading the weights is most of the work of a small batch, as it is when
a large model writes one token for each sequence: a batch has a fixed time, and one per request.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

VOCABULARY = 256
"""Tokens are bytes [1]."""
TOKENS = 4
"""Tokens of a prompt [tokens]."""
WIDTH, HEADS, LAYERS = 512, 8, 6
"""Width of the model, heads of a layer, and layers [1]."""

LATER = np.triu(np.ones((TOKENS, TOKENS), dtype=bool), 1)
"""Which token comes later than which."""

Array = NDArray[np.float32]


class Model:
    """Weights drawn at random: what it says has no sense, how long it takes is real."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)

        def weights(rows: int, columns: int) -> Array:
            """Draw a matrix that keeps the size of what it multiplies."""
            drawn: Array = rng.standard_normal((rows, columns), dtype=np.float32)
            return drawn / np.float32(np.sqrt(rows))

        self.embedding = weights(VOCABULARY, WIDTH)
        shapes = [(WIDTH, 3 * WIDTH), (WIDTH, WIDTH), (WIDTH, 4 * WIDTH), (4 * WIDTH, WIDTH)]
        self.layers = [[weights(*shape) for shape in shapes] for _ in range(LAYERS)]

    def next_tokens(self, prompts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Choose the token that follows each prompt, shape (batch, TOKENS) to (batch,)."""
        stream = self.embedding[prompts.ravel()]  # one matrix, for one product with the weights
        for inputs, out, up, down in self.layers:
            stream = stream + _attention(_normed(stream) @ inputs) @ out
            stream = stream + np.maximum(_normed(stream) @ up, 0) @ down
        last = _normed(stream[TOKENS - 1 :: TOKENS])
        chosen: NDArray[np.int64] = np.argmax(last @ self.embedding.T, axis=-1)
        return chosen


def _normed(stream: Array) -> Array:
    size: Any = np.sqrt(np.mean(stream * stream, axis=-1, keepdims=True) + np.float32(1e-5))
    return np.asarray(stream / size)


def _attention(mixed: Array) -> Array:
    """Let each token read those before it and itself."""
    heads = mixed.reshape(-1, TOKENS, 3, HEADS, WIDTH // HEADS).transpose(2, 0, 3, 1, 4)
    queries, keys, values = heads
    scores = queries @ keys.swapaxes(-1, -2) / np.float32(np.sqrt(WIDTH / HEADS))
    scores[..., LATER] = -np.inf
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.asarray((weights @ values).swapaxes(1, 2).reshape(-1, WIDTH))
