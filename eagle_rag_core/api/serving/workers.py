"""Several processes that serve one port: their supervisor."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Final

from eagle_rag_core.errors import ConfigError
from eagle_rag_core.settings import Settings
from eagle_rag_core.settings.transfer import dumps

_LOG = logging.getLogger(__name__)
_MODULE: Final = "eagle_rag_core.api.serving.worker_process"
_LOOK_SECONDS: Final = 0.1
#: Before a process is started anew that ended soon after its start; doubled each time.
_FIRST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 30.0
#: A process that served so long has not failed at its start.
_SETTLED_SECONDS: Final = 60.0
#: For a process to end, beyond what its calls may take.
_ENDING_SECONDS: Final = 15.0


def check_workers(settings: Settings) -> None:
    """Refuse several processes where they cannot share what they need.

    :raises ConfigError: with the reason.
    """
    if settings.mcp.workers == 1:
        return
    if os.name != "posix":
        raise ConfigError(
            "mcp.workers above 1 needs a system on which processes can share a port, which "
            "Windows is not; start several servers on ports of their own, on one home."
        )
    uri = settings.milvus.uri
    if uri and "://" not in uri:
        raise ConfigError(
            "mcp.workers is above 1, and milvus.uri is a Milvus Lite file, which one process at a "
            "time can open. Leave milvus.uri empty for the local index, or name a Milvus server."
        )


def serve_with_workers(
    settings: Settings, bound: socket.socket, *, host: str, no_packs: bool
) -> None:
    """Serve in ``mcp.workers`` processes until SIGINT or SIGTERM; calls in flight may finish.

    A process that ends by itself is started anew.

    :param bound: closed at the end.
    :param host: the address it is bound to.
    :raises ConfigError: the processes end before they ever served.
    """
    hello = {
        "settings": dumps(settings),
        "no_packs": no_packs,
        "host": host,
        "socket": bound.fileno(),
    }
    longest = settings.mcp.drain_seconds + settings.mcp.tool_timeout + _ENDING_SECONDS
    supervisor = Supervisor(lambda: Child(hello, bound), settings.mcp.workers, longest)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, supervisor.stop)
    with bound:
        supervisor.run(bound.close)


class Child:
    """A serving process as its supervisor holds it."""

    def __init__(self, hello: dict[str, object], bound: socket.socket) -> None:
        self._began = time.monotonic()
        self._process = subprocess.Popen(
            # -P: the working folder is no place to import from unless it is one for us.
            [sys.executable, "-P", "-m", _MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[bound.fileno()],
            # Ctrl-C is for the supervisor.
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
        )
        self.pid = self._process.pid
        self.ready = False
        threading.Thread(target=self._listen, name=f"worker-{self.pid}", daemon=True).start()
        assert self._process.stdin is not None
        with suppress(OSError):  # it is gone already
            # Stays open: its end tells the process that the supervisor is gone.
            self._process.stdin.write(json.dumps(hello).encode() + b"\n")
            self._process.stdin.flush()

    @property
    def code(self) -> int | None:
        """Its exit status once it has ended."""
        return self._process.poll()

    @property
    def age(self) -> float:
        return time.monotonic() - self._began

    def send(self, number: int) -> None:
        with suppress(OSError):
            self._process.send_signal(number)

    def release(self, seconds: float) -> None:
        """Wait for the end, and force it after a while."""
        try:
            self._process.wait(max(0.0, seconds))
        except subprocess.TimeoutExpired:
            _LOG.error("Server process %d does not end; it is killed.", self.pid)
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                assert stream is not None
                stream.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with suppress(ValueError):  # closed
            for _ in self._process.stdout:
                self.ready = True


class Supervisor:
    """Keeps so many processes running.

    :param start: starts one.
    :param longest: seconds that one may take to end.
    """

    def __init__(self, start: Callable[[], Child], count: int, longest: float) -> None:
        self._start = start
        self._count = count
        self._longest = longest
        self._children: list[Child] = []
        self._stopping = False
        self._signals = 0
        self._pause = _FIRST_PAUSE
        self._not_before = 0.0

    def stop(self, _number: int = 0, _frame: FrameType | None = None) -> None:
        """End; once more, without waiting for calls. Made to be a signal handler."""
        self._signals += 1
        self._stopping = True

    def run(self, stopping: Callable[[], object]) -> None:
        """Run until :meth:`stop`.

        :param stopping: called before the processes are told to end.
        :raises ConfigError: none of them ever served.
        """
        served = False
        try:
            while not self._stopping:
                self._staff(served)
                served = served or any(child.ready for child in self._children)
                time.sleep(_LOOK_SECONDS)
        finally:
            stopping()
            self._end()

    def _staff(self, served: bool) -> None:
        for child in [child for child in self._children if child.code is not None]:
            self._children.remove(child)
            child.release(0.0)
            if not served and not child.ready:
                raise ConfigError("A server process could not start; it has said why above.")
            _LOG.error("Server process %d ended (%s); another follows.", child.pid, child.code)
            self._pause = (
                _FIRST_PAUSE
                if child.age > _SETTLED_SECONDS
                else min(2 * self._pause, _LONGEST_PAUSE)
            )
            self._not_before = time.monotonic() + self._pause
        missing = self._count - len(self._children)
        if missing and time.monotonic() >= self._not_before:
            self._children.extend(self._start() for _ in range(missing))

    def _end(self) -> None:
        for child in self._children:
            child.send(signal.SIGTERM)
        told, until = 1, time.monotonic() + self._longest
        while any(child.code is None for child in self._children) and time.monotonic() < until:
            if self._signals > told:
                told = self._signals
                for child in self._children:
                    child.send(signal.SIGINT)
            time.sleep(_LOOK_SECONDS)
        for child in self._children:
            child.release(until - time.monotonic())
