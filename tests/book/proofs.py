"""Cells that prove: they end in zero or true, and not for every meaning of their names."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Iterator

import sympy
from nbformat import NotebookNode

from notebooks import called, tree

SHOWN = re.compile(r"[\[(]?(?:(?:0|True)(?:, ?)?)+[\])]?")
"""Output of a cell that proves: zero or True, perhaps several."""
OPERATIONS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


def shows(cell: NotebookNode) -> bool:
    """Whether a cell shows zeros that `simplify` found, or truths, and none of them is empty."""
    texts = [output.get("data", {}).get("text/plain", "").strip() for output in cell.outputs]
    shown = next(filter(SHOWN.fullmatch, texts), None)
    body = tree(cell.source).body
    if shown is None or not body or not isinstance(body[-1], ast.Expr):
        return False
    last = body[-1].value
    if "0" in shown and not any(called(node) == "simplify" for node in ast.walk(last)):
        return False
    values: dict[str, sympy.Expr] = {}
    for line in body:
        if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
            values[line.targets[0].id] = _outline(line.value, values)
    return not any(_empty(part, values) for part in _parts(last))


def _parts(shown: ast.expr) -> Iterator[ast.expr]:
    if isinstance(shown, (ast.Tuple, ast.List)):
        yield from shown.elts
    elif called(shown) == "Tuple":
        yield from shown.args  # type: ignore[attr-defined]
    else:
        yield shown


def _empty(part: ast.expr, values: dict[str, sympy.Expr]) -> bool:
    """Whether a part is zero or true whatever its names stand for."""
    if isinstance(part, ast.Compare):
        return _outline(part.left, values) == _outline(part.comparators[0], values)
    simplified = [call.args[0] for call in ast.walk(part) if called(call) == "simplify"]  # type: ignore[attr-defined]
    return any(_outline(one, values).is_number for one in simplified or [part])


def _outline(node: ast.expr, values: dict[str, sympy.Expr]) -> sympy.Expr:
    """Arithmetic of an expression; calls and names without a value in the cell are unknowns."""
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        left, right = _outline(node.left, values), _outline(node.right, values)
        return OPERATIONS[type(node.op)](left, right)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_outline(node.operand, values)
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return sympy.Integer(0) if node.value is True else sympy.sympify(node.value)
    return values.get(ast.unparse(node), sympy.Symbol(ast.unparse(node)))
