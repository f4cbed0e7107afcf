"""How long a step of an engine takes by the sequences in it: a line, or a list continued by one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import errors
from .service import LinearService


@dataclass(frozen=True, eq=False)
class Steps:
    """Step times, from no sequence on, and their slope beyond the list [s]."""

    table: NDArray[np.float64]
    slope: float
    growth: Fraction  # the same, exactly
    last: Fraction  # the end of the list

    def exactly(self, running: int) -> Fraction:
        """Time of a step with so many sequences, at least 1, as an exact fraction."""
        beyond = running - (self.table.size - 1)
        if beyond < 0:
            return errors.exact("step_times", self.table[running])
        return self.last + self.growth * beyond

    def time(self, running: Any) -> Any:
        """Time of a step by the number of sequences, 1 or more."""
        beyond = np.maximum(0, np.asarray(running) - (self.table.size - 1))
        inside = np.minimum(running, self.table.size - 1)
        return self.table[inside] + self.slope * beyond


def read(step_times: Any) -> Steps:
    """Step times as a table; errors name the argument."""
    if isinstance(step_times, LinearService):
        fixed, each = (
            errors.exact("step_times", x) for x in (step_times.t_fixed, step_times.t_req)
        )
        return _checked(
            Steps(np.array([float(fixed), step_times.time(1)]), float(each), each, fixed + each)
        )
    if errors.is_scalar(step_times):
        raise TypeError(
            f"step_times must be a LinearService, or a list of the times of steps with 1, 2, ... "
            f"sequences, got {step_times!r}"
        )
    times = errors.array("step_times", step_times, at_least=0)
    if times.ndim != 1 or times.size == 0 or times.min() <= 0:
        raise ValueError(f"step_times must be a list of times above 0, got {step_times!r}")
    ends = [errors.exact("step_times", time) for time in times[-2:]]
    growth = ends[-1] - ends[0]
    if growth < 0:
        raise ValueError(
            f"step_times must not fall at the end, where the line goes on, got {times[-2]} and "
            f"{times[-1]}"
        )
    first = max(0.0, 2 * times[0] - times[1]) if times.size > 1 else times[0]
    table = np.concatenate([[min(first, times[0])], times])
    return _checked(Steps(table, float(growth), growth, ends[-1]))


def _checked(steps: Steps) -> Steps:
    if not 1e-150 <= steps.table[1] <= 1e150 or steps.table.max() > 1e150:
        raise ValueError(
            f"step_times must be 1e-150 s to 1e150 s, for float64 to hold what follows from them, "
            f"got {steps.table[1]:g} s to {steps.table.max():g} s"
        )
    return steps
