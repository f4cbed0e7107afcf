"""The decision table: each row alone, rows together, and the borders between them."""

import math

import pytest

from serving import LinearService, advice

GPT3 = LinearService(0.050, 0.0005)


def rows(arrival_rate, batch, tail, slo=0.200, service=GPT3):
    return [row.condition for row in advice.advice(arrival_rate, batch, service, slo, tail)]


def test_a_batch_that_cannot_keep_up():
    assert rows(100, 5, tail=0.1) == ["B < B_min", "ρ > 0.85"]
    assert rows(100, 5, tail=math.inf) == ["B < B_min", "T_P99 > SLO", "ρ > 0.85"]


def test_a_tail_over_the_limit():
    assert rows(100, 10, tail=0.201) == ["T_P99 > SLO"]
    assert rows(100, 10, tail=0.200) == []


def test_few_requests():
    assert rows(100, 12, tail=0.1) == ["ρ < 0.5"]


def test_many_requests():
    assert rows(100, 6, tail=0.1) == ["ρ > 0.85"]


def test_the_sources_fair_choice_is_told_to_grow_and_to_shrink():
    found = advice.advice(100, 16, GPT3, 0.200, 0.268)
    assert [row.action for row in found] == [
        "lower the batch size, or add replicas",
        "consider fewer replicas",
    ]


def test_borders_are_exact():
    # 10 requests/s at 50 ms alone is a load of one half; at 85 ms of 0.85; at 100 ms of one
    for seconds, expected in [(0.05, []), (0.085, []), (0.1, ["B < B_min", "ρ > 0.85"])]:
        assert rows(10, 1, 0.1, service=LinearService(seconds, 0)) == expected
    assert rows(9.999, 1, 0.1, service=LinearService(0.05, 0)) == ["ρ < 0.5"]
    assert rows(10.001, 1, 0.1, service=LinearService(0.085, 0)) == ["ρ > 0.85"]


def test_the_table_is_the_sources():
    assert [(row.condition, row.action) for row in advice.TABLE] == [
        ("B < B_min", "raise the batch size, or add replicas"),
        ("T_P99 > SLO", "lower the batch size, or add replicas"),
        ("ρ < 0.5", "consider fewer replicas"),
        ("ρ > 0.85", "add replicas"),
    ]


def test_bad_input():
    with pytest.raises(TypeError, match="service must be a LinearService, got 0.05"):
        advice.advice(100, 8, 0.05, 0.2, 0.1)
    with pytest.raises(ValueError, match="slo must be greater than 0, got 0"):
        advice.advice(100, 8, GPT3, 0, 0.1)
    with pytest.raises(ValueError, match="tail must be finite, got nan"):
        advice.advice(100, 8, GPT3, 0.2, math.nan)
