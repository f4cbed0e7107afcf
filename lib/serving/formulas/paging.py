"""Closed forms of where the memory of a cache goes (chapter 12)."""

from __future__ import annotations

from typing import Any

from .._formula import formula
from .._generic import log1p


@formula(
    domain=lambda length_product, output_square, output_mean: (
        length_product >= 0,
        output_mean >= 1,
        output_square >= output_mean**2,
    ),
    latex=r"\frac{E[S_{\text{in}} S_{\text{out}}] + E[S_{\text{out}}^2] / 2}{E[S_{\text{out}}]}",
    source="Little 1961, applied to tokens",
    chapter=12,
)
def held_tokens(length_product: Any, output_square: Any, output_mean: Any) -> Any:
    """Mean tokens of a running sequence, halfway through the step that adds one."""
    return (length_product + output_square / 2) / output_mean


@formula(
    domain=lambda input_mean, output_mean, output_cv: (
        input_mean >= 0,
        output_mean >= 1,
        output_cv >= 0,
    ),
    latex=r"E[S_{\text{in}}] + \frac{E[S_{\text{out}}]}{2} \left(1 + c_{\text{out}}^2\right)",
    source="here",
    chapter=12,
)
def held_by_variability(input_mean: Any, output_mean: Any, output_cv: Any) -> Any:
    """Mean tokens of a running sequence, if prompt and answer are independent."""
    return input_mean + output_mean / 2 * (1 + output_cv**2)


@formula(
    domain=lambda arrival_rate, output_mean, token_time: (
        arrival_rate >= 0,
        output_mean >= 1,
        token_time >= 0,
    ),
    latex=r"\lambda_{\text{arr}} \, E[S_{\text{out}}] \, t_{\text{tok}}",
    source="Little 1961",
    chapter=12,
)
def mean_running(arrival_rate: Any, output_mean: Any, token_time: Any) -> Any:
    """Mean number of sequences that run, each a token at a time."""
    return arrival_rate * output_mean * token_time


@formula(
    domain=lambda arrival_rate, token_time, length_product, output_square: (
        arrival_rate >= 0,
        token_time >= 0,
        length_product >= 0,
        output_square >= 1,
    ),
    latex=(
        r"\lambda_{\text{arr}} \, t_{\text{tok}} \left(E[S_{\text{in}} S_{\text{out}}] "
        r"+ \frac{E[S_{\text{out}}^2]}{2}\right)"
    ),
    source="Little 1961, applied to tokens",
    chapter=12,
)
def running_tokens(
    arrival_rate: Any, token_time: Any, length_product: Any, output_square: Any
) -> Any:
    """Mean tokens that all running sequences hold together."""
    return arrival_rate * token_time * (length_product + output_square / 2)


@formula(
    domain=lambda block_size: (block_size >= 1,),
    latex=r"\frac{S_{\text{blk}} - 1}{2}",
    source="Kwon et al. 2023, section 4",
    chapter=12,
)
def block_waste(block_size: Any) -> Any:
    """Mean empty places of a last block that ends at any of its places equally often."""
    return (block_size - 1) / 2


@formula(
    domain=lambda growth: (growth > 1,),
    latex=r"\frac{\gamma - 1}{\gamma \ln \gamma}",
    source="here",
    chapter=12,
)
def class_use(growth: Any) -> Any:
    """Share of a piece that is asked for, if sizes are spread evenly on a logarithmic scale."""
    return (growth - 1) / growth / log1p(growth - 1)
