"""Elementary functions on numbers, arrays and symbols."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy

from serving import _generic as g

x, y = sympy.symbols("x y", real=True)


@pytest.mark.parametrize(
    ("f", "reference"), [(g.log, math.log), (g.exp, math.exp), (g.sqrt, math.sqrt)]
)
def test_one_argument(f, reference):
    assert f(2.5) == reference(2.5)
    assert f(Fraction(5, 2)) == reference(2.5)
    np.testing.assert_allclose(f(np.array([2.5, 3])), [reference(2.5), reference(3)])
    assert float(f(x).subs(x, 2.5)) == pytest.approx(reference(2.5))


@pytest.mark.parametrize(("f", "reference"), [(g.minimum, min), (g.maximum, max)])
def test_two_arguments(f, reference):
    assert f(2, 3.5) == reference(2, 3.5)
    assert f(np.array([1, 5]), 3).tolist() == [reference(1, 3), reference(5, 3)]
    assert f(x, y).subs({x: 2, y: 3}) == reference(2, 3)


def test_log1p_keeps_its_digits_near_zero_and_near_minus_one():
    points = [1e-18, -1e-18, 0.5, -(1 - 2**-50)]
    # the series x - x^2/2 for tiny x, and 50 factors of one half
    expected = [1e-18, -1e-18, math.log(1.5), -50 * math.log(2)]
    assert [g.log1p(point) for point in points] == pytest.approx(expected, rel=1e-15)
    np.testing.assert_allclose(g.log1p(np.array(points)), expected, rtol=1e-15)
    assert float(g.log1p(x).subs(x, 0.5)) == pytest.approx(math.log(1.5))


def test_expm1_keeps_its_digits_near_zero_and_ends_at_minus_one():
    for number in (1e-20, -1e-9, 0.5, 3):
        assert g.expm1(number) == pytest.approx(math.expm1(number), rel=1e-15)
        assert g.expm1(np.array([number]))[0] == pytest.approx(math.expm1(number), rel=1e-15)
    assert g.expm1(-(10**400)) == -1
    assert g.expm1(x) == sympy.exp(x) - 1


def test_log_sinhc_keeps_its_digits_near_zero_and_far_from_it():
    with mpmath.workdps(60):
        for number in (1e-30, 1e-9, 0.0999, 0.1, 1.5, 700.0):
            exactly = mpmath.mpf(number)
            expected = float(mpmath.log(mpmath.sinh(exactly) / exactly))
            assert g.log_sinhc(number) == pytest.approx(expected, rel=1e-12)
            assert g.log_sinhc(np.array([number]))[0] == pytest.approx(expected, rel=1e-12)
    assert g.log_sinhc(Fraction(10**30)) == pytest.approx(1e30)
    assert g.log_sinhc(x) == sympy.log(sympy.sinh(x) / x)


def test_forgotten_keeps_its_digits_near_zero_and_far_from_it():
    with mpmath.workdps(60):
        for number in (1e-30, 1e-9, 0.0999, 0.1, 1.5, 700.0, 1e17):
            exactly = mpmath.mpf(number)
            expected = float(1 - (1 - mpmath.exp(-exactly)) / exactly)
            assert g.forgotten(number) == pytest.approx(expected, rel=1e-10)
            assert g.forgotten(np.array([number]))[0] == pytest.approx(expected, rel=1e-10)
    assert g.forgotten(x) == 1 - (1 - sympy.exp(-x)) / x


def test_where():
    assert g.where(2 > 1, 5, 6) == 5
    assert g.where(np.array([True, False]), 5, 6).tolist() == [5, 6]
    assert g.where(x > 0, x, -x).subs(x, -4) == 4


def test_almost_forgives_rounding_but_not_symbols():
    assert g.almost(0.1**2) < 0.01 < 0.1**2
    assert g.almost(x) == x
