"""Closed forms around the exact queue of fixed batches (chapter 6)."""

from __future__ import annotations

from typing import Any

from .._formula import domain_of, formula, stable
from .._generic import sqrt
from .sizing import accumulation_delay, min_batch, optimal_batch


@formula(
    domain=domain_of(accumulation_delay),
    latex=r"\frac{(B - 1)(B + 7)}{12 \lambda_{\text{arr}}^2}",
    source="here, by the law of total variance",
    chapter=6,
)
def gathering_variance(arrival_rate: Any, batch: Any) -> Any:
    """Variance of the time that a request taken at random waits for its batch to fill."""
    return (batch - 1) * (batch + 7) / (12 * arrival_rate**2)


@formula(
    domain=lambda arrival_rate, batch, wait_std, waiting_share: (
        arrival_rate > 0,
        batch >= 1,
        wait_std >= 0,
        waiting_share >= 0,
        waiting_share <= 1,
        3 * (batch - 1) * waiting_share**2 <= (batch + 7) * (arrival_rate * wait_std) ** 2,
    ),
    latex=(
        r"\frac{(B - 1)(B + 7)}{12 \lambda_{\text{arr}}^2} + \sigma_W^2"
        r" - \frac{(B - 1) P(L > 0)}{\lambda_{\text{arr}}^2}"
    ),
    source="here",
    chapter=6,
)
def fixed_batch_variance(arrival_rate: Any, batch: Any, wait_std: Any, waiting_share: Any) -> Any:
    """Variance of the response time in fixed batches: who gathers longer, waits less.

    No correlation is below -1, which bounds the share by the spread of the wait.
    """
    gathering = gathering_variance(arrival_rate, batch)
    return gathering + wait_std**2 - (batch - 1) * waiting_share / arrival_rate**2


@formula(
    domain=lambda rate, service_mean, gap_std, service_std: (
        rate >= 0,
        service_mean >= 0,
        gap_std >= 0,
        service_std >= 0,
        stable(rate * service_mean < 1),
    ),
    latex=(
        r"\frac{\lambda (\sigma_A^2 + \sigma_{\text{svc}}^2)}"
        r"{2 (1 - \lambda E[T_{\text{svc}}])}"
    ),
    source="Kingman 1962",
    chapter=6,
)
def kingman_wait(rate: Any, service_mean: Any, gap_std: Any, service_std: Any) -> Any:
    """Bound on the mean wait before one server with independent gaps and services (GI/G/1)."""
    return rate * (gap_std**2 + service_std**2) / (2 * (1 - rate * service_mean))


@formula(
    domain=lambda load, service_mean, gap_cv, service_cv: (
        load >= 0,
        service_mean >= 0,
        gap_cv >= 0,
        service_cv >= 0,
        stable(load < 1),
    ),
    latex=(
        r"\frac{c_A^2 + c_{\text{svc}}^2}{2} \cdot"
        r" \frac{\rho}{1 - \rho} E[T_{\text{svc}}]"
    ),
    source="Allen 1990, ch. 5",
    chapter=6,
)
def allen_cunneen_wait(load: Any, service_mean: Any, gap_cv: Any, service_cv: Any) -> Any:
    """Estimate of the mean wait before one server by both coefficients of variation."""
    return (gap_cv**2 + service_cv**2) / 2 * load / (1 - load) * service_mean


@formula(
    domain=domain_of(optimal_batch),
    latex=(
        r"\frac{\lambda_{\text{arr}} T_{\text{fixed}}}{1 - \lambda_{\text{arr}} t_{\text{req}}}"
        r" + \sqrt{\frac{2 \lambda_{\text{arr}} T_{\text{fixed}}}"
        r"{3 (1 - \lambda_{\text{arr}} t_{\text{req}})^2"
        r" (1 + \lambda_{\text{arr}} t_{\text{req}})}}"
    ),
    source="here, from Spitzer 1956 with a normal law",
    chapter=6,
)
def square_root_batch(arrival_rate: Any, t_fixed: Any, t_req: Any) -> Any:
    """Estimate of the batch of least mean response: the bound and a multiple of its root."""
    load = arrival_rate * t_req
    bound = min_batch(arrival_rate, 1, t_fixed, t_req)
    return bound + sqrt(2 * bound / (3 * (1 - load) * (1 + load)))
