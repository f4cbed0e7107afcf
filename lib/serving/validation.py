"""What engines printed of their cache, beside what this package computes for it.

The cases stand in ``data/engine-logs.toml``. A verdict follows from the two numbers, and from how
far those that went in were rounded when they were printed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from html import escape
from importlib import resources
from math import floor
from types import MappingProxyType
from typing import Any

import pandas as pd

from . import kvcache, units
from .book import Table, table

VERDICTS = ("possible", "exact", "within print rounding", "mismatch")
"""What a line can come to; the last of its lines' verdicts is that of a case.

"possible" is a number of which only a bound is known.
"""
NUMBER = re.compile(r"(\d+)(?:\.(\d+))?(?: (\w+))?")
ROUNDED = {"memory": 1, "device": 1, "weights": -1, "reserve": -1}
"""Settings that were printed with few digits, and whether more of them is more cache."""
STEPS = 2**48
"""Into how many parts the range of a rounded setting is divided to look for a value."""

Interval = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Line:
    """One number that an engine printed.

    Attributes
    ----------
    label : str
        What the log calls it.
    text : str
        As it was printed, with its unit.
    what : str
        Which question it answers, a key of `QUESTIONS`.
    setting : Mapping
        What was set, and what else was printed.
    """

    label: str
    text: str
    what: str
    setting: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """A line beside what is computed for it.

    Attributes
    ----------
    line : Line
        What was printed.
    computed : str
        What is computed, to the digits printed; a range if what went in was rounded.
    verdict : str
        One of `VERDICTS`.
    """

    line: Line
    computed: str
    verdict: str

    def __repr__(self) -> str:
        said = f"{self.line.label}: printed {self.line.text}, computed {self.computed}"
        return f"{said} [{self.verdict}]"


@dataclass(frozen=True)
class Case:
    """What an engine printed when it was started once.

    Attributes
    ----------
    name : str
        Short name.
    model : str
        The model, in words.
    source : str
        Where it was published.
    layout : Layout
        What the cache keeps on each device.
    lines : tuple of Line
        What was printed.
    inferred : str
        What was not published but inferred; empty if nothing.
    reason : str
        Why printed and computed differ, if they do.
    """

    name: str
    model: str
    source: str
    layout: kvcache.Layout
    lines: tuple[Line, ...]
    inferred: str = ""
    reason: str = ""

    def results(self) -> tuple[Result, ...]:
        """Compute every line.

        Returns
        -------
        tuple of Result
            Each line with what is computed for it.
        """
        return tuple(compare(self.layout, line) for line in self.lines)

    @property
    def engine(self) -> str:
        """The engine, by the name that `kvcache.capacity` or `kvcache.allocation` knows."""
        return str(self.lines[0].setting["engine"])

    @property
    def verdict(self) -> str:
        """The verdict of its lines that stands last in `VERDICTS`."""
        return max((one.verdict for one in self.results()), key=VERDICTS.index)


def every_head(config: Mapping[str, Any]) -> dict[str, Any]:
    """Rewrite a configuration for programs that keep keys and values of every query head.

    Early programs knew neither shared heads nor latent attention, and kept more than they had to.

    Parameters
    ----------
    config : Mapping
        Fields of a Hugging Face ``config.json``.

    Returns
    -------
    dict
        Fields of a model whose heads share nothing.
    """
    latent = ("kv_lora_rank", "q_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "model_type")
    plain = {name: value for name, value in config.items() if name not in latent}
    if config.get("kv_lora_rank") and config.get("qk_nope_head_dim"):
        plain["head_dim"] = config["qk_nope_head_dim"] + config["qk_rope_head_dim"]
    return plain | {"num_key_value_heads": config["num_attention_heads"]}


def _capacity(layout: kvcache.Layout, setting: Mapping[str, Any]) -> kvcache.Capacity:
    memory = setting.get("memory")
    names = ("tokens", "engine", "block_size", "batched_tokens", "stages", "state_dtype")
    rest = {name: setting[name] for name in names if name in setting}
    if memory is None and "blocks" in setting:
        memory = setting["blocks"] * kvcache.capacity(layout, 0, **rest).block_bytes
    return kvcache.capacity(layout, _budget(setting) if memory is None else memory, **rest)


def _budget(setting: Mapping[str, Any]) -> int:
    names = ("utilization", "weights", "reserve")
    rest = {name: setting[name] for name in names if name in setting}
    return kvcache.memory_budget(setting["device"], **rest).cache


def _allocation(layout: kvcache.Layout, setting: Mapping[str, Any]) -> kvcache.Allocation:
    names = ("tokens", "engine", "block_size", "batched_tokens", "sequences", "unified")
    return kvcache.allocation(layout, **{name: setting[name] for name in names if name in setting})


QUESTIONS: dict[str, Callable[[kvcache.Layout, Mapping[str, Any]], Any]] = {
    "blocks": lambda layout, s: _capacity(layout, s).blocks,
    "block tokens": lambda layout, s: _capacity(layout, {"memory": 0, **s}).block_tokens,
    "tokens": lambda layout, s: _capacity(layout, s).tokens,
    "concurrency": lambda layout, s: _capacity(layout, s).concurrency,
    "longest": lambda layout, s: _capacity(layout, s).longest,
    "request bytes": lambda layout, s: _capacity(layout, s).request_bytes,
    "bytes of a token": lambda layout, s: Fraction(_capacity(layout, s).request_bytes, s["tokens"]),
    "most blocks": lambda layout, s: _capacity(layout, s).blocks,
    "most tokens": lambda layout, s: _capacity(layout, s).tokens,
    "cache": lambda layout, s: _budget(s),
    "keys": lambda layout, s: _allocation(layout, s).keys,
    "values": lambda layout, s: _allocation(layout, s).values,
    "keys and values": lambda layout, s: (
        _allocation(layout, s).keys + _allocation(layout, s).values
    ),
    "encoder": lambda layout, s: _allocation(layout, s).encoder,
    "states": lambda layout, s: _allocation(layout, s).states,
    "total": lambda layout, s: _allocation(layout, s).total,
    "key numbers": lambda layout, s: layout.groups[0].keys,
    "value numbers": lambda layout, s: layout.groups[0].values,
}
"""What a printed number can be, and how it is computed from a layout and the setting."""


def compare(layout: kvcache.Layout, line: Line) -> Result:
    """Compute what a line should say, and judge what it says.

    Parameters
    ----------
    layout : Layout
        What the cache keeps on each device.
    line : Line
        What was printed, and what was set.

    Returns
    -------
    Result
        "exact" if every value that the setting allows prints as the text; "within print
        rounding" if some do; "possible" if the text is within a bound and no more is known;
        "mismatch" otherwise.

    Raises
    ------
    ValueError
        If ``line`` asks no known question, or a text is no number.
    """
    if line.what not in QUESTIONS:
        raise ValueError(f"line must ask one of {', '.join(QUESTIONS)}, got {line.what!r}")

    def at(place: int) -> Fraction:
        """Compute the answer at one place of the interval that the printed setting leaves."""
        return _exactly(QUESTIONS[line.what](layout, _setting(line.setting, place)))

    low, high = at(0), at(STEPS)
    (least, most), scale, digits = _printed(line.text)
    shown = [units.rounded(value / scale, digits + (digits > 0)) for value in (low, high)]
    text = " to ".join(dict.fromkeys(shown))
    if line.what.startswith("most "):
        return Result(line, f"at most {shown[-1]}", "possible" if most <= high else "mismatch")
    if least <= low and high <= most:
        return Result(line, text, "exact")
    reached = low <= most and least <= high and at(_first(at, least)) <= most
    return Result(line, text, "within print rounding" if reached else "mismatch")


def _first(at: Callable[[int], Fraction], least: Fraction) -> int:
    """Find the first place from which on a growing function is at least so much."""
    low, high = 0, STEPS
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if at(middle) >= least else (middle + 1, high)
    return low


def _exactly(value: Any) -> Fraction:
    return Fraction(value) if isinstance(value, (int, Fraction)) else Fraction(str(value))


def _printed(text: str) -> tuple[Interval, Fraction, int]:
    """Read a number: the values that print as it, its unit, and its decimals."""
    found = NUMBER.fullmatch(text.replace(",", ""))
    if not found:
        raise ValueError(f"text must be a number with or without its unit, got {text!r}")
    whole, decimals, unit = found.groups(default="")
    scale = units.UNITS.get(unit, Fraction(1))
    half = Fraction(1, 2 * 10 ** len(decimals)) if decimals or scale > 1 else Fraction(0)
    middle = Fraction(f"{whole}.{decimals or 0}")
    return ((middle - half) * scale, (middle + half) * scale), scale, len(decimals)


def _setting(setting: Mapping[str, Any], place: int) -> dict[str, Any]:
    """Read a setting, each rounded number at some place between the least and the most it was."""
    read = dict(setting)
    for name in ROUNDED.keys() & setting.keys():
        share = Fraction(place if ROUNDED[name] > 0 else STEPS - place, STEPS)
        texts = [setting[name]] if isinstance(setting[name], str) else setting[name]
        read[name] = [_given(text, share) for text in texts]
    return read


def _given(text: str, share: Fraction) -> int:
    """Read a number of bytes: whole ones are exact, decimals were rounded."""
    (low, high), _, digits = _printed(text)
    return floor(low + (high - low) * (share if digits else Fraction(1, 2)))


@dataclass(frozen=True)
class Report:
    """Cases as a table, with their sources, what was inferred, and reasons.

    Attributes
    ----------
    cases : tuple of Case
        What it shows.
    """

    cases: tuple[Case, ...]

    def _rows(self, name: Callable[[Case], str]) -> pd.DataFrame:
        rows = [
            ("" if number else f"{name(case)}, {case.engine}", *row)
            for case in self.cases
            for number, row in enumerate(map(_shown, case.results()))
        ]
        heads = ["", "in the log", "printed", "computed", "verdict"]
        return pd.DataFrame(rows, columns=heads)

    def _notes(self) -> list[tuple[str, str]]:
        notes = [(c.model, f"inferred: {c.inferred}.") for c in self.cases if c.inferred]
        return notes + [(c.model, c.reason) for c in self.cases if c.reason]

    def __repr__(self) -> str:
        notes = [f"{model}: {note}" for model, note in self._notes()]
        return "\n".join([self._rows(lambda case: case.model).to_string(index=False), *notes])

    def _repr_html_(self) -> str:
        def link(case: Case) -> str:
            """Name of the model, as a link to where the log was printed."""
            return f'<a href="{escape(case.source)}">{escape(case.model)}</a>'

        notes = "".join(f"<li>{escape(m)}: {escape(note)}</li>" for m, note in self._notes())
        table = self._rows(link).to_html(index=False, border=0, escape=False)
        return table + (f"<ul>{notes}</ul>" if notes else "")


def _shown(result: Result) -> tuple[str, str, str, str]:
    return result.line.label, result.line.text, result.computed, result.verdict


def report(engine: str) -> Report:
    """Show the cases of an engine.

    Parameters
    ----------
    engine : str
        How its name begins: "vllm" for all versions, "llama.cpp".

    Returns
    -------
    Report
        Jupyter draws it.

    Raises
    ------
    ValueError
        If there is no case of it.
    """
    found = tuple(one for one in cases().values() if one.engine.startswith(engine))
    if not found:
        raise ValueError(f"engine must begin one of {', '.join(_engines())}, got {engine!r}")
    return Report(found)


def score() -> Table:
    """Count the cases by engine and verdict.

    Returns
    -------
    Table
        A row for each engine, and one for all.
    """
    names = [*_engines(), "all"]
    verdicts = [
        [c.verdict for c in cases().values() if name in (c.engine, "all")] for name in names
    ]
    counts = {word: [row.count(word) for row in verdicts] for word in VERDICTS[1:] + VERDICTS[:1]}
    return table({"engine": names, "cases": [len(row) for row in verdicts], **counts})


def _engines() -> list[str]:
    return list(dict.fromkeys(one.engine for one in cases().values()))


@cache
def cases() -> Mapping[str, Case]:
    """List the cases.

    Returns
    -------
    Mapping of str to Case
        Each by its short name.
    """
    text = resources.files(__package__).joinpath("data", "engine-logs.toml").read_text("utf-8")
    return MappingProxyType({name: _case(name, row) for name, row in tomllib.loads(text).items()})


def _case(name: str, row: Mapping[str, Any]) -> Case:
    lines = tuple(
        Line(one["label"], one["text"], one["what"], {**row["setting"], **one})
        for one in row["printed"]
    )
    about = (row.get("inferred", ""), row.get("reason", ""))
    return Case(name, row["model"], row["source"], _layout(row), lines, *about)


def _layout(row: Mapping[str, Any]) -> kvcache.Layout:
    dtype, devices = row["dtype"], row.get("tensor_parallel", 1)
    if "groups" in row:
        groups = tuple(kvcache.LayerGroup(n, k, v, w or None) for n, k, v, w in row["groups"])
        return kvcache.Layout(groups, dtype, devices)
    config = every_head(row["config"]) if row.get("expanded") else dict(row["config"])
    if kinds := config.get("layer_types"):
        config["layer_types"] = kinds * (config["num_hidden_layers"] // len(kinds))
    return kvcache.layout(config, dtype, devices)
