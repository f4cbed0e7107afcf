"""Traces of real traffic: when requests came, how long their prompts and answers were."""

from __future__ import annotations

import csv
import gzip
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from . import errors

HEADERS = (("TIMESTAMP", "ContextTokens", "GeneratedTokens"), ("time", "input", "output"))
"""Columns that are read: those of the public Azure traces, or seconds and tokens."""
DATED = re.compile(r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:?\d\d)?")
DECIMAL = re.compile(r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d{1,3})?")
WHOLE = re.compile(r"\d{1,15}")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, eq=False)
class Trace:
    """Requests in the order in which they came.

    Attributes
    ----------
    path : str
        The file that they are from.
    times : ndarray, shape (n,)
        Arrival of each, from the first on [s].
    input_tokens, output_tokens : ndarray, shape (n,)
        Length of each prompt and each answer [tokens].
    """

    path: str
    times: NDArray[np.float64] = field(repr=False)
    input_tokens: NDArray[np.int64] = field(repr=False)
    output_tokens: NDArray[np.int64] = field(repr=False)

    def summary(self) -> Summary:
        """Describe the traffic in a few numbers.

        Returns
        -------
        Summary
            Rate, lengths and how uneven the arrivals are.

        Raises
        ------
        ValueError
            If all requests came at one moment.
        """
        if not len(self.times) or self.times[-1] == 0:
            raise ValueError(f"{self.path} must hold requests of at least two moments")
        gaps = np.diff(self.times)
        return Summary(
            requests=len(self.times),
            rate=float(1 / gaps.mean()),
            input_mean=float(self.input_tokens.mean()),
            input_median=float(np.median(self.input_tokens)),
            output_mean=float(self.output_tokens.mean()),
            output_median=float(np.median(self.output_tokens)),
            gap_cv=float(gaps.std() / gaps.mean()),
            trace=self,
        )

    def dispersion(self, window: float) -> float:
        """Variance of the number of arrivals in a window, over its mean; 1 for a Poisson process.

        Parameters
        ----------
        window : float
            Length of the windows; at least two must fit into the trace [s].

        Returns
        -------
        float
            Index of dispersion of counts; what is left after the last whole window is not
            counted [1].

        Raises
        ------
        TypeError
            If ``window`` is not a real number.
        ValueError
            If ``window`` is not positive, does not fit twice, or makes too many windows.
        """
        length = errors.number("window", window, above=0)
        span = float(self.times[-1]) if len(self.times) else 0.0
        if not 2 <= span / length <= 1e7:
            raise ValueError(
                f"window must fit between 2 and 10,000,000 times into the {span:.6g} s "
                f"of {self.path}, got {window!r}"
            )
        windows = int(span / length)
        inside = np.floor(self.times / length).astype(np.int64)
        counts = np.bincount(inside[inside < windows], minlength=windows)
        return float(counts.var(ddof=1) / counts.mean())


@dataclass(frozen=True)
class Summary:
    """A trace in a few numbers.

    Attributes
    ----------
    requests : int
        How many there are [requests].
    rate : float
        Requests a second: one over the mean gap between arrivals [1/s].
    input_mean, input_median : float
        Of the prompts [tokens].
    output_mean, output_median : float
        Of the answers [tokens].
    gap_cv : float
        Coefficient of variation of the gaps between arrivals; 1 for a Poisson process [1].
    trace : Trace
        What it describes.
    """

    requests: int
    rate: float
    input_mean: float
    input_median: float
    output_mean: float
    output_median: float
    gap_cv: float
    trace: Trace = field(repr=False)

    def dispersion(self, window: float) -> float:
        """Index of dispersion of the arrivals, as `Trace.dispersion` gives it.

        Parameters
        ----------
        window : float
            Length of the windows; at least two must fit into the trace [s].

        Returns
        -------
        float
            Variance of the counts over their mean [1].

        Raises
        ------
        TypeError
            If ``window`` is not a real number.
        ValueError
            If ``window`` is not positive, does not fit twice, or makes too many windows.
        """
        return self.trace.dispersion(window)


def load(path: str | Path) -> Trace:
    """Read a trace from a file of comma-separated values, perhaps compressed with gzip.

    Parameters
    ----------
    path : str or Path
        The file. Its first line names the columns, in any order and with others beside them:
        ``TIMESTAMP, ContextTokens, GeneratedTokens`` with dates and times of day, or
        ``time, input, output`` with seconds.

    Returns
    -------
    Trace
        Its requests by time; where times are equal, in the order of the file.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If columns are missing, there is no row, or an entry is not what it must be; then the
        error names file, line, column and value.

    Notes
    -----
    Source of the first format: Azure/AzurePublicDataset, LLM inference traces of 2023.
    """
    path = Path(path)
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", newline="") as lines:
            rows = sorted(_rows(path, csv.reader(lines)), key=lambda row: row[0])
    except (gzip.BadGzipFile, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    if not rows:
        raise ValueError(f"{path} must have at least one row below its header")
    times, prompts, answers = zip(*rows, strict=True)
    return Trace(
        str(path),
        np.array([float(time - times[0]) for time in times]),
        np.array(prompts, dtype=np.int64),
        np.array(answers, dtype=np.int64),
    )


def _rows(path: Path, lines: Iterator[list[str]]) -> Iterator[tuple[Fraction, int, int]]:
    header = [name.strip() for name in next(lines, [])]
    names = next((known for known in HEADERS if set(known) <= set(header)), None)
    if names is None:
        wanted = " or ".join(", ".join(known) for known in HEADERS)
        raise ValueError(f"{path}, line 1: the columns must be {wanted}, got {', '.join(header)!r}")
    readers = (_moment if names is HEADERS[0] else _seconds, _tokens, _tokens)
    places = [header.index(name) for name in names]
    for number, row in enumerate(lines, start=2):
        if not row:
            continue
        entries = []
        for name, place, reader in zip(names, places, readers, strict=True):
            text = row[place].strip() if place < len(row) else ""
            value, wanted = reader(text)
            if value is None:
                raise ValueError(
                    f"{path}, line {number}, column {name}: it must be {wanted}, got {text!r}"
                )
            entries.append(value)
        yield entries[0], entries[1], entries[2]


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


def _seconds(text: str) -> tuple[Fraction | None, str]:
    found = DECIMAL.fullmatch(text) and math.isfinite(float(text))
    return Fraction(text) if found else None, "a number of seconds"


def _tokens(text: str) -> tuple[int | None, str]:
    return int(text) if WHOLE.fullmatch(text) else None, "a whole number of tokens"
