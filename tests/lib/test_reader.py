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
        (r"1{,}000 B + 0.5", "1000*batch + Rational(1, 2)"),
        (r"T_\mathrm{fixed} + T_{\mathrm{fixed}} + t_\text{req}", "2*t_fixed + t_req"),
        (r"2 \big( B - 1 \bigr) \cdot \left[ B + 1 \right]^{2}", "2*(batch - 1)*(batch + 1)**2"),
        (r"\frac{{B}}{2} + {B}^{2} + \frac1B + \sqrt2", "batch/2 + batch**2 + 1/batch + sqrt(2)"),
        (r"\begin{aligned} B &= B \\[4pt] &= B \end{aligned}", "batch"),
        (r"\begin{align*} B &= 2 B \nonumber \\ &\quad - B \end{align*}", "batch"),
        (r"B \left(1 + \min\{B, 2\}\right)", "batch*(1 + Min(batch, 2))"),
        (r"\underbrace{B}_{\text{size}} \overbrace{B}^{B_{1/2}} - \ln 2", "batch**2 - log(2)"),
        (r"T_{\text{svc}}\left(B\right)(1 - B)", "(batch*t_req + t_fixed)*(1 - batch)"),
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
        r"B^02", r"B^12", r"B_1/2", r"\frac12 B", r"\sqrt12", r"10 000", r"10\,000", "B 2", "02",
        r"\lambda(B)", r"\lambda(2 B)", r"B \left( B \right)", r"\left( B )", r"( B \right)",
        r"\left( B", r"{ \left( B } \right)", r"\begin{aligned} B", r"B \end{aligned}", "{B", "B}",
        r"\frac{0}{0}", r"\frac{B}{B - B}", r"\min(B, \ln(0))", r"\frac\lambda_{\text{arr}} B",
        r"1/2 B", r"\ln 2 B", r"\ln(B)^2", r"\frac{1}{2}^2", "{B + 1} B", "{-B}", r"B^*^2", "e^2^2",
        r"\underbrace{B + 1}_{x} B", r"B - \underbrace{B + 1}_{x}", r"B / \underbrace{B B}_{x}",
        r"\begin{aligned} B &= B \\ B &= B \end{aligned}", r"\left( B \\ + B \right)", "1{,}00",
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


def test_one_percent_more_is_seen():
    for made in MADE:
        with pytest.raises(EquationError, match=f"{made.name} is"):
            reader.check(made, rf"\frac{{101}}{{100}} \cdot \left( {made.latex} \right)")


def test_both_sides_are_compared():
    with pytest.raises(EquationError, match="side 1"):
        reader.check(WAIT, rf"E[T(B)] = {WAIT.latex}")


def test_an_equation_that_simplify_does_not_settle_is_decided_by_draws():
    # sqrt(x)^2 is x only where x is not negative, which simplify does not know for real symbols
    made = formulas.weight_bytes.formula
    reader.check(made, rf"\sqrt{{{made.latex}}}^2")
    with pytest.raises(EquationError):
        reader.check(made, rf"\sqrt{{{made.latex}}}^2 + 10^{{-9}}")
