"""Configurations as they are published, one of each family, and what they keep worked by hand.

Where a family is read from a copy of its ``config.json``, unrelated fields are left in: they must
not change the answer. Counted by hand: groups as (layers, keys, values, window), states as
(layers, numbers).
"""

from __future__ import annotations

import pytest

from serving import catalog, kvcache

MIB = 2**20


def read(config, devices=1):
    made = kvcache.layout(config, "bf16", devices)
    own = [(one.layers, one.keys, one.values, one.window) for one in made.groups if not one.encoder]
    cross = [(one.layers, one.keys, one.values, one.window) for one in made.groups if one.encoder]
    return own, cross, [(one.layers, one.numbers) for one in made.states]


def plain(layers, width, heads, kv_heads=None, **others):
    fields = {"num_hidden_layers": layers, "hidden_size": width, "num_attention_heads": heads}
    return fields | ({} if kv_heads is None else {"num_key_value_heads": kv_heads}) | others


SLIDING, WHOLE = "sliding_attention", "full_attention"

HEADS = {
    "GPT-2 XL": (
        {"model_type": "gpt2", "n_layer": 48, "n_head": 25, "n_embd": 1600, "n_ctx": 1024,
         "n_positions": 1024, "attn_pdrop": 0.1, "scale_attn_weights": True, "vocab_size": 50257},
        [(48, 1600, 1600, None)],
    ),
    "OPT-13B": (
        plain(40, 5120, 40, model_type="opt", ffn_dim=20480, word_embed_proj_dim=5120,
              max_position_embeddings=2048, layerdrop=0.0, _remove_final_layer_norm=False),
        [(40, 5120, 5120, None)],
    ),
    "GPT-J 6B": (
        {"model_type": "gptj", "n_layer": 28, "n_head": 16, "n_embd": 4096, "rotary_dim": 64},
        [(28, 4096, 4096, None)],
    ),
    "GPT-NeoX 20B": (
        plain(44, 6144, 64, model_type="gpt_neox", rotary_pct=0.25, use_parallel_residual=True),
        [(44, 6144, 6144, None)],
    ),
    "BLOOM 176B": (
        {"model_type": "bloom", "n_layer": 70, "num_attention_heads": 112, "n_embed": 14336,
         "hidden_size": None, "seq_length": 2048, "attention_softmax_in_fp32": True},
        [(70, 14336, 14336, None)],
    ),
    "MPT-7B": (
        {"model_type": "mpt", "d_model": 4096, "n_heads": 32, "n_layers": 32, "max_seq_len": 2048,
         "attn_config": {"attn_type": "multihead_attention", "clip_qkv": None, "alibi": True,
                         "sliding_window_size": -1}},
        [(32, 4096, 4096, None)],
    ),
    "an MPT with one head of keys": (
        {"d_model": 4096, "n_heads": 32, "n_layers": 32,
         "attn_config": {"attn_type": "multiquery_attention"}},
        [(32, 128, 128, None)],
    ),
    "DBRX": (
        {"model_type": "dbrx", "d_model": 6144, "n_heads": 48, "n_layers": 40, "max_seq_len": 32768,
         "attn_config": {"kv_n_heads": 8, "clip_qkv": 8, "rope_theta": 500000},
         "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16}},
        [(40, 1024, 1024, None)],
    ),
    "Falcon 7B": (
        {"model_type": "falcon", "num_hidden_layers": 32, "hidden_size": 4544, "bias": False,
         "num_attention_heads": 71, "num_kv_heads": 71, "multi_query": True, "alibi": False,
         "new_decoder_architecture": False, "parallel_attn": True},
        [(32, 64, 64, None)],
    ),
    "Falcon 40B": (
        {"model_type": "falcon", "num_hidden_layers": 60, "hidden_size": 8192, "multi_query": True,
         "num_attention_heads": 128, "num_kv_heads": 8, "new_decoder_architecture": True},
        [(60, 512, 512, None)],
    ),
    "Falcon 40B under its first names": (
        {"model_type": "RefinedWeb", "n_layer": 60, "hidden_size": 8192, "n_head": 128,
         "n_head_kv": 8, "parallel_attn": True},
        [(60, 512, 512, None)],
    ),
    "Falcon-RW 1B": (
        {"model_type": "falcon", "num_hidden_layers": 24, "hidden_size": 2048, "alibi": True,
         "num_attention_heads": 32, "multi_query": False, "new_decoder_architecture": False},
        [(24, 2048, 2048, None)],
    ),
    "StarCoder, whose class shares all keys": (
        {"model_type": "gpt_bigcode", "n_layer": 40, "n_head": 48, "n_embd": 6144},
        [(40, 128, 128, None)],
    ),
    "ChatGLM2-6B": (
        {"model_type": "chatglm", "num_layers": 28, "hidden_size": 4096, "kv_channels": 128,
         "num_attention_heads": 32, "multi_query_attention": True, "multi_query_group_num": 2,
         "seq_length": 32768, "padded_vocab_size": 65024, "add_qkv_bias": True},
        [(28, 256, 256, None)],
    ),
    "ChatGLM whose heads share nothing": (
        {"num_layers": 28, "hidden_size": 4096, "num_attention_heads": 32,
         "multi_query_attention": False, "multi_query_group_num": 1},
        [(28, 4096, 4096, None)],
    ),
    "Qwen-72B, the first": (
        plain(80, 8192, 64, model_type="qwen", kv_channels=128, seq_length=32768, no_bias=True),
        [(80, 8192, 8192, None)],
    ),
    "Phi-2": (
        plain(32, 2560, 32, 32, model_type="phi", partial_rotary_factor=0.4, qk_layernorm=False),
        [(32, 2560, 2560, None)],
    ),
    "Qwen3-30B-A3B, heads wider than their share": (
        plain(48, 2048, 32, 4, head_dim=128, model_type="qwen3_moe", decoder_sparse_step=1,
              mlp_only_layers=[], sliding_window=None, use_sliding_window=False,
              max_window_layers=48, norm_topk_prob=True, num_experts=128),
        [(48, 512, 512, None)],
    ),
    "Mixtral 8x7B": (
        plain(32, 4096, 32, 8, model_type="mixtral", sliding_window=None, num_local_experts=8,
              router_aux_loss_coef=0.02, tie_word_embeddings=False, rope_theta=1e6),
        [(32, 1024, 1024, None)],
    ),
    "JetMoE": (
        plain(24, 2048, 32, 16, model_type="jetmoe", kv_channels=128, num_local_experts=8),
        [(24, 2048, 2048, None)],
    ),
    "OpenELM, a list for each layer": (
        {"model_type": "openelm", "num_transformer_layers": 4, "model_dim": 1280, "head_dim": 64,
         "num_query_heads": [12, 12, 16, 20], "num_kv_heads": [3, 3, 4, 5],
         "max_context_length": 2048, "ffn_multipliers": [0.5, 1.0, 2.0, 4.0], "num_gqa_groups": 4},
        [(2, 192, 192, None), (1, 256, 256, None), (1, 320, 320, None)],
    ),
    "DeciLM-7B, another list": (
        plain(4, 4096, 32, model_type="deci", num_key_value_heads_per_layer=[4, 4, 2, 1]),
        [(2, 512, 512, None), (1, 256, 256, None), (1, 128, 128, None)],
    ),
    "Nemotron 51B, blocks that were searched for": (
        plain(4, 8192, 64, None, model_type="nemotron-nas", num_key_value_heads=None,
              block_configs=[
                  {"attention": {"n_heads_in_group": 8, "no_op": False}, "ffn": {"ffn_mult": 5.25}},
                  {"attention": {"n_heads_in_group": None, "no_op": True}, "ffn": {"no_op": False}},
                  {"attention": {"n_heads_in_group": None, "replace_with_linear": True}},
                  {"attention": {"n_heads_in_group": 16, "no_op": False, "window_length": None}},
              ]),
        [(1, 1024, 1024, None), (1, 512, 512, None)],
    ),
    "keys and values of different width": (
        plain(2, 64, 4, 2, head_dim=24, v_head_dim=16),
        [(2, 48, 32, None)],
    ),
    "Hunyuan-Large, keys read in the next layer": (
        plain(64, 6400, 80, 8, head_dim=128, use_cla=True, cla_share_factor=2),
        [(32, 1024, 1024, None)],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("config", "groups"), HEADS.values(), ids=HEADS)
def test_heads(config, groups):
    assert read(config) == (groups, [], [])


V3 = plain(61, 7168, 128, 128, model_type="deepseek_v3", kv_lora_rank=512, q_lora_rank=1536,
           qk_nope_head_dim=128, qk_rope_head_dim=64, v_head_dim=128, first_k_dense_replace=3,
           moe_layer_freq=1, n_group=8, num_nextn_predict_layers=1,
           quantization_config={"quant_method": "fp8"})  # fmt: skip
LATENT = {
    "DeepSeek-V3": (V3, [(61, 576, 0, None)]),
    "DeepSeek-V2-Lite": (
        plain(27, 2048, 16, 16, model_type="deepseek_v2", kv_lora_rank=512, q_lora_rank=None,
              qk_nope_head_dim=128, qk_rope_head_dim=64, v_head_dim=128),
        [(27, 576, 0, None)],
    ),
    "MiniCPM3-4B": (
        plain(62, 2560, 40, 40, kv_lora_rank=256, q_lora_rank=768, qk_nope_head_dim=64,
              qk_rope_head_dim=32, scale_emb=12, dim_model_base=256),
        [(62, 288, 0, None)],
    ),
    "DeepSeek-V3.2, with the keys of its indexer": (
        V3 | {"model_type": "deepseek_v32", "index_head_dim": 128, "index_n_heads": 64,
              "index_topk": 2048},
        [(61, 576, 0, None), (61, 128, 0, None)],
    ),
    "DeepSeek-V3 before engines knew its row": (
        plain(61, 7168, 128, 128, head_dim=192, v_head_dim=128),
        [(61, 24576, 16384, None)],
    ),
    "DeepSeek-VL2, whose smallest has heads": (
        {"language_config": plain(12, 1280, 10, 10, use_mla=False, kv_lora_rank=None, v_head_dim=0,
                                  qk_nope_head_dim=0, qk_rope_head_dim=0)},
        [(12, 1280, 1280, None)],
    ),
    "LongCat-Flash, two attentions in each layer": (
        {"model_type": "longcat_flash", "num_layers": 28, "hidden_size": 6144,
         "num_attention_heads": 64, "kv_lora_rank": 512, "q_lora_rank": 1536, "v_head_dim": 128,
         "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "zero_expert_num": 256},
        [(56, 576, 0, None)],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("config", "groups"), LATENT.values(), ids=LATENT)
def test_latent_rows_are_whole_on_every_device(config, groups):
    heads = (config.get("language_config") or config)["num_attention_heads"]
    for devices in (1, 2, heads):
        if groups[0][2] == 0:
            assert read(config, devices) == (groups, [], [])
    assert read(config) == (groups, [], [])


def test_what_a_latent_row_takes_is_what_its_makers_say():
    # DeepSeek-AI, "Insights into DeepSeek-V3" (arXiv:2505.09343), table 1: 70.272 KB a token,
    # against 327.680 of Qwen 2.5 72B and 516.096 of Llama 3.1 405B
    assert kvcache.layout(V3).bytes_per_token == 70_272
    assert kvcache.layout(plain(80, 8192, 64, 8)).bytes_per_token == 327_680
    assert kvcache.layout(plain(126, 16384, 128, 8)).bytes_per_token == 516_096
    # ik_llama.cpp pull request 259: 1166.62 MiB for 32768 tokens in q8_0
    assert kvcache.layout(V3, "q8_0").sequence_bytes(32768) == 1166.625 * MIB
    # vLLM keeps the indexer's 128 numbers in 132 bytes whatever the cache is kept in
    sparse = LATENT["DeepSeek-V3.2, with the keys of its indexer"][0]
    for dtype in ("bf16", "fp8"):
        extra = kvcache.layout(sparse, dtype).bytes_per_token
        assert extra - kvcache.layout(V3, dtype).bytes_per_token == 61 * 132


WINDOWS = {
    "Mistral 7B v0.1": (
        plain(32, 4096, 32, 8, model_type="mistral", sliding_window=4096,
              max_position_embeddings=32768),
        [(32, 1024, 1024, 4096)],
    ),
    "Mistral 7B v0.2, its window off": (
        plain(32, 4096, 32, 8, model_type="mistral", sliding_window=None),
        [(32, 1024, 1024, None)],
    ),
    "a window of -1, as Grok has it": (
        plain(64, 8192, 64, 8, head_dim=128, sliding_window=-1),
        [(64, 1024, 1024, None)],
    ),
    "Phi-3-mini": (
        plain(32, 3072, 32, 32, model_type="phi3", sliding_window=2047, rope_scaling=None),
        [(32, 3072, 3072, 2047)],
    ),
    "Qwen2-72B, switched off": (
        plain(80, 8192, 64, 8, model_type="qwen2", sliding_window=131072, max_window_layers=80,
              use_sliding_window=False),
        [(80, 1024, 1024, None)],
    ),
    "Qwen2, switched on above a layer": (
        plain(28, 3584, 28, 4, sliding_window=4096, max_window_layers=20, use_sliding_window=True),
        [(20, 512, 512, None), (8, 512, 512, 4096)],
    ),
    "Gemma 2 27B, whose class alternates": (
        plain(46, 4608, 32, 16, head_dim=128, model_type="gemma2", sliding_window=4096,
              attn_logit_softcapping=50.0, cache_implementation="hybrid"),
        [(23, 2048, 2048, 4096), (23, 2048, 2048, None)],
    ),
    "Gemma 3 4B, as published: fields that its class assumes are left out": (
        {"model_type": "gemma3", "mm_tokens_per_image": 256, "vision_config": {"hidden_size": 1152},
         "text_config": {"model_type": "gemma3_text", "hidden_size": 2560, "sliding_window": 1024,
                         "num_hidden_layers": 34, "intermediate_size": 10240,
                         "rope_scaling": {"factor": 8.0, "rope_type": "linear"}}},
        [(29, 1024, 1024, 1024), (5, 1024, 1024, None)],
    ),
    "Gemma 3 without its class": (
        plain(34, 2560, 8, 4, head_dim=256, sliding_window=1024, sliding_window_pattern=6),
        [(29, 1024, 1024, 1024), (5, 1024, 1024, None)],
    ),
    "Gemma 3n E4B, the last layers borrow": (
        {"text_config": plain(35, 2048, 8, 2, head_dim=256, sliding_window=512,
                              num_kv_shared_layers=15, laurel_rank=64,
                              layer_types=([SLIDING] * 4 + [WHOLE]) * 7)},
        [(16, 512, 512, 512), (4, 512, 512, None)],
    ),
    "Gemma 4 31B, other heads where every token is kept": (
        plain(60, 5376, 32, 16, head_dim=256, global_head_dim=512, num_global_key_value_heads=4,
              attention_k_eq_v=True, sliding_window=1024, num_kv_shared_layers=0,
              layer_types=([SLIDING] * 5 + [WHOLE]) * 10),
        [(50, 4096, 4096, 1024), (10, 2048, 2048, None)],
    ),
    "Gemma 4 as transformers 5 saves it": (
        plain(6, 2304, 8, 4, head_dim=256, sliding_window=512, per_layer_config={"05": {
            "head_dim": 512, "num_key_value_heads": 1}}, layer_types=[SLIDING] * 5 + [WHOLE]),
        [(5, 1024, 1024, 512), (1, 512, 512, None)],
    ),
    "Command R7B": (
        plain(32, 4096, 32, 8, model_type="cohere2", sliding_window=4096, layer_switch=4,
              order_of_interleaved_layers="local_attn_first"),
        [(24, 1024, 1024, 4096), (8, 1024, 1024, None)],
    ),
    "gpt-oss-120b": (
        plain(36, 2880, 64, 8, head_dim=64, sliding_window=128, swiglu_limit=7.0,
              initial_context_length=4096, layer_types=[SLIDING, WHOLE] * 18),
        [(18, 512, 512, 128), (18, 512, 512, None)],
    ),
    "Llama 4 Scout: chunks where positions are rotary": (
        {"model_type": "llama4", "text_config": plain(48, 5120, 40, 8, head_dim=128,
         attention_chunk_size=8192, interleave_moe_layer_step=1, no_rope_layers=[])},
        [(36, 1024, 1024, 8192), (12, 1024, 1024, None)],
    ),
    "a Llama 4 that lists them": (
        plain(4, 5120, 40, 8, head_dim=128, attention_chunk_size=8192, no_rope_layers=[1, 1, 0, 1]),
        [(3, 1024, 1024, 8192), (1, 1024, 1024, None)],
    ),
    "EXAONE 4 32B, a pattern of letters": (
        plain(64, 5120, 40, 8, head_dim=128, sliding_window=4096, sliding_window_pattern="LLLG"),
        [(48, 1024, 1024, 4096), (16, 1024, 1024, None)],
    ),
    "EXAONE 4 1.2B, no window": (
        plain(30, 2048, 32, 8, head_dim=64, sliding_window=None, sliding_window_pattern=4,
              model_type="exaone4"),
        [(30, 512, 512, None)],
    ),
    "MiMo-V2-Flash: other heads in the windows": (
        plain(48, 4096, 64, 4, head_dim=192, v_head_dim=128, swa_num_key_value_heads=8,
              swa_head_dim=192, swa_v_head_dim=128, sliding_window=128, sliding_window_size=128,
              attention_chunk_size=128, hybrid_layer_pattern=[0] + ([1] * 5 + [0]) * 7 + [1] * 4
              + [0], add_swa_attention_sink_bias=True),
        [(9, 768, 512, None), (39, 1536, 1024, 128)],
    ),
    "Step-3.5: kinds of the layers that draft come last": (
        plain(4, 4096, 64, None, num_attention_groups=8, head_dim=128, sliding_window=512,
              num_nextn_predict_layers=1, layer_types=[WHOLE, SLIDING, SLIDING, SLIDING, WHOLE],
              attention_other_setting={"attention_type": SLIDING, "num_attention_heads": 96,
                                       "num_attention_groups": 4, "head_dim": 128}),
        [(1, 1024, 1024, None), (3, 512, 512, 512)],
    ),
    "GPT-Neo 1.3B": (
        {"model_type": "gpt_neo", "num_layers": 24, "num_heads": 16, "hidden_size": 2048,
         "window_size": 256, "attention_types": [[["global", "local"], 12]],
         "attention_layers": ["global", "local"] * 12},
        [(12, 2048, 2048, None), (12, 2048, 2048, 256)],
    ),
    "StarCoder2-15B": (
        plain(40, 6144, 48, 4, model_type="starcoder2", sliding_window=4096, use_bias=True),
        [(40, 512, 512, 4096)],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("config", "groups"), WINDOWS.values(), ids=WINDOWS)
def test_windows(config, groups):
    assert read(config) == (groups, [], [])


HYBRID = {
    # conv 3 x (2 x 16 x 128 + 48 x 128) + 48 x 128 x 128
    "Qwen3.6-27B": (
        {"text_config": plain(64, 5120, 24, 4, head_dim=256, linear_num_value_heads=48,
                              linear_num_key_heads=16, linear_key_head_dim=128,
                              linear_value_head_dim=128, linear_conv_kernel_dim=4,
                              attn_output_gate=True, full_attention_interval=4,
                              mamba_ssm_dtype="float32", mtp_num_hidden_layers=1)},
        [(16, 1024, 1024, None)], [(48, 3 * 10240 + 786_432)],
    ),
    "Qwen3-Next-80B-A3B": (
        plain(48, 2048, 16, 2, model_type="qwen3_next", linear_num_value_heads=32,
              linear_num_key_heads=16, use_sliding_window=False),
        [(12, 512, 512, None)], [(36, 3 * 8192 + 524_288)],
    ),
    # three convolutions of 32 x 128, and as many matrices of 128 x 128
    "Kimi Linear": (
        plain(27, 2304, 32, 32, head_dim=72, kv_lora_rank=512, qk_nope_head_dim=128,
              qk_rope_head_dim=64, v_head_dim=128, q_lora_rank=None, mla_use_nope=True,
              linear_attn_config={"full_attn_layers": [4, 8, 12, 16, 20, 24, 27], "head_dim": 128,
                                  "num_heads": 32, "short_conv_kernel_size": 4}),
        [(7, 576, 0, None)], [(20, 3 * 3 * 4096 + 524_288)],
    ),
    "MiniMax-Text-01": (
        plain(80, 6144, 64, 8, head_dim=128, model_type="minimax_text_01", block=256,
              attn_type_list=([0] * 7 + [1]) * 10, layernorm_linear_attention_alpha=3.55),
        [(10, 1024, 1024, None)], [(70, 64 * 128 * 128)],
    ),
    "MiniMax-M2, all of whose layers keep every token": (
        plain(62, 3072, 48, 8, head_dim=128, attn_type_list=[1] * 62),
        [(62, 1024, 1024, None)], [],
    ),
    # d_inner 8192: 3 columns of the convolution and 16 numbers for each channel
    "Jamba": (
        plain(32, 4096, 32, 8, model_type="jamba", attn_layer_period=8, attn_layer_offset=4,
              mamba_d_state=16, mamba_d_conv=4, mamba_expand=2, mamba_dt_rank=256,
              expert_layer_period=2, intermediate_size=14336),
        [(4, 1024, 1024, None)], [(28, 8192 * 19)],
    ),
    # 3 x (8192 + 2 x 8 x 128) + 128 x 64 x 128, as counted by hand in a public test:
    # conv 30720, state 1048576
    "Nemotron-H 8B": (
        plain(52, 4096, 32, 8, attention_head_dim=128, ssm_state_size=128, mamba_num_heads=128,
              mamba_head_dim=64, n_groups=8, conv_kernel=4, expand=2, chunk_size=128,
              hybrid_override_pattern="M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-"),
        [(4, 1024, 1024, None)], [(24, 1_079_296)],
    ),
    "Bamba-9B": (
        plain(32, 4096, 32, 8, attn_layer_indices=[9, 18, 27], mamba_d_state=128, mamba_d_conv=4,
              mamba_d_head=64, mamba_n_heads=128, mamba_n_groups=1, mamba_expand=2),
        [(3, 1024, 1024, None)], [(29, 3 * (8192 + 256) + 8192 * 128)],
    ),
    "Granite 4.0 H Tiny": (
        plain(40, 1536, 12, 4, mamba_d_state=128, mamba_n_groups=1, mamba_n_heads=48,
              mamba_d_head="auto", mamba_expand=2, mamba_d_conv=4, mamba_chunk_size=256,
              layer_types=["mamba"] * 5 + ["attention"] + (["mamba"] * 9 + ["attention"]) * 3
              + ["mamba"] * 4),
        [(4, 512, 512, None)], [(36, 3 * (3072 + 256) + 3072 * 128)],
    ),
    "Granite 4.0 Micro, which has fields of a state and no state": (
        plain(40, 2560, 40, 8, mamba_d_state=256, mamba_n_heads=128,
              layer_types=["attention"] * 40),
        [(40, 512, 512, None)], [],
    ),
    "Falcon-H1 7B, both in every layer": (
        plain(44, 3072, 12, 2, head_dim=128, mamba_d_ssm=3072, mamba_d_state=256, mamba_n_groups=1,
              mamba_n_heads=24, mamba_d_head=128, mamba_expand=2, mamba_d_conv=4,
              attn_layer_indices=None),
        [(44, 256, 256, None)], [(44, 3 * (3072 + 512) + 3072 * 256)],
    ),
    "Zamba2-7B, a shared attention twice as wide": (
        plain(6, 3584, 32, 32, attention_head_dim=224, kv_channels=112, mamba_d_state=64,
              mamba_d_conv=4, mamba_expand=2, mamba_ngroups=2, n_mamba_heads=112, mamba_headdim=64,
              layers_block_type=["mamba", "mamba", "hybrid", "mamba", "mamba", "hybrid"]),
        [(2, 7168, 7168, None)], [(6, 3 * (7168 + 256) + 7168 * 64)],
    ),
    # a number for each of 2560 channels, and three columns of the convolution
    "RecurrentGemma 2B": (
        plain(26, 2560, 10, 1, head_dim=256, lru_width=2560, attention_window_size=2048,
              conv1d_width=4, _block_types=["recurrent", "recurrent", "attention"]),
        [(8, 256, 256, 2048)], [(18, 2560 * 4)],
    ),
    "LFM2": (
        plain(3, 2048, 32, 8, conv_L_cache=3, conv_dim=2048, full_attn_idxs=[2]),
        [(1, 512, 512, None)], [(2, 2048 * 2)],
    ),
    # 23.75 MiB a sequence, as llama.cpp has it (pull request 5328)
    "Mamba 2.8B": (
        {"model_type": "mamba", "num_hidden_layers": 64, "n_layer": 64, "hidden_size": 2560,
         "d_model": 2560, "intermediate_size": 5120, "d_inner": 5120, "state_size": 16,
         "conv_kernel": 4, "expand": 2, "time_step_rank": 160, "ssm_cfg": {}},
        [], [(64, 97_280)],
    ),
    "Falcon-Mamba 7B, whose factor is not the width": (
        {"num_hidden_layers": 64, "hidden_size": 4096, "intermediate_size": 8192, "expand": 16,
         "state_size": 16, "conv_kernel": 4, "time_step_rank": 256},
        [], [(64, 8192 * 19)],
    ),
    "Codestral Mamba": (
        {"model_type": "mamba2", "num_hidden_layers": 64, "hidden_size": 4096, "num_heads": 128,
         "head_dim": 64, "state_size": 128, "n_groups": 8, "conv_kernel": 4, "expand": 2},
        [], [(64, 3 * (8192 + 2048) + 8192 * 128)],
    ),
    "RWKV-4 7B": (
        {"model_type": "rwkv", "num_hidden_layers": 32, "hidden_size": 4096,
         "attention_hidden_size": 4096, "rescale_every": 6, "context_length": 1024},
        [], [(32, 5 * 4096)],
    ),
    "RWKV-6, matrices of 64 x 64": (
        {"model_type": "rwkv6", "num_hidden_layers": 32, "hidden_size": 4096, "head_size": 64,
         "attention_hidden_size": 4096, "rescale_every": 6},
        [], [(32, 2 * 4096 + 64 * 4096)],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("config", "groups", "states"), HYBRID.values(), ids=HYBRID)
def test_states(config, groups, states):
    assert read(config) == (groups, [], states)


def test_states_as_llama_cpp_printed_them():
    # https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/1862: 598.5 MiB for 4 sequences,
    # 16384 MiB of keys and values for 262144 tokens of f16
    made = kvcache.layout(HYBRID["Qwen3.6-27B"][0], "fp16")
    [state] = made.states
    assert 4 * state.bytes == 598.5 * MIB
    assert made.bytes_per_token * 262_144 == 16384 * MIB
    # https://github.com/ggml-org/llama.cpp/pull/5328: 47.5 GiB for 2048 sequences
    mamba = kvcache.layout(HYBRID["Mamba 2.8B"][0])
    assert mamba.bytes_per_token == 0
    assert 2048 * mamba.sequence_bytes(1) == 2048 * mamba.sequence_bytes(10**6) == 47.5 * 1024 * MIB
    assert mamba.max_sequences(47.5 * 1024 * MIB, 10**6) == 2048


SPLIT = {
    "Qwen3.6-27B": (4, 1, [(48, (3 * 10240 + 786_432) // 4)]),
    "Kimi Linear": (8, 1, [(20, 561_152 // 8)]),
    "Jamba": (16, 2, [(28, 512 * 19)]),
    # 8 groups on 16 devices: one on each; heads of the state are divided all the same
    "Nemotron-H 8B": (16, 2, [(24, 3 * (512 + 256) + 512 * 128)]),
    # one group is copied to every device, as vLLM does
    "Granite 4.0 H Tiny": (4, 1, [(36, 3 * (768 + 256) + 768 * 128)]),
    "MiniMax-Text-01": (4, 1, [(70, 262_144)]),
}


@pytest.mark.parametrize(("name", "row"), SPLIT.items(), ids=SPLIT)
def test_states_are_split_as_vllm_splits_them(name, row):
    # vllm/model_executor/layers/mamba/mamba_utils.py, MambaStateShapeCalculator
    devices, copies, states = row
    config, whole, _ = HYBRID[name]
    own, _, found = read(config, devices)
    assert found == states
    shared = 1 if whole[0][2] == 0 else devices // copies
    assert own == [
        (layers, keys // shared, values // shared, w) for layers, keys, values, w in whole
    ]


@pytest.mark.parametrize(
    ("name", "devices", "field"),
    [
        ("Qwen3.6-27B", 3, "linear_num_key_heads = 16"),
        ("Jamba", 3, "d_inner = 8192"),
        ("Mamba 2.8B", 3, "d_inner = 5120"),
        ("Codestral Mamba", 3, "num_heads = 128"),
        ("RWKV-4 7B", 3, "hidden_size = 4096"),
    ],
)
def test_states_that_cannot_be_split_are_named(name, devices, field):
    with pytest.raises(ValueError, match=f"tensor_parallel = {devices} cannot split {field}"):
        kvcache.layout(HYBRID[name][0], "bf16", devices)


WHISPER = {
    "model_type": "whisper", "is_encoder_decoder": True, "d_model": 512, "encoder_layers": 6,
    "decoder_layers": 6, "encoder_attention_heads": 8, "decoder_attention_heads": 8,
    "encoder_ffn_dim": 2048, "num_hidden_layers": 6, "max_source_positions": 1500,
    "max_target_positions": 448, "encoder_layerdrop": 0.0,
}  # fmt: skip
ENCODED = {
    "Whisper base": (WHISPER, (6, 512, 512), 1500, 448),
    "T5 v1.1 XXL": (
        {"is_encoder_decoder": True, "d_model": 4096, "d_kv": 64, "num_heads": 64, "num_layers": 24,
         "num_decoder_layers": 24, "d_ff": 10240, "n_positions": 512, "is_gated_act": True},
        (24, 4096, 4096), 512, 512,
    ),
    "T5 large, as deep on both sides": (
        {"is_encoder_decoder": True, "d_model": 1024, "d_kv": 64, "num_heads": 16,
         "num_layers": 24, "relative_attention_num_buckets": 32},
        (24, 1024, 1024), None, None,
    ),
    "DistilBART, fewer layers that answer": (
        {"is_encoder_decoder": True, "d_model": 1024, "encoder_layers": 12, "decoder_layers": 6,
         "num_hidden_layers": 12, "encoder_attention_heads": 16, "decoder_attention_heads": 16,
         "max_position_embeddings": 1024},
        (6, 1024, 1024), 1024, 1024,
    ),
    "NLLB-200 3.3B": (
        {"model_type": "m2m_100", "is_encoder_decoder": True, "d_model": 2048, "encoder_layers": 24,
         "decoder_layers": 24, "decoder_attention_heads": 16, "max_position_embeddings": 1024},
        (24, 2048, 2048), 1024, 1024,
    ),
    "LED, long on one side": (
        {"is_encoder_decoder": True, "d_model": 1024, "decoder_layers": 12, "encoder_layers": 12,
         "decoder_attention_heads": 16, "attention_window": [1024] * 12,
         "max_encoder_position_embeddings": 16384, "max_decoder_position_embeddings": 1024},
        (12, 1024, 1024), 16384, 1024,
    ),
    "a decoder in a part of its own": (
        {"is_encoder_decoder": True, "encoder": {"max_position_embeddings": 512},
         "decoder": plain(12, 768, 12, add_cross_attention=True, max_position_embeddings=256)},
        (12, 768, 768), 512, 256,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("config", "row", "source", "context"), ENCODED.values(), ids=ENCODED)
def test_attention_to_an_encoder(config, row, source, context):
    assert read(config) == ([(*row, None)], [(*row, source)], [])
    assert kvcache.layout(config).context == context


def test_whisper_as_whisper_cpp_printed_it():
    # src/whisper.cpp, before it padded: 5.25 MB for 448 tokens of the answer, 17.58 for 1500 frames
    made = kvcache.layout(WHISPER, "fp16")
    assert made.sequence_bytes(448, encoder_tokens=0) == 5.25 * MIB
    assert made.sequence_bytes(0) / MIB == pytest.approx(17.58, abs=0.005)
    assert made.sequence_bytes(448) == 448 * 12288 + 1500 * 12288


def test_layers_that_look_at_a_picture_keep_no_text():
    # Llama 3.2 11B Vision: 4 tiles of 40 x 40 patches and one more for each
    config = catalog.model("llama-3.2-11b-vision").config
    assert read(config) == ([(32, 1024, 1024, None)], [(8, 1024, 1024, 6404)], [])


def test_what_the_class_assumes_gives_way_to_any_name_that_is_there():
    llava = {"text_config": {"model_type": "llama", "vocab_size": 32064}, "model_type": "llava"}
    assert read(llava)[0] == [(32, 4096, 4096, None)]
    gpt2 = {
        "model_type": "gpt2",
        "num_hidden_layers": 2,
        "hidden_size": 64,
        "num_attention_heads": 4,
    }
    assert read(gpt2)[0] == [(2, 64, 64, None)]
    # a field that is null is not silent: GPT-BigCode without shared keys, Mistral without a window
    assert read(gpt2 | {"model_type": "gpt_bigcode", "multi_query": None})[0] == [(2, 64, 64, None)]
    assert read(plain(2, 64, 4, 4, model_type="mistral"))[0] == [(2, 64, 64, 4096)]
    assert read(plain(2, 64, 4, 4, model_type="mistral", sliding_window=None))[0][0][3] is None


def test_layers_and_width_by_any_name():
    assert kvcache.dimensions(V3) == (61, 7168)
    assert kvcache.dimensions(WHISPER) == (6, 512)
    assert kvcache.dimensions(WINDOWS["Gemma 3 without its class"][0]) == (34, 2560)
    assert kvcache.dimensions(catalog.model("llama-4-scout").config) == (48, 5120)
    with pytest.raises(ValueError, match="config must have hidden_size"):
        kvcache.dimensions({"num_hidden_layers": 2})


@pytest.mark.parametrize("model", catalog.models().values(), ids=lambda model: model.name)
def test_more_tokens_never_take_less(model):
    made = kvcache.layout(model.config)
    longest = min(model.context, made.context or model.context)
    lengths = [min(2**power, longest) for power in range(24)]
    sizes = [made.sequence_bytes(tokens) for tokens in lengths]
    assert sizes == sorted(sizes)
    assert sizes[0] - made.sequence_bytes(0) == made.bytes_per_token
    steps = {b - a for a, b in zip(sizes, sizes[1:], strict=False)}
    assert len(steps) > 1 or not made.groups
