"""What the supervisor of a worker process measures, says and hears."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from eagle_rag_core.errors import EagleError, ErrorCode
from eagle_rag_core.jobs import messages as m
from eagle_rag_core.jobs.child import Exited
from eagle_rag_core.jobs.leases import Lease
from eagle_rag_core.jobs.limits import JobLimits, StageClock
from eagle_rag_core.settings import load_settings
from eagle_rag_core.settings.transfer import dumps, loads
from eagle_rag_core.types import JobStage

LIMITS = JobLimits(fetch_seconds=10, parse_seconds=20, memory_mb=100)


def test_parsing_chunking_and_enriching_share_one_limit(clock: Any) -> None:
    stages = StageClock(LIMITS, clock)
    for stage in (JobStage.PARSE, JobStage.CHUNK, JobStage.ENRICH):
        stages.progressed(stage)
        assert stages.overdue() is None
        clock.now += 7
    overdue = stages.overdue()
    assert overdue is not None and overdue.code is ErrorCode.PARSE_FAILED
    assert "20 seconds" in overdue.message and not overdue.retryable


def test_reading_has_its_own_limit_however_often_it_reports(clock: Any) -> None:
    stages = StageClock(LIMITS, clock)
    clock.now += 9
    stages.progressed(JobStage.FETCH)
    assert stages.left() == 1
    clock.now += 1
    overdue = stages.overdue()
    assert overdue is not None and overdue.code is ErrorCode.FETCH_FAILED and overdue.retryable


def test_embedding_may_take_as_long_as_it_moves(clock: Any) -> None:
    stages = StageClock(LIMITS, clock)
    for _ in range(10):
        stages.progressed(JobStage.EMBED)
        clock.now += 19
        assert stages.overdue() is None
    clock.now += 1
    overdue = stages.overdue()
    assert overdue is not None and "no progress" in overdue.message


def test_every_page_that_is_read_by_ocr_has_the_time_anew(clock: Any) -> None:
    stages = StageClock(LIMITS, clock)
    for _ in range(10):
        stages.progressed(JobStage.PARSE)
        clock.now += 19
        assert stages.overdue() is None
    stages.progressed(JobStage.CHUNK)
    clock.now += 1
    assert stages.overdue() is not None


def test_writing_is_left_to_the_databases_own_limits(clock: Any) -> None:
    stages = StageClock(LIMITS, clock)
    stages.progressed(JobStage.WRITE)
    clock.now += 10_000
    assert stages.left() is None and stages.overdue() is None


@pytest.mark.parametrize(
    ("exited", "stage", "code", "retryable", "words"),
    [
        (Exited(-signal.SIGSEGV), JobStage.PARSE, "parse_failed", False, "signal 11"),
        (Exited(-signal.SIGSEGV), JobStage.EMBED, "internal", False, "signal 11"),
        (Exited(7), JobStage.CHUNK, "parse_failed", False, "exit status 7"),
        (Exited(-signal.SIGKILL), JobStage.PARSE, "internal", True, "from outside"),
        (Exited(-signal.SIGTERM), JobStage.WRITE, "internal", True, "from outside"),
        (Exited(-signal.SIGABRT, 90), JobStage.PARSE, "parse_failed", False, "100 MB"),
        (Exited(-signal.SIGABRT, 50), JobStage.PARSE, "parse_failed", False, "signal 6"),
    ],
)
def test_the_end_of_a_process_is_the_reason_of_its_job(
    exited: Exited, stage: JobStage, code: str, retryable: bool, words: str
) -> None:
    reason = exited.reason(stage, LIMITS.memory_mb)
    assert (reason.code, reason.retryable) == (code, retryable)
    assert words in reason.message


@pytest.mark.parametrize(
    "message",
    [
        m.Claimed.of(Lease("a" * 32, 1, "me", 3, 30.0)),
        m.Progressed("parse", 0.5),
        m.Idle(""),
        m.Troubled.of(EagleError("Disk full.", code=ErrorCode.STORAGE_UNAVAILABLE)),
        m.Troubled.of(None),
        m.Close(1),
        m.Hello("{}", False, "f" * 32, 4096, 0, True, False),
    ],
)
def test_messages_survive_the_pipe(message: Any) -> None:
    line = m.encode(message)
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    assert m.decode(line) == message


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"noise\n",
        b"\xff\xfe\n",
        b"[]\n",
        b'["Ended"]\n',
        b'["Ended", {"more": 1}]\n',
        b'["Nothing", {}]\n',
        b'[["Ended"], {}]\n',
        b'["Progressed", {"stage": 1, "progress": 0.5}]\n',
        b'["Claimed", {"job_id": "a"}]\n',
        b'["Failed", {"code": "no such code", "message": "x"}]\n',
        b'["Progressed", [1]]\n',
    ],
)
def test_a_line_that_is_no_message_is_nothing(line: bytes) -> None:
    assert m.decode(line) is None


def test_settings_survive_the_pipe_with_their_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EAGLE_RAG_INGEST__MAX_BYTES", "123")
    overrides = {
        "home": tmp_path,
        "milvus": {"token": "s3cret"},
        "plugins": {"options": {"biomed": {"depth": 3}}},
        "ingest": {"allowed_roots": [tmp_path / "a"]},
    }
    (config := tmp_path / "empty.yaml").touch()
    settings = load_settings(config=config, overrides=overrides)
    text = dumps(settings)
    again = loads(text)
    assert json.loads(text)["ingest"]["max_bytes"] == 123
    assert again.model_dump() == settings.model_dump()
    assert again.milvus.token.get_secret_value() == "s3cret"
