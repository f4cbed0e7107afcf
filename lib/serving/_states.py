"""Sizes of the states that layers keep in the place of keys and values.

A state has as many numbers after a million tokens as after one. Each function counts those of
one layer on one device: the latest inputs of convolutions, and the rest. Convolutions keep the
inputs that their kernel still reaches, one fewer than its width. Heads, channels and groups are
split over devices, a single group is copied.

Source: vLLM, ``vllm/model_executor/layers/mamba/mamba_utils.py``, ``MambaStateShapeCalculator``;
llama.cpp, ``src/llama-hparams.cpp``, ``n_embd_r`` and ``n_embd_s``.
"""

from __future__ import annotations

from collections.abc import Callable

from ._fields import HEAD_DIM, HEADS, WIDTH, Fields, count, given

KERNEL = ("mamba_d_conv", "conv_kernel", "d_conv")
EXPAND = ("mamba_expand", "expand")
INNER = ("d_inner", "mamba_d_ssm")
STATE_SIZE = ("mamba_d_state", "ssm_state_size", "state_size", "d_state", "mamba_state_size")
STATE_HEADS = ("mamba_n_heads", "mamba_num_heads", "n_mamba_heads")
STATE_HEAD_DIM = ("mamba_d_head", "mamba_head_dim", "mamba_headdim")
GROUPS = ("mamba_n_groups", "n_groups", "mamba_ngroups")


Size = tuple[int, int]
"""Latest inputs of convolutions, and all other numbers."""


def _split(fields: Fields, names: tuple[str, ...], devices: int, numbers: int | None = None) -> int:
    whole = count(fields, names) if numbers is None else numbers
    if whole % devices:
        name = next(iter(given(fields, names)), names[0])
        raise ValueError(
            f"tensor_parallel = {devices} cannot split {name} = {whole} evenly; engines refuse it"
        )
    return whole // devices


def gated_delta(fields: Fields, devices: int) -> Size:
    """Count the state of a gated delta net: of convolutions, and a matrix for each head."""
    keys = _split(fields, ("linear_num_key_heads",), devices)
    values = _split(fields, ("linear_num_value_heads",), devices)
    key, value = (count(fields, (f"linear_{one}_head_dim",)) for one in ("key", "value"))
    kernel = count(fields, ("linear_conv_kernel_dim",))
    return (kernel - 1) * (2 * keys * key + values * value), values * value * key


def kimi_delta(fields: Fields, devices: int) -> Size:
    """Count the state of Kimi's delta attention: three convolutions, and a matrix for each head."""
    part = fields.get("linear_attn_config") or {}
    stated = {f"linear_{name}": value for name, value in part.items()}
    names = ("linear_short_conv_kernel_size", "linear_conv_kernel_dim")
    heads = _split({**fields, **stated}, ("linear_num_heads",), devices)
    size = count({**fields, **stated}, ("linear_head_dim",))
    kernel = count(stated or fields, names)
    return (kernel - 1) * 3 * heads * size, heads * size**2


def lightning(fields: Fields, devices: int) -> Size:
    """Count the state of lightning attention: a matrix for each head."""
    size = count(fields, HEAD_DIM, count(fields, WIDTH) // count(fields, HEADS))
    return 0, _split(fields, HEADS, devices) * size**2


def mamba(fields: Fields, devices: int) -> Size:
    """Count the state of Mamba: of a convolution, and some numbers for each channel."""
    channels = _split(fields, INNER, devices, _inner(fields))
    return channels * (count(fields, KERNEL) - 1), channels * count(fields, STATE_SIZE)


def _inner(fields: Fields) -> int:
    found = given(fields, INNER)
    if not found and not given(fields, ("num_attention_heads",)):  # else of the dense layers
        found = given(fields, ("intermediate_size",))
    stretched = 0 if found else count(fields, EXPAND) * count(fields, WIDTH)
    return count(found, tuple(found) or INNER, stretched)


def mamba2(fields: Fields, devices: int) -> Size:
    """Count the state of Mamba 2: of convolutions, also of each group, and heads of matrices."""
    alone = not given(fields, ("num_attention_heads",))
    names = (*STATE_HEADS, "num_heads") if alone else STATE_HEADS
    sizes = (*STATE_HEAD_DIM, "head_dim") if alone else STATE_HEAD_DIM
    stated = {name: size for name, size in given(fields, sizes).items() if size != "auto"}
    heads = count(fields, names)
    size = count(stated, sizes) if stated else _inner(fields) // heads
    groups, each = count(fields, GROUPS, 1), _split(fields, names, devices) * size
    if groups % devices and devices % groups:
        raise ValueError(f"tensor_parallel = {devices} cannot split {GROUPS[0]} = {groups} evenly")
    state = count(fields, STATE_SIZE)
    kernel = count(fields, KERNEL)
    return (kernel - 1) * (each + 2 * max(1, groups // devices) * state), each * state


def griffin(fields: Fields, devices: int) -> Size:
    """Count the state of a gated linear recurrence: a number for each channel, and a convolution.

    Source: Hugging Face transformers, ``models/recurrent_gemma/modeling_recurrent_gemma.py``.
    """
    width = _split(fields, ("lru_width", *WIDTH), devices, _recurrent_width(fields))
    return width * (count(fields, ("conv1d_width",)) - 1), width


def _recurrent_width(fields: Fields) -> int:
    return count(fields, ("lru_width",), count(fields, WIDTH))


def short_convolution(fields: Fields, devices: int) -> Size:
    """Count the inputs that a short convolution still reaches."""
    return _split(fields, WIDTH, devices) * (count(fields, ("conv_L_cache",)) - 1), 0


def rwkv(fields: Fields, devices: int) -> Size:
    """Count the state of RWKV: two shifted tokens and, in version 4, three vectors; later matrices.

    Source: Hugging Face transformers, ``models/rwkv/modeling_rwkv.py``, ``RwkvModel.forward``.
    """
    width = _split(fields, WIDTH, devices)
    attention = _split(fields, ("attention_hidden_size",), devices, _attention_width(fields))
    return 2 * width, attention * count(fields, ("head_size",), 3)


def _attention_width(fields: Fields) -> int:
    return count(fields, ("attention_hidden_size",), count(fields, WIDTH))


STATES: tuple[tuple[tuple[str, ...], Callable[[Fields, int], Size]], ...] = (
    (("linear_num_value_heads",), gated_delta),
    (("linear_attn_config", "linear_num_heads"), kimi_delta),
    (("conv1d_width", "lru_width"), griffin),
    (("conv_L_cache",), short_convolution),
    (("rescale_every",), rwkv),
    ((*STATE_HEAD_DIM, *GROUPS), mamba2),
    (STATE_SIZE, mamba),
    (("attn_type_list", "linear_attn_alpha_factor"), lightning),
)
"""Fields that tell which state it is; the first that is there decides."""


def numbers(fields: Fields, devices: int) -> Size:
    """Count the numbers in the state of one layer on one device, latest inputs first."""
    for names, size in STATES:
        if any(fields.get(name) for name in names):
            return size(fields, devices)
    raise ValueError("config: layers with a state, but no field tells of which size")
