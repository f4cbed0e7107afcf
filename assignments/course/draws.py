"""Parameters drawn for a student: the same at every grading, and unknown without the secret."""

from __future__ import annotations

import hashlib
import hmac
import math
import os
import random
import secrets
from pathlib import Path

SECRET_FILE = Path(__file__).resolve().parent.parent / ".course-secret"


def course_secret(file: Path = SECRET_FILE) -> str:
    """Read the course secret, made at the first use.

    Parameters
    ----------
    file : Path
        Where it is kept when the environment variable COURSE_SECRET does not hold it.

    Returns
    -------
    str
        The secret.
    """
    given = os.environ.get("COURSE_SECRET", "")
    if given:
        return given
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(secrets.token_hex(32) + "\n")
    return file.read_text().strip()


class Draw(random.Random):
    """Numbers of one student for one task, in ranges met in practice."""

    @classmethod
    def of(cls, secret: str, *names: str) -> Draw:
        """Start the numbers of a student.

        Parameters
        ----------
        secret : str
            The course secret.
        *names : str
            Assignment, student and task.

        Returns
        -------
        Draw
            The source of numbers.
        """
        digest = hmac.new(secret.encode(), "\0".join(names).encode(), hashlib.sha256).digest()
        return cls(int.from_bytes(digest, "big"))

    def log(self, low: float, high: float) -> float:
        """Draw a number whose logarithm is uniform, with four digits.

        Parameters
        ----------
        low, high : float
            The range, above 0.

        Returns
        -------
        float
            The number.
        """
        return float(f"{math.exp(self.uniform(math.log(low), math.log(high))):.4g}")

    def service(self) -> tuple[float, float]:
        """Draw a server: its fixed time and its time per request [s].

        Returns
        -------
        tuple of float
            Both times [s].
        """
        t_fixed = self.log(0.004, 0.4)
        return t_fixed, float(f"{t_fixed * self.log(0.004, 0.08):.4g}")

    def loaded(self, low: float = 0.2, high: float = 0.9) -> tuple[float, int, float, float]:
        """Draw a server that keeps up.

        Parameters
        ----------
        low, high : float
            Range of its utilisation [1].

        Returns
        -------
        tuple
            Arrival rate [requests/s], batch size [requests] and both times [s].
        """
        t_fixed, t_req = self.service()
        batch = self.randint(2, 48)
        rate = self.uniform(low, high) * batch / (t_fixed + t_req * batch)
        return float(f"{rate:.4g}"), batch, t_fixed, t_req

    def critical(self) -> tuple[float, int, float, float]:
        """Draw a server whose load is exactly one, in floats as well, however it is written.

        Numbers have few binary digits, so that their sums, products and quotients are exact.

        Returns
        -------
        tuple
            Arrival rate [requests/s], batch size [requests] and both times [s].
        """
        time, batch, share = 2.0 ** -self.randint(2, 6), 2 ** self.randint(1, 5), self.randint(1, 4)
        own = time / 2**share
        return batch / time, batch, time - own, own / batch
