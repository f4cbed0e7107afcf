"""Alter each formula a little and report the alterations that nothing notices.

A formula is checked by tests that know its values from elsewhere and by the chapters that derive
it. To see whether they would notice, every formula is scaled by one percent, each operand of each
operation in it is dropped in turn, each sign and function is left out, and so is each condition of
its domain: a test must expect an error outside of it. The tests that compare a formula with its
own equation take no part: they would notice everything and prove nothing.

    python tools/mutate.py                      every formula
    python tools/mutate.py surrogate_wait       one of them
"""

from __future__ import annotations

import ast
import contextlib
import copy
import inspect
import io
import itertools
import json
import os
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

os.environ["SERVING_STILL"] = "1"
os.environ["MPLBACKEND"] = "agg"

ROOT = Path(__file__).resolve().parent.parent
TESTS = (
    *("test_attention.py", "test_batching.py", "test_constraint.py", "test_domains.py"),
    *("test_exactly.py", "test_fleet.py", "test_formulas.py", "test_greedy.py"),
    *("test_kvcache.py", "test_operating.py", "test_paging.py", "test_phases.py"),
    *("test_priorities.py",),
    *("test_roofline.py", "test_service.py", "test_speculation.py", "test_surrogate.py"),
    *("test_tails.py", "test_traffic.py", "test_window.py", "test_workers.py"),
)


@dataclass(frozen=True)
class Check:
    """A file of tests or a chapter: its text, and whether everything is as it should be.

    False or an exception means that it noticed.
    """

    text: str
    run: Callable[[], bool]


def mutants(function: Callable[..., object]) -> Iterator[tuple[str, CodeType]]:
    """Yield each alteration of a formula: what it is now, and its code."""
    tree = _tree(function)
    tree.decorator_list = []
    for altered in [_scaled(tree), *_dropped(tree)]:
        ast.fix_missing_locations(altered)
        scope = dict(function.__globals__)
        exec(compile(ast.Module([altered], []), f"<{tree.name}>", "exec"), scope)
        text = "; ".join(ast.unparse(line) for line in altered.body[1:])
        yield text, scope[tree.name].__code__


def unguarded(function: Callable[..., object]) -> Iterator[tuple[str, CodeType]]:
    """Yield the domain of a formula without each of its conditions: which, and its code.

    A domain that is another formula's is altered there.
    """
    [decorator] = _tree(function).decorator_list
    assert isinstance(decorator, ast.Call)
    [domain] = [one.value for one in decorator.keywords if one.arg == "domain"]
    if not isinstance(domain, ast.Lambda):
        return
    assert isinstance(domain.body, ast.Tuple)
    for condition in domain.body.elts:
        rest = ast.Tuple([one for one in domain.body.elts if one is not condition], ast.Load())
        altered = ast.fix_missing_locations(ast.Expression(ast.Lambda(domain.args, rest)))
        without = eval(compile(altered, "<domain>", "eval"), dict(function.__globals__))
        yield f"without {ast.unparse(condition)}", without.__code__


def _tree(function: Callable[..., object]) -> ast.FunctionDef:
    [tree] = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(tree, ast.FunctionDef)
    return tree


def _scaled(tree: ast.FunctionDef) -> ast.FunctionDef:
    altered = copy.deepcopy(tree)
    last = altered.body[-1]
    assert isinstance(last, ast.Return) and last.value is not None
    last.value = ast.BinOp(last.value, ast.Mult(), ast.parse("101 / 100", mode="eval").body)
    return altered


def _dropped(tree: ast.FunctionDef) -> Iterator[ast.FunctionDef]:
    for number, node in enumerate(ast.walk(tree)):
        for part in range(len(_parts(node))):
            altered = copy.deepcopy(tree)
            target = next(itertools.islice(ast.walk(altered), number, None))
            yield _Replace(target, _parts(target)[part]).visit(altered)


def _parts(node: ast.AST) -> list[ast.expr]:
    """What may stand in the place of an operation or a call: one operand or argument of it."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    return node.args if isinstance(node, ast.Call) else []


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else super().visit(node)


def survivors(
    functions: Iterable[Callable[..., object]], checks: Iterable[Check]
) -> Iterator[tuple[str, str, bool]]:
    """Yield each mutant: name of the formula, its altered text, whether nothing noticed.

    Checks that name the formula come first: one of them will notice most mutants.
    """
    checks = list(checks)
    for function in functions:
        checks.sort(key=lambda check: function.__name__ not in check.text)  # noqa: B023
        made = function.formula  # type: ignore[attr-defined]
        altered = [(function, *mutant) for mutant in mutants(function)]
        altered += [(made.domain, *mutant) for mutant in unguarded(function)]
        for target, text, code in altered:
            original, target.__code__ = target.__code__, code
            made.__dict__.pop("conditions", None)  # those of the domain as it was
            try:
                unnoticed = all(_passes(check) for check in checks)
            finally:
                target.__code__ = original
                made.__dict__.pop("conditions", None)
            yield function.__name__, text, unnoticed


def _passes(check: Check) -> bool:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            return check.run()
        except Exception:
            return False


def tests(path: Path) -> Check:
    """Return a check that runs tests of formulas against values from elsewhere."""
    import pytest

    options = ("-x", "-q", "-p", "no:cacheprovider", str(path))
    return Check(path.read_text("utf-8"), lambda: pytest.main([*options]) == 0)


def chapter(path: Path) -> Check:
    """Return a check that runs a chapter and compares what its cells show with the first run."""
    text = path.read_text("utf-8")
    cells = json.loads(text)["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    expected: list[str] = []

    def run() -> bool:
        """Whether the cells show what they showed first."""
        shown = _shown(sources)
        expected.extend(shown if not expected else [])
        return shown == expected

    return Check(text, run)


def _shown(sources: list[str]) -> list[str]:
    """Run cells as a notebook does; the text of each cell's last expression."""
    import matplotlib.pyplot as plt

    scope: dict[str, object] = {}
    shown = []
    for source in sources:
        tree = ast.parse(source)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "cell", "exec"), scope)
        if last is not None:
            shown.append(repr(eval(compile(ast.Expression(last.value), "cell", "eval"), scope)))
    plt.close("all")
    return shown


def main(names: list[str]) -> int:
    """Print every mutant that survived; return 1 if there is one."""
    from serving.formulas import REGISTRY

    if unknown := sorted(set(names) - set(REGISTRY)):
        print(
            f"not a formula: {', '.join(unknown)}; there are {', '.join(REGISTRY)}", file=sys.stderr
        )
        return 2
    functions = [made.function for name, made in REGISTRY.items() if not names or name in names]
    checks = [tests(ROOT / "tests" / "lib" / name) for name in TESTS]
    checks += [chapter(path) for path in sorted((ROOT / "chapters").glob("[0-9]*.ipynb"))]
    for check in checks:
        if not _passes(check):
            print("something fails without any alteration: run make test", file=sys.stderr)
            return 2
    count = 0
    left: list[tuple[str, str]] = []
    for name, text, unnoticed in survivors(functions, checks):
        count += 1
        print(f"{'UNNOTICED' if unnoticed else 'noticed  '} {name}: {text}", flush=True)
        left += [(name, text)] if unnoticed else []
    print(f"{count} mutants, {count - len(left)} noticed, {len(left)} unnoticed")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
