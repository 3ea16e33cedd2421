"""The call log: one audit record per call, written in batches to a database of its own.

It is separate from the catalog so that a search never waits for the catalog's writer. Records
are queued in memory and written every second and on close; a full queue drops the oldest
and counts them, because an audit that blocks calls would be an outage of its own.
"""

from __future__ import annotations

import json
import logging
import re
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

_LOG = logging.getLogger(__name__)
_SCHEMA = """
CREATE TABLE IF NOT EXISTS calls (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at REAL NOT NULL, tool TEXT NOT NULL, caller TEXT NOT NULL, face TEXT NOT NULL,
    arguments TEXT NOT NULL, outcome TEXT NOT NULL, latency_ms REAL NOT NULL,
    cache_hit INTEGER NOT NULL, summary TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS calls_at ON calls (at);
"""
_SECRET_NAMES = "key token secret password passwd authorization credential signature".split()
#: Secrets that addresses carry: before the host, and as values of parameters.
_USER_INFO = re.compile(r"(?<=://)[^/\\?#@\s]+(?=@)")
_PARAMETER = re.compile(
    rf"([?&#;](?:[^=&#\s]{{0,64}}(?:{'|'.join(_SECRET_NAMES)})[^=&#\s]{{0,64}}|sig)=)[^&#\s]+",
    re.IGNORECASE,
)
_MAX_VALUE = 200
_MAX_ITEMS = 20
#: Characters of all arguments together, as JSON.
_MAX_ARGUMENTS = 8_000
#: Characters of a value that are searched for secrets before it is cut.
_SEARCHED = 2_000


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call as the audit keeps it.

    :param outcome: ``ok`` or a stable error code.
    :param summary: size of the result in words, never its text.
    """

    tool: str
    caller: str
    face: str
    arguments: Mapping[str, Any]
    outcome: str
    latency_ms: float
    summary: str = ""
    cache_hit: bool = False
    at: float = 0.0


def redact(arguments: Mapping[str, Any]) -> str:
    """Arguments as JSON with secrets removed and long values cut.

    It takes whatever a caller may send, and the result is as long as an audit can bear.
    """
    text = _json({name: _shortened(name, value) for name, value in _items(arguments)})
    if len(text) <= _MAX_ARGUMENTS:
        return text
    return _json({"cut": text[:_MAX_ARGUMENTS] + "…"})


def _shortened(name: str, value: Any, depth: int = 0) -> Any:
    if any(word in name.lower() for word in _SECRET_NAMES):
        return "***"
    if depth > _MAX_ITEMS:
        return "…"
    if isinstance(value, Mapping):
        return {key: _shortened(key, item, depth + 1) for key, item in _items(value)}
    if isinstance(value, list | tuple):
        return [_shortened(name, item, depth + 1) for item in value[:_MAX_ITEMS]]
    return _without_secrets(value) if isinstance(value, str) else value


def _items(mapping: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The first items with their keys cut."""
    for key, value in islice(mapping.items(), _MAX_ITEMS):
        yield str(key)[:_MAX_VALUE], value


def _without_secrets(text: str) -> str:
    found = _PARAMETER.sub(r"\1***", _USER_INFO.sub("***", text[:_SEARCHED]))
    return found if len(found) <= _MAX_VALUE else found[:_MAX_VALUE] + "…"


def _json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text.encode("utf-8", "replace").decode()  # SQLite stores no lone surrogates


class CallLog:
    """Collects :class:`CallRecord` and writes them behind the calls' backs."""

    def __init__(self, path: Path, *, keep_days: int, capacity: int = 10_000) -> None:
        self._path = path
        self._keep_seconds = keep_days * 86_400
        self._queue: deque[CallRecord] = deque(maxlen=capacity)
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._closed = False
        self._thread: threading.Thread | None = None
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
        """The newest records, newest first; flushes what is queued."""
        self._flush()
        if not self._path.exists():
            return []
        with self._connect() as db:
            db.row_factory = sqlite3.Row
            rows = db.execute("SELECT * FROM calls ORDER BY id DESC LIMIT ?", (limit,)).fetchall()
        return [{**dict(row), "arguments": json.loads(row["arguments"])} for row in rows]

    def close(self) -> None:
        """Write what is queued and stop; safe to call twice."""
        with self._lock:
            self._closed = True
            thread, self._thread = self._thread, None
        self._wake.set()
        if thread is not None:
            thread.join(timeout=5)
        self._flush()

    def _run(self) -> None:
        while not self._wake.wait(timeout=1.0):
            self._flush()

    def _flush(self) -> None:
        with self._lock:
            batch = list(self._queue)
            self._queue.clear()
        if not batch:
            return
        try:
            with self._connect() as db:
                db.executemany(
                    "INSERT INTO calls (at, tool, caller, face, arguments, outcome, latency_ms,"
                    " cache_hit, summary) VALUES (?,?,?,?,?,?,?,?,?)",
                    [_row(record) for record in batch],
                )
                db.execute("DELETE FROM calls WHERE at < ?", (time.time() - self._keep_seconds,))
        except sqlite3.Error:
            self.dropped += len(batch)
            _LOG.exception("The call log cannot be written; %d records are lost.", len(batch))

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._path.touch(mode=0o600)
        with closing(sqlite3.connect(self._path, timeout=5.0)) as db:
            db.execute("PRAGMA journal_mode=WAL")
            db.executescript(_SCHEMA)
            with db:
                yield db


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
    )
