"""Who is calling, and what that caller may see."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated caller. Every service call takes one.

    :param id: stable name for audit and job ownership, e.g. ``local`` or a token's client id.
    :param kbs: knowledge bases the caller may read and write; ``None`` means all of them.
    :param local: the user of this machine (command line, stdio's parent process). The command
        line reads any file its user can read.
    :param any_path: may ingest files outside ``ingest.allowed_roots`` (command line only).
    """

    id: str
    kbs: frozenset[str] | None = None
    local: bool = False
    any_path: bool = False

    def may_read(self, kb_name: str) -> bool:
        return self.kbs is None or kb_name in self.kbs


#: The user at the command line: all knowledge bases, all files that user can read.
COMMAND_LINE = Caller("command-line", local=True, any_path=True)
#: The parent process of a stdio server: all knowledge bases, files below the allowed roots.
LOCAL = Caller("local", local=True)

_current: ContextVar[Caller] = ContextVar("eagle_rag_caller")


def current_caller() -> Caller:
    """The caller of the running call, set by ``calls/``; packs are scoped by it.

    :raises LookupError: outside of a call.
    """
    return _current.get()


@contextmanager
def acting_for(caller: Caller) -> Iterator[None]:
    """Run a block on behalf of ``caller``."""
    token = _current.set(caller)
    try:
        yield
    finally:
        _current.reset(token)
