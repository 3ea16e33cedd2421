"""What the protection of calls reports while it works, for metrics and logs."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from eagle_rag_core.calls.breaker import CircuitState
from eagle_rag_core.errors import ErrorCode

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CircuitChanged:
    """A circuit opened, closed, or lets a probe through.

    :param borrowed: another process found it so.
    """

    operation: str
    dependency: str
    before: CircuitState
    after: CircuitState
    borrowed: bool


@dataclass(frozen=True, slots=True)
class CallRefused:
    """A call was turned away before it began.

    :param reason: ``circuit_open`` or ``overloaded``.
    """

    operation: str
    dependency: str
    reason: ErrorCode


@dataclass(frozen=True, slots=True)
class CallRetried:
    """A call is about to be made again.

    :param attempt: 1 for the first repetition.
    :param code: the error code it failed with, or the name of a foreign exception.
    """

    operation: str
    dependency: str
    attempt: int
    code: str


@dataclass(frozen=True, slots=True)
class CallAbandoned:
    """Nobody waits any more for a call whose thread still runs.

    :param abandoned: such calls of this operation at the moment.
    """

    operation: str
    dependency: str
    abandoned: int


CallEvent = CircuitChanged | CallRefused | CallRetried | CallAbandoned
#: Called from any thread, within a call: it has to be quick.
Listener = Callable[[CallEvent], None]


class Listeners:
    """Those who want to know; one that fails harms neither the call nor the others."""

    def __init__(self) -> None:
        self._listeners: tuple[Listener, ...] = (_log,)

    def add(self, listener: Listener) -> None:
        self._listeners = (*self._listeners, listener)

    def tell(self, event: CallEvent) -> None:
        for listener in self._listeners:
            try:
                listener(event)
            except Exception:
                _LOG.exception("A listener to calls failed")


def _log(event: CallEvent) -> None:
    if isinstance(event, CircuitChanged):
        level = logging.INFO if event.after is not CircuitState.OPEN else logging.WARNING
        by = " by another process" if event.borrowed else ""
        _LOG.log(level, "The circuit of %s is %s%s", event.operation, event.after, by)
    elif isinstance(event, CallAbandoned):
        _LOG.warning(
            "A call of %s was given up and still runs; %d such", event.operation, event.abandoned
        )
