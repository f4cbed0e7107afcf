"""Traffic with a moving rate: fitted to a trace, kept in a few numbers, and drawn again."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import errors
from .traces import Trace

Array = NDArray[np.float64]

MOST_CELLS = 20_000
"""Most cells of time that blocks are looked for in; the work grows with their square."""
LEVELS = np.concatenate([np.arange(64) / 64, 1 - 2.0 ** -np.arange(7, 14), [1]])
"""Shares whose quantiles a recipe keeps: even ones, and closer ones towards the longest."""
PARTS = 8
"""Parts, of equally many requests, into which a recipe sorts prompts and answers."""


@dataclass(frozen=True, eq=False)
class Recipe:
    """What is kept of a trace, to draw traffic like it.

    Attributes
    ----------
    name : str
        Short name.
    edges : ndarray, shape (k + 1,)
        Where a block of constant rate starts, and where the last one ends [s].
    requests : ndarray, shape (k,)
        Requests that are expected in each block [requests].
    flicker_cv : float
        Coefficient of variation of a factor by which the rate flickers besides, 0 for none [1].
    flicker_memory : float
        Mean time for which that factor stays the same [s].
    inputs, outputs : ndarray, shape (72,)
        Quantiles of prompts and of answers, at the shares of `LEVELS` [tokens].
    pairs : ndarray, shape (periods, p, p)
        Requests in each of equally long periods, by the part of the prompts and the part of the
        answers that they are in, of equal parts from the shortest to the longest [requests].
    measured : mapping of str to float
        What the trace itself is like: the numbers of its `Summary`, in their units, and its
        dispersion at 1, 10 and 60 s, also by differences, where as many windows fit [any].
    source : str
        Where the trace was published, and its licence; or the file that it was read from.
    address : str
        Where the trace is described and can be had, if it is public.
    """

    name: str
    edges: Array
    requests: Array
    flicker_cv: float
    flicker_memory: float
    inputs: Array
    outputs: Array
    pairs: Array
    measured: Mapping[str, float]
    source: str
    address: str = ""


def blocks(trace: Trace, cell: float = 1.0, penalty: float = 6.0) -> tuple[Array, Array]:
    """Cut a trace into blocks of constant rate: the fewest that explain it.

    Parameters
    ----------
    trace : Trace
        When requests came.
    cell : float
        Length of the cells that blocks are made of; at most 20,000 of them [s].
    penalty : float
        By how much a further block must raise the logarithm of the likelihood, 0 to 1e9 [1].

    Returns
    -------
    edges : ndarray, shape (k + 1,)
        Where each block starts, and where the last one ends [s].
    requests : ndarray, shape (k,)
        How many came in each [requests].

    Raises
    ------
    TypeError
        If ``trace`` is no Trace, or a number is not real.
    ValueError
        If one of them is out of range.

    Notes
    -----
    Of all ways to cut it is the one of greatest likelihood less penalties: the best that ends
    in each cell follows from the best that ended before it. Source: Scargle et al. 2013.
    """
    if not isinstance(trace, Trace):
        raise TypeError(f"trace must be a Trace, got {trace!r}")
    length = errors.number("cell", cell, above=0)
    price = errors.number("penalty", penalty, at_least=0, at_most=1e9)
    span = float(trace.times[-1]) if len(trace.times) else 0.0
    if not 1 <= span / length <= MOST_CELLS:
        raise ValueError(
            f"cell must fit between 1 and {MOST_CELLS:,} times into the {span:.6g} s of "
            f"{trace.path}, got {cell!r}"
        )
    cells = int(np.ceil(span / length))
    edges = np.minimum(np.arange(cells + 1) * length, span)
    inside = np.minimum((trace.times / length).astype(np.int64), cells - 1)
    below = np.append(0.0, np.cumsum(np.bincount(inside, minlength=cells)))
    best, start = np.zeros(cells + 1), np.zeros(cells + 1, dtype=np.int64)
    for end in range(1, cells + 1):
        counts, lasting = below[end] - below[:end], edges[end] - edges[:end]
        with np.errstate(divide="ignore", invalid="ignore"):
            likelihood = np.where(counts > 0, counts * np.log(counts / lasting), 0.0)
        total = best[:end] + likelihood - price
        start[end] = np.argmax(total)
        best[end] = total[start[end]]
    ends = [cells]
    while ends[-1]:
        ends.append(int(start[ends[-1]]))
    chosen = np.array(ends[::-1])
    return edges[chosen], np.diff(below[chosen])


def fit(
    trace: Trace,
    cell: float = 1.0,
    penalty: float = 6.0,
    flicker_cv: float = 0.0,
    flicker_memory: float = 1.0,
    periods: int = 1,
) -> Recipe:
    """Keep of a trace what it takes to draw traffic like it.

    Parameters
    ----------
    trace : Trace
        Requests to imitate.
    cell, penalty : float
        How `blocks` cuts their time: the length of a cell [s], and the price of a block [1].
    flicker_cv : float
        Coefficient of variation of the factor by which the rate flickers, 0 to 10 [1].
    flicker_memory : float
        Mean time for which that factor stays the same, at least a millionth of the whole [s].
    periods : int
        Periods, equally long, each of which keeps pairs of its own; at most 1,000 [1].

    Returns
    -------
    Recipe
        The blocks, the flicker, and the lengths in pairs.

    Raises
    ------
    TypeError
        If ``trace`` is no Trace, or a number is not real.
    ValueError
        If one is out of range.
    """
    edges, requests = blocks(trace, cell, penalty)
    cv = errors.number("flicker_cv", flicker_cv, at_least=0, at_most=10)
    memory = errors.number("flicker_memory", flicker_memory, at_least=edges[-1] / 1e6)
    number = errors.integer("periods", periods, at_least=1)
    if number > 1000:
        raise ValueError(f"periods must be at most 1000, got {periods!r}")
    prompts, answers = (_parts(lengths) for lengths in (trace.input_tokens, trace.output_tokens))
    kinds = (_periods(trace.times, edges, number) * PARTS + prompts) * PARTS + answers
    pairs = np.bincount(kinds, minlength=number * PARTS**2).astype(np.float64)
    return Recipe(
        name=trace.path,
        edges=edges,
        requests=requests,
        flicker_cv=cv,
        flicker_memory=memory,
        inputs=np.quantile(trace.input_tokens, LEVELS),
        outputs=np.quantile(trace.output_tokens, LEVELS),
        pairs=pairs.reshape(number, PARTS, PARTS),
        measured=_measured(trace),
        source=trace.path,
    )


def synthesise(recipe: Recipe, seed: int = 0) -> Trace:
    """Draw traffic by a recipe: Poisson arrivals at its moving rate, lengths in pairs.

    Parameters
    ----------
    recipe : Recipe
        What to draw.
    seed : int
        Seed of the random numbers, at least 0: the same gives the same requests [1].

    Returns
    -------
    Trace
        Requests; their number is random too, and the first comes at time 0.

    Raises
    ------
    TypeError
        If ``recipe`` is no Recipe, or ``seed`` is not a real number.
    ValueError
        If ``seed`` is not whole or negative, or the recipe gave no request.

    Notes
    -----
    A Cox process: given the rate, the number of arrivals is Poisson, and they are spread over
    time as the rate is. A prompt is drawn evenly from a part of the prompts and its answer from
    a part of the answers, the two parts as often together as in that period of the trace.
    """
    if not isinstance(recipe, Recipe):
        raise TypeError(f"recipe must be a Recipe, got {recipe!r}")
    rng = np.random.default_rng(errors.integer("seed", seed, at_least=0))
    times, expected = _expected(recipe, rng)
    marks = np.sort(rng.random(rng.poisson(expected[-1]))) * expected[-1]
    if not marks.size:
        raise ValueError(f"recipe {recipe.name} gave no request with seed = {seed!r}")
    arrivals = np.interp(marks, expected, times)
    kinds = np.zeros(marks.size, dtype=np.int64)
    period = _periods(arrivals, recipe.edges, len(recipe.pairs))
    for number, pairs in enumerate(recipe.pairs):
        some = np.flatnonzero(period == number)
        share = (pairs if pairs.any() else recipe.pairs.sum(axis=0)).ravel()
        kinds[some] = rng.choice(share.size, some.size, p=share / share.sum())
    prompts, answers = np.divmod(kinds, PARTS)
    return Trace(
        f"{recipe.name} (synthetic, seed {seed})",
        arrivals - arrivals[0],
        _lengths(recipe.inputs, (prompts + rng.random(marks.size)) / PARTS),
        _lengths(recipe.outputs, (answers + rng.random(marks.size)) / PARTS),
    )


def recipe(name: str) -> Recipe:
    """Recipe of a public trace.

    Parameters
    ----------
    name : str
        One of `recipes`.

    Returns
    -------
    Recipe
        Facts measured from the trace; the trace itself is not part of the package.

    Raises
    ------
    ValueError
        If there is no recipe of that name.

    Notes
    -----
    Source: Azure/AzurePublicDataset, LLM inference traces of 2023, CC BY 4.0; Patel et al. 2024.
    Each is what `fit` gives, with the numbers that the file says.
    """
    if name not in recipes:
        raise ValueError(f"name must be one of {', '.join(recipes)}, got {name!r}")
    entry = _data()[name]
    arrays = ("edges", "requests", "inputs", "outputs", "pairs")
    kept = {key: np.array(entry[key], dtype=np.float64) for key in arrays}
    for values in kept.values():
        values.setflags(write=False)
    return Recipe(
        name=name,
        flicker_cv=entry["flicker_cv"],
        flicker_memory=entry["flicker_memory"],
        measured=MappingProxyType(entry["measured"]),
        source=entry["source"],
        address=entry["address"],
        **kept,
    )


@cache
def _data() -> dict[str, Any]:
    file = resources.files(__package__).joinpath("data/traffic.toml")
    return tomllib.loads(file.read_text("utf-8"))


recipes: tuple[str, ...] = ("azure-conversation-2023", "azure-code-2023")
"""Names of the recipes of public traces."""


def _measured(trace: Trace) -> dict[str, float]:
    summary = trace.summary()
    kept = {one.name: float(getattr(summary, one.name)) for one in fields(summary)[:-1]}
    for window in (1, 10, 60):
        if trace.times[-1] >= 3 * window:
            kept[f"dispersion_{window}s"] = summary.dispersion(window)
            kept[f"differences_{window}s"] = summary.dispersion(window, differences=1)
    return kept


def _parts(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Part that each length is in, ties in the order in which they came."""
    ranks = np.empty(len(lengths), dtype=np.int64)
    ranks[np.argsort(lengths, kind="stable")] = np.arange(len(lengths))
    return ranks * PARTS // len(lengths)


def _periods(times: Array, edges: Array, number: int) -> NDArray[np.int64]:
    """Period, of equally long ones, that each time is in."""
    return np.minimum((times / edges[-1] * number).astype(np.int64), number - 1)


def _expected(recipe: Recipe, rng: np.random.Generator) -> tuple[Array, Array]:
    """Times, and the arrivals that the rate promises until then."""
    promised = np.append(0.0, np.cumsum(recipe.requests))
    if not recipe.flicker_cv:
        return recipe.edges, promised
    end, jumps = float(recipe.edges[-1]), np.zeros(1)
    while jumps[-1] < end:
        more = rng.exponential(recipe.flicker_memory, 64 + int(end / recipe.flicker_memory))
        jumps = np.append(jumps, jumps[-1] + np.cumsum(more))
    shape = recipe.flicker_cv**-2
    factors = rng.gamma(shape, 1 / shape, jumps.size)
    times = np.union1d(recipe.edges, jumps[jumps < end])
    steps = np.diff(np.interp(times, recipe.edges, promised))
    steps *= factors[np.searchsorted(jumps, times[:-1], side="right") - 1]
    return times, np.append(0.0, np.cumsum(steps))


def _lengths(quantiles: Array, shares: Array) -> NDArray[np.int64]:
    return np.rint(np.interp(shares, LEVELS, quantiles)).astype(np.int64)
