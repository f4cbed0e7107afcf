"""Text of a file of measurements: its encoding, its JSON, and where in it a fault stands."""

from __future__ import annotations

import codecs
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MARKS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""How a file begins that is text in another encoding than UTF-8."""


def fault(file: str, row: int, column: Any, what: str) -> ValueError:
    """Make the error that tells file, row and column."""
    where = f"column {column}" if isinstance(column, int) else f"column {column!r}"
    return ValueError(f"path {file!r}: row {row}, {where}: {what}")


def text(path: Any) -> tuple[str, str]:
    """Read the name of a file and its text."""
    if not isinstance(path, (str, Path)):
        raise TypeError(f"path must be the path of a file, got {path!r}")
    file = str(path)
    try:
        raw = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise ValueError(f"path {file!r} cannot be read: {error}") from None
    if not raw.removeprefix(codecs.BOM_UTF8).strip():
        raise ValueError(f"path {file!r}: row 1, column 1: the file is empty")
    if raw.startswith(MARKS):
        raise fault(file, 1, 1, "must be UTF-8, is UTF-16 or UTF-32: save it as UTF-8")
    try:
        read = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row, column = position(raw, error.start, b"\n")
        byte = raw[error.start]
        raise fault(
            file, row, column, f"must be UTF-8, byte {byte:#04x} is not: save it as UTF-8"
        ) from None
    if "\0" in read:
        raise fault(
            file, *position(read, read.index("\0"), "\n"), "must be text, holds a zero byte"
        )
    return file, read


def position(read: Any, index: int, newline: Any) -> tuple[int, int]:
    """Row and column of a place in a text, both from 1."""
    return read.count(newline, 0, index) + 1, index - read.rfind(newline, 0, index)


@dataclass(frozen=True)
class Node:
    """A value of a JSON file, which knows where it stands."""

    file: str
    row: int
    value: Any = field(repr=False)
    column: str = ""

    def at(self, *keys: str) -> Node:
        """Go to what stands under some keys; None where there is nothing."""
        found, path = self.value, self.column
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
            path = f"{path}.{key}" if path else key
        return Node(self.file, self.row, found, path)

    def first(self, *paths: tuple[str, ...]) -> Node:
        """Go to the first of several places where something stands, else to the first."""
        found = [self.at(*path) for path in paths]
        return next((node for node in found if node.value is not None), found[0])

    def each(self) -> Iterator[Node]:
        """Go through a list."""
        if not isinstance(self.value, list):
            raise self.wrong("must be a list")
        for index, value in enumerate(self.value):
            yield Node(self.file, self.row, value, f"{self.column}[{index}]")

    def wrong(self, rule: str) -> ValueError:
        """Make the error that names this place and its value."""
        if self.value is None:
            return fault(self.file, self.row, self.column, f"{rule}, is missing")
        shown = repr(self.value)
        return fault(self.file, self.row, self.column, f"{rule}, got {shown[:60]}")

    def number(self, *, zero: bool = False) -> float:
        """Read a finite number above 0, or at least 0."""
        rule = (
            "must be a finite number of at least 0" if zero else "must be a finite number above 0"
        )
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)):
            raise self.wrong(rule)
        try:
            value = float(self.value)
        except OverflowError:
            raise self.wrong(rule) from None
        if not (math.isfinite(value) and (value > 0 or (zero and value == 0))):
            raise self.wrong(rule)
        return value

    def optional(self, *, zero: bool = False) -> float | None:
        """Read a number that may be missing."""
        return None if self.value is None else self.number(zero=zero)

    def named(self) -> list[str]:
        """Names of the fields; none where there is nothing."""
        if self.value is not None and not isinstance(self.value, dict):
            raise self.wrong("must be an object")
        return [] if self.value is None else list(self.value)

    def count(self, *, zero: bool = False) -> int | None:
        """Read a whole number that may be missing."""
        if self.value is None:
            return None
        number = self.number(zero=zero)
        if number != int(number):
            raise self.wrong("must be a whole number")
        return int(number)

    def numbers(self) -> NDArray[np.float64] | None:
        """Read a list of numbers of at least 0 that may be missing."""
        if self.value is None:
            return None
        return np.array([entry.number(zero=True) for entry in self.each()], dtype=np.float64)


def documents(file: str, read: str) -> list[Node]:
    """Read one JSON object after another, as tools append them."""
    decoder, found, index = json.JSONDecoder(), [], 0
    while (index := _skip(read, index)) < len(read):
        row, column = position(read, index, "\n")
        try:
            value, end = decoder.raw_decode(read, index)
        except json.JSONDecodeError as error:
            # what ends too early is told apart from what is no JSON at all
            cut = error.pos >= len(read.rstrip()) or error.msg.startswith("Unterminated")
            what = "the JSON breaks off: the file is truncated" if cut else f"no JSON: {error.msg}"
            raise fault(file, error.lineno, error.colno, what) from None
        except (ValueError, RecursionError) as error:
            raise fault(file, row, column, f"no JSON that can be read: {error}") from None
        if not isinstance(value, dict):
            raise fault(file, row, column, f"must be a JSON object, is a {type(value).__name__}")
        found.append(Node(file, row, value))
        index = end
    return found


def _skip(read: str, index: int) -> int:
    """Pass over blanks between documents."""
    while index < len(read) and read[index].isspace():
        index += 1
    return index
