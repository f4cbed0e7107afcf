"""Labs: a real server, driven from another process, beside what the theory predicts of it."""

from __future__ import annotations

from ._lab_drive import Drive, drive

__all__ = ["Drive", "drive"]
