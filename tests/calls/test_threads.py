"""Threads for calls: started, used again, and ended."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from contextvars import ContextVar

import pytest

from eagle_rag_core.calls.threads import CallThreads

WHO = ContextVar("who", default="nobody")


def call_threads() -> int:
    return sum(thread.name == "call" for thread in threading.enumerate())


async def settle(wanted: int) -> int:
    """The number of threads, once it is the wanted one."""
    for _ in range(500):
        if call_threads() == wanted:
            break
        await asyncio.sleep(0.01)
    return call_threads()


def test_threads_are_used_again_and_end_when_idle() -> None:
    async def main() -> tuple[set[int], int, int]:
        before, threads = call_threads(), CallThreads(idle_seconds=0.2)
        used = {await threads.start(threading.get_ident).result() for _ in range(20)}
        return used, call_threads() - before, await settle(before) - before

    used, kept, left = asyncio.run(main())
    assert len(used) <= 3  # a thread hands over its result shortly before it is free again
    assert (kept, left) == (len(used), 0)


def test_closing_ends_idle_threads_now_and_others_after_their_work() -> None:
    async def main() -> list[int]:
        before, threads = call_threads(), CallThreads()
        release = threading.Event()
        busy = threads.start(release.wait)
        await threads.start(int).result()
        counts = [call_threads() - before]
        threads.close()
        counts.append(await settle(before + 1) - before)
        release.set()
        await busy.result()
        counts.append(await settle(before) - before)
        return counts

    assert asyncio.run(main()) == [2, 1, 0]


def test_the_function_sees_the_context_of_its_task() -> None:
    async def main() -> str:
        WHO.set("alice")
        return await CallThreads(idle_seconds=0).start(WHO.get).result()

    assert asyncio.run(main()) == "alice"


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()])
def test_what_would_end_the_process_is_an_error_of_the_call(error: BaseException) -> None:
    def leave() -> None:
        raise error

    async def main() -> None:
        await CallThreads(idle_seconds=0).start(leave).result()

    with pytest.raises(RuntimeError, match=type(error).__name__):
        asyncio.run(main())


def test_abandoned_work_is_reported_when_it_ends() -> None:
    async def main() -> None:
        threads, release, back = CallThreads(idle_seconds=0), threading.Event(), threading.Event()
        call = threads.start(release.wait)
        assert call.abandon(back.set)
        assert not back.is_set()
        release.set()
        assert await asyncio.to_thread(back.wait, 10)

    asyncio.run(main())


def test_work_that_has_ended_cannot_be_abandoned() -> None:
    async def main() -> bool:
        call = CallThreads(idle_seconds=0).start(int)
        await call.result()
        return call.abandon(lambda: None)

    assert not asyncio.run(main())


def test_a_hanging_call_does_not_keep_the_process_alive() -> None:
    program = """
import asyncio, time
from eagle_rag_core.calls.threads import CallThreads

async def main():
    CallThreads().start(lambda: time.sleep(600))

asyncio.run(main())
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
