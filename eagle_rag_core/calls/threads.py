"""Threads for calls: as many as there is work, and none that keeps a process from ending.

``ThreadPoolExecutor`` will not do: at the end of the process Python waits for its threads, and one
hanging call would hang the shutdown.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class ThreadedCall(Generic[T_co]):
    """A function that runs in a thread, for a task that waits for it and may stop waiting.

    :ivar cpu_s: processor time it took, in seconds; 0 before it ends.
    """

    def __init__(self, function: Callable[[], T_co]) -> None:
        self.cpu_s = 0.0
        self._function = function
        self._context = copy_context()
        self._loop = asyncio.get_running_loop()
        self._done: asyncio.Future[None] = self._loop.create_future()
        self._lock = threading.Lock()
        self._ended = False
        self._came_back: Callable[[], None] | None = None
        self._error: Exception | None = None
        self._value: T_co

    async def result(self) -> T_co:
        """What the function returned.

        :raises Exception: what it raised; RuntimeError if that means to end the process.
        """
        await self._done
        if self._error is not None:
            try:
                raise self._error
            finally:
                self._error = None  # its traceback holds this frame
        return self._value

    def abandon(self, came_back: Callable[[], None]) -> bool:
        """Stop waiting.

        :param came_back: called in the thread when the function ends after all.
        :return: whether it still runs.
        """
        with self._lock:
            if self._ended:
                return False
            self._came_back = came_back
            return True

    def run(self) -> None:
        """Call the function, in this thread, unless it is abandoned already."""
        if self._came_back is None:
            self._call()
        with self._lock:
            self._ended = True
            came_back = self._came_back
        if came_back is not None:
            came_back()
            return
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._announce)

    def _call(self) -> None:
        started = time.thread_time()
        try:
            self._value = self._context.run(self._function)
        except Exception as error:
            self._error = error
        except BaseException as error:  # in the task it would end the event loop
            self._error = RuntimeError(f"The call raised {type(error).__name__}.")
            self._error.__cause__ = error
        self.cpu_s = time.thread_time() - started

    def _announce(self) -> None:
        if not self._done.done():
            self._done.set_result(None)


class CallThreads:
    """Starts daemon threads and uses them again. How many may work at once is for others to say.

    :param idle_seconds: a thread without work ends after so long.
    """

    def __init__(self, idle_seconds: float = 30.0) -> None:
        self._idle_seconds = idle_seconds
        self._lock = threading.Lock()
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._free = 0  # threads that wait for work, less the work that waits for them
        self._closed = False

    def start(self, function: Callable[[], T]) -> ThreadedCall[T]:
        """Call ``function`` in a thread of its own, with this task's context variables."""
        call = ThreadedCall(function)
        with self._lock:
            if self._free:
                self._free -= 1
                self._work.put(call.run)
                return call
        threading.Thread(target=self._serve, args=(call.run,), name="call", daemon=True).start()
        return call

    def close(self) -> None:
        """Let threads end: those without work now, the others after it."""
        with self._lock:
            self._closed = True
            for _ in range(self._free):
                self._work.put(None)
            self._free = 0

    def _serve(self, work: Callable[[], None] | None) -> None:
        while work is not None:
            work()
            del work  # a thread without work keeps no caller's data alive
            work = self._next()

    def _next(self) -> Callable[[], None] | None:
        """More work; None when the thread is to end."""
        with self._lock:
            if self._closed:
                return None
            self._free += 1
        try:
            return self._work.get(timeout=self._idle_seconds)
        except Empty:
            pass
        with self._lock:  # under which work is handed over to a free thread
            if self._work.empty():
                self._free -= 1
                return None
            return self._work.get()
