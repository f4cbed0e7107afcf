"""The model texts, for whoever grades by hand: within their limits, and each number is computed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from scipy.optimize import brentq

from made import NAMES, solutions, source
from serving import LinearService, book
from serving.exact import FixedBatchQueue

GPT = LinearService(0.050, 0.0005)
"""The server of most assignments."""
Values = Mapping[str, Any]


def functions(name: str) -> Values:
    space: dict[str, Any] = {}
    for cell in solutions(name):
        exec(cell, space)
    return space


def keeps_up(f: Values, rate: float, batch: int) -> bool:
    try:
        return bool(f["load"](rate, batch, 0.050, 0.0005) < 1)
    except ValueError:
        return False


def service_time(f: Values) -> Values:
    least = [next(b for b in range(1, 1000) if keeps_up(f, r, b)) for r in (600, 1800)]
    load = {b: f["load"](600, b, 0.050, 0.0005) for b in (43, 67)}
    return {
        **{"batches of 43": least[0], "901 is the least": least[1], "99.8 %": load[43]},
        **{"batches of 67": 67, "74.8 %": load[67], "batches of 900": least[1] - 1},
        **{"500.5 ms": GPT.time(901), "2,000 requests/s": GPT.max_rate, "90 %": 1800 * GPT.t_req},
        **{"900 requests/s": 1800 / 2, "batches of 129": 129},
        "79.9 %": f["load"](900, 129, 0.050, 0.0005),
    }


def windows(f: Values) -> Values:
    size = {ms: f["mean_batch"](120, 10, ms / 1000) for ms in (10, 60)}
    delay = {ms: f["mean_delay_ms"](120, 10, ms) / 1000 for ms in (10, 60)}
    load = {b: 120 * (0.040 + 0.001 * b) / b for b in (*size.values(), 10)}
    return {
        **{"2.20 requests": size[10], "7.27 ms": delay[10], "230 %": load[size[10]]},
        **{"60 ms": 0.060, "7.77 requests": size[60], "30.4 ms": delay[60]},
        **{"73.8 %": load[size[60]], "60.0 %": load[10], "1.2 requests": 120 * 0.010},
    }


def exact_tail(f: Values) -> Values:
    found = {b: f["compare_ms"](100, b, 50, 0.5) for b in range(6, 60)}
    p99 = {b: one[2] / 1000 for b, one in found.items()}
    good = [b for b in p99 if p99[b] <= 0.250]
    assert good == [*range(6, 15)] and min(p99, key=lambda b: p99[b]) == 7
    with pytest.raises(ValueError):
        f["compare_ms"](100, 5, 50, 0.5)
    rates = [r for r in range(40, 147) if f["compare_ms"](r, 8, 50, 0.5)[2] <= 250]
    assert rates == [*range(rates[0], rates[-1] + 1)]
    return {
        **{"of 6": good[0], "to 14": good[-1], "235.5 ms": p99[6], "with 6,": 6},
        **{"with 7": 7, "164.7 ms": p99[7], "245.2 ms": p99[14], "with 14.": 14},
        **{"With 15": 15, "256.8 ms": p99[15], "and 5 do": 5},
        "614.6 ms": 4.6 * min(one[1] for one in found.values()) / 1000,
        **{"from 61": rates[0], "to 135 requests/s": rates[-1]},
    }


def optimum(f: Values) -> Values:
    mean = {b: f["response"](100, b, 0.050, 0.0005) for b in (8, 10)}
    exact = {b: FixedBatchQueue(100, b, GPT) for b in (7, 8, 10)}
    best = f["best_batch"](100, 50, 0.5)
    assert best == 10 or 10 in best
    assert min(exact, key=lambda b: exact[b].mean) == 7
    with pytest.raises(ValueError):
        f["response"](150, 8, 0.050, 0.0005)
    gather = 9 / (2 * 100)
    return {
        **{"surrogate 10": 10, "133.6 ms": mean[10], "11.5 ms": mean[8] - mean[10]},
        **{"101 %": 150 * GPT.time(8) / 8, "82.5 %": 150 * GPT.time(10) / 10},
        **{"10 still": 10, "214.6 ms": f["response"](150, 10, 0.050, 0.0005)},
        **{"91.7 ms": exact[8].mean, "100.5 ms": exact[10].mean},
        **{"33.6 ms": mean[10] - gather - GPT.time(10), "with 10.": 10, "set 10": 10},
        **{"0.5 ms": exact[10].mean_wait, "8.8 ms": exact[10].mean - exact[8].mean},
        "right: 7 or": 7,
    }


def paging(f: Values) -> Values:
    config = {
        **{"num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8},
        "hidden_size": 4096,
    }
    token = f["sequence_bytes"](config, 1, 2, 1)
    left = [0.9 * 80 * unit - 16e9 for unit in (1e9, 2**30)]
    one = token * (2000 + 7.5)
    return {
        **{"16 GB": 16e9, "56 GB": left[0], "7.5 empty": (16 - 1) / 2, "263 MB": one},
        **{"so 212": left[0] // one, "0.4 %": 7.5 / 2007.5, "425 fit": left[0] // (one / 2)},
        **{"61.3 GB": left[1], "21 more": left[1] // one - left[0] // one},
        "so 213": left[0] // (2000 * token),
    }


def capstone(f: Values) -> Values:
    def mean(rate: float, batch: int, t_fixed: float = 0.050) -> float:
        service = LinearService(t_fixed, 0.0005)
        work = service.time(batch)
        wait = rate * work / batch * work / (2 * (1 - rate * work / batch))
        return (batch - 1) / (2 * rate) + wait + work

    def reason(rate: float) -> Any:
        return f["plan"](rate, 0.2, 0.050, 0.0005, 7, 1)

    grown = 100 * 4 / 3
    late = brentq(lambda rate: mean(rate, 7) - 0.2, 100, 130)
    assert reason(100) == (7, None)
    assert [reason(r)[1] for r in (106.6, 106.8, 130.7, 130.9)] == [
        *(None, "promise", "promise", "memory")
    ]
    return {
        **{"Today 7": 7, "170.2 ms": mean(100, 7), "76.4 %": 100 * GPT.time(7) / 7},
        **{"where 6": 6, "279 ms": mean(100, 6), "106.7 requests/s": late, "when 7": 7},
        **{"130.8 requests/s": GPT.rate(7), "133.3 requests/s": grown, "for 12": 12},
        **{"of 12": 12, "143 ms": mean(grown, 12), "62.2 %": grown * GPT.time(12) / 12},
        **{"for 8": 8, "323 ms": mean(grown, 8), "and 9": 9, "198.7 ms": mean(grown, 9)},
        **{"of 7": 7, "91 ms": FixedBatchQueue(100, 7, GPT).mean},
        **{"126 ms": min(mean(grown / 2, b) for b in range(4, 8)), "40 ms": 0.040},
        "171 ms": mean(grown, 7, 0.040),
    }


COMPUTED: Mapping[str, Callable[[Values], Values]] = {
    **{"service-time": service_time, "windows": windows, "exact-tail": exact_tail},
    **{"optimum": optimum, "paging": paging, "capstone": capstone},
}


@pytest.mark.parametrize("name", NAMES)
def test_each_number_of_a_model_text_is_computed_or_given(name: str) -> None:
    *_, task, _ = (cell.source for cell in source(name).cells if cell.cell_type == "markdown")
    left = text = source(name).cells[-1].source
    for phrase, value in COMPUTED[name](functions(name)).items():
        assert phrase in text, phrase
        book.claim(phrase, value)
        left = left.replace(phrase, "")
    numbers = r"(?<![A-Za-z\d])(?:\d[\d.,]*\d|\d)"
    assert set(re.findall(numbers, left)) <= set(re.findall(numbers, task))


@pytest.mark.parametrize("name", NAMES)
def test_a_model_text_keeps_to_the_limit(name: str) -> None:
    *_, task, _ = (cell.source for cell in source(name).cells if cell.cell_type == "markdown")
    (limit,) = re.findall(r"at most (\d+) words", task)
    answer = source(name).cells[-1].source.partition("*Also right")[0]
    assert len(re.findall(r"[A-Za-z][a-z]+", answer)) <= int(limit)
