"""One constraint: against its parts alone, a simulation, and the source's example."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from serving import (
    LinearService,
    UnstableError,
    _question,
    catalog,
    constraint,
    decision,
    formulas,
    kvcache,
    roofline,
)
from serving.constraint import Question, largest_rate, region, relax
from serving.policies import Fixed, Greedy
from serving.simulation import simulate

A100 = catalog.accelerator("a100-80gb")
CARD = replace(A100, memory=80 * 10**9)  # as the source counts it
GPT3 = roofline.Machine(catalog.model("gpt-3"), CARD, devices=8)
EXAMPLE = Question(
    GPT3,
    arrival_rate=100,
    input_tokens=1948,
    output_tokens=100,
    slo=0.200,
    policy="fixed",
    service=LinearService(t_fixed=0.050, t_req=0.0005),
    utilization=1.0,
)
LLAMA = roofline.Machine(catalog.model("llama-2-70b"), A100, devices=4)
CHAT = Question(LLAMA, arrival_rate=2.0, input_tokens=512, output_tokens=128, slo=15.0)


def test_the_sources_example_has_its_two_halves():
    found = region(EXAMPLE)
    assert found.batches[found.stable].tolist() == list(range(6, 65))  # its queue
    assert found.batches[found.fits].tolist() == list(range(1, 31))  # its memory
    decided = decision.decide(100, EXAMPLE.service, slo=0.200, max_batch=30)
    assert found.feasible.tolist() == decided.batches[decided.feasible].tolist()
    assert found.best == decided.fastest and found.binds == ("timely",)


def test_a_server_that_does_not_wait_is_bound_by_memory():
    found = region(replace(EXAMPLE, policy="greedy"))
    assert found.feasible.max() == 30 and "fits" in found.binds
    assert found.reason.endswith("above, it does not fit into memory")


@pytest.mark.parametrize("policy", ["fixed", "greedy"])
def test_percentiles_are_those_of_a_simulation(policy):
    found = region(replace(EXAMPLE, policy=policy), max_batch=9)
    run = simulate(
        100, (Fixed if policy == "fixed" else Greedy)(9), EXAMPLE.service, requests=400_000, seed=1
    )
    low, high = run.interval(0.99, level=0.9999)
    assert low <= found.response[8] <= high


@pytest.mark.parametrize("name", constraint.CONDITIONS)
def test_the_region_is_where_all_conditions_hold(name):
    found = region(CHAT, max_batch=24)
    outside = found.batches[~getattr(found, name)]
    assert not set(outside.tolist()) & set(found.feasible.tolist())


def test_memory_counts_weights_and_whole_blocks():
    weights = -(-2 * LLAMA.model.parameters // 4)
    free = 9 * A100.memory // 10 - weights
    each = 640 * kvcache.layout(LLAMA.model.config, "fp16", 4).bytes_per_token
    assert CHAT.tokens == 640 and CHAT.most == free // each
    assert replace(CHAT, reserve=free).most == 0


def test_derived_times_are_never_below_the_roofline():
    sizes = np.arange(1, 33)
    whole = roofline.answers(LLAMA.model, A100, sizes, 512, 128, devices=4).total
    assert _question.times(CHAT, sizes) == pytest.approx(whole, rel=1e-12)
    chord = _question.lines(CHAT, sizes)[-1]
    assert np.all(chord.time(sizes) >= whole * (1 - 1e-12))
    assert chord.time(32) == pytest.approx(whole[-1], rel=1e-12)


def test_a_limit_on_tokens_ends_the_region_where_steps_take_longer():
    free = region(CHAT)
    limit = float(free.step[19])
    found = region(replace(CHAT, token_slo=limit))
    assert found.feasible.max() == 20 and found.binds[-1] == "timely"


def test_what_relaxes_a_region_makes_it_no_smaller():
    tight = replace(CHAT, arrival_rate=4.0, input_tokens=3500, output_tokens=500, slo=120.0)
    cramped = replace(tight, reserve=30 * 2**30)
    before = region(cramped)
    assert before.binds == ("fits",) or not before.feasible.size
    for name, question in relax(cramped).items():
        if name != "the other policy":
            after = region(question)
            assert set(before.feasible) <= set(after.feasible), name


def test_relaxations_that_cannot_be_are_left_out():
    one_byte = replace(
        CHAT, machine=replace(LLAMA, dtype="int8", arithmetic="fp16", cache_dtype="fp8")
    )
    assert set(relax(one_byte)) == {"twice the devices", "a second replica", "the other policy"}
    assert "heads share keys" in relax(EXAMPLE) and "twice the devices" not in relax(EXAMPLE)


def test_heads_share_keys_as_devices_can_split_them():
    grouped = relax(EXAMPLE)["heads share keys"]
    assert grouped.machine.layout.bytes_per_token * 12 == EXAMPLE.machine.layout.bytes_per_token


@pytest.mark.parametrize("policy", ["fixed", "greedy"])
def test_at_the_largest_rate_the_limit_is_just_met(policy):
    question = replace(EXAMPLE, policy=policy)
    most = largest_rate(question, max_batch=30)
    assert region(replace(question, arrival_rate=most), 30).feasible.size
    assert not region(replace(question, arrival_rate=1.001 * most), 30).feasible.size


def test_no_rate_is_in_time_where_one_batch_alone_is_late():
    assert largest_rate(replace(EXAMPLE, slo=0.050)) == 0.0
    assert largest_rate(replace(EXAMPLE, utilization=0.5)) == 0.0


def test_a_token_costs_its_share_of_the_devices():
    # 8 devices at 2 an hour for 100 requests of 100 tokens a second
    cost = formulas.value(formulas.token_cost, 2 / 3600, 8, 100, 100)
    assert cost == pytest.approx(16 / 3600 / 10_000)


def test_memory_limits_the_traffic_where_the_bounds_of_both_halves_meet():
    shape, service = (96, 96, 128, 2048, 2), EXAMPLE.service
    rate = formulas.value(formulas.memory_rate, 290e9, *shape, service.t_fixed, service.t_req)
    batch = formulas.value(formulas.memory_batch, 290e9, *shape)
    bound = formulas.value(formulas.min_batch, rate, 1, service.t_fixed, service.t_req)
    assert bound == pytest.approx(batch)  # chapter 5's least batch is chapter 11's largest


def test_an_empty_region_says_why():
    assert (
        "weights = 43750000000 bytes leave nothing"
        in region(replace(EXAMPLE, utilization=0.5), 8).reason
    )
    slow = region(replace(EXAMPLE, arrival_rate=3000), 8)
    assert slow.reason == "no batch size will do; at B = 8, it does not keep up"
    assert slow.binds == ("stable",)
    with pytest.raises(UnstableError, match="batch"):
        _question.queue("fixed", 3000, 8, EXAMPLE.service)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"arrival_rate": 0}, "arrival_rate must be greater than 0"),
        ({"slo": -1}, "slo must be greater than 0"),
        ({"quantile": 1}, "quantile must be less than 1"),
        ({"input_tokens": 0}, "input_tokens must be at least 1"),
        ({"output_tokens": 1.5}, "output_tokens must be"),
        ({"output_tokens": 101}, r"input_tokens \+ output_tokens must be at most 2048"),
        ({"policy": "window"}, "policy must be one of greedy, fixed"),
        ({"utilization": 1.1}, "utilization must be at most 1"),
        ({"reserve": -1}, "reserve must be at least 0"),
        ({"token_slo": 0}, "token_slo must be greater than 0"),
    ],
)
def test_what_cannot_be_asked_is_named(changes, words):
    with pytest.raises(ValueError, match=words):
        replace(EXAMPLE, **changes)
