"""A bounded pool for code that may never return.

Work that overruns its deadline cannot be stopped in Python, only left behind. Here it is
counted: a name with too much work left behind is refused until some of it ends, and the threads
are daemons, so that a hanging one cannot keep the process from exiting.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import Context, copy_context
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Stuck(Exception):
    """Earlier work of the same name overran its deadline and is still running."""


class Overrun(Exception):
    """The work did not finish within its deadline."""


@dataclass(frozen=True, slots=True)
class _Work:
    future: Future[Any]
    call: Callable[[], Any]
    context: Context

    def run(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            self.future.set_result(self.context.run(self.call))
        except Exception as error:
            self.future.set_exception(error)
        except BaseException as error:
            # SystemExit, KeyboardInterrupt and the like mean this thread, not the one who waits.
            self.future.set_exception(Quit(type(error).__name__))


class Quit(Exception):
    """The call tried to end its thread or the process; names what it raised."""


class WorkerPool:
    """Runs callables in daemon threads, each with the caller's context variables.

    :param workers: threads at most; further work waits for a free one.
    :param stuck_per_name: how many overrun calls of one name may still be running before new
        ones are refused.
    """

    def __init__(self, workers: int = 16, stuck_per_name: int = 2) -> None:
        self._max_workers = workers
        self._stuck_per_name = stuck_per_name
        self._changed = threading.Condition()
        self._queue: deque[_Work] = deque()
        self._threads = 0
        self._waiting = 0
        self._closed = False
        self._stuck: Counter[str] = Counter()

    def start(self, name: str, call: Callable[[], T]) -> Task[T]:
        """Start ``call``; its result is waited for with :meth:`Task.result`.

        :raises Stuck: too many earlier calls of this name never came back.
        """
        work = _Work(Future(), call, copy_context())
        with self._changed:
            if self._stuck[name] >= self._stuck_per_name:
                raise Stuck(name)
            self._queue.append(work)
            if len(self._queue) > self._waiting and self._threads < self._max_workers:
                self._threads += 1
                threading.Thread(target=self._serve, name="retrieval", daemon=True).start()
            else:
                self._changed.notify()
        return Task(self, name, work.future)

    def stuck(self) -> dict[str, int]:
        """Overrun calls that are still running, by name; for health reports."""
        with self._changed:
            return {name: count for name, count in self._stuck.items() if count}

    def close(self) -> None:
        """Let the threads end after the work they have."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def leave_behind(self, name: str, future: Future[Any]) -> None:
        """Cancel work nobody waits for any more, or count it until it ends."""
        if future.cancel():
            return
        with self._changed:
            self._stuck[name] += 1
        future.add_done_callback(lambda _: self._came_back(name))

    def _came_back(self, name: str) -> None:
        with self._changed:
            self._stuck[name] -= 1

    def _serve(self) -> None:
        while (work := self._next()) is not None:
            work.run()
            del work  # an idle thread keeps no caller's data alive

    def _next(self) -> _Work | None:
        """The next work, waited for; None when the pool is closed and nothing is left."""
        with self._changed:
            while not self._queue:
                if self._closed:
                    return None
                self._waiting += 1
                self._changed.wait()
                self._waiting -= 1
            return self._queue.popleft()


class Task(Generic[T]):
    """Work in progress."""

    def __init__(self, pool: WorkerPool, name: str, future: Future[T]) -> None:
        self._pool = pool
        self._name = name
        self._future = future

    def result(self, timeout: float) -> T:
        """The call's result, or the exception it raised.

        :param timeout: seconds to wait at most.
        :raises Overrun: the time is up; the work is cancelled or left behind.
        """
        try:
            error = self._future.exception(timeout)
        except TimeoutError:
            self._pool.leave_behind(self._name, self._future)
            raise Overrun(self._name) from None
        if error is not None:
            raise error
        return self._future.result()
