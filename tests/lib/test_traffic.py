"""Traffic with a moving rate: closed forms, blocks, recipes; and whether arrivals are Poisson."""

import math
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, stats

from serving import formulas, poisson, simulation, traces, traffic
from serving.formulas import value

# Closed forms


def test_counts_of_a_negative_binomial_law_are_poisson_of_a_gamma_rate():
    # the law of scipy, of shape n and probability p, has mean n (1 - p) / p
    shape, scale = 3.5, 2.4
    law = stats.nbinom(shape, 1 / (1 + scale))
    found = value(formulas.cox_dispersion, shape * scale, shape * scale**2)
    assert found == pytest.approx(law.var() / law.mean(), rel=1e-12)


@pytest.mark.parametrize("memory", [0.01, 0.7, 30, 1e5])
def test_flicker_is_the_integral_of_its_covariance(memory):
    rate, cv, window = 5.0, 0.8, 3.0
    covariance = integrate.quad(
        lambda lag: 2 * (window - lag) * math.exp(-lag / memory), 0, window, points=[memory]
    )[0]
    expected = value(formulas.cox_dispersion, rate * window, (rate * cv) ** 2 * covariance)
    found = value(formulas.flicker_dispersion, rate, cv, memory, window)
    assert found == pytest.approx(expected, rel=1e-9)


def test_flicker_of_a_rate_that_jumps_between_two_values():
    kind = simulation.Bursty(peak=3, share=0.2, burst=12)
    times = 2.0 * np.cumsum(kind._stream(np.random.default_rng(4))(400_000))  # 0.5 requests/s
    low = (1 - 3 * 0.2) / 0.8
    cv = math.sqrt(0.2 * 3**2 + 0.8 * low**2 - 1)
    lasting = 2.0 * 12 / 3  # of a burst; pauses last four times as long
    memory = 1 / (1 / lasting + 1 / (4 * lasting))
    trace = traces.Trace("jumping", times - times[0], np.ones(1), np.ones(1))
    for window in (2.0, 10.0, 50.0):
        expected = value(formulas.flicker_dispersion, 0.5, cv, memory, window)
        assert trace.dispersion(window) == pytest.approx(expected, rel=0.03)


def test_a_steady_growth_as_the_counts_of_many_draws_show_it():
    rate, growth, window, windows = 40.0, 0.5, 2.0, 50
    middles = (np.arange(windows) - (windows - 1) / 2) * growth * window + rate
    counts = np.random.default_rng(5).poisson(middles * window, (20_000, windows))
    plain = counts.var(axis=1).mean() / (rate * window)
    steps = (np.diff(counts, axis=1) ** 2).mean() / 2 / (rate * window)
    arguments = (rate, growth, window)
    assert plain == pytest.approx(value(formulas.drift_dispersion, *arguments, windows), rel=0.005)
    assert steps == pytest.approx(value(formulas.difference_dispersion, *arguments), rel=0.005)
    assert value(formulas.drift_dispersion, rate, 0, window, 2) == 0.5  # variance of two counts


def test_the_rate_that_a_share_of_poisson_windows_does_not_exceed():
    law = stats.poisson(5.0 * 400)
    found = value(formulas.window_rate, 5.0, 1.0, 400.0, stats.norm.ppf(0.99))
    assert found == pytest.approx(law.ppf(0.99) / 400, rel=0.001)
    spread = value(formulas.window_rate, 5.0, 9.0, 400.0, 1.0) - 5
    assert spread == pytest.approx(3 * math.sqrt(5 / 400), rel=1e-12)


# Blocks and recipes


def arrived(times, prompts=None, answers=None):
    ones = np.ones(len(times), dtype=np.int64)
    return traces.Trace(
        "arrived", np.asarray(times, dtype=float), ones if prompts is None else prompts,
        ones if answers is None else answers,
    )  # fmt: skip


def test_blocks_find_the_jumps_of_a_rate_and_nothing_else():
    rng = np.random.default_rng(6)
    rates, lasting = [5.0, 20.0, 0.0, 8.0], [100, 60, 30, 200]
    starts = np.append(0, np.cumsum(lasting))
    times = [
        start + np.sort(rng.random(rng.poisson(rate * length))) * length
        for start, rate, length in zip(starts, rates, lasting, strict=False)
    ]
    trace = arrived(np.concatenate([[0.0], *times, [390.0]]))
    edges, requests = traffic.blocks(trace)
    assert edges == pytest.approx(starts, abs=1.5)
    assert requests / np.diff(edges) == pytest.approx(rates, abs=3.5 * math.sqrt(20 / 60))


def test_blocks_are_the_best_of_all_ways_to_cut():
    trace = arrived([0, 0.1, 0.2, 0.25, 3.5, 5.1, 5.2, 5.3, 5.9, 6.0])
    penalty = 1.2

    def worth(cuts):
        """Logarithm of the likelihood less the penalties."""
        edges = np.array([0, *cuts, 6])
        inside = np.minimum(trace.times.astype(int), 5)
        counts = [
            ((inside >= a) & (inside < b)).sum() for a, b in zip(edges, edges[1:], strict=False)
        ]
        parts = [
            n * math.log(n / w) if n else 0 for n, w in zip(counts, np.diff(edges), strict=True)
        ]
        return sum(parts) - penalty * len(counts)

    ways = [[c for c in range(1, 6) if mask >> c & 1] for mask in range(0, 64, 2)]
    edges, _ = traffic.blocks(trace, penalty=penalty)
    assert worth(edges[1:-1].astype(int)) == pytest.approx(max(map(worth, ways)), rel=1e-12)


def test_a_constant_rate_is_one_block():
    times = np.cumsum(np.random.default_rng(7).exponential(0.2, 5000))
    edges, requests = traffic.blocks(arrived(times - times[0]))
    assert edges.tolist() == [0, times[-1] - times[0]] and requests.tolist() == [5000]


def test_what_is_drawn_by_a_recipe_is_what_it_was_fitted_to():
    rng = np.random.default_rng(8)
    times = np.sort(np.concatenate([[0.0], rng.random(4000) * 1000, 600 + rng.random(8000) * 400]))
    early = times < 500
    prompts = rng.integers(10, 1000, times.size)
    answers = np.where(early, 1010 - prompts, prompts)  # long prompts have short answers at first
    recipe = traffic.fit(arrived(times, prompts, answers), periods=2)
    drawn = traffic.synthesise(recipe, 1)
    again = traffic.synthesise(recipe, 1)
    assert all(np.array_equal(getattr(drawn, x), getattr(again, x))
               for x in ("times", "input_tokens", "output_tokens"))  # fmt: skip
    assert len(drawn.times) == pytest.approx(12_000, abs=4 * math.sqrt(12_000))
    late = times[times > 600].size / times.size
    assert (drawn.times > 600).mean() == pytest.approx(late, abs=0.02)
    early = drawn.times < 500
    for some, sign in ((early, -1), (~early, 1)):
        lengths = drawn.input_tokens[some], drawn.output_tokens[some]
        assert sign * np.corrcoef(*lengths)[0, 1] > 0.95
    assert drawn.output_tokens.mean() == pytest.approx(answers.mean(), rel=0.02)


def test_flicker_adds_what_its_formula_says():
    steady = traffic.fit(arrived(np.arange(0, 2000, 0.1)), 1.0, 6.0, 0.5, 2.0)
    found = np.mean([traffic.synthesise(steady, seed).dispersion(5) for seed in range(30)])
    expected = value(formulas.flicker_dispersion, 10, 0.5, 2.0, 5)
    assert found == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize("name", traffic.recipes)
def test_recipes_reproduce_the_summary_of_their_trace(name):
    recipe = traffic.recipe(name)
    drawn = [traffic.synthesise(recipe, seed) for seed in range(20)]
    rows = [traffic._measured(trace) for trace in drawn]
    close = {"gap_cv": 0.02, "input_median": 0.02, "output_median": 0.02, "output_mean": 0.02}
    for key, fact in recipe.measured.items():
        found = np.array([row[key] for row in rows])
        # a mean of twenty, and a recipe of few numbers
        error = close.get(key, 0.15 if key == "differences_10s" else 0.05)
        assert found.mean() == pytest.approx(fact, rel=error), key


def test_an_unknown_recipe_and_one_without_requests_are_refused():
    with pytest.raises(ValueError, match="name must be one of azure-conversation-2023, .*'mine'"):
        traffic.recipe("mine")
    nearly = traffic.fit(arrived([0, 1.0]))
    with pytest.raises(ValueError, match="gave no request with seed = "):
        for seed in range(100):
            traffic.synthesise(nearly, seed)


@pytest.mark.parametrize(
    ("name", "file"), list(zip(traffic.recipes, ("conv", "code"), strict=True))
)
def test_recipes_are_what_fit_makes_of_the_public_traces(name, file):
    data = os.environ.get("SERVING_DATA")
    if not data:
        pytest.skip("SERVING_DATA is not set: no traces to compare with")
    trace = traces.load(Path(data) / "traces" / f"AzureLLMInferenceTrace_{file}.csv.gz")
    kept, entry = traffic.recipe(name), traffic._data()[name]
    made = traffic.fit(
        trace,
        *(entry[key] for key in ("cell", "penalty", "flicker_cv", "flicker_memory", "periods")),
    )
    for key in ("requests", "pairs"):
        assert np.array_equal(getattr(made, key), getattr(kept, key))
    assert made.edges == pytest.approx(kept.edges, abs=0.0005)
    assert made.inputs == pytest.approx(kept.inputs, abs=0.5)
    assert made.outputs == pytest.approx(kept.outputs, abs=0.5)
    assert made.measured == pytest.approx(dict(kept.measured), rel=5e-5)


# Tests of the Poisson assumption


SPREAD, GAPS, VARIATION, NEIGHBOURS, COUNTS = (
    *("places: evenly spread", "gaps: exponential", "gaps: CV"),
    *("gaps: correlation of neighbours", "counts: variance over mean"),
)


def rejected(level, arrivals, piece=None):
    return {one.name for one in poisson.check(arrivals, piece) if one.p_value < level}


@pytest.mark.parametrize("piece", [None, 40.0])
def test_the_levels_of_the_tests_hold(piece):
    rng = np.random.default_rng(9)
    runs = 400
    chances = [
        [one.p_value for one in poisson.check(np.cumsum(rng.exponential(0.2, 1500)), piece)]
        for _ in range(runs)
    ]
    for level in (0.05, 0.2):
        shares = (np.array(chances) < level).mean(axis=0)
        # 4 standard deviations, and an approximation that is a little off
        assert shares == pytest.approx([level] * 5, abs=4 * math.sqrt(level / runs) + 0.01)


def test_distances_are_those_of_scipy():
    rng = np.random.default_rng(10)
    times = np.cumsum(rng.gamma(0.7, 1 / 0.7, 300))
    spread = poisson.check(times)[0]
    inside = (times[1:-1] - times[0]) / (times[-1] - times[0])
    theirs = stats.kstest(inside, "uniform")
    assert spread.statistic == pytest.approx(theirs.statistic, rel=1e-12)
    assert spread.p_value == pytest.approx(theirs.pvalue, abs=0.01)
    means = stats.kstwo(100_000).mean()
    expected = poisson.check(np.cumsum(rng.exponential(1, 100_002)))[0].expected
    assert expected == pytest.approx(means, rel=0.01)


def test_gaps_by_hand():
    # a piece of 8 with arrivals at 2 and 6: two are left, then one
    gaps, neighbours = poisson._gaps(np.array([2.0, 6.0]) / 8, np.array([0, 0]))
    assert gaps == pytest.approx([-2 * math.log(6 / 8), -math.log(2 / 6)])
    assert neighbours.tolist() == [False, True]


def test_each_test_sees_what_it_is_for():
    rng = np.random.default_rng(11)
    gaps = rng.exponential(1, 20_000)
    # the same gaps, the short ones first: their law and its variation are those of Poisson
    drifting = np.cumsum(np.sort(gaps))
    assert SPREAD in rejected(1e-6, drifting)
    # regular arrivals at a rate that does not move
    regular = np.cumsum(rng.gamma(4, 0.25, 20_000))
    assert rejected(1e-6, regular, 100.0) >= {GAPS, VARIATION, COUNTS}
    # pairs: every second gap is next to nothing
    paired = np.cumsum(np.column_stack([rng.exponential(2, 9000), np.full(9000, 1e-6)]).ravel())
    assert rejected(1e-6, paired, 100.0) >= {GAPS, NEIGHBOURS, COUNTS}


def test_pieces_let_a_slow_drift_pass():
    rng = np.random.default_rng(12)
    marks = np.cumsum(rng.exponential(1, 20_000))
    times = np.sqrt(marks / marks[-1]) * 2000  # a rate that grows from 0 to 20 a second
    assert len(rejected(1e-6, times)) >= 4
    assert rejected(0.001, times, 10.0) == set()


@pytest.mark.parametrize(
    ("arrivals", "piece", "words"),
    [
        (np.arange(20), None, "arrivals must be at least 30, of more"),
        (np.ones(50), None, "arrivals must be .* of more than two moments"),
        ([0.0] * 40 + [1.0] * 40, None, "arrivals must be .* of more than two moments"),
        ([*range(40), 3], None, "arrivals must be a list of times that do not decrease"),
        (np.arange(100), 20, "piece must hold 30 arrivals on average"),
        (np.arange(100), 200, "piece must be at most 99"),
    ],
)
def test_what_cannot_be_tested_is_refused(arrivals, piece, words):
    with pytest.raises(ValueError, match=words):
        poisson.check(arrivals, piece)
