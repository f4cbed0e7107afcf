"""Speculative decoding in an engine with continuous batching: theory, and steps played out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from . import errors, formulas
from .errors import UnstableError

SHORTEST, LONGEST = 1e-9, 1e6
"""Bounds of the time a step may take for whatever part [s]."""
DEEPEST = 64
"""Most tokens that may be drafted in a step."""
MOST_RUNNING = 10**5
"""Mean number of running sequences beyond which the states are too many to add up."""
MOST_TOKENS = 10**11
"""Tokens of a played run: more would take hours."""
PARTS, WARM_UP = 30, 2
"""Parts of a played run that its interval compares, and parts before them."""


@dataclass(frozen=True)
class Speculator:
    """What a step costs and yields by the number of sequences and of drafted tokens.

    Parameters
    ----------
    step_fixed : float
        Time a step takes whatever runs, at least 1e-9 [s].
    step_per_sequence : float
        Time each running sequence adds to a step, at least 1e-9 [s].
    draft_token_time : float
        Time that drafting one token for all sequences adds to a step, at least 0 [s].
    acceptance : float or sequence of float
        Chance that a drafted token is accepted, if those before it were: above 0 and below 1, the
        same for all requests, or one for each of several equally frequent kinds of request [1].
    repeat_share : float
        Share of ``step_per_sequence`` that each drafted token costs again, 0 to 1 [1].

    Raises
    ------
    TypeError
        If an argument is not a real number.
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> engine = Speculator(0.020, 0.00025, 0.00075, 0.7)
    >>> engine.depths(100)[[0, 9, 49, 99]]
    array([6, 3, 1, 1])
    >>> round(engine.response(8, 200, 4), 2), round(engine.response(8, 200, 0), 2)
    (6.27, 6.75)
    """

    step_fixed: float
    step_per_sequence: float
    draft_token_time: float
    acceptance: float | Sequence[float]
    repeat_share: float = 1.0

    def __post_init__(self) -> None:
        for name in ("step_fixed", "step_per_sequence"):
            _keep(self, name, errors.number(name, getattr(self, name), **_TIME))
        draft = errors.number(
            "draft_token_time", self.draft_token_time, at_least=0, at_most=LONGEST
        )
        _keep(self, "draft_token_time", draft)
        chances = errors.array("acceptance", self.acceptance, at_least=0)
        if chances.ndim > 1 or chances.size == 0 or chances.min() <= 0 or chances.max() >= 1:
            raise ValueError(f"acceptance must be above 0 and below 1, got {self.acceptance!r}")
        _keep(self, "acceptance", tuple(chances.ravel().tolist()))
        share = errors.number("repeat_share", self.repeat_share, at_least=0, at_most=1)
        _keep(self, "repeat_share", share)

    def depths(self, running: int, deepest: int = 16) -> NDArray[np.int64]:
        """Drafted tokens that serve each number of running sequences fastest.

        Parameters
        ----------
        running : int
            Largest number of running sequences looked at, 1 to 100000 [requests].
        deepest : int
            Most tokens that may be drafted, 0 to 64 [tokens].

        Returns
        -------
        ndarray, shape (running,)
            For 1, 2, ... running sequences; 0 where it is best not to speculate [tokens].

        Raises
        ------
        TypeError
            If an argument is not a real number.
        ValueError
            If an argument is out of range.
        """
        most = errors.integer("running", running, at_least=1)
        errors.number("running", running, at_most=MOST_RUNNING)
        last = _depth("deepest", deepest)
        sizes = np.arange(1, most + 1)
        costs = np.array([self._token_time(depth, sizes) for depth in range(last + 1)])
        return np.asarray(costs.argmin(axis=0), dtype=np.int64)

    def response(
        self, arrival_rate: float, output_tokens: float, depths: int | Sequence[int]
    ) -> float:
        """Mean response under Poisson arrivals, in the fluid limit.

        Parameters
        ----------
        arrival_rate : float
            Arrival rate, above 0 [requests/s].
        output_tokens : float
            Mean tokens of an answer, at least 1 [tokens].
        depths : int or sequence of int
            Tokens drafted in a step, always or when 1, 2, ... sequences run; the last one holds
            for all larger numbers [tokens].

        Returns
        -------
        float
            Mean time from arrival to the last token [s].

        Raises
        ------
        TypeError
            If an argument is not a real number.
        UnstableError
            If requests arrive faster than they can be answered.
        ValueError
            If an argument is out of range, or more than 100000 sequences would run.

        Notes
        -----
        The number of running sequences has a product form: shares of time go like the product
        of arrival rate times answer times g(k)/k, with g(k) the time of a step over the tokens
        it yields each sequence. Prompts, memory and the wait for the next step are left out.
        """
        load, plan = self._checked(arrival_rate, output_tokens, depths)
        states = 2 * plan.size + 64
        while True:
            sizes = np.arange(1, states + 1)
            depth = plan[np.minimum(sizes, plan.size) - 1]
            ratios = load * self._token_time(depth, sizes) / sizes
            logs = np.concatenate([[0.0], np.cumsum(np.log(ratios))])
            logs -= logs.max()
            shares = np.exp(logs)
            if ratios[-1] < 1 and shares[-1] * states < 1e-15 * (1 - ratios[-1]) ** 2:
                break
            states *= 2
            if states > 100 * MOST_RUNNING:
                raise ValueError(f"arrival_rate = {arrival_rate!r} is too near capacity")
        running = float(shares[1:] @ sizes / shares.sum())
        return running / float(arrival_rate)

    def _checked(
        self, arrival_rate: Any, output_tokens: Any, depths: Any
    ) -> tuple[float, NDArray[np.int64]]:
        """Tokens that are asked for in a second, and the depths as an array."""
        rate = errors.number("arrival_rate", arrival_rate, above=0)
        answer = errors.number("output_tokens", output_tokens, at_least=1, at_most=1e9)
        if errors.is_scalar(depths):
            plan = np.array([_depth("depths", depths)])
        else:
            plan = np.array([_depth("depths", depth) for depth in depths], dtype=np.int64)
        if not 1 <= plan.size <= MOST_RUNNING:
            raise ValueError(f"depths must have 1 to {MOST_RUNNING} entries, got {plan.size}")
        fixed, each = self._line(plan[-1:])
        gain = float(self._yield(plan[-1:])[0])
        limit = formulas.value(formulas.speculative_capacity, answer, float(each[0]), gain)
        if rate >= limit:
            raise UnstableError(
                f"arrival_rate must be below {limit:.6g} requests/s at depths = {plan[-1]} and "
                f"output_tokens = {output_tokens!r}, got {arrival_rate!r}"
            )
        below = self._token_time(plan, np.arange(1, plan.size + 1)).max()
        typical = rate * answer * (below + float(fixed[0]) / gain) / (1 - rate / limit)
        if typical > MOST_RUNNING or rate * answer * below < 1e-200:
            raise ValueError(
                f"arrival_rate must leave at most {MOST_RUNNING} sequences running, and not "
                f"next to none, got {arrival_rate!r}"
            )
        return rate * answer, plan

    def _line(self, depths: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Time of a step with no sequence, and what each adds, by drafted tokens."""
        fixed = self.step_fixed + self.draft_token_time * depths
        return fixed, self.step_per_sequence * (1 + self.repeat_share * depths)

    def _yield(self, depths: NDArray[Any]) -> NDArray[Any]:
        """Mean tokens of a step: over the steps, in which slow kinds of request have more."""
        chances: Any = self.acceptance
        each = [formulas.curve(formulas.chain_yield, chance, depths) for chance in chances]
        return np.asarray(1 / np.mean(1 / np.array(each), axis=0))

    def _token_time(self, depths: Any, sizes: NDArray[Any]) -> NDArray[Any]:
        fixed, each = self._line(np.asarray(depths))
        return np.asarray((fixed + each * sizes) / self._yield(np.asarray(depths, dtype=float)))


@dataclass(frozen=True)
class Played:
    """What was seen in a played run.

    Attributes
    ----------
    requests : int
        Requests answered after the warm-up [requests].
    mean : float
        Mean time from arrival to the end of the step of the last token [s].
    half_width : float
        Half of the 95 % interval of that mean, by the means of 30 parts [s].
    mean_running : float
        Mean number of running sequences over time [requests].
    mean_yield : float
        Mean tokens that a step added to a sequence [tokens].
    """

    requests: int
    mean: float
    half_width: float
    mean_running: float
    mean_yield: float


def play(
    speculator: Speculator,
    arrival_rate: float,
    output_tokens: float,
    depths: int | Sequence[int],
    geometric: bool = False,
    requests: int = 100_000,
    seed: int = 0,
) -> Played:
    """Play the steps of an engine one by one, each sequence accepting and rejecting by chance.

    Parameters
    ----------
    speculator : Speculator
        What a step costs and yields.
    arrival_rate : float
        Rate of Poisson arrivals, above 0 [requests/s].
    output_tokens : float
        Tokens of an answer, at least 1: each has so many, rounded up, or their mean [tokens].
    depths : int or sequence of int
        Tokens drafted in a step, always or when 1, 2, ... sequences run; the last one holds for
        all larger numbers [tokens].
    geometric : bool
        Whether answers end after each token with the same chance, instead of all alike.
    requests : int
        Requests to answer, at least 64 [requests].
    seed : int
        Seed of the random numbers, at least 0 [1].

    Returns
    -------
    Played
        What was seen.

    Raises
    ------
    TypeError
        If an argument is of a wrong type.
    UnstableError
        If requests arrive faster than they can be answered.
    ValueError
        If an argument is out of range, or the run is too short to measure anything.

    Notes
    -----
    A request joins at the start of a step and leaves at the end of one. There is no prompt, and
    room for all. What is drafted beyond the end of an answer is lost.

    Examples
    --------
    >>> engine = Speculator(0.020, 0.00025, 0.00075, 0.7)
    >>> run = play(engine, 4, 200, 4, requests=10_000)
    >>> round(run.mean_yield, 2)
    2.75
    """
    from . import _speculation  # here, for numba takes its time to import

    if not isinstance(speculator, Speculator):
        raise TypeError(f"speculator must be a Speculator, got {speculator!r}")
    if not isinstance(geometric, (bool, np.bool_)):
        raise TypeError(f"geometric must be True or False, got {geometric!r}")
    load, plan = speculator._checked(arrival_rate, output_tokens, depths)
    count = errors.integer("requests", requests, at_least=2 * (PARTS + WARM_UP))
    if count * load / arrival_rate > MOST_TOKENS:
        raise ValueError(
            f"requests must be at most {MOST_TOKENS} / output_tokens, got {requests!r} with "
            f"output_tokens = {output_tokens!r}"
        )
    rng = np.random.default_rng(errors.integer("seed", seed, at_least=0))
    chances: Any = speculator.acceptance
    kept = np.cumprod(np.tile(np.array(chances)[:, None], (1, DEEPEST)), axis=1)
    fixed, each = speculator._line(plan)
    length = count // (PARTS + WARM_UP)
    sums, moments = np.zeros(PARTS + WARM_UP), np.zeros(4)
    answer = float(output_tokens)
    counts = (length, WARM_UP, sums, moments)
    _speculation.play(rng, load / answer, answer, bool(geometric), kept, plan, fixed, each, *counts)
    means = sums[WARM_UP:] / length
    student = -float(special.stdtrit(PARTS - 1, 0.025))
    half = student * float(means.std(ddof=1)) / math.sqrt(PARTS)
    elapsed, area, steps, tokens = moments.tolist()
    if steps == 0:
        raise ValueError(f"requests = {requests!r} is too few: all of them ran at the same time")
    return Played(PARTS * length, float(means.mean()), half, area / elapsed, tokens / steps)


_TIME = {"at_least": SHORTEST, "at_most": LONGEST}


def _keep(thing: Any, name: str, value: Any) -> None:
    object.__setattr__(thing, name, value)


def _depth(name: str, value: Any) -> int:
    depth = errors.integer(name, value, at_least=0)
    if depth > DEEPEST:
        raise ValueError(f"{name} must be at most {DEEPEST}, got {value!r}")
    return depth
