"""How long a step of an engine takes by the sequences in it: a line, or a list continued by one."""

from __future__ import annotations

from dataclasses import dataclass
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

    def time(self, running: Any) -> Any:
        """Time of a step by the number of sequences, 1 or more."""
        beyond = np.maximum(0, np.asarray(running) - (self.table.size - 1))
        inside = np.minimum(running, self.table.size - 1)
        return self.table[inside] + self.slope * beyond


def read(step_times: Any) -> Steps:
    """Step times as a table; errors name the argument."""
    if isinstance(step_times, LinearService):
        fixed, each = float(step_times.t_fixed), float(step_times.t_req)
        return Steps(np.array([fixed, fixed + each]), each)
    if errors.is_scalar(step_times):
        raise TypeError(
            f"step_times must be a LinearService, or a list of the times of steps with 1, 2, ... "
            f"sequences, got {step_times!r}"
        )
    times = errors.array("step_times", step_times, at_least=0)
    if times.ndim != 1 or times.size == 0 or times.min() <= 0:
        raise ValueError(f"step_times must be a list of times above 0, got {step_times!r}")
    slope = float(times[-1] - times[-2]) if times.size > 1 else 0.0
    if slope < 0:
        raise ValueError(
            f"step_times must not fall at the end, where the line goes on, got {times[-2]} and "
            f"{times[-1]}"
        )
    first = float(times[0] - (times[1] - times[0])) if times.size > 1 else float(times[0])
    return Steps(np.concatenate([[min(max(first, 0.0), float(times[0]))], times]), slope)
