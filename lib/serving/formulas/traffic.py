"""Closed forms of traffic that is not Poisson: dispersion, drift, and the rate to size for."""

from __future__ import annotations

from typing import Any

from .._formula import formula
from .._generic import forgotten, sqrt


@formula(
    domain=lambda window_mean, window_variance: (window_mean > 0, window_variance >= 0),
    latex=r"1 + \frac{\text{Var}[\Lambda_{\Delta}]}{E[\Lambda_{\Delta}]}",
    source="Cox and Isham 1980, ch. 3",
    chapter=21,
)
def cox_dispersion(window_mean: Any, window_variance: Any) -> Any:
    """Variance over mean of the counts of a Poisson process whose rate is itself random."""
    return 1 + window_variance / window_mean


@formula(
    domain=lambda rate, rate_cv, rate_memory, window_length: (
        rate >= 0,
        rate_cv >= 0,
        rate_memory > 0,
        window_length > 0,
    ),
    latex=(
        r"1 + 2 \lambda c_{\lambda}^2 \tau_{\lambda} \left(1 - \frac{\tau_{\lambda}}{\Delta}"
        r" \left(1 - e^{-\Delta / \tau_{\lambda}}\right)\right)"
    ),
    source="Cox and Isham 1980, ch. 3",
    chapter=21,
)
def flicker_dispersion(rate: Any, rate_cv: Any, rate_memory: Any, window_length: Any) -> Any:
    """Dispersion of the counts if the rate forgets its value exponentially."""
    return 1 + 2 * rate * rate_cv**2 * rate_memory * forgotten(window_length / rate_memory)


@formula(
    domain=lambda rate, rate_growth, window_length, windows: (
        rate > 0,
        rate_growth >= 0,
        window_length > 0,
        windows >= 2,
    ),
    latex=(
        r"1 - \frac{1}{n_{\Delta}}"
        r" + \frac{g_{\lambda}^2 \Delta^3 \left(n_{\Delta}^2 - 1\right)}{12 \lambda}"
    ),
    source="here, by summation",
    chapter=21,
)
def drift_dispersion(rate: Any, rate_growth: Any, window_length: Any, windows: Any) -> Any:
    """Mean variance of Poisson counts over their mean, if the rate grows steadily meanwhile."""
    steps = rate_growth**2 * window_length**3 * (windows**2 - 1)
    return 1 - 1 / windows + steps / (12 * rate)


@formula(
    domain=lambda rate, rate_growth, window_length: (
        rate > 0,
        rate_growth >= 0,
        window_length > 0,
    ),
    latex=r"1 + \frac{g_{\lambda}^2 \Delta^3}{2 \lambda}",
    source="here; von Neumann et al. 1941 for the differences",
    chapter=21,
)
def difference_dispersion(rate: Any, rate_growth: Any, window_length: Any) -> Any:
    """The same from the differences of neighbouring windows: hardly any of the drift is left."""
    return 1 + rate_growth**2 * window_length**3 / (2 * rate)


@formula(
    domain=lambda rate, dispersion, window_length, normal_quantile: (
        rate >= 0,
        dispersion >= 0,
        window_length > 0,
        normal_quantile >= 0,
    ),
    latex=r"\lambda + z_q \sqrt{\frac{\lambda D_{\Delta}}{\Delta}}",
    source="here: the normal approximation of the counts",
    chapter=21,
)
def window_rate(rate: Any, dispersion: Any, window_length: Any, normal_quantile: Any) -> Any:
    """Rate that a share of the windows does not exceed."""
    return rate + normal_quantile * sqrt(rate * dispersion / window_length)
