"""Rows of trace files: comma-separated values, and lines of JSON."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

Row = tuple[Fraction, int, int]
"""Time in seconds, tokens of the prompt, tokens of the answer."""
HEADERS = (("TIMESTAMP", "ContextTokens", "GeneratedTokens"), ("time", "input", "output"))
"""Columns that are read: those of the public Azure traces, or seconds and tokens."""
KEYS = ("timestamp", "input_length", "output_length")
"""Entries of a line of JSON that are read: those of the public Mooncake traces."""
UNITS = {"s": Fraction(1), "ms": Fraction(1, 1000)}
"""Seconds of a unit of time."""
DATED = re.compile(r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:?\d\d)?")
DECIMAL = re.compile(r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d{1,3})?")
WHOLE = re.compile(r"\d{1,15}")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def separated(path: Path, lines: Iterable[str]) -> Iterator[Row]:
    """Rows of comma-separated values below a line that names the columns."""
    table = csv.reader(lines)
    header = [name.strip() for name in next(table, [])]
    names = next((known for known in HEADERS if set(known) <= set(header)), None)
    if names is None:
        wanted = " or ".join(", ".join(known) for known in HEADERS)
        raise ValueError(f"{path}, line 1: the columns must be {wanted}, got {', '.join(header)!r}")
    time = _moment if names is HEADERS[0] else _decimal("a number of seconds")
    places = [header.index(name) for name in names]
    for number, row in enumerate(table, start=2):
        if row:
            texts = [row[place].strip() if place < len(row) else "" for place in places]
            yield _row(f"{path}, line {number}, column", names, time, texts)


def objects(path: Path, lines: Iterable[str], unit: str | None) -> Iterator[Row]:
    """Rows of objects, each a line of JSON."""
    wanted = "a number of milliseconds, whole unless time_unit says what it counts"
    time = _decimal(wanted if unit is None else f"a number of {unit}")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:  # numbers stay the digits that they are written in
            entry: Any = json.loads(line, parse_float=str, parse_int=str, parse_constant=str)
        except ValueError as error:
            raise ValueError(f"{path}, line {number} is not JSON: {error}") from None
        if not isinstance(entry, dict) or not set(KEYS) <= set(entry):
            raise ValueError(
                f"{path}, line {number} must be an object with {', '.join(KEYS)}, "
                f"got {line.strip()[:80]!r}"
            )
        texts = [text if isinstance(text := entry[key], str) else repr(text) for key in KEYS]
        place = f"{path}, line {number}, entry"
        moment, prompt, answer = _row(place, KEYS, time, texts)
        if unit is None and moment.denominator != 1:
            raise ValueError(f"{place} {KEYS[0]}: it must be {wanted}, got {texts[0]!r}")
        yield moment * UNITS[unit or "ms"], prompt, answer


Reader = Callable[[str], tuple[Any, str]]
"""Gives what a text says, or None, and what the text should have said."""


def _row(place: str, names: Iterable[str], time: Reader, texts: list[str]) -> Row:
    entries: list[Any] = []
    for name, reader, text in zip(names, (time, _tokens, _tokens), texts, strict=True):
        value, wanted = reader(text)
        if value is None:
            raise ValueError(f"{place} {name}: it must be {wanted}, got {text!r}")
        entries.append(value)
    return entries[0], entries[1], entries[2]


def _moment(text: str) -> tuple[Fraction | None, str]:
    wanted = "a date and time such as 2023-11-16 18:15:46.68"
    if not (found := DATED.fullmatch(text)):
        return None, wanted
    day, fraction, zone = found.groups()
    try:
        moment = datetime.fromisoformat(day + (zone or "+00:00"))
    except ValueError:
        return None, wanted
    whole = (moment - EPOCH) // timedelta(seconds=1)
    return whole + Fraction("0" + (fraction or ".0")), wanted


def _decimal(wanted: str) -> Reader:
    def read(text: str) -> tuple[Fraction | None, str]:
        """Number as it is written, without rounding."""
        found = DECIMAL.fullmatch(text) and math.isfinite(float(text))
        return Fraction(text) if found else None, wanted

    return read


def _tokens(text: str) -> tuple[int | None, str]:
    return int(text) if WHOLE.fullmatch(text) else None, "a whole number of tokens"
