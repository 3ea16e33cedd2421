"""The tripwire: an audit hook that looks only at threads which run a watched tool.

An audit hook can never be removed, so there is one for the process, installed by the first watch.
Whose work a thread does is kept per thread rather than per context, because a context is left by
``contextvars.Context().run``. Threads that watched code starts are watched too.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

from eagle_rag_core.errors import EffectRefused
from eagle_rag_core.plugins.effects.events import JUDGES, EffectKind
from eagle_rag_core.plugins.effects.permissions import Permissions

P = ParamSpec("P")
T = TypeVar("T")

#: Effects of one call that are noted; further ones are refused all the same.
_NOTED: Final = 20


@dataclass(frozen=True, slots=True)
class Effect:
    """Something that watched code tried to do.

    :param event: name of the audit event.
    :param target: the file, address, command or module; for operators, not for callers.
    :param place: module and line of the pack, "" if it is not on the stack.
    """

    kind: EffectKind
    event: str
    target: str
    place: str

    def __str__(self) -> str:
        place = f" at {self.place}" if self.place else ""
        return f"{self.kind}: {self.event} {self.target}{place}"


class Watch:
    """What one call tries, and must not. Every effect is refused before it happens.

    :param report: told of every noted effect, in the thread that tried it; also of those that
        threads of the call try after it is over.
    """

    def __init__(
        self, permitted: Permissions, report: Callable[[Effect], None] = lambda effect: None
    ) -> None:
        self._permitted = permitted
        self._report = report
        self.effects: list[Effect] = []

    def see(self, event: str, args: tuple[Any, ...]) -> None:
        """Judge an event.

        :raises EffectRefused: it is an effect; the operation behind the event does not happen.
        """
        judgement = JUDGES[event](args, self._permitted)
        if judgement is None:
            return
        kind, target = judgement
        if len(self.effects) < _NOTED:
            effect = Effect(kind, event, target, _place(self._permitted.package))
            self.effects.append(effect)
            self._report(effect)
        raise EffectRefused(f"A pack's tool must not {kind.phrase}.")


class _Thread(threading.local):
    watch: Watch | None = None


_this: Final = _Thread()
_lock: Final = threading.Lock()
_installed = False


@contextmanager
def watching(watch: Watch) -> Iterator[Watch]:
    """Watch what this thread does in the block, and what the threads it starts do."""
    _install()
    before, _this.watch = _this.watch, watch
    try:
        yield watch
    finally:
        _this.watch = before


def unwatched(function: Callable[P, T]) -> Callable[P, T]:
    """``function`` as work of the core: while it runs, its thread is not watched."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        watch, _this.watch = _this.watch, None
        try:
            return function(*args, **kwargs)
        finally:
            _this.watch = watch

    return run


def _install() -> None:
    global _installed
    if _installed:
        return
    with _lock:
        if not _installed:
            sys.addaudithook(_hook)
            setattr(threading.Thread, "start", _following(threading.Thread.start))  # noqa: B010
            _installed = True


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if event not in JUDGES:
        return
    watch = _this.watch
    if watch is None:
        return
    # Judging and reporting are not the tool's own doing.
    _this.watch = None
    try:
        watch.see(event, args)
    finally:
        _this.watch = watch


def _following(start: Callable[[threading.Thread], None]) -> Callable[[threading.Thread], None]:
    """``Thread.start`` that takes the watch of the starting thread along.

    Not by an audit event: Python 3.11 has none for new threads.
    """

    @wraps(start)
    def start_and_follow(self: threading.Thread) -> None:
        if (watch := _this.watch) is not None:
            self.run = _watched(self.run, watch)  # type: ignore[method-assign]
        start(self)

    return start_and_follow


def _watched(run: Callable[[], None], watch: Watch) -> Callable[[], None]:
    def run_watched() -> None:
        _this.watch = watch
        run()

    return run_watched


def _place(package: str) -> str:
    """Where in the pack this thread is."""
    frame = sys._getframe(1)
    while package and frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] == package:
            return f"{module}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return ""
