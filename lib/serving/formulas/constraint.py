"""Closed forms of the one constraint: memory as a limit on traffic, and cost (chapter 15)."""

from __future__ import annotations

from typing import Any

from .._formula import formula
from .batches import effective_rate
from .memory import memory_batch, token_bytes


@formula(
    domain=lambda cache_memory, layers, kv_heads, head_dim, tokens, element_bytes, t_fixed, t_req: (
        cache_memory >= token_bytes(layers, kv_heads, head_dim, element_bytes) * tokens,
        layers >= 1,
        kv_heads >= 1,
        head_dim >= 1,
        tokens >= 1,
        element_bytes > 0,
        t_fixed >= 0,
        t_req >= 0,
        t_fixed + t_req > 0,
    ),
    latex=(
        r"\frac{M_{\text{free}}}"
        r"{m_{\text{tok}} S \, T_{\text{fixed}} + t_{\text{req}} M_{\text{free}}}"
    ),
    source="here",
    chapter=15,
)
def memory_rate(
    cache_memory: Any,
    layers: Any,
    kv_heads: Any,
    head_dim: Any,
    tokens: Any,
    element_bytes: Any,
    t_fixed: Any,
    t_req: Any,
) -> Any:
    """Arrival rate from which the batch that fills the memory no longer keeps up."""
    batch = memory_batch(cache_memory, layers, kv_heads, head_dim, tokens, element_bytes)
    return effective_rate(batch, t_fixed, t_req)


@formula(
    domain=lambda device_price, devices, arrival_rate, output_tokens: (
        device_price >= 0,
        devices >= 1,
        arrival_rate > 0,
        output_tokens >= 1,
    ),
    latex=r"\frac{c_{\text{dev}} \, N_{\text{dev}}}{\lambda_{\text{arr}} S_{\text{out}}}",
    source="here",
    chapter=15,
)
def token_cost(device_price: Any, devices: Any, arrival_rate: Any, output_tokens: Any) -> Any:
    """Price of one token of an answer."""
    return device_price * devices / (arrival_rate * output_tokens)
