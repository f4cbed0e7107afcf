"""The process that holds one submission: runs its cells, then answers calls of its functions.

It is started with a file descriptor to answer on. It knows the submission and the arguments of
the calls, nothing else: no checks, no right answers, no other submission.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import guard  # noqa: E402
import wire  # noqa: E402


class TooLong(BaseException):
    """Not an `Exception`, so that a submission's own handlers let it through."""


def _ring(_: int, __: FrameType | None) -> None:
    raise TooLong


def _argument(raw: Any) -> Any:
    if isinstance(raw, dict) and set(raw) == {"symbol"}:
        import sympy

        return sympy.Symbol(raw["symbol"], positive=True)
    if isinstance(raw, dict) and set(raw) == {"array"}:
        import numpy

        return numpy.array(raw["array"], dtype=float)
    return raw


def _run(source: str, names: dict[str, Any], seconds: float) -> None:
    """Execute a cell; what it should have defined and did not is missed when it is called."""
    try:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        exec(compile(source, "cell", "exec"), names)
    except BaseException:  # noqa: S110 - as in a notebook, the next cell is run all the same
        pass
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _call(names: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
    try:
        function = names.get(request["name"])
        if function is None:
            return {"error": "Missing", "kinds": []}
        args = [_argument(raw) for raw in request["args"]]
        given = {key: _argument(raw) for key, raw in request["keywords"].items()}
        signal.setitimer(signal.ITIMER_PROF, request["seconds"])
        value = wire.pack(function(*args, **given))
        signal.setitimer(signal.ITIMER_PROF, 0)
        return {"value": value}
    except BaseException as error:
        signal.setitimer(signal.ITIMER_PROF, 0)
        return {"error": type(error).__name__, "kinds": [k.__name__ for k in type(error).__mro__]}


def main() -> None:
    """Serve calls until the checker hangs up."""
    requests = os.fdopen(int(sys.argv[1]), "r", encoding="utf-8")
    replies = os.fdopen(int(sys.argv[2]), "w", encoding="utf-8")
    start = json.loads(requests.readline())
    signal.signal(signal.SIGPROF, _ring)
    import numpy  # noqa: F401 - once, so that no call pays for it

    guard.set_up(os.getcwd(), start["closed"], start["forbidden"], memory=start["memory"])
    # A notebook's own module is called __main__; this one's names are none of its business.
    module = ModuleType("__main__")
    sys.modules["__main__"] = module
    sys.argv[:] = ["notebook"]
    names = module.__dict__
    names["display"] = lambda *_, **__: None
    print("{}", file=replies, flush=True)
    for line in requests:
        request = json.loads(line)
        try:
            if "cell" in request:
                _run(request["cell"], names, start["seconds"])
                reply = "{}"
            else:
                reply = json.dumps(_call(names, request))
        except (ValueError, RecursionError, MemoryError):
            reply = json.dumps({"error": "MemoryError", "kinds": []})
        print(reply, file=replies, flush=True)


if __name__ == "__main__":
    main()
