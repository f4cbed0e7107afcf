"""The surrogate's response time and its optimum."""

import json
import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from serving import LinearService, UnstableError, formulas, surrogate

GPT3 = LinearService(0.050, 0.0005)


def test_parts_add_up():
    found = surrogate.response(100, np.arange(6, 65), GPT3)
    np.testing.assert_allclose(
        found.total, found.wait + found.accumulation + found.service, rtol=1e-12
    )
    assert np.all(found.utilization < 1)


def test_reference_rows():
    data = os.environ.get("SERVING_DATA")
    if not data:
        pytest.skip("SERVING_DATA is not set: no reference values to compare with")
    reference = json.loads((Path(data) / "reference" / "queueing.json").read_text("utf-8"))
    table = reference["surrogate_gpt3"]
    for batch, row in table["rows"].items():
        found = surrogate.response(100, int(batch), GPT3)
        assert found.wait * 1000 == pytest.approx(row["EW_surrogate_ms"], rel=1e-12)
        assert found.total * 1000 == pytest.approx(row["ET_surrogate_ms"], rel=1e-12)
        assert found.utilization == pytest.approx(row["rho"], rel=1e-12)
    assert surrogate.optimum(100, GPT3) == table["argmin_integer"]


def test_too_small_a_batch_is_told_which_is_enough():
    with pytest.raises(UnstableError, match="the least stable batch is 6"):
        surrogate.response(100, 5, GPT3)
    with pytest.raises(UnstableError, match="arrival_rate must be below 2000"):
        surrogate.response(2500, 5, GPT3)
    with pytest.raises(UnstableError, match="the least stable batch is 6"):
        surrogate.response(100, [8, 5], GPT3)


def test_optimum_is_ten_not_eight():
    assert surrogate.optimum(100, GPT3) == 10


@pytest.mark.parametrize(
    ("rate", "t_fixed", "t_req"),
    [
        (100, 0.05, 0.0005),
        (0.001, 0.05, 0.0005),
        (19, 0.03, 0.05),
        (7.3, 0.9, 0.02),
        (40, 0, 0.02),
        (300, 0.3, 0.0),
    ],
)
def test_optimum_by_trying_every_batch(rate, t_fixed, t_req):
    service = LinearService(t_fixed, t_req)
    least = service.min_batch(rate)
    sizes = range(least, 10 * least + 10)
    exact = [Fraction(str(x)) for x in (rate, t_fixed, t_req)]
    totals = [formulas.surrogate_total(exact[0], Fraction(size), *exact[1:]) for size in sizes]
    assert surrogate.optimum(rate, service) == sizes[totals.index(min(totals))]


def test_optimum_refuses_what_it_cannot_use():
    with pytest.raises(ValueError, match="arrival_rate must be greater than 0"):
        surrogate.optimum(0, GPT3)
    with pytest.raises(TypeError, match="service must be a LinearService"):
        surrogate.optimum(100, 0.05)
    with pytest.raises(UnstableError):
        surrogate.optimum(2000, GPT3)
