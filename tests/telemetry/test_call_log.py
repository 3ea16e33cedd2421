"""The call log keeps what happened and no secrets."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from eagle_rag_core.telemetry.call_log import CallLog
from eagle_rag_core.telemetry.records import CallRecord
from eagle_rag_core.telemetry.redaction import redact


def record(tool: str = "core_query", at: float = 1e10) -> CallRecord:
    return CallRecord(tool, "alice", "test", {"query": "x"}, "ok", 1.5, "1 items", at=at)


def test_secrets_and_long_values_do_not_reach_the_log() -> None:
    text = redact({"api_key": "s3cret", "nested": {"token": "s3cret"}, "query": "q" * 900})
    assert "s3cret" not in text
    assert len(text) < 400


def test_records_survive_a_restart(tmp_path: Path) -> None:
    log = CallLog(tmp_path / "audit.db", keep_days=1)
    for i in range(5):
        log.record(record(f"tool_{i}"))
    log.close()
    again = CallLog(tmp_path / "audit.db", keep_days=1)
    assert [row["tool"] for row in again.recent()] == [f"tool_{i}" for i in (4, 3, 2, 1, 0)]
    assert again.recent()[0]["arguments"] == {"query": "x"}
    again.close()


def test_old_records_are_dropped(tmp_path: Path) -> None:
    log = CallLog(tmp_path / "audit.db", keep_days=1)
    log.record(record("old", at=0.0))
    log.record(record("new"))
    assert [row["tool"] for row in log.recent()] == ["new"]
    log.close()


def test_full_queue_counts_what_it_drops(tmp_path: Path) -> None:
    log = CallLog(tmp_path / "audit.db", keep_days=1, capacity=2)
    log._thread = log  # type: ignore[assignment]  # no writer: nothing leaves the queue
    for i in range(5):
        log.record(record(f"tool_{i}"))
    assert log.dropped == 3
    log._thread = None
    log.close()


def test_unwritable_log_never_fails_a_call(tmp_path: Path) -> None:
    path = tmp_path / "audit.db"
    path.write_bytes(b"not a database" * 100)
    log = CallLog(path, keep_days=1)
    log.record(record())
    log.close()
    assert log.dropped == 1


def test_closed_log_takes_no_records(tmp_path: Path) -> None:
    log = CallLog(tmp_path / "audit.db", keep_days=1)
    log.record(record())
    log.close()
    log.record(record())
    with sqlite3.connect(tmp_path / "audit.db") as db:
        assert db.execute("SELECT count(*) FROM calls").fetchone() == (1,)
    db.close()
