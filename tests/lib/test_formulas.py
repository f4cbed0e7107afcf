"""Each formula against a value from elsewhere: published, an identity, a limit, another method."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy
from scipy import optimize, stats

from serving import formulas, queues
from serving.errors import UnstableError
from serving.formulas import curve, formula, stable, value

GPT3 = {"t_fixed": 0.050, "t_req": 0.0005}
# The source's table for GPT-3 at 100 requests/s, as printed.
SOURCE_TABLE = [
    (1, 50.5, 19.8, 5.05, None, 0.0, None),
    (4, 52.0, 76.9, 1.30, None, 15.0, None),
    (8, 54.0, 148.1, 0.675, 56.1, 35.0, 145.1),
    (16, 58.0, 275.9, 0.3625, 16.5, 75.0, 149.5),
    (32, 66.0, 484.8, 0.20625, 8.6, 155.0, 229.6),
]


@pytest.mark.parametrize("row", SOURCE_TABLE, ids=lambda row: f"B={row[0]}")
def test_the_sources_table(row):
    batch, time, rate, load, wait, delay, total = row
    # half a unit in the last printed digit
    assert value(formulas.batch_time, batch, **GPT3) * 1000 == pytest.approx(time, abs=0.05)
    assert value(formulas.effective_rate, batch, **GPT3) == pytest.approx(rate, abs=0.05001)
    assert value(formulas.utilization, 100, batch, **GPT3) == pytest.approx(load, rel=1e-12)
    assert value(formulas.accumulation_delay, 100, batch) * 1000 == pytest.approx(delay)
    if wait is None:
        with pytest.raises(UnstableError):
            value(formulas.surrogate_wait, 100, batch, **GPT3)
    else:
        assert value(formulas.surrogate_wait, 100, batch, **GPT3) * 1000 == pytest.approx(
            wait, abs=0.0501
        )
        assert value(formulas.surrogate_total, 100, batch, **GPT3) * 1000 == pytest.approx(
            total, abs=0.0501
        )


def test_surrogate_wait_worked_by_hand():
    # B = 8: T = 27/500 s, load 27/40; 100 (27/500)^2 / (16 * 13/40)
    assert value(formulas.surrogate_wait, 100, 8, **GPT3) == float(Fraction(729, 13000))


def test_little_counts_the_area_under_the_sample_path():
    arrivals = np.array([0.0, 0.3, 0.4, 0.9, 1.1])
    ends = queues.departures(arrivals, 0.25)
    grid = np.arange(0.0005, ends[-1], 0.001)  # midpoints: times here are whole milliseconds
    inside = np.searchsorted(arrivals, grid) - np.searchsorted(ends, grid)
    rate = len(arrivals) / ends[-1]
    law = value(formulas.requests_in_system, rate, np.mean(ends - arrivals))
    assert law == pytest.approx(inside.mean(), rel=1e-9)


def test_quiet_probability_is_the_poisson_probability_of_none():
    for rate, time in [(100, 0.01), (0.5, 3.0), (7, 0.0)]:
        assert value(formulas.quiet_probability, rate, time) == pytest.approx(
            stats.poisson.pmf(0, rate * time), rel=1e-12
        )


def test_no_arrival_in_a_time_beyond_measure():
    assert value(formulas.quiet_probability, 1e200, 1e200) == 0


def test_rate_limit_is_the_rate_of_a_huge_batch():
    assert value(formulas.rate_limit, 0.0005) == pytest.approx(
        value(formulas.effective_rate, 1e15, **GPT3), rel=1e-9
    )


def test_half_rate_batch_has_half_the_limit():
    batch = value(formulas.half_rate_batch, **GPT3)
    assert batch == 100
    assert value(formulas.effective_rate, batch, **GPT3) * 2 == 1 / 0.0005


def test_weights_of_gpt3_as_the_source_gives_them():
    assert value(formulas.weight_bytes, 175e9, 2) == 350e9


def test_weights_of_gpt3_read_by_eight_a100():
    # An A100 80 GB clocks its 5120-bit memory at 1593 MHz, two transfers a cycle.
    bandwidth = 1593e6 * 2 * 5120 / 8
    assert value(formulas.weight_read_time, 175e9, 2, 8, bandwidth) == pytest.approx(
        0.0215, abs=0.00005
    )


def test_batches_arrive_as_often_as_they_fill():
    full = (np.arange(800) / 100)[::8]
    assert value(formulas.batch_arrival_rate, 100, 8) == pytest.approx(
        1 / np.diff(full).mean(), rel=1e-9
    )


@pytest.mark.parametrize("target", [0.2, 0.7, 0.75, 1.0])
def test_min_batch_is_the_root_of_the_utilisation(target):
    def excess(batch):
        return formulas.utilization(100, batch, **GPT3) - target

    root = optimize.brentq(excess, 1, 1e4, xtol=1e-12)
    assert value(formulas.min_batch, 100, target, **GPT3) == pytest.approx(root, rel=1e-9)


def test_wait_of_exponential_service_is_that_of_an_mm1_queue():
    rate, mean = 3.0, 0.25
    load = rate * mean
    assert value(formulas.pollaczek_khinchine_wait, rate, mean, 2 * mean**2) == pytest.approx(
        load * mean / (1 - load), rel=1e-12
    )


@pytest.mark.parametrize("load", [0.3, 0.7, 0.85, 0.95])
def test_mm1_numbers_are_those_of_the_balance_equations(load):
    # 2000 states, cut off where the geometric law has less than 1e-40 left
    states = 2000
    moves = np.diag(np.full(states - 1, load), 1) + np.diag(np.ones(states - 1), -1)
    moves -= np.diag(moves.sum(axis=1))
    # in balance nothing moves on the whole; the last equation follows from the others
    equations = np.vstack([moves.T[:-1], np.ones(states)])
    shares = np.linalg.solve(equations, np.eye(states)[-1])
    present = np.arange(states)
    assert value(formulas.mm1_number, load) == pytest.approx(shares @ present, rel=1e-9)
    assert value(formulas.mm1_waiting, load) == pytest.approx(
        shares @ np.maximum(present - 1, 0), rel=1e-9
    )


def test_the_hockey_stick_as_the_source_draws_it():
    assert value(formulas.mm1_number, 0.85) == pytest.approx(5.67, abs=0.005)
    assert value(formulas.mm1_number, 0) == 0
    assert math.isfinite(value(formulas.mm1_number, 1 - 1e-15))
    with pytest.raises(UnstableError, match="load < 1 is required, got load = 1"):
        value(formulas.mm1_number, 1)


def simulated(arrival_rate, services, seed):
    """Mean wait, and its standard error, from 20 runs.

    A run starts empty and takes a while to forget it, so its first quarter is left out.
    """
    rng = np.random.default_rng(seed)
    waits = []
    for _ in range(20):
        work = services(rng, 40_000)
        arrivals = np.cumsum(rng.exponential(1 / arrival_rate, work.size))
        waits.append(np.mean((queues.departures(arrivals, work) - work - arrivals)[10_000:]))
    return np.mean(waits), np.std(waits, ddof=1) / math.sqrt(20)


def test_mm1_wait_and_response_are_those_of_a_simulation():
    wait, error = simulated(100, lambda rng, n: rng.exponential(1 / 160, n), seed=11)
    # 3.9 standard errors hold for 999 of 1000 draws (Student, 19 degrees of freedom)
    assert error < 0.01 * wait
    assert abs(value(formulas.mm1_wait, 100, 160) - wait) < 3.9 * error
    assert abs(value(formulas.mm1_response, 100, 160) - wait - 1 / 160) < 3.9 * error


@pytest.mark.parametrize("cv", [0, 0.5, 1, 2])
def test_pollaczek_khinchine_is_the_wait_of_a_simulation(cv):
    mean = 0.007

    def services(rng, n):
        return rng.gamma(1 / cv**2, mean * cv**2, n) if cv else np.full(n, mean)

    wait, error = simulated(100, services, seed=12)
    # 3.9 standard errors hold for 999 of 1000 draws (Student, 19 degrees of freedom)
    assert error < 0.02 * wait
    second = mean**2 * (1 + cv**2)
    assert abs(value(formulas.pollaczek_khinchine_wait, 100, mean, second) - wait) < 3.9 * error
    assert abs(value(formulas.wait_by_variability, 0.7, mean, cv) - wait) < 3.9 * error


def test_variability_one_is_an_mm1_queue_and_none_halves_its_wait():
    mm1 = value(formulas.mm1_wait, 100, 125)
    assert value(formulas.wait_by_variability, 0.8, 0.008, 1) == pytest.approx(mm1, rel=1e-12)
    assert value(formulas.wait_by_variability, 0.8, 0.008, 0) == pytest.approx(mm1 / 2, rel=1e-12)


def test_mm1_times_in_an_almost_idle_and_an_almost_busy_queue():
    assert value(formulas.mm1_wait, 0, 125) == 0
    assert value(formulas.mm1_response, 0, 125) == 1 / 125
    # 8 ms of service, and one request a second short of capacity
    assert value(formulas.mm1_response, 124, 125) == 1
    assert value(formulas.mm1_wait, 124, 125) == pytest.approx(0.992, rel=1e-12)


@pytest.mark.parametrize("batch", [7, 16])
def test_surrogate_wait_is_that_of_simulated_super_requests(batch):
    time = formulas.batch_time(batch, **GPT3)
    rng = np.random.default_rng(2)
    waits = []
    for _ in range(20):
        arrivals = np.cumsum(rng.exponential(batch / 100, 40_000))
        waits.append(np.mean(queues.departures(arrivals, time) - time - arrivals))
    error = np.std(waits, ddof=1) / math.sqrt(20)
    # 3.9 standard errors hold for 999 of 1000 draws (Student, 19 degrees of freedom)
    assert abs(value(formulas.surrogate_wait, 100, batch, **GPT3) - np.mean(waits)) < 3.9 * error


def test_accumulation_is_the_mean_over_the_places_in_a_batch():
    for batch in (1, 2, 9):
        places = [(batch - place) / 100 for place in range(1, batch + 1)]
        assert value(formulas.accumulation_delay, 100, batch) == pytest.approx(np.mean(places))


@pytest.mark.parametrize(
    ("rate", "t_fixed", "t_req"),
    [
        (100, 0.05, 0.0005),
        (1000, 0.05, 0.0005),
        (1900, 0.05, 0.0005),
        (10, 0.469, 0.034),
        (50, 1, 0),
    ],
)
def test_optimal_batch_is_the_numerical_minimum(rate, t_fixed, t_req):
    def total(batch):
        return formulas.surrogate_total(rate, batch, t_fixed, t_req)

    bound = value(formulas.min_batch, rate, 1, t_fixed, t_req)
    found = optimize.minimize_scalar(
        total, bounds=(bound * 1.0001, bound * 10), method="bounded", options={"xatol": 1e-9}
    )
    # near a minimum the argument is only determined to the root of the accuracy of the value
    assert value(formulas.optimal_batch, rate, t_fixed, t_req) == pytest.approx(found.x, rel=1e-5)


def test_optimal_batch_of_the_example():
    assert value(formulas.optimal_batch, 100, **GPT3) == pytest.approx(10.41, abs=0.005)


def test_exact_boundary_is_unstable_however_it_rounds():
    # decimal products that equal the batch; in binary some fall short of it and some exceed it
    for rate, t_fixed, batch in [(100, 0.07, 7), (30, 0.1, 3), (10, 0.3, 3)]:
        with pytest.raises(UnstableError, match="batch"):
            value(formulas.surrogate_wait, rate, batch, t_fixed, 0)


def test_value_and_curve_agree_inside_and_curve_is_infinite_outside():
    batches = np.arange(1, 60)
    line = curve(formulas.surrogate_total, 100, batches, **GPT3)
    assert line.dtype == np.float64
    assert np.all(np.isinf(line[:5]))
    exact = [value(formulas.surrogate_total, 100, int(b), **GPT3) for b in batches[5:]]
    np.testing.assert_allclose(line[5:], exact, rtol=1e-12)


def test_value_broadcasts_arrays():
    rates, batches = np.array([[50.0], [100.0]]), np.array([8, 16, 32])
    result = value(formulas.surrogate_total, rates, batches, **GPT3)
    assert result.shape == (2, 3)
    assert result[1, 0] == pytest.approx(0.14507692307, rel=1e-9)


def test_errors_quote_the_violated_condition():
    with pytest.raises(UnstableError, match=r"< batch is required, got .*batch = 4"):
        value(formulas.surrogate_wait, 100, 4, **GPT3)
    with pytest.raises(ValueError, match="batch >= 1 is required, got batch = 0"):
        value(formulas.batch_time, 0, **GPT3)
    with pytest.raises(UnstableError, match=r"got .*batch = 4\.0"):
        value(formulas.surrogate_wait, 100, [8, 4, 2], **GPT3)
    with pytest.raises(ValueError, match=r"t_fixed must be finite, got nan"):
        value(formulas.batch_time, 8, float("nan"), 0)
    with pytest.raises(TypeError, match="must be one of serving.formulas"):
        value(math.sqrt, 2)


def test_overflow_is_an_error_not_a_number():
    with pytest.raises(ValueError, match="too large for float64"):
        value(formulas.requests_in_system, 1e300, 1e300)
    with pytest.raises(ValueError, match="too large for float64"):
        value(formulas.requests_in_system, np.array([1.0, 1e300]), 1e300)


@pytest.mark.parametrize(
    "domain",
    [
        lambda arrival_rate, batch: (0 < arrival_rate < 1,),
        lambda arrival_rate, batch: (arrival_rate > 0 and batch > 0,),
        lambda arrival_rate, batch: (arrival_rate == 1,),
        lambda arrival_rate: (arrival_rate > 0,),
        lambda arrival_rate, batch: (arrival_rate > 0, stable(batch == 1)),
    ],
    ids=["chain", "and", "equality", "other parameters", "marked equality"],
)
def test_a_domain_that_cannot_be_read_is_refused(domain):
    def batch_arrival_rate(arrival_rate, batch):
        return arrival_rate / batch

    with pytest.raises(TypeError):
        formula(domain=domain, latex="", source="", chapter=1)(batch_arrival_rate)


def test_a_symbol_that_is_not_in_the_table_is_refused():
    def utilization(arrival_rate, bach):
        return arrival_rate / bach

    with pytest.raises(KeyError, match="'bach' is not in the notation table"):
        formula(domain=lambda arrival_rate, bach: (), latex="", source="", chapter=1)(utilization)


def test_formulas_take_numbers_arrays_and_symbols():
    for made in formulas.REGISTRY.values():
        assert isinstance(made.function(*made.symbols), sympy.Expr)
        # powers of two are exact, so numbers and arrays go the same way; no two have one ratio
        point = [0.5 ** (n * n) for n in range(1, len(made.symbols) + 1)]
        result = made.function(*(np.array([x, x]) for x in point))
        assert result.shape == (2,)
        assert made.function(*point) == pytest.approx(result[0])
