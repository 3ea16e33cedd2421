"""Drawing processes and the questions that wait for them."""

from __future__ import annotations

import logging
import queue
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field

from eagle_rag_core.errors import CallTimeout, EagleError, ErrorCode
from eagle_rag_core.jobs.child import start_module
from eagle_rag_core.service.drawing.frames import Answer, Ask, read_answer, send_ask
from eagle_rag_core.types import current_deadline

_LOG = logging.getLogger(__name__)
_MODULE = "eagle_rag_core.service.drawing.child"
#: For one question; a page that takes longer is meant to.
_SECONDS = 20.0
_IDLE_SECONDS = 60.0
#: Questions that wait; more would wait longer than callers do.
_MAX_WAITING = 32
_PROCESSES = 2
#: For a process that was killed to be gone.
_ENDING_SECONDS = 5.0

#: Gives the original of a question, for a process that does not have it.
Load = Callable[[], bytes]


@dataclass(frozen=True, slots=True)
class _Question:
    ask: Ask
    load: Load
    deadline: float
    answer: Future[Answer] = field(default_factory=Future)


class DrawingPool:
    """At most so many processes, none of them before there is something to draw.

    :param seconds: that one question may take.
    :param idle_seconds: after which a process ends that nobody asks anything.
    """

    def __init__(
        self,
        *,
        processes: int = _PROCESSES,
        seconds: float = _SECONDS,
        idle_seconds: float = _IDLE_SECONDS,
    ) -> None:
        self._most = processes
        self._seconds = seconds
        self._idle_seconds = idle_seconds
        self._waiting: queue.Queue[_Question | None] = queue.Queue()
        self._lock = threading.Lock()
        # By the threads that hold them.
        self._processes: dict[threading.Thread, _Process] = {}
        self._idle = 0
        self._closed = False

    def ask(self, ask: Ask, load: Load) -> Answer:
        """Have a process answer.

        :raises CallTimeout: it took too long, or the call is over.
        :raises EagleError: the file ended the process; or so many wait that it would be in vain.
        :raises StorageError: the original cannot be read.
        """
        question = _Question(ask, load, min(time.monotonic() + self._seconds, current_deadline()))
        with self._lock:
            if self._closed:
                raise _about_to_end()
            if self._waiting.qsize() >= _MAX_WAITING:
                raise EagleError(
                    "Too many pages are waiting to be drawn; try again in a moment.",
                    code=ErrorCode.OVERLOADED,
                    retryable=True,
                    retry_after_s=2.0,
                )
            self._waiting.put(question)
            if self._waiting.qsize() > self._idle and len(self._processes) < self._most:
                self._start()
        return question.answer.result()

    def close(self) -> None:
        """End the processes; what they draw, and what waits for them, is given up."""
        with self._lock:
            self._closed = True
            holders = dict(self._processes)
        for process in holders.values():
            self._waiting.put(None)
            process.kill()
        for thread in holders:
            thread.join(_ENDING_SECONDS)
        while not self._waiting.empty():
            question = self._waiting.get()
            if question is not None:
                question.answer.set_exception(_about_to_end())

    def _start(self) -> None:
        """Start a thread, which holds a process: that dies with the thread that started it."""
        process = _Process()
        thread = threading.Thread(
            target=self._work, args=[process], name="eagle-rag-drawing", daemon=True
        )
        self._processes[thread] = process
        thread.start()

    def _work(self, process: _Process) -> None:
        try:
            while (question := self._next()) is not None:
                try:
                    question.answer.set_result(process.ask(question))
                except Exception as error:  # the caller's to handle, whatever it is
                    question.answer.set_exception(error)
        finally:
            process.end()

    def _next(self) -> _Question | None:
        """The next question; None when there was none for long, and the thread is not counted
        any more."""
        with self._lock:
            self._idle += 1
        with suppress(queue.Empty):
            question = self._waiting.get(timeout=self._idle_seconds)
            with self._lock:
                self._idle -= 1
            return question
        with self._lock:
            self._idle -= 1
            with suppress(queue.Empty):
                return self._waiting.get_nowait()  # it came just now
            del self._processes[threading.current_thread()]
        return None


class _Process:
    """One process, started anew when the one before it has ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._has = ""

    def ask(self, question: _Question) -> Answer:
        left = question.deadline - time.monotonic()
        if left <= 0:
            raise _too_late()
        if self._process is None or self._process.poll() is not None:
            self._process, self._has = start_module(_MODULE), ""
        wanted = question.ask.content_hash
        original = None if wanted == self._has else question.load()
        overdue = threading.Event()
        watch = threading.Timer(left, _end_overdue, [self._process, overdue])
        watch.daemon = True
        watch.start()
        try:
            answer = self._exchange(self._process, question.ask, original)
        finally:
            watch.cancel()
        if answer is None:
            self.end()
            raise _too_late() if overdue.is_set() else _ended()
        self._has = wanted
        return answer

    def kill(self) -> None:
        """End the process whatever it does; what it was asked is not answered."""
        process = self._process
        if process is not None:
            process.kill()

    def end(self) -> None:
        """End the process and let go of it."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):
                assert stream is not None
                stream.close()

    @staticmethod
    def _exchange(
        process: subprocess.Popen[bytes], ask: Ask, original: bytes | None
    ) -> Answer | None:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            send_ask(process.stdin, ask, original)
            return read_answer(process.stdout)
        except (OSError, ValueError):
            return None


def _end_overdue(process: subprocess.Popen[bytes], overdue: threading.Event) -> None:
    overdue.set()
    process.kill()


def _too_late() -> CallTimeout:
    return CallTimeout("Drawing the page took too long; ask for a smaller width or another page.")


def _about_to_end() -> EagleError:
    return EagleError("This process is about to end.", retryable=True)


def _ended() -> EagleError:
    _LOG.warning("A drawing process was ended by the file it drew.")
    return EagleError(
        "The page cannot be drawn: its file is damaged, or made to do harm.",
        code=ErrorCode.PARSE_FAILED,
    )
