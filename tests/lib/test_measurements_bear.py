"""What measurements can bear: lines and their faults, Little's law, ranks, and claims."""

from __future__ import annotations

import json
import math
import os
import re
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import benchmark_files as files
from serving import LinearService, measurements, queues
from serving.exact import FixedBatchQueue
from serving.measurements import diagnose, little, rank_interval, supports

BRIEF = settings(max_examples=60, deadline=None, derandomize=True, database=None)
SIZES = np.array([1, 2, 4, 8, 16, 32, 64])
LINE = 0.050 + 0.0005 * SIZES
"""The source's example [s]."""
NOISE = np.array([0.3, -0.8, 0.5, 1.0, -0.4, -0.9, 0.6]) / 100
"""Errors of a percent at most that follow no curve [1]."""


@pytest.fixture
def load(tmp_path: Path) -> Any:
    def write(content: Any, **known: int) -> measurements.Measured:
        path = tmp_path / "a file"
        path.write_text(json.dumps(content) if isinstance(content, dict) else content)
        return measurements.load(path, **known)

    return write


def closed(*rows: tuple[float, float, float], more: str = "") -> str:
    """A table of concurrency, throughput and latency in milliseconds."""
    head = "concurrency,throughput (requests/s),latency (ms)"
    return "\n".join([head + more, *(",".join(map(str, row)) for row in rows)])


# Lines


def test_a_line_with_errors_of_a_percent_is_a_line():
    found = diagnose(SIZES, LINE * (1 + NOISE))
    assert found.straight and not found.outliers and abs(found.worst) < 0.011
    assert found.service.t_fixed == LinearService.fit(SIZES, LINE * (1 + NOISE)).t_fixed
    assert found.worst == found.service.relative_residuals[SIZES == found.worst_batch][0]


def test_a_parabola_is_found_and_so_is_a_kink():
    parabola = diagnose(SIZES, (LINE + 1e-5 * SIZES**2) * (1 + NOISE / 10))
    assert parabola.straight is False and parabola.curvature < 1e-6
    kinked = diagnose(SIZES, (LINE + 0.002 * np.maximum(SIZES - 16, 0)) * (1 + NOISE / 10))
    assert kinked.straight is False and kinked.kink < 1e-6
    assert kinked.kink_at == 16 and kinked.steeper == pytest.approx(5, rel=0.03)


def test_the_tests_of_a_bend_are_the_f_tests_of_a_fit_made_by_hand():
    times = LINE * (1 + NOISE)
    columns = np.array([1 / times, SIZES / times, SIZES**2 / times]).T
    left = []
    for terms in (2, 3):
        solved = np.linalg.solve(
            columns[:, :terms].T @ columns[:, :terms], columns[:, :terms].sum(axis=0)
        )
        left.append(np.sum((1 - columns[:, :terms] @ solved) ** 2))
    ratio = (left[0] - left[1]) / left[1] * 4
    # F with 1 and 4 degrees of freedom is the square of Student's t with 4, whose law is known
    t = math.sqrt(ratio)
    above = 1 / 2 - t * (6 + t * t) / (2 * (4 + t * t) ** 1.5)
    assert diagnose(SIZES, times).curvature == pytest.approx(2 * above)


def test_the_test_of_a_kink_is_the_best_of_all_places():
    times = LINE * (1 + NOISE)

    def left(*columns):
        weighted = np.column_stack(columns) / times[:, None]
        return np.sum((1 - weighted @ np.linalg.pinv(weighted).sum(axis=1)) ** 2)

    flat = np.ones(7)
    bent = {at: left(flat, SIZES, np.maximum(SIZES - at, 0)) for at in SIZES[1:-1]}
    best = min(bent, key=bent.get)
    ratio = (left(flat, SIZES) - bent[best]) / 2 / (bent[best] / 3)
    found = diagnose(SIZES, times)
    assert found.kink_at == best
    # with 2 and 3 degrees of freedom the law of F is a power
    assert found.kink == pytest.approx((1 + 2 * ratio / 3) ** -1.5)


@pytest.mark.parametrize("place", range(7))
@pytest.mark.parametrize("factor", [1.3, 1 / 1.3])
def test_one_measurement_that_is_out_is_found(place, factor):
    times = LINE * (1 + NOISE / 10)
    times[place] *= factor
    found = diagnose([*SIZES, *SIZES], [*(LINE * (1 - NOISE / 10)), *times])
    assert found.outliers == (7 + place,)


def test_false_alarms_are_as_rare_as_is_said():
    rng = np.random.default_rng(8)
    times = LINE * (1 + 0.01 * rng.standard_normal((400, 7)))
    found = [diagnose(SIZES, row) for row in times]
    outside = sum(bool(one.outliers) for one in found)
    # 5 % of 400 is 20; the chance of more than 35 is below one in a thousand
    assert 5 <= outside <= 35
    assert sum(one.curvature < 0.05 for one in found) <= 35
    # where the kink stands is sought, so that its test alarms more often than it says
    assert sum(one.straight is False for one in found) <= 60


def test_too_few_sizes_tell_nothing_of_a_curve():
    two, three = diagnose(SIZES[:2], LINE[:2]), diagnose(SIZES[:3], LINE[:3])
    assert two.straight is None and three.straight is None
    assert two.curvature is three.kink is None and three.outliers == ()
    assert diagnose(SIZES, LINE).straight is True


def test_a_size_outside_the_measured_ones_is_told():
    found = diagnose(SIZES, LINE)
    assert found.reach(16) == pytest.approx((1.0, 0.058, 0.058))
    assert found.reach(256) == pytest.approx((4.0, 0.178, 0.178))
    kinked = diagnose(SIZES, LINE + 0.002 * np.maximum(SIZES - 8, 0)).reach(256)
    assert kinked.local == pytest.approx(0.178 + 0.002 * 248)  # the last four are on one line
    assert kinked.line < kinked.local
    later = diagnose([8, 16, 32], [1, 2, 4]).reach(1)
    assert later.factor == 8 and later.line == pytest.approx(1 / 8)


@BRIEF
@given(
    t_fixed=st.floats(1e-3, 1e3), share=st.floats(1e-3, 0.1), scale=st.sampled_from([1e-9, 1, 1e9])
)
def test_units_do_not_matter(t_fixed, share, scale):
    times = t_fixed * (1 + share * SIZES) * (1 + NOISE)
    one, other = diagnose(SIZES, times), diagnose(SIZES, times * scale)
    assert one.curvature == pytest.approx(other.curvature, rel=1e-6)
    assert one.kink == pytest.approx(other.kink, rel=1e-6) and one.outliers == other.outliers


# Little's law


def test_littles_law_of_a_closed_loop(load):
    found = little(load(closed((1, 10, 100), (16, 80, 150), (8, 40, 260))))
    assert [law.product for law in found] == pytest.approx([1, 12, 10.4])
    assert [law.deviation for law in found] == pytest.approx([0, -0.25, 0.3], abs=1e-12)
    assert [law.gap for law in found] == pytest.approx([0, 0.05, -0.06], abs=1e-12)
    words = ["consistent", "stand empty", "more is in the system"]
    assert all(word in law.reading for word, law in zip(words, found, strict=True))


@pytest.mark.parametrize(
    ("factor", "units"), [(1e3, "milliseconds"), (1e-3, "milliseconds"), (1e6, "microseconds")]
)
def test_littles_law_tells_mixed_units(load, factor, units):
    [law] = little(load(closed((4, 40, 100 * factor))))
    assert units in law.reading and f"{factor:g}" in law.reading


def test_littles_law_tells_that_items_were_counted(load):
    rows = [(2, 499.2, 2 * 32 / 499.2 * 1000, 32)]
    [law] = little(load(closed(*rows, more=",batch")))
    assert "items, 32 in each request" in law.reading


def test_littles_law_takes_what_was_measured_to_be_in_flight(load):
    [law] = little(load(files.guidellm([{"type_": "poisson", "rate": 2.0}])))
    assert law.in_flight == 1 and law.deviation == pytest.approx(0)


def test_littles_law_takes_all_three(load):
    with pytest.raises(ValueError, match="measured must have a point with throughput, mean"):
        little(load(files.vllm_serve(request_rate=2.0, max_concurrency=None)))
    with pytest.raises(TypeError, match="measured must be what load returns, got 3"):
        little(3)


# Ranks


def below(count: int, share: Fraction, times: int) -> Fraction:
    """Probability of so many or fewer of ``count``, exactly."""
    return sum(
        math.comb(count, k) * share**k * (1 - share) ** (count - k) for k in range(times + 1)
    )


@pytest.mark.parametrize("count", [1, 2, 5, 6, 20, 59, 300])
@pytest.mark.parametrize("quantile", ["0.5", "0.9", "0.95"])
@pytest.mark.parametrize("level", ["0.9", "0.95"])
def test_ranks_are_the_tightest_that_the_binomial_law_allows(count, quantile, level):
    found = rank_interval(count, float(quantile), float(level))
    share, tail = Fraction(quantile), (1 - Fraction(level)) / 2
    lower, upper = found.lower or 0, found.upper or count + 1
    assert lower == 0 or below(count, share, lower - 1) <= tail
    assert below(count, share, lower) > tail
    assert upper == count + 1 or 1 - below(count, share, upper - 1) <= tail
    assert 1 - below(count, share, upper - 2) > tail


def test_the_least_number_of_requests_for_a_p99():
    # 0.99 ** 368 is the first power below 0.025
    assert 0.99**368 < 0.025 < 0.99**367
    assert rank_interval(367, 0.99).upper is None and rank_interval(368, 0.99).upper == 368


def test_ranks_hold_what_they_promise():
    rng = np.random.default_rng(3)
    ranks = rank_interval(400, 0.95)
    times = np.sort(rng.exponential(size=(2000, 400)), axis=1)
    truth = -math.log(0.05)
    assert ranks.lower and ranks.upper
    held = (times[:, ranks.lower - 1] <= truth) & (truth <= times[:, ranks.upper - 1])
    assert held.mean() >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / 2000)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 0.9), "count must be at least 1, got 0"),
        ((10**10, 0.9), "count must be at most"),
        ((9, 1), "quantile must be less than 1, got 1"),
        ((9, 0.9, 0), "level must be greater than 0, got 0"),
    ],
)
def test_wrong_ranks_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        rank_interval(*arguments)


# Claims


def told(measured: measurements.Measured, start: str, **options: Any) -> tuple[bool, str]:
    [found] = [one for one in supports(measured, **options) if one.claim.startswith(start)]
    return found.holds, found.reason


def batch_table(times: Any, sizes: Any = SIZES) -> str:
    rows = (f"{b},{1000 * t!r}" for b, t in zip(sizes, map(float, times), strict=True))
    return "\n".join(["batch,latency (ms)", *rows])


def test_a_line_is_borne_by_sizes_enough_that_lie_on_it(load):
    holds, reason = told(load(batch_table(LINE * (1 + NOISE))), "a line")
    assert holds and "7 sizes from 1 to 64; they show no bend" in reason
    holds, reason = told(load(batch_table(LINE[:3], SIZES[:3])), "a line")
    assert (holds, reason) == (False, "3 batch sizes: a line is assumed, not tested")
    holds, reason = told(load(batch_table(LINE + 0.01 * SIZES**2)), "a line")
    assert not holds and ("they bend" in reason or "negative" in reason)
    assert told(load(closed((1, 10, 100))), "a line") == (
        False,
        "0 batch sizes timed; a line takes two",
    )


def test_capacity_is_borne_by_a_throughput_that_has_levelled(load):
    holds, reason = told(load(closed((1, 10, 100), (8, 40, 200), (16, 40.8, 392))), "capacity")
    assert holds and "from 8 to 16 at once throughput changes by +2.0%, to 40.8/s" in reason
    assert not told(load(closed((1, 10, 100), (8, 40, 200))), "capacity")[0]
    assert told(load(closed((1, 10, 100))), "capacity")[1].startswith("1 concurrency")
    kept = files.vllm_serve(request_rate=4.0, max_concurrency=None)
    assert told(load(kept), "capacity") == (False, "every run kept up: it is 4/s or more")
    holds, reason = told(load({**kept, "request_rate": 8.0}), "capacity")
    assert holds and "fell behind its rate, at 4/s" in reason
    assert not told(load(batch_table(LINE)), "capacity")[0]
    assert told(load(batch_table([0.1, 0.2, 0.9], [1, 4, 8])), "capacity")[0]


def test_a_percentile_is_borne_by_requests_enough(load):
    rng = np.random.default_rng(5)
    for count, holds in ((367, False), (368, True)):
        times = rng.exponential(size=count) + 0.1
        for known in ({"old": True, "p99_e2el_ms": 4000.0}, {}):
            found = told(load(files.vllm_serve(times, **known)), "P99")
            assert found[0] == holds and f"{count} requests" in found[1]
            assert "alike" not in found[1]
            low = np.sort(times)[359]
            words = f"{low:.4g} s to {times.max():.4g} s" if not known else "to 368, were"
            assert (words if holds else "that takes 368") in found[1]
    assert told(load(files.vllm_serve(times)), "P50", quantile=0.5)[0]
    means = told(load(closed((1, 10, 100))), "P99")
    assert means == (False, "means only: no mean tells a percentile")
    written = "concurrency,latency (ms),p99 latency (ms)\n1,10,12\n"
    assert told(load(written), "P99") == (False, "from how many requests is not in the file")


def queue(seed: int, rate: float, count: int) -> Any:
    """Response times of requests that come at random to a server that takes 40 ms."""
    gaps = np.random.default_rng(seed).exponential(1 / rate, count + 500)
    arrivals = np.cumsum(gaps)
    return (queues.departures(arrivals, 0.040) - arrivals)[500:]


def test_requests_of_one_queue_are_alike_and_worth_fewer(load):
    # at 80 % load the autocorrelations of M/D/1 sum to far more than one
    holds, reason = told(load(files.vllm_serve(queue(1, 20, 2000))), "P99")
    assert not holds and "2000 requests, alike with their neighbours and worth" in reason
    plain = queue(1, 20, 2000).std(ddof=1) / math.sqrt(2000) / queue(1, 20, 2000).mean()
    error = float(told(load(files.vllm_serve(queue(1, 20, 2000))), "the mean")[1].split()[2][:-1])
    assert error / 100 > 3 * plain


@pytest.mark.parametrize(("rate", "count"), [(5, 4000), (12.5, 20_000)])
def test_the_interval_of_a_percentile_holds_it_in_a_queue(rate, count):
    truth = FixedBatchQueue(rate, 1, LinearService(0.040, 0)).quantile(0.99)
    held = []
    for seed in range(60):
        point = measurements.Point("", 1, "", count=count, latencies=queue(seed, rate, count))
        holds, reason = told(measurements.Measured((point,)), "P99")
        if holds:
            low, high = re.findall(r"([\d.]+) s", reason)
            held.append(float(low) <= truth <= float(high))
    # of 60 intervals at 95 % fewer than 50 hold with a chance below one in a thousand
    assert len(held) == 60 and sum(held) >= 50


def test_the_mean_is_borne_with_its_error(load):
    holds, reason = told(load(files.vllm_serve()), "the mean")
    error = files.TIMES.std(ddof=1) / math.sqrt(8) / 0.5
    assert holds and f"standard error {error:.1%}" in reason
    written = "concurrency,p99 latency (ms)\n1,12\n"
    assert not told(load(written), "the mean")[0]


@pytest.mark.parametrize(
    ("rate", "concurrency", "holds", "word"),
    [
        (2.5, None, True, "open loop at 2.5/s"),
        ("inf", 8, False, "closed loop"),
        (2.5, 8, False, "at its cap"),
        ("inf", None, False, "a burst"),
    ],
)
def test_latency_at_a_rate_is_borne_by_an_open_loop_alone(load, rate, concurrency, holds, word):
    result = files.vllm_serve(request_rate=rate, max_concurrency=concurrency)
    found = told(load(result), "latency at")
    assert found[0] == holds and word in found[1]


# Measurements that people published


def test_published_tables_go_through_a_file_unchanged(load):
    for name in measurements.names():
        table = measurements.published(name)
        measured = load(batch_table(table.times, table.batches))
        assert measured.batches.tolist() == table.batches.tolist()
        assert measured.times == pytest.approx(table.times, rel=1e-12)
        found, expected = (
            diagnose(measured.batches, measured.times),
            LinearService.fit(table.batches, table.times),
        )
        assert found.service.t_req == pytest.approx(expected.t_req)


def test_the_published_time_that_falls_with_the_batch_stands_out():
    # 1515 ms at a batch of 2 and 1512 ms at 4
    table = measurements.published("megatron-530b")
    found = diagnose(table.batches, table.times)
    assert [int(table.batches[place]) for place in found.outliers] == [2]


@pytest.mark.parametrize("name", ["resnet50-v100", "resnet50-a100", "llama-3.1-405b"])
def test_published_tables_that_bend_are_found(name):
    table = measurements.published(name)
    assert diagnose(table.batches, table.times).straight is False


FIELD = tomllib.loads(Path(__file__).with_name("field_cases.toml").read_text("utf-8"))


def test_a_thousand_in_a_closed_loop(load):
    # 4005.66 inferences a second at 1000 at once: Little gives 249.65 ms, 247.602 ms were measured
    case = FIELD["triton-7986"]
    row = (case["concurrency"], case["per_second"], case["milliseconds"])
    [law] = little(load(closed(row)))
    assert 1000 * law.in_flight / law.point.throughput == pytest.approx(249.647, abs=5e-4)
    assert law.deviation == pytest.approx(-0.0082, abs=5e-5) and "consistent" in law.reading
    assert case["inferences"] / case["executions"] == pytest.approx(15.994, abs=5e-4)


@pytest.mark.parametrize(
    ("name", "t_fixed", "t_req"),
    [
        ("tensorflow-serving-1312", 0.516e-3, 34.484e-3),
        ("yolov4-triton-58", 0.58 / 3, 0.005 / 3),
    ],
)
def test_two_times_make_a_line_that_is_not_tested(load, name, t_fixed, t_req):
    case = FIELD[name]
    measured = load(batch_table(np.array(case["milliseconds"]) / 1000, case["batches"]))
    found = diagnose(measured.batches, measured.times)
    assert found.service.t_fixed == pytest.approx(t_fixed, rel=2e-3)
    assert found.service.t_req == pytest.approx(t_req, rel=1e-3)
    assert found.service.stderr is None and not told(measured, "a line")[0]


@pytest.mark.parametrize("model", ["3b", "8b"])
def test_two_prefills_bound_what_batching_brings(load, model):
    case = FIELD[f"tt-xla-4891-{model}"]
    measured = load(batch_table(np.array(case["milliseconds"]) / 1000, case["batches"]))
    service = LinearService.fit(measured.batches, measured.times)
    bound = {"3b": 1.8979585, "8b": 1.7515766}[model]
    assert (service.t_fixed + service.t_req) / service.t_req == pytest.approx(bound)


def test_a_table_that_falls_is_no_line(load):
    # the first two of tensorflow/serving issue 1400: 2 takes 6.09 ms, 3 takes 3.57 ms
    case = FIELD["tensorflow-serving-1400"]
    measured = load(batch_table(np.array(case["milliseconds"]) / 1000, case["batches"]))
    with pytest.raises(ValueError, match="neither can be negative"):
        diagnose(measured.batches[:2], measured.times[:2])
    found = diagnose(measured.batches, measured.times)
    assert found.straight is False and abs(found.worst) > 0.1
    assert not told(measured, "a line")[0]


def reference() -> dict[str, Any]:
    """Published tables with the line that others fitted to them."""
    folder = os.environ.get("SERVING_DATA")
    if not folder:
        pytest.skip("SERVING_DATA is not set: the tables are not here")
    read = (Path(folder) / "reference" / "service-times.json").read_text("utf-8")
    return json.loads(read)["tables"]


def test_every_table_of_the_reference_goes_through_a_file(load):
    for name, row in reference().items():
        measured = load(batch_table(np.array(row["T_ms"]) / 1000, row["B"]))
        found, fit = diagnose(measured.batches, measured.times), row["fit"]
        assert 1000 * found.service.t_fixed == pytest.approx(fit["T_fixed_ms"], rel=1e-9), name
        assert 1000 * found.service.t_req == pytest.approx(fit["t_req_ms"], rel=1e-9), name
        assert abs(found.worst) == pytest.approx(fit["max_rel_err"], rel=1e-9), name
        assert found.worst_batch == fit["worst_B"], name
        assert told(measured, "a line")[0] == (fit["max_rel_err"] <= 0.1), name
