"""Labs: a real server, driven from another process, beside what the theory predicts of it."""

from __future__ import annotations

from ._lab_drive import Drive, drive
from ._lab_engine import CacheLine, Engine, missing
from ._lab_engine_profile import batch_means, measured, spread, step_time
from ._lab_engine_run import EngineRun, measure_engine, stored_engine

__all__ = [
    "CacheLine",
    "Drive",
    "Engine",
    "EngineRun",
    "batch_means",
    "drive",
    "measure_engine",
    "measured",
    "missing",
    "spread",
    "step_time",
    "stored_engine",
]
