"""The ledger: every statement of the source has a verdict that follows from its constants."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path

import pytest

import notebooks
from serving.ledger import Entry, rounds, says, unsettled

PAGE = notebooks.ROOT / "chapters" / "appendix-ledger.ipynb"
AUDIT = {
    "holds": {"asymptote", "window-formulas", "bmin-7.14", "rho-target-monotone", "wait-56-16"}
    | {"few-ms", "rho-16", "kv-9.66", "kv-30", "two-percent-2.33"},
    "holds in part": {"t-req-unit", "targets", "argmin-8", "little-check", "quadratic"}
    | {"p99-exp", "p50-linear", "kv-formula-d", "optimum-not-maximum", "rho-ceiling"}
    | {"frag-60-80"},
    "does not hold": {"100-tokens", "t-fixed-attention", "gpt3-feasible", "below-8-unstable"}
    | {"8-is-stability-threshold", "near-saturation", "little-9.14", "surrogate-wait"}
    | {"kv-32-row", "kv-exceeds-weights", "candidates", "step5-largest", "rho-below-half"}
    | {"p99-gauss", "doubling", "tradeoff-figure"},
}
"""What an audit of the source found that was made by hand, before the ledger."""


@cache
def entries() -> dict[str, Entry]:
    """Entries of the page by name, from running its cells."""
    scope: dict[str, object] = {}
    for cell in notebooks.read(PAGE).cells:
        if cell.cell_type == "code":
            exec(compile(cell.source, cell.id, "exec"), scope)
    found = [one for one in scope.values() if isinstance(one, Entry)]
    assert len(found) == len({one.name for one in found})
    return {one.name: one for one in found}


def test_every_claim_of_the_audit_stands_in_the_ledger() -> None:
    folder = os.environ.get("SERVING_DATA")
    if not folder:
        pytest.skip("SERVING_DATA is not set: the audit's list is not here")
    audit = json.loads((Path(folder) / "reference" / "claims.json").read_text("utf-8"))
    assert sorted(entries()) == sorted(claim["id"] for claim in audit["claims"])


def test_verdicts_are_those_of_the_audit() -> None:
    verdicts = {name: one.verdict() for name, one in entries().items() if one.check}
    assert verdicts == {name: word for word, names in AUDIT.items() for name in names}


def test_another_constant_gives_another_verdict() -> None:
    for one in entries().values():
        for name, value in one.otherwise.items():
            assert one.verdict(**{name: value}) != one.verdict(), f"{one.name}: {name} = {value}"


def test_an_open_statement_names_a_chapter_that_is_not_written() -> None:
    written = {notebooks.chapter_number(path.name) for path in notebooks.notebooks()}
    still = [one for one in entries().values() if one.check is None]
    assert all(1 <= one.chapter <= 22 and one.chapter not in written for one in still)


def test_a_verdict_follows_from_the_readings() -> None:
    @says("even", "2 is even and less than 5.", otherwise={"number": 3}, number=2)
    def even(number: int):
        yield number % 2 == 0, "even"
        yield number < 5, "less than 5"
        yield "a remark"

    assert [even.verdict(number=n) for n in (2, 3, 7)] == [
        *("holds", "holds in part", "does not hold"),
    ]
    assert repr(even) == "2 is even and less than 5. [holds]\n  ✓ even\n  ✓ less than 5\n  a remark"
    with pytest.raises(TypeError, match=r"constants must be among \['number'\].*'digit'"):
        even.verdict(digit=2)
    with pytest.raises(ValueError, match="otherwise must name each constant of 'even'"):
        says("even", "2 is even.", otherwise={}, number=2)


def test_an_open_statement_says_so() -> None:
    assert unsettled("far", "Far away.", chapter=22).verdict() == "open, see chapter 22"


@pytest.mark.parametrize(
    ("said", "holds"), [("56.1 ms", True), ("56.08 ms", True), ("56.0 ms", False)]
)
def test_a_number_is_right_to_the_digits_that_it_shows(said: str, holds: bool) -> None:
    assert rounds(said, 0.0560769, "wait")[0] is holds
