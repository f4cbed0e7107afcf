r"""Read the equations of the text as SymPy expressions, strictly.

The reader knows the arithmetic that the book's equations use and the symbols of the notation
table, longest first; whatever else it meets is an error, and so is what LaTeX draws otherwise
than one reads it, such as ``B^12``. It shows that an equation in the text and the formula in
the code agree. It does not show that either is right.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import sympy

from . import notation
from ._latex import EquationError, spelled
from .formulas import REGISTRY, Formula

BRACKETS = {"(": ")", "[": "]", r"\{": r"\}"}
FUNCTIONS = {r"\ln": sympy.log, r"\log": sympy.log, r"\exp": sympy.exp}
EXTREMES = {r"\min": sympy.Min, r"\max": sympy.Max}
FRACTIONS = {r"\frac", r"\tfrac", r"\dfrac", r"\cfrac"}
BRACES = {r"\underbrace": "_", r"\overbrace": "^"}
END = {"", "+", "-", "=", "}", ",", ".", *BRACKETS.values()}  # of a product
DRAWS = 40
SYMBOLS = [(spelled(entry.latex), entry) for entry in notation.TABLE]
SYMBOLS.sort(key=lambda pair: -len(pair[0]))


def sides(latex: str) -> list[sympy.Expr]:
    r"""Read every side of an equation.

    Parameters
    ----------
    latex : str
        LaTeX with sides separated by ``=``.

    Returns
    -------
    list of Expr
        One expression a side; symbols are named as in Python, formulas are expanded.

    Raises
    ------
    EquationError
        If a symbol is not in the notation table or the LaTeX is not arithmetic.

    Examples
    --------
    >>> sides(r"\rho_{\text{serv}} = \lambda_{\text{arr}} T_{\text{svc}}(B) / B")
    [arrival_rate*(batch*t_req + t_fixed)/batch, arrival_rate*(batch*t_req + t_fixed)/batch]
    """
    try:
        reader = _Reader(spelled(latex))
        found = [reader.sum()]
        while reader.take("="):
            found.append(reader.sum())
    except (TypeError, ValueError) as error:  # from the reader, or from SymPy about infinities
        raise EquationError(f"cannot read {latex!r}: {error}") from None
    infinite = any(side.has(sympy.nan, sympy.zoo, sympy.oo) for side in found)
    if infinite or reader.tokens[reader.at :] not in ([], ["."], [","]):
        raise EquationError(f"cannot read {latex!r}: {reader.next!r} is left, or it is infinite")
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
    known = difference.free_symbols <= set(made.symbols)
    return (
        sympy.simplify(difference) == 0
        or known
        and all(
            abs(side.subs(point) - made.expression.subs(point))
            <= sympy.Float("1e-20") * (1 + abs(made.expression.subs(point)))
            for point in _points(made)
        )
    )


def _points(made: Formula) -> Iterator[dict[sympy.Symbol, sympy.Float]]:
    """Random points inside the domain, each number spread over six decades."""
    random, found = Random(made.name), 0
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

    def __init__(self, found: list[str]) -> None:
        self.tokens, self.at = found, 0
        self.terms = 0  # of the sum read last
        self.unclear = -1  # where a factor would belong to nobody knows what, as in 1/2 B

    @property
    def next(self) -> str:
        """The token that comes next, empty at the end."""
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, token: str) -> bool:
        """Step over a token if it is the next."""
        self.at += (taken := self.next == token)
        return taken

    def need(self, token: str) -> None:
        """Step over a token that must be the next."""
        if not self.take(token):
            raise EquationError(f"expected {token!r} before {self.next!r}")

    def sum(self) -> sympy.Expr:
        """Read terms with signs between them."""
        terms = [-self.product() if self.take("-") else self.product()]
        while (minus := self.take("-")) or self.take("+"):
            terms.append(-self.product() if minus else self.product())
        self.terms = len(terms)
        return sympy.Add(*terms)

    def product(self) -> sympy.Expr:
        """Read factors, with or without a sign between them."""
        result = self.power()
        while self.next not in END:
            if self.take("/"):
                result /= self.power()
                self.unclear = self.at
            elif self.take(r"\cdot") or self.take(r"\times"):
                result *= self.power()
            elif self.at == self.unclear:
                raise EquationError(f"unclear what {self.next!r} belongs to: write brackets")
            else:
                result *= self.power(follows=True)
        return result

    def power(self, follows: bool = False) -> sympy.Expr:
        """Read an atom and its exponent."""
        start = self.at
        base = self.atom(follows)
        if self.next != "^":
            return base
        read = [token for token in self.tokens[start : self.at] if token != "{"]
        if read[0] in {*FRACTIONS, *FUNCTIONS, *BRACES, "e"} or read[-3:-1] == ["^", "*"]:
            raise EquationError(f"unclear what the power after {read[0]!r} belongs to")
        self.at += 1
        return base ** self.group()

    def group(self) -> sympy.Expr:
        """Read a braced expression, or the one character that LaTeX takes without braces."""
        if self.take("{"):
            return self.closed("}")
        start, token, inner = self.at, self.next, self.atom()
        if self.at > start + 1 or len(token) > 1 and token[0].isdigit():
            raise EquationError(f"LaTeX takes one character of {token!r}: add braces")
        return inner

    def atom(self, follows: bool = False) -> sympy.Expr:
        """Read a symbol, a number, a bracket or a function; perhaps directly after a factor."""
        if (symbol := self.symbol()) is not None:
            return symbol
        token, self.at = self.next, self.at + 1
        if token[:1].isdigit() and not follows:
            return sympy.Rational(token.replace("{,}", ""))
        if token in FRACTIONS:
            return self.group() / self.group()
        if token == r"\sqrt":
            return sympy.sqrt(self.group())
        if token in BRACKETS:
            inner = self.closed(BRACKETS[token])
            if follows and self.terms == 1:
                raise EquationError("brackets round one term are drawn as an argument: drop them")
            return inner
        if token == "{" and self.next not in BRACES:  # invisible, so only round a single atom
            inner = self.atom(follows)
            self.need("}")
            return inner
        if token == "e" and self.take("^"):
            return sympy.exp(self.group())
        if token in FUNCTIONS:
            bracketed = self.next in BRACKETS
            argument = self.atom() if bracketed else self.power()
            self.unclear = -1 if bracketed else self.at
            return FUNCTIONS[token](argument)
        if token in EXTREMES and self.next in BRACKETS:
            bracket, self.at = BRACKETS[self.next], self.at + 1
            first = self.sum()
            self.need(",")
            return EXTREMES[token](first, self.closed(bracket))
        if token in BRACES:
            return self.brace(token)
        raise EquationError(f"{token!r} is not in the notation table and is no operation there")

    def closed(self, bracket: str) -> sympy.Expr:
        """Read up to a closing bracket."""
        inner = self.sum()
        self.need(bracket)
        return inner

    def brace(self, command: str) -> sympy.Expr:
        """Read the expression at a brace, step over its label; the brace is no bracket."""
        before = self.tokens[self.at - 2] if self.at > 1 else ""
        self.need("{")
        signed = self.next == "-"
        inner = self.closed("}")
        summed = signed or self.terms > 1
        if self.take(BRACES[command]):
            self.at, depth = self.at + 1, 1
            while depth:
                depth += {"{": 1, "}": -1}.get(self.next, 0)
                self.at += 1
        alone = before in {"", "+", "=", "{", *BRACKETS} and self.next in END
        if before == "/" or summed and not alone:
            raise EquationError(f"a factor beside {command} needs brackets inside it")
        return inner

    def symbol(self) -> sympy.Expr | None:
        """Read the longest symbol of the table, if one is next."""
        for pattern, entry in SYMBOLS:
            if self.tokens[self.at : self.at + len(pattern)] == pattern:
                self.at += len(pattern)
                made = REGISTRY.get(entry.formula)
                return made.expression if made else sympy.Symbol(entry.name, real=True)
        return None
