"""What a worker process gives up: priority, memory beyond a limit, and life without its parent."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress

_PR_SET_PDEATHSIG = 1
#: Where people wait for answers meanwhile.
_NICE = 10


def confine(memory_mb: int, *, yields: bool) -> None:
    """Confine this process.

    :param memory_mb: memory it may fill, 0 for any; where the system can hold it to that (Linux).
    :param yields: let others have the processor first.
    """
    if yields and hasattr(os, "nice"):
        os.nice(_NICE)
    if memory_mb and sys.platform == "linux":
        import resource

        # Not the address space: threads, models and index files map much that they never fill.
        limit = memory_mb * 2**20
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        if hard == resource.RLIM_INFINITY or limit < hard:
            resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


def die_with_parent(parent: int) -> None:
    """Let the system kill this process when its parent is gone, whatever it is doing then.

    Elsewhere than on Linux the end of its input tells it, unless native code keeps it busy.

    :param parent: process id of the parent.
    """
    if sys.platform != "linux":
        return
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it was gone already
        os._exit(1)
