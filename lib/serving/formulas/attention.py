"""Closed forms of the work of one token, with and without a cache (chapter 10).

Work is counted in multiply-adds of matrix products, over all layers of a model.
"""

from __future__ import annotations

from typing import Any

from .._formula import domain_of, formula


@formula(
    domain=lambda layers, width, kv_width: (layers >= 1, width >= 1, kv_width >= 1),
    latex=r"2 N_L d \left(d + d_{\text{kv}}\right)",
    source="Vaswani et al. 2017, section 3.2; Ainslie et al. 2023",
    chapter=10,
)
def projection_work(layers: Any, width: Any, kv_width: Any) -> Any:
    """Multiply-adds that make a token's queries, keys, values and attention outputs."""
    return 2 * layers * width * (width + kv_width)


@formula(
    domain=lambda layers, width, mlp_width: (layers >= 1, width >= 1, mlp_width >= 1),
    latex=r"2 N_L d \, d_{\text{ff}}",
    source="Vaswani et al. 2017, section 3.3",
    chapter=10,
)
def mlp_work(layers: Any, width: Any, mlp_width: Any) -> Any:
    """Multiply-adds of a token in the feed-forward part, a matrix up and one down."""
    return 2 * layers * width * mlp_width


@formula(
    domain=lambda layers, width, tokens: (layers >= 1, width >= 1, tokens >= 1),
    latex=r"2 N_L d S",
    source="Vaswani et al. 2017, section 3.2",
    chapter=10,
)
def attention_work(layers: Any, width: Any, tokens: Any) -> Any:
    """Multiply-adds of the scores and weighted sums of the last of some tokens."""
    return 2 * layers * width * tokens


@formula(
    domain=lambda layers, width, kv_width, tokens: (
        layers >= 1,
        width >= 1,
        kv_width >= 1,
        tokens >= 1,
    ),
    latex=r"2 N_L d \, d_{\text{kv}} (S - 1)",
    source="here",
    chapter=10,
)
def reprojection_work(layers: Any, width: Any, kv_width: Any, tokens: Any) -> Any:
    """Multiply-adds that make the keys and values of all earlier tokens once more."""
    return 2 * layers * width * kv_width * (tokens - 1)


@formula(
    domain=domain_of(attention_work),
    latex=r"N_L d S (S - 1)",
    source="here",
    chapter=10,
)
def reattention_work(layers: Any, width: Any, tokens: Any) -> Any:
    """Multiply-adds of the scores and weighted sums of all earlier tokens once more."""
    return layers * width * tokens * (tokens - 1)


@formula(
    domain=lambda layers, width, kv_width, mlp_width, tokens: (
        layers >= 1,
        width >= 1,
        kv_width >= 1,
        mlp_width >= 1,
        tokens >= 1,
    ),
    latex=r"C_{\text{proj}} + C_{\text{mlp}} + C_{\text{att}}(S)",
    source="Pope et al. 2023, section 2",
    chapter=10,
)
def cached_work(layers: Any, width: Any, kv_width: Any, mlp_width: Any, tokens: Any) -> Any:
    """Multiply-adds of the last of some tokens, keys and values of the others kept."""
    return (
        projection_work(layers, width, kv_width)
        + mlp_work(layers, width, mlp_width)
        + attention_work(layers, width, tokens)
    )


@formula(
    domain=domain_of(cached_work),
    latex=r"S \left(C_{\text{proj}} + C_{\text{mlp}}\right) + N_L d S (S + 1)",
    source="here",
    chapter=10,
)
def pass_work(layers: Any, width: Any, kv_width: Any, mlp_width: Any, tokens: Any) -> Any:
    """Multiply-adds of one pass over some tokens, nothing kept from before."""
    matrices = projection_work(layers, width, kv_width) + mlp_work(layers, width, mlp_width)
    return tokens * matrices + layers * width * tokens * (tokens + 1)


@formula(
    domain=lambda width, kv_width, mlp_width: (width >= 1, kv_width >= 1, mlp_width >= 1),
    latex=r"2 \left(d + d_{\text{kv}} + d_{\text{ff}}\right)",
    source="here",
    chapter=10,
)
def takeover_tokens(width: Any, kv_width: Any, mlp_width: Any) -> Any:
    """Tokens at which repeated attention costs as much as all other repeated work."""
    return 2 * (width + kv_width + mlp_width)


@formula(
    domain=lambda batch, element_bytes: (batch >= 1, element_bytes > 0),
    latex=r"\frac{2 B}{s_{\text{elem}}}",
    source="Williams et al. 2009; Pope et al. 2023, section 2",
    chapter=10,
)
def weight_intensity(batch: Any, element_bytes: Any) -> Any:
    """Operations on each byte of the weights in a step that writes a token a sequence."""
    return 2 * batch / element_bytes


@formula(
    domain=lambda width, kv_width, element_bytes: (
        width >= 1,
        kv_width >= 1,
        element_bytes > 0,
    ),
    latex=r"\frac{2 d}{d_{\text{kv}} s_{\text{elem}}}",
    source="Shazeer 2019; Ainslie et al. 2023",
    chapter=10,
)
def cache_intensity(width: Any, kv_width: Any, element_bytes: Any) -> Any:
    """Operations on each byte of the cache in a step, whatever the batch."""
    return 2 * width / (kv_width * element_bytes)


@formula(
    domain=lambda layers, width, kv_width, mlp_width, input_tokens, output_tokens: (
        layers >= 1,
        width >= 1,
        kv_width >= 1,
        mlp_width >= 1,
        input_tokens >= 1,
        output_tokens >= 1,
    ),
    latex=(
        r"\frac{S_{\text{out}} \left(2 S_{\text{in}} + S_{\text{out}} - 1\right)}{2}"
        r" \left(C_{\text{proj}} + C_{\text{mlp}}\right)"
        r" + \frac{N_L d S_{\text{out}} \left(3 S_{\text{in}}^2"
        r" + 3 S_{\text{in}} S_{\text{out}} + S_{\text{out}}^2 - 1\right)}{3}"
    ),
    source="here",
    chapter=10,
)
def forgetful_work(
    layers: Any,
    width: Any,
    kv_width: Any,
    mlp_width: Any,
    input_tokens: Any,
    output_tokens: Any,
) -> Any:
    """Multiply-adds of a whole answer when every token takes a pass over all before it."""
    matrices = projection_work(layers, width, kv_width) + mlp_work(layers, width, mlp_width)
    squares = 3 * input_tokens**2 + 3 * input_tokens * output_tokens + output_tokens**2 - 1
    return (
        output_tokens * (2 * input_tokens + output_tokens - 1) / 2 * matrices
        + layers * width * output_tokens * squares / 3
    )
