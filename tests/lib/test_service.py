"""Service times, the least batch, and fits to measurements."""

import math
from fractions import Fraction

import numpy as np
import pytest

from serving import LinearService, UnstableError, measurements

GPT3 = LinearService(0.050, 0.0005)


def test_time_and_rate_of_the_sources_example():
    assert GPT3.time(8) == 0.054
    assert GPT3.time(np.array([8, 16])).tolist() == pytest.approx([0.054, 0.058])
    assert GPT3.rate(16) == pytest.approx(275.862, abs=0.0005)
    assert GPT3.max_rate == 2000
    assert LinearService(0.05, 0).max_rate == math.inf


@pytest.mark.parametrize(
    ("target", "least"), [(1.0, 6), (0.75, 8), (0.7, 8), (0.8, 7), (0.0501, 50_000)]
)
def test_least_batch_of_the_example(target, least):
    assert GPT3.min_batch(100, utilization=target) == least


def test_least_batch_meets_the_target_and_the_one_before_does_not():
    rng = np.random.default_rng(3)
    for _ in range(500):
        rate, t_fixed, t_req, target = (
            float(f"{x:.3g}") for x in 10 ** rng.uniform([-1, -3, -5, -0.7], [2, 0, -3, 0])
        )
        target = min(target, 1.0)
        service = LinearService(t_fixed, t_req)
        r, f, q, goal = (Fraction(str(x)) for x in (rate, t_fixed, t_req, target))

        def load(batch, r=r, f=f, q=q):
            return r * (f + q * batch) / batch

        def meets(batch, goal=goal, load=load):
            return load(batch) < 1 if goal == 1 else load(batch) <= goal

        if r * q >= goal:
            with pytest.raises(UnstableError):
                service.min_batch(rate, target)
            continue
        least = service.min_batch(rate, target)
        assert meets(least)
        assert least == 1 or not meets(least - 1)


def test_decimals_mean_what_they_say():
    # 100 * 0.07 / 0.7 is 10 in decimal and 10.000000000000002 in binary
    assert LinearService(0.07, 0).min_batch(100, utilization=0.7) == 10
    # exactly critical at 7, so 8 is the least stable batch
    assert LinearService(0.07, 0).min_batch(100) == 8


def test_a_fraction_is_kept_as_it_is():
    thirds = LinearService(Fraction(1, 3), Fraction(1, 3))
    assert thirds.min_batch(2) == 3  # two would be a load of exactly one
    assert thirds.time(2) == 1


def test_single_precision_means_its_decimals_too():
    sizes = np.array([1, 8, 32], dtype=np.float32)
    times = np.array([0.0505, 0.054, 0.066], dtype=np.float32)
    fitted, double = LinearService.fit(sizes, times), LinearService.fit([1, 8, 32], times.tolist())
    assert fitted == LinearService.fit([1, 8, 32], [0.0505, 0.054, 0.066]) != double


def test_masked_measurements_are_not_taken_for_numbers():
    times = np.ma.array([0.05, 9.0, 0.06], mask=[False, True, False])
    with pytest.raises(ValueError, match="times must have no masked entries"):
        LinearService.fit([1, 2, 3], times)


def test_constant_times_have_no_slope():
    assert LinearService.fit([1, 2, 3, 5, 8, 13], [0.1] * 6).t_req == 0


def test_edges_of_the_least_batch():
    assert GPT3.min_batch(0) == 1
    assert LinearService(0, 0.01).min_batch(50) == 1
    assert LinearService(0, 0.01).min_batch(70, utilization=0.7) == 1
    with pytest.raises(UnstableError, match="arrival_rate must be below 100"):
        LinearService(0, 0.01).min_batch(100)
    with pytest.raises(UnstableError, match="arrival_rate must be below 1500"):
        GPT3.min_batch(1600, utilization=0.75)


@pytest.mark.parametrize("utilization", [0, -0.5, 1.01, float("nan"), float("inf")])
def test_targets_out_of_range(utilization):
    with pytest.raises(ValueError, match="utilization must be"):
        GPT3.min_batch(100, utilization=utilization)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [((-1, 0), ValueError), ((0, 0), ValueError), (("1", 0), TypeError), ((1, None), TypeError)],
)
def test_service_times_that_cannot_be(arguments, error):
    with pytest.raises(error, match="t_fixed|t_req"):
        LinearService(*arguments)


def test_fit_finds_an_exact_line():
    fitted = LinearService.fit([1, 8, 32], GPT3.time(np.array([1, 8, 32])))
    assert (fitted.t_fixed, fitted.t_req) == pytest.approx((0.05, 0.0005), rel=1e-12)
    assert np.abs(fitted.relative_residuals).max() < 1e-12
    assert fitted.stderr.t_fixed < 1e-9


def test_fit_gives_the_textbook_standard_errors():
    batches, times = np.array([1.0, 2, 3, 4]), np.array([1.1, 1.9, 3.2, 3.8])
    fitted = LinearService.fit(batches, times)
    design = np.column_stack([np.ones(4), batches])
    coefficients = np.linalg.lstsq(design, times, rcond=None)[0]
    variance = np.sum((times - design @ coefficients) ** 2) / 2
    errors = np.sqrt(np.diag(variance * np.linalg.inv(design.T @ design)))
    assert fitted.stderr == pytest.approx(tuple(errors), rel=1e-9)
    np.testing.assert_allclose(fitted.relative_residuals, (times - design @ coefficients) / times)


def test_fit_does_not_depend_on_the_unit_of_time():
    data = measurements.published("gpt-175b")
    seconds, tiny = (LinearService.fit(data.batches, data.times * scale) for scale in (1, 1e-200))
    assert tiny.t_fixed / seconds.t_fixed == pytest.approx(1e-200, rel=1e-9)
    np.testing.assert_allclose(seconds.relative_residuals, tiny.relative_residuals, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "t_fixed_ms", "t_req_ms"),
    [
        ("gpt-175b", 469.3518, 33.9988),
        ("resnet50-t4", 2.89057, 0.766390),
        ("gpt-20b", 2103.65, 15.9004),
        ("resnet50-1080ti", 3.687047, 1.914385),
    ],
)
def test_fits_of_published_times(name, t_fixed_ms, t_req_ms):
    # recomputed independently, to the digits given
    data = measurements.published(name)
    fitted = LinearService.fit(data.batches, data.times)
    assert (fitted.t_fixed * 1000, fitted.t_req * 1000) == pytest.approx(
        (t_fixed_ms, t_req_ms), rel=5e-6
    )


def test_two_points_leave_no_standard_error():
    assert LinearService.fit([1, 2], [1.0, 1.5]).stderr is None


@pytest.mark.parametrize(
    ("batches", "times", "words"),
    [
        ([1, 8], [0.1], "equal length"),
        ([8, 8], [0.1, 0.2], "two different sizes"),
        ([1, 8], [0.1, 0.0], "times must be greater than 0"),
        ([0, 8], [0.1, 0.2], r"batches\[0\] must be finite and at least 1"),
        ([1, 8, 32], [0.1, float("nan"), 0.2], r"times\[1\] must be finite"),
        ([1, 8], [0.2, 0.1], "t_req = -"),
        ([1, 8], [0.01, 0.2], "t_fixed = -"),
        ([[1, 8]], [[0.1, 0.2]], "two lists"),
    ],
)
def test_data_that_determine_no_line(batches, times, words):
    with pytest.raises(ValueError, match=words):
        LinearService.fit(batches, times)


def test_every_published_table_is_whole():
    for name in measurements.names():
        data = measurements.published(name)
        assert len(data.batches) == len(data.times) >= 5
        assert np.all(np.diff(data.batches) > 0) and np.all(data.times > 0)
        assert data.source and data.citation and data.setting
    with pytest.raises(ValueError, match="name must be one of gpt-175b"):
        measurements.published("gpt-4")


def test_published_times_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        measurements.published("gpt-175b").times[0] = 1
