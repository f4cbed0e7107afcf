"""The reader of equations: what it reads, what it refuses, which alterations it sees."""

import pytest
import sympy

from serving import formulas, reader
from serving.reader import EquationError

MADE = list(formulas.REGISTRY.values())
WAIT = formulas.surrogate_wait.formula


@pytest.mark.parametrize("made", MADE, ids=lambda made: made.name)
def test_the_equation_of_each_formula_is_the_formula(made):
    reader.check(made, f"{made.result.latex} = {made.latex}")


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        (r"B^2 / 2", "batch**2/2"),
        (r"-B + 2 B \cdot B", "2*batch**2 - batch"),
        (r"\tfrac{1}{2} B \times 3", "3*batch/2"),
        (r"\sqrt{1 + B}", "sqrt(batch + 1)"),
        (r"e^{-B}", "exp(-batch)"),
        (r"\ln(B) + \exp(B)", "log(batch) + exp(batch)"),
        (r"\min(B, 3) \max(B, 2)", "Min(3, batch)*Max(2, batch)"),
        (r"\underbrace{B + 1}_{\text{wait}} + 1", "batch + 2"),
        (r"\begin{aligned} B &= B \\ &= B \end{aligned}", "batch"),
        (r"T_{\text{svc}}(B)^2", "(batch*t_req + t_fixed)**2"),
        (r"2 \left( B - 1 \right) , ", "2*batch - 2"),
        (r"B/2/B", "1/2"),
    ],
)
def test_arithmetic(latex, expected):
    batch, t_fixed, t_req = sympy.symbols("batch t_fixed t_req", real=True)
    names = {"batch": batch, "t_fixed": t_fixed, "t_req": t_req}
    for side in reader.sides(latex):
        assert sympy.simplify(side - sympy.sympify(expected, names)) == 0


@pytest.mark.parametrize(
    "latex",
    [
        r"\nu B", r"T_{\text{foo}}", r"B_{\text{max}}", r"x + 1", r"B +", r"\frac{1}{B", "(B",
        r"\min(B)", r"B )", r"\sum_n B", "", r"B = ", r"\text{arr}", r"1 < 2",
    ],
)  # fmt: skip
def test_what_is_not_an_equation_of_the_book(latex):
    with pytest.raises(EquationError):
        reader.sides(latex)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("2 B", "3 B"),
        ("2 B", "2"),
        ("(B)^2", "(B)"),
        ("- ", "+ "),
        (r"\rho_{\text{serv}}", r"\rho_{\text{target}}"),
        (r"T_{\text{svc}}(B)", r"t_{\text{req}}"),
        (r"\lambda_{\text{arr}}", r"\lambda"),
    ],
)
def test_an_altered_equation_is_seen(old, new):
    assert old in WAIT.latex
    with pytest.raises(EquationError, match="surrogate_wait is"):
        reader.check(WAIT, WAIT.latex.replace(old, new))


def test_every_dropped_factor_is_seen():
    for made in MADE:
        with pytest.raises(EquationError):
            reader.check(made, rf"\frac{{101}}{{100}} \left( {made.latex} \right)")


def test_both_sides_are_compared():
    with pytest.raises(EquationError, match="side 1"):
        reader.check(WAIT, rf"E[T(B)] = {WAIT.latex}")


def test_an_equation_that_simplify_does_not_settle_is_decided_by_draws():
    # sqrt(x)^2 is x only where x is not negative, which simplify does not know for real symbols
    made = formulas.weight_bytes.formula
    reader.check(made, rf"\sqrt{{{made.latex}}}^2")
    with pytest.raises(EquationError):
        reader.check(made, rf"\sqrt{{{made.latex}}}^2 + 10^{{-9}}")
