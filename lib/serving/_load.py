"""Load the measurements that a file holds, whatever wrote it."""

from __future__ import annotations

from pathlib import Path

from . import _benchmarks, _reading, _tables, errors
from ._points import Measured, agreeing, stated


def load(path: str | Path, batch: int | None = None, concurrency: int | None = None) -> Measured:
    """Read a file that a benchmark tool wrote, or a table.

    Parameters
    ----------
    path : str or Path
        JSON of ``vllm bench serve`` (one result or several appended), ``vllm bench latency``,
        GuideLLM, GenAI-Perf or AIPerf; CSV of the last two; lines that perf_analyzer printed; or
        a table, as CSV or Markdown, of batch and latency, or of concurrency, throughput and
        latency, with units in the headers. Text in UTF-8.
    batch : int, optional
        Batch size, where the file does not tell it; ``vllm bench latency`` never does [requests].
    concurrency : int, optional
        Requests that the client kept in flight, where the file does not tell it; a CSV of
        GenAI-Perf or AIPerf never does [requests].

    Returns
    -------
    Measured
        A point for each run; times in seconds.

    Raises
    ------
    TypeError
        If an argument is of another kind.
    ValueError
        If the file cannot be read, or breaks off, or lacks what it must have, or holds a number
        that is none, or 0, or mixed units, or two times of one batch that disagree: with file,
        row and column.
    """
    for name, value in (("batch", batch), ("concurrency", concurrency)):
        if value is not None:
            errors.integer(name, value, at_least=1)
    file, text = _reading.text(path)
    if text.lstrip().startswith(("{", "[")):
        points = _benchmarks.read(_reading.documents(file, text))
    else:
        points = _tables.read(file, text)
    points = stated(points, batch, concurrency)
    unsaid = next((p for p in points if p.tool == "vllm bench latency" and p.batch is None), None)
    if unsaid:
        raise ValueError(
            f"batch must be given, got None: vllm bench latency does not write it into {file!r}"
        )
    return agreeing(points)
