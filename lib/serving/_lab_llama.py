"""The process of the engine: llama.cpp's server, until its stdin is closed.

It is run as a file with its settings as JSON, prints the address on stdout, and logs on stderr.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

LOGS_CACHE = 4
"""Least verbosity at which the line about the cache is printed."""


def parameters(settings: dict[str, Any], xllamacpp: Any) -> Any:
    """Parameters of the server; what is not said here is llama.cpp's default."""
    made = xllamacpp.CommonParams()
    made.model.path = settings["model"]
    made.n_ctx = settings["context"]
    made.n_parallel = settings["slots"]
    made.kv_unified = settings["unified"]
    made.cache_type_k = made.cache_type_v = getattr(xllamacpp.ggml_type, settings["type"])
    for threads in (made.cpuparams, made.cpuparams_batch):
        threads.n_threads = settings["threads"]
    made.verbosity = LOGS_CACHE
    made.hostnames = ["127.0.0.1"]
    made.port = 0
    # Every prompt is read: what is kept of earlier ones would be found in some and not in others.
    made.cache_prompt = made.cache_idle_slots = False
    made.cache_ram_mib = 0
    return made


def main() -> None:
    """Serve."""
    import xllamacpp  # few have it, and this file is found by who looks through the package

    server = xllamacpp.Server(parameters(json.loads(sys.argv[1]), xllamacpp))
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)  # its threads would go on with what they have begun


if __name__ == "__main__":
    main()
