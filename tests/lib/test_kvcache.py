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
    "ModernBERT": {"local_attention": 128},
    "latent attention without its row": {"qk_rope_head_dim": 64},
    "DeepSeek-V4": {"compress_rates": {"heavily_compressed_attention": 128}},
    "Ministral": {"interleaved_sliding_window": 4096},
    "Inkling": {"local_layer_ids": [0, 1]},
    "windows with heads of their own, but nothing that says where": {"swa_rope_theta": 1e4},
    "heads of windows without windows": {"swa_num_key_value_heads": 8},
    "windows switched on, of no length": {"use_sliding_window": True},
    "groups of ChatGLM without their switch": {"multi_query_group_num": 2},
    "Bamba": {"mamba_d_state": 128},
    "Mamba": {"state_size": 16},
    "mamba_ssm": {"ssm_cfg": {"layer": "Mamba2"}},
    "LFM2": {"conv_L_cache": 3},
    "RecurrentGemma": {"lru_width": 2560},
    "Qwen3-Next": {"linear_num_value_heads": 32},
    "an encoder": {"encoder_layers": 6},
    "Hunyuan": {"cla_share_factor": 2},
    "YOCO": {"yoco_window": 1024},
    "sparse attention beside heads": {"index_topk": 2048},
    "GLM-5": {"index_topk_freq": 4},
    "Phi-3-small": {"blocksparse_block_size": 64},
    "keys in the place of values": {"attention_k_eq_v": True},
    "unknown heads of keys": {"kv_groups": [4, 2]},
    "XLNet": {"attn_type": "bi"},
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
        ({}, "config must have num_hidden_layers"),
        (config(32, 4096, None), "config must have num_attention_heads"),
        (config(None, 4096, 32), "config must have num_hidden_layers"),
        (config(10_001, 4096, 32), "num_hidden_layers must be at most 10000, got 10001"),
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


WRONG = [
    ({"layer_types": ["full_attention"] * 31}, "layer_types must have an entry for each of 32"),
    ({"layer_types": ["full_attention"] * 31 + ["odd"]}, "layer_types .* has 'odd'"),
    ({"layer_types": ["linear_attention"] * 32}, "no field tells of which size"),
    ({"layer_types": ["sliding_attention"] * 32}, "config must have sliding_window"),
    ({"num_key_value_heads": [4] * 31}, "num_key_value_heads must have an entry for each of 32"),
    ({"num_key_value_heads": [4] * 31 + [0]}, "num_key_value_heads must be at least 1, got 0"),
    ({"hybrid_layer_pattern": [0] * 31 + [2]}, "hybrid_layer_pattern has 2"),
    ({"attn_layer_indices": [3, 32]}, "attn_layer_indices = .* goes beyond 32 layers"),
    (
        {"sliding_window_pattern": 0.5, "sliding_window": 8},
        "sliding_window_pattern must be a whole",
    ),
    ({"sliding_window": 4096, "max_window_layers": 28}, "use_sliding_window must be given"),
    ({"sliding_window": -5}, "sliding_window must be at least 1, got -5"),
    ({"num_kv_shared_layers": 32}, "num_kv_shared_layers = 32 leaves none of 32 layers"),
    ({"block_configs": [{"attention": {"window_length": 512}}] * 32}, "block_configs has window"),
    ({"block_configs": [{"attention": {"n_heads_in_group": 5}}] * 32}, "n_heads_in_group = 5"),
    ({"block_configs": [{"attention": {"no_op": True}}] * 32}, "no layer keeps anything"),
    ({"kv_lora_rank": 512}, "config must have qk_rope_head_dim"),
    ({"use_mla": True}, "config must have kv_lora_rank"),
    (
        {"rope_scaling": {"type": "yarn", "factor": None}, "max_position_embeddings": 0},
        "at least 1",
    ),
]


@pytest.mark.parametrize(("more", "words"), WRONG, ids=lambda one: str(one)[:40])
def test_a_field_that_cannot_be_is_named(more, words):
    with pytest.raises(ValueError, match=words):
        kvcache.layout(LLAMA3_8B | more)


@pytest.mark.parametrize("more", [{"cross_attention_layers": [3]}, {"attention_chunk_size": 8192}])
def test_a_window_beside_another_rule_is_named(more):
    with pytest.raises(ValueError, match="config: sliding_window = 4096 implies attention within"):
        kvcache.layout(LLAMA3_8B | more | {"sliding_window": 4096})


def test_lists_of_the_wrong_type_are_named():
    with pytest.raises(TypeError, match="layer_types must be a list, got 3"):
        kvcache.layout(LLAMA3_8B | {"layer_types": 3})
    with pytest.raises(TypeError, match="sliding_window must be a real number"):
        kvcache.layout(LLAMA3_8B | {"sliding_window": [1024, 4096]})


def test_a_window_saturates_and_a_state_stays():
    groups = (kvcache.LayerGroup(2, 4, 4, window=10), kvcache.LayerGroup(1, 8, 0))
    made = kvcache.Layout(groups, "int8", 1, (kvcache.State(3, 5),))
    assert made.bytes_per_token == 2 * 8 + 8
    sizes = [made.sequence_bytes(tokens) for tokens in (0, 1, 10, 11, 1000)]
    assert sizes == [60, 60 + 24, 60 + 240, 60 + 160 + 88, 60 + 160 + 8000]
    # 11 tokens are two blocks of 8 without a window; the 10 of the window are two as well
    assert made.max_sequences(10**6, 11, block_size=8) == 10**6 // (60 + 16 * 24)
    assert made.max_sequences(60 + 16 * 24 - 1, 11, block_size=8) == 0


def test_the_closed_form_of_a_sequence_is_the_count_of_its_layers():
    # rows of 4 + 4 bytes in 2 layers with a window of 10, 8 in another one, and 60 of states
    for tokens, total in [(0, 60), (1, 84), (10, 300), (11, 308), (1000, 8220)]:
        assert value(formulas.sequence_bytes, 8, 16, 10, 60, tokens) == total
    # DeepSeek-V3: 70272 bytes a token (arXiv:2505.09343, table 1); MiniCPM3 by hand
    assert value(formulas.latent_token_bytes, 61, 512, 64, 2) == 70_272
    assert value(formulas.latent_token_bytes, 62, 256, 32, 1) == 62 * 288


def test_rows_of_an_encoder_do_not_grow_with_the_answer():
    cross, own = kvcache.LayerGroup(2, 4, 4, 1500, True), kvcache.LayerGroup(2, 4, 4)
    made = kvcache.Layout((own, cross), "int8", 1)
    assert made.bytes_per_token == 16
    assert made.sequence_bytes(3) == 3 * 16 + 1500 * 16
    assert made.sequence_bytes(3, encoder_tokens=7) == 10 * 16
    assert made.max_sequences(1504 * 16 + 16 * 16, 3) == 1  # 94 blocks of 16, and one
    with pytest.raises(ValueError, match="encoder_tokens must be at most 1500, got 1501"):
        made.sequence_bytes(3, encoder_tokens=1501)
    open_ended = kvcache.Layout((kvcache.LayerGroup(2, 4, 4, None, True),), "int8", 1)
    assert open_ended.sequence_bytes(3, encoder_tokens=10**6) == 16 * 10**6
    for call in (open_ended.sequence_bytes, lambda tokens: open_ended.max_sequences(1, tokens)):
        with pytest.raises(ValueError, match="encoder_tokens must be given"):
            call(3)
    with pytest.raises(ValueError, match="encoder_tokens must be at least 0, got -1"):
        made.sequence_bytes(3, encoder_tokens=-1)


def test_a_sequence_beyond_the_context_is_named():
    made = kvcache.layout(LLAMA3_8B | {"max_position_embeddings": 8192})
    assert made.context == 8192 and made.sequence_bytes(8192) > 0
    for call in (made.sequence_bytes, lambda tokens: made.max_sequences(10**12, tokens)):
        with pytest.raises(ValueError, match="tokens must be at most 8192, .* got 8193"):
            call(8193)
    assert kvcache.layout(LLAMA3_8B).context is None


STRETCHED = [
    # Llama 3.1 states the stretched length itself; vLLM leaves it alone
    (
        131072,
        {"rope_type": "llama3", "factor": 8.0, "original_max_position_embeddings": 8192},
        131072,
    ),
    # Qwen 2.5 as its card says to serve it, and DeepSeek-V3
    (32768, {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}, 131072),
    (163840, {"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096}, 163840),
    # Vicuna 16k
    (4096, {"type": "linear", "factor": 4.0}, 16384),
    (4096, {"rope_type": "dynamic", "factor": 2.5}, 10240),
    (131072, {"type": "longrope", "factor": 32.0}, 131072),
    (8192, {"rope_type": "default"}, 8192),
]


@pytest.mark.parametrize(("positions", "scaling", "context"), STRETCHED, ids=str)
def test_interpolated_positions_stretch_the_context(positions, scaling, context):
    for name in ("rope_scaling", "rope_parameters"):
        more = {"max_position_embeddings": positions, name: scaling}
        assert kvcache.layout(LLAMA3_8B | more).context == context


def test_gemma_3_states_the_stretched_length():
    # as vLLM has it; config.json of google/gemma-3-27b-it has the factor, the class 131072
    more = {"model_type": "gemma3_text", "max_position_embeddings": 131072}
    scaled = more | {"rope_scaling": {"rope_type": "linear", "factor": 8.0}, "sliding_window": 1024}
    assert kvcache.layout(LLAMA3_8B | scaled).context == 131072


def test_rows_that_a_format_cannot_store_are_named():
    with pytest.raises(ValueError, match="stores 32 numbers together, so a row of 80 numbers"):
        kvcache.layout(config(2, 80, 1), "q8_0")
    assert kvcache.layout(config(2, 64, 1), "q8_0").bytes_per_token == 2 * 2 * 68
