"""Simulated queues against an event list, exact laws, reference values and each other."""

import heapq
import json
import math
import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import fields
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats

from serving import LinearService, UnstableError, _kernels
from serving.policies import Fixed, Greedy, Window
from serving.simulation import (
    Bursty,
    Empirical,
    Erlang,
    Gamma,
    Hyperexponential,
    LogNormal,
    SweepError,
    simulate,
    sweep,
)

GPT3 = LinearService(0.050, 0.0005)
ONE = LinearService(1, 0)
MANY = 400_000 if _kernels.numba else 40_000
SURE = 0.9999
"""Level of the intervals that must hold an exact value; seeds are fixed."""


def holds(run, what, exact, error=0.0):
    low, high = run.interval(what, SURE)
    assert low - error <= exact <= high + error, f"{what}: {exact} not in {low} to {high}"


def same(one, other):
    """Whether two runs are the same to the last bit."""
    assert one._unit == other._unit
    for left, right in zip(one._parts, other._parts, strict=True):
        for field in fields(left):
            a, b = getattr(left, field.name), getattr(right, field.name)
            assert np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b, field.name


# A second method: a list of events, in plain Python, that knows nothing of the first.


def events(times, service, size, wait, aware, workers, room):
    """Responses, batch sizes, time in service, area under the number present, end, who is shed."""
    order, pending = count(), []
    for arrival in times:
        heapq.heappush(pending, (arrival, 2, next(order), "arrival"))
    waiting, closed, idle, window = [], [], workers, 0
    responses, sizes, work, area, shed, present, clock = [], [], 0.0, 0.0, 0, 0, times[0]

    def serve(batch, now):
        nonlocal idle, work
        lasting = service.time(len(batch))
        idle, work = idle - 1, work + lasting
        responses.extend(now + lasting - arrival for arrival in batch)
        sizes.append(len(batch))
        heapq.heappush(pending, (now + lasting, 0, next(order), len(batch)))

    def close():
        nonlocal waiting, window
        closed.append(waiting)
        waiting, window = [], window + 1

    while pending:
        now, rank, _, what = heapq.heappop(pending)
        if rank == 0 or what == "arrival" or waiting:  # a timer without a window is no event
            area, clock = area + present * (now - clock), now
        if rank == 0:
            idle, present = idle + 1, present - what
        elif what == "arrival":
            held = len(waiting) + sum(map(len, closed))
            at_once = idle > 0 and (len(waiting) + 1 >= size or wait == 0)
            if held >= room and not at_once:
                shed += 1
                continue
            waiting.append(now)
            present += 1
            if wait < math.inf and (aware or len(waiting) == 1):
                heapq.heappush(pending, (now + wait, 1, next(order), window))
        elif not aware and what == window:
            close()
        if aware:
            while idle and waiting and (len(waiting) >= size or waiting[0] + wait <= now):
                batch, waiting = waiting[:size], waiting[size:]
                serve(batch, now)
        elif len(waiting) >= size:
            close()
        while idle and closed:
            serve(closed.pop(0), now)
    return np.array(responses), np.array(sizes), work, area, clock - times[0], shed, len(waiting)


POLICIES = [
    *((Fixed(size), size, math.inf, True) for size in (1, 3)),
    *((Greedy(size), size, 0, True) for size in (1, 4)),
    *((Window(4, wait), 4, wait, True) for wait in (0, 0.3, 2.5, math.inf)),
    *((Window(4, wait, False), 4, wait, False) for wait in (0, 0.3, 2.5, math.inf)),
    *((Window(1, wait, aware), 1, wait, aware) for wait in (0, 1.0) for aware in (True, False)),
]


ROOMS = [
    (case, room)
    for case in POLICIES
    for room in (None, 0, 1, 3, 7)
    if room is None or room >= (case[1] - 1 if case[2] == math.inf else case[2] > 0 and case[1] > 1)
]
"""Each policy with buffers in which it serves anything."""


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize(("case", "room"), ROOMS, ids=str)
def test_a_trace_gives_what_a_list_of_events_gives(case, room, workers):
    policy, *rules = case
    service = LinearService(0.8, 0.15)
    for seed, rate in ((1, 1.2), (2, 4.0), (3, 0.3)):
        times = 1000 + np.cumsum(np.random.default_rng(seed).exponential(1 / rate, 150))
        run = simulate(None, policy, service, workers=workers, buffer=room, arrivals=times)
        responses, sizes, work, area, end, shed, left = events(
            times, service, *rules, workers, math.inf if room is None else room
        )
        assert (run.requests, run.served) == (150, responses.size)
        assert run.loss == shed / 150
        assert run.mean == pytest.approx(responses.mean(), rel=1e-10)
        assert run.std == pytest.approx(responses.std(), rel=1e-6, abs=1e-7)
        assert run.mean_batch == pytest.approx(sizes.mean(), rel=1e-12)
        assert run.busy == pytest.approx(work / workers / end, rel=1e-10)
        for q in (0, 0.01, 0.3, 0.5, 0.95, 0.99, 1):
            exact = np.quantile(responses, q, method="inverted_cdf")
            assert run.quantile(q) == pytest.approx(exact, rel=1e-4)
        if not left:  # Little: the area under the number present is the sum of the responses
            assert area == pytest.approx(run.mean * run.served, rel=1e-9)


# Exact laws.


@pytest.mark.parametrize("noise", [None, Gamma(1), LogNormal(2)])
def test_batches_of_one_are_the_same_queue_by_either_loop(noise):
    times = np.cumsum(np.random.default_rng(6).exponential(1 / 0.8, 200_000))
    one, other = (
        simulate(None, policy, ONE, arrivals=times, noise=noise, requests=times.size)
        for policy in (Fixed(1), Greedy(1))
    )
    assert one.served == other.served == times.size
    assert (one.mean, one.std) == pytest.approx((other.mean, other.std), rel=1e-12)
    for q in (0, 0.3, 0.99, 1):
        assert one.quantile(q) == other.quantile(q)


@pytest.mark.parametrize("policy", [Fixed(1), Greedy(1), Window(1, 5.0, False)], ids=str)
def test_the_response_of_mm1_is_exponential(policy):
    run = simulate(0.8, policy, ONE, noise=Gamma(1), requests=MANY)
    law = stats.expon(scale=1 / (1 - 0.8))
    holds(run, "mean", law.mean())
    holds(run, "std", law.std())
    holds(run, "busy", 0.8)
    for q in (0.1, 0.5, 0.95, 0.99):
        holds(run, q, law.ppf(q))
    assert (run.loss, run.mean_batch) == (0, 1)


@pytest.mark.parametrize(
    ("noise", "square"),
    [(None, 1), (Gamma(0.5), 1.25), (LogNormal(1.5), 3.25), (Empirical([1, 1, 4]), 1.5)],
    ids=str,
)
def test_the_mean_of_mg1_is_that_of_pollaczek_and_khinchine(noise, square):
    run = simulate(0.6, Fixed(1), ONE, noise=noise, requests=MANY, seed=1)
    holds(run, "mean", 1 + 0.6 * square / (2 * (1 - 0.6)))
    holds(run, "busy", 0.6)


def test_md1_has_the_law_of_crommelin():
    run = simulate(0.5, Fixed(1), ONE, requests=MANY)
    waits = np.array([0.0, 0.4, 1.0, 2.3])  # P(W <= t), Erlang 1909
    for t, q in zip(waits, map(below, waits), strict=True):
        holds(run, min(q + 1e-9, 1), 1 + t)
    holds(run, 0.3, 1)  # half of them do not wait at all, so that no part differs
    assert run.quantile(0.3) == pytest.approx(1, rel=1e-4)


def below(t, load=0.5):
    terms = (
        (-load * (t - n)) ** n / math.factorial(n) * math.exp(load * (t - n))
        for n in range(int(t) + 1)
    )
    return (1 - load) * math.fsum(terms)


@pytest.mark.parametrize(
    ("arrivals", "transform"),
    [
        (Erlang(4), lambda s: (4 / (4 + s)) ** 4),
        (Hyperexponential(1), lambda s: 1 / (1 + s)),
        (Hyperexponential(2), lambda s: hyperexponential(2, s)),
    ],
    ids=["Erlang", "Poisson", "hyperexponential"],
)
def test_a_renewal_queue_with_exponential_service_is_exponential(arrivals, transform):
    rate = 0.7
    root = optimize.brentq(lambda x: x - transform((1 - x) / rate), 0, 1 - 1e-9)
    run = simulate(rate, Greedy(1), ONE, arrivals=arrivals, noise=Gamma(1), requests=MANY, seed=2)
    holds(run, "mean", 1 / (1 - root))
    holds(run, 0.9, math.log(10) / (1 - root))
    holds(run, "busy", rate)


def hyperexponential(cv, s):
    share = (1 + math.sqrt((cv**2 - 1) / (cv**2 + 1))) / 2
    return share / (1 + s / (2 * share)) + (1 - share) / (1 + s / (2 * (1 - share)))


def test_bursts_give_the_mean_of_a_modulated_queue():
    rate, peak, share, burst = 0.5, 3.0, 0.2, 20.0
    run = simulate(
        *(rate, Fixed(1), ONE), arrivals=Bursty(peak, share, burst), noise=Gamma(1), requests=MANY
    )
    rates = np.diag([(1 - peak * share) / (1 - share) * rate, peak * rate])
    out = peak * rate / burst  # of a burst; and into one, by balance
    jumps = np.array([[-out * share / (1 - share), out * share / (1 - share)], [out, -out]])
    step = np.zeros((2, 2))  # matrix-geometric: number present by the state of the traffic
    for _ in range(5000):
        step = (rates + step @ step) @ np.linalg.inv(rates + np.eye(2) - jumps)
    rest = np.linalg.inv(np.eye(2) - step)
    empty = np.linalg.lstsq(
        np.hstack([jumps - rates + step, rest.sum(axis=1, keepdims=True)]).T, [0, 0, 1], rcond=None
    )[0]
    holds(run, "mean", (empty @ step @ rest @ rest).sum() / rate)
    holds(run, "busy", rate)


def test_bursts_with_silence_between_them_have_the_rate_and_dispersion_that_is_asked_for():
    gaps = Bursty(5, 0.2, 4)._stream(np.random.default_rng(0))
    times = np.cumsum(np.concatenate([gaps(size) for size in [1, 2, 30_000, 7, 170_000]]))
    assert times[-1] / times.size == pytest.approx(1, rel=0.02)
    counts = np.histogram(times, np.arange(0, times[-1], 200))[0]
    # 1 + 2 share (1 - share)^2 (peak - low)^2 length, with bursts of burst / peak
    assert counts.var() / counts.mean() == pytest.approx(1 + 2 * 0.8**2 * 4, rel=0.15)


def test_loss_without_places_to_wait_is_that_of_erlang():
    run = simulate(3, Greedy(1), ONE, workers=4, buffer=0, requests=MANY)
    carried = [3.0**n / math.factorial(n) for n in range(5)]
    holds(run, "loss", carried[4] / sum(carried))
    holds(run, "busy", 3 / 4 * (1 - carried[4] / sum(carried)))
    assert run.quantile(1) == pytest.approx(1, rel=1e-4)


def test_many_servers_wait_as_erlang_says():
    run = simulate(16, Greedy(1), ONE, workers=20, noise=Gamma(1), requests=MANY)
    terms = [16.0**n / math.factorial(n) for n in range(21)]
    full = terms[20] * 20 / (20 - 16)
    holds(run, "mean", 1 + full / (sum(terms[:20]) + full) / (20 - 16))


# Reference values.


@pytest.fixture(scope="module")
def reference():
    folder = os.environ.get("SERVING_DATA")
    if not folder:
        pytest.skip("SERVING_DATA is not set: no reference values")
    return json.loads((Path(folder) / "reference" / "queueing.json").read_text())


def test_fixed_batches_agree_with_the_reference(reference):
    for size, row in reference["fixed_batches_exact_gpt3"]["rows"].items():
        run = simulate(100, Fixed(int(size)), GPT3, requests=2 * MANY, seed=4)
        holds(run, "mean", row["ET_exact_ms"] / 1e3)
        holds(run, "std", row["sd_ms"] / 1e3)
        for q in (50, 90, 95, 99):
            holds(run, q / 100, row[f"P{q}_ms"] / 1e3)
        assert run.mean_batch == int(size)
        holds(run, "busy", 100 * GPT3.time(int(size)) / int(size))


def test_greedy_batches_agree_with_the_reference(reference):
    for name, row in reference["work_conserving_exact"].items():
        rate, size = (int(x) for x in name.removeprefix("lam").split("_Bmax"))
        run = simulate(rate, Greedy(size), GPT3, requests=2 * MANY, seed=2)
        for what, key, unit in [
            ("mean", "ET_ms", 1e3),
            ("mean_batch", "EB", 1),
            ("busy", "util", 1),
        ]:
            holds(run, what, row[key] / unit)
        for q in (50, 95, 99):
            holds(run, q / 100, row[f"P{q}_ms"] / 1e3)


def test_shedding_agrees_with_the_reference(reference):
    for rate in (100, 200):
        row = reference["work_conserving_finite_buffer"][f"lam{rate}_Bmax8_K8"]
        run = simulate(rate, Greedy(8), GPT3, buffer=8, requests=MANY)
        holds(run, "loss", row["loss"])
        holds(run, "mean", row["ET_ms"] / 1e3)
    row = reference["mmck"]["lam3_mu2_c2_K4"]  # which counts those in service
    two = LinearService(0.5, 0)
    run = simulate(3, Greedy(1), two, workers=2, buffer=2, noise=Gamma(1), requests=MANY)
    holds(run, "loss", row["PK"])
    holds(run, "mean", row["W"])


def test_windows_agree_with_the_reference(reference):
    rows = reference["timeout_policies_gpt3_simulated"]
    for row in rows:
        for name, aware in (("server_aware", True), ("window_closed", False)):
            if found := row[name]:
                policy = Window(row["Bmax"], row["Tmax"], aware)
                run = simulate(100, policy, GPT3, requests=MANY, seed=3)
                holds(run, "mean", found["ET"], 4 * found["se"])
                holds(run, "std", found["sd"], 1e-4 * found["sd"])
                holds(run, "mean_batch", found["EB"], 1e-3)
                holds(run, "busy", found["util"], 1e-5)
                for q in (50, 95, 99):
                    holds(run, q / 100, found[f"P{q}"], 1e-4 * found[f"P{q}"])
    assert sum(row["window_closed"] is not None for row in rows) >= 1


# Runs against each other.


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("noise", [None, Gamma(0.7)], ids=str)
def test_a_window_without_patience_is_greedy_and_without_end_fixed(noise, workers):
    common = dict(service=GPT3, workers=workers, noise=noise, requests=3200)
    same(simulate(90, Window(8, 0), **common), simulate(90, Greedy(8), **common))
    endless = simulate(90, Window(8, math.inf), **common)
    same(endless, simulate(90, Fixed(8), **common))
    same(endless, simulate(90, Window(8, math.inf, False), **common))
    roomy = simulate(90, Fixed(8), **common, buffer=10**9)  # takes the other loop
    for what in ("mean", "std", "busy"):
        assert getattr(roomy, what) == pytest.approx(getattr(endless, what), rel=0.01)


def test_the_two_loops_agree_on_a_trace():
    times = np.cumsum(np.random.default_rng(3).exponential(0.01, 4000))
    for workers in (1, 3):
        common = dict(arrivals=times, workers=workers, noise=LogNormal(0.4))
        one, other = (simulate(None, Fixed(8), GPT3, **common, buffer=b) for b in (None, 10**9))
        assert one.mean == pytest.approx(other.mean, rel=1e-12)
        assert one.busy == pytest.approx(other.busy, rel=1e-12)
        assert [one.quantile(q / 99) for q in range(100)] == [
            other.quantile(q / 99) for q in range(100)
        ]


def test_the_first_sixteenth_is_a_warm_up():
    run = simulate(140, Greedy(8), GPT3, requests=3200)
    assert run.requests == 3000
    # a server is never busy for longer than a part takes, though batches reach over its ends
    assert all(0 <= part.busy <= part.elapsed * (1 + 1e-12) for part in run._parts)


def test_the_same_seed_gives_the_same_and_another_one_another():
    one, other, third = (simulate(100, Greedy(8), GPT3, requests=3200, seed=s) for s in (1, 1, 2))
    same(one, other)
    assert one.mean != third.mean


@pytest.mark.skipif(_kernels.numba is None, reason="numba is not installed: there is one way")
@pytest.mark.parametrize("room", [None, 6])
@pytest.mark.parametrize("noise", [None, Gamma(1), LogNormal(2)], ids=str)
@pytest.mark.parametrize("policy", [Fixed(4), Greedy(4), Window(4, 0.02, False)], ids=str)
def test_plain_python_gives_the_same_bits(policy, noise, room, monkeypatch):
    arguments = dict(workers=2, noise=noise, buffer=room, requests=1500, seed=5)
    fast = simulate(100, policy, GPT3, **arguments)
    for name in ("occupy", "record", "fixed", "general"):
        monkeypatch.setattr(_kernels, name, getattr(_kernels, name).py_func)
    monkeypatch.setattr(_kernels, "unsigned", int)
    monkeypatch.setattr(_kernels, "numba", None)
    same(fast, simulate(100, policy, GPT3, **arguments))


def test_chunks_leave_no_trace(monkeypatch):
    from serving import _plan

    times = np.cumsum(np.random.default_rng(3).exponential(0.01, 2000))
    cases = [(Window(8, 0.03, False), 20), (Window(8, 0.03), 20), (Fixed(8), None)]
    whole = [simulate(None, p, GPT3, arrivals=times, buffer=b) for p, b in cases]
    monkeypatch.setattr(_plan, "CHUNK", 7)
    for (policy, room), one in zip(cases, whole, strict=True):
        other = simulate(None, policy, GPT3, arrivals=times, buffer=room)
        assert other.mean == pytest.approx(one.mean, rel=1e-11)
        assert (other.loss, other.mean_batch) == (one.loss, one.mean_batch)


def test_light_traffic_is_served_at_once_to_many_digits():
    for rate in (1e-3, 1e-6, 1e-9):
        run = simulate(rate, Greedy(4), ONE, requests=3200)
        assert run.mean == pytest.approx(1, rel=2e-3 if rate == 1e-3 else 1e-6)
        assert run.quantile(0.5) == pytest.approx(1, rel=1e-4)
        assert run.std < max(1e-6, math.sqrt(rate))


def test_a_trace_is_cut_and_its_last_batch_closed_by_the_timer():
    times = np.array([0, 1, 2, 100.0, 101])
    run = simulate(None, Window(3, 7), ONE, arrivals=times)
    assert (run.served, run.mean_batch) == (5, 2.5)
    assert run.mean == pytest.approx((3 + 2 + 1 + 8 + 7) / 5)
    assert run.busy == pytest.approx(2 / 108)
    fixed = simulate(None, Fixed(3), ONE, arrivals=times)  # two never fill a batch
    assert (fixed.requests, fixed.served) == (5, 3)
    assert simulate(None, Greedy(1), ONE, arrivals=np.arange(99.0), requests=40).served == 40


def test_an_overloaded_trace_is_served_to_its_end():
    run = simulate(None, Fixed(1), ONE, arrivals=np.zeros(100_000))
    assert run.mean == pytest.approx(50_000.5) and run.busy == pytest.approx(1)
    assert run.quantile(0.25) == pytest.approx(25_000, rel=1e-4)


def test_intervals_cover_as_often_as_they_say():
    exact = 1 + 0.5 / (2 * (1 - 0.5))
    runs = [simulate(0.5, Fixed(1), ONE, requests=6400, seed=seed) for seed in range(60)]
    for level, expected in ((0.5, 30), (0.95, 57)):
        covered = sum(
            low <= exact <= high for low, high in (r.interval("mean", level) for r in runs)
        )
        assert abs(covered - expected) <= 3 * math.sqrt(expected * (1 - expected / 60))


# Sweeps.

CASES = [
    dict(arrival_rate=100, policy=policy, service=GPT3, requests=3200, seed=seed, noise=noise)
    for seed, policy in enumerate([Fixed(8), Greedy(16), Window(8, 0.01), Window(8, 0.1, False)])
    for noise in (None, LogNormal(0.3))
]


class Deadly(list):
    """A trace that ends the process that unpacks it."""

    def __reduce__(self):
        return os._exit, (3,)


def test_a_sweep_gives_the_same_bits_in_order_whatever_runs_it():
    alone = [simulate(**case) for case in CASES]
    with ThreadPoolExecutor(3) as threads:
        threaded = sweep(CASES, threads)
    for found in (threaded, sweep(iter(CASES))):  # by itself it takes processes
        assert len(found) == len(CASES)
        for one, other in zip(alone, found, strict=True):
            same(one, other)
    assert sweep([]) == []


def test_a_process_that_dies_is_named_and_the_rest_kept():
    deadly = dict(arrival_rate=None, policy=Fixed(1), service=ONE, arrivals=Deadly([0.0, 1.0]))
    cases = [*CASES[:2], deadly, *CASES[2:4]]
    with pytest.raises(SweepError, match=r"4 of 5 cases finished.*died: cases\[2\] = ") as raised:
        sweep(cases)
    assert sorted(raised.value.finished) == [0, 1, 3, 4] and list(raised.value.failed) == [2]
    same(raised.value.finished[3], simulate(**CASES[2]))
    with ProcessPoolExecutor(1) as own, pytest.raises(SweepError, match="died: cases"):
        sweep([deadly], own)


def test_a_case_that_fails_is_named_before_any_runs():
    for case, name in [
        (dict(CASES[0], workers=0), r"cases\[1\]: workers must be at least 1"),
        (dict(CASES[0], arrival_rate=1e6), r"cases\[1\]: arrival_rate = 1000000.0 is too much"),
        (dict(CASES[0], colour=1), r"cases\[1\] has an unknown argument 'colour'"),
        (dict(policy=Fixed(1), service=ONE), r"cases\[1\] lacks argument 'arrival_rate'"),
        ("fast", r"cases\[1\] must be a dict"),
    ]:
        with pytest.raises((TypeError, ValueError), match=name):
            sweep([CASES[0], case])


def test_a_sweep_on_a_dask_cluster():
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    expected = [simulate(**case) for case in CASES]
    more = dict(host="127.0.0.1", threads_per_worker=1, dashboard_address=None)
    with distributed.LocalCluster(2, processes=True, **more) as cluster:
        with distributed.Client(cluster) as client:
            found = sweep(CASES, client.get_executor())
            elsewhere = client.run(os.getpid).values()
    assert os.getpid() not in elsewhere and len(set(elsewhere)) == 2
    for one, other in zip(found, expected, strict=True):
        same(one, other)


# Errors.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            dict(arrival_rate=20, service=LinearService(0.05, 0), policy=Fixed(1)),
            "workers = 2 would",
        ),
        (dict(policy=Fixed(5)), "a batch of 6, or workers = 2 would be enough"),
        (dict(policy=Greedy(2), workers=2), "a batch of 3, or workers = 3 would be enough"),
        (dict(arrival_rate=2000), "workers = 2 would be enough"),
        (dict(arrival_rate=2001, policy=Fixed(4)), r"busy; workers = 27 would be enough"),
        (dict(policy=Window(8, 0.001, False)), "workers = 5 would be enough"),
        (dict(policy=Window(8, 0.001, False), arrivals=Erlang(2)), "workers = 5 would be enough"),
    ],
    ids=str,
)
def test_overload_says_what_would_be_enough(arguments, message):
    given = dict(arrival_rate=100, policy=Greedy(64), service=GPT3, requests=6400) | arguments
    if given["arrival_rate"] == 2000:
        given["service"] = LinearService(0.001, 0.0005)
    with pytest.raises(UnstableError, match=message):
        simulate(**given)
    enough = int(message.split("workers = ")[1].split()[0])
    assert simulate(**given | {"workers": enough}).busy < 1
    with pytest.raises(UnstableError):
        simulate(**given | {"workers": enough - 1})


def test_with_a_buffer_overload_is_shed():
    run = simulate(1000, Greedy(8), GPT3, buffer=16, requests=32_000)
    assert run.loss == pytest.approx(1 - GPT3.rate(8) / 1000, rel=0.01) and run.busy > 0.999


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(policy="greedy"), "policy must be Fixed, Greedy or Window"),
        (dict(service=0.05), "service must be a LinearService"),
        (dict(arrival_rate=None), "arrival_rate must be a real number"),
        (dict(arrival_rate=0), "arrival_rate must be greater than 0"),
        (dict(arrival_rate=1e-9), "arrival_rate must be 1e-9 to 1e9 times"),
        (dict(policy=Fixed(8), buffer=6), "buffer must be at least 7 for Fixed"),
        (dict(policy=Window(8, 1.0), buffer=0), "buffer must be at least 1 for Window"),
        (dict(policy=Fixed(101)), "requests must be at least 3232 for Fixed"),
        (dict(requests=31), "requests must be at least 32"),
        (dict(requests=1e11), "requests must be at most"),
        (dict(workers=10**7), "workers must be at most"),
        (dict(noise=1.0), "noise must be None, Gamma, LogNormal or Empirical"),
        (dict(arrivals=[1, 2]), "arrival_rate must be None with a trace in arrivals"),
        (
            dict(arrivals=[1, 3, 2], arrival_rate=None),
            "arrivals must not decrease, got 2.0 at index 2",
        ),
        (dict(arrivals=[], arrival_rate=None), "arrivals must be a list of times"),
        (dict(arrivals=[0, 1e300], arrival_rate=None), "arrivals must be at most 1e.09 times"),
        (dict(arrivals=[0, 1], arrival_rate=None, policy=Fixed(3)), "requests = 2 is too few"),
        (dict(progress="yes"), "progress must be True, False or None"),
    ],
    ids=str,
)
def test_a_wrong_argument_is_named(arguments, message):
    given = dict(arrival_rate=10, policy=Greedy(8), service=GPT3, requests=3200)
    with pytest.raises((TypeError, ValueError), match=message):
        simulate(**given | arguments)


def test_bursts_that_leave_no_rate_between_them_are_refused():
    assert Bursty(4, 0.25, 10).share == 0.25
    with pytest.raises(ValueError, match=r"share must be at most 1 / peak = 0.25 .* got 0.26"):
        Bursty(4, 0.26, 10)


def test_what_has_an_interval():
    run = simulate(100, Greedy(8), GPT3, requests=3200)
    with pytest.raises(ValueError, match="what must be a number or one of mean, .* got 'median'"):
        run.interval("median")
    with pytest.raises(ValueError, match="level must be below 1, got 1"):
        run.interval("mean", level=1)
    with pytest.raises(ValueError, match="what = 'mean' has no interval: requests = 2 is too few"):
        simulate(None, Greedy(8), GPT3, arrivals=[0, 1]).interval("mean")


def test_progress_goes_to_stderr_and_only_when_asked(capsys):
    arguments = dict(arrival_rate=100, policy=Greedy(8), service=GPT3, requests=3200)
    simulate(**arguments)
    sweep([arguments], ThreadPoolExecutor(1))
    assert capsys.readouterr() == ("", "")
    pytest.importorskip("tqdm")
    simulate(**arguments, progress=True)
    out, err = capsys.readouterr()
    assert out == "" and "3.20k/3.20k" in err.replace("3200", "3.20k")
    sweep([arguments], ThreadPoolExecutor(1), progress=True)
    assert "1/1" in capsys.readouterr().err
