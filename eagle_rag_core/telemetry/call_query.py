"""Reading the call log."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eagle_rag_core.errors import StorageError

_IS_THERE = "SELECT 1 FROM sqlite_master WHERE name = 'calls'"


@dataclass(frozen=True, slots=True)
class CallQuery:
    """Which records are wanted; what is left empty does not matter.

    :param outcome: ``ok``, a code, or ``error`` for every code.
    :param since: in seconds since the epoch, that moment included.
    :param until: in seconds since the epoch, that moment left out.
    """

    tool: str = ""
    caller: str = ""
    outcome: str = ""
    face: str = ""
    trace_id: str = ""
    since: float | None = None
    until: float | None = None
    cache_hit: bool | None = None


def select_calls(
    path: Path, query: CallQuery, *, limit: int, before: int = 0
) -> tuple[list[dict[str, Any]], int]:
    """Records that match, newest first, and the id that the next page begins below, 0 at the end.

    :param before: records with this id and later ones are left out; 0 for none.
    :raises StorageError: the log cannot be read.
    """
    if not path.exists():
        return [], 0
    condition, values = _condition(query, before)
    try:
        with closing(sqlite3.connect(path, timeout=5.0)) as db:
            db.row_factory = sqlite3.Row
            if db.execute(_IS_THERE).fetchone() is None:  # its first writer is just making it
                return [], 0
            found = db.execute(
                f"SELECT * FROM calls WHERE {condition} ORDER BY id DESC LIMIT ?",
                (*values, limit + 1),
            ).fetchall()
    except sqlite3.Error:
        raise StorageError("The call log cannot be read; the server's log may say why.") from None
    rows = [_record(row) for row in found[:limit]]
    return rows, rows[-1]["id"] if len(found) > limit else 0


def _condition(query: CallQuery, before: int) -> tuple[str, list[Any]]:
    """The condition in SQL, and what stands for its question marks."""
    wanted: list[tuple[str, Any]] = [
        (f"{column} = ?", value)
        for column, value in (
            ("tool", query.tool),
            ("caller", query.caller),
            ("face", query.face),
            ("trace_id", query.trace_id),
        )
        if value
    ]
    if query.outcome == "error":
        wanted.append(("outcome <> ?", "ok"))
    elif query.outcome:
        wanted.append(("outcome = ?", query.outcome))
    if query.since is not None:
        wanted.append(("at >= ?", query.since))
    if query.until is not None:
        wanted.append(("at < ?", query.until))
    if query.cache_hit is not None:
        wanted.append(("cache_hit = ?", int(query.cache_hit)))
    if before:
        wanted.append(("id < ?", before))
    condition = " AND ".join(text for text, _ in wanted) or "1"
    return condition, [value for _, value in wanted]


def _record(row: sqlite3.Row) -> dict[str, Any]:
    record = dict(row)
    return {
        "trace_id": "",  # which logs of earlier releases lack until they are written to
        **record,
        "arguments": json.loads(record["arguments"]),
        "cache_hit": bool(record["cache_hit"]),
    }
