"""Runs modules of the product in forks of a process that has imported them already.

Started by :mod:`e2e.warm`. Each request on the socket is one JSON object with the file descriptors
of stdin, stdout, stderr and of the pipe that the child's exit status goes to; the answer is the
process id. The host ends with the socket.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import sys
from contextlib import suppress
from typing import Any

#: What commands and servers import on their way; none of these starts a thread.
PRELOADED = (
    "Stemmer",
    "alembic.command",
    "eagle_rag_core.api.mcp_http",
    "eagle_rag_core.assembly.building",
    "eagle_rag_core.catalog.migration",
    "eagle_rag_core.cli.checks",
    "eagle_rag_core.cli.doctor",
    "eagle_rag_core.cli.ingest",
    "eagle_rag_core.cli.search",
    "eagle_rag_core.ingest.sources.folder",
    "eagle_rag_core.jobs.celery_app",
    "eagle_rag_core.jobs.tickets",
    "eagle_rag_core.models.rapid_ocr",
    "eagle_rag_core.service",
    "eagle_rag_core.vectors.local.bases",
    "eagle_rag_core.vectors.local.bm25",
    "eagle_rag_core.vectors.local.index",
    "eagle_rag_core.vectors.local.store",
    "fsspec",
    "numpy",
    "rich.pretty",
    "rich.traceback",
    "structlog",
)
LARGEST_REQUEST = 1 << 20


class Host:
    """Forks on request, and tells what became of each child.

    :param connection: a socket that keeps the bounds of messages.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._waiting = selectors.DefaultSelector()
        self._waiting.register(connection, selectors.EVENT_READ)

    def child(self) -> dict[str, Any] | None:
        """Serve until the socket closes: None; or, in a child, the request it is for."""
        while True:
            for key, _ in self._waiting.select():
                if key.fileobj is self._connection:
                    request, fds = self._receive()
                    if request is None:
                        return None
                    if self._fork(fds) == 0:
                        return request
                else:
                    self._reap(key.fd, *key.data)

    def _receive(self) -> tuple[dict[str, Any] | None, list[int]]:
        data, fds, _, _ = socket.recv_fds(self._connection, LARGEST_REQUEST, 4)
        return (json.loads(data) if data else None), fds

    def _fork(self, fds: list[int]) -> int:
        *streams, status = fds
        pid = os.fork()
        if pid == 0:
            self._waiting.close()
            self._connection.close()
            for number, fd in enumerate(streams):
                os.dup2(fd, number)
            os.closerange(3, os.sysconf("SC_OPEN_MAX"))
            return 0
        for fd in streams:
            os.close(fd)
        self._waiting.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, status))
        self._connection.send(str(pid).encode())
        return pid

    def _reap(self, pidfd: int, pid: int, status: int) -> None:
        self._waiting.unregister(pidfd)
        os.close(pidfd)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with suppress(BrokenPipeError):
            os.write(status, str(code).encode())
        os.close(status)


def become(request: dict[str, Any]) -> None:
    """Run ``python -m <module> <arguments>`` under the environment and in the folder given."""
    os.environ.clear()
    os.environ.update(request["environ"])
    os.chdir(request["cwd"])
    on_path = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    sys.path[:] = [request["cwd"], *on_path, *sys.path]
    sys.argv = [request["module"], *request["arguments"]]
    sys.modules.pop(request["module"], None)
    runpy.run_module(request["module"], run_name="__main__", alter_sys=True)


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests, which end this
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a fork takes no threads along
    for name in PRELOADED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    request = Host(socket.socket(fileno=int(sys.argv[1]))).child()
    if request is not None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        become(request)


if __name__ == "__main__":
    main()
