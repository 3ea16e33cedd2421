"""A worker process as its parent holds it: a pipe to it, a pipe from it, and its end."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from eagle_rag_core.errors import EagleError, IngestError
from eagle_rag_core.jobs.limits import too_much_memory
from eagle_rag_core.jobs.messages import Command, Event, Hello, decode, encode
from eagle_rag_core.types import JobStage

_LOG = logging.getLogger(__name__)
#: Signals that others send; the rest a process brings on itself.
_FROM_OUTSIDE = frozenset(
    getattr(signal, name)
    for name in ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP")
    if hasattr(signal, name)
)
#: A process that ends by itself at so much of its limit has met it: native code that gets no
#: memory aborts.
_NEARLY = 0.8


@dataclass(frozen=True, slots=True)
class Exited:
    """A process is gone.

    :param code: its exit status, or minus the number of the signal that ended it.
    :param peak_mb: most memory it ever had, 0 where that is unknown.
    """

    code: int
    peak_mb: float = 0.0

    def reason(self, stage: JobStage, memory_mb: int) -> EagleError:
        """Why the job failed that it was running.

        :param memory_mb: the limit it had.
        """
        if -self.code in _FROM_OUTSIDE:
            return EagleError(
                f"The worker process was ended from outside ({self._how}), perhaps because the "
                "machine ran out of memory.",
                retryable=True,
            )
        if memory_mb and self.peak_mb >= _NEARLY * memory_mb:
            return too_much_memory(memory_mb)
        message = f"The source ended the worker process ({self._how}) in the stage {stage}."
        early = stage in (JobStage.PARSE, JobStage.CHUNK, JobStage.ENRICH)
        return IngestError(message) if early else EagleError(message)

    @property
    def _how(self) -> str:
        return f"signal {-self.code}" if self.code < 0 else f"exit status {self.code}"


class ChildProcess:
    """A running worker process.

    Start it in a thread that outlives it: on Linux the process dies with the thread.

    :param module: what the process runs.
    :param hear: is given every message, and at last :class:`Exited`; called in another thread.
    """

    def __init__(self, module: str, hello: Hello, hear: Callable[[Event | Exited], object]) -> None:
        self._hear = hear
        self._process = start_module(module)
        self.pid = self._process.pid
        self._reader = threading.Thread(
            target=self._read, name=f"eagle-rag-child-{self.pid}", daemon=True
        )
        self._reader.start()
        self.send(hello)

    def send(self, command: Command) -> None:
        """Say something; nothing happens if the process is gone."""
        assert self._process.stdin is not None
        with suppress(OSError, ValueError):
            self._process.stdin.write(encode(command))
            self._process.stdin.flush()

    def kill(self) -> None:
        """End it whatever it does; :class:`Exited` follows."""
        with suppress(OSError):
            self._process.kill()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = decode(line)
            if message is None or isinstance(message, Command):
                _LOG.warning("Worker process %d said something odd.", self.pid)
            else:
                self._hear(message)
        exited = self._reap()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                assert stream is not None
                stream.close()
        self._hear(exited)

    def _reap(self) -> Exited:
        if hasattr(os, "wait4"):
            with suppress(ChildProcessError):
                _, status, usage = os.wait4(self.pid, 0)
                self._process.returncode = os.waitstatus_to_exitcode(status)
                return Exited(self._process.returncode, _peak_mb(usage.ru_maxrss))
        return Exited(self._process.wait())


def start_module(module: str) -> subprocess.Popen[bytes]:
    """Run a module in a process that imports what this one does, with pipes to it and from it."""
    return subprocess.Popen(
        # -P: the working folder is no place to import from unless it is one for us.
        [sys.executable, "-P", "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**_without_tokens(os.environ), "PYTHONPATH": os.pathsep.join(_absolute(sys.path))},
    )


def _without_tokens(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without what callers of the server are known by."""
    return {
        name: value
        for name, value in environ.items()
        if not name.upper().startswith(("AUTH_API_KEY", "EAGLE_RAG_AUTH__"))
    }


def _peak_mb(peak: int) -> float:
    """The most memory a child ever had, from what the system says of it."""
    import resource

    # A process starts with its parent's peak; only what is above that is known to be its own.
    if peak <= resource.getrusage(resource.RUSAGE_SELF).ru_maxrss:
        return 0.0
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def _absolute(path: Sequence[str]) -> list[str]:
    """The import path, without what depends on the working folder."""
    return [os.path.abspath(entry) for entry in path]  # noqa: PTH100 - "" is the working folder
