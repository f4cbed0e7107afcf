"""Wrong numbers for the labs and for sizing: an error that names the argument and shows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numeric
from serving import LinearService, catalog, lab, policies, roofline, sizing, traces, traffic

PROMISE = sizing.Promise(first=3.0, token=0.1, quantile=0.95)
MACHINE = roofline.Machine(
    catalog.model("llama-3.1-8b"),
    catalog.accelerator("a100-80gb"),
    devices=1,
    dtype="bf16",
    cache_dtype="bf16",
)
TRACE = traces.Trace("short", np.arange(40.0), np.full(40, 500), np.full(40, 100))
REPLICA = sizing.replica(MACHINE, TRACE, PROMISE)
RECIPE = traffic.recipe("azure-conversation-2023")
PROFILE = lab.Profile(LinearService(0.02, 0.002))
TRIAL = lab.stored_policies().points[0]

CALLS: list[tuple[Callable[..., Any], dict[str, Any], tuple[str, ...]]] = [
    (
        sizing.Promise,
        {"first": 3.0, "token": 0.1, "quantile": 0.95},
        ("first", "token", "quantile"),
    ),
    (
        lambda **given: sizing.replica(MACHINE, TRACE, PROMISE, **given),
        {"step_ratio": 1.5, "reading_ratio": 1.2},
        ("step_ratio", "reading_ratio"),
    ),
    (lambda **given: sizing.simulate(REPLICA, TRACE, **given), {"share": 0.5}, ("share",)),
    (
        lambda **given: sizing.varied(RECIPE, **given),
        {"growth": 1.2, "prompts": 1.1, "answers": 1.1},
        ("growth", "prompts", "answers"),
    ),
    (PROFILE.at, {"rest": 0.01}, ("rest",)),
    (PROFILE.added, {"batch": 2}, ("batch",)),
    (TRIAL.quantile, {"q": 0.5}, ("q",)),
    (
        lambda **given: lab.predict(policies.Greedy(8), profile=PROFILE, **given),
        {"arrival_rate": 20.0},
        ("arrival_rate",),
    ),
    (
        lambda **given: lab.batch_means(TRIAL.latency, **given),
        {"level": 0.95},
        ("level",),
    ),
]
CASES = [
    pytest.param(call, right, name, id=f"{number}-{name}")
    for number, (call, right, names) in enumerate(CALLS)
    for name in names
]


@pytest.mark.parametrize(("call", "right", "name"), CASES)
def test_a_wrong_number_is_named_with_its_value(
    call: Callable[..., Any], right: dict[str, Any], name: str
) -> None:
    assert call(**right) is not None
    for value in [*numeric.WRONG, *numeric.NEGATIVE]:
        with pytest.raises((TypeError, ValueError)) as raised:
            call(**right | {name: value})
        assert name in str(raised.value), f"{name} = {value!r}: {raised.value}"
