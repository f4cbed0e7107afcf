"""Closed forms of the time of a step, from bytes, operations and peak rates (chapter 13)."""

from __future__ import annotations

from typing import Any

from .._formula import formula
from .._generic import maximum
from .attention import attention_work
from .batches import weight_read_time


@formula(
    domain=lambda peak_rate, bandwidth: (peak_rate > 0, bandwidth > 0),
    latex=r"\frac{F_{\text{peak}}}{\beta_{\text{mem}}}",
    source="Williams et al. 2009",
    chapter=13,
)
def ridge_intensity(peak_rate: Any, bandwidth: Any) -> Any:
    """Operations on each byte that an accelerator could do while it reads the byte."""
    return peak_rate / bandwidth


@formula(
    domain=lambda element_bytes, peak_rate, bandwidth: (
        element_bytes > 0,
        peak_rate > 0,
        bandwidth > 0,
    ),
    latex=r"\frac{s_{\text{elem}} F_{\text{peak}}}{2 \beta_{\text{mem}}}",
    source="Pope et al. 2023, section 2",
    chapter=13,
)
def ridge_batch(element_bytes: Any, peak_rate: Any, bandwidth: Any) -> Any:
    """Tokens in a step for which reading the weights and using them take equally long."""
    return element_bytes * peak_rate / (2 * bandwidth)


@formula(
    domain=lambda batch, n_parameters, devices, peak_rate: (
        batch >= 1,
        n_parameters > 0,
        devices >= 1,
        peak_rate > 0,
    ),
    latex=r"\frac{2 N_{\text{par}} B}{N_{\text{dev}} F_{\text{peak}}}",
    source="Pope et al. 2023, section 2",
    chapter=13,
)
def matmul_time(batch: Any, n_parameters: Any, devices: Any, peak_rate: Any) -> Any:
    """Time of the arithmetic with the weights, for one token of each sequence."""
    return 2 * n_parameters * batch / (devices * peak_rate)


@formula(
    domain=lambda batch, kept_bytes, devices, bandwidth: (
        batch >= 0,
        kept_bytes >= 0,
        devices >= 1,
        bandwidth > 0,
    ),
    latex=r"\frac{m_{\text{kept}} B}{N_{\text{dev}} \beta_{\text{mem}}}",
    source="Pope et al. 2023, section 2",
    chapter=13,
)
def cache_read_time(batch: Any, kept_bytes: Any, devices: Any, bandwidth: Any) -> Any:
    """Time in which what every sequence keeps crosses the memory bus once."""
    return kept_bytes * batch / (devices * bandwidth)


@formula(
    domain=lambda batch, layers, width, tokens, devices, peak_rate: (
        batch >= 0,
        layers >= 1,
        width >= 1,
        tokens >= 0,
        devices >= 1,
        peak_rate > 0,
    ),
    latex=r"\frac{4 N_L d \, S \, B}{N_{\text{dev}} F_{\text{peak}}}",
    source="Pope et al. 2023, section 2",
    chapter=13,
)
def attention_time(
    batch: Any, layers: Any, width: Any, tokens: Any, devices: Any, peak_rate: Any
) -> Any:
    """Time of the arithmetic in which a new token meets all tokens of its sequence."""
    return 2 * attention_work(layers, width, tokens) * batch / (devices * peak_rate)


@formula(
    domain=lambda batch, layers, width, input_tokens, devices, peak_rate: (
        batch >= 0,
        layers >= 1,
        width >= 1,
        input_tokens >= 1,
        devices >= 1,
        peak_rate > 0,
    ),
    latex=(
        r"\frac{2 N_L d \, S_{\text{in}} \left(S_{\text{in}} + 1\right) B}"
        r"{N_{\text{dev}} F_{\text{peak}}}"
    ),
    source="here",
    chapter=13,
)
def prompt_attention_time(
    batch: Any, layers: Any, width: Any, input_tokens: Any, devices: Any, peak_rate: Any
) -> Any:
    """Time of the arithmetic in which each token of a prompt meets those before it."""
    pairs = input_tokens * (input_tokens + 1)
    return 2 * layers * width * pairs * batch / (devices * peak_rate)


@formula(
    domain=lambda batch, width, element_bytes, devices, link_rate, call_time: (
        batch >= 0,
        width >= 1,
        element_bytes > 0,
        devices >= 1,
        link_rate > 0,
        call_time >= 0,
    ),
    latex=(
        r"\frac{2 \left(N_{\text{dev}} - 1\right)}{N_{\text{dev}}}"
        r" \cdot \frac{d \, s_{\text{elem}} B}{\beta_{\text{link}}} + t_{\text{call}}"
    ),
    source="Patarasuk and Yuan 2009",
    chapter=13,
)
def all_reduce_time(
    batch: Any, width: Any, element_bytes: Any, devices: Any, link_rate: Any, call_time: Any
) -> Any:
    """Time in which devices add up their partial results, around a ring."""
    sent = 2 * (devices - 1) / devices * width * element_bytes * batch
    return sent / link_rate + call_time


@formula(
    domain=lambda batch, layers, width, element_bytes, devices, link_rate, call_time: (
        batch >= 0,
        layers >= 1,
        width >= 1,
        element_bytes > 0,
        devices >= 1,
        link_rate > 0,
        call_time >= 0,
    ),
    latex=r"2 N_L T_{\text{sum}}",
    source="Shoeybi et al. 2019, section 3",
    chapter=13,
)
def exchange_time(
    batch: Any,
    layers: Any,
    width: Any,
    element_bytes: Any,
    devices: Any,
    link_rate: Any,
    call_time: Any,
) -> Any:
    """Time that a step spends in adding up partial results, two times a layer."""
    once = all_reduce_time(batch, width, element_bytes, devices, link_rate, call_time)
    return 2 * layers * once


@formula(
    domain=lambda batch, n_parameters, element_bytes, kept_bytes, devices, bandwidth, peak_rate: (  # noqa: E501
        batch >= 1,
        n_parameters > 0,
        element_bytes > 0,
        kept_bytes >= 0,
        devices >= 1,
        bandwidth > 0,
        peak_rate > 0,
    ),
    latex=r"\max(T_{\text{w}}, T_{\text{mat}}) + T_{\text{kv}}",
    source="Pope et al. 2023, section 2",
    chapter=13,
)
def step_time(
    batch: Any,
    n_parameters: Any,
    element_bytes: Any,
    kept_bytes: Any,
    devices: Any,
    bandwidth: Any,
    peak_rate: Any,
) -> Any:
    """Least time of a step whose attention waits for memory, links left aside."""
    weights = maximum(
        weight_read_time(n_parameters, element_bytes, devices, bandwidth),
        matmul_time(batch, n_parameters, devices, peak_rate),
    )
    return weights + cache_read_time(batch, kept_bytes, devices, bandwidth)
