"""Work that is no tool goes the way of the tools."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from eagle_rag_core.calls.outcome import CallOutcome
from eagle_rag_core.calls.pipeline import CallPipeline
from eagle_rag_core.calls.work import Work
from eagle_rag_core.errors import ErrorCode, InvalidArgument, StorageError
from eagle_rag_core.settings import load_settings
from eagle_rag_core.telemetry.call_log import CallLog
from eagle_rag_core.types import Caller, current_caller, current_deadline

ALICE = Caller("alice")
Perform = Callable[[Work], CallOutcome]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[CallLog]:
    found = CallLog(tmp_path / "audit.db", keep_days=1)
    yield found
    found.close()


@pytest.fixture
def perform(tmp_path: Path, log: CallLog) -> Iterator[Perform]:
    settings = load_settings(overrides={"home": tmp_path, "mcp": {"tool_timeout": 50}})
    pipeline = CallPipeline(settings, {}, log)
    yield lambda work: asyncio.run(pipeline.perform(work, caller=ALICE, face="rest"))
    pipeline.close()


def work(run: Callable[[], Any], **more: Any) -> Work:
    return Work("delete_document", {"document_id": "d1"}, run, **more)


def test_what_it_returns_is_the_payload_whole(perform: Perform) -> None:
    long = {"text": "x" * 1_000_000}
    assert perform(work(lambda: long)).payload is long


def test_it_knows_its_caller_and_its_end(perform: Perform) -> None:
    def look() -> tuple[str, float]:
        return current_caller().id, current_deadline() - time.monotonic()

    caller, default = perform(work(look)).payload
    _, own = perform(work(look, timeout=5.0)).payload
    assert caller == "alice"
    assert 40 < default <= 50 and 0 < own <= 5


def test_its_failures_are_outcomes_named_after_it(perform: Perform) -> None:
    def refuse() -> None:
        raise InvalidArgument("No.")

    refused = perform(work(refuse))
    assert refused.error["error"] == "InvalidArgument: No."
    late = perform(work(lambda: time.sleep(0.3), timeout=0.05))
    assert late.error["error"] == "timeout: delete_document"


def test_it_is_recorded(perform: Perform, log: CallLog) -> None:
    perform(work(lambda: {"items": [1, 2]}))
    (record,) = log.recent()
    assert (record["tool"], record["caller"], record["face"]) == (
        "delete_document",
        "alice",
        "rest",
    )
    assert (record["arguments"], record["outcome"], record["summary"]) == (
        {"document_id": "d1"},
        "ok",
        "2 items",
    )


@pytest.mark.parametrize(("reads", "attempts"), [(True, 2), (False, 1)])
def test_only_what_reads_is_tried_again(perform: Perform, reads: bool, attempts: int) -> None:
    made = []

    def fail_once() -> str:
        made.append(1)
        if len(made) == 1:
            raise StorageError("Busy.")
        return "done"

    outcome = perform(work(fail_once, reads=reads))
    assert len(made) == attempts
    assert outcome.code == ("ok" if reads else ErrorCode.STORAGE_UNAVAILABLE)
