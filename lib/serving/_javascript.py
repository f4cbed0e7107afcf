"""A formula and its domain as JavaScript, printed by SymPy from the one definition.

The functions are printed over an arithmetic ``q``: floats for curves, exact fractions for single
values and for the decision whether a point lies in the domain, as `serving.formulas.value` has it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

import sympy
from sympy.printing.jscode import JavascriptCodePrinter

from . import _generic, _mathml
from ._formula import REGISTRY, Formula

_RELATIONS = {
    sympy.StrictLessThan: "<",
    sympy.LessThan: "<=",
    sympy.StrictGreaterThan: ">",
    sympy.GreaterThan: ">=",
}
FUNCTIONS = ("exp", "log", "expm1", "log1p", "log_sinhc", "sinh", "forgotten")
"""Functions of one number that the arithmetic has beside roots, powers and extremes."""


class _Printer(JavascriptCodePrinter):
    """Prints every operation as a call of the arithmetic ``q``."""

    def _call(self, name: str, *arguments: sympy.Basic) -> str:
        return f"q.{name}({', '.join(self._print(one) for one in arguments)})"

    def _print_Add(self, expr: sympy.Expr, order: str | None = None) -> str:  # noqa: N802
        return self._call("add", *expr.args)

    def _print_Mul(self, expr: sympy.Expr) -> str:  # noqa: N802
        above, below = sympy.fraction(expr)
        if below != 1:
            return self._call("div", above, below)
        if expr.args[0] == -1:
            return self._call("neg", sympy.Mul(*expr.args[1:]))
        return self._call("mul", *expr.args)

    def _print_Pow(self, expr: sympy.Expr) -> str:  # noqa: N802
        base, power = expr.as_base_exp()
        if power.is_Integer:
            whole = f"q.pow({self._print(base)}, {abs(power)})"
            return whole if power > 0 else f"q.div(q.of(1), {whole})"
        if abs(power) == sympy.Rational(1, 2):
            root = f"q.sqrt({self._print(base)})"
            return root if power > 0 else f"q.div(q.of(1), {root})"
        if power.is_Rational:
            return f"q.power({self._print(base)}, {power.p}, {power.q})"
        raise TypeError(f"no JavaScript for the power {expr}")

    def _print_Rational(self, expr: sympy.Expr) -> str:  # noqa: N802
        return f"q.of({expr.p}, {expr.q})"

    def _print_Integer(self, expr: sympy.Expr) -> str:  # noqa: N802
        return f"q.of({expr.p})"

    def _print_Max(self, expr: sympy.Expr) -> str:  # noqa: N802
        return self._call("max", *expr.args)

    def _print_Min(self, expr: sympy.Expr) -> str:  # noqa: N802
        return self._call("min", *expr.args)

    def _print_Function(self, expr: sympy.Expr) -> str:  # noqa: N802
        name = type(expr).__name__
        if name not in FUNCTIONS:
            raise TypeError(f"no JavaScript for the function {name}")
        return self._call(name, *expr.args)

    _print_exp = _print_log = _print_sinh = _print_Function

    def _print_Piecewise(self, expr: sympy.Expr) -> str:  # noqa: N802
        *cases, last = expr.args
        if last.cond != sympy.true:
            raise TypeError(f"the last case must hold everywhere: {expr}")
        printed = self._print(last.expr)
        for case in reversed(cases):
            sides = f"{self._print(case.cond.lhs)}, {self._print(case.cond.rhs)}"
            test = f'q.holds({sides}, "{_relation(case.cond)}")'
            printed = f"({test} ? {self._print(case.expr)} : {printed})"
        return printed


def expression(expr: sympy.Expr) -> str:
    """Print an expression over the arithmetic ``q``.

    Parameters
    ----------
    expr : Expr
        On symbols that are named as in Python.

    Returns
    -------
    str
        A JavaScript expression.

    Raises
    ------
    TypeError
        If it holds what the arithmetic does not have.
    """
    printed = str(_Printer().doprint(expr))
    names = {symbol.name for symbol in expr.free_symbols}
    for word in re.findall(r"(?<![.\w])[A-Za-z_]\w*", printed):
        if word not in names | {"q"}:
            raise TypeError(f"no JavaScript for {word} in {expr}")
    return printed


def function(made: Formula) -> str:
    """Print a formula as an entry of a JavaScript object.

    Parameters
    ----------
    made : Formula
        The formula.

    Returns
    -------
    str
        Its name with its parameters; a function of an arithmetic and the arguments that gives
        its value and both sides of each condition of its domain, all of them when asked for;
        and of each condition the comparison, whether it keeps the queue stable, and its MathML.

    Raises
    ------
    TypeError
        If the formula uses what JavaScript's arithmetic here does not have.
    """
    printed = expression
    with _generic.named():
        value = made.function(*made.symbols)
        domain = [getattr(one, "comparison", one) for one in made.domain(*made.symbols)]
    sides = ", ".join(f"() => [{printed(one.lhs)}, {printed(one.rhs)}]" for one in domain)
    conditions = [
        [_relation(one), known.stability, _mathml.math(_written(made, known.relation))]
        for one, known in zip(domain, made.conditions, strict=True)
    ]
    names = [entry.name for entry in made.parameters]
    return (
        f"{made.name}: {{parameters: {json.dumps(names)},\n"
        f"  at: (q, {', '.join(names)}) => ({{value: () => {printed(value)}, sides: [{sides}]}}),\n"
        f"  domain: {json.dumps(conditions, ensure_ascii=False)}}}"
    )


def script(names: Iterable[str] | None = None) -> str:
    """Print formulas as one JavaScript file.

    Parameters
    ----------
    names : iterable of str, optional
        Names of the formulas; all of them unless told otherwise.

    Returns
    -------
    str
        A script that adds them to ``live.formulas``.

    Raises
    ------
    KeyError
        If there is no formula of a name.
    """
    chosen = REGISTRY if names is None else {name: REGISTRY[name] for name in sorted(set(names))}
    entries = ",\n".join(function(made) for made in chosen.values())
    return f"live.formulas = Object.assign(live.formulas || {{}}, {{\n{entries}\n}});\n"


def _relation(relation: sympy.Rel) -> str:
    return _RELATIONS[type(relation)]


def _written(made: Formula, relation: sympy.Rel) -> str:
    """LaTeX of a condition, in the symbols of the book."""
    names = {
        symbol: entry.latex for symbol, entry in zip(made.symbols, made.parameters, strict=True)
    }
    return str(sympy.latex(relation, symbol_names=names))
