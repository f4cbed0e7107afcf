"""Read the equations of the text as SymPy expressions, strictly.

The reader knows the arithmetic that the book's equations use and the symbols of the notation
table, longest first; whatever else it meets is an error. It shows that an equation in the text
and the formula in the code agree. It does not show that either is right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

import sympy

from . import notation
from .formulas import REGISTRY, Formula

TOKEN = re.compile(
    r"\\text\{[^}]*\}|\\begin\{\w+\*?\}|\\end\{\w+\*?\}|\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\S"
)
LAYOUT = {
    *(r"\left", r"\right", r"\,", r"\;", r"\:", r"\!", r"\ ", r"\quad", r"\qquad"),
    *(r"\displaystyle", r"\bigl", r"\bigr", r"\Bigl", r"\Bigr", r"\\", "&", "~"),
    *(r"\begin{aligned}", r"\end{aligned}", r"\begin{split}", r"\end{split}"),
}
FUNCTIONS = {r"\ln": sympy.log, r"\log": sympy.log, r"\exp": sympy.exp}
EXTREMES = {r"\min": sympy.Min, r"\max": sympy.Max}
FRACTIONS = {r"\frac", r"\tfrac", r"\dfrac"}
DRAWS = 40


class EquationError(ValueError):
    """An equation that the reader does not understand, or that differs from its formula."""


def tokens(latex: str) -> list[str]:
    r"""Split LaTeX into tokens, layout left out.

    Parameters
    ----------
    latex : str
        LaTeX of an equation.

    Returns
    -------
    list of str
        Commands, words in ``\text``, numbers and single characters.
    """
    return [token for token in TOKEN.findall(latex) if token not in LAYOUT]


SYMBOLS: list[tuple[list[str], notation.Entry]] = sorted(
    ((tokens(entry.latex), entry) for entry in notation.TABLE),
    key=lambda pair: -len(pair[0]),
)


def sides(latex: str) -> list[sympy.Expr]:
    r"""Read every side of an equation.

    Parameters
    ----------
    latex : str
        LaTeX with sides separated by ``=``.

    Returns
    -------
    list of Expr
        One expression a side, on symbols named as in Python; symbols that stand for a formula
        are expanded to it.

    Raises
    ------
    EquationError
        If a symbol is not in the notation table or the LaTeX is not arithmetic.

    Examples
    --------
    >>> sides(r"\rho_{\text{serv}} = \lambda_{\text{arr}} T_{\text{svc}}(B) / B")
    [arrival_rate*(batch*t_req + t_fixed)/batch, arrival_rate*(batch*t_req + t_fixed)/batch]
    """
    reader = _Reader(tokens(latex))
    found = [reader.sum()]
    while reader.take("="):
        found.append(reader.sum())
    reader.take(".")
    reader.take(",")
    if reader.rest:
        raise EquationError(f"cannot read {' '.join(reader.rest[:8])!r} in {latex!r}")
    return found


def check(made: Formula, latex: str) -> None:
    """Compare every side of an equation with the formula it is labelled by.

    Parameters
    ----------
    made : Formula
        The formula.
    latex : str
        LaTeX of the equation.

    Raises
    ------
    EquationError
        If a side cannot be read or is another expression.
    """
    for number, side in enumerate(sides(latex), start=1):
        if not _same(made, side):
            raise EquationError(
                f"side {number} of {latex!r} reads as {side}, but {made.name} is {made.expression}"
            )


def _same(made: Formula, side: sympy.Expr) -> bool:
    difference = side - made.expression
    if sympy.simplify(difference) == 0:
        return True
    if not difference.free_symbols <= set(made.symbols):
        return False
    return all(
        abs(side.subs(point) - made.expression.subs(point))
        <= sympy.Float("1e-20") * (1 + abs(made.expression.subs(point)))
        for point in _points(made)
    )


def _points(made: Formula) -> Iterator[dict[sympy.Symbol, sympy.Float]]:
    """Random points inside the domain, each number spread over six decades."""
    random = Random(made.name)
    found = 0
    for _ in range(100_000):
        draw = [sympy.Float(10 ** random.uniform(-3, 3), 30) for _ in made.symbols]
        if all(bool(holds) for holds in made.holds(tuple(draw))):
            yield dict(zip(made.symbols, draw, strict=True))
            found += 1
        if found == DRAWS:
            return
    raise EquationError(f"the domain of {made.name} was not met in 100000 draws")


class _Reader:
    """Recursive descent over tokens: sum, product, power, atom."""

    def __init__(self, rest: list[str]) -> None:
        self.rest = rest

    def take(self, token: str) -> bool:
        """Step over a token if it is the next."""
        if self.rest[:1] == [token]:
            self.rest = self.rest[1:]
            return True
        return False

    def need(self, token: str) -> None:
        """Step over a token that must be the next."""
        if not self.take(token):
            raise EquationError(f"expected {token!r} before {' '.join(self.rest[:8])!r}")

    def sum(self) -> sympy.Expr:
        """Read terms with signs between them."""
        total = -self.product() if self.take("-") else self.product()
        while self.rest[:1] in (["+"], ["-"]):
            sign = 1 if self.take("+") else -1
            if sign < 0:
                self.need("-")
            total += sign * self.product()
        return total

    def product(self) -> sympy.Expr:
        """Read factors, with or without a sign between them."""
        result = self.power()
        while self.rest and self.rest[0] not in {"+", "-", "=", ")", "}", "]", ",", "."}:
            if self.take("/"):
                result /= self.power()
                continue
            if not self.take(r"\cdot"):
                self.take(r"\times")
            result *= self.power()
        return result

    def power(self) -> sympy.Expr:
        """Read an atom and its exponent."""
        base = self.atom()
        return base ** self.group() if self.take("^") else base

    def group(self) -> sympy.Expr:
        """Read a braced expression, or the single token that LaTeX takes without braces."""
        if self.take("{"):
            inner = self.sum()
            self.need("}")
            return inner
        return self.atom()

    def atom(self) -> sympy.Expr:
        """Read a symbol, a number, a bracket or a function."""
        symbol = self.symbol()
        if symbol is not None:
            return symbol
        if not self.rest:
            raise EquationError("the equation ends in the middle")
        token, self.rest = self.rest[0], self.rest[1:]
        if re.fullmatch(r"\d+(\.\d+)?", token):
            return sympy.Rational(token)
        if token in FRACTIONS:
            return self.group() / self.group()
        if token == r"\sqrt":
            return sympy.sqrt(self.group())
        if token == "(":
            return self.closed(")")
        if token == "e" and self.take("^"):
            return sympy.exp(self.group())
        if token in FUNCTIONS:
            return FUNCTIONS[token](self.power())
        if token in EXTREMES and self.take("("):
            first = self.sum()
            self.need(",")
            return EXTREMES[token](first, self.closed(")"))
        if token == r"\underbrace":
            return self.underbrace()
        raise EquationError(f"{token!r} is not in the notation table and is no operation")

    def closed(self, bracket: str) -> sympy.Expr:
        """Read up to a closing bracket."""
        inner = self.sum()
        self.need(bracket)
        return inner

    def underbrace(self) -> sympy.Expr:
        """Read the expression over a brace, and step over its label."""
        inner = self.group()
        if self.take("_"):
            self.need("{")
            while not self.take("}"):
                self.rest = self.rest[1:]
        return inner

    def symbol(self) -> sympy.Expr | None:
        """Read the longest symbol of the table, if one is next."""
        for pattern, entry in SYMBOLS:
            if self.rest[: len(pattern)] == pattern:
                self.rest = self.rest[len(pattern) :]
                if entry.formula:
                    return REGISTRY[entry.formula].expression
                return sympy.Symbol(entry.name, real=True)
        return None
