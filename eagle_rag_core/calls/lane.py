"""A lane: how many calls of one operation run, wait for their turn, or hang.

Every operation has a lane of its own (a bulkhead), so that one that hangs takes nothing from the
others. A call that finds no place waits for a short time; when it would wait longer than that, it
is turned away at once instead of after the wait. A call that nobody waits for any more gives its
place back at once; its thread cannot be stopped, and is counted until it ends.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Final, TypeVar

from eagle_rag_core.calls.refusal import Refusal, overloaded
from eagle_rag_core.calls.threads import CallThreads, ThreadedCall
from eagle_rag_core.calls.width import LaneWidth

T = TypeVar("T")
#: A call in the queue; its result is None when its turn has come, or why it never will.
Turn = Future[Refusal | None]
#: Seconds between two looks at the event loop while calls wait.
_TICK: Final = 0.005
#: Whoever would wait for more than this part of the time limit is not let into the queue: what is
#: expected may turn out longer, and late refusals are worse than early ones.
_MARGIN: Final = 0.5


@dataclass(frozen=True, slots=True)
class LaneLimits:
    """How much a lane admits.

    :param running: calls that run at once, at most.
    :param queue_s: seconds a call may wait for its turn.
    :param abandoned: calls given up and still running, beyond which no other call is admitted.
    """

    running: int = 100
    queue_s: float = 1.0
    abandoned: int = 32

    def __post_init__(self) -> None:
        if self.running < 1 or self.abandoned < 1 or self.queue_s < 0:
            raise ValueError("running and abandoned must be at least 1, queue_s at least 0")


@dataclass(frozen=True, slots=True)
class LaneLoad:
    """What is in a lane at a moment."""

    running: int
    waiting: int
    abandoned: int


class Lane:
    """The calls of one operation. Safe to use from several threads and event loops.

    Its calls, and so its threads, number at most ``limits.running`` + ``limits.abandoned``.

    :param abandoned: told how many calls are given up, whenever one more is.
    """

    def __init__(
        self,
        limits: LaneLimits,
        threads: CallThreads,
        *,
        abandoned: Callable[[int], None] = lambda count: None,
    ) -> None:
        self.threads = threads
        self._limits = limits
        self._longest_wait = limits.queue_s * _MARGIN
        self._tell_abandoned = abandoned
        self._lock = threading.Lock()
        self._queue: deque[Turn] = deque()
        self._running = 0
        self._abandoned = 0
        self._width = LaneWidth(limits.running)
        self._look_at = 0.0  # when the next look is due
        self._moved_at = 0.0  # when a place was last given back, or the last free one taken

    def load(self) -> LaneLoad:
        with self._lock:
            return LaneLoad(self._running, len(self._queue), self._abandoned)

    async def enter(self, until: float) -> Place:
        """Wait for a place.

        :param until: when the call is over anyway, in :func:`time.monotonic` time.
        :return: to be left with :meth:`Place.leave`.
        :raises Refusal: ``overloaded``.
        """
        turn = self._take_or_queue()
        if turn is not None:
            await self._wait(turn, min(self._limits.queue_s, until - time.monotonic()))
        return Place(self, time.monotonic())

    def leave(self, entered_at: float, call: ThreadedCall[object] | None) -> None:
        """Give a place back; a call that still runs there is counted as abandoned from now on."""
        with self._lock:
            left_behind = call is not None and call.abandon(self._came_back)
            self._abandoned += left_behind
            abandoned = self._abandoned
            now = time.monotonic()
            self._width.learn(now - entered_at, call.cpu_s if call else 0.0)
            if self._queue:
                self._width.learn_pace(now - self._moved_at)
            self._moved_at = now
            self._running -= 1
            self._fill()
        if left_behind:
            self._tell_abandoned(abandoned)

    def _came_back(self) -> None:
        with self._lock:
            self._abandoned -= 1

    def _take_or_queue(self) -> Turn | None:
        """Take a free place, or the end of the queue: then it is the turn to wait for."""
        with self._lock:
            if self._abandoned >= self._limits.abandoned:
                raise overloaded(self._limits.queue_s)
            if self._running < self._width.places and not self._queue:
                self._take()
                return None
            wait = self._expected_wait(len(self._queue) + 1)
            if wait > self._longest_wait:
                raise overloaded(wait)
            turn: Turn = Future()
            self._queue.append(turn)
            self._look_later()
            return turn

    def _take(self) -> None:
        self._running += 1
        if self._running >= self._width.places:
            self._moved_at = time.monotonic()

    def _expected_wait(self, position: int) -> float:
        still_s = time.monotonic() - self._moved_at
        return self._width.expected_wait(position, self._running, still_s)

    async def _wait(self, turn: Turn, seconds: float) -> None:
        try:
            await asyncio.wait({asyncio.wrap_future(turn)}, timeout=max(0.0, seconds))
        except asyncio.CancelledError:
            if not self._withdraw(turn) and turn.result() is None:
                with self._lock:  # the turn came at the same moment
                    self._running -= 1
                    self._fill()
            raise
        if self._withdraw(turn):
            raise overloaded(self._limits.queue_s)
        if (refusal := turn.result()) is not None:
            raise refusal

    def _withdraw(self, turn: Turn) -> bool:
        """Leave the queue; False when that is not left for this call to do."""
        with self._lock:
            if turn not in self._queue:
                return False
            self._queue.remove(turn)
            return True

    def _fill(self) -> None:
        """Give free places to the first in the queue."""
        while self._queue and self._running < self._width.places:
            self._take()
            self._queue.popleft().set_result(None)
        if not self._queue:
            self._width.relax(self._running)

    def _look_later(self) -> None:
        """See to it that somebody looks at the event loop as long as calls wait."""
        now = time.monotonic()
        if now < self._look_at + 1.0:  # unless the loop that was to look is gone
            return
        self._look_at = now + _TICK
        asyncio.get_running_loop().call_later(_TICK, self._look)

    def _look(self) -> None:
        """Widen or narrow the lane, by how late this comes."""
        with self._lock:
            late = time.monotonic() - self._look_at
            self._look_at = 0.0
            self._width.adjust(late, self._running)
            self._shed()
            self._fill()
            if self._queue:
                self._look_later()

    def _shed(self) -> None:
        """Turn away those at the end of the queue whose turn would come too late."""
        while (
            self._queue and (wait := self._expected_wait(len(self._queue))) > self._limits.queue_s
        ):
            self._queue.pop().set_result(overloaded(wait))


class Place:
    """One call's place in a lane."""

    def __init__(self, lane: Lane, entered_at: float) -> None:
        self._lane = lane
        self._entered_at = entered_at
        self._call: ThreadedCall[object] | None = None

    async def run(self, function: Callable[[], T]) -> T:
        """Call a synchronous function in a thread, with this task's context variables."""
        call = self._lane.threads.start(function)
        self._call = call
        return await call.result()

    def leave(self) -> None:
        """Give the place back; what still runs there is abandoned."""
        self._lane.leave(self._entered_at, self._call)
