"""How a parser tells how far it is, without a parameter that all others would have to carry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_LISTENER: ContextVar[Callable[[float], None] | None] = ContextVar("parsing", default=None)


@contextmanager
def listening(listener: Callable[[float], None]) -> Iterator[None]:
    """Hand what is parsed inside on to ``listener``.

    :param listener: gets the share that is done, 0..1; what it raises ends the parsing.
    """
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def parsed(share: float) -> None:
    """Say how far parsing is; for work that takes seconds, after each step of it.

    :param share: 0..1.
    """
    listener = _LISTENER.get()
    if listener is not None:
        listener(share)
