"""Closed forms of choosing a batch size (chapter 5)."""

from __future__ import annotations

from typing import Any

from .._formula import formula, stable
from .._generic import sqrt
from .batches import batch_time


@formula(
    domain=lambda arrival_rate, batch, t_fixed, t_req: (
        arrival_rate >= 0,
        batch >= 1,
        t_fixed >= 0,
        t_req >= 0,
    ),
    latex=r"\frac{\lambda_{\text{arr}} (T_{\text{fixed}} + t_{\text{req}} B)}{B}",
    source="Kleinrock 1975, ch. 2",
    chapter=5,
)
def utilization(arrival_rate: Any, batch: Any, t_fixed: Any, t_req: Any) -> Any:
    """Load over capacity at a batch size; over one means that work piles up."""
    return arrival_rate * batch_time(batch, t_fixed, t_req) / batch


@formula(
    domain=lambda arrival_rate, batch: (arrival_rate >= 0, batch >= 1),
    latex=r"\frac{\lambda_{\text{arr}}}{B}",
    source="Reddi et al., Inference Foundations, section on queueing",
    chapter=5,
)
def batch_arrival_rate(arrival_rate: Any, batch: Any) -> Any:
    """Rate at which full batches leave for service."""
    return arrival_rate / batch


@formula(
    domain=lambda arrival_rate, utilization_target, t_fixed, t_req: (
        arrival_rate >= 0,
        t_fixed >= 0,
        t_req >= 0,
        utilization_target > 0,
        utilization_target <= 1,
        stable(arrival_rate * t_req < utilization_target),
    ),
    latex=(
        r"\frac{\lambda_{\text{arr}} T_{\text{fixed}}}"
        r"{\rho_{\text{target}} - \lambda_{\text{arr}} t_{\text{req}}}"
    ),
    source="Reddi et al., Inference Foundations, section on the optimal batch",
    chapter=5,
)
def min_batch(arrival_rate: Any, utilization_target: Any, t_fixed: Any, t_req: Any) -> Any:
    """Real batch size at which the utilisation equals the target."""
    return arrival_rate * t_fixed / (utilization_target - arrival_rate * t_req)


@formula(
    domain=lambda arrival_rate, batch, t_fixed, t_req: (
        arrival_rate >= 0,
        batch >= 1,
        t_fixed >= 0,
        t_req >= 0,
        stable(arrival_rate * (t_fixed + t_req * batch) < batch),
    ),
    latex=(
        r"\frac{\lambda_{\text{arr}} T_{\text{svc}}(B)^2}"
        r"{2 B \left(1 - \rho_{\text{serv}}\right)}"
    ),
    source="Reddi et al., Inference Foundations, section on the optimal batch",
    chapter=5,
)
def surrogate_wait(arrival_rate: Any, batch: Any, t_fixed: Any, t_req: Any) -> Any:
    """Mean wait of a full batch, if batches were Poisson super-requests."""
    time = batch_time(batch, t_fixed, t_req)
    return arrival_rate * time**2 / (2 * batch * (1 - arrival_rate * time / batch))


@formula(
    domain=lambda arrival_rate, batch: (arrival_rate > 0, batch >= 1),
    latex=r"\frac{B - 1}{2 \lambda_{\text{arr}}}",
    source="Reddi et al., Inference Foundations, section on response time",
    chapter=5,
)
def accumulation_delay(arrival_rate: Any, batch: Any) -> Any:
    """Mean time a request waits for its batch to fill."""
    return (batch - 1) / (2 * arrival_rate)


@formula(
    domain=lambda arrival_rate, batch, t_fixed, t_req: (
        arrival_rate > 0,
        batch >= 1,
        t_fixed >= 0,
        t_req >= 0,
        stable(arrival_rate * (t_fixed + t_req * batch) < batch),
    ),
    latex=(
        r"\frac{\lambda_{\text{arr}} T_{\text{svc}}(B)^2}{2 B (1 - \rho_{\text{serv}})}"
        r" + \frac{B - 1}{2 \lambda_{\text{arr}}} + T_{\text{svc}}(B)"
    ),
    source="Reddi et al., Inference Foundations, section on the optimal batch",
    chapter=5,
)
def surrogate_total(arrival_rate: Any, batch: Any, t_fixed: Any, t_req: Any) -> Any:
    """Mean response time of the surrogate: wait, accumulation and service."""
    return (
        surrogate_wait(arrival_rate, batch, t_fixed, t_req)
        + accumulation_delay(arrival_rate, batch)
        + batch_time(batch, t_fixed, t_req)
    )


@formula(
    domain=lambda arrival_rate, t_fixed, t_req: (
        arrival_rate >= 0,
        t_fixed >= 0,
        t_req >= 0,
        stable(arrival_rate * t_req < 1),
    ),
    latex=(
        r"\frac{\lambda_{\text{arr}} T_{\text{fixed}}}{1 - \lambda_{\text{arr}} t_{\text{req}}}"
        r"\left(1 + \frac{1}{\sqrt{1 + \lambda_{\text{arr}} t_{\text{req}}"
        r" - (\lambda_{\text{arr}} t_{\text{req}})^2}}\right)"
    ),
    source="here",
    chapter=5,
)
def optimal_batch(arrival_rate: Any, t_fixed: Any, t_req: Any) -> Any:
    """Real batch size at which the surrogate's mean response time is least."""
    load = arrival_rate * t_req
    return min_batch(arrival_rate, 1, t_fixed, t_req) * (1 + 1 / sqrt(1 + load - load**2))
