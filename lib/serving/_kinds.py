"""Which layer of a model keeps what: rules by the fields of its configuration.

`RULES` is read from the top; the first field that says something decides for all layers.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable

from . import errors
from ._fields import LAYERS, Fields, count, given, layers, listed, mapping, window
from ._fields import WINDOW as WINDOWS

FULL, WINDOW, CHUNK, STATE, BOTH, CROSS, NONE = (
    *("every token", "a window", "a chunk", "a state", "every token and a state"),
    *("an encoder's tokens", "nothing"),
)
"""What a layer keeps."""

NAMES: dict[str, str] = {
    **dict.fromkeys(("full_attention", "attention", "full", "global", "*", "G"), FULL),
    **dict.fromkeys(("indexed_attention", "deepseek_sparse_attention"), FULL),
    **dict.fromkeys(("sliding_attention", "local", "local_attention", "sliding", "L"), WINDOW),
    **dict.fromkeys(("linear_attention", "mamba", "mamba2", "recurrent", "conv", "M"), STATE),
    **dict.fromkeys(("moe", "mlp", "-", "E"), NONE),
    "chunked_attention": CHUNK,
    "hybrid": BOTH,
}
"""What the name of a layer's kind says that it keeps."""


def _named(name: str, fields: Fields, n: int) -> list[str]:
    """Read a name for each layer; entries for layers that only draft tokens may follow."""
    value, drafts = fields[name], fields.get("num_nextn_predict_layers")
    if drafts and isinstance(value, list) and len(value) == n + drafts:
        value = value[:n]
    listed(name, value, n)
    for kind in value:
        if not isinstance(kind, str) or kind not in NAMES:
            raise ValueError(
                f"config: {name} = {reprlib.repr(value)} has {kind!r}, which is not modelled"
            )
    return [NAMES[kind] for kind in value]


def _repeated(name: str, fields: Fields, n: int) -> list[str]:
    """Read a pattern of names that is repeated; in Griffin, all attention is local."""
    pattern = list(fields[name])
    kinds = _named(name, {name: pattern}, len(pattern))
    local = [WINDOW if kind == FULL else kind for kind in kinds]
    return (local * n)[:n]


def _counted(name: str, fields: Fields, n: int) -> list[str]:
    """Read pairs of a pattern and how often it comes, as GPT-Neo has them."""
    try:
        spread = [kind for pattern, times in fields[name] for kind in [*pattern] * times]
    except (TypeError, ValueError):
        raise TypeError(
            f"config: {name} must pair patterns with how often they come, "
            f"got {reprlib.repr(fields[name])}"
        ) from None
    return _named(name, {name: spread}, n)


def _numbered(*kinds: str) -> Rule:
    """Make a rule for a list with a number for each layer."""

    def rule(name: str, fields: Fields, n: int) -> list[str]:
        """Read the kind of each layer from its number."""
        listed(name, fields[name], n)
        for one in fields[name]:
            if one not in range(len(kinds)):
                raise ValueError(f"config: {name} has {one!r}, which is not modelled")
        return [kinds[one] for one in fields[name]]

    return rule


def _places(inside: str, outside: str) -> Rule:
    """Make a rule for a list of the places of the layers that keep something else."""

    def rule(name: str, fields: Fields, n: int) -> list[str]:
        """Read which layers stand in the list."""
        places = {errors.integer(f"config: {name}", one, at_least=0) for one in fields[name]}
        if places and max(places) >= n:
            raise ValueError(f"config: {name} = {fields[name]} goes beyond {n} layers")
        return [inside if place in places else outside for place in range(n)]

    return rule


def _kimi(name: str, fields: Fields, n: int) -> list[str]:
    """Read the places of the layers of Kimi Linear, which count from 1."""
    full = mapping(name, fields[name]).get("full_attn_layers") or []
    zero_based = [errors.integer("config: full_attn_layers", one, at_least=1) - 1 for one in full]
    return _places(FULL, STATE)("full_attn_layers", {"full_attn_layers": zero_based}, n)


def _period(name: str, fields: Fields, n: int) -> list[str]:
    """Place attention at one offset in each period: in Jamba alone, in Zamba beside a state."""
    period, start = count(fields, (name,)), fields.get("attn_layer_offset") or 0
    offset = errors.integer("config: attn_layer_offset", start, at_least=0)
    rare = BOTH if "n_mamba_heads" in fields else FULL
    return [rare if place % period == offset else STATE for place in range(n)]


def _every(rare: str, common: str) -> Rule:
    """Make a rule for the last layer of each so many."""

    def rule(name: str, fields: Fields, n: int) -> list[str]:
        """Place the rare layers, one at the end of each period."""
        if isinstance(fields[name], str):  # EXAONE 4: L and G, and the last is global
            letters = _named(name, fields, len(fields[name])) * n
            return [*letters[: n - 1], rare]
        step = count(fields, (name,))
        off = window(fields) is None and any(other in fields for other in WINDOWS)
        if common == WINDOW and off:
            return [rare] * n
        return [common if place % step else rare for place in range(1, n + 1)]

    return rule


def _blocks(name: str, fields: Fields, n: int) -> list[str]:
    """Read the blocks of a model whose architecture was searched for: some have no attention."""
    listed(name, fields[name], n)
    kinds = []
    for block in fields[name]:
        attention = mapping(name, mapping(name, block).get("attention", block))
        for field in ("window_length", "num_sink_tokens", "sparsify", "mamba"):
            if attention.get(field):
                raise ValueError(f"config: {name} has {field}, which is not modelled")
        off = attention.get("no_op") or attention.get("replace_with_linear")
        kinds.append(NONE if off else FULL)
    return kinds


def _chunks(name: str, fields: Fields, n: int) -> list[str]:
    """Find the layers of Llama 4 that see one chunk: those with rotary positions."""
    step = count(fields, ("no_rope_layer_interval",), 4)
    rotary = fields.get("no_rope_layers") or [place % step for place in range(1, n + 1)]
    listed("no_rope_layers", rotary, n)
    return [CHUNK if one else FULL for one in rotary]


def _upper(name: str, fields: Fields, n: int) -> list[str]:
    """Find the windows of Qwen 2: in the layers from a given one on, if they are switched on."""
    if "use_sliding_window" not in fields and window(fields):
        raise ValueError(
            f"config: {name} = {fields[name]} does not say whether windows are used: "
            "use_sliding_window must be given"
        )
    first = errors.integer(f"config: {name}", fields[name], at_least=0)
    return [WINDOW if window(fields) and place >= first else FULL for place in range(n)]


def _all(kind: str) -> Rule:
    return lambda name, fields, n: [kind] * n


def _windows(name: str, fields: Fields, n: int) -> list[str]:
    return [WINDOW if window(fields) else FULL] * n


Rule = Callable[[str, Fields, int], list[str]]
RULES: tuple[tuple[str, Rule], ...] = (
    ("layer_types", _named),
    ("layers_block_type", _named),
    ("hybrid_override_pattern", _named),
    ("attention_layers", _named),
    ("attention_types", _counted),
    ("block_types", _repeated),
    ("_block_types", _repeated),
    ("hybrid_layer_pattern", _numbered(FULL, WINDOW)),
    ("attn_type_list", _numbered(STATE, FULL)),
    ("attn_layer_indices", _places(FULL, STATE)),
    ("full_attn_idxs", _places(FULL, STATE)),
    ("linear_attn_config", _kimi),
    ("attn_layer_period", _period),
    ("full_attention_interval", _every(FULL, STATE)),
    ("layer_group_size", _every(FULL, STATE)),
    ("block_configs", _blocks),
    ("mamba_d_ssm", _all(BOTH)),
    ("cross_attention_layers", _places(CROSS, FULL)),
    ("attention_chunk_size", _chunks),
    ("sliding_window_pattern", _every(FULL, WINDOW)),
    ("_sliding_window_pattern", _every(FULL, WINDOW)),
    ("global_attn_every_n_layers", _every(FULL, WINDOW)),
    ("max_window_layers", _upper),
    *((name, _windows) for name in WINDOWS),
)
"""Fields that say what each layer keeps, and how; the first that is there decides."""
WITHOUT_HEADS = ("state_size", "d_state", "rescale_every")
"""Fields of models without attention: Mamba, RWKV."""
_NAMES = [name for name, _ in RULES]
SETTLING = {*_NAMES[: _NAMES.index("cross_attention_layers")], *WITHOUT_HEADS}
"""Fields that settle all questions of windows and states."""
WINDOWED = {*SETTLING, *_NAMES[_NAMES.index("sliding_window_pattern") :]}
"""Fields beside which the length of a window is read."""
OF_LAYERS = {
    WINDOW: {
        "num_key_value_heads": "swa_num_key_value_heads",
        "head_dim": "swa_head_dim",
        "v_head_dim": "swa_v_head_dim",
    },
    FULL: {"num_key_value_heads": "num_global_key_value_heads", "head_dim": "global_head_dim"},
}
"""Fields that layers of one kind have in the place of the general ones: MiMo, Gemma 4."""


def deciding(fields: Fields) -> str | None:
    """Find the field that decides what each layer keeps, None if every layer keeps every token."""
    if not given(fields, ("num_attention_heads", "n_head", "n_heads")):
        for name in WITHOUT_HEADS:
            if fields.get(name):
                return name
    return next((name for name, _ in RULES if fields.get(name)), None)


def kinds(fields: Fields) -> list[str]:
    """Tell for each layer what it keeps."""
    name = deciding(fields)
    unnumbered = name in ("hybrid_override_pattern", "layers_block_type")
    n = len(fields[str(name)]) if unnumbered and not given(fields, LAYERS) else layers(fields)
    if name is None:
        found = [FULL] * n
    elif name in WITHOUT_HEADS:
        found = [STATE] * n
    else:
        found = dict(RULES)[name](name, fields, n)
    step = count(fields, ("cla_share_factor",), 1) if fields.get("use_cla") else 1
    kept = [kind if place % step == 0 else NONE for place, kind in enumerate(found)]
    return kept[: n - _borrowing(fields, n)]


def _borrowing(fields: Fields, n: int) -> int:
    """Count the last layers that read the keys of earlier ones, as in Gemma 3n."""
    shared = fields.get("num_kv_shared_layers") or 0
    borrowing = errors.integer("config: num_kv_shared_layers", shared, at_least=0)
    if borrowing >= n:
        raise ValueError(f"config: num_kv_shared_layers = {shared} leaves none of {n} layers")
    return borrowing
