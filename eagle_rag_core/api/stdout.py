"""Keeping stdout for MCP alone: everything else that is written to it goes to stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


class ReservedStdout:
    """Takes stdout away from the process for good; whatever Python or C write goes to stderr.

    Without this, a ``print`` in a pack's module would be the first "message" the client reads,
    and one at exit the last.
    """

    def __init__(self) -> None:
        sys.stdout.flush()
        self._wire = os.dup(1)
        os.dup2(2, 1)

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Stdout as it was, for the block: the MCP transport takes it over and guards it itself."""
        sys.stdout.flush()
        os.dup2(self._wire, 1)
        try:
            yield
        finally:
            os.dup2(2, 1)  # before anything that is still buffered can follow the last message
