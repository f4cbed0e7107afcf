"""Closed forms of engines that batch at every step (chapter 16)."""

from __future__ import annotations

from typing import Any

from .._formula import domain_of, formula, stable
from .._generic import expm1, log1p
from .paging import held_tokens


@formula(
    domain=lambda arrival_rate, output_mean, step_per_sequence: (
        arrival_rate >= 0,
        output_mean >= 1,
        step_per_sequence >= 0,
    ),
    latex=r"\lambda_{\text{arr}} E[S_{\text{out}}] b_{\text{step}}",
    source="here",
    chapter=16,
)
def token_load(arrival_rate: Any, output_mean: Any, step_per_sequence: Any) -> Any:
    """Share of time that the parts of steps take which grow with the sequences."""
    return arrival_rate * output_mean * step_per_sequence


@formula(
    domain=lambda arrival_rate, output_mean, step_fixed, step_per_sequence: (
        arrival_rate >= 0,
        output_mean >= 1,
        step_fixed >= 0,
        step_per_sequence >= 0,
        stable(arrival_rate * output_mean * step_per_sequence < 1),
    ),
    latex=(
        r"\frac{\lambda_{\text{arr}} E[S_{\text{out}}] (a_{\text{step}} + b_{\text{step}})}"
        r"{1 - \lambda_{\text{arr}} E[S_{\text{out}}] b_{\text{step}}}"
    ),
    source="Cohen 1979, with this capacity",
    chapter=16,
)
def engine_running(
    arrival_rate: Any, output_mean: Any, step_fixed: Any, step_per_sequence: Any
) -> Any:
    """Mean number of running sequences, if all run that have arrived."""
    work = arrival_rate * output_mean
    return work * (step_fixed + step_per_sequence) / (1 - work * step_per_sequence)


@formula(
    domain=domain_of(engine_running),
    latex=(
        r"\frac{E[S_{\text{out}}] (a_{\text{step}} + b_{\text{step}})}"
        r"{1 - \lambda_{\text{arr}} E[S_{\text{out}}] b_{\text{step}}}"
    ),
    source="Cohen 1979, with this capacity",
    chapter=16,
)
def engine_response(
    arrival_rate: Any, output_mean: Any, step_fixed: Any, step_per_sequence: Any
) -> Any:
    """Mean time of a whole answer, if all run that have arrived."""
    alone = output_mean * (step_fixed + step_per_sequence)
    return alone / (1 - arrival_rate * output_mean * step_per_sequence)


@formula(
    domain=lambda output_mean, step_per_sequence: (output_mean >= 1, step_per_sequence > 0),
    latex=r"\frac{1}{E[S_{\text{out}}] b_{\text{step}}}",
    source="here",
    chapter=16,
)
def engine_capacity(output_mean: Any, step_per_sequence: Any) -> Any:
    """Arrival rate that an engine without any limit on its sequences stays below."""
    return 1 / (output_mean * step_per_sequence)


@formula(
    domain=lambda running_limit, output_mean, step_fixed, step_per_sequence: (
        running_limit >= 1,
        output_mean >= 1,
        step_fixed >= 0,
        step_per_sequence >= 0,
        step_fixed + step_per_sequence > 0,
    ),
    latex=(
        r"\frac{n_{\max}}{E[S_{\text{out}}]"
        r" (a_{\text{step}} + b_{\text{step}} n_{\max})}"
    ),
    source="here",
    chapter=16,
)
def limited_capacity(
    running_limit: Any, output_mean: Any, step_fixed: Any, step_per_sequence: Any
) -> Any:
    """Arrival rate that an engine stays below in which so many sequences run at most."""
    return running_limit / (output_mean * (step_fixed + step_per_sequence * running_limit))


@formula(
    domain=lambda pool_tokens, length_product, output_square, output_mean: (
        pool_tokens >= 0,
        length_product >= 0,
        output_mean >= 1,
        output_square >= output_mean**2,
    ),
    latex=r"\frac{S_{\text{pool}}}{E[S_{\text{run}}]}",
    source="here",
    chapter=16,
)
def memory_running(
    pool_tokens: Any, length_product: Any, output_square: Any, output_mean: Any
) -> Any:
    """Real number of sequences that fill the cache on average."""
    return pool_tokens / held_tokens(length_product, output_square, output_mean)


@formula(
    domain=lambda pool_tokens, prefix_tokens, length_product, output_square, output_mean: (
        pool_tokens >= prefix_tokens,
        prefix_tokens >= 0,
        output_mean >= 1,
        output_square >= output_mean**2,
        length_product >= prefix_tokens * output_mean,
    ),
    latex=(
        r"\frac{S_{\text{pool}} - S_{\text{pre}}}"
        r"{E[S_{\text{run}}] - S_{\text{pre}}}"
    ),
    source="here",
    chapter=16,
)
def prefix_running(
    pool_tokens: Any,
    prefix_tokens: Any,
    length_product: Any,
    output_square: Any,
    output_mean: Any,
) -> Any:
    """Real number of sequences that fill the cache, if all start with the same tokens."""
    held = held_tokens(length_product, output_square, output_mean)
    return (pool_tokens - prefix_tokens) / (held - prefix_tokens)


@formula(
    domain=lambda batch, longest_mean, output_mean, step_fixed, step_per_sequence: (
        batch >= 1,
        output_mean >= 1,
        longest_mean >= output_mean,
        longest_mean <= batch * output_mean,
        step_fixed >= 0,
        step_per_sequence >= 0,
        step_fixed + step_per_sequence > 0,
    ),
    latex=(
        r"\frac{a_{\text{step}} E[S_{\max}] / E[S_{\text{out}}] + b_{\text{step}} B}"
        r"{a_{\text{step}} + b_{\text{step}} B}"
    ),
    source="here",
    chapter=16,
)
def dropped_gain(
    batch: Any, longest_mean: Any, output_mean: Any, step_fixed: Any, step_per_sequence: Any
) -> Any:
    """Capacity over that of static batches, whose finished rows cost nothing more."""
    rows = step_per_sequence * batch
    return (step_fixed * longest_mean / output_mean + rows) / (step_fixed + rows)


@formula(
    domain=lambda longest_mean, output_mean: (output_mean >= 1, longest_mean >= output_mean),
    latex=r"\frac{E[S_{\max}]}{E[S_{\text{out}}]}",
    source="here",
    chapter=16,
)
def padded_gain(longest_mean: Any, output_mean: Any) -> Any:
    """Capacity over that of static batches, whose rows cost until the last has finished."""
    return longest_mean / output_mean


@formula(
    domain=lambda experts, chosen_experts, batch: (
        chosen_experts >= 0,
        experts >= 1,
        experts > chosen_experts,
        batch >= 1,
    ),
    latex=(
        r"N_{\text{exp}} \left(1 - \left(1 - "
        r"\frac{k_{\text{exp}}}{N_{\text{exp}}}\right)^B\right)"
    ),
    source="here",
    chapter=16,
)
def experts_touched(experts: Any, chosen_experts: Any, batch: Any) -> Any:
    """Mean experts of a layer that a step reads, if each token picks some of them at random."""
    return -experts * expm1(batch * log1p(-chosen_experts / experts))
