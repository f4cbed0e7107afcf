"""Closed forms of a server that takes what waits, up to a cap or without one (chapter 7)."""

from __future__ import annotations

from typing import Any

from .._formula import domain_of, formula, stable
from .._generic import almost, minimum
from .sizing import optimal_batch


@formula(
    domain=lambda arrival_rate, empty_probability, t_fixed, t_req: (
        arrival_rate >= 0,
        empty_probability >= 0,
        empty_probability <= 1,
        t_fixed >= 0,
        t_req >= 0,
        stable(arrival_rate * t_req < 1),
    ),
    latex=(
        r"\frac{\lambda_{\text{arr}} T_{\text{fixed}} + p_0}"
        r"{1 - \lambda_{\text{arr}} t_{\text{req}}}"
    ),
    source="here; with a bound in the place of p_0, Inoue 2021",
    chapter=7,
)
def greedy_batch(arrival_rate: Any, empty_probability: Any, t_fixed: Any, t_req: Any) -> Any:
    """Mean size of a greedy batch, by the share of services that leave nobody waiting."""
    return (arrival_rate * t_fixed + empty_probability) / (1 - arrival_rate * t_req)


@formula(
    domain=lambda arrival_rate, greedy_size, t_fixed, t_req: (
        arrival_rate >= 0,
        greedy_size >= 1,
        t_fixed >= 0,
        t_req >= 0,
        stable(arrival_rate * (t_fixed + t_req * greedy_size) <= greedy_size),
    ),
    latex=(
        r"\lambda_{\text{arr}} t_{\text{req}}"
        r" + \frac{\lambda_{\text{arr}} T_{\text{fixed}}}{\bar{B}}"
    ),
    source="here",
    chapter=7,
)
def greedy_busy(arrival_rate: Any, greedy_size: Any, t_fixed: Any, t_req: Any) -> Any:
    """Share of time in which a greedy server works, by the mean size of its batches."""
    return arrival_rate * t_req + arrival_rate * t_fixed / greedy_size


@formula(
    domain=lambda arrival_rate, greedy_size, greedy_square, t_fixed, t_req: (
        arrival_rate > 0,
        greedy_size >= 1,
        greedy_square >= almost(greedy_size**2),
        t_fixed >= 0,
        t_req >= 0,
        stable(arrival_rate * t_req < 1),
    ),
    latex=(
        r"T_{\text{fixed}} + t_{\text{req}}"
        r" + \frac{(1 + 2 \lambda_{\text{arr}} t_{\text{req}})(\overline{B^2} - \bar{B})}"
        r"{2 \lambda_{\text{arr}} \bar{B}}"
    ),
    source="Inoue 2021",
    chapter=7,
)
def greedy_response(
    arrival_rate: Any, greedy_size: Any, greedy_square: Any, t_fixed: Any, t_req: Any
) -> Any:
    """Mean response of a greedy server without a cap, by two moments of its batches."""
    pairs = (greedy_square - greedy_size) / (2 * arrival_rate * greedy_size)
    return t_fixed + t_req + (1 + 2 * arrival_rate * t_req) * pairs


@formula(
    domain=lambda arrival_rate, greedy_size, t_fixed, t_req: (
        arrival_rate >= 0,
        greedy_size >= 1,
        t_fixed >= 0,
        t_req >= 0,
        stable(arrival_rate * t_req < 1),
    ),
    latex=(
        r"T_{\text{fixed}} + t_{\text{req}}"
        r" + \frac{\lambda_{\text{arr}} (1 + 2 \lambda_{\text{arr}} t_{\text{req}})}"
        r"{2 \left(1 - \left(\lambda_{\text{arr}} t_{\text{req}}\right)^2\right)}"
        r" \left(\frac{T_{\text{fixed}}^2}{\bar{B}} + 2 T_{\text{fixed}} t_{\text{req}}"
        r" + t_{\text{req}}^2\right)"
    ),
    source="here; after Inoue 2021",
    chapter=7,
)
def greedy_response_by_size(arrival_rate: Any, greedy_size: Any, t_fixed: Any, t_req: Any) -> Any:
    """Mean response of a greedy server without a cap, by the mean size of its batches."""
    load = arrival_rate * t_req
    square = t_fixed**2 / greedy_size + 2 * t_fixed * t_req + t_req**2
    return t_fixed + t_req + arrival_rate * (1 + 2 * load) * square / (2 * (1 - load**2))


@formula(
    domain=domain_of(optimal_batch),
    latex=(
        r"T_{\text{fixed}} + t_{\text{req}}"
        r" + \frac{\lambda_{\text{arr}} (1 + 2 \lambda_{\text{arr}} t_{\text{req}})"
        r" (T_{\text{fixed}} + t_{\text{req}})^2}"
        r"{2 \left(1 - \left(\lambda_{\text{arr}} t_{\text{req}}\right)^2\right)}"
    ),
    source="Inoue 2021",
    chapter=7,
)
def greedy_light_bound(arrival_rate: Any, t_fixed: Any, t_req: Any) -> Any:
    """Bound of the mean response of a greedy server without a cap, close in light traffic."""
    load, alone = arrival_rate * t_req, t_fixed + t_req
    return alone + arrival_rate * (1 + 2 * load) * alone**2 / (2 * (1 - load**2))


@formula(
    domain=domain_of(optimal_batch),
    latex=(
        r"\left(1 + \frac{1}{2}\right)"
        r" \frac{T_{\text{fixed}}}{1 - \lambda_{\text{arr}} t_{\text{req}}}"
        r" + \frac{t_{\text{req}} (2 + \lambda_{\text{arr}} t_{\text{req}})}"
        r"{2 \left(1 - \left(\lambda_{\text{arr}} t_{\text{req}}\right)^2\right)}"
    ),
    source="Inoue 2021",
    chapter=7,
)
def greedy_busy_bound(arrival_rate: Any, t_fixed: Any, t_req: Any) -> Any:
    """Bound of the mean response of a greedy server without a cap, close where it is busy."""
    load = arrival_rate * t_req
    return 3 * t_fixed / (2 * (1 - load)) + t_req * (2 + load) / (2 * (1 - load**2))


@formula(
    domain=domain_of(optimal_batch),
    latex=r"\min(\varphi_0, \varphi_1)",
    source="Inoue 2021",
    chapter=7,
)
def greedy_bound(arrival_rate: Any, t_fixed: Any, t_req: Any) -> Any:
    """Bound of the mean response of a greedy server without a cap: the smaller of the two."""
    service = (t_fixed, t_req)
    return minimum(
        greedy_light_bound(arrival_rate, *service), greedy_busy_bound(arrival_rate, *service)
    )
