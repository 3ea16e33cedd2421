"""The call log: one audit record per call, written in batches to a database of its own.

It is separate from the catalog so that a search never waits for the catalog's writer. Records
are queued in memory and written every second and on close; a full queue drops the oldest
and counts them, because an audit that blocks calls would be an outage of its own.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from eagle_rag_core.telemetry.call_query import CallQuery, select_calls
from eagle_rag_core.telemetry.records import CallRecord
from eagle_rag_core.telemetry.redaction import redact

_LOG = logging.getLogger(__name__)
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS calls (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at REAL NOT NULL, tool TEXT NOT NULL, caller TEXT NOT NULL, face TEXT NOT NULL,
    arguments TEXT NOT NULL, outcome TEXT NOT NULL, latency_ms REAL NOT NULL,
    cache_hit INTEGER NOT NULL, summary TEXT NOT NULL, trace_id TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS calls_at ON calls (at);
"""
_INSERT: Final = (
    "INSERT INTO calls (at, tool, caller, face, arguments, outcome, latency_ms, cache_hit,"
    " summary, trace_id) VALUES (?,?,?,?,?,?,?,?,?,?)"
)
_MEGABYTE: Final = 1_000_000
#: How much of the log makes room at once when it is too large: a tenth.
_SHARE: Final = 10
#: While it cannot be written, attempts come further and further apart, and so do warnings.
_FIRST_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 30.0
_WARNING_SECONDS: Final = 60.0


class CallLog:
    """Collects :class:`CallRecord` and writes them behind the calls' backs.

    While it cannot be written (a full disk, say), records wait in memory, the newest of them, and
    are written once that is over.

    :param keep_days: older records go.
    :param keep_mb: beyond so many megabytes the oldest records go, 0 = no limit.
    :param capacity: records that wait in memory.
    :ivar dropped: records that were lost.
    """

    def __init__(
        self, path: Path, *, keep_days: int, keep_mb: int = 0, capacity: int = 10_000
    ) -> None:
        self._path = path
        self._keep_seconds = keep_days * 86_400
        self._keep_bytes = keep_mb * _MEGABYTE
        self._queue: deque[CallRecord] = deque(maxlen=capacity)
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._wake = threading.Event()
        self._closed = False
        self._thread: threading.Thread | None = None
        self._pause = 0.0
        self._warned_at = float("-inf")
        self.dropped = 0

    def record(self, record: CallRecord) -> None:
        """Queue a record; returns at once."""
        with self._lock:
            if self._closed:
                return
            if len(self._queue) == self._queue.maxlen:
                self.dropped += 1
            self._queue.append(record)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="call-log", daemon=True)
                self._thread.start()

    def recent(self, limit: int = 100) -> list[dict[str, Any]]:
        """The newest records, newest first; writes what is queued.

        :raises StorageError: the log cannot be read.
        """
        return self.page(CallQuery(), limit=limit)[0]

    def page(
        self, query: CallQuery, *, limit: int, before: int = 0
    ) -> tuple[list[dict[str, Any]], int]:
        """Records that match, newest first, and where the next page begins, 0 at the end.

        :param before: what the page before gave; 0 for the first.
        :raises StorageError: the log cannot be read.
        """
        self._flush()
        return select_calls(self._path, query, limit=limit, before=before)

    def close(self) -> None:
        """Write what is queued and stop; safe to call twice."""
        with self._lock:
            self._closed = True
            thread, self._thread = self._thread, None
        self._wake.set()
        if thread is not None:
            thread.join(timeout=5)
        if not self._flush():
            with self._lock:
                lost = len(self._queue)
                self._queue.clear()
                self.dropped += lost
            _LOG.error("The call log cannot be written at the end; %d records are lost.", lost)

    def _run(self) -> None:
        while not self._wake.wait(timeout=max(1.0, self._pause)):
            self._flush()

    def _flush(self) -> bool:
        """Write what is queued; whether nothing waits any more."""
        with self._writing:
            with self._lock:
                batch = list(self._queue)
                self._queue.clear()
            if not batch:
                return True
            try:
                self._write(batch)
            except (sqlite3.Error, OSError) as error:
                self._put_back(batch)
                self._complain(error)
                return False
            if self._pause:
                _LOG.warning("The call log can be written again.")
            self._pause = 0.0
            return True

    def _write(self, batch: list[CallRecord]) -> None:
        with self._connect() as db:
            db.executemany(_INSERT, [_row(record) for record in batch])
            db.execute("DELETE FROM calls WHERE at < ?", (time.time() - self._keep_seconds,))
            if self._keep_bytes and _used_bytes(db) > self._keep_bytes:
                # Pages that become free are used again, so the file grows no further.
                db.execute(
                    "DELETE FROM calls WHERE id IN (SELECT id FROM calls ORDER BY id LIMIT"
                    f" (SELECT max(1, count(*) / {_SHARE}) FROM calls))"
                )

    def _put_back(self, batch: list[CallRecord]) -> None:
        with self._lock:
            room = (self._queue.maxlen or 0) - len(self._queue)
            kept = batch[-room:] if room else []
            self.dropped += len(batch) - len(kept)
            self._queue.extendleft(reversed(kept))

    def _complain(self, error: Exception) -> None:
        self._pause = min(max(_FIRST_PAUSE, self._pause * 2), _LONGEST_PAUSE)
        now = time.monotonic()
        if now < self._warned_at + _WARNING_SECONDS:
            return
        self._warned_at = now
        _LOG.warning(
            "The call log cannot be written (%s); its newest %d records wait in memory. Is the "
            "disk full?",
            error,
            self._queue.maxlen,
        )

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._path.touch(mode=0o600)
        with closing(sqlite3.connect(self._path, timeout=5.0)) as db:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute(f"PRAGMA journal_size_limit={_MEGABYTE}")
            db.executescript(_SCHEMA)
            _upgrade(db)
            with db:
                yield db


def _upgrade(db: sqlite3.Connection) -> None:
    """Logs of earlier releases have no traces."""
    if any(column[1] == "trace_id" for column in db.execute("PRAGMA table_info(calls)")):
        return
    try:
        db.execute("ALTER TABLE calls ADD COLUMN trace_id TEXT NOT NULL DEFAULT ''")
    except sqlite3.OperationalError as error:
        if "duplicate column" not in str(error):  # else another process was quicker
            raise


def _used_bytes(db: sqlite3.Connection) -> int:
    size, pages, free = (
        int(db.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_size", "page_count", "freelist_count")
    )
    return size * (pages - free)


def _row(record: CallRecord) -> tuple[Any, ...]:
    return (
        record.at,
        record.tool.encode("utf-8", "replace").decode(),
        record.caller,
        record.face,
        redact(record.arguments),
        record.outcome,
        record.latency_ms,
        int(record.cache_hit),
        record.summary,
        record.trace_id,
    )
