"""Everything public is documented, with a unit wherever a number goes in or out."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import pytest

import docstrings
import serving
from docstrings import Documented

EVERYTHING = docstrings.documented()


@pytest.mark.parametrize("one", EVERYTHING, ids=lambda one: one.name)
def test_the_docstring_is_complete(one: Documented) -> None:
    faults = docstrings.check(one)
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("name", [m.name for m in pkgutil.iter_modules(serving.__path__)])
def test_each_module_says_what_it_is(name: str) -> None:
    assert (import_module(f"serving.{name}").__doc__ or "").strip()


def test_functions_methods_properties_classes_and_formulas_are_looked_at() -> None:
    names = {one.name for one in EVERYTHING}
    assert names >= {
        *("serving.formulas.value", "serving.formulas.utilization", "serving.queues.departures"),
        *("serving.service.LinearService", "serving.service.LinearService.min_batch"),
        *("serving.service.LinearService.max_rate", "serving.service.LinearService.fit"),
    }


def test_formulas_are_documented_from_the_notation_table() -> None:
    utilization = next(one for one in EVERYTHING if one.name == "serving.formulas.utilization")
    rows = list(utilization.rows("Parameters"))
    assert ("t_req", "float, ndarray or Expr", "Time each request adds to a batch [s].") in rows


DOCUMENTED = """Time that a batch takes.

Parameters
----------
batch : float
    Size of the batch [requests].
*others : float
    More sizes [requests].
factor, offset : float, optional
    Numbers to correct by [1].
name : str
    What to call it.

Returns
-------
float
    Its time [s].

Raises
------
ValueError
    If it is too large.
"""


def faults_of(function: Callable[..., Any], doc: str) -> list[str]:
    function.__doc__ = doc
    return [fault.removeprefix("f: ") for fault in docstrings.check(Documented("f", function))]


def batch_time(batch, *others, factor=1, offset=0, name=""):
    if batch > 9:
        raise ValueError(name)
    return sum((batch, *others)) * factor + offset


def test_a_complete_docstring_has_no_fault() -> None:
    assert faults_of(batch_time, DOCUMENTED) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("Size of the batch [requests]", "Size", "give the unit of batch in square brackets"),
        ("Size of the batch [requests]", "Size [req]", "give the unit of batch in square brackets"),
        ("of the batch [requests]", "[s]", "the unit of batch is [requests] in the notation table"),
        ("Its time [s]", "Its time", "give the unit of the result in square brackets"),
        ("factor, offset", "factor", "document the parameter offset"),
        ("name : str", "label : str", "document the parameter name"),
        ("name : str", "name", "give the type of name"),
        ("ValueError\n", "TypeError\n", "say in a section Raises when it raises ValueError"),
        ("Time that a batch takes.\n", "", "begin with one line that says what it is"),
    ],
)
def test_a_fault_in_a_docstring_is_found(old: str, new: str, fault: str) -> None:
    assert old in DOCUMENTED
    assert fault in faults_of(batch_time, DOCUMENTED.replace(old, new, 1))


def test_a_missing_docstring_is_found() -> None:
    assert "begin with one line that says what it is" in faults_of(batch_time, "")


def test_a_row_of_no_parameter_is_found() -> None:
    extra = "name : str\n    What.\nsize : str\n    What."
    doc = DOCUMENTED.replace("name : str\n    What to call it.", extra)
    assert faults_of(batch_time, doc) == ["size is no parameter"]


def test_a_check_of_arguments_without_raises_is_found() -> None:
    def checked():
        return errors.number("x", 1)  # noqa: F821

    fault = "say in a section Raises what becomes of wrong arguments"
    assert faults_of(checked, "What it is.") == [fault]


def test_fields_and_properties_need_units_too() -> None:
    class Pair(NamedTuple):
        """Two numbers.

        Attributes
        ----------
        left : float
            One number [s].
        """

        left: float
        right: float

    class Server:
        """Server."""

        @property
        def rate(self) -> float:
            """Rate of service."""
            return 1.0

    assert docstrings.check(Documented("Pair", Pair)) == ["Pair: document the parameter right"]
    [rate] = docstrings.members(Documented("Server", Server))
    fault = "Server.rate: give the unit of the value in square brackets"
    assert docstrings.check(rate) == [fault]


def test_a_formula_without_source_is_found() -> None:
    formula = serving.formulas.utilization
    doc = inspect.getdoc(formula) or ""

    def bare(arrival_rate, batch, t_fixed, t_req): ...

    bare.formula = formula.formula
    assert faults_of(bare, doc) == []
    assert faults_of(bare, doc.replace("Source:", "From")) == [
        "give the source: a line 'Source: …'"
    ]
