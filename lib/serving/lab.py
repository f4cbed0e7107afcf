"""Labs: a real server, driven from another process, beside what the theory predicts of it."""

from __future__ import annotations

from ._lab_compare import Predicted, Profile, predict, replay, uncertainty
from ._lab_drive import Drive, drive
from ._lab_engine import CacheLine, Engine, cache_line, missing
from ._lab_engine_profile import batch_means, measured, spread, step_time
from ._lab_engine_run import EngineRun, measure_engine, stored_engine
from ._lab_host import Server, profile
from ._lab_policies import PolicyRun, Trial, live, measure_policies, stored_policies

__all__ = [
    "CacheLine",
    "Drive",
    "Engine",
    "EngineRun",
    "PolicyRun",
    "Predicted",
    "Profile",
    "Server",
    "Trial",
    "batch_means",
    "cache_line",
    "drive",
    "live",
    "measure_engine",
    "measure_policies",
    "measured",
    "missing",
    "predict",
    "profile",
    "replay",
    "spread",
    "step_time",
    "stored_engine",
    "stored_policies",
    "uncertainty",
]
