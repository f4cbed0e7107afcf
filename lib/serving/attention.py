"""A language model small enough to read, which counts its own multiplications.

A decoder as in GPT: an embedding, some layers of attention and feed-forward, and a choice of the
next token. Weights are random, so it has nothing to say, but it computes as a real one does. It
can keep the keys and values of earlier tokens, or the inputs that they are made from, or nothing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import errors

Array = NDArray[np.float64]

KEEP: tuple[str, ...] = ("keys and values", "inputs", "nothing")
"""What may be kept of earlier tokens from one step to the next."""

KINDS: tuple[str, ...] = (
    *("projections", "attention", "MLP"),
    *("projections again", "attention again", "MLP again"),
    "choice",
)
"""Kinds of work; what is done for a token that was fed before is done *again*."""

MOST_WEIGHTS = 10_000_000
"""Weights of the largest model that is made: 80 MB, beyond which it is no toy."""


@dataclass(frozen=True)
class Shape:
    """Sizes of a decoder; its width is that of all heads side by side.

    Parameters
    ----------
    layers : int
        Layers, at least 1 [1].
    heads : int
        Heads that ask, at least 1 [1].
    kv_heads : int
        Heads with keys and values, a divisor of ``heads`` [1].
    head_width : int
        Width of one head, at least 1 [1].
    mlp_width : int
        Inner width of the feed-forward part, at least 1 [1].
    vocabulary : int
        Tokens to choose from, at least 1 [1].
    positions : int
        Longest sequence, at least 1 [tokens].

    Raises
    ------
    TypeError
        If an argument is not a real number.
    ValueError
        If one is not whole or below 1, or ``kv_heads`` does not divide ``heads``.

    Notes
    -----
    Source: Vaswani et al. 2017, section 3; Ainslie et al. 2023 for ``kv_heads``.

    Examples
    --------
    >>> small = Shape(layers=2, heads=4, kv_heads=2, head_width=8, mlp_width=128)
    >>> small.width, small.kv_width
    (32, 16)
    """

    layers: int
    heads: int
    kv_heads: int
    head_width: int
    mlp_width: int
    vocabulary: int = 50
    positions: int = 128

    def __post_init__(self) -> None:
        for one in fields(self):
            size = errors.integer(one.name, getattr(self, one.name), at_least=1)
            object.__setattr__(self, one.name, size)
        if self.heads % self.kv_heads:
            raise ValueError(
                f"kv_heads must divide heads = {self.heads!r}, got kv_heads = {self.kv_heads!r}"
            )

    @property
    def width(self) -> int:
        """Width of a token between layers [1]."""
        return self.heads * self.head_width

    @property
    def kv_width(self) -> int:
        """Width of a token's keys, all key heads together; its values are as wide [1]."""
        return self.kv_heads * self.head_width

    @property
    def layer_weights(self) -> int:
        """Weights of the matrices of all layers, each used once for a token [1]."""
        matrices = self.width + self.kv_width + self.mlp_width
        return 2 * self.layers * self.width * matrices


@dataclass(frozen=True)
class Layer:
    """Weights of one layer.

    Attributes
    ----------
    query, key, value, output : ndarray
        Projections; keys and values have a column for each of ``kv_width`` [1].
    up, down : ndarray
        Feed-forward part, to ``mlp_width`` and back [1].
    """

    query: Array
    key: Array
    value: Array
    output: Array
    up: Array
    down: Array


@dataclass(frozen=True)
class Model:
    """A decoder with its weights.

    Attributes
    ----------
    shape : Shape
        Its sizes.
    layers : tuple of Layer
        Its layers, from the tokens up.
    embedding : ndarray
        A row for each token of the vocabulary [1].
    places : ndarray
        A row for each position, added to the token that stands there [1].
    choice : ndarray
        A column for each token of the vocabulary, to choose the next one by [1].
    """

    shape: Shape
    layers: tuple[Layer, ...]
    embedding: Array
    places: Array
    choice: Array


def random_model(shape: Shape, seed: int = 0) -> Model:
    """Make a decoder with random weights.

    Parameters
    ----------
    shape : Shape
        Its sizes.
    seed : int
        Seed of the weights, at least 0 [1].

    Returns
    -------
    Model
        The same for the same seed.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If ``seed`` is negative or not whole, or ``shape`` has too many weights for a toy.
    """
    if not isinstance(shape, Shape):
        raise TypeError(f"shape must be a Shape, got {shape!r}")
    ends = shape.width * (2 * shape.vocabulary + shape.positions)
    if shape.layer_weights + ends > MOST_WEIGHTS:
        raise ValueError(
            f"shape must have at most {MOST_WEIGHTS} weights, got "
            f"{shape.layer_weights + ends} in {shape!r}"
        )
    rng = np.random.default_rng(errors.integer("seed", seed, at_least=0))

    def matrix(rows: int, columns: int) -> Array:
        """Weights that neither blow up nor shrink what they are applied to."""
        return rng.normal(scale=rows**-0.5, size=(rows, columns))

    d, kv, ff = shape.width, shape.kv_width, shape.mlp_width
    sizes = [(d, d), (d, kv), (d, kv), (d, d), (d, ff), (ff, d)]
    layers = tuple(Layer(*(matrix(*size) for size in sizes)) for _ in range(shape.layers))
    embedding, places = matrix(shape.vocabulary, d), matrix(shape.positions, d)
    return Model(shape, layers, embedding, places, matrix(d, shape.vocabulary))


@dataclass(frozen=True)
class Generation:
    """An answer, and what each of its tokens cost.

    Attributes
    ----------
    tokens : ndarray, shape (count,)
        The answer [tokens].
    logits : ndarray, shape (count, vocabulary)
        What each token was chosen from, the largest of a row [1].
    lengths : ndarray, shape (count,)
        Tokens that were there when each was chosen [tokens].
    work : dict of str to ndarray, shape (count,)
        Multiply-adds for each token, by kind; the first reads the prompt [multiply-adds].
    kept : tuple of tuple of ndarray
        For each layer what is kept at the end, a row for each token: keys and values, or
        inputs, or nothing [1].
    kept_bytes : ndarray, shape (count,)
        Size of what is kept when each was chosen [bytes].
    """

    tokens: NDArray[np.int64]
    logits: Array
    lengths: NDArray[np.int64]
    work: dict[str, NDArray[np.int64]]
    kept: tuple[tuple[Array, ...], ...]
    kept_bytes: NDArray[np.int64]


def generate(
    model: Model, prompt: ArrayLike, count: int, keep: str = "keys and values"
) -> Generation:
    """Continue a prompt, one token at a time, each the likeliest.

    Parameters
    ----------
    model : Model
        The decoder.
    prompt : array_like, shape (n,)
        Tokens to start from, at least one, each below the vocabulary [1].
    count : int
        Tokens to write, at least 1; all but the last need a position [tokens].
    keep : str
        One of `KEEP`: what is kept from step to step. The answer is the same.

    Returns
    -------
    Generation
        The answer with the work and the memory of every step.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If a token is not in the vocabulary, the sequence is longer than the model's positions,
        or ``keep`` is none of `KEEP`.

    Examples
    --------
    >>> model = random_model(Shape(layers=2, heads=4, kv_heads=4, head_width=8, mlp_width=128))
    >>> answer = generate(model, [3, 1, 4], count=5)
    >>> answer.lengths, answer.kept_bytes // 8
    (array([3, 4, 5, 6, 7]), array([384, 512, 640, 768, 896]))
    """
    sequence, count = _checked(model, prompt, count, keep)
    kept = _Kept(keep, [[] for _ in model.layers])
    steps = []
    for step in range(count):
        fed = len(sequence) if step == 0 or keep == "nothing" else 1
        work = _Work(fresh=1 if step else fed)
        logits = _forward(model, sequence, fed, kept, work)
        steps.append((len(sequence), logits, work.done, kept.nbytes))
        sequence.append(int(logits.argmax()))
    lengths, logits_of_all, done, sizes = zip(*steps, strict=True)
    return Generation(
        tokens=np.array(sequence[-count:]),
        logits=np.array(logits_of_all),
        lengths=np.array(lengths),
        work={kind: np.array([one[kind] for one in done]) for kind in KINDS},
        kept=tuple(map(tuple, kept.layers)),
        kept_bytes=np.array(sizes),
    )


@dataclass
class _Work:
    """Multiply-adds of one step by kind; the last ``fresh`` tokens are new to the model."""

    fresh: int
    done: Counter[str] = field(default_factory=Counter)

    def product(self, kind: str, left: Array, right: Array, again: bool = False) -> Array:
        """Multiply matrices, and count: each number of the result is a sum of products."""
        result: Array = left @ right
        self.done[f"{kind} again" if again else kind] += result.size * left.shape[-1]
        return result

    def rows(self, kind: str, tokens: Array, matrix: Array) -> Array:
        """Multiply a row for each token by a matrix; all but the last rows are done again."""
        old = len(tokens) - self.fresh if len(tokens) > self.fresh else 0
        return np.concatenate(
            [
                self.product(kind, tokens[:old], matrix, again=True),
                self.product(kind, tokens[old:], matrix),
            ]
        )


@dataclass
class _Kept:
    """What stays from step to step: for each layer keys and values, or inputs, or nothing."""

    keep: str
    layers: list[list[Array]]

    def extended(self, place: int, *new: Array) -> list[Array]:
        """Add rows to what a layer keeps, and return all of them."""
        before = self.layers[place] or [rows[:0] for rows in new]
        pairs = zip(before, new, strict=True)
        self.layers[place] = [np.concatenate(pair) for pair in pairs]
        return self.layers[place]

    @property
    def nbytes(self) -> int:
        """Bytes of all that is kept."""
        return sum(rows.nbytes for layer in self.layers for rows in layer)


def _forward(model: Model, sequence: list[int], fed: int, kept: _Kept, work: _Work) -> Array:
    """Feed the last tokens of a sequence through the layers; return logits after the last."""
    places = slice(len(sequence) - fed, len(sequence))
    stream = model.embedding[sequence[places]] + model.places[places]
    for place, layer in enumerate(model.layers):
        stream = stream + _attention(model, place, _normed(stream), kept, work)
        hidden = work.rows("MLP", _normed(stream), layer.up)
        stream = stream + work.rows("MLP", np.maximum(hidden, 0), layer.down)
    return work.product("choice", _normed(stream[-1]), model.choice)


def _attention(model: Model, place: int, inputs: Array, kept: _Kept, work: _Work) -> Array:
    layer, shape = model.layers[place], model.shape
    queries = work.rows("projections", inputs, layer.query)
    keys, values = _keys_values(layer, place, inputs, kept, work)
    split = (-1, shape.kv_heads, shape.head_width)
    keys, values = keys.reshape(split), values.reshape(split)
    before = len(keys) - len(queries)
    mixed = []
    for row, query in enumerate(queries):
        seen = before + row + 1  # no token looks ahead: itself and what stands before it
        again = row < len(queries) - work.fresh
        asked = query.reshape(shape.kv_heads, -1, shape.head_width)  # heads that share keys
        scores = work.product("attention", asked, keys[:seen].transpose(1, 2, 0), again)
        weights = np.exp(scores / shape.head_width**0.5)
        weights /= weights.sum(axis=-1, keepdims=True)
        mixed.append(work.product("attention", weights, values[:seen].swapaxes(0, 1), again))
    return work.rows("projections", np.array(mixed).reshape(len(queries), -1), layer.output)


def _keys_values(
    layer: Layer, place: int, inputs: Array, kept: _Kept, work: _Work
) -> tuple[Array, Array]:
    """Keys and values of all tokens: made, taken from what is kept, or both."""
    if kept.keep == "inputs":
        [inputs] = kept.extended(place, inputs)
    keys = work.rows("projections", inputs, layer.key)
    values = work.rows("projections", inputs, layer.value)
    if kept.keep == "keys and values":
        keys, values = kept.extended(place, keys, values)
    return keys, values


def _normed(rows: Array) -> Array:
    """Rows scaled to a mean square of one, so that layers can be stacked."""
    scaled: Array = rows / np.sqrt(np.mean(rows**2, axis=-1, keepdims=True))
    return scaled


def _checked(model: Any, prompt: Any, count: Any, keep: Any) -> tuple[list[int], int]:
    if not isinstance(model, Model):
        raise TypeError(f"model must be a Model, got {model!r}")
    if not isinstance(keep, str):
        raise TypeError(f"keep must be one of {', '.join(KEEP)}, got {keep!r}")
    if keep not in KEEP:
        raise ValueError(f"keep must be one of {', '.join(KEEP)}, got {keep!r}")
    tokens = errors.array("prompt", prompt, at_least=0)
    if tokens.ndim != 1 or tokens.size == 0:
        raise ValueError(f"prompt must be a list of one token or more, got {prompt!r}")
    for place, token in enumerate(tokens):
        if token != int(token) or token >= model.shape.vocabulary:
            raise ValueError(
                f"prompt[{place}] must be a whole number below the model's vocabulary = "
                f"{model.shape.vocabulary}, got {token}"
            )
    count = errors.integer("count", count, at_least=1)
    if tokens.size + count - 1 > model.shape.positions:
        raise ValueError(
            f"prompt and count must fit into the model's positions = {model.shape.positions}: "
            f"{tokens.size} tokens and count = {count} need {tokens.size + count - 1}"
        )
    return [int(token) for token in tokens], count
