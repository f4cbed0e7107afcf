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


def test_a_mutant_that_nothing_notices_is_reported():
    function = formulas.accumulation_delay
    found = list(mutate.survivors([function], [lambda: True]))
    # scaled, and both operands of the division, the subtraction and the product
    assert len(found) == 7
    assert all(unnoticed for *_, unnoticed in found)


def test_a_check_notices_and_the_formula_is_restored():
    function = formulas.accumulation_delay
    checks = [lambda: function(100, 8) == 0.035]
    assert not any(unnoticed for *_, unnoticed in mutate.survivors([function], checks))
    assert function(100, 8) == 0.035


def test_a_chapter_notices_by_what_its_cells_show(tmp_path):
    page = tmp_path / "01-x.ipynb"
    source = "from serving import formulas\nformulas.accumulation_delay(100, 8)"
    page.write_text(json.dumps({"cells": [{"cell_type": "code", "source": [source]}]}))
    check = mutate.chapter(page)
    assert check()
    found = list(mutate.survivors([formulas.accumulation_delay], [check]))
    assert found and not any(unnoticed for *_, unnoticed in found)
