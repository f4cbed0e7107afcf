"""Configurations that are refused: a field implies a cache that is not modelled.

A field passes if it is read, if another one settles what it would say, if it is off, or if no
pattern of `OTHERS` knows its name.
"""

from __future__ import annotations

import re
import reprlib

from . import _fields, _kinds
from ._fields import Fields, given
from ._kinds import FULL, OF_LAYERS, WINDOW

LATENT = ("kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "q_lora_rank", "qk_head_dim")
READ = {
    *(*_fields.LAYERS, *_fields.DECODER_LAYERS, *_fields.HEADS, *_fields.DECODER_HEADS),
    *(*_fields.KV_HEADS, *_fields.HEAD_DIM, "v_head_dim", "use_mla", "multi_query"),
    *("is_encoder_decoder", "add_cross_attention", "num_kv_shared_layers", "max_window_layers"),
    *("no_rope_layers", "no_rope_layer_interval", "per_layer_config", "multi_query_attention"),
    *OF_LAYERS[FULL].values(),
}
"""Fields that are always taken into account, whatever decides what each layer keeps."""
NEEDS = {
    "multi_query_group_num": ("multi_query_attention",),
    "num_gqa_groups": ("num_kv_heads",),
    "use_cla": ("cla_share_factor",),
    "cla_share_factor": ("use_cla",),
    "attention_k_eq_v": ("global_head_dim", "per_layer_config"),
}
"""Fields that are understood beside another one."""
OF_ENCODER = re.compile(r"(?:num_)?encoder_.*|conv_.*|attention_window|cross_attention_hidden_size")
"""Fields of an encoder, which keeps nothing after it has handed its tokens over."""
WINDOWS = re.compile(
    r".*window.*|(?:attention_|attn_)?chunk_size|.*local_att.*|swa_.*|local_rope.*|.*_every_n_.*"
)
KINDS = re.compile(
    r"layer_types|layers_block_type|block_types?|attention_(?:layers|types)|hybrid_.*"
    r"|block_configs|attn_type.*|local_layer.*|.*(?:attn|attention)_layer_.*|global_att.*|num_query_heads"
    r"|full_att\w*_(?:interval|idxs|layers)|\w*global_\w*head\w*|layer_group_size"
)
STATES = re.compile(
    r"(?:ssm|mamba|rwkv|recurrent|conv|conv1d|lru|delta|gdn|retention|time_mix)_.*|state_size"
    r"|d_state|d_conv|linear_(?:attn|attention|num|key|value|conv|head).*|short_conv.*"
)
OTHERS: dict[str, re.Pattern[str]] = {
    "attention within a window": WINDOWS,
    "layers of several kinds": KINDS,
    "a state of constant size": STATES,
    "latent attention": re.compile(r"(?:q|kv|o)_lora_rank|qk_\w+_head_dim"),
    "attention to an encoder": re.compile(r".*cross_att.*|(?:num_)?(?:encoder|decoder)_layers"),
    "keys shared between layers": re.compile(r".*shared_kv.*|.*kv_shar.*|cla_.*|yoco.*"),
    "sparse attention": re.compile(r"index(?:er)?_.*|.*sparse_att.*|blocksparse.*"),
    "keys and values kept in a way of its own": re.compile(
        r"(?:.*_)?(?:kv|key_value|mqa|gqa|multi_query)(?:_.*)?|.*k_eq_v.*|compress_.*"
    ),
    "an encoder without a cache": re.compile(r"architectures"),
}
"""What the fields of a configuration imply that is not modelled, unless they are read or off."""


def refuse_others(fields: Fields) -> None:
    """Raise an error that names the first field that implies another kind of cache."""
    decides = _kinds.deciding(fields)
    settled = (WINDOWS, KINDS, STATES) if decides in _kinds.SETTLING else ()
    for name, value in fields.items():
        if not value or name == decides or _taken(name, fields, decides):
            continue
        for kind, pattern in OTHERS.items():
            if pattern.fullmatch(name.lower()) and pattern not in settled:
                raise ValueError(
                    f"config: {name} = {reprlib.repr(value)} implies {kind}, which is not modelled"
                )


def _taken(name: str, fields: Fields, decides: str | None) -> bool:
    """Whether a field is read, or says that the cache is not another one."""
    if name in LATENT:
        return bool(fields.get("kv_lora_rank"))
    if name in ("index_topk", "index_head_dim", "index_n_heads"):
        return _fields.latent(fields)
    if name in _fields.WINDOW:
        return decides in _kinds.WINDOWED or _fields.window(fields) is None
    if name in OF_LAYERS[WINDOW].values():
        return decides in _kinds.WINDOWED
    if name == "attn_type":
        return str(fields[name]).endswith(("multihead_attention", "query_attention"))
    if name == "use_sliding_window":
        return bool(given(fields, _fields.WINDOW))
    if name == "architectures":
        return "MaskedLM" not in str(fields[name])
    if OF_ENCODER.fullmatch(name):
        return _fields.encoded(fields)
    return name in READ or any(other in fields for other in NEEDS.get(name, ()))
