"""Labs: a real server, driven from another process, beside what the theory predicts of it."""

from __future__ import annotations

from ._lab_compare import Predicted, Profile, predict, replay, uncertainty
from ._lab_drive import Drive, drive
from ._lab_host import Server, profile
from ._lab_policies import PolicyRun, Trial, live, measure_policies, stored_policies

__all__ = [
    "Drive",
    "PolicyRun",
    "Predicted",
    "Profile",
    "Server",
    "Trial",
    "drive",
    "live",
    "measure_policies",
    "predict",
    "profile",
    "replay",
    "stored_policies",
    "uncertainty",
]
