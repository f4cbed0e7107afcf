"""Equations of the text are the package's formulas, in symbols of the notation table."""

from __future__ import annotations

from pathlib import Path

import pytest

import equations
import notebooks
from synthetic import NAME, chapter, clean, markdown, replaced

FILES = [*notebooks.notebooks(), *notebooks.pages()]
RIGHT = r"\frac{\lambda_{\text{arr}} \left(T_{\text{fixed}} + t_{\text{req}} B\right)}{B}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_equations_of_the_book_are_its_formulas(path: Path) -> None:
    faults = equations.check(notebooks.read(path), path.name)
    assert not faults, "\n".join(faults)


def test_each_formula_has_one_equation_in_the_book() -> None:
    faults = equations.completeness(notebooks.read(path) for path in FILES)
    assert not faults, "\n".join(faults)


def test_the_equation_of_each_formula_reads_as_its_code() -> None:
    assert equations.formulas_unread() == []


def test_a_chapter_of_right_equations_has_no_fault() -> None:
    assert equations.check(clean(), NAME) == []


def only_fault(notebook: notebooks.NotebookNode, name: str = NAME) -> str:
    [fault] = equations.check(notebook, name)
    return fault


@pytest.mark.parametrize(
    "wrong",
    [
        RIGHT.replace("+", "-"),
        RIGHT.replace("}{B}", "}{2 B}"),
        RIGHT.replace(r" B\right", r"\right"),
        r"\lambda_{\text{arr}} T_{\text{svc}}(B)",
        rf"{RIGHT} = \lambda_{{\text{{arr}}}}",  # one side of several
    ],
)
def test_an_equation_that_differs_from_its_formula_is_found(wrong: str) -> None:
    fault = only_fault(replaced(clean(), RIGHT, wrong))
    assert "eq-utilization is not its formula" in fault


def test_an_equation_with_another_left_side_is_found() -> None:
    notebook = replaced(clean(), r"\rho_{\text{serv}} = \frac", r"E[W(B)] = \frac")
    assert "side 1" in only_fault(notebook)


def test_a_label_of_no_formula_is_found() -> None:
    fault = only_fault(replaced(clean(), "(eq-utilization)", "(eq-load)"))
    assert f"{NAME}: cell 3: the label eq-load is of no formula" in fault


@pytest.mark.parametrize("name", ["02-synthetic.ipynb", "appendix-synthetic.ipynb", "intro.md"])
def test_a_formula_of_another_chapter_is_found(name: str) -> None:
    assert "eq-utilization belongs to chapter 5" in only_fault(clean(), name)


@pytest.mark.parametrize(
    "labelled",
    [
        "```{math}\n:label: eq-utilization\nB = B\n```",
        "\\begin{equation}\n\\label{eq-utilization} B = B\n\\end{equation}",
        "````{note}\n$$\nB = B\n$$ (eq-utilization)\n````",
    ],
)
def test_a_labelled_equation_is_found_in_every_form(labelled: str) -> None:
    assert "eq-utilization is not its formula" in only_fault(chapter(markdown(labelled)))


def test_a_formula_without_equation_or_with_two_is_found() -> None:
    faults = equations.completeness([clean(), clean()])
    assert "chapter 5: eq-utilization labels 2 equations: write one" in faults
    assert "chapter 1: eq-quiet-probability labels 0 equations: write one" in faults
    assert equations.completeness([clean()]) == [f for f in faults if "labels 0" in f]


@pytest.mark.parametrize(
    ("latex", "symbol"),
    [
        ("x", "x"),
        (r"B + \zeta", r"\zeta"),
        (r"T_{\text{svc}}(x)", "x"),
        (r"T_{\text{other}}", r"T_{\text{other}}"),
        (r"T_{\mathrm{other}}", r"T_{\text{other}}"),
        (r"B_1", "B_1"),
        (r"B_{\sup}", r"B_{\sup}"),
        (r"\lambda_{\text{fixed}}", r"\lambda_{\text{fixed}}"),
        (r"W_{\text{i}}", r"W_{\text{i}}"),
        (r"W_x", "W_x"),
        (r"E", "E"),
        (r"e + 1", "e"),
        (r"\sum_{z = 1}^B B", "z"),
        (r"\frac{1}{\xi}", r"\xi"),
        (r"\mathbf{B} + 1", r"\mathbf{B}"),
        (r"\mathrm{load} \le 1", r"\mathrm{load}"),
        (r"\mathrm{x}", r"\mathrm{x}"),
        (r"\operatorname{Var}[W]", r"\operatorname{Var}"),
        (r"\hat{B}", r"\hat{B}"),
        (r"1 - \bar B", r"\barB"),
        (r"\bar{W}_i", r"\bar{W}_i"),
        (r"B' + 1", "B'"),
        (r"\rho_{\text{serv}}' + 1", r"\rho_{\text{serv}}'"),
        (r"B^\prime", r"B^\prime"),
        (r"T^*", "T^*"),
        (r"B^{\text{opt}}", r"B^{\text{opt}}"),
    ],
)
def test_a_symbol_that_is_not_in_the_table_is_found(latex: str, symbol: str) -> None:
    fault = f"the symbol {symbol} is not in the notation table"
    assert equations.strangers(latex) == [fault]
    for text in (f"In ${latex}$.", f"$$\n{latex}\n$$", f"## On ${latex}$", f"On {{math}}`{latex}`"):
        notebook = chapter(markdown(f"```{{note}}\nWords.\n```\n\n{text}"))
        assert f"{NAME}: cell 0: {fault} in $" in only_fault(notebook)


@pytest.mark.parametrize(
    "latex",
    [
        r"\rho_{\text{serv}} \le \rho_{\text{target}}",
        r"T_{\text{svc}}(8) = T_{\text{fixed}} + 8\,t_{\text{req}}",  # another argument
        r"\mu_{\text{eff}}(B) \to \mu_{\infty} \text{ as } B \to \infty",
        r"W_i, W_{i+1}, \tau_k - \tau_{k-1}, \tau_1",
        r"E[W] = \lim_{n \to \infty} \frac{1}{n} \sum_{i=1}^{n} W_i",
        r"\underbrace{E[W(B)]}_{\text{wait}} + \overbrace{B}^{2\,\%}",
        r"\int_0^T N \, d t",
        r"e^{-\lambda t}, \quad \Pr(\tau_1 > t) \in \{0, 1\}",
        r"\begin{cases} 0 & \text{if } B < 1 \\ 1 & \text{else} \end{cases}",
        r"B_{\min} \Rightarrow \min(B, n) \approx \sqrt{n} \times \ln n \cdot \text{const}",
        r"T_{\mathrm{fixed}} = 5\,\mathrm{ms}, B^* + B^2 B^{-1} e^{-(\mu - \lambda) t}",
    ],
)
def test_declared_symbols_and_operators_are_known(latex: str) -> None:
    assert equations.strangers(latex) == []
