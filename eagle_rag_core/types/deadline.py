"""When the running call has to be over, for work that can stop early."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class _Deadline:
    """A moment that whoever set it may still bring forward."""

    __slots__ = ("at",)

    def __init__(self, at: float) -> None:
        self.at = at


_deadline: ContextVar[_Deadline] = ContextVar("eagle_rag_deadline")
_NONE = _Deadline(math.inf)


def current_deadline() -> float:
    """End of the running call in :func:`time.monotonic` time; infinity outside of a call.

    Ask again now and then: a call that is given up, say because its client went away, is over at
    once, and its deadline is minus infinity from then on.
    """
    return _deadline.get(_NONE).at


@contextmanager
def due_at(deadline: float) -> Iterator[None]:
    """Run a block that has to be over at ``deadline``.

    When the block ends by an exception, what it left behind in other threads is out of time.
    """
    own = _Deadline(deadline)
    token = _deadline.set(own)
    try:
        yield
    except BaseException:
        own.at = -math.inf
        raise
    finally:
        _deadline.reset(token)
