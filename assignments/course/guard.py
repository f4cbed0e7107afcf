"""What submitted code may not do, as an audit hook: once set, it cannot be taken off again.

It stops accidents and the usual tricks: writing or deleting outside the folder it runs in,
reading the course's files, starting programs, opening connections. It is no prison for native
code; for that a container is needed, as the instructor's page says.
"""

from __future__ import annotations

import os
import re
import resource
import sys
from collections.abc import Callable, Iterable

STARTS = {
    "os.system",
    "os.exec",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.spawn",
    "pty.spawn",
    "subprocess.Popen",
    "os.kill",
    "os.killpg",
    "signal.pthread_kill",
    "socket.connect",
    "socket.bind",
    "socket.sendto",
}
CHANGES = {
    "os.remove",
    "os.rmdir",
    "os.rename",
    "os.link",
    "os.symlink",
    "os.truncate",
    "os.chmod",
    "os.chown",
    "os.mkdir",
    "os.chflags",
    "os.setxattr",
    "os.removexattr",
    "os.utime",
    "shutil.rmtree",
    "shutil.move",
}
READS = {"open", "os.listdir", "os.scandir", "os.chdir"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
OTHERS = re.compile(r"/proc/\d+/(task/\d+/)?(environ|mem|maps|cmdline|fd|map_files)")


def set_up(
    home: str,
    secret: Iterable[str] = (),
    modules: Iterable[str] = (),
    network: bool = False,
    memory: int = 4 << 30,
) -> None:
    """Confine this process from now on.

    Parameters
    ----------
    home : str
        The one folder in which it may write.
    secret : iterable of str
        Folders that it may not look into.
    modules : iterable of str
        Modules that it may not import; their folders belong among the secret ones.
    network : bool
        Whether it may open connections: a notebook's kernel talks to its client.
    memory : int
        Address space that it may have [bytes].
    """
    for kind, limit in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 1 << 24),
    ):
        resource.setrlimit(kind, (limit, limit))
    home = os.path.realpath(home)
    closed = tuple(os.path.realpath(folder) for folder in secret)
    sys.addaudithook(_hook(home, closed, frozenset(modules), network))


def _hook(
    home: str, closed: tuple[str, ...], modules: frozenset[str], network: bool
) -> Callable[[str, tuple[object, ...]], None]:
    # All that the hook needs is bound here: submitted code could replace a module's names.
    starts = frozenset(n for n in STARTS if not (network and n.startswith("socket")))
    changes, reads, writing, others = frozenset(CHANGES), frozenset(READS), WRITING, OTHERS.match
    real, text, isinst, decode = os.path.realpath, str, isinstance, os.fsdecode
    own = f"/proc/{os.getpid()}"

    def within(path: str, folder: str) -> bool:
        return path == folder or path.startswith(folder + "/")

    def hook(event: str, given: tuple[object, ...]) -> None:
        if event in starts:
            raise PermissionError(f"graded code may not use {event}")
        if event == "import":
            name = text(given[0]).partition(".")[0]
            if name in modules:
                raise ImportError(f"{name} may not be used in this task")
        elif event in changes:
            for path in given[:2]:
                if isinst(path, (text, bytes)) and not within(real(decode(path)), home):
                    raise PermissionError("graded code may write in its own folder only")
        elif event in reads and given and isinst(given[0], (text, bytes)):
            path = real(decode(given[0]))
            if event == "open" and isinst(given[2], int) and given[2] & writing:
                if not within(path, home) and path != "/dev/null":
                    raise PermissionError("graded code may write in its own folder only")
            if any(within(path, folder) for folder in closed):
                raise PermissionError("graded code may not read the course's files")
            if others(path) and not within(path, own):
                raise PermissionError("graded code may not look at other processes")

    return hook
