"""Closed forms of reading prompts beside writing answers, and of splitting the two (chapter 17)."""

from __future__ import annotations

from typing import Any

from .._formula import formula, stable
from .._generic import expm1


@formula(
    domain=lambda input_tokens, step_fixed, prompt_token_time: (
        input_tokens >= 0,
        step_fixed >= 0,
        prompt_token_time >= 0,
    ),
    latex=r"a_{\text{step}} + c_{\text{pre}} S_{\text{in}}",
    source="here",
    chapter=17,
)
def prefill_time(input_tokens: Any, step_fixed: Any, prompt_token_time: Any) -> Any:
    """Time of a step that reads one prompt and does nothing else."""
    return step_fixed + prompt_token_time * input_tokens


@formula(
    domain=lambda arrival_rate, decode_step: (arrival_rate >= 0, decode_step >= 0),
    latex=r"1 - e^{-\lambda_{\text{arr}} s_{\text{dec}}}",
    source="here",
    chapter=17,
)
def stalled_tokens(arrival_rate: Any, decode_step: Any) -> Any:
    """Share of tokens before which a prompt is read, if prompts go first and whole."""
    return -expm1(-arrival_rate * decode_step)


@formula(
    domain=lambda arrival_rate, prefill_mean, decode_step: (
        arrival_rate >= 0,
        prefill_mean >= 0,
        decode_step >= 0,
        stable(arrival_rate * prefill_mean < 1),
    ),
    latex=r"\frac{s_{\text{dec}}}{1 - \lambda_{\text{arr}} E[T_{\text{pre}}]}",
    source="here",
    chapter=17,
)
def mean_gap(arrival_rate: Any, prefill_mean: Any, decode_step: Any) -> Any:
    """Mean time between tokens, whatever the order in which prompts and tokens take turns."""
    return decode_step / (1 - arrival_rate * prefill_mean)


@formula(
    domain=lambda arrival_rate, prefill_mean, prefill_second_moment, decode_step: (
        arrival_rate >= 0,
        prefill_mean >= 0,
        prefill_second_moment >= prefill_mean**2,
        decode_step >= 0,
        stable(arrival_rate * prefill_mean < 1),
    ),
    latex=(
        r"E[T_{\text{pre}}] + \frac{\lambda_{\text{arr}} E[T_{\text{pre}}^2]}"
        r"{2 (1 - \lambda_{\text{arr}} E[T_{\text{pre}}])} + \frac{s_{\text{dec}}}{2}"
    ),
    source="Fuhrmann and Cooper 1985",
    chapter=17,
)
def priority_first(
    arrival_rate: Any, prefill_mean: Any, prefill_second_moment: Any, decode_step: Any
) -> Any:
    """Mean time to the first token, if prompts go first, whole and one by one."""
    wait = arrival_rate * prefill_second_moment / (2 * (1 - arrival_rate * prefill_mean))
    return prefill_mean + wait + decode_step / 2


@formula(
    domain=lambda arrival_rate, output_mean, step_per_sequence, prefill_mean: (
        arrival_rate >= 0,
        output_mean >= 1,
        step_per_sequence >= 0,
        prefill_mean >= 0,
    ),
    latex=(
        r"\lambda_{\text{arr}} \left(E[T_{\text{pre}}] + E[S_{\text{out}}] b_{\text{step}}\right)"
    ),
    source="here",
    chapter=17,
)
def phase_load(
    arrival_rate: Any, output_mean: Any, step_per_sequence: Any, prefill_mean: Any
) -> Any:
    """Load of reading and writing together that no number of running sequences can lower."""
    return arrival_rate * (prefill_mean + output_mean * step_per_sequence)


@formula(
    domain=lambda output_mean, step_per_sequence, prefill_mean: (
        output_mean >= 1,
        step_per_sequence >= 0,
        prefill_mean >= 0,
        prefill_mean + output_mean * step_per_sequence > 0,
    ),
    latex=r"\frac{1}{E[T_{\text{pre}}] + E[S_{\text{out}}] b_{\text{step}}}",
    source="here",
    chapter=17,
)
def phase_capacity(output_mean: Any, step_per_sequence: Any, prefill_mean: Any) -> Any:
    """Arrival rate that a device which reads and writes stays below."""
    return 1 / (prefill_mean + output_mean * step_per_sequence)


@formula(
    domain=lambda arrival_rate, output_mean, step_fixed, step_per_sequence, prefill_mean: (
        arrival_rate >= 0,
        output_mean >= 1,
        step_fixed >= 0,
        step_per_sequence >= 0,
        prefill_mean >= 0,
        stable(arrival_rate * (prefill_mean + output_mean * step_per_sequence) < 1),
    ),
    latex=(
        r"\frac{\lambda_{\text{arr}} E[S_{\text{out}}] (a_{\text{step}} + b_{\text{step}})}"
        r"{1 - \lambda_{\text{arr}}"
        r" \left(E[T_{\text{pre}}] + E[S_{\text{out}}] b_{\text{step}}\right)}"
    ),
    source="here",
    chapter=17,
)
def phase_running(
    arrival_rate: Any,
    output_mean: Any,
    step_fixed: Any,
    step_per_sequence: Any,
    prefill_mean: Any,
) -> Any:
    """Mean number of answers that are being written, on a device that also reads prompts."""
    work = arrival_rate * output_mean
    free = 1 - arrival_rate * (prefill_mean + output_mean * step_per_sequence)
    return work * (step_fixed + step_per_sequence) / free


@formula(
    domain=lambda gap_limit, decode_step, prompt_token_time: (
        decode_step >= 0,
        gap_limit >= decode_step,
        prompt_token_time > 0,
    ),
    latex=r"\frac{T_{\text{gap}} - s_{\text{dec}}}{c_{\text{pre}}}",
    source="here",
    chapter=17,
)
def chunk_tokens(gap_limit: Any, decode_step: Any, prompt_token_time: Any) -> Any:
    """Most tokens of prompts in a step that still ends within a limit."""
    return (gap_limit - decode_step) / prompt_token_time


@formula(
    domain=lambda input_tokens, gap_limit, decode_step, prompt_token_time: (
        input_tokens >= 0,
        decode_step >= 0,
        gap_limit > decode_step,
        prompt_token_time >= 0,
    ),
    latex=(r"\frac{c_{\text{pre}} S_{\text{in}} T_{\text{gap}}}{T_{\text{gap}} - s_{\text{dec}}}"),
    source="here",
    chapter=17,
)
def chunked_reading(
    input_tokens: Any, gap_limit: Any, decode_step: Any, prompt_token_time: Any
) -> Any:
    """Time to read a prompt in pieces, each step of the length of the limit."""
    return prompt_token_time * input_tokens * gap_limit / (gap_limit - decode_step)


def _full_steps(
    input_tokens: Any,
    output_mean: Any,
    gap_limit: Any,
    step_fixed: Any,
    step_per_sequence: Any,
    prompt_token_time: Any,
) -> tuple[Any, ...]:
    """Conditions of an engine whose steps are all as long as allowed."""
    return (
        input_tokens >= 0,
        output_mean >= 1,
        step_fixed >= 0,
        gap_limit > step_fixed,
        step_per_sequence > 0,
        prompt_token_time >= 0,
    )


@formula(
    domain=_full_steps,
    latex=(
        r"\frac{1 - a_{\text{step}} / T_{\text{gap}}}"
        r"{c_{\text{pre}} S_{\text{in}} + E[S_{\text{out}}] b_{\text{step}}}"
    ),
    source="here",
    chapter=17,
)
def shared_capacity(
    input_tokens: Any,
    output_mean: Any,
    gap_limit: Any,
    step_fixed: Any,
    step_per_sequence: Any,
    prompt_token_time: Any,
) -> Any:
    """Arrival rate that a device which does both can bear, all of its steps within a limit."""
    work = prompt_token_time * input_tokens + output_mean * step_per_sequence
    return (1 - step_fixed / gap_limit) / work


@formula(
    domain=_full_steps,
    latex=(
        r"\frac{1}{a_{\text{step}} + c_{\text{pre}} S_{\text{in}}"
        r" + \frac{E[S_{\text{out}}] b_{\text{step}} T_{\text{gap}}}"
        r"{T_{\text{gap}} - a_{\text{step}}}}"
    ),
    source="here",
    chapter=17,
)
def split_capacity(
    input_tokens: Any,
    output_mean: Any,
    gap_limit: Any,
    step_fixed: Any,
    step_per_sequence: Any,
    prompt_token_time: Any,
) -> Any:
    """The same for each device of two pools, if devices could be divided at will."""
    writing = output_mean * step_per_sequence * gap_limit / (gap_limit - step_fixed)
    return 1 / (step_fixed + prompt_token_time * input_tokens + writing)


@formula(
    domain=lambda kept_bytes, link_rate: (kept_bytes >= 0, link_rate > 0),
    latex=r"\frac{m_{\text{kept}}}{\beta_{\text{link}}}",
    source="here",
    chapter=17,
)
def transfer_time(kept_bytes: Any, link_rate: Any) -> Any:
    """Time that the cache of a prompt is on its way between two pools."""
    return kept_bytes / link_rate
