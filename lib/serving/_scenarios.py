"""What is not known of a service, drawn many times and moved one at a time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import errors, traffic
from ._least import Size, least
from ._replica import Promise, replica
from .roofline import Machine
from .traffic import Recipe

Array = NDArray[np.float64]

UNKNOWNS = ("growth", "swing", "prompts", "answers", "step_ratio", "reading_ratio")
"""What may be unknown, beside the hour itself, by the names of the arguments of `size`."""
HOURS = 20
"""Draws of the traffic from which the ends for the hour are taken."""
FINE = 50
"""Parts of a replica in which `moved` tells differences."""


def varied(
    recipe: Recipe,
    growth: float = 1.0,
    swing: float = 1.0,
    prompts: float = 1.0,
    answers: float = 1.0,
) -> Recipe:
    """Change a recipe of traffic by what may be otherwise.

    Parameters
    ----------
    recipe : Recipe
        The traffic as it was.
    growth : float
        Factor of the rate, above 0 [1].
    swing : float
        Factor by which the rate of each block lies farther from the mean rate, at least 0; 0 is a
        constant rate. Where that is less than nothing, nothing comes, and the rest is scaled to
        the same total [1].
    prompts, answers : float
        Factors of all lengths, above 0 [1].

    Returns
    -------
    Recipe
        The traffic as it may be.

    Raises
    ------
    TypeError
        If ``recipe`` is no Recipe, or a factor is not a real number.
    ValueError
        If a factor is out of range.

    Examples
    --------
    >>> plain = traffic.recipe("azure-conversation-2023")
    >>> round(varied(plain, growth=2).requests.sum() / plain.requests.sum(), 6)
    2.0
    """
    if not isinstance(recipe, Recipe):
        raise TypeError(f"recipe must be a Recipe, got {recipe!r}")
    names = ("growth", "prompts", "answers")
    grown, longer, more = (
        errors.number(name, value, above=0)
        for name, value in zip(names, (growth, prompts, answers), strict=True)
    )
    wider = errors.number("swing", swing, at_least=0)
    even = recipe.requests.sum() * np.diff(recipe.edges) / (recipe.edges[-1] - recipe.edges[0])
    moving = np.maximum(even + wider * (recipe.requests - even), 0)
    return replace(
        recipe,
        requests=grown * moving * recipe.requests.sum() / moving.sum(),
        inputs=longer * recipe.inputs,
        outputs=more * recipe.outputs,
    )


def size(
    machine: Machine,
    recipe: Recipe,
    promise: Promise,
    growth: float = 1.0,
    swing: float = 1.0,
    prompts: float = 1.0,
    answers: float = 1.0,
    step_ratio: float = 1.0,
    reading_ratio: float = 1.0,
    seed: int = 0,
    parts: int | None = None,
    **rules: Any,
) -> Size:
    """Find the least number of replicas for one case of what is not known.

    Parameters
    ----------
    machine : Machine
        The model on its devices, with its formats.
    recipe : Recipe
        The traffic, drawn anew with ``seed``.
    promise : Promise
        What users are promised.
    growth, swing, prompts, answers : float
        Of the traffic, as `varied` takes them [1].
    step_ratio, reading_ratio : float
        Of the engine, as `replica` takes them [1].
    seed : int
        Seed of the traffic and of its routing, at least 0 [1].
    parts : int, optional
        As of `least` [1].
    **rules
        Slots, utilization and reserve, as of `replica`.

    Returns
    -------
    Size
        The number, or why none is enough.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If an argument is out of range.
    """
    drawn = traffic.synthesise(varied(recipe, growth, swing, prompts, answers), seed)
    one = replica(machine, drawn, promise, step_ratio, reading_ratio, **rules)
    return least(one, drawn, promise, parts, seed)


@dataclass(frozen=True, eq=False)
class Scenarios:
    """Sizes for many cases of what is not known.

    Attributes
    ----------
    drawn : mapping of str to ndarray of shape (n,)
        What was drawn for each unknown [1].
    replicas : ndarray, shape (n,)
        Least number of replicas in each case; ``inf`` where none keeps the promise [1].
    reasons : tuple of str
        Why none does, in those cases.
    """

    drawn: Mapping[str, Array]
    replicas: Array
    reasons: tuple[str, ...]

    def where(self, unknown: str, low: float = 0.0, high: float = math.inf) -> Scenarios:
        """Keep the cases in which an unknown lies in a range, as if it had been measured.

        Parameters
        ----------
        unknown : str
            One that was drawn.
        low, high : float
            Ends of the range, both in it [1].

        Returns
        -------
        Scenarios
            Those cases.

        Raises
        ------
        ValueError
            If it was not drawn, or no case is left.
        """
        if unknown not in self.drawn:
            raise ValueError(f"unknown must be one of {', '.join(self.drawn)}, got {unknown!r}")
        values = self.drawn[unknown]
        inside = (values >= low) & (values <= high)
        if not inside.any():
            raise ValueError(
                f"low = {low!r} and high = {high!r} must leave values of {unknown}, which are "
                f"{values.min():g} to {values.max():g}"
            )
        hopeless = np.isinf(self.replicas)
        told = dict(zip(np.flatnonzero(hopeless).tolist(), self.reasons, strict=True))
        return Scenarios(
            {name: drawn[inside] for name, drawn in self.drawn.items()},
            self.replicas[inside],
            tuple(told[place] for place in np.flatnonzero(inside & hopeless).tolist()),
        )

    def kept(self, replicas: float) -> float:
        """Share of the cases in which a number of replicas is enough.

        Parameters
        ----------
        replicas : float
            The number [1].

        Returns
        -------
        float
            The share [1].

        Raises
        ------
        TypeError
            If the number is not real.
        """
        return float((self.replicas <= errors.number("replicas", replicas)).mean())

    def enough(self, share: float = 0.95) -> float:
        """Least number of replicas that is enough in a share of the cases.

        Parameters
        ----------
        share : float
            The share, above 0 and at most 1 [1].

        Returns
        -------
        float
            The number; ``inf`` if too many cases have none [1].

        Raises
        ------
        TypeError
            If ``share`` is not a real number.
        ValueError
            If it is out of range.
        """
        part = errors.number("share", share, above=0, at_most=1)
        place = math.ceil(round(part * self.replicas.size, 9)) - 1
        return float(np.sort(self.replicas)[place])

    @property
    def reason(self) -> str:
        """What most often makes the promise impossible; empty if it never is."""
        return Counter(self.reasons).most_common(1)[0][0] if self.reasons else ""


def scenarios(
    machine: Machine,
    recipe: Recipe,
    promise: Promise,
    unknowns: Mapping[str, ArrayLike],
    count: int = 200,
    seed: int = 0,
    **rules: Any,
) -> Scenarios:
    """Find the least number of replicas for many draws of what is not known.

    Parameters
    ----------
    machine, recipe, promise : Machine, Recipe, Promise
        As of `size`.
    unknowns : mapping of str to array_like of shape (k,)
        Equally likely values of some of `UNKNOWNS`, drawn independently; the others are 1 [1].
    count : int
        Draws, at least 1; each has traffic of its own [1].
    seed : int
        Seed of the draws, at least 0 [1].
    **rules
        As of `size`.

    Returns
    -------
    Scenarios
        The sizes, and what was drawn.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If an argument is out of range, or an unknown has no name of `UNKNOWNS` or no value.
    """
    known, number = _known(unknowns), errors.integer("count", count, at_least=1)
    first = errors.integer("seed", seed, at_least=0)
    # each unknown has a stream of its own: to know one leaves the others as they were
    names = (*UNKNOWNS, "hour")
    spawned = np.random.SeedSequence(first).spawn(len(names))
    streams = {n: np.random.default_rng(one) for n, one in zip(names, spawned, strict=True)}
    drawn = {name: streams[name].choice(values, number) for name, values in known.items()}
    hours = streams["hour"].integers(0, 2**31, number).tolist()
    found = [
        size(
            *(machine, recipe, promise),
            **{name: float(values[place]) for name, values in drawn.items()},
            seed=hour,
            **rules,
        )
        for place, hour in enumerate(hours)
    ]
    return Scenarios(
        drawn,
        np.array([one.replicas for one in found]),
        tuple(one.reason for one in found if one.reason),
    )


def moved(
    machine: Machine,
    recipe: Recipe,
    promise: Promise,
    unknowns: Mapping[str, ArrayLike],
    share: float = 0.1,
    seed: int = 0,
    **rules: Any,
) -> dict[str, tuple[float, float]]:
    """Move one unknown at a time between its ends, and find the sizes there.

    Parameters
    ----------
    machine, recipe, promise, unknowns : Machine, Recipe, Promise, mapping
        As of `scenarios`; all unknowns but the one that is moved are at their medians.
    share : float
        Share of its values that lies beyond either end, at least 0 and below 0.5 [1].
    seed : int
        Seed of the traffic, at least 0 [1].
    **rules
        As of `size`.

    Returns
    -------
    dict of str to tuple of float
        For each unknown, and for "hour", the traffic drawn anew: replicas at the lower and at the
        upper end, parts of one included, least 1; ``inf`` where none keeps the promise [1].

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If an argument is out of range, or an unknown has no name of `UNKNOWNS` or no value.
    """
    known, part = _known(unknowns), errors.number("share", share, at_least=0)
    if part >= 0.5:
        raise ValueError(f"share must be below 0.5, got {share!r}")
    first = errors.integer("seed", seed, at_least=0)
    middle: dict[str, Any] = {name: float(np.median(values)) for name, values in known.items()}

    def at(hour: int, **changed: float) -> float:
        """Replicas with some unknowns elsewhere."""
        case = {**middle, **changed, **rules}
        return size(machine, recipe, promise, seed=hour, parts=FINE, **case).replicas

    ends = {
        name: tuple(
            at(first, **{name: float(end)}) for end in np.quantile(values, [part, 1 - part])
        )
        for name, values in known.items()
    }
    hours = np.sort([at(first + hour) for hour in range(HOURS)])
    beyond = math.floor(part * HOURS)
    return {**ends, "hour": (float(hours[beyond]), float(hours[-1 - beyond]))}  # type: ignore[dict-item]


def _known(unknowns: Mapping[str, ArrayLike]) -> dict[str, Array]:
    """Values of each unknown, checked."""
    found = {}
    for name, values in unknowns.items():
        if name not in UNKNOWNS:
            raise ValueError(f"unknowns must be some of {', '.join(UNKNOWNS)}, got {name!r}")
        found[name] = errors.array(name, values, at_least=0)
        if found[name].ndim != 1 or not found[name].size:
            raise ValueError(f"{name} must be a list of values, got {values!r}")
    return found
