"""Times of a step against counts by hand, other ways to count, and every published measurement."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from serving import attention, catalog, formulas, kvcache, measurements, roofline
from serving.formulas import value

A100, T4 = catalog.accelerator("a100-80gb"), catalog.accelerator("t4")
GPT3, LLAMA = catalog.model("gpt-3"), catalog.model("llama-2-70b")
TIMED = [name for name in measurements.names() if measurements.published(name).output_tokens]
CURVES = [name for name in measurements.curve_names() if name.startswith("llama")]


# What others say of the same machines.


def test_weights_of_gpt3_cross_the_memory_of_eight_a100_in_21_5_ms():
    step = roofline.decode_step(GPT3, A100, 1, 1, devices=8)
    assert 1000 * step.read_weights == pytest.approx(350e9 / (8 * 2.039e9), rel=1e-12)


def test_a_prompt_of_2048_tokens_takes_gpt3_at_least_287_ms():
    step = roofline.prefill(GPT3, A100, 1, 2048, devices=8)
    assert 1000 * step.matmul == pytest.approx(287.18, abs=0.005)
    assert 1000 * step.matmul / 2048 == pytest.approx(0.1402, abs=5e-5)


def test_llama_2_70b_on_four_a100_writes_at_most_59_1_tokens_a_second_for_each_sequence():
    step = roofline.decode_step(LLAMA, A100, 1, 1, devices=4)
    assert 1 / step.read_weights == pytest.approx(59.1, abs=0.05)


@pytest.mark.parametrize(
    ("name", "tokens"),
    [("tpu-v5e", 240), ("a100-80gb", 153), ("h100-sxm", 295)],
)
def test_ridges_are_those_of_how_to_scale_your_model_and_of_the_data_sheets(name, tokens):
    one = catalog.accelerator(name)
    peak, speed = one.peak["bf16"], one.bandwidth
    assert value(formulas.ridge_batch, 2, peak, speed) == pytest.approx(tokens, abs=1)
    assert value(formulas.ridge_intensity, peak, speed) == pytest.approx(tokens, abs=1)
    assert value(formulas.ridge_batch, 1, peak, speed) == pytest.approx(tokens / 2, abs=1)


# The same counted in another way.


def test_operations_are_those_that_a_decoder_does():
    """The tiny decoder of chapter 10 counts its multiply-adds as it does them."""
    shape = attention.Shape(layers=3, heads=4, kv_heads=2, head_width=8, mlp_width=48)
    run = attention.generate(attention.random_model(shape), [1, 2, 3, 4, 5], 4)
    matrices = shape.layer_weights
    model = catalog.Model(
        "tiny",
        matrices,
        matrices,
        64,
        {
            "num_hidden_layers": 3,
            "hidden_size": 32,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
        },
        "here",
    )
    slow = replace(A100, peak={"fp16": 1.0}, bandwidth=1.0)  # seconds are operations, or bytes
    least = roofline.answers(model, slow, 1, 5, 4)
    once = run.work["projections"] + run.work["MLP"]
    assert least.prefill.matmul == 2 * once[0]
    assert least.decode.matmul == 2 * once[1:].sum()
    assert least.prefill.attention == 2 * run.work["attention"][0]
    assert least.decode.attention == 2 * run.work["attention"][1:].sum()
    assert least.decode.read_cache == run.kept_bytes[1:].sum() / 8 * 2  # kept in eight bytes each
    assert least.prefill.read_cache == run.kept_bytes[0] / 8 * 2


@pytest.mark.parametrize("devices", [2, 3, 5, 8])
def test_a_ring_adds_up_and_sends_what_the_formula_says(devices):
    numbers = np.random.default_rng(devices).integers(0, 99, (devices, 4 * devices))
    pieces = numbers.reshape(devices, devices, 4).copy()
    sent = np.zeros(devices, dtype=int)
    for turn, rounds in itertools.product((0, 1), range(devices - 1)):
        moved = [(one, (one - rounds + turn) % devices) for one in range(devices)]
        parcels = [pieces[one, place].copy() for one, place in moved]
        for (one, place), parcel in zip(moved, parcels, strict=True):
            after = (one + 1) % devices
            pieces[after, place] = parcel if turn else pieces[after, place] + parcel
            sent[one] += 2 * parcel.size
    assert np.all(pieces.reshape(devices, -1) == numbers.sum(axis=0))
    seconds = value(formulas.all_reduce_time, 1, 4 * devices, 2, devices, 10.0, 0.5)
    assert np.all(sent / 10.0 + 0.5 == pytest.approx(seconds, rel=1e-12))
    layers = value(formulas.exchange_time, 1, 7, 4 * devices, 2, devices, 10.0, 0.5)
    assert layers == pytest.approx(14 * seconds, rel=1e-12)


def test_answers_are_the_pass_and_each_of_the_steps():
    batch, options = np.array([1, 7, 200]), {"devices": 4, "call_time": 3e-6}
    least = roofline.answers(LLAMA, A100, batch, 100, 40, **options)
    steps = [roofline.decode_step(LLAMA, A100, batch, 100 + n, **options) for n in range(1, 40)]
    first = roofline.prefill(LLAMA, A100, batch, 100, **options)
    np.testing.assert_allclose(least.decode.total, sum(step.total for step in steps))
    np.testing.assert_allclose(least.total, first.total + sum(step.total for step in steps))


@pytest.mark.parametrize("window", [1, 60, 101, 107, 500])
def test_layers_with_a_window_read_what_they_keep(window, monkeypatch):
    group = kvcache.LayerGroup(10, 1024, 1024, window)
    layout = kvcache.Layout((group, kvcache.LayerGroup(2, 64, 64)), "fp16", 1)
    monkeypatch.setattr(roofline.kvcache, "layout", lambda *_: layout)
    least = roofline.answers(LLAMA, A100, 3, 100, 9).decode
    kept = [layout.sequence_bytes(100 + n) for n in range(1, 9)]
    assert least.read_cache == pytest.approx(3 * sum(kept) / A100.bandwidth, rel=1e-12)
    met = sum(10 * min(100 + n, window) + 2 * (100 + n) for n in range(1, 9))
    assert least.attention == pytest.approx(3 * 4 * 8192 * met / 312e12, rel=1e-12)


def test_rows_of_an_encoder_are_read_in_every_step(monkeypatch):
    rows = kvcache.LayerGroup(4, 512, 512, 1500, encoder=True)
    for group in (rows, replace(rows, window=None)):
        layout = kvcache.Layout((group,), "fp16", 1)
        monkeypatch.setattr(roofline.kvcache, "layout", lambda *_, kept=layout: kept)
        if group.window is None:
            with pytest.raises(ValueError, match="model must say how many tokens its encoder"):
                roofline.answers(LLAMA, A100, 2, 10, 9)
        else:
            step = roofline.answers(LLAMA, A100, 2, 10, 9).decode
            each = 4 * 1024 * 2 * 1500
            assert step.read_cache == pytest.approx(8 * 2 * each / A100.bandwidth, rel=1e-12)


@pytest.mark.parametrize("model", catalog.models().values(), ids=lambda model: model.name)
def test_every_model_of_the_catalogue_has_a_step_or_says_why_not(model):
    try:
        step = roofline.decode_step(model, A100, 2, 100)
    except ValueError as error:
        assert "encoder" in str(error)
    else:
        assert 0 < step.attention < step.total < math.inf or not step.attention


def test_states_of_constant_size_are_read_in_every_step(monkeypatch):
    layout = kvcache.Layout((), "fp16", 1, (kvcache.State(5, 1000),))
    monkeypatch.setattr(roofline.kvcache, "layout", lambda *_: layout)
    least = roofline.answers(LLAMA, A100, 2, 100, 9)
    assert least.decode.read_cache == pytest.approx(8 * 2 * 20_000 / A100.bandwidth, rel=1e-12)
    assert least.decode.attention == least.prefill.attention == 0


def test_the_prompt_attention_is_the_sum_over_its_tokens():
    each = [value(formulas.attention_time, 3, 80, 8192, n, 4, 312e12) for n in range(1, 301)]
    whole = value(formulas.prompt_attention_time, 3, 80, 8192, 300, 4, 312e12)
    assert whole == pytest.approx(sum(each), rel=1e-12)
    step = roofline.prefill(LLAMA, A100, 3, 300, devices=4)
    assert step.attention == pytest.approx(whole, rel=1e-12)


def test_the_formula_of_a_step_is_the_package_where_attention_waits_for_memory():
    batch = np.array([1, 100, 153, 154, 1000])
    step = roofline.decode_step(LLAMA, A100, batch, 1000)
    kept = 1000 * kvcache.layout(LLAMA.config, "fp16").bytes_per_token
    closed = value(formulas.step_time, batch, LLAMA.parameters, 2, kept, 1, A100.bandwidth, 312e12)
    np.testing.assert_allclose(step.total, closed, rtol=1e-12)
    before, after = value(formulas.step_time, [100.0, 300.0], 1e9, 2, 0, 1, 2e12, 4e14)
    assert (before, after) == (pytest.approx(1e-3), pytest.approx(1.5e-3))
    reading = value(formulas.cache_read_time, batch, kept, 1, A100.bandwidth)
    np.testing.assert_allclose(step.read_cache, reading)
    np.testing.assert_allclose(reading / batch, 327_680_000 / 2.039e12, rtol=1e-12)


# Crossings.


@pytest.mark.parametrize("tokens", [1, 300, 1000, 2700])
def test_at_the_crossing_reading_takes_as_long_as_arithmetic(tokens):
    kept = tokens * 327_680
    shape = (LLAMA.parameters, 80, 8192, tokens, 2, kept)
    batch = value(formulas.crossing_batch, *shape, A100.bandwidth, 312e12)
    step = roofline.decode_step(LLAMA, A100, batch, tokens)
    assert step.memory == pytest.approx(step.compute, rel=1e-9)
    for factor, longest in ((0.99, "memory"), (1.01, "compute")):
        assert roofline.decode_step(LLAMA, A100, factor * batch, tokens).bound == longest


def test_beyond_a_length_no_batch_waits_for_arithmetic():
    shape = (LLAMA.parameters, 80, 8192, 8, 128, 2, A100.bandwidth, 312e12)
    longest = value(formulas.crossing_tokens, *shape)
    assert longest == pytest.approx(2751.34 / (1 - 8 / 153.016), abs=0.1)
    crowd = 1e9
    below, above = (
        roofline.decode_step(LLAMA, A100, crowd, round(factor * longest)) for factor in (0.99, 1.01)
    )
    assert below.bound == "compute" and above.bound == "memory"
    with pytest.raises(ValueError, match="kept_bytes"):
        value(formulas.crossing_batch, *shape[:3], 2904, 2, 327_680 * 2904, *shape[-2:])


# The line.


@pytest.mark.parametrize("options", [{"devices": 8}, {"devices": 8, "call_time": 1e-5}])
def test_the_line_is_the_least_time_between_its_ends_only(options):
    line = roofline.service(GPT3, A100, 128, 8, **options)
    ends = [line.first_batch, 10, line.last_batch]
    least = roofline.answers(GPT3, A100, ends, 128, 8, **options).total
    np.testing.assert_allclose(line.time(ends), least, rtol=1e-12)
    beyond = [1, 1.05 * line.last_batch]
    assert np.all(line.time(beyond) < roofline.answers(GPT3, A100, beyond, 128, 8, **options).total)
    assert line.last_batch == pytest.approx(153.0, abs=0.05)
    assert line.first_batch == pytest.approx(line.last_batch / 128, rel=1e-12)


def test_the_line_follows_from_the_two_formulas_on_one_device():
    line = roofline.service(LLAMA, A100, 2000, 300)
    fixed = value(formulas.answer_fixed_time, LLAMA.parameters, 2, 300, 1, A100.bandwidth)
    shape = (80, 8, 128, 8192, 2, 2000, 300, 1, A100.bandwidth, 312e12)
    assert line.t_fixed == pytest.approx(fixed, rel=1e-12)
    assert line.t_fixed == pytest.approx(299 * 137.953296384e9 / 2.039e12, rel=1e-12)
    each = value(formulas.answer_request_time, LLAMA.parameters, *shape)
    assert line.t_req == pytest.approx(each, rel=1e-12)
    kept = sum(327_680 * (2000 + n) for n in range(1, 300)) / 2.039e12
    prompt = (2 * 68_976_648_192 * 2000 + sum(4 * 80 * 8192 * n for n in range(1, 2001))) / 312e12
    assert each == pytest.approx(kept + prompt, rel=1e-12)


def test_a_machine_with_little_arithmetic_has_no_fixed_time():
    line = roofline.service(LLAMA, A100, 100, 50, peak_share=1e-3)
    assert (line.t_fixed, line.first_batch, line.last_batch) == (0, 1, math.inf)
    least = roofline.answers(LLAMA, A100, [1, 1000], 100, 50, peak_share=1e-3).total
    np.testing.assert_allclose(line.time([1, 1000]), least, rtol=1e-12)


def test_an_answer_of_one_token_is_its_prompt():
    line = roofline.service(LLAMA, A100, 2000, 1)
    assert (line.t_fixed, line.last_batch) == (0, math.inf)
    assert line.time(3) == pytest.approx(roofline.prefill(LLAMA, A100, 3, 2000).total, rel=1e-12)


# What the options do.


def test_shares_of_a_rate_stretch_what_waits_for_it():
    plain = roofline.decode_step(LLAMA, A100, 16, 500, devices=4)
    half = roofline.decode_step(
        LLAMA, A100, 16, 500, devices=4, bandwidth_share=0.5, peak_share=0.25, link_share=0.125
    )
    for name, factor in {"memory": 2, "compute": 4, "traffic": 8}.items():
        assert getattr(half, name) == pytest.approx(factor * getattr(plain, name), rel=1e-12)


def test_more_devices_than_heads_of_keys_read_copies():
    one, eight, sixteen = (
        roofline.decode_step(LLAMA, A100, 16, 500, devices=n) for n in (1, 8, 16)
    )
    assert one.read_cache == pytest.approx(8 * eight.read_cache, rel=1e-12)
    assert sixteen.read_cache == pytest.approx(eight.read_cache, rel=1e-12)
    assert one.traffic == 0 and one.read_weights == pytest.approx(16 * sixteen.read_weights)


def test_formats_of_weights_cache_and_arithmetic_are_apart():
    step = roofline.decode_step(LLAMA, A100, 16, 500)
    other = roofline.decode_step(
        LLAMA, A100, 16, 500, dtype="int4", cache_dtype="fp8", arithmetic="int8"
    )
    assert step.read_weights == pytest.approx(4 * other.read_weights, rel=1e-12)
    assert step.read_cache == pytest.approx(2 * other.read_cache, rel=1e-12)
    assert step.compute == pytest.approx(2 * other.compute, rel=1e-12)


def test_experts_compute_with_active_parameters_and_read_a_share():
    experts = replace(LLAMA, active_parameters=LLAMA.parameters // 4)
    step = roofline.decode_step(experts, A100, 16, 500, weights_read=0.5)
    dense = roofline.decode_step(LLAMA, A100, 16, 500)
    assert dense.matmul == pytest.approx(4 * step.matmul, rel=1e-12)
    assert dense.read_weights == pytest.approx(2 * step.read_weights, rel=1e-12)


def test_a_latent_row_is_met_by_queries_wider_than_the_model_per_head():
    """DeepSeek V3: 128 heads, queries of 128 + 64 numbers and values of 128."""
    from serving._shape import shape

    config = {"num_hidden_layers": 61, "hidden_size": 7168, "num_attention_heads": 128}
    config |= {"kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64}
    assert shape(config | {"v_head_dim": 128}) == (61, 7168, 128 * (192 + 128) // 2)


def test_widths_are_found_under_the_names_of_other_families_and_in_nested_parts():
    from serving._shape import shape

    assert shape({"n_layer": 48, "n_embd": 1600, "n_head": 25}) == (48, 1600, 1600)
    nested = {"text_config": {"num_hidden_layers": 2, "hidden_size": 10, "num_attention_heads": 4}}
    assert shape(nested | {"vision_config": {"hidden_size": 99}}) == (2, 10, 8)
    with pytest.raises(ValueError, match="hidden_size"):
        shape({"num_hidden_layers": 2})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"dtype": "fp8"},
            "dtype must be .*int8, in which a100-80gb computes, unless arithmetic .* 'fp8'",
        ),
        ({"dtype": "int4"}, "dtype must be one of .*got 'int4'"),
        (
            {"dtype": "int4", "arithmetic": "fp4"},
            "arithmetic must be one of .* computes, got 'fp4'",
        ),
        ({"cache_dtype": "fp12"}, "cache_dtype must be one of"),
        ({"devices": 3}, "devices"),
        ({"weights_read": 1.5}, "weights_read must be at most 1"),
        ({"bandwidth_share": 0}, "bandwidth_share must be greater than 0"),
    ],
)
def test_what_a_machine_cannot_do_is_named(options, words):
    with pytest.raises(ValueError, match=words):
        roofline.decode_step(LLAMA, A100, 1, 1, **options)


def test_lengths_beyond_the_context_and_devices_without_a_link_are_named():
    with pytest.raises(ValueError, match="tokens must be at most 4096 .*got 4097"):
        roofline.decode_step(LLAMA, A100, 1, 4097)
    with pytest.raises(ValueError, match="output_tokens must be at most 1 .*got 2"):
        roofline.answers(LLAMA, A100, 1, 4096, 2)
    with pytest.raises(ValueError, match="devices must be 1 without a link, got 2"):
        roofline.decode_step(LLAMA, replace(T4, link=0.0), 1, 1, devices=2)
    with pytest.raises(TypeError, match="model must be of serving.catalog"):
        roofline.decode_step("llama", A100, 1, 1)


# Measurements: nobody was faster than the bound.

SHARES = {
    "gpt-175b": (0.35, 0.56),
    "gpt-175b-long": (0.43, 0.58),
    "gpt-175b-megatron": (0.14, 0.29),
    "gpt-89b": (0.30, 0.55),
    "gpt-20b": (0.22, 0.37),
    "gpt-20b-one-gpu": (0.66, 0.72),
    "gpt-20b-one-gpu-long": (0.69, 0.73),
    "gpt-6.7b": (0.52, 0.58),
    "megatron-530b": (0.42, 0.53),
    "llama-3.1-70b": (0.15, 0.21),
    "llama-3.1-70b-long": (0.19, 0.27),
    "llama-3.1-405b": (0.26, 0.42),
}
"""Least and largest share of the bound in the measured time, by table, one percent wider."""


def test_every_table_of_a_language_model_has_its_limits():
    assert set(TIMED) == set(SHARES)


@pytest.mark.parametrize("name", TIMED)
def test_no_batch_was_faster_than_its_bound(name):
    data, run = measurements.published(name), measurements.setup(name)
    work = (data.batches, data.input_tokens, data.output_tokens)
    least = roofline.answers(run.model, run.accelerator, *work, **run.options)
    share = least.total / data.times
    low, high = SHARES[name]
    assert low < share.min() < low + 0.02 and high - 0.02 < share.max() < high < 1
    assert np.all(least.prefill.overlapped + least.decode.overlapped <= least.total)


@pytest.mark.parametrize("name", CURVES)
def test_no_step_and_no_prompt_of_llama_2_70b_was_faster_than_its_bound(name):
    data, run = measurements.curve(name), measurements.setup(name)
    machine = (run.model, run.accelerator, data.batches)
    middle = data.input_tokens + data.output_tokens // 2
    share = roofline.decode_step(*machine, middle, **run.options).total / data.latency
    assert 0.45 < share.min() and share.max() < 0.6
    first = roofline.prefill(*machine, data.input_tokens, **run.options).total
    assert np.all((first / data.first_token > 0.07) & (first / data.first_token < 1))
    whole = roofline.answers(*machine, data.input_tokens, data.output_tokens, **run.options)
    measured = data.batches * data.output_tokens / data.throughput
    assert np.all((whole.total / measured > 0.35) & (whole.total / measured < 0.7))


def test_the_drawing_of_the_source_is_faster_than_its_bound():
    drawn, step = measurements.curve("source-drawing"), roofline.decode_step
    least = step(LLAMA, A100, drawn.batches, 1, devices=4).total
    fastest = drawn.batches / least
    assert np.all((drawn.throughput > fastest)[[0, 4, 5, 6]])


def test_parameters_of_the_gpt_models_are_those_of_their_matrices():
    for name in ("gpt-175b", "gpt-89b", "gpt-20b", "gpt-6.7b", "megatron-530b"):
        model = measurements.setup(name).model
        layers, width = model.config["num_hidden_layers"], model.config["hidden_size"]
        assert model.parameters == 12 * layers * width**2 + 51_200 * width


def test_published_first_tokens_come_with_their_batches():
    data = measurements.curve("llama-2-70b-2048-128")
    assert data.first_token is not None
    np.testing.assert_allclose(data.first_token, [0.402, 5.776, 11.834, 17.402])
    with pytest.raises(ValueError, match="name must be one of gpt-175b.*got 'resnet50-t4'"):
        measurements.setup("resnet50-t4")
