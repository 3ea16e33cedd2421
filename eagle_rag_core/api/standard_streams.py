"""Keeping stdin and stdout for the protocol alone."""

from __future__ import annotations

import os
import sys

from eagle_rag_core.errors import ConfigError


class StandardStreams:
    """Takes stdin and stdout away from the process for good.

    Whatever Python or C write to stdout goes to stderr, and whatever reads stdin finds its end.
    Without this a ``print`` in a pack's module would be the first "message" the client reads, one
    at exit the last, and an ``input()`` would swallow what the client sends.

    :ivar requests: stdin as it was.
    :ivar answers: stdout as it was, unbuffered.
    :raises ConfigError: the process was started without one of them.
    """

    def __init__(self) -> None:
        if sys.stdin is None or sys.stdout is None:  # closed by whoever started the process
            raise ConfigError(
                "MCP over stdio needs stdin and stdout; start the server from an MCP client, or "
                "serve HTTP."
            )
        sys.stdout.flush()
        # Never closed: a thread may still wait for the last line when the server has ended.
        self.requests = os.fdopen(os.dup(0), "rb", closefd=False)
        self.answers = os.fdopen(os.dup(1), "wb", buffering=0, closefd=False)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
