"""Places in a lane: taken, waited for, refused, given back."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from eagle_rag_core.calls.lane import Lane, LaneLimits, Place
from eagle_rag_core.calls.refusal import Refusal
from eagle_rag_core.calls.threads import CallThreads
from eagle_rag_core.errors import ErrorCode

LONG = 60.0


def lane(running: int = 100, queue_s: float = LONG, abandoned: int = 32) -> Lane:
    return Lane(LaneLimits(running, queue_s, abandoned), CallThreads(idle_seconds=0.1))


async def enter(lane: Lane) -> Place:
    return await lane.enter(time.monotonic() + LONG)


async def run(lane: Lane, function: Callable[[], Any]) -> Any:
    place = await enter(lane)
    try:
        return await place.run(function)
    finally:
        place.leave()


@contextmanager
def hanging() -> Iterator[Callable[[], Any]]:
    """A function that hangs until the end of the block."""
    release = threading.Event()
    try:
        yield lambda: release.wait(LONG)
    finally:
        release.set()


async def until(true: Callable[[], bool]) -> None:
    for _ in range(1000):
        if true():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it does not become true")


def test_a_hundred_calls_that_wait_run_side_by_side() -> None:
    meeting = threading.Barrier(100)

    async def main() -> None:
        busy = lane()
        await asyncio.gather(*(run(busy, lambda: meeting.wait(LONG)) for _ in range(100)))

    asyncio.run(main())  # the barrier opens only when all hundred are there


def test_calls_begin_in_the_order_they_came() -> None:
    async def main() -> list[int]:
        narrow, order = lane(running=1), list[int]()
        await asyncio.gather(*(run(narrow, lambda n=n: order.append(n)) for n in range(50)))
        return order

    assert asyncio.run(main()) == list(range(50))


def test_who_waits_too_long_is_turned_away() -> None:
    async def main() -> Refusal:
        narrow = lane(running=1, queue_s=0.1)
        with hanging() as hang:
            first = asyncio.create_task(run(narrow, hang))
            await asyncio.sleep(0)
            with pytest.raises(Refusal) as caught:
                await enter(narrow)
            assert narrow.load().waiting == 0
        await first
        return caught.value

    refusal = asyncio.run(main())
    assert (refusal.code, refusal.retryable) == (ErrorCode.OVERLOADED, True)
    assert refusal.retry_after_s > 0


def test_who_would_wait_too_long_is_turned_away_before_waiting() -> None:
    async def main() -> None:
        narrow = lane(running=1, queue_s=0.4)
        await run(narrow, lambda: time.sleep(0.3))  # so long do calls take
        with hanging() as hang:
            first = asyncio.create_task(run(narrow, hang))
            await asyncio.sleep(0)
            with pytest.raises(Refusal):
                narrow._take_or_queue()
        await first

    asyncio.run(main())


def test_nobody_waits_beyond_the_calls_own_end() -> None:
    async def main() -> None:
        narrow = lane(running=1)
        with hanging() as hang:
            first = asyncio.create_task(run(narrow, hang))
            await asyncio.sleep(0)
            with pytest.raises(Refusal):
                await narrow.enter(time.monotonic() + 0.05)
        await first

    asyncio.run(main())


def test_a_call_given_up_frees_its_place_and_counts_until_it_ends() -> None:
    async def main() -> None:
        narrow = lane(running=1)
        with hanging() as hang:
            call = asyncio.create_task(run(narrow, hang))
            await until(lambda: narrow.load().running == 1)
            await asyncio.sleep(0.01)
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            assert (narrow.load().running, narrow.load().abandoned) == (0, 1)
            assert await run(narrow, lambda: "at once") == "at once"
        await until(lambda: narrow.load().abandoned == 0)

    asyncio.run(main())


def test_too_many_calls_given_up_close_the_lane_until_some_end() -> None:
    async def main() -> None:
        limited = lane(running=1, abandoned=3)
        with hanging() as hang:
            for _ in range(3):
                call = asyncio.create_task(run(limited, hang))
                await until(lambda: limited.load().running == 1)
                await asyncio.sleep(0.01)
                call.cancel()
                await asyncio.gather(call, return_exceptions=True)
            with pytest.raises(Refusal):
                await enter(limited)
        await until(lambda: limited.load().abandoned == 0)
        assert await run(limited, lambda: "again") == "again"

    asyncio.run(main())


def test_a_caller_who_gives_up_waiting_leaves_no_place_taken() -> None:
    """Whether the turn has come already or not."""

    async def main() -> None:
        narrow = lane(running=1)
        for steps in range(12):
            with hanging() as hang:
                first = asyncio.create_task(run(narrow, hang))
                await asyncio.sleep(0)
                waiting = asyncio.create_task(run(narrow, int))
                await until(lambda: narrow.load().waiting == 1)
            for _ in range(steps):
                await asyncio.sleep(0.0005)
            waiting.cancel()
            await asyncio.gather(first, waiting, return_exceptions=True)
            assert narrow.load().running == 0
        assert await run(narrow, lambda: "free") == "free"

    asyncio.run(main())


def test_callers_on_several_event_loops_share_a_lane() -> None:
    narrow, done = lane(running=2), list[int]()

    def loop() -> None:
        async def main() -> None:
            await asyncio.gather(
                *(run(narrow, lambda: (time.sleep(0.001), done.append(1))) for _ in range(50))
            )

        asyncio.run(main())

    threads = [threading.Thread(target=loop) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 200
    assert (narrow.load().running, narrow.load().waiting) == (0, 0)


@pytest.mark.parametrize("wrong", [(0, 1.0, 1), (1, -1.0, 1), (1, 1.0, 0)])
def test_limits_that_admit_nothing_are_refused(wrong: tuple[int, float, int]) -> None:
    with pytest.raises(ValueError, match="at least"):
        LaneLimits(*wrong)
