"""New measurements reach the prose: claims and the sentences that quote them change together."""

from __future__ import annotations

import pytest
from nbformat import v4

import restate
from synthetic import code, markdown

SETUP = "from serving.book import claim, given"


def notebook(*sources: str) -> object:
    return v4.new_notebook(cells=[code(SETUP), *(code(source) for source in sources)])


def test_a_claim_that_no_longer_holds_is_found_with_the_digits_it_shows() -> None:
    found = restate.phrases(notebook('claim("12.5 ms", 0.01349)\ngiven("8 requests", 8)'))
    assert found == {"12.5 ms": "13.5 ms"}


def test_two_values_of_one_phrase_are_refused() -> None:
    with pytest.raises(SystemExit, match="'5 %' is claimed of '6 %' and of '7 %'"):
        restate.phrases(notebook('claim("5 %", 0.06)', 'claim("5 %", 0.07)'))


def test_a_given_that_no_longer_holds_is_an_error() -> None:
    with pytest.raises(AssertionError, match="the text says '8 requests'"):
        restate.phrases(notebook('given("8 requests", 9)'))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("It takes 5 ms.", "It takes 6 ms."),
        ("It takes 5\nms.", "It takes 6 ms."),
        ("It takes 15 ms, or 1.5 ms, or 5 msec.", "It takes 15 ms, or 1.5 ms, or 5 msec."),
        ("From 5 ms to 6 ms.", "From 6 ms to 5 ms."),  # all at once
        ('claim("5 ms", x)', 'claim("6 ms", x)'),
    ],
)
def test_phrases_are_replaced_where_they_stand_as_a_whole(before: str, after: str) -> None:
    assert restate.put(before, {"5 ms": "6 ms", "6 ms": "5 ms"}) == after
    assert restate.put(before, {}) == before


def test_the_number_of_a_named_quantity_follows_in_a_formula() -> None:
    changed = restate.numerals({"T_fixed = 5 ms": "T_fixed = 6 ms", "5 s": "6 s"})
    assert restate.put(r"$T_{\text{fixed}}$ = 5 ms", changed) == r"$T_{\text{fixed}}$ = 6 ms"


def test_markdown_is_not_run() -> None:
    book = v4.new_notebook(cells=[code(SETUP), markdown("claim(")])
    assert restate.phrases(book) == {}
