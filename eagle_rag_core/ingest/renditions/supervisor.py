"""Runs a converter within bounds. A program of its own, which imports nothing but the library of
Python: ``supervisor.py <order as JSON>``.

It is the converter's parent, so that bounds are set between fork and exec without running Python
in a child of a process with threads; and it ends the converter with all its processes when time is
up, when its input ends (whoever waits for it is gone, and will not remove its folder either), and
in the end in any case.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

#: How it ends: the converter was done, failed, or took too long.
DONE, FAILED, OVERDUE = 0, 3, 4
_CLONE_NEWNET = 0x40000000
_CLONE_NEWUSER = 0x10000000


def main() -> int:
    """Run the converter that the order names."""
    order = json.loads(sys.argv[1])
    cut_network()
    _limit(order["seconds"], order["bytes"], order["memory_mb"])
    try:
        converter = subprocess.Popen(
            order["command"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )
    except OSError:
        return FAILED
    alone = threading.Event()
    threading.Thread(target=_end_with_input, args=[converter.pid, alone], daemon=True).start()
    try:
        return FAILED if converter.wait(order["seconds"]) else DONE
    except subprocess.TimeoutExpired:
        return OVERDUE
    finally:
        _end(converter.pid)
        if alone.is_set():
            shutil.rmtree(order["folder"], ignore_errors=True)


def cut_network() -> bool:
    """Leave all networks, where the system (Linux) lets this process; the loopback goes too."""
    if not sys.platform.startswith("linux"):
        return False
    with suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(_CLONE_NEWNET) == 0:
            return True
        user, group = os.getuid(), os.getgid()
        if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) == 0:
            # Without a map the user is nobody in there, and files of its own look foreign.
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
            Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
            return True
    return False


def _limit(seconds: float, written: int, memory_mb: int) -> None:
    import resource

    wanted = {
        resource.RLIMIT_CPU: int(seconds) + 1,
        resource.RLIMIT_FSIZE: written,
        resource.RLIMIT_CORE: 0,
    }
    if sys.platform.startswith("linux"):
        wanted[resource.RLIMIT_DATA] = memory_mb * 2**20
    for kind, limit in wanted.items():
        _, hard = resource.getrlimit(kind)
        if hard != resource.RLIM_INFINITY:
            limit = min(limit, hard)
        resource.setrlimit(kind, (limit, limit))


def _end_with_input(group: int, alone: threading.Event) -> None:
    with suppress(OSError):
        while os.read(0, 1):
            pass
    alone.set()
    _end(group)


def _end(group: int) -> None:
    with suppress(OSError):
        os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
