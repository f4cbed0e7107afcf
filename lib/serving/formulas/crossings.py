"""Closed forms of where arithmetic takes over, and of whole answers (chapter 13)."""

from __future__ import annotations

from typing import Any

from .._formula import formula
from .attention import attention_work
from .batches import weight_read_time
from .memory import token_bytes
from .steps import cache_read_time, matmul_time, prompt_attention_time


@formula(
    domain=lambda n_parameters, layers, width, tokens, element_bytes, kept_bytes, bandwidth, peak_rate: (  # noqa: E501
        n_parameters > 0,
        layers >= 1,
        width >= 1,
        tokens >= 0,
        element_bytes > 0,
        kept_bytes >= 0,
        peak_rate > 0,
        2 * (n_parameters + 2 * layers * width * tokens) * bandwidth > kept_bytes * peak_rate,
    ),
    latex=(
        r"\frac{N_{\text{par}} s_{\text{elem}} F_{\text{peak}}}{2 \left(N_{\text{par}}"
        r" + 2 N_L d \, S\right) \beta_{\text{mem}} - m_{\text{kept}} F_{\text{peak}}}"
    ),
    source="here",
    chapter=13,
)
def crossing_batch(
    n_parameters: Any,
    layers: Any,
    width: Any,
    tokens: Any,
    element_bytes: Any,
    kept_bytes: Any,
    bandwidth: Any,
    peak_rate: Any,
) -> Any:
    """Batch for which all reading, caches included, takes as long as all arithmetic."""
    used = n_parameters + attention_work(layers, width, tokens)
    spare = 2 * used * bandwidth - kept_bytes * peak_rate
    return n_parameters * element_bytes * peak_rate / spare


@formula(
    domain=lambda n_parameters, layers, width, kv_heads, head_dim, element_bytes, bandwidth, peak_rate: (  # noqa: E501
        n_parameters > 0,
        layers >= 1,
        width >= 1,
        kv_heads >= 1,
        head_dim >= 1,
        element_bytes > 0,
        bandwidth > 0,
        kv_heads * head_dim * element_bytes * peak_rate > 2 * width * bandwidth,
    ),
    latex=(
        r"\frac{2 N_{\text{par}} \beta_{\text{mem}}}"
        r"{m_{\text{tok}} F_{\text{peak}} - 4 N_L d \, \beta_{\text{mem}}}"
    ),
    source="here",
    chapter=13,
)
def crossing_tokens(
    n_parameters: Any,
    layers: Any,
    width: Any,
    kv_heads: Any,
    head_dim: Any,
    element_bytes: Any,
    bandwidth: Any,
    peak_rate: Any,
) -> Any:
    """Tokens of a sequence from which on reading takes longest at any batch size."""
    kept = token_bytes(layers, kv_heads, head_dim, element_bytes)
    spare = kept * peak_rate - 4 * layers * width * bandwidth
    return 2 * n_parameters * bandwidth / spare


@formula(
    domain=lambda n_parameters, element_bytes, output_tokens, devices, bandwidth: (
        n_parameters > 0,
        element_bytes > 0,
        output_tokens >= 1,
        devices >= 1,
        bandwidth > 0,
    ),
    latex=r"\left(S_{\text{out}} - 1\right) T_{\text{w}}",
    source="here",
    chapter=13,
)
def answer_fixed_time(
    n_parameters: Any, element_bytes: Any, output_tokens: Any, devices: Any, bandwidth: Any
) -> Any:
    """Least part of the time of whole answers that does not grow with the batch."""
    once = weight_read_time(n_parameters, element_bytes, devices, bandwidth)
    return (output_tokens - 1) * once


@formula(
    domain=lambda n_parameters, layers, kv_heads, head_dim, width, element_bytes, input_tokens, output_tokens, devices, bandwidth, peak_rate: (  # noqa: E501
        n_parameters > 0,
        layers >= 1,
        kv_heads >= 1,
        head_dim >= 1,
        width >= 1,
        element_bytes > 0,
        input_tokens >= 1,
        output_tokens >= 1,
        devices >= 1,
        bandwidth > 0,
        peak_rate > 0,
    ),
    latex=(
        r"\frac{2 S_{\text{in}} \left(N_{\text{par}}"
        r" + N_L d \left(S_{\text{in}} + 1\right)\right)}{N_{\text{dev}} F_{\text{peak}}}"
        r" + \frac{m_{\text{tok}} \left(S_{\text{out}} - 1\right)"
        r" \left(2 S_{\text{in}} + S_{\text{out}}\right)}{2 N_{\text{dev}} \beta_{\text{mem}}}"
    ),
    source="here",
    chapter=13,
)
def answer_request_time(
    n_parameters: Any,
    layers: Any,
    kv_heads: Any,
    head_dim: Any,
    width: Any,
    element_bytes: Any,
    input_tokens: Any,
    output_tokens: Any,
    devices: Any,
    bandwidth: Any,
    peak_rate: Any,
) -> Any:
    """Least time that each request adds: arithmetic of its prompt, and reading its cache."""
    prompt = matmul_time(input_tokens, n_parameters, devices, peak_rate)
    prompt += prompt_attention_time(1, layers, width, input_tokens, devices, peak_rate)
    kept = token_bytes(layers, kv_heads, head_dim, element_bytes)
    read = (output_tokens - 1) * (2 * input_tokens + output_tokens) / 2
    return prompt + cache_read_time(1, kept * read, devices, bandwidth)
