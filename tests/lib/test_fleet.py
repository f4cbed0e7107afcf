"""A fleet behind a router: formulas and simulation against exact queues, chains and integrals."""

import math
from dataclasses import fields

import numpy as np
import pytest
from scipy import integrate, linalg, optimize

from serving import UnstableError, _kernels, _routes, fleet, formulas, queues
from serving.formulas import value
from serving.simulation import Gamma, LogNormal

MANY = 400_000 if _kernels.numba else 30_000
SURE = 0.9999
EXPONENTIAL = Gamma(1)


def holds(run, exact, error=0.0, what="mean"):
    low, high = run.interval(what, SURE)
    assert low - error <= exact <= high + error, f"{what}: {exact} not in {low} to {high}"


def run(router, replicas, load, noise=EXPONENTIAL, **others):
    others = {"requests": MANY, "seed": 1} | others
    return fleet.simulate(load * replicas, 1, replicas, router, noise=noise, **others)


# Routers with an exact law


@pytest.mark.parametrize("noise", [EXPONENTIAL, None, LogNormal(1.5)])
def test_random_routing_thins_a_poisson_process_to_single_servers(noise):
    square = 1 + (0 if noise is None else noise.cv**2)
    holds(run("random", 5, 0.6, noise), queues.mg1(0.6, 1, square).mean_response)


def test_the_least_work_is_one_line_for_all():
    holds(run("least work", 4, 0.8), queues.mmc(3.2, 1, 4).mean_response)
    constant = queues.mdc(3.2, 1, 4)
    simulated = run("least work", 4, 0.8, noise=None)
    holds(simulated, constant.mean_response)
    late = constant.wait.quantile(0.99) + 1
    holds(simulated, late, what=0.99)


def test_turns_and_the_least_work_are_the_same_if_every_request_takes_as_long():
    turns, work = (run(router, 7, 0.8, None) for router in ("round robin", "least work"))
    assert turns.mean == pytest.approx(work.mean, rel=1e-9)
    assert turns.quantile(0.99) == pytest.approx(work.quantile(0.99), rel=2e-4)


@pytest.mark.parametrize("replicas", [2, 10])
def test_turns_leave_each_replica_erlang_arrivals(replicas):
    exact = fleet.round_robin(0.8 * replicas, 1, replicas)
    simulated = run("round robin", replicas, 0.8)
    holds(simulated, exact.mean_response)
    # the response is exponential, as in every G/M/1
    holds(simulated, math.log(100) * exact.mean_response, what=0.99)


def test_round_robin_by_its_defining_equation_and_its_ends():
    for load, replicas in [(0.3, 2), (0.8, 10), (0.99, 100)]:
        share = fleet.round_robin(load * replicas, 1, replicas).delay_probability
        # share = Laplace transform of the gaps at the rate 1 - share
        assert (1 + (1 - share) / (replicas * load)) ** -replicas == pytest.approx(share)
        assert value(formulas.round_robin_load, share, replicas) == pytest.approx(load)
    one = fleet.round_robin(0.7, 1, 1)
    assert one.mean_wait == pytest.approx(queues.mm1(0.7, 1).mean_wait)
    assert one.wait.sf(2) == pytest.approx(queues.mm1(0.7, 1).wait.sf(2))
    # without end of replicas gaps are constant: D/M/1
    share = optimize.brentq(lambda x: x - math.exp(-(1 - x) / 0.8), 1e-9, 0.99)
    assert fleet.round_robin(8000, 1, 10_000).delay_probability == pytest.approx(share, rel=1e-4)
    assert value(formulas.round_robin_wait, 0.6, 2) == pytest.approx(0.75)


def chain_of_two(load, most=60):
    """Mean number at two exponential replicas where the shorter queue is joined."""
    size = most + 1
    place = lambda x, y: x * size + y  # noqa: E731
    rates = np.zeros((size * size, size * size))
    for x in range(size):
        for y in range(size):
            a, b = min(x + 1, most), min(y + 1, most)
            left = 1.0 if x < y else 0.5 if x == y else 0.0
            rates[place(x, y), place(a, y)] += 2 * load * left
            rates[place(x, y), place(x, b)] += 2 * load * (1 - left)
            rates[place(x, y), place(max(x - 1, 0), y)] += 1
            rates[place(x, y), place(x, max(y - 1, 0))] += 1
    np.fill_diagonal(rates, 0)
    np.fill_diagonal(rates, -rates.sum(axis=1))
    rates[:, 0] = 1
    shares = linalg.solve(rates.T, np.eye(size * size)[0])
    numbers = np.add.outer(np.arange(size), np.arange(size)).ravel()
    return float(shares @ numbers)


def test_the_shorter_of_two_queues_is_a_chain_in_the_plane():
    present = chain_of_two(0.7, most=30)
    for router in ("shortest queue", "choices"):
        holds(run(router, 2, 0.7), present / 1.4)


# Two choices


def test_the_share_with_so_many_by_hand():
    assert value(formulas.two_choices_tail, 0.9, 0) == 1
    assert value(formulas.two_choices_tail, 0.9, 3) == pytest.approx(0.9**7)


def test_a_large_fleet_comes_near_its_fluid_limit():
    simulated = run("choices", 1000, 0.7, seed=8)
    exact = [value(formulas.two_choices_tail, 0.7, depth) for depth in range(6)]
    np.testing.assert_allclose(simulated.lengths[:6], exact, atol=0.006)
    holds(simulated, fleet.choices_response(0.7), error=0.003)


def test_the_fluid_limit_is_where_the_flow_comes_to_rest():
    def flow(_, shares):
        before, after = np.append(1.0, shares[:-1]), np.append(shares[1:], 0.0)
        return 0.8 * (before**3 - shares**3) - (shares - after)

    end = integrate.solve_ivp(flow, (0, 200), np.zeros(12), rtol=1e-9, atol=1e-12).y[:, -1]
    assert end.sum() / 0.8 == pytest.approx(fleet.choices_response(0.8, 3), rel=1e-6)
    assert fleet.choices_response(0.8, 1) == pytest.approx(5)


def test_printed_values_of_the_fluid_limit():
    # Mitzenmacher 2001, table of expected times for infinitely many servers
    printed = {0.5: 1.2657, 0.9: 2.6141, 0.99: 5.4320}
    for load, time in printed.items():
        assert fleet.choices_response(load, 2) == pytest.approx(time, abs=5e-5)


# Copies


@pytest.mark.parametrize(("load", "share"), [(0.2, 0.05), (0.5, 0.05), (0.3, 0.2), (0.25, 1)])
def test_copies_in_a_large_fleet(load, share):
    after = -math.log(share) / (1 - load * (1 + share))
    simulated = run("random", 100, load, hedge=after)
    assert simulated.hedged == pytest.approx(share, rel=0.05)
    assert simulated.busy == pytest.approx(load * (1 + share), rel=0.02)
    mean = value(formulas.hedged_response, load, 1, share)
    holds(simulated, mean, error=0.005 * mean)  # replicas are not quite independent
    late = value(formulas.hedged_quantile, load, 1, share, 0.01)
    holds(simulated, late, error=0.005 * late, what=0.99)


def test_copies_without_a_queue_by_integration():
    def tail(time, spare=0.4, share=0.1):
        after = -math.log(share) / spare
        return math.exp(-spare * time) * (math.exp(-spare * (time - after)) if time > after else 1)

    spare_of = {"rate": 0.5, "service_rate": 0.95, "hedge_share": 0.1}  # 0.95 - 0.5 * 1.1
    mean = integrate.quad(tail, 0, 200, points=[math.log(10) / 0.4], limit=200)[0]
    assert value(formulas.hedged_response, **spare_of) == pytest.approx(mean)
    assert tail(value(formulas.hedged_quantile, **spare_of, late_share=0.003)) == pytest.approx(
        0.003
    )


def test_the_break_even_is_where_both_quantiles_are_equal():
    for share, late in [(0.05, 0.01), (1, 0.01), (0.2, 0.001)]:
        load = value(formulas.hedge_break_even, share, late)
        with_copies = value(formulas.hedged_quantile, load, 1, share, late)
        assert with_copies == pytest.approx(-math.log(late) / (1 - load))
    assert value(formulas.hedge_break_even, 1, 0.01) == pytest.approx(1 / 3)


def test_copies_that_overload_a_fleet_are_called_so():
    with pytest.raises(UnstableError, match="12 would be enough"):
        run("random", 10, 0.55, hedge=0, requests=3200)


# Growth


def test_growth_by_integration():
    # 60 s at 2 requests/s^2 more, with 40 requests/s to spare
    backlog = integrate.quad(lambda t: max(0.0, 2 * t - 40), 0, 60, points=[20])[0]
    assert value(formulas.growth_backlog, 2, 60, 40) == pytest.approx(backlog)
    assert value(formulas.growth_backlog, 2, 60, 120) == 0
    assert value(formulas.drain_time, 1600, 100, 10, 15) == pytest.approx(32)


def test_servers_for_a_growing_load_by_hand():
    # 80 busy now, and 0.25 requests/s^2 for 40 s at 2 s each are 20 more: 100, and ten to spare
    assert value(formulas.scaling_servers, 80, 0.25, 2, 40, 1) == pytest.approx(110)


def test_the_backlog_of_a_passage_scales_as_newell_says():
    assert value(formulas.saturation_backlog, 1000, 1) == pytest.approx(100)
    backlogs = []
    for rate, growth in [(1000, 8), (8000, 8)]:
        rng, width = np.random.default_rng(5), 6 * (rate / growth**2) ** (1 / 3)
        found = []
        for _ in range(120):
            count = rng.poisson(rate * width - growth * width**2 / 2)
            depth = rng.random(count)  # of the area below a load that grows to the capacity
            low = rate - growth * width
            times = (np.sqrt(low**2 + depth * (rate**2 - low**2)) - low) / growth
            ends = queues.departures(np.sort(times), 1 / rate)
            found.append(np.count_nonzero(ends > width))
        backlogs.append(np.mean(found) / value(formulas.saturation_backlog, rate, growth))
    assert backlogs[0] == pytest.approx(backlogs[1], rel=0.15)


# The numbers themselves


def same(one, other):
    for left, right in zip(one._parts, other._parts, strict=True):
        for field in fields(left):
            assert np.array_equal(getattr(left, field.name), getattr(right, field.name))


@pytest.mark.parametrize("router", fleet.ROUTERS)
def test_the_loop_gives_the_same_bits_compiled_and_not(router, monkeypatch):
    settings = {"requests": 3200, "seed": 7, "hedge": 1.5}
    compiled = run(router, 5, 0.4, **settings)
    for name in ("dispatch", "choose", "leave", "enter", "record"):
        plain = getattr(_routes, name)
        monkeypatch.setattr(_routes, name, getattr(plain, "py_func", plain))
    same(compiled, run(router, 5, 0.4, **settings))


def test_a_run_measures_itself():
    simulated = run("shortest queue", 6, 0.7)
    # Little's law: the share of replicas with one, two, three ... adds up to the number inside
    assert simulated.lengths[1:].sum() / 0.7 == pytest.approx(simulated.mean, rel=0.01)
    assert simulated.lengths[0] == 1 and simulated.hedged == 0
    assert simulated.busy == pytest.approx(0.7, rel=0.01)
    assert simulated.served == simulated.requests


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"router": "fastest"}, ValueError, "router must be one of random, round robin"),
        ({"choices": 4, "router": "choices"}, ValueError, "choices must be at most replicas = 3"),
        ({"replicas": 1, "hedge": 1}, ValueError, "replicas must be at least 2 for a hedge"),
        ({"arrival_rate": 3}, UnstableError, "it takes at least 4"),
        ({"noise": 1}, TypeError, "noise must be None, Gamma, LogNormal or Empirical, got 1"),
    ],
)
def test_wrong_arguments_are_named(change, error, words):
    right = {"arrival_rate": 0.5, "service_time": 1, "replicas": 3, "requests": 320}
    with pytest.raises(error, match=words):
        fleet.simulate(**right | change)
