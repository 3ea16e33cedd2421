"""One of several processes that serve one port.

Started by :mod:`eagle_rag_core.api.serving.workers`, never by people. What it needs to know comes
on stdin, whose end means that its supervisor is gone; a line on what was stdout says that the
process serves.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
from typing import Any

from eagle_rag_core.errors import EagleError


def main() -> None:
    """Serve until SIGTERM, or until the supervisor is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    wire = os.dup(1)
    os.dup2(2, 1)  # whatever packs and libraries print
    first = sys.stdin.buffer.readline()
    if not first:
        sys.exit("This is a part of eagle-rag that it starts itself; use `eagle-rag serve`.")
    threading.Thread(target=_end_with_supervisor, name="supervised", daemon=True).start()
    try:
        _serve(json.loads(first), wire)
    except EagleError as error:
        sys.exit(f"Error [{error.code}]: {error.message}")


def _serve(hello: dict[str, Any], wire: int) -> None:
    from eagle_rag_core.api.mcp_http import serve_app
    from eagle_rag_core.bootstrap import leave, opened
    from eagle_rag_core.settings.transfer import loads

    settings = loads(hello["settings"])
    bound = socket.socket(fileno=hello["socket"])
    with opened(settings, no_packs=hello["no_packs"]) as app:
        serve_app(
            app, bound, host=hello["host"], ready=lambda: os.write(wire, b"ready\n"), alone=False
        )
    leave()


def _end_with_supervisor() -> None:
    while os.read(0, 1024):  # not through the buffer, which the interpreter's end wants to lock
        continue
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
