"""The cases of ``reference/engine-logs.json``, as lines of logs with a layout made by hand.

Its configurations and settings are in words; they are read here by the names of their fields,
whatever the case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from serving import kvcache, validation
from serving.kvcache import LayerGroup, Layout, State
from serving.validation import Line

ENGINES = {
    "vLLM V0": "vllm-v0",
    "vLLM V1": "vllm-v1",
    "vLLM": "vllm",
    "SGLang": "sglang",
    "TensorRT-LLM": "tensorrt-llm",
    "ik_llama": "ik_llama.cpp",
    "llama": "llama.cpp",
    "whisper": "whisper.cpp",
    "ggml": "ggml",
}
"""Names of engines by how the words begin."""


def number(words: Any) -> int:
    """Read the first number of a setting."""
    return int(re.search(r"\d+", str(words))[0])


def engine(case: dict[str, Any]) -> str:
    """Name of the engine of a case."""
    said = case["setting"].get("engine", "")
    return next(name for start, name in ENGINES.items() if said.startswith(start))


def layouts(case: dict[str, Any]) -> dict[str, Layout]:
    """Layouts of a case: one, or one for each name that its log has."""
    config, setting = case["config"], case["setting"]
    dtype = {"fp16/bf16": "bf16", "f16": "fp16", "f32": "fp32", None: "bf16"}
    kind = setting.get("kv_dtype")
    made = [dtype.get(kind, kind), setting.get("tp", 1)]
    layers, states = config.get("num_hidden_layers"), ()
    heads, width = config.get("num_key_value_heads", 0), config.get("head_dim", 0)
    row = (heads * width, heads * width)
    window = config.get("sliding_window")
    if "full" in case["printed"]:
        full, local = LayerGroup(layers, *row), LayerGroup(layers, *row, window)
        groups = {"full": (full,), "swa": (local,), "hybrid": (full, local)}
        return {name: Layout(some, *made) for name, some in groups.items()}
    if "layer_types" in config or "sliding_layers" in config:
        groups = tuple(described(config, row))
    elif "kv_lora_rank" in config:
        groups = (LayerGroup(layers, config["kv_lora_rank"] + config["qk_rope_head_dim"], 0),)
    elif "gdn_layers" in config:
        groups = (LayerGroup(config["full_layers"], *row),)
        keys = config["linear_num_key_heads"] * config["linear_head_dim"]
        values = config["linear_num_value_heads"] * config["linear_head_dim"]
        conv = (config["conv_kernel"] - 1) * (2 * keys + values)
        states = (State(config["gdn_layers"], conv + values * config["linear_head_dim"]),)
    elif "d_inner" in config:
        groups, inner = (), config["d_inner"]
        states = (State(layers, inner * (config["d_state"] + config["d_conv"] - 1)),)
    elif "n_text_layer" in config:
        layers, state = config["n_text_layer"], config["n_text_state"]
        text = LayerGroup(layers, state, state)
        groups = (text, LayerGroup(layers, state, state, config["n_audio_ctx"], True))
    else:
        fields = {k: v for k, v in config.items() if k not in ("inferred", "v_head_dim")}
        fields.pop("sliding_window", None)
        if engine(case) == "ggml":
            fields = validation.every_head(fields)
        [one] = kvcache.layout(fields, *made).groups
        values = config.get("v_head_dim", width) * one.values // width
        groups = (LayerGroup(one.layers, one.keys, values),)
    return {"": Layout(groups, *made, states)}


def described(config: dict[str, Any], row: tuple[int, int]) -> Iterator[LayerGroup]:
    """Read groups that are told in words, such as ``10 full (4 kv x 512) + 50 sliding``."""
    said = config.get("layer_types") or (
        f"{config['full_layers']} full + {config['sliding_layers']} sliding"
    )
    for count, kind, heads, width in re.findall(
        r"(\d+) (full|sliding)(?: \((\d+) kv x (\d+)\))?", said
    ):
        numbers = (int(heads) * int(width),) * 2 if heads else row
        window = config["sliding_window"] if kind == "sliding" else None
        yield LayerGroup(int(count), *numbers, window)


def lines(case: dict[str, Any]) -> Iterator[tuple[str, Line]]:
    """Lines of the log of a case, each with the name of the layout it is about."""
    said, setting = case["printed"], case["setting"]
    always = {
        "engine": engine(case),
        "tokens": number(setting.get("max_model_len") or setting.get("n_ctx") or 8192),
        "stages": setting.get("pp", 1),
        "block_size": number(setting.get("block_size") or setting.get("tokens_per_block") or 0),
        "batched_tokens": number(setting.get("max_num_batched_tokens") or 0)
        or setting.get("n_ubatch", 8192),
        "sequences": setting.get("n_seq", 1),
    }
    always = {name: value for name, value in always.items() if value}

    def line(label: str, text: Any, what: str, **more: Any) -> tuple[str, Line]:
        return "", Line(label, str(text), what, {**always, **more})

    gib = next(
        (said[n] for n in ("available_kv_gib", "kv_gib", "kv_cache_size_gib") if n in said), 0
    )
    memory = [f"{one} GiB" for one in gib.values()] if isinstance(gib, dict) else f"{gib} GiB"
    card = re.search(r"(\d+) ?GB", setting.get("gpu", ""))
    device = {"device": f"{card[1]} GiB" if card else ""}
    blocks = said.get("# GPU blocks", said.get("vllm_blocks", 0))
    tokens = next(
        (said[n] for n in ("GPU KV cache size", "kv_tokens", "vllm_tokens") if n in said), 0
    )
    if "# CPU blocks" in said:
        swap = f"{setting.get('swap_space_gib', 4)} GiB"
        yield line("# CPU blocks", said["# CPU blocks"], "blocks", memory=swap)
    if "# GPU blocks" in said:
        of = {"memory": memory} if gib else device
        yield line("# GPU blocks", blocks, "blocks" if gib else "most blocks", **of)
    if "peak_torch_gib" in setting:
        [total] = re.findall(r"([\d.]+) GiB", setting["gpu"])
        spent = {"weights": f"{setting['peak_torch_gib']} GiB"}
        spent |= {"reserve": f"{setting['non_torch_gib']} GiB", "device": f"{total} GiB"}
        yield line("cache", memory, "cache", **spent)
    if tokens and gib:
        yield line("tokens", tokens, "tokens", memory=memory)
    elif tokens:
        yield line("tokens", tokens, "tokens", blocks=blocks)
    if "max_concurrency" in said:
        length = setting.get("max_model_len")
        length = length[0] if isinstance(length, list) else length
        of = {"blocks": blocks or tokens // 16, "tokens": length}
        yield line("concurrency", said["max_concurrency"], "concurrency", **of)
    if "error_max_tokens" in said:
        yield line("most tokens", said["error_max_tokens"], "tokens", blocks=blocks)
    if "kib_per_token" in said:
        text = f"{said['kib_per_token']} KiB"
        yield line("a token", text, "bytes of a token", memory=memory)
    for name in said:
        if found := re.match(r"needed_gib_for_(\d+)", name):
            of = {"tokens": int(found[1]), "memory": f"{said['available_gib_2']} GiB"}
            yield line("needed", f"{said[name]} GiB", "request bytes", **of)
            yield line("longest", said["estimated_max_len"], "longest", **of)
    if "estimated_max_len" in setting or "available_gib" in setting:
        of = {"memory": f"{setting['available_gib']} GiB", "tokens": 2**17}
        yield line("longest", said["estimated_max_len"], "longest", **of)
    for name in ("full", "swa", "hybrid"):
        if name in said:
            of = {**always, "blocks": said[name][0]}
            yield name, Line(name, f"{said[name][1]:.1f}", "concurrency", of)
    if "sim_blocks" in said:
        [free] = re.findall(r"weights\(([\d.]+)\)", " ".join(case["computed"]))
        of = {**device, "weights": f"{free} GiB"}
        yield line("simulated", said["sim_blocks"], "blocks", **of, utilization=0.9)
        yield line("vLLM's", blocks, "blocks", **of, utilization=said["equivalent_util"])
    if "primary_blocks" in said:
        of = {"device": f"{said['available_gib']} GiB"}
        yield line("blocks", said["primary_blocks"], "blocks", **of)
    share = {"utilization": setting.get("kv_cache_free_gpu_mem_fraction", 0.9)}
    if "trtllm_tokens" in said:
        yield line("tokens", said["trtllm_tokens"], "most tokens", **device, **share)
    if "vllm_gpu_blocks (as claimed)" in said:
        of = {"engine": "vllm-v0", **device}
        yield line("claimed", said["vllm_gpu_blocks (as claimed)"], "most blocks", **of)
    for name, what in [("K size GB", "keys"), ("V size GB", "values")]:
        if name in said:
            yield line(name, f"{said[name]} GiB", what, tokens=said["#tokens"])
    totals = {"KV self size MiB": "total", "memory size MB": "total", "recurrent MiB": "states"}
    for name, what in (totals | {"kv MiB": "keys and values"}).items():
        if name in said:
            yield line(name, f"{said[name]} MiB", what)
    if "per_seq_MiB" in said:
        yield line("one", f"{said['per_seq_MiB']} MiB", "total", sequences=1)
        yield line("many", f"{said['2048_seqs_GiB']} GiB", "total", sequences=2048)
    for name, unit, block in [("old", "MiB", 1), ("new", "MB", 256)]:
        if f"{name} kv self/cross" in said:
            size = {"tokens": case["config"]["n_text_ctx"], "block_size": block}
            own, cross = said[f"{name} kv self/cross"]
            yield line(f"{name} self", f"{own} {unit}", "keys and values", **size)
            yield line(f"{name} cross", f"{cross} {unit}", "encoder", **size)
    for name, what in [("n_embd_k_gqa", "key numbers"), ("n_embd_v_gqa", "value numbers")]:
        if name in said:
            yield line(name, said[name], what)
    for row in case["computed"].get("rows", []):
        of = {"tokens": row["n_ctx"], "sequences": row["parallel"]}
        yield line(str(of), f"{row['printed_MiB']} MiB", "total", **of)
