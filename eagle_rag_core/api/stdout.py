"""Keeping stdout clean for MCP while packs and libraries are imported."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def reserved_stdout() -> Iterator[Callable[[], None]]:
    """Send whatever is written to stdout, by Python or by C, to stderr.

    Yields a function that gives stdout back; the MCP transport then takes it over and guards it
    itself. Without this, a ``print`` in a pack's module would be the first "message" the client
    reads.
    """
    sys.stdout.flush()
    wire = os.dup(1)
    os.dup2(2, 1)
    given_back = False

    def give_back() -> None:
        nonlocal given_back
        if not given_back:
            sys.stdout.flush()
            os.dup2(wire, 1)
            os.close(wire)
            given_back = True

    try:
        yield give_back
    finally:
        give_back()
