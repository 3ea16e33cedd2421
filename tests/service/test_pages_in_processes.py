"""Drawing processes: what a hostile file, a slow one and many callers do to them."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fpdf import FPDF

from eagle_rag_core.errors import CallTimeout, EagleError, ErrorCode
from eagle_rag_core.service.drawing import pool as pool_module
from eagle_rag_core.service.drawing.frames import Answer, Ask, read_answer, send_answer
from eagle_rag_core.service.drawing.pool import DrawingPool
from eagle_rag_core.types import Box, due_at

STUB = """
import os, sys, time
from eagle_rag_core.service.drawing.frames import Answer, read_ask, send_answer

while (asked := read_ask(sys.stdin.buffer)) is not None:
    ask, original = asked
    if ask.media_type == "crash":
        os._exit(3)
    if ask.media_type == "hang":
        time.sleep(600)
    if ask.media_type == "babble":
        sys.stdout.buffer.write(b"\\xff" * 100)
        sys.stdout.buffer.flush()
    given = b"with the original" if original is not None else b"from memory"
    send_answer(sys.stdout.buffer, Answer(image=given + b" in %d" % os.getpid()))
"""


def ask(kind: str = "fine", content_hash: str = "a") -> Ask:
    return Ask(content_hash, kind, 1)


def load() -> bytes:
    return b"original"


@pytest.fixture
def stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing processes that do as the media type says."""
    (tmp_path / "drawing_stub.py").write_text(STUB)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(pool_module, "_MODULE", "drawing_stub")


@pytest.fixture
def pool(stub: None) -> Iterator[DrawingPool]:
    pool = DrawingPool(processes=1)
    yield pool
    pool.close()


def test_the_original_is_sent_once(pool: DrawingPool) -> None:
    assert pool.ask(ask(), load).image.startswith(b"with the original")
    assert pool.ask(ask(), load).image.startswith(b"from memory")
    assert pool.ask(ask(content_hash="b"), load).image.startswith(b"with the original")


def test_a_file_that_ends_the_process_harms_nobody_else(pool: DrawingPool) -> None:
    with pytest.raises(EagleError) as caught:
        pool.ask(ask("crash"), load)
    assert caught.value.code is ErrorCode.PARSE_FAILED
    assert pool.ask(ask(), load).image.startswith(b"with the original")


def test_a_process_that_says_nonsense_is_ended(pool: DrawingPool) -> None:
    with pytest.raises(EagleError):
        pool.ask(ask("babble"), load)
    assert pool.ask(ask(), load).image.startswith(b"with the original")


def test_a_page_that_takes_too_long_is_given_up_with_its_process(stub: None) -> None:
    pool = DrawingPool(processes=1, seconds=0.5)
    try:
        with pytest.raises(CallTimeout):
            pool.ask(ask("hang"), load)
    finally:
        pool.close()
    pool = DrawingPool(processes=1)
    try:
        with due_at(time.monotonic() + 0.5), pytest.raises(CallTimeout):
            pool.ask(ask("hang"), load)
        assert pool.ask(ask(), load).image
    finally:
        pool.close()


def test_an_original_that_cannot_be_read_is_the_callers_to_know(pool: DrawingPool) -> None:
    def gone() -> bytes:
        raise EagleError("It is gone.", code=ErrorCode.SOURCE_NOT_FOUND)

    with pytest.raises(EagleError, match="It is gone"):
        pool.ask(ask(), gone)
    assert pool.ask(ask(), load).image.startswith(b"with the original")


def test_callers_beyond_a_bound_are_told_to_come_back(pool: DrawingPool) -> None:
    release = threading.Event()

    def slow() -> bytes:
        release.wait(30)
        return b"original"

    threads = [
        threading.Thread(target=pool.ask, args=[ask(content_hash=str(number)), slow], daemon=True)
        for number in range(33)
    ]
    for thread in threads:
        thread.start()
    refusal: EagleError | None = None
    until = time.monotonic() + 20
    while refusal is None and time.monotonic() < until:
        if pool._waiting.qsize() < 32:
            time.sleep(0.01)
            continue
        with pytest.raises(EagleError) as caught:
            pool.ask(ask(), load)
        refusal = caught.value
    release.set()
    for thread in threads:
        thread.join(30)
    assert refusal is not None
    assert refusal.code is ErrorCode.OVERLOADED
    assert refusal.retryable


def test_closing_gives_up_what_is_being_drawn(stub: None) -> None:
    pool = DrawingPool(processes=1)
    pool.ask(ask(), load)
    failures: list[EagleError] = []

    def hang() -> None:
        try:
            pool.ask(ask("hang"), load)
        except EagleError as error:
            failures.append(error)

    thread = threading.Thread(target=hang)
    thread.start()
    while pool._idle:
        time.sleep(0.01)
    time.sleep(0.1)
    pool.close()
    thread.join(10)
    assert len(failures) == 1
    with pytest.raises(EagleError, match="about to end"):
        pool.ask(ask(), load)


def test_a_process_that_nobody_asks_ends(stub: None) -> None:
    pool = DrawingPool(processes=1, idle_seconds=0.2)
    first = pool.ask(ask(), load).image
    until = time.monotonic() + 10
    while pool._processes and time.monotonic() < until:
        time.sleep(0.02)
    assert not pool._processes
    second = pool.ask(ask(), load).image
    assert second.startswith(b"with the original")
    assert first.split()[-1] != second.split()[-1]
    pool.close()


def test_what_comes_from_a_process_is_checked() -> None:
    def answered(answer: Answer) -> Answer | None:
        stream = io.BytesIO()
        send_answer(stream, answer)
        stream.seek(0)
        return read_answer(stream)

    good = Answer(words=(("otter", Box(0.1, 0.1, 0.2, 0.2), 1),), image=b"picture")
    assert answered(good) == good
    assert read_answer(io.BytesIO(b"")) is None
    assert read_answer(io.BytesIO(b"\xff" * 50)) is None
    assert answered(Answer(failure="odd")) is None  # type: ignore[arg-type]


def test_real_processes_refuse_what_is_damaged_and_go_on() -> None:
    document = FPDF()
    document.add_page()
    pool = DrawingPool(processes=1)
    try:
        asked = Ask("damaged", "application/pdf", 1, width=100)
        assert pool.ask(asked, lambda: b"%PDF-1.7 nothing").failure == "damaged"
        asked = Ask("none", "application/pdf", 2, width=100)
        blank = bytes(document.output())
        assert pool.ask(asked, lambda: blank) == Answer("no_page", 1)
        assert pool.ask(Ask("none", "application/pdf", 1, width=100), lambda: blank).image
    finally:
        pool.close()
