"""Traces: what is read, what is refused, and the numbers that describe them."""

import gzip
import math
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from serving import traces

AZURE = """TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:15:46.6805900,374,44
2023-11-16 18:15:50.9951690,396,109
2023-11-16 18:15:51.2224670,879,55
"""


def written(folder, text, name="trace.csv"):
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_an_azure_trace_is_read_to_the_last_digit_of_its_clock(tmp_path):
    trace = traces.load(written(tmp_path, AZURE))
    assert trace.times.tolist() == [0.0, 4.314579, 4.541877]
    assert trace.input_tokens.tolist() == [374, 396, 879]
    assert trace.output_tokens.tolist() == [44, 109, 55]


@pytest.mark.parametrize(
    "text",
    [
        "time,input,output\n10,1,2\n11.5,3,4\n",
        "output, time ,model,input\n2,10,m,1\n\n4,1.15e1,m,3\n",
        "\ufefftime,input,output\r\n11.5,3,4\r\n10,1,2\r\n",  # a mark of Excel's, and no order
        "TIMESTAMP,ContextTokens,GeneratedTokens\n"
        "2024-05-10T23:59:59.5Z,1,2\n2024-05-11 02:00:01+02:00,3,4\n",
    ],
)
def test_columns_order_and_time_zones_do_not_matter(tmp_path, text):
    for path in (written(tmp_path, text), tmp_path / "trace.csv.gz"):
        if path.suffix == ".gz":
            path.write_bytes(gzip.compress(text.encode()))
        trace = traces.load(path)
        assert trace.times.tolist() == [0.0, 1.5]
        assert trace.input_tokens.tolist() == [1, 3]
        assert trace.output_tokens.tolist() == [2, 4]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("time,input,output\n1,2,3\n2,x,4\n", r"trace\.csv, line 3, column input: .* got 'x'"),
        ("time,input,output\n1,2,-3\n", r"line 2, column output: .* got '-3'"),
        ("time,input,output\n1,2.5,3\n", r"line 2, column input: .* got '2.5'"),
        ("time,input,output\nnan,2,3\n", r"line 2, column time: .* got 'nan'"),
        ("time,input,output\n1e999,2,3\n", r"line 2, column time: .* got '1e999'"),
        ("time,input,output\n1,2\n", r"line 2, column output: .* got ''"),
        (AZURE.replace("50.99", "71.99"), r"line 3, column TIMESTAMP: .* got '2023-11-16 18:15:71"),
        (AZURE.replace(",396,", ",,"), r"line 3, column ContextTokens: .* got ''"),
        ("when,input,output\n1,2,3\n", r"line 1: the columns must be .* got 'when, input, output'"),
        ("", "line 1: the columns must be"),
        ("time,input,output\n", "at least one row"),
    ],
)
def test_a_bad_entry_is_named_with_its_place(tmp_path, text, words):
    with pytest.raises(ValueError, match=words):
        traces.load(written(tmp_path, text))


MOONCAKE = """{"timestamp": 0, "input_length": 6755, "output_length": 500, "hash_ids": [0, 1]}

{"timestamp": 3052, "input_length": 2287, "output_length": 316, "hash_ids": [0, 42, 43]}
{"timestamp": 1001, "input_length": 7319, "output_length": 490, "hash_ids": [0, 14]}
"""


@pytest.mark.parametrize("name", ["trace.jsonl", "trace.json", "a.trace.jsonl.gz"])
def test_lines_of_json_count_milliseconds_unless_they_say_otherwise(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(
        gzip.compress(MOONCAKE.encode()) if path.suffix == ".gz" else MOONCAKE.encode()
    )
    for unit, scale in ((None, 1e-3), ("ms", 1e-3), ("s", 1)):
        trace = traces.load(path, unit)
        assert trace.times.tolist() == pytest.approx([0, 1001 * scale, 3052 * scale], rel=1e-15)
        assert trace.input_tokens.tolist() == [6755, 7319, 2287]
        assert trace.output_tokens.tolist() == [500, 490, 316]


def test_what_a_timestamp_counts_is_asked_where_it_is_not_whole(tmp_path):
    line = '{"timestamp": %s, "input_length": 1, "output_length": 2}\n'
    path = written(tmp_path, line % 1 + line % 2.25, "trace.jsonl")
    with pytest.raises(ValueError, match=r"line 2, entry timestamp: .*time_unit.* got '2.25'"):
        traces.load(path)
    assert traces.load(path, "s").times.tolist() == [0, 1.25]
    assert traces.load(path, "ms").times.tolist() == [0, 0.00125]
    with pytest.raises(ValueError, match="time_unit must be 's', 'ms' or None, got 'min'"):
        traces.load(path, "min")
    with pytest.raises(ValueError, match=r"time_unit must be None for .*csv"):
        traces.load(written(tmp_path, AZURE), "s")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"timestamp": 0, "input_length": 1}', "line 2 must be an object with timestamp, input"),
        ("[0, 1, 2]", "line 2 must be an object"),
        ("{'timestamp': 0}", "line 2 is not JSON"),
        ('{"timestamp": 0, "input_length": -1, "output_length": 2}', "entry input_length: .*'-1'"),
        (
            '{"timestamp": 0, "input_length": 1, "output_length": 2.5}',
            "entry output_length: .*'2.5'",
        ),
        ('{"timestamp": 0, "input_length": true, "output_length": 2}', "input_length: .*'True'"),
        ('{"timestamp": NaN, "input_length": 1, "output_length": 2}', "timestamp: .*'NaN'"),
        ('{"timestamp": null, "input_length": 1, "output_length": 2}', "timestamp: .*'None'"),
        ('{"timestamp": 1e999, "input_length": 1, "output_length": 2}', "timestamp: .*'1e999'"),
    ],
)
def test_a_bad_line_of_json_is_named_with_its_place(tmp_path, line, words):
    good = '{"timestamp": 0, "input_length": 1, "output_length": 2}\n'
    with pytest.raises(ValueError, match=rf"trace\.jsonl, .*{words}"):
        traces.load(written(tmp_path, good + line, "trace.jsonl"))
    with pytest.raises(ValueError, match="at least one row"):
        traces.load(written(tmp_path, "\n", "trace.jsonl"))


def test_what_is_no_text_is_refused_by_name(tmp_path):
    path = tmp_path / "trace.csv.gz"
    path.write_bytes(b"time,input,output\n1,2,3\n")
    with pytest.raises(ValueError, match=r"trace\.csv\.gz cannot be read"):
        traces.load(path)
    with pytest.raises(FileNotFoundError):
        traces.load(tmp_path / "none.csv")


def test_a_summary_by_hand(tmp_path):
    text = "time,input,output\n0,10,1\n1,20,2\n4,60,9\n"
    summary = traces.load(written(tmp_path, text)).summary()
    assert (summary.requests, summary.rate) == (3, 0.5)
    assert (summary.input_mean, summary.input_median) == (30, 20)
    assert (summary.output_mean, summary.output_median) == (4, 2)
    assert summary.gap_cv == 0.5  # gaps of 1 and 3
    # windows of 2 s: two requests, none, and the third lies after the last whole one
    assert summary.dispersion(2) == 1  # the variance of the population


def test_regular_and_poisson_arrivals():
    tokens = np.ones(100_000, dtype=np.int64)
    regular = traces.Trace("regular", np.arange(100_000.0), tokens, tokens)
    assert regular.summary().gap_cv == 0
    assert regular.dispersion(10) == 0
    gaps = np.random.default_rng(1).exponential(0.5, 100_000)
    poisson = traces.Trace("poisson", np.cumsum(gaps) - gaps[0], tokens, tokens)
    assert poisson.summary().rate == pytest.approx(2, rel=0.01)
    assert poisson.summary().gap_cv == pytest.approx(1, abs=0.01)
    # 10,000 windows: the error of a variance is about 1.5 %
    assert poisson.dispersion(5) == pytest.approx(1, abs=0.05)


def counted(counts):
    """A trace with so many arrivals in each window of 1 s."""
    times = np.repeat(np.arange(len(counts), dtype=float), counts)
    tokens = np.ones(times.size + 1, dtype=np.int64)
    return traces.Trace("counted", np.append(times, len(counts)), tokens, tokens)


def test_dispersion_from_differences_by_hand():
    trace = counted([3, 1, 4, 4])
    assert trace.counts(1).tolist() == [3, 1, 4, 4]
    assert trace.dispersion(1) == 1.5 / 3  # squares of 0, 2, 1, 1 over 4
    assert trace.dispersion(1, differences=1) == pytest.approx((4 + 9 + 0) / 3 / 2 / 3)
    assert trace.dispersion(1, differences=2) == pytest.approx((25 + 9) / 2 / 6 / 3)
    with pytest.raises(ValueError, match="window must fit 5 times into .* differences = 3"):
        trace.dispersion(1, differences=3)
    with pytest.raises(ValueError, match="differences must be at most 8, got 9"):
        trace.dispersion(0.01, differences=9)


def test_second_differences_do_not_see_a_steady_growth():
    growing = counted(np.arange(1, 200, 2))
    assert growing.dispersion(1, differences=2) == 0
    assert growing.dispersion(1, differences=1) == pytest.approx(4 / 2 / 100)
    assert growing.dispersion(1) == pytest.approx(4 * (100**2 - 1) / 12 / 100)


@pytest.mark.parametrize("order", [0, 1, 2, 8])
def test_dispersion_of_poisson_counts_is_one_by_differences_of_any_order(order):
    counts = np.random.default_rng(2).poisson(20, 40_000)
    # squares of differences are correlated: their mean has this variance
    spread = math.sqrt(2 * math.comb(4 * order, 2 * order) / math.comb(2 * order, order) ** 2 / 4e4)
    assert abs(counted(counts).dispersion(1, order) - 1) < 4 * spread


def test_one_moment_has_no_rate(tmp_path):
    trace = traces.load(written(tmp_path, "time,input,output\n5,1,1\n5,2,2\n"))
    with pytest.raises(ValueError, match="two moments"):
        trace.summary()
    with pytest.raises(ValueError, match="window must fit between 2"):
        trace.dispersion(1)


@pytest.mark.parametrize(("name", "requests"), [("conv", 19366), ("code", 8819)])
def test_the_public_traces_as_another_reader_has_them(name, requests):
    data = os.environ.get("SERVING_DATA")
    if not data:
        pytest.skip("SERVING_DATA is not set: no traces to read")
    path = Path(data) / "traces" / f"AzureLLMInferenceTrace_{name}.csv.gz"
    frame = pd.read_csv(path, parse_dates=["TIMESTAMP"])
    seconds = (frame["TIMESTAMP"] - frame["TIMESTAMP"].min()).dt.total_seconds()
    summary = traces.load(path).summary()
    assert summary.requests == len(frame) == requests
    assert summary.rate == pytest.approx((requests - 1) / seconds.max())
    assert summary.input_mean == pytest.approx(frame["ContextTokens"].mean())
    assert summary.input_median == frame["ContextTokens"].median()
    assert summary.output_mean == pytest.approx(frame["GeneratedTokens"].mean())
    assert summary.output_median == frame["GeneratedTokens"].median()
    gaps = seconds.sort_values().diff().dropna()
    assert summary.gap_cv == pytest.approx(gaps.std() / gaps.mean(), rel=1e-4)
    counts = np.histogram(seconds, bins=np.arange(0, seconds.max(), 60))[0]
    assert summary.dispersion(60) == pytest.approx(counts.var() / counts.mean())
    # as the facts are stated, with the variance of the population
    facts = {"conv": [1.39, 3.86, 16.1], "code": [13.2, 71.6, 164.0]}[name]
    for window, fact in zip((1, 10, 60), facts, strict=True):
        assert summary.dispersion(window) == pytest.approx(fact, abs=0.05 if fact > 10 else 0.005)
