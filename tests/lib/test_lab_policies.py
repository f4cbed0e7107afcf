"""What Lab B stores is consistent, and its predictions are those of independent methods."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from serving import LinearService, _lab_policies, book, lab, queues
from serving.exact import FixedBatchQueue, GreedyQueue
from serving.policies import Fixed, Greedy, Window

LINE = LinearService(0.006, 0.001)
RUN = lab.stored_policies()
POINTS = [pytest.param(p, id=f"{type(p.policy).__name__}-{p.load}") for p in RUN.points]


def trial(size: int = 1, batches: int = 40, **changed: Any) -> lab.Trial:
    """Full batches exactly on the line, with a millisecond and a bit for HTTP."""
    count = size * batches
    kept: dict[str, Any] = {
        **{"policy": Fixed(size), "load": 0.5, "arrival_rate": 50.0, "in_flight": 0},
        **{"scheduled": 0.02 * np.arange(count), "latency": np.full(count, 0.1)},
        **{"lag": np.full(count, 1e-4), "outside": np.full(count, 0.001 + 1e-5 * size)},
        **{"sizes": np.full(batches, size), "service": np.full(batches, LINE.time(size))},
        **{"rest": np.zeros(batches)},
    }
    return lab.Trial(**kept | changed)


EXACT = [[trial(1), trial(8), trial(32)]]


def rested(size: int, rest: float, slowing: float, **changed: Any) -> lab.Trial:
    """Full batches that take longer after a rest, and like HTTP longer yet before they settle."""
    service, outside = np.full(40, LINE.time(size) + slowing * rest), np.full(40 * size, 0.002)
    service[: _lab_policies.WARM_UP] *= 2
    service[-1] /= 2
    outside[: _lab_policies.WARM_UP * size] *= 2
    columns = {"service": service, "outside": outside, "rest": np.full(40, rest)}
    return trial(size, **columns | changed)


def test_a_profile_finds_the_line_and_what_http_adds() -> None:
    found = lab.Profile.of(EXACT)
    assert found.service.t_fixed == pytest.approx(LINE.t_fixed, rel=1e-9)
    assert found.service.t_req == pytest.approx(LINE.t_req, rel=1e-9)
    assert found.slowing == pytest.approx(0, abs=1e-12)
    assert found.added(8) == pytest.approx(0.00108, rel=1e-9)
    assert found.noise is not None
    assert found.noise.values == pytest.approx(1)


def test_a_profile_finds_what_a_rest_adds_once_the_server_is_warm() -> None:
    calm = [rested(1, 0.010, 0.2), rested(8, 0.020, 0.2)]
    busy = [rested(size, 0.0, 0.2, in_flight=2 * size) for size in (1, 8)]
    found = lab.Profile.of([[*calm, *busy], [*calm, *busy]])
    assert found.slowing == pytest.approx(0.2, rel=1e-9)
    assert found.service.t_fixed == pytest.approx(LINE.t_fixed, rel=1e-9)
    assert found.service.t_req == pytest.approx(LINE.t_req, rel=1e-9)
    assert found.added(1) == found.added(8) == pytest.approx(0.002, rel=1e-9)
    assert found.at(0.005).t_fixed == pytest.approx(LINE.t_fixed + 0.001, rel=1e-9)
    for longer in (0.020, 0.5):  # nobody knows what rests add that were not profiled
        assert found.at(longer).t_fixed == pytest.approx(LINE.t_fixed + 0.004, rel=1e-9)
    with pytest.raises(ValueError, match="rest must be at least 0, got -1"):
        found.at(-1)


def test_a_pause_of_the_machine_is_not_in_the_profile() -> None:
    held, late = np.full(40, LINE.time(8)), np.full(320, 0.00108)
    held[20], late[200] = 0.3, 0.3
    assert lab.Profile.of([[trial(1), trial(8, service=held, outside=late)]]).at(0) == (
        lab.Profile.of([[trial(1), trial(8)]]).at(0)
    )
    found = lab.Profile.of([[trial(1), trial(8, service=held, outside=late)]])
    assert found.added(8) == pytest.approx(0.00108, rel=1e-9)


def test_a_prediction_agrees_with_how_long_it_says_the_server_rests() -> None:
    slower = lab.Profile(LINE, slowing=0.2, longest=1.0)
    told = lab.predict(Fixed(8), 300, slower)
    # from batch to batch it takes 8 / 300 s, which the batch fills but for the rest r:
    # r = 0.02667 - 0.014 - 0.2 r
    rest = (8 / 300 - LINE.time(8)) / 1.2
    line = LinearService(LINE.t_fixed + 0.2 * rest, LINE.t_req)
    assert told.mean == pytest.approx(FixedBatchQueue(300, 8, line).mean, rel=1e-3)


def test_rests_of_greedy_batches_are_those_of_their_own_queue() -> None:
    def queue(rest: float) -> GreedyQueue:
        return GreedyQueue(100, 8, LinearService(LINE.t_fixed + 0.2 * rest, LINE.t_req))

    def missing(rest: float) -> float:
        found = queue(rest)
        return found.mean_batch / 100 * (1 - found.busy) - rest

    told = lab.predict(Greedy(8), 100, lab.Profile(LINE, slowing=0.2, longest=1.0))
    assert told.mean == pytest.approx(queue(brentq(missing, 0, 0.01)).mean, rel=1e-3)


def test_what_http_adds_may_not_grow_with_the_batch() -> None:
    flat = [trial(1, outside=np.full(40, 0.003)), trial(8, outside=np.full(320, 0.001))]
    assert (
        lab.Profile.of([flat]).added(1) == lab.Profile.of([flat]).added(8) == pytest.approx(0.002)
    )


def test_predictions_are_the_exact_queues_and_what_http_adds() -> None:
    profile = lab.Profile.of(EXACT)
    fixed = FixedBatchQueue(300, 8, profile.service)
    assert lab.predict(Fixed(8), 300, profile) == pytest.approx(
        (fixed.mean + 0.00108, fixed.quantile(0.99) + 0.00108), rel=1e-9
    )
    greedy = GreedyQueue(300, 8, profile.service)
    added = 0.001 + 1e-5 * greedy.mean_batch
    assert lab.predict(Greedy(8), 300, profile) == pytest.approx(
        (greedy.mean + added, greedy.quantile(0.99) + added), rel=1e-9
    )


def test_a_window_of_no_length_is_greedy_and_an_endless_one_fixed() -> None:
    profile = lab.Profile(LINE)
    for wait, policy in ((0.0, Greedy(8)), (math.inf, Fixed(8))):
        simulated = lab.predict(Window(8, wait), 300, profile)
        # four standard errors and more of a run of 200,000 requests
        assert simulated == pytest.approx(lab.predict(policy, 300, profile), rel=0.04)


def test_a_replay_is_the_recursion_of_lindley() -> None:
    arrivals = np.cumsum(np.random.default_rng(3).exponential(1 / 100, 2000))
    seen = trial(1, 2000, policy=Greedy(1), scheduled=arrivals)
    response = queues.departures(arrivals, 0.007) - arrivals
    told = lab.replay(seen, lab.Profile(LINE))
    assert told.mean == pytest.approx(response.mean(), rel=1e-6)
    assert told.p99 == pytest.approx(np.quantile(response, 0.99), rel=0.01)  # between two ranks


def test_the_profile_of_a_run_is_what_its_batches_took() -> None:
    sizes = np.array([1, 3, 8, 2, 5] * 8)
    mixed = trial(sizes=sizes, service=np.array([LINE.time(one) for one in sizes]))
    found = lab.Profile.during(mixed)
    assert found.service.t_fixed == pytest.approx(LINE.t_fixed, rel=1e-9)
    assert found.service.t_req == pytest.approx(LINE.t_req, rel=1e-9)
    assert found.noise is not None and found.noise.values == pytest.approx(1)
    assert found.added(3) == pytest.approx(0.00101, rel=1e-9)
    alike = lab.Profile.during(trial(8))
    assert alike.service.time(8) == pytest.approx(LINE.time(8), rel=1e-9)


def test_with_the_batches_of_the_run_the_theory_meets_what_was_measured() -> None:
    off = []
    for one in RUN.points:
        told = lab.replay(one, lab.Profile.during(one))
        off.append((told.mean / one.mean - 1, told.p99 / one.quantile(0.99) - 1))
    mean, p99 = np.abs(off).mean(axis=0)
    assert mean < 0.05
    assert p99 < 0.15


def test_a_profile_without_scatter_leaves_no_uncertainty() -> None:
    ends = lab.uncertainty(Greedy(8), 300, EXACT)
    told = np.array(lab.predict(Greedy(8), 300, lab.Profile.of(EXACT)))
    assert ends == pytest.approx(np.column_stack([told, told]), rel=1e-6)


def test_scatter_makes_predictions_uncertain() -> None:
    rng = np.random.default_rng(4)
    shaken = [
        [trial(size, service=LINE.time(size) * rng.uniform(0.9, 1.1, 40)) for size in (1, 8, 32)]
        for _ in range(6)
    ]
    (low, high), _ = lab.uncertainty(Greedy(8), 300, shaken)
    assert low < lab.predict(Greedy(8), 300, lab.Profile.of(shaken)).mean < high
    assert low < lab.predict(Greedy(8), 300, lab.Profile(LINE)).mean + 0.00103 < high


def test_a_server_that_may_not_keep_up_has_no_upper_end() -> None:
    ends = lab.uncertainty(Fixed(8), 0.999 / LINE.time(1), [[trial(1), trial(2)]])
    assert np.isfinite(ends).all()
    # full batches of 1 and 2 carry less than 1.4 requests/s
    slow = [[trial(1, service=np.full(40, 1.0)), trial(2, service=np.full(40, 1.5))]]
    assert np.isinf(lab.uncertainty(Fixed(8), 300, slow)).all()


def test_the_interval_of_a_mean_is_that_of_batch_means() -> None:
    alike = trial(1, 600, latency=np.full(600, 0.05))
    assert alike.interval("mean") == pytest.approx((0.05, 0.05))
    drawn = np.random.default_rng(5).exponential(0.05, 600)
    low, high = trial(1, 600, latency=drawn).interval("mean")
    assert low < drawn.mean() < high
    # thirty means of twenty: Student's 2.05 times the standard error, which itself scatters
    assert high - low == pytest.approx(2 * 2.05 * 0.05 / math.sqrt(600), rel=0.4)


def test_the_interval_of_a_quantile_lies_between_ranks_and_may_have_no_end() -> None:
    drawn = np.random.default_rng(6).exponential(0.05, 1000)
    low, high = trial(1, 1000, latency=drawn).interval(0.99)
    ordered = np.sort(drawn)
    assert (low, high) == (ordered[982], ordered[996])  # ranks 983 and 997 of a thousand
    assert trial(1, 100, latency=drawn[:100]).interval(0.99)[1] == math.inf


def test_a_run_is_read_as_it_was_written() -> None:
    again = json.loads(_lab_policies.dump(RUN))
    for kept, seen in zip(again["points"], RUN.points, strict=True):
        read = _lab_policies._read(kept)
        assert read.policy == seen.policy
        for column in ("scheduled", "latency", "lag", "outside", "sizes", "service", "rest"):
            assert np.array_equal(getattr(read, column), getattr(seen, column)), column
    assert again["machine"] == dict(RUN.machine)


def test_the_machine_is_named() -> None:
    names = ("cores", "processor", "system", "python", "packages", "date")
    assert all(RUN.machine[name] for name in names)


def test_each_policy_met_each_load_with_the_same_schedule() -> None:
    found = [(type(p.policy), p.load) for p in RUN.points]
    assert found == [(kind, load) for load in (0.3, 0.5, 0.7) for kind in (Fixed, Window, Greedy)]
    for first, *others in np.array(RUN.points, dtype=object).reshape(3, 3):
        for other in others:
            gaps = [np.diff(one.scheduled, prepend=0) for one in (first, other)]
            same = np.isclose(*gaps, rtol=0, atol=2.1e-6)  # rounded to a microsecond
            assert (~same).sum() < _lab_policies.ROUNDS  # between two parts


@pytest.mark.parametrize("point", POINTS)
def test_a_stored_point_is_possible(point: lab.Trial) -> None:
    count = point.latency.size
    assert point.sizes.sum() == count
    assert point.sizes.max() <= 8
    assert (point.sizes == 8).all() or not isinstance(point.policy, Fixed)
    assert (point.lag >= 0).all() and (point.outside > 0).all()
    assert (point.latency >= point.service.min()).all()
    assert point.arrival_rate == pytest.approx(
        point.load * RUN.line.rate(8), rel=1e-4
    )  # microseconds
    # a Poisson process in parts, between which the server answers what it has: the rate of so
    # many gaps is within five standard errors
    gaps = np.diff(point.scheduled, prepend=0)
    assert np.median(gaps) == pytest.approx(
        math.log(2) / point.arrival_rate, rel=5 / math.sqrt(count)
    )


@pytest.mark.parametrize("point", POINTS)
def test_the_profile_of_a_point_is_of_full_batches(point: lab.Trial) -> None:
    parts = RUN.profile(point)
    assert len(parts) == _lab_policies.ROUNDS
    for part in parts:
        for size, calm, busy in zip((1, 8), part[:2], part[2:], strict=True):
            assert (calm.sizes == size).all() and (busy.sizes == size).all()
            assert np.ptp(np.diff(calm.scheduled)) < 2e-6  # evenly, but for rounding
            assert calm.in_flight == 0 and busy.in_flight == 2 * size
            # where the next batch waits there is no rest between two
            assert np.median(calm.rest[1:]) > 10 * np.median(busy.rest[1:])


def test_parts_of_a_run_follow_each_other_when_all_are_answered() -> None:
    first = trial(1, 3, scheduled=np.array([0.0, 0.1, 0.3]), latency=np.array([0.1, 0.5, 0.1]))
    joined = _lab_policies._joined([first, trial(1, 3, scheduled=np.array([0.05, 0.1, 0.2]))])
    assert joined.scheduled == pytest.approx([0.0, 0.1, 0.3, 0.65, 0.7, 0.8])
    for name in ("latency", "lag", "outside", "sizes", "service", "rest"):
        assert getattr(joined, name).size == 6


@pytest.mark.parametrize("trial", [RUN.capped, RUN.closed], ids=["capped", "closed"])
def test_a_capped_client_has_no_more_under_way_than_it_may(trial: lab.Trial) -> None:
    sent, done = trial.scheduled + trial.lag, trial.scheduled + trial.latency
    moments = np.concatenate([sent, done])
    steps = np.concatenate([np.ones(sent.size), -np.ones(done.size)])
    # times are rounded to a microsecond: what ends then has ended before the next begins
    under_way = np.cumsum(steps[np.lexsort((steps, np.round(moments, 6)))])
    assert under_way.max() == trial.in_flight == 8


def test_a_run_with_an_unanswered_request_is_no_measurement() -> None:
    times = np.zeros(2)
    status, answers = np.array([200, 503]), ('{"token": 1}', '{"error": "full"}')
    drive = lab.Drive(times, times, times, times, status, (), answers, ("", ""))
    with pytest.raises(RuntimeError, match="request 1 of 2 was not answered: 503:.*full"):
        _lab_policies._trial(Greedy(8), 0.5, 1.0, 0, drive)


def test_too_few_requests_are_refused() -> None:
    with pytest.raises(ValueError, match="requests must be at least 240, got 100"):
        lab.measure_policies(100)


def test_nothing_is_measured_while_the_book_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(book.STILL, "1")
    assert not lab.live()
    monkeypatch.delenv(book.STILL)
    assert lab.live()
