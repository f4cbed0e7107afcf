"""Every numeric function gives a right number or an error that names the argument."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import numeric
from docstrings import Documented
from invariants import INVARIANTS, exact, unstable
from serving import LinearService, UnstableError, formulas, surrogate

PROFILE = settings(
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
FUNCTIONS = numeric.functions()
BRIEF = settings(PROFILE, max_examples=50)
CLOSED_FORMS = list(formulas.REGISTRY.values())

SINGLE = [
    pytest.param(one, name, kind, id=f"{one.name}-{name}")
    for one in FUNCTIONS.values()
    for name, kind, _ in one.rows("Parameters")
    if not name.startswith("*")
]


def untried(one: Documented) -> list[str]:
    """What is missing before a function can be tried."""
    tables = {"STRATEGIES": numeric.STRATEGIES, "EXTREMES": numeric.EXTREMES}
    tables["TYPICAL"] = numeric.TYPICAL
    missing = [
        f"add {argument!r} to numeric.{table}, for {one.name}"
        for argument in numeric.arguments(one)
        for table, values in tables.items()
        if numeric.key(one, argument) not in values
    ]
    if one.name not in INVARIANTS:
        missing.append(f"write what is true of each result of {one.name} in invariants.INVARIANTS")
    return missing


@pytest.mark.parametrize("one", FUNCTIONS.values(), ids=FUNCTIONS)
def test_every_numeric_function_is_tried(one: Documented) -> None:
    assert untried(one) == []


def test_a_new_function_without_strategies_is_found() -> None:
    def service_time(batch: float, watts: float) -> float:
        return batch * watts

    missing = untried(Documented("serving.service.service_time", service_time))
    assert "add 'watts' to numeric.STRATEGIES, for serving.service.service_time" in missing
    assert not any("'batch'" in fault for fault in missing)
    assert "write what is true" in missing[-1]


def test_the_functions_that_take_numbers_are_found() -> None:
    assert FUNCTIONS.keys() >= {
        *("serving.service.LinearService", "serving.service.LinearService.min_batch"),
        *("serving.surrogate.response", "serving.queues.departures"),
    }


def names_in(error: Exception, names: list[str]) -> bool:
    more = ["t_fixed", "t_req"] if {"self", "service"} & set(names) else []
    return any(name in str(error) for name in [*names, *more])


@pytest.mark.parametrize("one", FUNCTIONS.values(), ids=FUNCTIONS)
@PROFILE
@given(data=st.data())
def test_a_result_is_right_or_the_error_names_an_argument(one: Documented, data: Any) -> None:
    try_out(one, data.draw(numeric.drawn(one), label="arguments"))


@pytest.mark.parametrize("one", FUNCTIONS.values(), ids=FUNCTIONS)
def test_extremes_give_a_right_result_or_an_error_that_names_them(one: Documented) -> None:
    for arguments in numeric.combinations(one):
        try:
            try_out(one, arguments)
        except Exception as error:
            pytest.fail(f"{one.name} with {arguments}: {type(error).__name__}: {error}")


def try_out(one: Documented, arguments: dict[str, Any]) -> None:
    """Call a function, and check its result or its error."""
    try:
        result = numeric.call(one)(**arguments)
    except UnstableError as error:
        assert names_in(error, list(arguments))
        unstable(error, arguments)
    except (TypeError, ValueError) as error:
        assert names_in(error, list(arguments)), f"{error!r} names none of {list(arguments)}"
    else:
        INVARIANTS[one.name](result, **arguments)


@pytest.mark.parametrize(("one", "name", "kind"), SINGLE)
def test_a_wrong_argument_is_named_with_its_value(one: Documented, name: str, kind: str) -> None:
    right = {name: numeric.TYPICAL[numeric.key(one, name)] for name in numeric.arguments(one)}
    assert numeric.call(one)(**right) is not None
    for value in numeric.wrong(name, kind):
        with pytest.raises((TypeError, ValueError)) as raised:
            numeric.call(one)(**right | {name: value})
        message = str(raised.value)
        assert name in message, f"{name} = {value!r}: {message!r} does not name it"
        assert shows(message, value), f"{name} = {value!r}: {message!r} does not show it"


def shows(message: str, value: Any) -> bool:
    """Whether a message shows a value, or the entry of it that is wrong."""
    entries = [value, *np.atleast_1d(np.array(value, dtype=object)).flat]
    texts = {repr(x) for x in entries} | {str(x) for x in entries}
    texts |= {str(float(x)) for x in entries if isinstance(x, (int, Fraction)) and abs(x) < 1e308}
    return any(text in message for text in texts)


@pytest.mark.parametrize("made", CLOSED_FORMS, ids=lambda made: made.name)
@BRIEF
@given(data=st.data())
def test_a_closed_form_is_right_inside_its_domain(made: formulas.Formula, data: Any) -> None:
    names = [entry.name for entry in made.parameters]
    drawn = [
        data.draw(numeric.NARROW.get((made.name, name), numeric.numbers), label=name)
        for name in names
    ]
    fractions = [sympy.Rational(x.numerator, x.denominator) for x in map(exact, drawn)]
    inside = all(bool(holds) for holds in made.holds(tuple(fractions)))
    try:
        result = formulas.value(made.function, *drawn)
    except ValueError as error:
        assert any(name in str(error) for name in names)
        assert not inside or "too large" in str(error)
        return
    assert inside and isinstance(result, float) and math.isfinite(result)
    expected = sympy.N(made.function(*fractions), 30, maxn=2000)  # near 1, a log needs digits
    assert abs(sympy.Float(result, 30) - expected) <= 1e-9 * abs(expected) + 1e-300


@pytest.mark.parametrize("made", CLOSED_FORMS, ids=lambda made: made.name)
def test_a_closed_form_names_a_wrong_argument(made: formulas.Formula) -> None:
    right = {entry.name: 1 for entry in made.parameters}
    for name in right:
        for value in [*numeric.WRONG, *numeric.WRONG_ARRAYS]:
            with pytest.raises((TypeError, ValueError)) as raised:
                formulas.value(made.function, **right | {name: value})
            assert name in str(raised.value), f"{name} = {value!r}: {raised.value}"


@pytest.mark.parametrize("made", CLOSED_FORMS, ids=lambda made: made.name)
@BRIEF
@given(data=st.data())
def test_a_curve_has_the_value_inside_and_infinity_outside(
    made: formulas.Formula, data: Any
) -> None:
    drawn = [data.draw(st.lists(numeric.decimals, min_size=3, max_size=3)) for _ in made.parameters]
    curve = formulas.curve(made.function, *drawn)
    assert curve.shape == (3,) and curve.dtype == np.float64
    for place, point in zip(curve, zip(*drawn, strict=True), strict=True):
        try:
            value = formulas.value(made.function, *point)
        except ValueError:
            value = math.inf
        assert place == pytest.approx(value, rel=1e-6)


def critical() -> Iterator[tuple[float, int, LinearService]]:
    """Rates, batches and services, all short decimals, at a load of exactly one."""
    for batch, fixed, each in product(range(1, 33), (1, 2, 9, 20, 50), (2, 3, 5, 6, 10, 12)):
        arrival_rate = Fraction(batch * 10_000, 10 * fixed + each * batch)
        if 2**99 * 5**99 % arrival_rate.denominator == 0:
            yield float(arrival_rate), batch, LinearService(fixed / 1000, each / 10_000)


def test_a_load_of_exactly_one_is_unstable_however_it_is_asked() -> None:
    cases = [case for case in critical() if len(str(case[0])) < 9]
    assert len(cases) > 50
    for rate, batch, service in cases:
        assert service.min_batch(rate) == batch + 1
        for sizes in (batch, [batch], np.array([float(batch), batch + 5])):
            with pytest.raises(UnstableError):
                surrogate.response(rate, sizes, service)
                pytest.fail(f"response({rate}, {sizes}, {service}) is given")
        arguments = (rate, [batch], service.t_fixed, service.t_req)
        assert formulas.curve(formulas.surrogate_wait, *arguments).tolist() == [math.inf]


@pytest.mark.parametrize("made", CLOSED_FORMS, ids=lambda made: made.name)
def test_an_array_gives_what_each_of_its_numbers_gives(made: formulas.Formula) -> None:
    names = [entry.name for entry in made.parameters]
    points = list(product(numeric.EXTREME, repeat=len(names)))
    for point in Random(made.name).sample(points, min(len(points), 150)):
        one, many = (either(made, names, x) for x in (point, [[y] for y in point]))
        if many is not None:
            assert one is not None, f"{made.name}{point} is an error, but not in an array"
            [number] = many
            assert number == pytest.approx(one, rel=1e-9, abs=1e-300), f"{made.name}{point}"


def either(made: formulas.Formula, names: list[str], arguments: Any) -> Any:
    """Value of a formula, None where it is an error that names an argument."""
    try:
        return formulas.value(made.function, *arguments)
    except ValueError as error:
        assert any(name in str(error) for name in names), f"{error!r} names none of {names}"
        return None


@pytest.mark.parametrize("made", CLOSED_FORMS, ids=lambda made: made.name)
def test_arrays_of_different_lengths_are_named(made: formulas.Formula) -> None:
    names = [entry.name for entry in made.parameters]
    if len(names) > 1:
        with pytest.raises(ValueError) as raised:
            formulas.value(made.function, [1, 2], *([1, 2, 3] for _ in names[1:]))
        assert any(name in str(raised.value) for name in names), str(raised.value)
