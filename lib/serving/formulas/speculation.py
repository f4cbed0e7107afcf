"""Closed forms of speculative decoding under load (chapter 18)."""

from __future__ import annotations

from typing import Any

from .._formula import formula, stable
from .._generic import expm1, log1p


@formula(
    domain=lambda acceptance, drafted: (acceptance > 0, acceptance < 1, drafted >= 0),
    latex=r"\frac{1 - \alpha^{k + 1}}{1 - \alpha}",
    source="Leviathan et al. 2023",
    chapter=18,
)
def chain_yield(acceptance: Any, drafted: Any) -> Any:
    """Mean tokens of a step, if every drafted token is accepted with the same chance."""
    # the power by its logarithm, which keeps its digits where the chance is close to 1
    return -expm1((drafted + 1) * log1p(acceptance - 1)) / (1 - acceptance)


@formula(
    domain=lambda output_mean, spec_each, step_yield: (
        output_mean >= 1,
        spec_each > 0,
        step_yield >= 1,
    ),
    latex=r"\frac{y}{E[S_{\text{out}}] b_{\text{spec}}}",
    source="here",
    chapter=18,
)
def speculative_capacity(output_mean: Any, spec_each: Any, step_yield: Any) -> Any:
    """Arrival rate at which an engine that speculates is full."""
    return step_yield / (output_mean * spec_each)


@formula(
    domain=lambda arrival_rate, output_mean, spec_fixed, spec_each, step_yield: (
        arrival_rate >= 0,
        output_mean >= 1,
        spec_fixed >= 0,
        spec_each >= 0,
        step_yield >= 1,
        stable(arrival_rate * output_mean * spec_each < step_yield),
    ),
    latex=(
        r"\frac{E[S_{\text{out}}] (a_{\text{spec}} + b_{\text{spec}})}"
        r"{y - \lambda_{\text{arr}} E[S_{\text{out}}] b_{\text{spec}}}"
    ),
    source="here, from the law of continuous batching",
    chapter=18,
)
def speculative_response(
    arrival_rate: Any,
    output_mean: Any,
    spec_fixed: Any,
    spec_each: Any,
    step_yield: Any,
) -> Any:
    """Mean response of an engine that speculates in every step."""
    alone = output_mean * (spec_fixed + spec_each)
    return alone / (step_yield - arrival_rate * output_mean * spec_each)


@formula(
    domain=lambda step_fixed, step_per_sequence, spec_fixed, spec_each, step_yield: (
        step_per_sequence >= 0,
        spec_fixed >= 0,
        step_yield * step_fixed >= spec_fixed,
        step_yield * step_per_sequence < spec_each,
    ),
    latex=r"\frac{y a_{\text{step}} - a_{\text{spec}}}{b_{\text{spec}} - y b_{\text{step}}}",
    source="here",
    chapter=18,
)
def break_even_running(
    step_fixed: Any,
    step_per_sequence: Any,
    spec_fixed: Any,
    spec_each: Any,
    step_yield: Any,
) -> Any:
    """Running sequences beyond which steps that speculate yield fewer tokens a second."""
    gained = step_yield * step_fixed - spec_fixed
    return gained / (spec_each - step_yield * step_per_sequence)


@formula(
    domain=lambda output_mean, step_fixed, step_per_sequence, spec_fixed, spec_each, step_yield: (
        output_mean >= 1,
        step_per_sequence >= 0,
        spec_fixed >= 0,
        step_yield * (step_fixed + step_per_sequence) >= spec_fixed + spec_each,
        step_yield * step_per_sequence < spec_each,
    ),
    latex=(
        r"\frac{y (a_{\text{step}} + b_{\text{step}}) - (a_{\text{spec}} + b_{\text{spec}})}"
        r"{E[S_{\text{out}}] (a_{\text{step}} b_{\text{spec}} - a_{\text{spec}} b_{\text{step}})}"
    ),
    source="here",
    chapter=18,
)
def break_even_load(
    output_mean: Any,
    step_fixed: Any,
    step_per_sequence: Any,
    spec_fixed: Any,
    spec_each: Any,
    step_yield: Any,
) -> Any:
    """Arrival rate beyond which speculation in every step lengthens the mean response."""
    plain, speculative = step_fixed + step_per_sequence, spec_fixed + spec_each
    slopes = step_fixed * spec_each - spec_fixed * step_per_sequence
    return (step_yield * plain - speculative) / (output_mean * slopes)
