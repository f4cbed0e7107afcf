"""Cache sizes: published and printed numbers, arrays that are really made, refused configurations.

Configurations are the public ones of the models, cut to the fields that matter.
"""

import json
from fractions import Fraction

import numpy as np
import pytest

from serving import formulas, kvcache
from serving.formulas import value

GIB = 2**30


def config(layers, width, heads, kv_heads=None, head_dim=None, **others):
    fields = {
        "num_hidden_layers": layers,
        "hidden_size": width,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "head_dim": head_dim,
    }
    return {name: field for name, field in fields.items() if field is not None} | others


GPT3 = config(96, 12288, 96)
LLAMA2_70B = config(80, 8192, 64, 8)
LLAMA3_8B = config(32, 4096, 32, 8)
DEEPSEEK_CODER = config(32, 4096, 32, 32)
QWEN15_7B = config(32, 4096, 32, 32)
QWEN3_235B = config(94, 4096, 64, 4, 128)
OPT_13B = config(40, 5120, 40)


def test_gpt3_as_the_source_has_it():
    made = kvcache.layout(GPT3, "fp16")
    assert made.sequence_bytes(2048) == 9_663_676_416 == 9 * GIB
    assert formulas.kv_cache_bytes(96, 12288, 2048, 1, 2) == 9 * GIB
    assert made.max_sequences((640 - 350) * 10**9, 2048) == 30
    # cards of 80 GiB; 90 % of cards of 80 GB
    assert made.max_sequences(8 * 80 * GIB - 350 * 10**9, 2048) == 34
    assert made.max_sequences(576 * 10**9 - 350 * 10**9, 2048) == 23
    bound = value(formulas.memory_batch, 290e9, 96, 96, 128, 2048, 2)
    assert bound == pytest.approx(30.009, abs=0.0005)


def test_opt_13b_as_kwon_et_al_have_it():
    # Kwon et al. 2023, section 3: 800 KB for a token, counted in units of 1024
    assert kvcache.layout(OPT_13B, "fp16").bytes_per_token == 800 * 1024
    assert value(formulas.kv_cache_bytes, 40, 5120, 1, 1, 2) == 800 * 1024


SHAPES = [(2, 3, 1, 5, 7), (1, 1, 1, 1, 1), (4, 8, 2, 16, 33), (3, 12, 12, 64, 20)]
"""Layers, heads, heads of keys, numbers in a key, tokens."""


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "int8"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_arrays_of_that_shape_take_as_many_bytes(shape, dtype):
    layers, heads, kv_heads, head_dim, tokens = shape
    kind = {"fp32": np.float32, "fp16": np.float16, "int8": np.int8}[dtype]
    cache = [np.zeros((2, kv_heads, tokens, head_dim), kind) for _ in range(layers)]
    size = sum(one.nbytes for one in cache)
    made = kvcache.layout(config(layers, 999, heads, kv_heads, head_dim), dtype)
    assert made.sequence_bytes(tokens) == size
    per_element = np.dtype(kind).itemsize
    shaped = (layers, kv_heads, head_dim)
    assert value(formulas.grouped_cache_bytes, *shaped, tokens, 5, per_element) == 5 * size
    assert value(formulas.token_bytes, *shaped, per_element) * tokens == size
    assert value(formulas.memory_batch, 7 * size, *shaped, tokens, per_element) == 7


def test_heads_that_share_nothing_make_the_sources_formula():
    for layers, heads, head_dim in [(2, 3, 5), (96, 96, 128)]:
        grouped = value(formulas.grouped_cache_bytes, layers, heads, head_dim, 11, 13, 2)
        assert grouped == value(formulas.kv_cache_bytes, layers, heads * head_dim, 11, 13, 2)


def test_at_parity_the_cache_takes_as_much_as_the_weights():
    # GPT-3: 36 full requests take less than the weights, 37 take more
    full = value(formulas.parity_tokens, 175e9, 96, 96, 128) / 2048
    assert 36 < full < 37
    assert 36 * 9 * GIB < 350e9 < 37 * 9 * GIB
    cache = value(formulas.kv_cache_bytes, 96, 12288, 2048, full, 2)
    assert cache == pytest.approx(value(formulas.weight_bytes, 175e9, 2), rel=1e-12)


CPU_BLOCKS = [
    # https://github.com/vllm-project/vllm/pull/4454, vLLM V0: 4 GiB of swap in blocks of 16
    (config(12, 768, 12), 1, 7281),
    (LLAMA3_8B, 1, 2048),
    # https://github.com/vllm-project/vllm/issues/5248
    (DEEPSEEK_CODER, 2, 1024),
]


@pytest.mark.parametrize(("model", "devices", "printed"), CPU_BLOCKS)
def test_blocks_that_vllm_printed(model, devices, printed):
    made = kvcache.layout(model, "fp16", devices)
    assert made.max_sequences(4 * GIB, tokens=16) == printed


def test_tokens_that_sglang_printed():
    # https://github.com/vllm-project/vllm/issues/21348: 367404 tokens, keys of 8.23 "GB" a device
    made = kvcache.layout(QWEN3_235B, "bf16", tensor_parallel=4)
    assert made.sequence_bytes(367_404) / 2 / GIB == pytest.approx(8.23, abs=0.005)


def test_the_longest_sequence_of_vllms_own_test():
    # vllm/tests/v1/core/test_kv_cache_utils.py, test_estimate_max_model_len
    made = kvcache.layout(QWEN15_7B)
    assert made.max_sequences(8 * GIB, 16384) == 1
    assert made.max_sequences(8 * GIB, 16385) == 0


def test_an_fp8_cache_as_vllm_sized_it():
    # https://github.com/vllm-project/vllm/issues/25350: 10.12 GiB for 221000 tokens; the shape
    # of Qwen3-30B-A3B is inferred from the thread
    made = kvcache.layout(config(48, 2048, 32, 4, 128), "fp8")
    assert made.sequence_bytes(221_000) / GIB == pytest.approx(10.12, abs=0.005)


def test_llama2_70b_is_eight_times_smaller_than_by_its_width():
    made = kvcache.layout(LLAMA2_70B, "fp16")
    assert made.bytes_per_token == 320 * 1024
    assert 8 * made.bytes_per_token == formulas.kv_cache_bytes(80, 8192, 1, 1, 2)


def test_a_sequence_takes_whole_blocks():
    made = kvcache.layout(LLAMA3_8B)
    room = 32 * made.bytes_per_token
    assert [made.max_sequences(room, tokens) for tokens in (1, 16, 17, 32, 33)] == [2, 2, 1, 1, 0]
    assert made.max_sequences(room, 1, block_size=1) == 32
    assert made.max_sequences(0, 1) == 0


def test_heads_are_split_and_then_copied():
    sizes = [kvcache.layout(LLAMA2_70B, "fp16", n).bytes_per_token for n in (1, 2, 8, 16, 64)]
    assert [320 * 1024 // size for size in sizes] == [1, 2, 8, 8, 8]


@pytest.mark.parametrize(
    ("heads", "kv_heads", "devices"), [(64, 8, 3), (64, 8, 128), (12, 6, 4), (12, 4, 6), (71, 1, 2)]
)
def test_heads_that_do_not_divide_are_refused(heads, kv_heads, devices):
    with pytest.raises(ValueError, match=f"tensor_parallel = {devices} cannot split") as raised:
        kvcache.layout(config(4, 999, heads, kv_heads, 64), "fp16", devices)
    assert f"num_attention_heads = {heads}" in str(raised.value)
    assert f"num_key_value_heads = {kv_heads}" in str(raised.value)


def test_bytes_stay_exact_far_beyond_32_and_64_bits():
    made = kvcache.layout(GPT3, "fp32")
    assert made.sequence_bytes(10**18 + 1) == (10**18 + 1) * 9_437_184
    assert made.sequence_bytes(np.int32(2**31 - 1)) == (2**31 - 1) * 9_437_184
    assert all(isinstance(size, Fraction) for size in kvcache.BYTES.values())


def test_names_of_other_families():
    gpt2 = {"n_layer": 12, "n_head": 12, "n_embd": 768, "n_positions": 1024}
    assert kvcache.layout(gpt2).bytes_per_token == 2 * 12 * 768 * 2
    bloom = {"n_layer": 70, "num_attention_heads": 112, "n_head": 112, "n_embed": 14336}
    assert kvcache.layout(bloom).bytes_per_token == 2 * 70 * 14336 * 2
    falcon_7b = {"num_kv_heads": 71, "multi_query": True, "new_decoder_architecture": False}
    assert kvcache.layout(config(32, 4544, 71, **falcon_7b)).bytes_per_token == 2 * 32 * 64 * 2
    falcon_40b = {"num_kv_heads": 8, "multi_query": True, "new_decoder_architecture": True}
    made = kvcache.layout(config(60, 8192, 128, **falcon_40b))
    assert made.bytes_per_token == 2 * 60 * 8 * 64 * 2


def test_a_part_for_the_language_model_is_read(tmp_path):
    whole = {"vision_config": {"window_size": 14, "num_hidden_layers": 3}, "text_config": LLAMA3_8B}
    expected = kvcache.layout(LLAMA3_8B)
    assert kvcache.layout(whole) == expected
    path = tmp_path / "config.json"
    path.write_text(json.dumps(whole), "utf-8")
    assert kvcache.layout(path) == kvcache.layout(str(path)) == expected
    path.write_text("[]", "utf-8")
    with pytest.raises(TypeError, match="config must be a dict"):
        kvcache.layout(path)
    path.write_text("{", "utf-8")
    with pytest.raises(ValueError, match="config cannot be read from"):
        kvcache.layout(path)


HARMLESS = [
    {"rope_theta": 5e5, "vocab_size": 128256, "use_cache": True, "torch_dtype": "bfloat16"},
    {"architectures": ["LlamaForCausalLM"], "attention_bias": False, "mlp_bias": False},
    {"sliding_window": 131072, "use_sliding_window": False, "max_window_layers": 28},
    {"sliding_window": None, "num_local_experts": 8, "num_experts_per_tok": 2},
    {"layer_types": ["full_attention"] * 32, "is_encoder_decoder": False, "v_head_dim": 128},
    {"chunk_size_feed_forward": 0, "add_cross_attention": False, "clip_qkv": 8.0},
    {"first_k_dense_replace": 1, "num_nextn_predict_layers": 1, "use_qk_norm": True},
    {"quantization_config": {"kv_cache_scheme": None}, "rope_scaling": {"factor": 8.0}},
]


@pytest.mark.parametrize("more", HARMLESS, ids=lambda more: next(iter(more)))
def test_fields_that_do_not_touch_the_cache_pass(more):
    assert kvcache.layout(LLAMA3_8B | more) == kvcache.layout(LLAMA3_8B)


OTHERS = {
    "DeepSeek-V3": {"kv_lora_rank": 512},
    "Mistral 7B v0.1": {"sliding_window": 4096},
    "Qwen2 with its window": {"use_sliding_window": True, "sliding_window": 4096},
    "gpt-oss": {"layer_types": ["sliding_attention", "full_attention"]},
    "Llama 4": {"attention_chunk_size": 8192},
    "GPT-Neo": {"attention_types": [[["global", "local"], 12]]},
    "ModernBERT": {"global_attn_every_n_layers": 3},
    "Jamba": {"attn_layer_period": 8},
    "Zamba": {"layers_block_type": ["mamba", "hybrid"]},
    "Nemotron-H": {"hybrid_override_pattern": "M-M*-"},
    "MiniMax-01": {"attn_type_list": [0, 1]},
    "Nemotron-NAS": {"block_configs": [{}]},
    "Bamba": {"mamba_d_state": 128},
    "Mamba": {"state_size": 16},
    "Falcon-Mamba": {"ssm_cfg": {"layer": "Mamba2"}},
    "LFM2": {"conv_L_cache": 3},
    "RecurrentGemma": {"lru_width": 2560},
    "Qwen3-Next": {"linear_num_value_heads": 32},
    "Kimi Linear": {"linear_attn_config": {"num_heads": 32}},
    "T5": {"is_encoder_decoder": True},
    "Llama 3.2 Vision": {"cross_attention_layers": [3, 8]},
    "Gemma 3n": {"num_kv_shared_layers": 10},
    "Hunyuan": {"cla_share_factor": 2},
    "DeepSeek-V3.2": {"index_topk": 2048},
    "Phi-3-small": {"blocksparse_block_size": 64},
    "ChatGLM": {"multi_query_attention": True},
    "DeciLM": {"num_key_value_heads_per_layer": [4, 2]},
    "MiMo": {"swa_num_key_value_heads": 8},
    "keys wider than values": {"v_head_dim": 64},
    "BERT": {"architectures": ["BertForMaskedLM"]},
}


@pytest.mark.parametrize("more", OTHERS.values(), ids=OTHERS)
def test_a_field_that_implies_another_cache_is_named(more):
    name, field = next(iter(more.items()))
    for fields in (LLAMA3_8B | more, {"text_config": LLAMA3_8B | more}, more | LLAMA3_8B):
        with pytest.raises(ValueError, match="which is not modelled") as raised:
            kvcache.layout(fields)
        assert f"config: {name} = {field!r}" in str(raised.value)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "config must have num_attention_heads"),
        (config(None, 4096, 32), "config must have num_hidden_layers"),
        (config(32, None, 32), "config must have hidden_size"),
        (config(0, 4096, 32), "num_hidden_layers must be at least 1, got 0"),
        (config(32, 4096, -1), "num_attention_heads must be at least 1, got -1"),
        (config(32, 4096, 32, 0), "num_key_value_heads must be at least 1, got 0"),
        (config(32, 4096, 32, 5), "num_attention_heads = 32 must be a multiple of"),
        (config(32, 4096, 3), "hidden_size = 4096 must be a multiple of num_attention_heads = 3"),
        (config(32, 4096, 32, 8, 1.5), "head_dim must be a whole number, got 1.5"),
        (config(32, 4096, 32, n_head=16), "config contradicts itself"),
    ],
)
def test_a_configuration_that_cannot_be_is_named(fields, words):
    with pytest.raises(ValueError, match=words):
        kvcache.layout(fields)


def test_heads_that_differ_by_layer_are_named():
    with pytest.raises(TypeError, match=r"num_kv_heads must be a real number, got \[4, 2\]"):
        kvcache.layout(config(2, 64, 4, num_kv_heads=[4, 2]))
