"""The pool for code that may never return."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar

import pytest

from eagle_rag_core.retrieval.workers import Overrun, Quit, Stuck, WorkerPool

LONG = 30.0
WHO: ContextVar[str] = ContextVar("who", default="nobody")


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    made = WorkerPool(workers=4, stuck_per_name=2)
    yield made
    made.close()


def wait_until(condition: object) -> None:
    for _ in range(2000):
        if condition():  # type: ignore[operator]
            return
        time.sleep(0.005)
    raise AssertionError("condition never came true")


def test_results_and_exceptions_come_back(pool: WorkerPool) -> None:
    assert pool.start("sum", lambda: 1 + 1).result(LONG) == 2
    with pytest.raises(ZeroDivisionError):
        pool.start("divide", lambda: 1 / 0).result(LONG)
    with pytest.raises(TimeoutError):  # the work's own, not an overrun
        pool.start("late", lambda: (_ for _ in ()).throw(TimeoutError())).result(LONG)


def test_a_worker_survives_an_attempt_to_exit(pool: WorkerPool) -> None:
    for _ in range(6):
        with pytest.raises(Quit, match="SystemExit"):
            pool.start("exit", sys.exit).result(LONG)
    assert pool.start("next", lambda: "alive").result(LONG) == "alive"


def test_work_sees_the_context_of_its_caller(pool: WorkerPool) -> None:
    WHO.set("alice")
    assert pool.start("who", WHO.get).result(LONG) == "alice"


def test_hanging_work_is_left_behind_counted_and_then_refused(pool: WorkerPool) -> None:
    release = threading.Event()
    for _ in range(2):
        with pytest.raises(Overrun):
            pool.start("hangs", release.wait).result(0.01)
    assert pool.stuck() == {"hangs": 2}
    with pytest.raises(Stuck):
        pool.start("hangs", release.wait)
    assert pool.start("other", lambda: "fine").result(LONG) == "fine"
    release.set()
    wait_until(lambda: not pool.stuck())
    assert pool.start("hangs", lambda: "again").result(LONG) == "again"


def test_threads_are_bounded_and_work_nobody_waits_for_never_starts(pool: WorkerPool) -> None:
    release, started = threading.Event(), threading.Semaphore(0)

    def hold() -> None:
        started.release()
        release.wait()

    held = [pool.start(f"hold{n}", hold) for n in range(4)]
    for _ in held:
        assert started.acquire(timeout=LONG)
    ran = threading.Event()
    with pytest.raises(Overrun):
        pool.start("queued", ran.set).result(0.01)
    assert pool.stuck() == {}
    release.set()
    for task in held:
        task.result(LONG)
    pool.start("last", lambda: None).result(LONG)
    assert not ran.is_set()


def test_idle_threads_are_used_again(pool: WorkerPool) -> None:
    idents = {pool.start("ident", threading.get_ident).result(LONG) for _ in range(50)}
    assert len(idents) <= 4


def test_threads_end_when_the_pool_is_closed(pool: WorkerPool) -> None:
    thread = pool.start("thread", threading.current_thread).result(LONG)
    pool.close()
    thread.join(LONG)
    assert not thread.is_alive()


def test_a_hanging_thread_does_not_keep_the_process_alive() -> None:
    code = (
        "import threading\n"
        "from eagle_rag_core.retrieval.workers import WorkerPool, Overrun\n"
        "try: WorkerPool().start('hang', threading.Event().wait).result(0.01)\n"
        "except Overrun: raise SystemExit(7)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 7
