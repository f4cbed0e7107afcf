"""What every pytest run needs, that of the chapters included."""

import os
import tempfile
from itertools import count
from pathlib import Path

import nbval.kernel
import pytest
from jupyter_client.manager import KernelManager

# Explorations become still pictures; each kernel computes on one thread.
os.environ |= {"SERVING_STILL": "1", "OMP_NUM_THREADS": "1"}


def pytest_configure(config: pytest.Config) -> None:
    """Let nbval's workers start kernels at the same moment without picking the same free port."""
    if os.name == "nt":
        return
    folder = tempfile.TemporaryDirectory(prefix="kernels-")
    config.add_cleanup(folder.cleanup)
    number = count()

    def manager(**settings: object) -> KernelManager:
        file = Path(folder.name) / f"{next(number)}.json"
        return KernelManager(transport="ipc", connection_file=str(file), **settings)

    nbval.kernel.KernelManager = manager
