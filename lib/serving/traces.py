"""Traces of real traffic: when requests came, how long their prompts and answers were."""

from __future__ import annotations

import csv
import gzip
import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from . import _trace_rows, errors

MOST_DIFFERENCES = 8
"""Largest order of differences; far below it a rate that drifts is gone."""


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

    def counts(self, window: float) -> NDArray[np.int64]:
        """Count the arrivals in windows, one after the other.

        Parameters
        ----------
        window : float
            Length of the windows; at least two must fit into the trace [s].

        Returns
        -------
        ndarray, shape (k,)
            Arrivals in each; what is left after the last whole window is not counted
            [requests].

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
        return np.bincount(inside[inside < windows], minlength=windows)

    def dispersion(self, window: float, differences: int = 0) -> float:
        """Variance of the number of arrivals in a window, over its mean; 1 for a Poisson process.

        Parameters
        ----------
        window : float
            Length of the windows; at least two, and one more for each difference, must fit into
            the trace [s].
        differences : int
            0 for the variance of the counts about their mean. 1 takes it from the differences
            of neighbours, so that a slow drift of the rate drops out; 2 from the differences
            of these, which a steady growth leaves as they are; at most 8 [1].

        Returns
        -------
        float
            Index of dispersion of counts, from the population variance [1].

        Raises
        ------
        TypeError
            If an argument is not a real number.
        ValueError
            If ``window`` is not positive, does not fit often enough, or makes too many windows,
            or ``differences`` is not whole or out of range.

        Notes
        -----
        The mean square of differences of order k of independent counts of one law is
        ``comb(2 k, k)`` times their variance. Source: von Neumann et al. 1941 for the first.
        """
        order = errors.integer("differences", differences, at_least=0)
        if order > MOST_DIFFERENCES:
            raise ValueError(f"differences must be at most {MOST_DIFFERENCES}, got {differences!r}")
        counts = self.counts(window)
        if len(counts) < order + 2:
            raise ValueError(
                f"window must fit {order + 2} times into the {self.times[-1]:.6g} s of "
                f"{self.path} for differences = {differences!r}, got {window!r}"
            )
        if not order:
            return float(counts.var() / counts.mean())
        squares = np.diff(counts, order).astype(np.float64) ** 2
        return float(squares.mean() / math.comb(2 * order, order) / counts.mean())


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

    def dispersion(self, window: float, differences: int = 0) -> float:
        """Index of dispersion of the arrivals, as `Trace.dispersion` gives it.

        Parameters
        ----------
        window : float
            Length of the windows; at least two, and one more for each difference, must fit into
            the trace [s].
        differences : int
            Order of the differences from which the variance is taken, 0 to 8 [1].

        Returns
        -------
        float
            Variance of the counts over their mean [1].

        Raises
        ------
        TypeError
            If an argument is not a real number.
        ValueError
            If ``window`` is not positive, does not fit often enough, or makes too many windows,
            or ``differences`` is not whole or out of range.
        """
        return self.trace.dispersion(window, differences)


def load(path: str | Path, time_unit: str | None = None) -> Trace:
    """Read a trace from a file, perhaps compressed with gzip.

    Parameters
    ----------
    path : str or Path
        The file. If its name ends in ``.jsonl`` or ``.json``, perhaps with ``.gz`` after it,
        each line is an object of JSON with ``timestamp``, ``input_length`` and
        ``output_length``. Otherwise it holds comma-separated values, and its first line names
        the columns, in any order and with others beside them: ``TIMESTAMP, ContextTokens,
        GeneratedTokens`` with dates and times of day, or ``time, input, output`` with seconds.
    time_unit : str or None
        What the timestamps of JSON count: "s", "ms", or None for the milliseconds of the
        Mooncake traces, which must then be whole. Other files say it themselves.

    Returns
    -------
    Trace
        Its requests by time; where times are equal, in the order of the file.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If columns are missing, there is no row, ``time_unit`` is unknown or not asked for, or an
        entry is not what it must be; then the error names file, line, column and value.

    Notes
    -----
    Source of the formats: Azure/AzurePublicDataset, LLM inference traces of 2023;
    kvcache-ai/Mooncake, traces of 2024.
    """
    path = Path(path)
    parts = path.suffixes[-2:] if path.suffix == ".gz" else path.suffixes[-1:]
    in_json = parts[:1] in ([".jsonl"], [".json"])
    if time_unit not in (None, *_trace_rows.UNITS):
        raise ValueError(f"time_unit must be 's', 'ms' or None, got {time_unit!r}")
    if time_unit and not in_json:
        raise ValueError(f"time_unit must be None for {path}, which is not JSON, got {time_unit!r}")
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", newline="") as lines:
            found = (
                _trace_rows.objects(path, lines, time_unit)
                if in_json
                else _trace_rows.separated(path, lines)
            )
            rows = sorted(found, key=lambda row: row[0])
    except (gzip.BadGzipFile, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    if not rows:
        raise ValueError(
            f"{path} must have at least one row{'' if in_json else ' below its header'}"
        )
    times, prompts, answers = zip(*rows, strict=True)
    return Trace(
        str(path),
        np.array([float(time - times[0]) for time in times]),
        np.array(prompts, dtype=np.int64),
        np.array(answers, dtype=np.int64),
    )
