"""Processes of the product that start warm: forks of one that has imported the product before.

They are processes like any other, with their own environment, folder, pipes and signals; only the
second of importing that comes before each of them is spent once for all. What is about a cold
start itself is started cold.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final

_HOST: Final = Path(__file__).parent / "warm_host.py"
#: What the interpreter itself reads as it starts: it has started already.
_READ_AT_START: Final = ("LANG", "LC_ALL", "LC_CTYPE", "TZ")
#: File descriptor, ``subprocess.PIPE`` or ``subprocess.DEVNULL``.
Stream = int


def can_start(command: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Whether a command is ``python -m <module of the product>``, of the interpreter of tests."""
    return (
        sys.platform == "linux"
        and tuple(command[:2]) == (sys.executable, "-m")
        and command[2].startswith("eagle_rag_core.")
        and all(os.environ.get(name) == environ.get(name) for name in _start_variables(environ))
    )


def _start_variables(environ: Mapping[str, str]) -> set[str]:
    of_python = {name for name in (*environ, *os.environ) if name.startswith("PYTHON")}
    return (of_python | set(_READ_AT_START)) - {"PYTHONPATH"}


class WarmProcess:
    """What :class:`subprocess.Popen` is for a process that starts warm."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        stdin: Stream,
        stdout: Stream,
        stderr: Stream,
    ) -> None:
        self.args = command
        self.returncode: int | None = None
        self._reading = threading.Lock()
        child_stdin, self.stdin = _pipe(stdin, to_child=True)
        child_stdout, self.stdout = _pipe(stdout, to_child=False)
        child_stderr, self.stderr = _pipe(stderr, to_child=False)
        self._status, told = os.pipe()
        request = {
            "module": command[2],
            "arguments": list(command[3:]),
            "environ": dict(env),
            "cwd": str(cwd),
        }
        passed = [child_stdin, child_stdout, child_stderr, told]
        self.pid = _host().start(json.dumps(request).encode(), passed)
        for fd in passed:
            os.close(fd)

    def poll(self) -> int | None:
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        """:raises subprocess.TimeoutExpired: it still runs."""
        ended = self._ended(timeout)
        if ended is None:
            raise subprocess.TimeoutExpired(list(self.args), timeout or 0)
        return ended

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def __del__(self) -> None:
        os.close(self._status)

    def _ended(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._status], [], [], timeout)[0]:
            with self._reading:
                if self.returncode is None:
                    self.returncode = int(os.read(self._status, 32))
        return self.returncode


def _pipe(wanted: Stream, *, to_child: bool) -> tuple[int, IO[bytes] | None]:
    """The end of the child, and that of the parent where there is one."""
    if wanted == subprocess.DEVNULL:
        return os.open(os.devnull, os.O_RDWR), None
    if wanted != subprocess.PIPE:
        return os.dup(wanted), None
    read, write = os.pipe()
    return (read, os.fdopen(write, "wb")) if to_child else (write, os.fdopen(read, "rb"))


def run(
    command: Sequence[str], *, env: Mapping[str, str], cwd: Path, timeout: float
) -> subprocess.CompletedProcess[str]:
    """``subprocess.run`` with captured text and without stdin.

    :raises subprocess.TimeoutExpired: it was killed.
    """
    with TemporaryFile() as stdout, TemporaryFile() as stderr:
        process = WarmProcess(
            command,
            env=env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=stdout.fileno(),
            stderr=stderr.fileno(),
        )
        try:
            code = process.wait(timeout)
        finally:
            process.kill()
        texts = []
        for output in (stdout, stderr):
            output.seek(0)
            texts.append(output.read().decode())
        return subprocess.CompletedProcess(list(command), code, *texts)


class _Host:
    """The process that forks."""

    def __init__(self) -> None:
        self._socket, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = threading.Lock()
        environ = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        with far:
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(_HOST), str(far.fileno())],
                env=environ,
                cwd=_HOST.parent,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[far.fileno()],
            )
        atexit.register(self.close)

    def start(self, request: bytes, fds: list[int]) -> int:
        """The id of a process that runs the module."""
        with self._lock:
            socket.send_fds(self._socket, [request], fds)
            return int(self._socket.recv(32))

    def close(self) -> None:
        self._socket.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(10)


@cache
def _host() -> _Host:
    return _Host()
