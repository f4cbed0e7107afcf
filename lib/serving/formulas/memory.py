"""Closed forms of the key-value cache and the memory that it needs (chapter 11)."""

from __future__ import annotations

from typing import Any

from .._formula import formula
from .._generic import minimum


@formula(
    domain=lambda layers, width, tokens, batch, element_bytes: (
        layers >= 1,
        width >= 1,
        tokens >= 0,
        batch >= 0,
        element_bytes > 0,
    ),
    latex=r"2 N_L \, d \, S \, B \, s_{\text{elem}}",
    source="Reddi et al., Inference Foundations, section on the KV cache",
    chapter=11,
)
def kv_cache_bytes(layers: Any, width: Any, tokens: Any, batch: Any, element_bytes: Any) -> Any:
    """Storage of the cache if every head has keys and values of its own."""
    return 2 * layers * width * tokens * batch * element_bytes


@formula(
    domain=lambda layers, kv_heads, head_dim, element_bytes: (
        layers >= 1,
        kv_heads >= 1,
        head_dim >= 1,
        element_bytes > 0,
    ),
    latex=r"2 N_L \, n_{\text{kv}} \, d_{\text{head}} \, s_{\text{elem}}",
    source="Ainslie et al. 2023, section 2",
    chapter=11,
)
def token_bytes(layers: Any, kv_heads: Any, head_dim: Any, element_bytes: Any) -> Any:
    """Storage that one more token adds to the cache."""
    return 2 * layers * kv_heads * head_dim * element_bytes


@formula(
    domain=lambda layers, kv_heads, head_dim, tokens, batch, element_bytes: (
        layers >= 1,
        kv_heads >= 1,
        head_dim >= 1,
        tokens >= 0,
        batch >= 0,
        element_bytes > 0,
    ),
    latex=r"m_{\text{tok}} \, S \, B",
    source="Ainslie et al. 2023, section 2",
    chapter=11,
)
def grouped_cache_bytes(
    layers: Any, kv_heads: Any, head_dim: Any, tokens: Any, batch: Any, element_bytes: Any
) -> Any:
    """Storage of the cache if groups of heads share keys and values."""
    return token_bytes(layers, kv_heads, head_dim, element_bytes) * tokens * batch


@formula(
    domain=lambda cache_memory, layers, kv_heads, head_dim, tokens, element_bytes: (
        cache_memory >= 0,
        layers >= 1,
        kv_heads >= 1,
        head_dim >= 1,
        tokens >= 1,
        element_bytes > 0,
    ),
    latex=r"\frac{M_{\text{free}}}{m_{\text{tok}} \, S}",
    source="Reddi et al., Inference Foundations, section on the KV cache",
    chapter=11,
)
def memory_batch(
    cache_memory: Any, layers: Any, kv_heads: Any, head_dim: Any, tokens: Any, element_bytes: Any
) -> Any:
    """Real number of sequences of one length that fill the memory left for the cache."""
    return cache_memory / (token_bytes(layers, kv_heads, head_dim, element_bytes) * tokens)


@formula(
    domain=lambda n_parameters, layers, kv_heads, head_dim: (
        n_parameters > 0,
        layers >= 1,
        kv_heads >= 1,
        head_dim >= 1,
    ),
    latex=r"\frac{N_{\text{par}}}{2 N_L \, n_{\text{kv}} \, d_{\text{head}}}",
    source="here",
    chapter=11,
)
def parity_tokens(n_parameters: Any, layers: Any, kv_heads: Any, head_dim: Any) -> Any:
    """Tokens at which cache and weights, stored in one format, are equally large."""
    return n_parameters / (2 * layers * kv_heads * head_dim)


@formula(
    domain=lambda layers, latent_width, rotary_width, element_bytes: (
        layers >= 1,
        latent_width >= 1,
        rotary_width >= 0,
        element_bytes > 0,
    ),
    latex=r"N_L \left(d_{\text{lat}} + d_{\text{rot}}\right) s_{\text{elem}}",
    source="DeepSeek-AI 2024, DeepSeek-V2, section 2.1",
    chapter=11,
)
def latent_token_bytes(
    layers: Any, latent_width: Any, rotary_width: Any, element_bytes: Any
) -> Any:
    """Storage that one more token adds if all heads read one latent row."""
    return layers * (latent_width + rotary_width) * element_bytes


@formula(
    domain=lambda full_bytes, window_bytes, window_tokens, constant_bytes, tokens: (
        full_bytes >= 0,
        window_bytes >= 0,
        window_tokens >= 1,
        constant_bytes >= 0,
        tokens >= 0,
    ),
    latex=r"m_{\text{full}} S + m_{\text{win}} \min(S, S_{\text{win}}) + M_{\text{const}}",
    source="here",
    chapter=11,
)
def sequence_bytes(
    full_bytes: Any, window_bytes: Any, window_tokens: Any, constant_bytes: Any, tokens: Any
) -> Any:
    """Storage of one sequence, some of whose layers keep a window or a state."""
    return full_bytes * tokens + window_bytes * minimum(tokens, window_tokens) + constant_bytes
