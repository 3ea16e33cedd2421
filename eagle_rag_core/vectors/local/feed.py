"""The feed of changes that keeps the memory indexes of all processes fresh.

Every transaction that changes vectors appends to the feed of its namespace. An index remembers
how far it has read; comparing that with the feed's position is one small query per search.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, Select, bindparam, delete, func, insert, select, text, update

from eagle_rag_core.catalog.schema import vector_changes as changes
from eagle_rag_core.catalog.schema import vector_state
from eagle_rag_core.vectors.store import Collection

ADD = "add"
DROP = "drop"

#: An index further behind than this is built anew sooner than it would catch up.
KEPT = 10_000


class Position(NamedTuple):
    """How far the feed of a namespace goes: its last number within a generation."""

    generation: int
    head: int


_POSITION = select(
    select(vector_state.c.generation)
    .where(vector_state.c.namespace == bindparam("namespace"))
    .scalar_subquery(),
    select(func.max(changes.c.seq))
    .where(changes.c.namespace == bindparam("namespace"))
    .scalar_subquery(),
)


def position(connection: Connection, namespace: str) -> Position:
    generation, head = connection.execute(_POSITION, {"namespace": namespace}).one()
    return Position(generation or 0, head or 0)


def append(tx: Connection, collection: Collection, op: str, version_ids: Sequence[str]) -> None:
    """Tell all indexes that versions were added or dropped; takes effect with the commit."""
    _order_writers(tx, collection.namespace)
    same = {"namespace": collection.namespace, "collection": collection.name, "op": op}
    tx.execute(insert(changes), [same | {"version_id": version} for version in version_ids])


def since(
    connection: Connection, collection: Collection, head: int
) -> tuple[list[str], list[str]] | None:
    """Versions of the collection changed after ``head``: those that hold rows, those that do not.

    None when the feed no longer reaches back to ``head``.
    """
    entries = connection.execute(
        select(changes.c.seq, changes.c.collection, changes.c.op, changes.c.version_id)
        .where(changes.c.namespace == collection.namespace, changes.c.seq >= head)
        .order_by(changes.c.seq)
    ).all()
    # Old entries are removed from the front, so as long as the last one read is there,
    # everything after it is, too.
    if not entries or entries[0].seq != head:
        return None
    last = {e.version_id: e.op for e in entries[1:] if e.collection == collection.name}
    return _versions(last.items(), ADD), _versions(last.items(), DROP)


def drops_since(connection: Connection, namespace: str, name: str, head: int) -> bool:
    """Whether versions of a collection were dropped after ``head``, or may have been."""
    ours = changes.c.namespace == namespace
    if connection.scalar(select(changes.c.seq).where(ours, changes.c.seq == head)) is None:
        return True
    dropped = select(changes.c.seq).where(
        ours, changes.c.collection == name, changes.c.seq > head, changes.c.op == DROP
    )
    return connection.execute(dropped.limit(1)).first() is not None


def mark(connection: Connection, namespace: str, head: int) -> str:
    """What the feed says at ``head``, in one word; empty when it does not reach back so far.

    Catalogs whose feeds happen to have the same length differ in this.
    """
    entry = connection.execute(
        select(changes.c.collection, changes.c.op, changes.c.version_id).where(
            changes.c.namespace == namespace, changes.c.seq == head
        )
    ).one_or_none()
    return "/".join(entry) if entry else ""


def last_operations(connection: Connection, collection: Collection) -> dict[str, str]:
    """What the feed says last of every version that it still mentions."""
    entries = connection.execute(
        select(changes.c.version_id, changes.c.op)
        .where(changes.c.namespace == collection.namespace, changes.c.collection == collection.name)
        .order_by(changes.c.seq)
    )
    return dict(entries.all())


def renew(tx: Connection, namespace: str) -> None:
    """Begin the feed anew: every process builds its indexes from the stored rows."""
    _order_writers(tx, namespace)
    tx.execute(delete(changes).where(changes.c.namespace == namespace))
    this = vector_state.c.namespace == namespace
    raised = update(vector_state).where(this).values(generation=vector_state.c.generation + 1)
    if not tx.execute(raised).rowcount:
        tx.execute(insert(vector_state).values(namespace=namespace, generation=1))


def is_long(connection: Connection, namespace: str) -> bool:
    """Whether the feed is worth pruning: it has twice the entries that are kept."""
    return connection.execute(_entry(namespace, 2 * KEPT)).first() is not None


def prune(tx: Connection, namespace: str) -> None:
    """Forget all but the newest entries."""
    newest_to_go = _entry(namespace, KEPT).scalar_subquery()
    tx.execute(
        delete(changes).where(changes.c.namespace == namespace, changes.c.seq <= newest_to_go)
    )


def _entry(namespace: str, behind: int) -> Select[tuple[int]]:
    """The number of the entry that has ``behind`` newer ones."""
    return (
        select(changes.c.seq)
        .where(changes.c.namespace == namespace)
        .order_by(changes.c.seq.desc())
        .offset(behind)
        .limit(1)
    )


def _versions(last: Iterable[tuple[str, str]], op: str) -> list[str]:
    return [version for version, final in last if final == op]


def _order_writers(tx: Connection, namespace: str) -> None:
    """Make numbers appear in the order they are given.

    PostgreSQL gives sequence numbers before commit: without a lock held until then, a reader
    could see number 8, remember it, and never look for number 7. SQLite has one writer anyway.
    """
    if tx.dialect.name != "postgresql":
        return
    digest = hashlib.blake2b(f"eagle-rag vectors {namespace}".encode(), digest_size=8).digest()
    key = int.from_bytes(digest, "big", signed=True)
    tx.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": key})
