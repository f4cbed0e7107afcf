"""Closed forms of slow responses and of measuring them (chapter 8)."""

from __future__ import annotations

from typing import Any

from .._formula import domain_of, formula
from .._generic import exp, expm1, log1p, log_sinhc
from .batches import batch_time
from .sizing import accumulation_delay


@formula(
    domain=domain_of(accumulation_delay),
    latex=r"\frac{(B - 1) (B + 5)}{4 \lambda_{\text{arr}}^3}",
    source="here",
    chapter=8,
)
def gathering_third_moment(arrival_rate: Any, batch: Any) -> Any:
    """Third central moment of the time until a fixed batch is full, over all its requests."""
    return (batch - 1) * (batch + 5) / (4 * arrival_rate**3)


@formula(
    domain=lambda tail_root: (tail_root > 0,),
    latex=r"\frac{w}{e^w - 1}",
    source="Kingman 1964",
    chapter=8,
)
def tail_load(tail_root: Any) -> Any:
    """Load over capacity at which the requests that wait thin out by a given factor."""
    return tail_root * exp(-tail_root) / -expm1(-tail_root)


@formula(
    domain=lambda tail_root, batch, t_fixed, t_req: (
        tail_root > 0,
        batch >= 1,
        t_fixed >= 0,
        t_req >= 0,
        t_fixed + t_req > 0,
    ),
    latex=r"\frac{w B}{T_{\text{fixed}} + t_{\text{req}} B}",
    source="Kingman 1964",
    chapter=8,
)
def tail_decay(tail_root: Any, batch: Any, t_fixed: Any, t_req: Any) -> Any:
    """Rate at which the wait of a full batch decays: its tail falls by e in one over it."""
    return tail_root * batch / batch_time(batch, t_fixed, t_req)


@formula(
    domain=lambda tail_root, batch, t_fixed, t_req, quantile: (
        tail_root > 0,
        batch >= 1,
        t_fixed >= 0,
        t_req >= 0,
        quantile >= 0,
        quantile < 1,
    ),
    latex=(
        r"\left(T_{\text{fixed}} + t_{\text{req}} B\right) \left(1 + \frac{1}{w B}"
        r" \ln\left(\frac{e^{w B} - 1}{B (e^w - 1) (1 - q)}\right)\right)"
    ),
    source="here, by the bound of Kingman 1964",
    chapter=8,
)
def capacity_tail(tail_root: Any, batch: Any, t_fixed: Any, t_req: Any, quantile: Any) -> Any:
    """Quantile of the response time in fixed batches near capacity, gathering left out."""
    # the logarithm of (e^(w B) - 1) / (B (e^w - 1)), by half angles, so that nothing cancels
    mean = tail_root * (batch - 1) / 2 + log_sinhc(tail_root * batch / 2) - log_sinhc(tail_root / 2)
    rare = mean - log1p(-quantile)
    return batch_time(batch, t_fixed, t_req) * (1 + rare / (tail_root * batch))


@formula(
    domain=lambda quantile, confidence_quantile, tolerance: (
        quantile > 0,
        quantile < 1,
        confidence_quantile >= 0,
        tolerance > 0,
    ),
    latex=r"\frac{q z_{\text{conf}}^2}{(1 - q) \varepsilon^2}",
    source="David and Nagaraja 2003, ch. 7",
    chapter=8,
)
def percentile_sample(quantile: Any, confidence_quantile: Any, tolerance: Any) -> Any:
    """Measurements after which the share above a measured quantile is known so well."""
    return quantile / (1 - quantile) * (confidence_quantile / tolerance) ** 2


@formula(
    domain=lambda quantile, confidence: (
        quantile > 0,
        quantile < 1,
        confidence >= 0,
        confidence < 1,
    ),
    latex=r"\frac{\ln(1 - p_{\text{conf}})}{\ln q}",
    source="Wilks 1941",
    chapter=8,
)
def largest_sample(quantile: Any, confidence: Any) -> Any:
    """Measurements whose largest lies above a quantile with a given confidence."""
    return log1p(-confidence) / log1p(quantile - 1)
