"""The trace that a call belongs to: one id in the log, the audit, spans and error answers.

Callers hand theirs over as W3C Trace Context; otherwise one is made.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

#: Version, trace, parent, flags; later versions may append more.
_TRACEPARENT: Final = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_LONGEST: Final = 256


@dataclass(frozen=True, slots=True)
class Trace:
    """What links the parts of one piece of work.

    :param trace_id: 32 hexadecimal digits.
    :param parent_id: 16 hexadecimal digits: the caller's span; "" where the trace begins here.
    :param sampled: whoever began the trace records it.
    """

    trace_id: str
    parent_id: str = ""
    sampled: bool = True


_current: ContextVar[Trace | None] = ContextVar("eagle_rag_trace", default=None)


def parse_traceparent(text: object) -> Trace | None:
    """The trace of a ``traceparent`` (W3C Trace Context, section 3.2); None if it is not valid."""
    if not isinstance(text, str) or len(text) > _LONGEST:
        return None
    match = _TRACEPARENT.fullmatch(text)
    if match is None:
        return None
    version, trace_id, parent_id, flags, more = match.groups()
    if (
        version == "ff"
        or (version == "00" and more)
        or not (int(trace_id, 16) * int(parent_id, 16))
    ):
        return None
    return Trace(trace_id, parent_id, sampled=bool(int(flags, 16) & 1))


def new_trace() -> Trace:
    """A trace that begins here."""
    return Trace(secrets.token_hex(16))


def current_trace() -> Trace | None:
    """The trace of the running request or call."""
    return _current.get()


def current_trace_id() -> str:
    """The id of the running trace, or a new one outside of any."""
    return (current_trace() or new_trace()).trace_id


@contextmanager
def tracing(trace: Trace) -> Iterator[Trace]:
    """Run a block as a part of a trace."""
    token = _current.set(trace)
    try:
        yield trace
    finally:
        _current.reset(token)
