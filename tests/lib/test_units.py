"""Numbers as the text writes them."""

from fractions import Fraction

import numpy as np
import pytest
import sympy

from serving import units


@pytest.mark.parametrize(
    ("number", "digits", "unit", "text"),
    [
        (0.3625, 1, "%", "36.3"),  # a tie, rounded away from zero
        (0.125, 2, "", "0.13"),
        (-0.125, 2, "", "−0.13"),
        (2.5, 0, "", "3"),
        (0.145, 2, "", "0.15"),  # binary 0.14499999999999999
        (0.14949019607843136, 1, "ms", "149.5"),
        (9_663_676_416, 2, "GB", "9.66"),
        (9_663_676_416, 0, "GiB", "9"),
        (1234567.0, 0, "requests", "1,234,567"),
        (2**41 + 1, 0, "bytes", "2,199,023,255,553"),
        (-0.0001, 2, "", "0.00"),
        (1e300, 0, "", "1" + ",000" * 100),
        (Fraction(1, 3), 3, "", "0.333"),
        (sympy.Rational(4, 3), 2, "", "1.33"),
        (sympy.sqrt(2), 3, "", "1.414"),
        (np.float32(0.5), 0, "", "1"),
        (np.int64(16), 0, "requests", "16"),
    ],
)
def test_rounding_half_up(number, digits, unit, text):
    assert units.rounded(number, digits, unit) == text


@pytest.mark.parametrize("number", [float("nan"), float("inf"), np.inf])
def test_what_is_not_finite_has_no_text(number):
    with pytest.raises(ValueError, match="finite"):
        units.rounded(number, 1)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("149.5 ms", ("149.5", "ms")),
        ("B = 10", ("10", "")),
        ("36.3 %", ("36.3", "%")),
        ("2,000 requests/s", ("2,000", "requests/s")),
        ("−2.1 %", ("−2.1", "%")),
        ("P99 is 12 ms", ("12", "ms")),
        ("350 GB", ("350", "GB")),
        ("5 ms, then", ("5", "ms")),
        ("5 ms.", ("5", "ms")),
    ],
)
def test_the_number_of_a_phrase(text, parts):
    assert units.phrase(text) == parts


@pytest.mark.parametrize(
    "text",
    [
        "10",
        "5 to 10 ms",
        "no number",
        "",
        "12.",
        "3 + x 4",
        "1.5ms",
        "1,234ms",
        "12.5th part",
        "2x",
    ],
)
def test_phrases_without_one_number_and_a_name(text):
    with pytest.raises(ValueError, match="text must"):
        units.phrase(text)
