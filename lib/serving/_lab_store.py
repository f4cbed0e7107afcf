"""Runs of the labs as files: times in whole microseconds, and the machine they were measured on."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Mapping
from importlib import metadata, resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._lab_drive import Drive

MICRO = 1e-6
"""Times are kept to a microsecond [s]."""


def stored(name: str) -> Traversable:
    """Return the file of a run that comes with the package."""
    return resources.files("serving").joinpath("data", "labs", f"{name}.json")


def machine(*packages: str) -> dict[str, Any]:
    """Describe where a run is measured: cores, processor, versions, day."""
    versions = {name: metadata.version(name) for name in packages}
    return {
        "cores": os.cpu_count(),
        "processor": _processor(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "packages": versions,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def _processor() -> str:
    """Name of the processor; `platform` alone does not know it on Linux."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text("utf-8").splitlines() if info.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or "unknown"


def micro(times: ArrayLike) -> list[int | None]:
    """Times in whole microseconds; None for what did not happen."""
    return [None if np.isnan(time) else round(time / MICRO) for time in np.atleast_1d(times)]


def seconds(kept: list[int | None]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The same times again [s]."""
    return np.array([np.nan if time is None else time * MICRO for time in kept])


def pack(drive: Drive) -> dict[str, Any]:
    """Keep the times of a drive, those of tokens as what passes from one to the next."""
    times = {name: micro(getattr(drive, name)) for name in ("scheduled", "sent", "first", "done")}
    tokens = [np.diff(micro(t), prepend=0).tolist() if t.size else [] for t in drive.tokens]
    return times | {"status": drive.status.tolist(), "tokens": tokens}


def unpack(kept: Mapping[str, Any]) -> Drive:
    """Make a drive of what was kept; the words of answers are not."""
    times = [seconds(kept[name]) for name in ("scheduled", "sent", "first", "done")]
    tokens = tuple(np.cumsum(gaps) * MICRO for gaps in kept["tokens"])
    words = ("",) * len(kept["status"])
    return Drive(*times, np.array(kept["status"], dtype=np.int64), tokens, words, words)
