"""What engines make of a cache's memory, against what they printed."""

from __future__ import annotations

import json
import os
import re
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import engine_logs
from serving import _vllm, kvcache, validation
from serving.kvcache import (
    LayerGroup,
    Layout,
    State,
    allocation,
    capacity,
    longest_context,
    memory_budget,
)
from serving.validation import Line, compare

MIB, GIB = 2**20, 2**30
FULL = Layout((LayerGroup(32, 4096, 4096),), "bf16", 1)
"""Qwen1.5 7B: half a MiB a token."""


@cache
def reference() -> list[dict[str, Any]]:
    folder = os.environ.get("SERVING_DATA")
    if not folder:
        return []
    return json.loads((Path(folder) / "reference" / "engine-logs.json").read_text("utf-8"))


@pytest.mark.skipif(not reference(), reason="SERVING_DATA is not set: the logs are not here")
@pytest.mark.parametrize("case", reference(), ids=lambda case: case["id"])
def test_what_engines_printed_is_computed(case):
    layouts, lines = engine_logs.layouts(case), list(engine_logs.lines(case))
    assert lines, "nothing of this log is computed"
    verdicts = [compare(layouts[name], line) for name, line in lines]
    if case["verdict"].startswith("match"):
        assert all(one.verdict != "mismatch" for one in verdicts), verdicts
        assert any(one.verdict != "possible" for one in verdicts), verdicts
    else:
        assert any(one.verdict == "mismatch" for one in verdicts), verdicts
    if case["verdict"].startswith("match (exact"):
        assert any(one.verdict == "exact" for one in verdicts), verdicts


CASES = validation.cases().values()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_is_reproduced_or_says_why_not(case):
    assert case.source.startswith("https://")
    assert (case.verdict == "mismatch") == bool(case.reason)


def test_most_cases_are_exact_and_none_is_out_of_reach():
    verdicts = [case.verdict for case in CASES]
    assert verdicts.count("mismatch") == 2 and verdicts.count("possible") == 1
    assert len(verdicts) >= 24 and verdicts.count("exact") >= 16


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_another_number_is_noticed(case):
    for one in case.results():
        if one.verdict != "mismatch":
            text = one.line.text.split()
            other = str(round(1.3 * float(text[0]), len(text[0].partition(".")[2])))
            if "." not in text[0]:
                other = str(int(float(other)))
            off = Line("", " ".join([other, *text[1:]]), one.line.what, one.line.setting)
            if one.verdict != "possible":
                assert compare(case.layout, off).verdict == "mismatch"


def test_a_range_of_tokens_follows_from_two_decimals_of_memory():
    line = Line("", "16384", "tokens", {"engine": "vllm", "tokens": 4096, "memory": "8.00 GiB"})
    found = compare(FULL, line)
    # half a hundredth of a GiB is 5.12 MiB, ten tokens and a fraction; blocks have 16
    assert (found.verdict, found.computed) == ("within print rounding", "16,368 to 16,384")
    whole = Line("", "16384", "tokens", {"engine": "vllm", "tokens": 4096, "memory": "8 GiB"})
    assert (compare(FULL, whole).verdict, compare(FULL, whole).computed) == ("exact", "16,384")
    # between the ends, but no number of whole blocks
    between = Line("", "16376", "tokens", line.setting)
    assert compare(FULL, between).verdict == "mismatch"


def test_vllm_counts_blocks_of_a_request_as_its_tests_do():
    # vllm/tests/v1/core/test_kv_cache_utils.py, test_get_max_concurrency_for_kv_cache_config
    window = LayerGroup(32, 4096, 4096, 1024)
    for groups, blocks, request in [
        (FULL.groups, 1536, 1024),
        ((window,), 387, 129),
        ((*FULL.groups, window), 3459, 1153),
    ]:
        of = Layout(groups, "bf16", 1)
        found = capacity(of, blocks * 8 * MIB, 16384, batched_tokens=1024)
        assert (found.blocks, found.request_blocks) == (blocks, request)
        assert found.block_bytes == 8 * MIB and found.reason == ""


@pytest.mark.parametrize(
    ("full", "local", "shared"),
    [(10, 20, 10), (12, 13, 13), (18, 18, 18), (8, 9, 9), (4, 6, 4), (5, 25, 5), (3, 7, 3)],
)
def test_vllm_shares_blocks_between_groups_of_layers(full, local, shared):
    # the docstring and comments of _get_kv_cache_groups_uniform_page_size
    of = Layout((LayerGroup(full, 8, 8), LayerGroup(local, 8, 8, 64)), "bf16", 1)
    found = capacity(of, 10**9, 1600, batched_tokens=32)
    tables = -(-full // shared), -(-local // shared)
    assert found.block_bytes == shared * 16 * 16 * 2
    assert found.request_blocks == tables[0] * 100 + tables[1] * (6 + 1)
    old = capacity(of, 10**9, 1600, "vllm-v1")
    assert old.tokens == found.blocks // sum(tables) * 16
    oldest = capacity(of, 10**9, 1600, "vllm-v0")
    assert oldest.tokens == 10**9 // ((full + local) * 16 * 16 * 2) * 16


def test_vllm_gives_narrow_layers_longer_blocks():
    of = Layout((LayerGroup(10, 2048, 2048), LayerGroup(50, 4096, 4096, 1024)), "bf16", 1)
    found = capacity(of, GIB, 262144)
    assert found.block_bytes == 10 * 16 * 8192 * 2
    assert found.request_blocks == 262144 // 32 + 5 * (-(-9215 // 16) + 1)
    with pytest.raises(ValueError, match="blocks of 49152 and of 65536 bytes, which do not divide"):
        capacity(Layout((LayerGroup(1, 768, 768), LayerGroup(1, 1024, 1024, 8)), "bf16", 1), 1, 1)


@pytest.mark.parametrize(
    ("devices", "dtype", "drafts", "block"),
    [
        # Qwen3.8 27B: https://github.com/mitchross/talos-argocd-proxmox/pull/1995, and 784 tokens
        # on one device with a cache of 2 bytes; 1616 in 1 byte with 4 drafted tokens
        *((2, "fp8", 0, 1568), (1, "bf16", 0, 784), (1, "fp8", 4, 1616), (1, "fp8", 5, 1616)),
    ],
)
def test_vllm_makes_blocks_of_attention_as_long_as_a_state(devices, dtype, drafts, block):
    recent, rest = (3 + drafts) * 10240 // devices, 48 // devices * 128 * 128
    state = State(48, recent + rest, recent=recent)
    of = Layout((LayerGroup(16, 1024 // devices, 1024 // devices),), dtype, devices, (state,))
    found = capacity(of, 64 * GIB, 10 * block)
    assert found.block_tokens == block and found.request_blocks == 10 + 3 * 2
    assert found.block_bytes == 16 * block * of.bytes_per_token // 16
    assert capacity(of, 64 * GIB, 10 * block, "vllm-v1").request_blocks == 10 + 3


def test_states_alone_share_blocks_of_their_own():
    of = Layout((), "bf16", 1, (State(64, 1000),))
    assert capacity(of, 10 * 256_000, 10**6, "vllm-v1").concurrency == 10
    assert capacity(of, 10 * 256_000, 10**6).concurrency == 5
    assert capacity(of, 10 * 256_000, 10**6).block_tokens == 0


def test_states_in_the_models_own_format():
    # Qwen3-Next on two devices: blocks of 544 tokens in vLLM
    state = State(36, 3 * 4096 + 16 * 128 * 128, recent=3 * 4096)
    of = Layout((LayerGroup(12, 256, 256),), "bf16", 2, (state,))
    assert capacity(of, GIB, 4096, state_dtype="bf16").block_tokens == 544
    assert capacity(of, GIB, 4096).block_tokens > 1000
    with pytest.raises(ValueError, match="state_dtype must be one of .*, got 'float16'"):
        capacity(of, GIB, 4096, state_dtype="float16")
    odd = Layout((), "bf16", 1, (State(1, 33),))
    with pytest.raises(ValueError, match="state_dtype = 'q8_0' cannot store the states"):
        capacity(odd, GIB, 4096, state_dtype="q8_0")


def test_an_encoder_takes_blocks_that_do_not_grow():
    # openai/whisper-base: 6 layers, 8 heads of 64, 1500 places of sound
    groups = (LayerGroup(6, 512, 512), LayerGroup(6, 512, 512, 1500, True))
    of = Layout(groups, "fp16", 1)
    found = [capacity(of, GIB, tokens).request_blocks for tokens in (16, 448)]
    assert found == [94 + 1, 94 + 28]


def test_stages_take_layers_as_vllm_splits_them():
    # vllm/tests/distributed/test_pipeline_partition.py
    assert [_vllm.stages(*pair) for pair in [(5, 3), (4, 3), (22, 4), (32, 4), (27, 2)]] == [
        *([2, 2, 1], [1, 2, 1], [5, 6, 6, 5], [8] * 4, [14, 13]),
    ]
    of = Layout((LayerGroup(27, 576, 0),), "bf16", 2)
    block = 16 * 1152
    room = [14 * block * 7 + 5, 14 * block * 9, 13 * block * 6, 13 * block * 8]
    found = capacity(of, room, 64, stages=2)
    assert (found.blocks, found.tokens, found.block_bytes) == (6, 96, 14 * block)
    assert capacity(of, 14 * block * 7, 64, stages=2).blocks == 7
    with pytest.raises(ValueError, match="memory must have equally many numbers for each of"):
        capacity(of, room[:3], 64, stages=2)
    with pytest.raises(ValueError, match=r"stages = 28 must be at most the 27 layers"):
        capacity(of, room, 64, stages=28)
    several = Layout((LayerGroup(2, 8, 8), LayerGroup(2, 8, 8, 4)), "bf16", 1)
    with pytest.raises(ValueError, match="does not say in which order"):
        capacity(several, room, 64, stages=2)


def test_tensorrt_rounds_blocks_up_and_sglang_down():
    room = 100 * 524_288 + 1
    assert capacity(FULL, room, 64, "tensorrt-llm", block_size=64).blocks == 2
    assert capacity(FULL, room, 64, "tensorrt-llm", block_size=64).tokens == 128
    assert capacity(FULL, room, 64, "sglang").tokens == 100
    assert capacity(FULL, room, 64, "sglang", block_size=64).tokens == 64
    local = Layout((LayerGroup(32, 4096, 4096, 96),), "bf16", 1)
    assert capacity(local, GIB, 4096, "tensorrt-llm").request_blocks == 3
    assert capacity(local, GIB, 4096, "sglang").request_blocks == 4096
    for engine in ("sglang", "tensorrt-llm"):
        for groups, states in [((*FULL.groups, *local.groups), ()), (FULL.groups, (State(1, 1),))]:
            with pytest.raises(ValueError, match=f"engine = '{engine}': its rule for layers of"):
                capacity(Layout(groups, "bf16", 1, states), GIB, 1, engine)


def test_the_keys_that_sglang_prints_have_one_page_more():
    # https://github.com/vllm-project/vllm/issues/21348; and page sizes by hand
    of = Layout((LayerGroup(94, 128, 128),), "bf16", 4)
    assert allocation(of, 367_404, "sglang").keys == 367_405 * 94 * 256
    assert allocation(of, 1024, "sglang", block_size=64).values == 1088 * 94 * 256


def test_llama_cpp_gives_each_sequence_a_window():
    # https://github.com/unslothai/unsloth/pull/5225: Gemma 3 270M in MiB
    of = Layout((LayerGroup(3, 256, 256), LayerGroup(15, 256, 256, 512)), "fp16", 1)
    printed = {(4096, 1): 27, (4096, 2): 42, (4096, 4): 72, (4096, 8): 72, (8192, 1): 39}
    printed |= {(8192, 2): 54}
    for (context, slots), size in printed.items():
        assert allocation(of, context, sequences=slots).total == size * MIB
    assert allocation(of, 4096, sequences=4).cells == (4096, 4096)
    assert allocation(of, 4096, sequences=4, unified=True).cells == (4096, 2560)
    assert allocation(of, 100).cells == (256, 256)
    assert allocation(of, 1000, sequences=3).cells == (1536, 1536)
    assert allocation(of, 4096, "ggml").cells == (4096, 4096)


def test_the_longest_context_is_found():
    # half a MiB a token: 100 tokens fit, in whole blocks or cells
    room = 100 * MIB // 2
    assert longest_context(FULL, room, 4096) == 96
    assert longest_context(FULL, room, 50) == 50
    assert longest_context(FULL, [room, 2 * room], 4096, "sglang") == 100
    assert longest_context(FULL, room, 4096, "ggml") == 100
    assert longest_context(FULL, room, 4096, "llama.cpp") == 0
    assert longest_context(FULL, 512 * MIB // 2, 4096, "llama.cpp") == 512
    assert longest_context(FULL, 512 * MIB // 2, 4096, "llama.cpp", sequences=3) == 0
    local = Layout((LayerGroup(32, 4096, 4096, 64),), "bf16", 1)
    few = {"batched_tokens": 64, "block_size": 16}
    assert longest_context(local, 9 * 8 * MIB, 4096, **few) == 4096
    assert longest_context(local, 8 * 8 * MIB, 4096, **few) == 112
    assert longest_context(local, 8 * 8 * MIB, 4096, "llama.cpp", **few) == 4096
    with pytest.raises(ValueError, match="engine must be one of llama.cpp"):
        longest_context(FULL, room, 1, "nginx")


def test_a_context_beyond_the_models_is_named():
    of = Layout(FULL.groups, "bf16", 1, context=4096)
    with pytest.raises(ValueError, match="tokens must be at most 4096, the longest sequence that"):
        capacity(of, GIB, 4097)
    with pytest.raises(ValueError, match="tokens must be at most 4096 for each sequence, .* 8193"):
        allocation(of, 8193, sequences=2)
    assert allocation(of, 8192, sequences=2).total == 4 * GIB
    assert allocation(of, 10**6, "sglang").cells == (10**6 + 1,)  # a pool, not a sequence
    assert longest_context(of, 99 * GIB, 10**6) == 4096
    assert longest_context(of, 99 * GIB, 10**6, "llama.cpp", sequences=3) == 3 * 4096


def test_an_encoder_of_unknown_length_is_named():
    of = Layout((*FULL.groups, LayerGroup(2, 8, 8, None, True)), "bf16", 1)
    for ask in (lambda: capacity(of, GIB, 1), lambda: allocation(of, 1, "whisper.cpp")):
        with pytest.raises(ValueError, match="layout does not say how many tokens an encoder"):
            ask()


def test_a_format_of_its_own_counts():
    groups = (LayerGroup(2, 512, 0), LayerGroup(2, 64, 0, dtype="fp8"))
    of = Layout(groups, "bf16", 1)
    assert capacity(of, GIB, 16).block_bytes == 16 * 2 * (512 * 2 + 64)
    assert allocation(of, 256).keys == 256 * 2 * (512 * 2 + 64)


def test_a_state_is_kept_for_each_sequence():
    # https://github.com/ggml-org/llama.cpp/pull/5328: Mamba 2.8B
    of = Layout((), "fp16", 1, (State(64, 5120 * 16 + 5120 * 3),))
    assert allocation(of, 1).total == allocation(of, 10**6).total == 23.75 * MIB
    assert allocation(of, 1, sequences=2048).states == 47.5 * GIB


@pytest.mark.parametrize(
    ("layers", "width", "own", "cross"),
    [(6, 512, "6.29 MB", "18.87 MB"), (4, 384, "3.15 MB", "9.44 MB"),
     (24, 1024, "50.33 MB", "150.99 MB"), (12, 768, "18.87 MB", "56.62 MB")],
)  # fmt: skip
def test_whisper_cpp_pads_text_and_sound(layers, width, own, cross):
    # logs of whisper.cpp for base, tiny, medium and small
    groups = (LayerGroup(layers, width, width), LayerGroup(layers, width, width, 1500, True))
    of = Layout(groups, "fp16", 1)
    setting = {"engine": "whisper.cpp", "tokens": 448}
    for text, what in [(own, "keys and values"), (cross, "encoder")]:
        assert compare(of, Line("", text, what, setting)).verdict == "exact"
    with pytest.raises(ValueError, match=r"engine = 'llama.cpp' keeps no tokens of an encoder"):
        allocation(of, 448)


def test_every_head_of_its_own():
    latent = {"num_attention_heads": 128, "kv_lora_rank": 512, "q_lora_rank": 1536}
    latent |= {"qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128}
    assert validation.every_head(latent) == {
        **{"num_attention_heads": 128, "num_key_value_heads": 128},
        **{"head_dim": 192, "v_head_dim": 128},
    }


def test_the_budget_that_vllm_printed():
    # https://github.com/vllm-project/vllm/issues/10517, in hundredths of a GiB
    for peak, left in [(17.06, 3.81), (17.98, 2.89)]:
        spent = {"weights": round(14.9888 * GIB), "reserve": round(0.35 * GIB)}
        spent["activations"] = round(peak * GIB) - spent["weights"]
        found = memory_budget(round(23.58 * GIB), **spent)
        assert abs(found.cache / GIB - left) <= 0.02 and found.reason == ""


def test_the_least_device_decides():
    found = memory_budget([80, 80], utilization=1, weights=[10, 30], activations=5, reserve=[1, 2])
    assert (found.ranks, found.cache, found.reason) == ((64, 43), 43, "")
    assert memory_budget(10**30 + 1, utilization=0.7).cache == 7 * 10**29


@pytest.mark.parametrize(
    ("spent", "reason"),
    [
        ({"weights": 90}, "weights = 90 bytes leave nothing of 90 % of memory = 100 bytes"),
        ({"weights": 90, "reserve": 7}, "weights = 90 bytes leave nothing of 90 %"),
        ({"weights": 80, "activations": 20}, "weights = 80 + activations = 20 bytes leave nothing"),
        ({"weights": [1, 2], "reserve": [1, 99]}, r"weights = 2 \+ reserve = 99 .* on device 1"),
        ({"memory": 0}, "nothing is in 90 % of memory = 0 bytes"),
    ],
)
def test_weights_that_leave_nothing_are_named(spent, reason):
    found = memory_budget(**{"memory": 100, **spent})
    assert found.cache == 0 and min(found.ranks) == 0
    assert re.search(reason if ".*" in reason else re.escape(reason), found.reason)


def test_memory_for_less_than_one_request_says_so():
    found = capacity(FULL, 4 * GIB, 16384)
    assert found.concurrency == 0.5 and found.longest == 8192
    assert "one request of tokens = 16384 takes 8589934592 bytes" in found.reason
    none = capacity(FULL, 0, 1)
    assert (none.blocks, none.tokens, none.concurrency, none.longest) == (0, 0, 0.0, 0)
    assert "memory = 0 bytes holds 0 blocks" in none.reason


def test_the_log_is_written_as_the_engines_write_it():
    found = capacity(FULL, 8 * GIB, 10_000)
    assert found.log == (
        "GPU KV cache size: 16,384 tokens\nMaximum concurrency for 10,000 tokens per request: 1.64x"
    )
    assert capacity(FULL, 8 * GIB, 10_000, "vllm-v0").log.startswith("# GPU blocks: 1024\n")
    assert capacity(FULL, 8 * GIB, 9, "sglang").log == "max_total_num_tokens=16384"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"engine": "ollama"}, "engine must be one of vllm, .*, got 'ollama'"),
        ({"memory": -1}, "memory must be at least 0, got -1"),
        ({"memory": []}, r"memory must be a number, or one for each device, got \[\]"),
        ({"tokens": 0}, "tokens must be at least 1, got 0"),
        ({"tokens": -5}, "tokens must be at least 1, got -5"),
        ({"block_size": 0}, "block_size must be at least 1"),
        ({"stages": 0}, "stages must be at least 1"),
        ({"batched_tokens": 0.5}, "batched_tokens must be a whole number"),
    ],
)
def test_a_wrong_question_is_named(change, words):
    with pytest.raises(ValueError, match=words):
        capacity(**{"layout": FULL, "memory": GIB, "tokens": 1, **change})


def test_what_is_no_layout_is_named():
    for ask in (lambda x: capacity(x, 1, 1), lambda x: allocation(x, 1)):
        with pytest.raises(TypeError, match="layout must be a Layout, got {}"):
            ask({})
    for groups in ((), (LayerGroup(2, 0, 0),), (*FULL.groups, LayerGroup(0, 8, 8))):
        with pytest.raises(ValueError, match="layout must keep something in each group of layers"):
            capacity(Layout(groups, "bf16", 1), 1, 1)
    with pytest.raises(TypeError, match="unified must be True or False, got 1"):
        allocation(FULL, 1, unified=1)
    with pytest.raises(ValueError, match="'vllm-v0' keeps states outside its blocks"):
        capacity(Layout((), "bf16", 1, (State(1, 1),)), 1, 1, "vllm-v0")
    with pytest.raises(ValueError, match="line must ask one of blocks"):
        compare(FULL, Line("", "1", "weather"))
    with pytest.raises(ValueError, match="text must be a number with or without its unit"):
        compare(FULL, Line("", "many", "key numbers"))


def test_bytes_of_a_token_need_not_be_whole():
    setting = {"engine": "vllm", "tokens": 17, "memory": "1 GiB"}
    value = validation.QUESTIONS["bytes of a token"](FULL, setting | {"memory": GIB})
    assert value == Fraction(32 * 524_288, 17)
    assert kvcache.capacity(FULL, GIB, 17).request_bytes == 32 * 524_288
