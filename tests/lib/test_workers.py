"""Formulas of several workers: each against a published value, a limit or another method."""

import math

import numpy as np
import pytest

from serving import formulas, queues
from serving.formulas import value

SETTING = {"rate": 1.6, "service_rate": 1, "servers": 2}
DELAYED = 32 / 45  # Erlang C for two servers at a load of 1.6: 2 * 0.8^2 / (1 + 0.8)


def test_the_square_root_rule_by_hand():
    assert value(formulas.square_root_servers, 100, 1.5) == 115
    assert value(formulas.square_root_servers, 0, 1.5) == 0


def test_a_wait_is_that_of_a_textbook():
    # Erlang C for a load of 5/6 and two servers is 25/102; Wq printed as 0.018
    wait = value(formulas.erlang_wait, 25 / 102, 10, 12, 2)
    assert wait == pytest.approx(0.0175070028, rel=1e-8)


def test_the_tail_of_a_wait_falls_by_e_in_the_time_that_the_spare_capacity_frees_a_server():
    # two workers of rate 1.5 and requests at rate 1: two services a second to spare
    tail = [value(formulas.erlang_wait_tail, 0.5, 1, 1.5, 2, time) for time in (0, 0.5, 1)]
    assert tail == pytest.approx([0.5, 0.5 / math.e, 0.5 / math.e**2])


def test_allen_and_cunneen_with_one_server_are_pollaczek_and_khinchine():
    # with one server the share that waits is the load
    rule = value(formulas.allen_cunneen, 0.8, 0.8, 1, 1, 1.5)
    assert rule == pytest.approx(value(formulas.pollaczek_khinchine_wait, 0.8, 1, 1 + 1.5**2))


def test_cosmetatos_by_hand_and_near_the_exact_wait():
    # (2 - 1.6) * 1 * (sqrt(14) - 2) / (16 * 2 * 1.6)
    excess = value(formulas.cosmetatos_excess, **SETTING)
    assert excess == pytest.approx(0.4 * 1.7416573868 / 51.2, rel=1e-9)
    rule = value(formulas.cosmetatos, DELAYED, **SETTING, service_cv=0)
    assert rule == pytest.approx(0.9009837318525972, rel=1e-12)
    assert rule == pytest.approx(queues.mdc(1.6, 1, 2).mean_wait, rel=0.003)
    assert value(formulas.cosmetatos, DELAYED, **SETTING, service_cv=1) == pytest.approx(
        DELAYED / 0.4
    )
    # along a line in the squared coefficient of variation
    ends = [value(formulas.cosmetatos, DELAYED, **SETTING, service_cv=x) for x in (0, 1, 0.5**0.5)]
    assert ends[2] == pytest.approx((ends[0] + ends[1]) / 2)


def test_the_excess_does_not_depend_on_the_unit_of_time():
    for excess in (formulas.cosmetatos_excess, formulas.kimura_excess):
        per_second, per_minute = value(excess, 1.6, 1, 2), value(excess, 96, 60, 2)
        assert per_second == pytest.approx(per_minute, rel=1e-12)


def test_kimura_keeps_to_the_limits_of_light_and_heavy_load():
    for servers in (2, 10, 128):
        light = value(formulas.kimura_excess, 1e-6 * servers, 1, servers)
        assert light == pytest.approx((servers - 1) / (servers + 1), rel=1e-3)
        heavy = value(formulas.kimura_excess, (1 - 1e-6) * servers, 1, servers)
        assert heavy == pytest.approx(0, abs=1e-3)
    assert value(formulas.kimura_excess, 0.5, 1, 1) == 0


def test_kimura_is_a_harmonic_mean_and_near_the_exact_wait():
    constant, exponential, between = (
        value(formulas.kimura, DELAYED, **SETTING, service_cv=x) for x in (0, 1, 0.5**0.5)
    )
    assert constant == pytest.approx(queues.mdc(1.6, 1, 2).mean_wait, rel=0.003)
    assert exponential == pytest.approx(DELAYED / 0.4)
    assert between == pytest.approx(1.5 / (1 / exponential + 0.5 / constant))
    # between the rules of thumb of Cosmetatos, which it refines, at middling load
    exact = queues.mdc(25.6, 1, 32).mean_wait
    delayed = queues.erlang_c(25.6, 32)
    assert value(formulas.kimura, delayed, 25.6, 1, 32, 0) == pytest.approx(exact, rel=0.006)


def test_the_last_place_waits_for_all_who_wait_before_it():
    rng = np.random.default_rng(9)
    # four are served at a rate of 2 each, five wait before the last place: it waits for 5 + 1 ends
    ends = rng.exponential(1 / 8, (100_000, 6)).sum(axis=1)
    found = value(formulas.last_place_wait, 4, 10, 2)
    assert abs(ends.mean() - found) < 4 * ends.std() / math.sqrt(ends.size)


def test_overload_loses_what_cannot_be_served_however_many_places_there_are():
    assert value(formulas.overload_loss, 1) == 0
    least = value(formulas.overload_loss, 1.25)
    losses = [queues.mmck(10, 2, 4, places).loss for places in (4, 20, 1000)]
    assert losses[0] > losses[1] > losses[2] == pytest.approx(least, rel=1e-9)
