"""The call log keeps what happened and no secrets."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from eagle_rag_core.telemetry.call_log import CallLog
from eagle_rag_core.telemetry.call_query import CallQuery, select_calls
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


class Disk:
    """A disk that is full, or not."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.full = True
        self.attempts = 0
        write = CallLog._write

        def attempt(log: CallLog, batch: list[CallRecord]) -> None:
            self.attempts += 1
            if self.full:
                raise sqlite3.OperationalError("database or disk is full")
            write(log, batch)

        monkeypatch.setattr(CallLog, "_write", attempt)


def test_a_full_disk_is_told_once_and_loses_nothing_that_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    disk = Disk(monkeypatch)
    log = CallLog(tmp_path / "audit.db", keep_days=1, capacity=4)
    log._thread = log  # type: ignore[assignment]  # no writer: the test writes
    for i in range(6):
        log.record(record(f"tool_{i}"))
        log._flush()
    told = [entry for entry in caplog.records if entry.levelname in ("WARNING", "ERROR")]
    assert len(told) == 1 and "disk full" in told[0].getMessage() and told[0].exc_info is None
    assert disk.attempts == 6 and log.dropped == 2
    disk.full = False
    assert [row["tool"] for row in log.recent()] == [f"tool_{i}" for i in (5, 4, 3, 2)]
    assert "can be written again" in caplog.text
    log._thread = None
    log.close()


def test_attempts_to_write_become_rare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Disk(monkeypatch)
    log = CallLog(tmp_path / "audit.db", keep_days=1)
    log._thread = log  # type: ignore[assignment]
    pauses = []
    for _ in range(8):
        log.record(record())
        log._flush()
        pauses.append(log._pause)
    assert pauses == [1, 2, 4, 8, 16, 30, 30, 30]
    log._thread = None
    log.close()
    assert log.dropped == 8


def test_a_log_that_is_too_large_loses_its_oldest_records(tmp_path: Path) -> None:
    path = tmp_path / "audit.db"
    log = CallLog(path, keep_days=1, keep_mb=1)
    log._thread = log  # type: ignore[assignment]
    sizes = []
    for i in range(60):
        for _ in range(100):
            log.record(CallRecord(f"tool_{i}", "a", "test", {"q": "x" * 190}, "ok", 1.0, at=1e10))
        log._flush()
        sizes.append(path.stat().st_size)
    assert max(sizes) < 1_100_000
    tools = [row["tool"] for row in log.recent(10_000)]
    assert tools[0] == "tool_59" and "tool_0" not in tools and len(tools) > 1000
    log._thread = None
    log.close()


def test_a_log_of_an_earlier_release_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "audit.db"
    with sqlite3.connect(path) as db:
        db.execute(
            "CREATE TABLE calls (id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL,"
            " tool TEXT NOT NULL, caller TEXT NOT NULL, face TEXT NOT NULL,"
            " arguments TEXT NOT NULL, outcome TEXT NOT NULL, latency_ms REAL NOT NULL,"
            " cache_hit INTEGER NOT NULL, summary TEXT NOT NULL)"
        )
        row = (1e10, "old", "a", "test", "{}", "ok", 1.0, 0, "")
        db.execute("INSERT INTO calls VALUES (NULL,?,?,?,?,?,?,?,?,?)", row)
    db.close()
    log = CallLog(path, keep_days=1)
    assert [row["trace_id"] for row in log.recent()] == [""]
    log.record(CallRecord("new", "a", "test", {}, "ok", 1.0, at=1e10, trace_id="ab" * 16))
    assert [(row["tool"], row["trace_id"]) for row in log.recent()] == [
        ("new", "ab" * 16),
        ("old", ""),
    ]
    log.close()


def test_a_log_that_is_just_being_made_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "audit.db"
    path.touch()
    assert select_calls(path, CallQuery(), limit=5) == ([], 0)
