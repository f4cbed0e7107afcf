"""Notation, formula sheet and mutations."""

import json

import pytest

import mutate
from serving import formulas, notation, sheet


def test_names_and_symbols_are_unique():
    entries = notation.TABLE
    assert len({entry.name for entry in entries}) == len(entries)
    assert len({entry.latex for entry in entries} | set(notation.LOCAL)) == len(entries) + len(
        notation.LOCAL
    )


def test_symbols_that_stand_for_a_formula_have_one():
    standing = {entry.formula for entry in notation.TABLE if entry.formula}
    assert standing == set(formulas.REGISTRY)
    with pytest.raises(KeyError, match="'rho' is not in the notation table"):
        notation.symbols("batch rho")


def test_the_sheet_has_every_formula_with_its_domain():
    text = sheet.formulas({n: f"{n:02}.ipynb" for n in range(1, 23)}).data
    for made in formulas.REGISTRY.values():
        [block] = [part for part in text.split("**`") if part.startswith(f"{made.name}`**")]
        assert made.latex in block and made.source in block
        assert f"chapter {made.chapter}]" in block and f"[{made.result.unit}]" in block
        assert all(condition in block for condition in sheet.domain(made))
    assert r"B \geq 1" in text


def test_the_notation_page_has_every_symbol():
    text = sheet.symbols().data
    assert all(f"${entry.latex}$" in text for entry in notation.TABLE)
    assert all(f"${latex}$" in text for latex in notation.LOCAL)


BLIND = mutate.Check("", lambda: True)


def test_a_mutant_that_nothing_notices_is_reported():
    function = formulas.accumulation_delay
    found = list(mutate.survivors([function], [BLIND]))
    # scaled; both operands of the division, the subtraction and the product; two conditions
    assert len(found) == 9
    assert all(unnoticed for *_, unnoticed in found)


def test_signs_calls_and_conditions_are_left_out():
    texts = [text for _, text, _ in mutate.survivors([formulas.quiet_probability], [BLIND])]
    assert "return exp(arrival_rate * time)" in texts
    assert "return -arrival_rate * time" in texts
    assert "without time >= 0" in texts


def test_a_domain_that_is_another_formulas_is_altered_there():
    texts = [text for _, text, _ in mutate.survivors([formulas.gathering_variance], [BLIND])]
    assert texts and not any(text.startswith("without") for text in texts)


def test_checks_that_name_the_formula_come_first():
    asked = []
    late = mutate.Check("nothing", lambda: asked.append("late") or True)
    soon = mutate.Check("rate_limit stands here", lambda: asked.append("soon") or True)
    list(mutate.survivors([formulas.rate_limit], [late, soon]))
    assert asked[:2] == ["soon", "late"]


def test_a_check_notices_and_the_formula_is_restored():
    function = formulas.accumulation_delay

    def refused(rate, batch):
        try:
            formulas.value(function, rate, batch)
        except ValueError as error:
            return "is required" in str(error)
        return False

    values = [mutate.Check("", lambda: function(100, 8) == 0.035)]
    errors = [
        mutate.Check("", lambda rate=r, batch=b: refused(rate, batch)) for r, b in [(0, 8), (1, 0)]
    ]
    found = {text: unnoticed for _, text, unnoticed in mutate.survivors([function], values)}
    assert [text for text in found if found[text]] == [
        "without arrival_rate > 0",
        "without batch >= 1",
    ]
    assert not any(unnoticed for *_, unnoticed in mutate.survivors([function], values + errors))
    assert function(100, 8) == 0.035
    assert refused(0, 8) and refused(1, 0)


def test_a_chapter_notices_by_what_its_cells_show(tmp_path):
    page = tmp_path / "01-x.ipynb"
    source = "from serving import formulas\nformulas.accumulation_delay(100, 8)"
    page.write_text(json.dumps({"cells": [{"cell_type": "code", "source": [source]}]}))
    check = mutate.chapter(page)
    assert check.run()
    found = list(mutate.survivors([formulas.accumulation_delay], [check]))
    assert found and {text for _, text, unnoticed in found if unnoticed} == {
        "without arrival_rate > 0",
        "without batch >= 1",
    }
