"""Docstrings of the package: complete, with a unit wherever a number goes in or out."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, is_dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

from numpydoc.docscrape import NumpyDocString

import serving
from serving import notation
from serving.formulas import Formula

UNITS = {
    *("1", "any", "s", "ms", "s^2", "s^3", "1/s", "requests", "requests/s", "requests^2"),
    "tokens^2",
    *("batches", "requests/s^2"),
    *("batches/s", "tokens", "tokens/s", "tokens/request", "bytes", "bytes/s", "bytes/token"),
    *("operations", "operations/s", "operations/byte", "multiply-adds", "blocks"),
    *("money/s", "money/token"),
}
"""What may stand in square brackets."""

NUMERIC = re.compile(r"\b(?:int|float|array|array_like|ndarray|NDArray|ArrayLike)\b")
KEYS = re.compile(r"\b(?:dict|mapping) of int to\b")
"""Numbers that are keys are names, not quantities."""
BRACKETS = re.compile(r"\[([^\[\]]+)\]")
RAISES = re.compile(r"(?:errors\.(?:exact|number|integer|array)|(?:formulas\.)?(?:value|curve))\(")
"""Calls that check arguments, and so raise."""


@dataclass(frozen=True)
class Documented:
    """A public function, method, property or class and its full name."""

    name: str
    thing: Any

    @cached_property
    def doc(self) -> NumpyDocString:
        """Its parsed docstring."""
        return NumpyDocString(inspect.getdoc(self.thing) or "")

    @property
    def function(self) -> Callable[..., Any] | None:
        """Function behind it; None for a class."""
        if isinstance(self.thing, property):
            return self.thing.fget
        wrapped = getattr(self.thing, "__func__", getattr(self.thing, "func", self.thing))
        return wrapped if inspect.isfunction(wrapped) else None

    def rows(self, *titles: str) -> Iterator[tuple[str, str, str]]:
        """Name, type and words of each entry of some sections; joint entries are parted."""
        for title in titles:
            for row in self.doc[title]:
                for name in row.name.split(","):
                    yield name.strip(), row.type, " ".join(row.desc)


def modules() -> list[ModuleType]:
    """Public modules of the package."""
    names = [found.name for found in pkgutil.walk_packages(serving.__path__, "serving.")]
    return [serving, *(importlib.import_module(name) for name in names if "._" not in name)]


def documented() -> list[Documented]:
    """Everything public of the package, each thing once."""
    found: dict[int, Documented] = {}
    for module in modules():
        for name, thing in public(module):
            found.setdefault(id(thing), Documented(f"{module.__name__}.{name}", thing))
    everything = list(found.values())
    for one in list(everything):
        if inspect.isclass(one.thing):
            everything += members(one)
    return everything


def public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Functions and classes that a module defines, or hands on from a private or inner one."""
    handed_on = getattr(module, "__all__", ())
    for name, thing in vars(module).items():
        home = getattr(thing, "__module__", None) or ""
        inner = home.startswith(("serving._", "serving.formulas."))
        ours = home == module.__name__ or (name in handed_on and inner)
        if ours and not name.startswith("_") and callable(thing):
            yield name, thing


def members(owner: Documented) -> Iterator[Documented]:
    """Public methods and properties that a class defines itself."""
    for name, thing in vars(owner.thing).items():
        one = Documented(f"{owner.name}.{name}", thing)
        if not name.startswith("_") and one.function is not None:
            yield one


def check(one: Documented) -> list[str]:
    """What the docstring of one thing lacks."""
    faults = [*_summary(one), *_parameters(one), *_units(one), *_raises(one), *_source(one)]
    return [f"{one.name}: {fault}" for fault in faults]


def _summary(one: Documented) -> Iterator[str]:
    if len(one.doc["Summary"]) != 1 or not one.doc["Summary"][0].strip():
        yield "begin with one line that says what it is"


def _parameters(one: Documented) -> Iterator[str]:
    rows = {name: kind for name, kind, _ in one.rows("Parameters", "Attributes")}
    for name in parameters(one):
        bare = name.lstrip("*")
        if name not in rows and bare not in rows:
            yield f"document the parameter {name}"
        elif not rows.get(name, rows.get(bare)) and name == bare:
            yield f"give the type of {name}"
    for name in rows.keys() - set(parameters(one)):
        if inspect.isfunction(one.function) and not isinstance(one.thing, property):
            yield f"{name} is no parameter"


def parameters(one: Documented) -> list[str]:
    """Names of the parameters of a function, or of the fields of a class of its own."""
    if inspect.isclass(one.thing):
        fields = getattr(one.thing, "_fields", ())
        own = inspect.get_annotations(one.thing) if is_dataclass(one.thing) else {}
        return [name for name in [*fields, *own] if not name.startswith("_")]
    if one.function is None or isinstance(one.thing, property) or hasattr(one.thing, "func"):
        return []
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    signature = inspect.signature(one.function).parameters.values()
    return [stars.get(p.kind, "") + p.name for p in signature if p.name not in {"self", "cls"}]


def _units(one: Documented) -> Iterator[str]:
    for name, kind, words in one.rows("Parameters", "Attributes", "Returns"):
        what = name or "the result"
        if is_numeric(kind):
            units = UNITS & set(BRACKETS.findall(words))
            expected = declared_unit(name)
            if not units:
                yield f"give the unit of {what} in square brackets"
            elif expected and expected not in units:
                yield f"the unit of {what} is [{expected}] in the notation table"
    if isinstance(one.thing, property) or hasattr(one.thing, "func"):
        returned = str(inspect.get_annotations(one.function).get("return", ""))
        if NUMERIC.search(returned) and not UNITS & set(BRACKETS.findall(text(one))):
            yield "give the unit of the value in square brackets"


def is_numeric(kind: str) -> bool:
    """Whether the type in a docstring is of numbers."""
    return bool(NUMERIC.search(KEYS.sub("", kind)))


def declared_unit(name: str) -> str:
    """Return the unit that the notation table declares for a name, empty if it has none."""
    return next((entry.unit for entry in notation.TABLE if entry.name == name), "")


def text(one: Documented) -> str:
    """Docstring of a thing."""
    return inspect.getdoc(one.thing) or ""


def _raises(one: Documented) -> Iterator[str]:
    function = one.function
    if inspect.isclass(one.thing):
        function = vars(one.thing).get("__post_init__")
    if function is None:
        return
    source = textwrap.dedent(inspect.getsource(function))
    listed = {name or kind for name, kind, _ in one.rows("Raises")}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Raise) and (raised := _raised(node)) and raised not in listed:
            yield f"say in a section Raises when it raises {raised}"
    if RAISES.search(source) and not listed:
        yield "say in a section Raises what becomes of wrong arguments"


def _raised(node: ast.Raise) -> str:
    called = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    name = getattr(called, "attr", getattr(called, "id", ""))
    return name if name[:1].isupper() else ""


def _source(one: Documented) -> Iterator[str]:
    made = getattr(one.thing, "formula", None)
    if isinstance(made, Formula) and not re.search(r"^Source: \S", text(one), re.M):
        yield "give the source: a line 'Source: …'"
