"""Tables of measurements: CSV, Markdown, GenAI-Perf's and AIPerf's CSV, lines of perf_analyzer.

The summaries have two parts or more, each with a header that begins with ``Metric``, as written
by triton-inference-server/perf_analyzer ``genai-perf/genai_perf/export_data/csv_exporter.py``
(numbers of a thousand and more have commas) and ai-dynamo/aiperf
``src/aiperf/exporters/metrics_csv_exporter.py`` (cells may be empty).
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ._benchmarks import PER_SECOND, SECONDS
from ._points import Point
from ._reading import fault

UNIT = r"[A-Za-zµμ]+"
NUMBER = re.compile(
    rf"([-+]?(?:\d{{1,3}}(?:,\d{{3}})+|\d+)?(?:\.\d*)?(?:[eE][-+]?\d+)?)\s*({UNIT})?"
)
ANALYZER = re.compile(
    r"[\s*-]*Concurrency: (\d+), (?:throughput: )?(\S+) infer/sec, latency (\S+) usec\s*"
)
"""What perf_analyzer prints of each concurrency."""
STATISTIC = re.compile(r"Inferences/Second vs\. Client (?:Average|p(\d+)) Batch Latency")
METRIC = re.compile(r"Request (Latency|Throughput) \(([^)]*)\)")
ITEMS = {f"{what}/{per}" for what in ("images", "img", "items", "samples")
         for per in ("s", "sec", "second")}  # fmt: skip
ROLES = {
    "batch": {"batch", "batch size", "batchsize", "bs", "b"},
    "concurrency": {"concurrency", "request concurrency", "max concurrency", "clients", "users",
                    "streams", "concurrent requests", "in flight"},
    "count": {"requests", "request count", "completed", "count", "num prompts"},
    "failed": {"failed", "errors", "failed requests"},
    "rate": {"rate", "request rate", "arrival rate", "offered rate"},
    "throughput": {"", "throughput", "request throughput", "inferences", "requests"},
    "latency": {"latency", "mean latency", "avg latency", "average latency", "latency mean",
                "latency avg", "time", "mean time", "batch time", "service time", "mean", "avg",
                "response time", "mean response time", "request latency", "mean e2el", "t"},
}  # fmt: skip
"""What columns may be called, in lower case and without their unit."""
TIMES, RATES = {"latency", "tail"}, {"rate", "throughput"}
SHARE = re.compile(r"(?:latency )?(?:p(\d+(?:\.\d+)?)|median)(?: latency| e2el)?")
NEEDED = "must have columns 'batch' and 'latency (ms)', or 'concurrency', 'throughput (requests/s)'"
NEEDED += " and 'latency (ms)'; units may be s, ms, us or ns"


@dataclass(frozen=True)
class Column:
    """A column that is read."""

    name: str
    role: str
    unit: str
    share: float = 0.0


def read(file: str, text: str) -> tuple[Point, ...]:
    """Read a table, whatever form it has."""
    lines = [
        (row, line)
        for row, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise fault(file, 1, 1, "must hold a table, has comments alone")
    printed = [(row, match) for row, line in lines if (match := ANALYZER.fullmatch(line))]
    if printed:
        return _analyzer(file, lines, printed)
    rows = _cells(file, lines)
    if rows[0][1][0] == "Metric":
        return (_summary(file, rows),)
    return _table(file, rows)


def _cells(file: str, lines: list[tuple[int, str]]) -> list[tuple[int, list[str]]]:
    """Split lines into cells."""
    head = lines[0][1]
    if head.lstrip().startswith("|"):
        split = [(row, [cell.strip() for cell in line.strip().strip("|").split("|")])
                 for row, line in lines]  # fmt: skip
        return [
            (row, cells) for row, cells in split if not re.fullmatch(r"[-:\s]+", "".join(cells))
        ]
    mark = next((mark for mark in "\t;," if mark in head), ",")
    found = []
    for row, line in lines:
        try:
            [cells] = csv.reader([line], delimiter=mark, strict=True, skipinitialspace=True)
        except (csv.Error, ValueError) as error:
            raise fault(file, row, 1, f"no row of a table: {error}") from None
        found.append((row, [cell.strip() for cell in cells]))
    return found


def number(file: str, row: int, column: str, cell: str, unit: str = "") -> tuple[float, str]:
    """Read a number above 0 and the unit that stands beside it."""
    match = NUMBER.fullmatch(cell)
    if not match or not any(digit in match[1] for digit in "0123456789"):
        hint = ", with a point for the decimals" if re.fullmatch(r"\d+,\d+", cell) else ""
        raise fault(file, row, column, f"must be a number above 0{hint}, got {cell!r}")
    value = float(match[1].replace(",", ""))
    if not 0 < value < math.inf:
        raise fault(file, row, column, f"must be a finite number above 0, got {cell!r}")
    if match[2] and (match[2] not in SECONDS or unit and unit != match[2]):
        rule = f"must be in {unit}" if unit else "must be a number or a time"
        raise fault(file, row, column, f"{rule} as the others, got {cell!r}: units are mixed")
    return value, match[2] or unit


def _analyzer(file: str, lines: list[tuple[int, str]], printed: list[Any]) -> tuple[Point, ...]:
    """Read what perf_analyzer printed; its latency may be a percentile."""
    said = [match[1] for _, line in lines if (match := STATISTIC.search(line))]
    share = float(said[0]) if said and said[0] else None
    points = []
    for row, match in printed:
        latency = number(file, row, "latency", match[3])[0] * 1e-6
        points.append(
            Point(
                file,
                row,
                "perf_analyzer",
                concurrency=_whole(file, row, "Concurrency", match[1]),
                throughput=number(file, row, "throughput", match[2])[0],
                latency=latency if share is None else None,
                latency_from="latency" if share is None else "",
                percentiles=MappingProxyType({} if share is None else {share: latency}),
            )
        )
    return tuple(points)


def _whole(file: str, row: int, column: str, cell: str) -> int:
    value, unit = number(file, row, column, cell)
    if value != int(value) or unit:
        raise fault(file, row, column, f"must be a whole number above 0, got {cell!r}")
    return int(value)


def _summary(file: str, rows: list[tuple[int, list[str]]]) -> Point:
    """Read the summary of GenAI-Perf or AIPerf."""
    found: dict[str, tuple[int, str, dict[str, str]]] = {}
    header: list[str] = []
    for row, cells in rows:
        if cells[0] in {"Metric", "Endpoint"}:
            header = cells
        elif header[0] == "Metric" and "GPU" not in header:
            name, unit = cells[0], ""
            if match := METRIC.fullmatch(cells[0]):
                name, unit = f"Request {match[1]}", match[2]
            found[name.removesuffix(" (count)")] = row, unit, dict(zip(header, cells, strict=False))
    row, unit, cells = found.get("Request Latency", (rows[0][0], "", {}))
    if not cells:
        raise fault(file, row, "Metric", "must name 'Request Latency (ms)', is missing")
    if unit not in SECONDS:
        raise fault(file, row, "Metric", f"must have a unit of time, got {unit!r}")
    scale = SECONDS[unit]

    def value(name: str) -> float | None:
        """Value or mean of another metric, if the file has it."""
        at, _, values = found.get(name, (0, "", {}))
        cell = values.get("Value") or values.get("avg")
        return number(file, at, name, cell)[0] if cell else None

    rate = found.get("Request Throughput")
    if rate and rate[1] not in PER_SECOND:
        raise fault(file, rate[0], "Metric", f"must be in requests/sec, got {rate[1]!r}")
    shares = {key: SHARE.fullmatch(key) for key, cell in cells.items() if cell}
    count = value("Request Count")
    return Point(
        file,
        row,
        "genai-perf or aiperf",
        throughput=value("Request Throughput"),
        latency=number(file, row, "avg", cells.get("avg", ""))[0] * scale,
        latency_from="Request Latency, avg",
        count=None if count is None else int(count),
        percentiles=MappingProxyType(
            {
                float(match[1]): number(file, row, key, cells[key])[0] * scale
                for key, match in shares.items()
                if match and match[1]
            }
        ),
    )


def _column(header: str) -> Column | None:
    """Find out what a column holds, from its name and unit."""
    words = " ".join(header.lower().replace("_", " ").split())
    unit, name = "", words
    if match := re.fullmatch(r"(.*?)\s*[(\[]([^)\]]*)[)\]]", words):
        name, unit = match[1], match[2].strip()
    elif words in PER_SECOND | ITEMS or words == "inferences/second":
        name, unit = "", words
    elif (match := re.fullmatch(r"(.+) (\S+)", words)) and match[2] in SECONDS:
        name, unit = match[1], match[2]
    if share := SHARE.fullmatch(name):
        return Column(header, "tail", unit, float(share[1] or 50))
    per_second = unit in PER_SECOND | ITEMS
    for role, names in ROLES.items():
        if name in names and (role in RATES) == per_second:
            return Column(header, role, unit)
    return Column(header, "throughput", "") if name in ROLES["throughput"] - {"requests"} else None


def _table(file: str, rows: list[tuple[int, list[str]]]) -> tuple[Point, ...]:
    """Read a table with one row for each batch size, concurrency or rate."""
    (top, header), *body = rows
    columns = [_column(name) for name in header]
    known = [column for column in columns if column]
    _check_columns(file, top, header, known)
    if not body:
        raise fault(file, top + 1, 1, "must hold a row of numbers, the file ends")
    # perf_analyzer writes a file whose headers have no units; times are in microseconds
    silent = "us" if "Inferences/Second" in header and "Client Send" in header else ""
    units = {column.name: column.unit or silent for column in known if column.role in TIMES}
    points = []
    for row, cells in body:
        if len(cells) != len(header):
            column = header[len(cells)] if len(cells) < len(header) else len(header) + 1
            raise fault(file, row, column, f"must have {len(header)} cells, has {len(cells)}")
        points.append(_point(file, row, columns, cells, units))
    return tuple(points)


def _check_columns(file: str, row: int, header: list[str], known: list[Column]) -> None:
    roles = [column.role for column in known]
    for column in known:
        if roles.count(column.role) > 1 and column.role != "tail":
            twice = [other.name for other in known if other.role == column.role]
            raise fault(file, row, twice[1], f"must be there once, is there as {twice}")
        if column.role == "throughput" and not column.unit:
            raise fault(file, row, column.name, "must have a unit, such as (requests/s)")
    setting = {"batch", "concurrency", "rate"} & set(roles)
    if not setting or not {"latency", "tail", "throughput"} & set(roles):
        raise fault(file, row, 1, f"{NEEDED}; has {', '.join(header)}")
    if setting == {"batch"} and "latency" not in roles:
        what = "must be there beside batch sizes; of a server that never idles, it is the size over"
        raise fault(file, row, "latency (ms)", f"{what} the throughput")


def _point(
    file: str, row: int, columns: list[Column | None], cells: list[str], units: dict[str, str]
) -> Point:
    """Read one row; the units of times must be those of the rows before."""
    found: dict[str, Any] = {}
    tails: dict[float, float] = {}
    for column, cell in zip(columns, cells, strict=True):
        if column is None:
            continue
        if column.role in TIMES:
            value, unit = number(file, row, column.name, cell, units[column.name])
            if not unit:
                what = "must have a unit in its header, such as (ms)"
                raise fault(file, row, column.name, f"{what}, got {cell!r}")
            units[column.name] = unit
            seconds = value * SECONDS.get(unit, math.nan)
            if math.isnan(seconds):
                raise fault(file, row, column.name, f"must be in a unit of time, is in {unit!r}")
            if column.role == "tail":
                tails[column.share] = seconds
            else:
                found |= {"latency": seconds, "latency_from": column.name}
        elif column.role in RATES:
            found[column.role] = number(file, row, column.name, cell)[0]
        elif column.role != "failed" or cell != "0":
            found[column.role] = _whole(file, row, column.name, cell)
        else:
            found["failed"] = 0
    shares: Mapping[float, float] = MappingProxyType(tails)
    return Point(file, row, "table", percentiles=shares, **found)
