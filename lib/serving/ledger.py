"""Statements of the source, each with what the arithmetic makes of it.

An entry keeps what was said as named constants and a check that computes with them. Its verdict
follows from the check: change a constant, and the verdict follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import units
from .book import Table, table

ENTRIES: dict[str, Entry] = {}
"""Every entry by name, in the order in which they were made."""

Finding = tuple[bool, str]
"""Whether one reading of the statement is true, and the reading in words."""


@dataclass(frozen=True)
class Entry:
    """A statement of the source and the check that settles it.

    Attributes
    ----------
    name : str
        Its name in the ledger.
    text : str
        What the source says, in our words.
    check : callable
        Takes the constants, yields findings, and remarks in words that decide nothing; None while
        the statement is open.
    said : mapping of str to any
        The constants of the statement, as the source has them.
    otherwise : mapping of str to any
        For each constant another value, with which the verdict would be another.
    chapter : int
        The chapter that will settle an open statement [1].
    """

    name: str
    text: str
    check: Callable[..., Iterable[Finding | str]] | None = None
    said: Mapping[str, Any] = field(default_factory=dict)
    otherwise: Mapping[str, Any] = field(default_factory=dict)
    chapter: int = 0

    def __post_init__(self) -> None:
        ENTRIES[self.name] = self

    def findings(self, **constants: Any) -> list[Finding | str]:
        """Compute what is true of the statement.

        Parameters
        ----------
        **constants : any
            Values to take in the place of those that the source has.

        Returns
        -------
        list of tuple and str
            Findings and remarks, in order; empty while the statement is open.

        Raises
        ------
        TypeError
            If a constant is not one of the statement's.
        """
        if unknown := sorted(set(constants) - set(self.said)):
            raise TypeError(
                f"constants must be among {sorted(self.said)} for {self.name!r}, got {unknown}"
            )
        return [] if self.check is None else list(self.check(**{**self.said, **constants}))

    def verdict(self, **constants: Any) -> str:
        """Say in a word or three what becomes of the statement.

        Parameters
        ----------
        **constants : any
            Values to take in the place of those that the source has.

        Returns
        -------
        str
            "holds" if every reading is true, "does not hold" if none is, "holds in part" between,
            or "open" with the chapter that will settle it.

        Raises
        ------
        TypeError
            If a constant is not one of the statement's.
        """
        readings = [one[0] for one in self.findings(**constants) if not isinstance(one, str)]
        if not readings:
            return f"open, see chapter {self.chapter}"
        if all(readings):
            return "holds"
        return "holds in part" if any(readings) else "does not hold"

    def __repr__(self) -> str:
        return "\n".join(
            [f"{self.text} [{self.verdict()}]", *(f"  {one}" for one in self._lines())]
        )

    def _repr_markdown_(self) -> str:
        lines = "\n".join(f"- {line}" for line in self._lines())
        return f"{self.text} **{self.verdict()[:1].upper()}{self.verdict()[1:]}.**\n\n{lines}"

    def _lines(self) -> Iterable[str]:
        for one in self.findings():
            yield one if isinstance(one, str) else f"{'✓' if one[0] else '✗'} {one[1]}"


def says(
    name: str, text: str, otherwise: Mapping[str, Any], **said: Any
) -> Callable[[Callable[..., Iterable[Finding | str]]], Entry]:
    """Make an entry of the ledger from the function that checks it.

    Parameters
    ----------
    name : str
        Its name in the ledger.
    text : str
        What the source says, in our words.
    otherwise : mapping of str to any
        For each constant another value, with which the verdict would be another.
    **said : any
        The constants of the statement, as the source has them.

    Returns
    -------
    callable
        Decorator that turns the check into an `Entry`.

    Raises
    ------
    ValueError
        If ``otherwise`` does not name the constants that were said, or there are none.
    """
    if set(otherwise) != set(said) or not said:
        raise ValueError(
            f"otherwise must name each constant of {name!r}: {sorted(said)}, "
            f"got {sorted(otherwise)}"
        )
    return lambda check: Entry(name, text, check, said, otherwise)


def unsettled(name: str, text: str, chapter: int) -> Entry:
    """Make an entry that waits for its chapter.

    Parameters
    ----------
    name : str
        Its name in the ledger.
    text : str
        What the source says, in our words.
    chapter : int
        The chapter that will settle it [1].

    Returns
    -------
    Entry
        Open: no check, no constants.
    """
    return Entry(name, text, chapter=chapter)


def score() -> Table:
    """Count the verdicts of all entries made so far.

    Returns
    -------
    Table
        For each verdict how many entries it has, and their names.
    """
    which: dict[str, list[str]] = {"holds": [], "holds in part": [], "does not hold": []}
    for entry in ENTRIES.values():
        which.setdefault(entry.verdict().partition(",")[0], []).append(entry.name)
    return table(
        {
            "verdict": list(which),
            "statements": [len(names) for names in which.values()],
            "which": [", ".join(names) for names in which.values()],
        }
    )


def rounds(said: str, value: Any, what: str) -> Finding:
    """Compare a number as the source prints it with its value.

    Parameters
    ----------
    said : str
        The number with its unit or name, as in `serving.book.claim`.
    value : float
        Its value in SI units [any].
    what : str
        What the number is, in words.

    Returns
    -------
    tuple of bool and str
        Whether the value, rounded half up to the digits shown, is the number said; and both.

    Raises
    ------
    TypeError
        If ``value`` is not a real number.
    ValueError
        If ``said`` has no unit or name or not exactly one number, or ``value`` is not finite.

    Examples
    --------
    >>> rounds("56.1 ms", 0.0560769, "wait at B = 8")
    (True, 'wait at B = 8: said 56.1 ms, computed 56.077 ms')
    """
    numeral, _ = units.phrase(said)
    digits = len(numeral.partition(".")[2])
    precise = units.restated(said, value, digits + 2)
    return units.restated(said, value, digits) == said, f"{what}: said {said}, computed {precise}"
