"""The source's five steps as one function, with its gaps filled.

1. How long a batch takes is given, or fitted to measurements. 2. The least stable batch is found
exactly. 3. Candidates are the whole sizes from there to what memory allows. 4. The tail of the
response time follows by a rule, and the rule's condition is said. 5. Of the candidates that meet
the limit, two are named: the one that answers soonest and the largest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from . import errors, fixed, formulas, surrogate
from .errors import UnstableError
from .service import LinearService

MOST = 2000
"""More candidates are not tried."""
RULES = {
    "simulated": "batches of exactly B, Poisson arrivals, one server: drawn at random",
    "gaussian": "holds if response times are Gaussian; those of queues lean to the right",
    "exponential": "holds if response times are exponential; those of full batches are not",
    "measured": "holds for the traffic that was measured",
}
"""The rules for the tail, and what each rests on."""
MEANS = ("simulated", "surrogate")


@dataclass(frozen=True)
class Decision:
    """What the five steps find.

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
        Mean response time of each [s].
    tail : ndarray, shape (n,)
        Step 4: percentile of the response time of each [s].
    tail_error : ndarray, shape (n,)
        Its standard error if the tail itself was simulated, else 0 [s].
    condition : str
        What the rule for the tail rests on.
    feasible : ndarray, shape (n,)
        Step 5: whether each candidate meets the limit [1].
    uncertain : ndarray, shape (n,)
        Whether the tail is within three standard errors of the limit [1].
    fastest : int or None
        The feasible candidate of least mean, None if there is none [requests].
    largest : int or None
        The largest feasible candidate, None if there is none [requests].
    enough : float
        Least limit that a candidate meets [s].
    reason : str
        The choice in words.
    """

    service: LinearService
    least: int
    batches: NDArray[np.int64]
    utilization: NDArray[np.float64]
    mean: NDArray[np.float64]
    tail: NDArray[np.float64]
    tail_error: NDArray[np.float64]
    condition: str
    feasible: NDArray[np.bool_]
    uncertain: NDArray[np.bool_]
    fastest: int | None
    largest: int | None
    enough: float
    reason: str


def decide(
    arrival_rate: float,
    service: LinearService | tuple[ArrayLike, ArrayLike],
    slo: float,
    max_batch: int,
    rule: str = "simulated",
    mean: str = "simulated",
    std: ArrayLike | str | Callable[[NDArray[np.int64]], ArrayLike] = "simulated",
    percentiles: Mapping[int, float] | tuple[()] = (),
    quantile: float = 0.99,
    requests: int = 200_000,
    seed: int = 0,
) -> Decision:
    """Choose a fixed batch size under a limit on a percentile of the response time.

    Parameters
    ----------
    arrival_rate : float
        Arrival rate, above 0 [requests/s].
    service : LinearService or tuple
        How long a batch takes, or measured batch sizes and times to fit it to.
    slo : float
        Limit on the percentile, above 0 [s].
    max_batch : int
        Largest candidate, such as what memory allows, at least 1 [requests].
    rule : str
        Where the percentile comes from: ``"simulated"``, ``"gaussian"``, ``"exponential"`` or
        ``"measured"``.
    mean : str
        Where the mean comes from: ``"simulated"``, or ``"surrogate"`` as in the source.
    std : float, array_like or callable
        For the Gaussian rule: standard deviation of the response time, one for all, one for
        each candidate, or a function of the candidates; ``"simulated"`` draws it [s].
    percentiles : mapping of int to float
        For the measured rule: percentile by batch size, which are then the candidates [s].
    quantile : float
        Share of the requests that must be in time, at least 0.5 and below 1 [1].
    requests : int
        Length of the simulation, at least 200 times the largest candidate [requests].
    seed : int
        Start of its random numbers, at least 0 [1].

    Returns
    -------
    Decision
        The candidates with their means and tails, both choices, and reasons in words.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    UnstableError
        If no batch size up to ``max_batch`` keeps up with the arrivals.
    ValueError
        If an argument is out of range or given for another rule.

    Notes
    -----
    Source: Reddi et al., Inference Foundations, section on the choice of a batch; chapter 14.

    Examples
    --------
    >>> gpt3 = LinearService(t_fixed=0.050, t_req=0.0005)
    >>> found = decide(100, gpt3, slo=0.200, max_batch=30)
    >>> found.fastest, found.largest
    (7, 10)
    >>> decide(100, gpt3, slo=0.200, max_batch=30, rule="exponential").fastest is None
    True
    """
    served = _service(service)
    limit = errors.number("slo", slo, above=0)
    _share(quantile)
    _one_of("rule", rule, RULES)
    _one_of("mean", mean, MEANS)
    length = errors.integer("requests", requests, at_least=1)
    start = errors.integer("seed", seed, at_least=0)
    measured = _percentiles(percentiles, rule)
    least, batches = _candidates(arrival_rate, served, max_batch, measured)
    deviation = _deviation(std, rule, batches)

    @cache
    def drawn() -> fixed.Responses:
        """Simulate once, and only if something needs it."""
        return fixed.simulate(arrival_rate, batches, served, quantile, length, start)

    def means() -> NDArray[np.float64]:
        """Mean response times by the method asked for."""
        if mean == "simulated":
            return drawn().mean
        total: NDArray[np.float64] = surrogate.response(arrival_rate, batches, served).total
        return total

    def gaussian() -> Any:
        """Percentiles, if response times were Gaussian."""
        spread = drawn().std if deviation is None else deviation
        z = float(special.ndtri(float(quantile)))
        return formulas.value(formulas.gaussian_tail, means(), z, spread)

    tails: dict[str, Callable[[], Any]] = {
        "simulated": lambda: drawn().tail,
        "gaussian": gaussian,
        "exponential": lambda: formulas.value(formulas.exponential_tail, means(), quantile),
        "measured": lambda: np.array([measured[size] for size in batches.tolist()]),
    }
    error = drawn().tail_error if rule == "simulated" else np.zeros(batches.size)
    queue = (arrival_rate, batches, served.t_fixed, served.t_req)
    return Decision(
        service=served,
        least=least,
        batches=batches,
        utilization=formulas.value(formulas.utilization, *queue),
        condition=RULES[rule],
        **_choice(batches, means(), tails[rule](), error, limit),
    )


def _choice(
    batches: NDArray[np.int64],
    mean: NDArray[np.float64],
    tail: NDArray[np.float64],
    tail_error: NDArray[np.float64],
    slo: float,
) -> dict[str, Any]:
    """Step 5: who meets the limit, the soonest and the largest of them, and why."""
    feasible = tail <= slo
    uncertain = (np.abs(tail - slo) < 3 * tail_error) & (tail_error > 0)
    best, enough = batches[tail.argmin()], float(tail.min())
    if feasible.any():
        inside = batches[feasible]
        fastest = int(inside[mean[feasible].argmin()])
        largest = int(inside.max())
        reason = (
            f"{inside.size} of {batches.size} candidates meet the limit of {slo:.6g} s: "
            f"B = {fastest} answers soonest, B = {largest} leaves most capacity"
        )
    else:
        fastest = largest = None
        reason = (
            f"none of {batches.size} candidates meets the limit of {slo:.6g} s: "
            f"B = {best} comes nearest, and {enough:.6g} s would be enough for it"
        )
    if uncertain.any():
        sizes = ", ".join(map(str, batches[uncertain]))
        reason += f"; too close for this simulation to tell: B = {sizes}"
    return {
        "mean": mean,
        "tail": tail,
        "tail_error": tail_error,
        "feasible": feasible,
        "uncertain": uncertain,
        "fastest": fastest,
        "largest": largest,
        "enough": enough,
        "reason": reason,
    }


def _service(service: Any) -> LinearService:
    if isinstance(service, LinearService):
        return service
    if isinstance(service, tuple) and len(service) == 2:
        return LinearService.fit(*service)
    raise TypeError(f"service must be a LinearService or (batches, times), got {service!r}")


def _one_of(name: str, value: Any, allowed: Iterable[str]) -> None:
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")


def _share(quantile: Any) -> None:
    errors.number("quantile", quantile, at_least=0.5)
    if errors.exact("quantile", quantile) >= 1:
        raise ValueError(f"quantile must be less than 1, got {quantile!r}")


def _percentiles(percentiles: Any, rule: str) -> dict[int, float]:
    if isinstance(percentiles, tuple) and not percentiles:
        if rule == "measured":
            raise ValueError("percentiles must be given for rule = 'measured', got ()")
        return {}
    if not isinstance(percentiles, Mapping):
        raise TypeError(f"percentiles must map batch sizes to times, got {percentiles!r}")
    if not percentiles or rule != "measured":
        raise ValueError(f"percentiles must be {{size: time, ...}} with rule = 'measured', "
                         f"got {percentiles!r} with rule = {rule!r}")  # fmt: skip
    return {
        errors.integer("percentiles: size", size, at_least=1): errors.number(
            f"percentiles[{size}]", time, above=0
        )
        for size, time in percentiles.items()
    }


def _candidates(
    arrival_rate: float, service: LinearService, max_batch: int, measured: Mapping[int, float]
) -> tuple[int, NDArray[np.int64]]:
    """Steps 2 and 3: the least stable batch, and the sizes from there on."""
    errors.number("arrival_rate", arrival_rate, above=0)
    least = service.min_batch(arrival_rate)
    most = errors.integer("max_batch", max_batch, at_least=1)
    if most < least:
        raise UnstableError(
            f"max_batch must be at least {least}, the least stable batch at arrival_rate = "
            f"{arrival_rate!r}, got {max_batch!r}"
        )
    if measured:
        sizes = sorted(size for size in measured if least <= size <= most)
        if not sizes:
            raise UnstableError(
                f"percentiles must hold a size from {least}, the least stable one, to "
                f"max_batch = {most}, got {sorted(measured)}"
            )
        return least, np.array(sizes, dtype=np.int64)
    if most - least >= MOST or most > 2**53:
        raise ValueError(
            f"max_batch must be less than {least} + {MOST}, so that no more candidates are "
            f"tried, got {max_batch!r}"
        )
    return least, np.arange(least, most + 1)


def _deviation(std: Any, rule: str, batches: NDArray[np.int64]) -> NDArray[np.float64] | None:
    if isinstance(std, str):
        _one_of("std", std, ("simulated",))
        return None
    given = errors.array("std", std(batches) if callable(std) else std, at_least=0)
    if given.shape not in ((), batches.shape):
        raise ValueError(
            f"std must be one number or one for each of {batches.size} candidates, got shape "
            f"{given.shape}"
        )
    if rule != "gaussian":
        raise ValueError(f"std must be left out unless rule = 'gaussian', got {std!r}")
    return np.broadcast_to(given, batches.shape)
