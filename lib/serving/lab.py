"""Labs: a real server, driven from another process, beside what the theory predicts of it."""

from __future__ import annotations

from ._lab_drive import Drive, drive
from ._lab_host import Server, profile
from ._lab_policies import PolicyRun, Trial, measure_policies, stored_policies

__all__ = [
    "Drive",
    "PolicyRun",
    "Server",
    "Trial",
    "drive",
    "measure_policies",
    "profile",
    "stored_policies",
]
