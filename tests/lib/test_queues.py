"""Queues of single requests: departures, long-run means, laws of the wait, and loss."""

import json
import math
import os
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

from serving import UnstableError, queues

MEANS = ("utilization", "mean_wait", "mean_response", "mean_number", "mean_waiting")


def test_departures_follow_lindleys_recursion():
    rng = np.random.default_rng(4)
    arrivals = np.cumsum(rng.exponential(1.0, 500))
    services = rng.gamma(2.0, 0.45, 500)
    free, expected = 0.0, []
    for arrival, service in zip(arrivals, services, strict=True):
        free = max(free, arrival) + service
        expected.append(free)
    np.testing.assert_allclose(queues.departures(arrivals, services), expected, rtol=1e-12)


def test_an_idle_server_adds_only_the_service_time():
    assert queues.departures([0, 10, 20], 3).tolist() == [3, 13, 23]
    assert queues.departures([], 3).tolist() == []


@pytest.mark.parametrize(
    ("arrivals", "services", "words"),
    [
        ([0, 2, 1], 1, "arrivals must not decrease, got 1.0 at index 2"),
        ([0, 1], [1, -1], r"services\[1\] must be finite and at least 0"),
        ([0, 1], [1, 1, 1], "as many as arrivals"),
        ([0, np.nan], 1, r"arrivals\[1\] must be finite"),
        ([0, 1e308], 1e308, "finite float64"),
    ],
)
def test_sequences_that_are_no_queue(arrivals, services, words):
    with pytest.raises(ValueError, match=words):
        queues.departures(arrivals, services)


def test_mm1_as_a_textbook_has_it():
    # Jain 1991, example 31.1: a gateway gets 125 packets/s and takes 2 ms for each
    gateway = queues.mm1(arrival_rate=125, service_rate=500)
    assert gateway.utilization == 0.25
    assert gateway.mean_number == pytest.approx(0.33, abs=0.005)
    assert gateway.mean_response == pytest.approx(0.00266, abs=0.00001)


def test_means_obey_littles_law_and_the_load_is_who_is_served():
    for queue in (queues.mm1(3, 4), queues.mg1(3, 0.25, 0.2)):
        assert queue.mean_number == pytest.approx(3 * queue.mean_response, rel=1e-12)
        assert queue.mean_waiting == pytest.approx(3 * queue.mean_wait, rel=1e-12)
        assert queue.mean_number - queue.mean_waiting == pytest.approx(0.75, rel=1e-12)
        assert queue.utilization == 0.75


def test_exponential_service_makes_mg1_an_mm1():
    general, special = queues.mg1(3, 0.25, 2 * 0.25**2), queues.mm1(3, 4)
    for name in MEANS:
        assert getattr(general, name) == pytest.approx(getattr(special, name), rel=1e-12)


def test_no_arrivals_no_queue():
    for queue in (queues.mm1(0, 4), queues.mg1(0, 0.25, 0.0625)):
        assert (queue.mean_wait, queue.mean_number, queue.mean_response) == (0, 0, 0.25)


def test_means_near_capacity_are_exact_and_at_it_refused():
    # ten times a tenth is one, although the floats differ
    with pytest.raises(UnstableError, match="arrival_rate = 10"):
        queues.mg1(10, 0.1, 0.02)
    with pytest.raises(UnstableError, match="arrival_rate < service_rate is required"):
        queues.mm1(0.3, 0.3)
    assert queues.mm1(1 - 1e-15, 1).mean_number == pytest.approx(1e15, rel=1e-12)


def test_a_second_moment_below_the_squared_mean_is_impossible():
    with pytest.raises(ValueError, match=r"service_second_moment = 0\.5"):
        queues.mg1(0.1, 1.0, 0.5)


@pytest.mark.parametrize(("trace", "mean", "variation"), [("conv", 211, 0.77), ("code", 28, 2.15)])
def test_answer_lengths_vary_as_chapter_4_says(trace, mean, variation):
    data = os.environ.get("SERVING_DATA")
    if not data:
        pytest.skip("SERVING_DATA is not set: no traces to compare with")
    path = Path(data) / "traces" / f"AzureLLMInferenceTrace_{trace}.csv.gz"
    tokens = pd.read_csv(path)["GeneratedTokens"]
    # half a unit in the last digit that the text shows
    assert tokens.mean() == pytest.approx(mean, abs=0.5)
    assert tokens.std() / tokens.mean() == pytest.approx(variation, abs=0.005)


# M/M/c as textbooks and their solutions print it: rate, service rate, servers, then the share
# that waits, the numbers waiting and in the system, and the wait (None where not printed).
PUBLISHED = [
    (10, 12, 2, 0.245, 0.175, 1.008, 0.018),
    (10, 12, 3, 0.058, 0.022, 0.856, 0.002),
    (10, 12, 4, 0.011, 0.003, 0.836, None),
    (3, 4, 4, None, 0.001768, 0.751768, 0.000589),
    (3, 4, 5, None, 0.000194, 0.750194, None),
    (3.7, 1.33, 5, None, 0.2328, 3.0147, 0.0629),
]


@pytest.mark.parametrize("row", PUBLISHED)
def test_mmc_as_published(row):
    rate, speed, servers, *printed = row
    queue = queues.mmc(rate, speed, servers)
    found = [queue.delay_probability, queue.mean_waiting, queue.mean_number, queue.mean_wait]
    for value, expected in zip(found, printed, strict=True):
        if expected is not None:  # half a unit in the last digit
            digits = len(str(expected).partition(".")[2])
            assert value == pytest.approx(expected, abs=0.5001 * 10**-digits)


def test_waits_of_a_call_centre_that_a_calculator_got_negative():
    # github.com/phubers/erlang, issue 7: 44.34 calls in half an hour, 646 s each, 14.01 agents
    rate, speed = 44.34 / 1800, 1 / 646
    with pytest.raises(UnstableError, match="at least 16"):
        queues.mmc(rate, speed, 14)
    waits = [queues.mmc(rate, speed, servers).mean_wait for servers in (16, 17, 18, 20)]
    assert waits == pytest.approx([7248.0948, 425.87969, 159.34613, 38.96442], rel=1e-6)


@pytest.mark.parametrize(("load", "servers"), [(4900, 5000), (5100, 5000), (3000, 5000), (0.1, 40)])
def test_erlangs_loss_with_thousands_of_servers(load, servers):
    # by the incomplete gamma function, with 50 digits
    with mpmath.workdps(50):
        below = mpmath.gammainc(servers + 1, load, regularized=True)
        law = mpmath.exp(servers * mpmath.log(load) - load - mpmath.loggamma(servers + 1))
        assert queues.erlang_b(load, servers) == pytest.approx(float(law / below), rel=1e-12)


def test_erlangs_loss_is_a_poisson_law_cut_off():
    for load, servers in [(0.5, 1), (10, 10), (80, 100)]:
        cut = stats.poisson.pmf(servers, load) / stats.poisson.cdf(servers, load)
        assert queues.erlang_b(load, servers) == pytest.approx(cut, rel=1e-11)


def test_one_server_of_many_is_the_single_server():
    one, several = queues.mm1(3, 4), queues.mmc(3, 4, 1)
    for name in MEANS:
        assert getattr(one, name) == pytest.approx(getattr(several, name), rel=1e-12)
    for time in (0, 0.1, 2.5):
        assert one.wait.sf(time) == pytest.approx(several.wait.sf(time), rel=1e-12)
        assert queues.mdc(3, 0.25, 1).wait.sf(time) == queues.mg1(3, 0.25, 0.0625).wait.sf(time)


def test_the_mean_wait_is_the_area_under_its_law():
    laws = [
        queues.mmc(7, 2, 4),
        queues.mdc(7, 0.5, 4),
        queues.mmck(9, 2, 4, 12),
        queues.mg1(3, 0.25, 0.1, queues.gamma_transform(0.25, 0.6**0.5)),
    ]
    for queue in laws:
        area, _ = integrate.quad(queue.wait.sf, 0, 40, limit=400)
        assert area == pytest.approx(queue.mean_wait, rel=1e-6)


def reference(*names):
    data = os.environ.get("SERVING_DATA")
    if not data:
        pytest.skip("SERVING_DATA is not set: no reference values to compare with")
    rows = json.loads((Path(data) / "reference" / "queueing.json").read_text("utf-8"))
    for name in names:
        rows = rows[name]
    return rows


def test_constant_service_against_the_reference():
    for name, row in reference("mdc_exact").items():
        servers, load = (float(part.lstrip("crho")) for part in name.split("_"))
        queue = queues.mdc(servers * load, 1, int(servers))
        rules = queues.mgc(servers * load, 1, 1, int(servers))
        assert queue.mean_wait == pytest.approx(row["Wq_over_D"], rel=1e-9)
        assert queue.delay_probability == pytest.approx(row["P_delay"], rel=1e-9)
        assert queue.wait.quantile(0.99) == pytest.approx(row["P99_wait_over_D"], rel=1e-9)
        assert rules.cosmetatos == pytest.approx(row["cosmetatos"], rel=1e-12)
        assert rules.allen_cunneen == pytest.approx(row["allen_cunneen"], rel=1e-12)


def test_a_finite_queue_against_the_reference():
    row, queue = reference("mmck", "lam3_mu2_c2_K4"), queues.mmck(3, 2, 2, 4)
    found = (queue.loss, queue.mean_number, queue.mean_waiting, queue.mean_response)
    assert found == pytest.approx([row[key] for key in ("PK", "L", "Lq", "W")], rel=1e-12)


def test_constant_service_for_two_servers_by_hand():
    # M/D/2 and M/D/c at light load: both servers are at work, and the first ends after a third
    # (of c: after 1 / (c + 1)) of a service, on average
    for servers in (2, 5):
        queue = queues.mdc(1e-4, 1, servers)
        assert queue.mean_wait / queue.delay_probability == pytest.approx(
            1 / (servers + 1), rel=1e-3
        )


def test_a_full_system_without_waiting_places_is_erlangs_loss():
    queue = queues.mmck(9, 2, 4, 4)
    assert queue.loss == pytest.approx(queues.erlang_b(4.5, 4), rel=1e-14)
    assert (queue.mean_wait, queue.delay_probability, queue.wait.quantile(0.9)) == (0, 0, 0)


def test_a_very_large_buffer_loses_nobody():
    finite, endless = queues.mmck(7, 2, 4, 2000), queues.mmc(7, 2, 4)
    assert finite.loss < 1e-100
    for name in MEANS:
        assert getattr(finite, name) == pytest.approx(getattr(endless, name), rel=1e-10)
    assert finite.wait.quantile(0.99) == pytest.approx(endless.wait.quantile(0.99), rel=1e-10)


def test_overload_fills_every_place():
    # a million times too much: the last place is taken at once
    queue = queues.mmck(8e6, 2, 4, 12)
    assert queue.loss == pytest.approx(1 - 1e-6, abs=1e-9)
    assert queue.mean_wait == pytest.approx((12 - 4) / 8, rel=1e-5)


def test_single_server_with_few_places_by_hand():
    # M/M/1/2 at load 2: shares 1, 2, 4 over 7
    queue = queues.mmck(2, 1, 1, 2)
    assert queue.loss == pytest.approx(4 / 7)
    assert queue.utilization == pytest.approx(6 / 7)
    assert queue.mean_wait == pytest.approx(2 / 3)  # two of three let in wait for one service
    assert queue.wait.sf(1.5) == pytest.approx(2 / 3 * math.exp(-1.5))


@pytest.mark.parametrize("load", [0.3, 0.9, 0.99, 0.999])
def test_the_inverted_law_of_exponential_service(load):
    inverted = queues.mg1(load, 1, 2, queues.gamma_transform(1, 1)).wait
    for q in (0.5, 0.9, 0.99, 0.9999):
        time = max(0.0, math.log(load / (1 - q)) / (1 - load))
        assert inverted.sf(time) == pytest.approx(load * math.exp(-(1 - load) * time), abs=1e-9)
        assert inverted.quantile(q) == pytest.approx(time, rel=1e-5, abs=1e-8)


def test_the_inverted_law_of_constant_service_has_kinks():
    # Erlang's sum for M/D/1, which cancels no digits for short waits; the kink is at one service
    inverted = queues.mg1(0.8, 1, 1, lambda s: np.exp(-s)).wait
    for time in (0.25, 0.999, 1, 1.001, 2.5):
        terms = [(k - time) ** k / math.factorial(k) * 0.8**k * math.exp(-0.8 * (k - time))
                 for k in range(int(time) + 1)]  # fmt: skip
        assert inverted.sf(time) == pytest.approx(1 - 0.2 * math.fsum(terms), abs=1e-6)


def test_a_mixture_of_two_constant_services_against_a_draw():
    def transform(s):
        return 0.9 * np.exp(-0.5 * s) + 0.1 * np.exp(-5.5 * s)

    queue = queues.mg1(0.7, 1, 0.9 * 0.25 + 0.1 * 5.5**2, transform)
    rng = np.random.default_rng(9)
    arrivals = np.cumsum(rng.exponential(1 / 0.7, (100, 20_000)), axis=1)
    services = np.where(rng.random(arrivals.shape) < 0.9, 0.5, 5.5)
    pairs = zip(arrivals, services, strict=True)
    waits = np.array([queues.departures(a, b) - a - b for a, b in pairs])[:, 1000:]
    for time in (0.0, 4.0, 20.0):
        shares = np.mean(waits > time, axis=1)
        assert abs(shares.mean() - queue.wait.sf(time)) < 3.5 * shares.std(ddof=1) / 10


def test_two_moments_do_not_make_a_law():
    with pytest.raises(ValueError, match="give mg1 the transform"):
        queues.mg1(0.5, 1, 2).wait.quantile(0.99)
    with pytest.raises(ValueError, match="service_mean = 1"):
        queues.mg1(0.5, 1, 2, queues.gamma_transform(1000, 1))
    with pytest.raises(ValueError, match="transform cannot be inverted"):
        queues.mg1(0.5, 1, 2, no_transform).wait.sf(1000)


def no_transform(s):
    """Right on the real axis, and anything beside it."""
    return np.where(s.imag == 0, 1 / (1 + s), np.sin(1e6 * s.imag**2))


def test_many_servers_wait_as_halfin_and_whitt_found():
    # their table 1 in other words: at a margin of 1 the limit is 0.2234, and it is reached from
    # above as 1 / sqrt(load)
    gaps = []
    for root in (10, 20, 40, 80):
        load, servers = root**2, root**2 + root
        gaps.append(queues.erlang_c(load, servers) - queues.halfin_whitt(1.0))
    assert queues.halfin_whitt(1.0) == pytest.approx(0.22336, abs=5e-6)
    ratios = np.divide(gaps[:-1], gaps[1:])
    assert np.all(np.array(gaps) > 0) and ratios == pytest.approx([2, 2, 2], abs=0.1)


def test_least_servers_is_tight():
    for load, target in [(0.3, 0.5), (15.91, 0.2), (400, 0.01), (7, 1.0)]:
        found = queues.least_servers(load, target)
        assert queues.erlang_c(load, found) <= target
        assert found - 1 <= load or queues.erlang_c(load, found - 1) > target


def erlang_two_service(rate, servers):
    """Mean wait of M/E2/c with mean service 1, by its states: phases of those in service."""
    most, size = 400, servers + 1
    # state (n, k): n in the system, k of those in service in their first of two phases
    index = {(n, k): n * size + k for n in range(most) for k in range(min(n, servers) + 1)}
    flows = np.zeros((most * size, most * size))
    for (n, k), place in index.items():
        busy = min(n, servers)
        moves = [(2 * k, (n, k - 1))]  # a first phase ends
        left = k + 1 if n > servers else k
        moves += [(2 * (busy - k), (n - 1, left))]  # a service ends, and perhaps one starts
        moves += [(rate, (n + 1, k + 1 if n < servers else k))] if n + 1 < most else []
        for flow, target in moves:
            if flow:
                flows[place, index[target]] += flow
    used = sorted(index.values())
    flows = flows[np.ix_(used, used)]
    balance = flows.T - np.diag(flows.sum(axis=1))
    balance[0] = 1
    shares = np.linalg.solve(balance, np.eye(len(used))[0])
    waiting = np.array([max(place // size - servers, 0) for place in used])
    return shares @ waiting / rate


@pytest.mark.parametrize("load", [0.5, 0.8])
def test_approximations_between_constant_and_exponential(load):
    exact = erlang_two_service(3 * load, 3)
    rules = queues.mgc(3 * load, 1, 1.5, 3)
    assert rules.cosmetatos == pytest.approx(exact, rel=0.02)
    assert rules.kimura == pytest.approx(exact, rel=0.02)
    assert rules.allen_cunneen < exact * 0.99


def test_approximations_where_they_are_exact_and_where_they_fail():
    alone = queues.mgc(0.8, 1, 3, 1)
    expected = queues.mg1(0.8, 1, 3).mean_wait
    assert list(vars(alone).values()) == pytest.approx([expected] * 3, rel=1e-12)
    exponential = queues.mgc(100, 1, 2, 128)
    expected = queues.mmc(100, 1, 128).mean_wait
    assert list(vars(exponential).values()) == pytest.approx([expected] * 3, rel=1e-12)
    light, right = queues.mgc(38.4, 1, 1, 128), queues.mdc(38.4, 1, 128).mean_wait
    assert light.cosmetatos is None
    assert light.allen_cunneen == pytest.approx(0.513 * right, rel=0.01)
    assert light.kimura == pytest.approx(right, rel=0.06)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: queues.mmc(3, 1, 3), "arrival_rate = 3 keeps 3 servers busy.*at least 4"),
        (lambda: queues.mdc(3, 1, 2), "there are 2: it takes at least 4"),
        (lambda: queues.erlang_c(15.91, 14), "load = 15.91.*at least 16"),
        (lambda: queues.mgc(0.3, 10, 100, 3), "it takes at least 4"),
    ],
)
def test_too_few_servers_are_told_how_many_would_do(call, words):
    with pytest.raises(UnstableError, match=words):
        call()


def test_a_system_must_hold_its_servers():
    with pytest.raises(ValueError, match="capacity must be at least servers = 3, got 2"):
        queues.mmck(1, 1, 3, 2)
    assert queues.mmck(0, 1, 3, 5).loss == 0
    assert queues.mmc(Fraction(1, 3), 1, 1).utilization == pytest.approx(1 / 3)
