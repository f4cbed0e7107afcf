"""Labs: a real server, driven from another process, beside what the theory predicts of it."""

from __future__ import annotations

from ._lab_drive import Drive, drive
from ._lab_host import Server, profile

__all__ = ["Drive", "Server", "drive", "profile"]
