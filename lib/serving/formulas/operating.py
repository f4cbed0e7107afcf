"""Closed forms of the operating region: tails by rule, doublings and the knee (chapter 14)."""

from __future__ import annotations

from typing import Any

from .._formula import domain_of, formula
from .._generic import log1p, sqrt
from .batches import batch_time, effective_rate


@formula(
    domain=lambda mean_response, normal_quantile, response_std: (
        mean_response >= 0,
        normal_quantile >= 0,
        response_std >= 0,
    ),
    latex=r"E[T] + z_q \sigma_T",
    source="Reddi et al., Inference Foundations, section on the choice of a batch",
    chapter=14,
)
def gaussian_tail(mean_response: Any, normal_quantile: Any, response_std: Any) -> Any:
    """Quantile of the response time, if response times were Gaussian."""
    return mean_response + normal_quantile * response_std


@formula(
    domain=lambda mean_response, quantile: (mean_response >= 0, quantile >= 0, quantile < 1),
    latex=r"-\ln(1 - q) E[T]",
    source="Reddi et al., Inference Foundations, section on the choice of a batch",
    chapter=14,
)
def exponential_tail(mean_response: Any, quantile: Any) -> Any:
    """Quantile of the response time, if response times were exponential."""
    return -log1p(-quantile) * mean_response


@formula(
    domain=domain_of(effective_rate),
    latex=r"\frac{T_{\text{fixed}}}{T_{\text{fixed}} + 2 t_{\text{req}} B}",
    source="here",
    chapter=14,
)
def doubling_gain(batch: Any, t_fixed: Any, t_req: Any) -> Any:
    """Share by which the service rate grows when the batch size is doubled."""
    return t_fixed / (t_fixed + 2 * t_req * batch)


@formula(
    domain=lambda gain, t_fixed, t_req: (gain > 0, gain <= 1, t_fixed >= 0, t_req > 0),
    latex=r"\frac{T_{\text{fixed}} (1 - g)}{2 g t_{\text{req}}}",
    source="here",
    chapter=14,
)
def gain_batch(gain: Any, t_fixed: Any, t_req: Any) -> Any:
    """Real batch size from which a doubling adds a given share to the service rate."""
    return t_fixed * (1 - gain) / (2 * gain * t_req)


@formula(
    domain=lambda first_batch, last_batch, t_fixed, t_req: (
        first_batch >= 1,
        last_batch >= first_batch,
        t_fixed >= 0,
        t_req > 0,
    ),
    latex=(
        r"\frac{\sqrt{(T_{\text{fixed}} + t_{\text{req}} B_{\text{first}})"
        r" (T_{\text{fixed}} + t_{\text{req}} B_{\text{last}})} - T_{\text{fixed}}}{t_{\text{req}}}"
    ),
    source="here; the definition of a knee is that of Satopää et al. 2011",
    chapter=14,
)
def knee_batch(first_batch: Any, last_batch: Any, t_fixed: Any, t_req: Any) -> Any:
    """Batch size at which the service rate lies farthest above the chord of a range."""
    first, last = (batch_time(size, t_fixed, t_req) for size in (first_batch, last_batch))
    # the root less t_fixed, over t_req, with its difference of near equals multiplied out
    total = t_fixed * (first_batch + last_batch) + t_req * first_batch * last_batch
    return total / (sqrt(first * last) + t_fixed)
