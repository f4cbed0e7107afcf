"""The source's five steps as one function, decided on exact percentiles.

1. How long a batch takes is given, or fitted to measurements. 2. The least stable batch is found
exactly. 3. Candidates are the whole sizes from there to what memory allows. 4. The percentile of
the response time is computed exactly, or was measured. 5. Of the candidates that meet the limit,
two are named: the one that answers soonest and the largest. The source stops there; here a server
that takes what waits is tried as well, and one policy is recommended. What the source's rules of
thumb make of the same candidates stands beside the decision and has no part in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from . import errors, formulas
from ._walk import CLOSEST
from .errors import UnstableError
from .exact import LARGEST_CAP, FixedBatchQueue, GreedyQueue
from .policies import Fixed, Greedy
from .service import LinearService

EXACT = "exact for Poisson arrivals, one server and batch times that depend on the size alone"
MEASURED = "holds for the traffic that was measured"
RULES = {
    "gaussian": "rule of thumb: holds if response times are Gaussian; those of queues lean right",
    "exponential": "rule of thumb: holds if response times are exponential; those of batches are "
    "not",
}
"""The source's rules for a percentile, and what each rests on."""


@dataclass(frozen=True)
class Rule:
    """What a rule of thumb makes of the candidates, to compare with.

    Attributes
    ----------
    condition : str
        What it rests on.
    tail : ndarray, shape (n,)
        Percentile of the response time of each by this rule [s].
    feasible : ndarray, shape (n,)
        Whether that meets the limit [1].
    """

    condition: str
    tail: NDArray[np.float64]
    feasible: NDArray[np.bool_]


@dataclass(frozen=True)
class Decision:
    """What the five steps find, and which policy to run.

    Attributes
    ----------
    service : LinearService
        Step 1: how long a batch takes.
    least : int
        Step 2: the least stable batch size [requests].
    batches : ndarray, shape (n,)
        Step 3: the candidates [requests].
    utilization : ndarray, shape (n,)
        Load over capacity of each [1].
    mean : ndarray, shape (n,)
        Exact mean response time of each [s].
    tail : ndarray, shape (n,)
        Step 4: percentile of the response time of each, exact or as measured [s].
    condition : str
        What that percentile rests on.
    feasible : ndarray, shape (n,)
        Step 5: whether each candidate meets the limit [1].
    fastest : int or None
        The feasible candidate of least mean, None if there is none [requests].
    largest : int or None
        The largest feasible candidate, None if there is none [requests].
    greedy : GreedyQueue
        The server that takes what waits, up to the cap.
    greedy_tail : float
        Its exact percentile [s].
    policy : Greedy or Fixed or None
        Of what meets the limit, the policy of least mean with its cap or its batch size; None
        if nothing meets it.
    enough : float
        Least limit that either policy meets [s].
    reason : str
        The recommendation in words.
    rules : dict of str to Rule
        Rules of thumb by name, ``"gaussian"`` and ``"exponential"``: comparisons only.
    """

    service: LinearService
    least: int
    batches: NDArray[np.int64]
    utilization: NDArray[np.float64]
    mean: NDArray[np.float64]
    tail: NDArray[np.float64]
    condition: str
    feasible: NDArray[np.bool_]
    fastest: int | None
    largest: int | None
    greedy: GreedyQueue
    greedy_tail: float
    policy: Greedy | Fixed | None
    enough: float
    reason: str
    rules: dict[str, Rule]


def decide(
    arrival_rate: float,
    service: LinearService | tuple[ArrayLike, ArrayLike],
    slo: float,
    max_batch: int,
    quantile: float = 0.99,
    percentiles: Mapping[int, float] | tuple[()] = (),
    std: ArrayLike | None = None,
) -> Decision:
    """Choose a policy and a batch size under a limit on a percentile of the response time.

    Parameters
    ----------
    arrival_rate : float
        Arrival rate, above 0 [requests/s].
    service : LinearService or tuple
        How long a batch takes, or measured batch sizes and times to fit it to.
    slo : float
        Limit on the percentile, above 0 [s].
    max_batch : int
        Largest batch, such as what memory allows, from 1 to 512 [requests].
    quantile : float
        Share of the requests that must be in time, at least 0.5 and below 1 [1].
    percentiles : mapping of int to float
        Measured percentiles by size of fixed batches, which are then the candidates [s].
    std : float, array_like or None
        For the Gaussian rule of thumb: standard deviation of the response time, one for all
        or one for each candidate; None for the exact ones [s].

    Returns
    -------
    Decision
        The candidates with their means and percentiles, both choices of a fixed size, the
        recommended policy, and reasons in words.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    UnstableError
        If no batch size up to ``max_batch`` keeps up with the arrivals.
    ValueError
        If an argument is out of range.

    Notes
    -----
    A size that leaves less than 1e-5 of its capacity is stable but no candidate. Several hundred
    candidates take seconds. Source: Reddi et al., Inference Foundations, section on the choice of
    a batch, for the steps and the rules; `serving.exact` for the percentiles; chapter 14.

    Examples
    --------
    >>> gpt3 = LinearService(t_fixed=0.050, t_req=0.0005)
    >>> found = decide(100, gpt3, slo=0.200, max_batch=30)
    >>> found.fastest, found.largest, found.policy
    (7, 10, Greedy(max_batch=30))
    >>> print(found.reason.partition(", against")[0])
    take what waits, cap 30: P99 106.1 ms, mean 79.43 ms
    >>> found.batches[found.rules["gaussian"].feasible].tolist()
    [6, 7, 8, 9, 10, 11]
    """
    served = _service(service)
    limit = errors.number("slo", slo, above=0)
    share = errors.number("quantile", quantile, at_least=0.5)
    if share >= 1:
        raise ValueError(f"quantile must be less than 1, got {quantile!r}")
    measured = _percentiles(percentiles)
    least, cap, batches = _candidates(arrival_rate, served, max_batch, measured)
    deviation = None if std is None else _deviation(std, batches)
    queues = [FixedBatchQueue(arrival_rate, size, served) for size in batches.tolist()]
    mean = np.array([queue.mean for queue in queues])
    if deviation is None:
        deviation = np.array([queue.std for queue in queues])
    tail = np.array(
        [measured[size] for size in batches.tolist()]
        if measured
        else [queue.quantile(share) for queue in queues]
    )
    greedy = GreedyQueue(arrival_rate, cap, served)
    late = greedy.quantile(share)
    z = float(special.ndtri(share))
    tails = {
        "gaussian": formulas.value(formulas.gaussian_tail, mean, z, deviation),
        "exponential": formulas.value(formulas.exponential_tail, mean, share),
    }
    parts = (arrival_rate, batches, served.t_fixed, served.t_req)
    return Decision(
        service=served,
        least=least,
        batches=batches,
        utilization=formulas.value(formulas.utilization, *parts),
        mean=mean,
        tail=tail,
        condition=MEASURED if measured else EXACT,
        greedy=greedy,
        greedy_tail=late,
        enough=min(late, float(tail.min())),
        rules={name: Rule(RULES[name], one, one <= limit) for name, one in tails.items()},
        **_choice(batches, mean, tail, limit, greedy, late, f"P{100 * share:.6g}"),
    )


def _choice(
    batches: NDArray[np.int64],
    mean: NDArray[np.float64],
    tail: NDArray[np.float64],
    slo: float,
    greedy: GreedyQueue,
    late: float,
    name: str,
) -> dict[str, Any]:
    """Step 5: which sizes meet the limit, which policy to run, and why."""
    feasible = tail <= slo
    rank = np.where(feasible, mean, np.inf) if feasible.any() else tail
    best = int(rank.argmin())
    fastest = int(batches[best]) if feasible.any() else None
    largest = int(batches[feasible].max()) if feasible.any() else None
    waiting = f"take what waits, cap {greedy.max_batch}", late, greedy.mean
    filling = f"fill batches of {batches[best]}", float(tail[best]), float(mean[best])
    tie = 1 + 1e-9  # a cap of 1 is both policies, but for the last digits
    policy: Greedy | Fixed | None = None
    if late <= slo and (fastest is None or greedy.mean <= tie * mean[best]):
        policy = Greedy(greedy.max_batch)
    elif fastest is not None:
        policy = Fixed(fastest)
    soonest = late <= tie * tail[best] if policy is None else isinstance(policy, Greedy)
    first, other = (waiting, filling) if soonest else (filling, waiting)
    words = (
        f"{first[0]}: {name} {_time(first[1])}, mean {_time(first[2])}, against "
        f"{_time(other[1])} and {_time(other[2])} if you {other[0]}"
    )
    if policy is None:
        words = f"nothing meets {_time(slo)}, and {_time(first[1])} would be enough: {words}"
    count = int(feasible.sum())
    sizes = f"{count} of {batches.size} fixed batches within {_time(slo)}"
    if count == 1:
        sizes += f": B = {fastest}"
    elif count:
        sizes += f": B = {fastest} answers soonest, B = {largest} leaves most capacity"
    return {
        "feasible": feasible,
        "fastest": fastest,
        "largest": largest,
        "policy": policy,
        "reason": f"{words}; {sizes}",
    }


def _time(seconds: float) -> str:
    """Write a time for people."""
    return f"{seconds:.4g} s" if seconds >= 1 else f"{1000 * seconds:.4g} ms"


def _service(service: Any) -> LinearService:
    if isinstance(service, LinearService):
        return service
    if isinstance(service, tuple) and len(service) == 2:
        return LinearService.fit(*service)
    raise TypeError(f"service must be a LinearService or (batches, times), got {service!r}")


def _percentiles(percentiles: Any) -> dict[int, float]:
    if isinstance(percentiles, tuple) and not percentiles:
        return {}
    if not isinstance(percentiles, Mapping):
        raise TypeError(f"percentiles must map batch sizes to times, got {percentiles!r}")
    if not percentiles:
        raise ValueError(f"percentiles must hold a size and its time, got {percentiles!r}")
    return {
        errors.integer("percentiles: size", size, at_least=1): errors.number(
            f"percentiles[{size}]", time, above=0
        )
        for size, time in percentiles.items()
    }


def _candidates(
    arrival_rate: float, service: LinearService, max_batch: int, measured: Mapping[int, float]
) -> tuple[int, int, NDArray[np.int64]]:
    """Steps 2 and 3: the least stable batch, the cap, and the sizes to try."""
    errors.number("arrival_rate", arrival_rate, above=0)
    least = service.min_batch(arrival_rate)
    first = service.min_batch(arrival_rate, 1 - CLOSEST)
    cap = errors.integer("max_batch", max_batch, at_least=1)
    errors.number("max_batch", max_batch, at_most=LARGEST_CAP)
    if cap < first:
        raise UnstableError(
            f"max_batch must be at least {first} to keep up with arrival_rate = "
            f"{arrival_rate!r}, got {max_batch!r}"
        )
    sizes = sorted(size for size in measured if first <= size <= cap)
    if measured and not sizes:
        raise ValueError(
            f"percentiles must hold a size from {first}, the least that keeps up, to "
            f"max_batch = {cap}, got {sorted(measured)}"
        )
    return least, cap, np.array(sizes or range(first, cap + 1), dtype=np.int64)


def _deviation(std: Any, batches: NDArray[np.int64]) -> NDArray[np.float64]:
    given = errors.array("std", std, at_least=0)
    if given.shape not in ((), batches.shape):
        raise ValueError(
            f"std must be one number or one for each of {batches.size} candidates, got shape "
            f"{given.shape}"
        )
    return np.broadcast_to(given, batches.shape)
