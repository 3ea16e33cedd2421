"""When the running call has to be over, for work that can stop early."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_deadline: ContextVar[float] = ContextVar("eagle_rag_deadline", default=math.inf)


def current_deadline() -> float:
    """End of the running call in :func:`time.monotonic` time; infinity outside of a call."""
    return _deadline.get()


@contextmanager
def due_at(deadline: float) -> Iterator[None]:
    """Run a block that has to be over at ``deadline``."""
    token = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(token)
