"""Sources, the items they hold, and who runs them when."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, and_, delete, func, insert, or_, select, update

from eagle_rag_core.catalog import ids
from eagle_rag_core.catalog.membership import any_of
from eagle_rag_core.catalog.schema import documents, jobs, source_items, sources, versions


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A source as the catalog knows it.

    :param run: number of its latest run, 0 before the first.
    :param failures: failed runs since the last one that succeeded.
    :param next_at: seconds since the epoch; scheduled runs wait until then.
    :param lease_until: seconds since the epoch; somebody runs it on schedule until then.
    :param counts: what became of the items of the latest run, by outcome.
    :param items: how many items it was seen to hold.
    """

    source_id: str
    kb_name: str
    kind: str
    uri: str
    spec: Mapping[str, Any]
    run: int
    failures: int
    next_at: float
    lease_until: float
    error_code: str
    error: str
    counts: Mapping[str, int]
    items: int
    created_at: str
    ran_at: str
    succeeded_at: str


class NewSource(NamedTuple):
    """What a source is, for its row."""

    source_id: str
    namespace: str
    kb_name: str
    kind: str
    uri: str
    spec: dict[str, Any]


class KnownItem(NamedTuple):
    """What earlier runs noted of an item, and what came of it.

    :param job_status: of the job it was submitted as; "" once that is forgotten.
    :param transient: that job gave up after failures that may pass.
    :param fingerprint: of the pipeline that made the document readers see; "" without one.
    :param content_hash: of the original of that document; "" without one.
    """

    uri: str
    revision: str
    recipe: str
    document_id: str
    job_id: str
    job_status: str
    transient: bool
    error: str
    fingerprint: str
    content_hash: str


class ItemNote(NamedTuple):
    """What a run notes of an item."""

    uri: str
    revision: str
    recipe: str
    document_id: str
    job_id: str


class MissingItem(NamedTuple):
    """An item that the latest run did not see."""

    uri: str
    document_id: str


def ensure_source(tx: Connection, source: NewSource, *, clock: ids.Clock) -> None:
    """Make a row for a source, unless there is one."""
    if tx.scalar(select(sources.c.source_id).where(sources.c.source_id == source.source_id)):
        return
    tx.execute(insert(sources).values(created_at=ids.now_iso(clock), **source._asdict()))


def begin_run(tx: Connection, source: NewSource, *, clock: ids.Clock) -> int:
    """Note that a source is about to be read; the number of the run."""
    ensure_source(tx, source, clock=clock)
    number: int = tx.execute(
        update(sources)
        .where(sources.c.source_id == source.source_id)
        .values(run=sources.c.run + 1, spec=source.spec, ran_at=ids.now_iso(clock))
        .returning(sources.c.run)
    ).scalar_one()
    return number


def end_run(
    tx: Connection,
    source_id: str,
    *,
    failures: int,
    next_at: float,
    error_code: str,
    error: str,
    counts: Mapping[str, int],
    clock: ids.Clock,
) -> None:
    """Note how a run ended."""
    values: dict[str, Any] = {
        "failures": failures,
        "next_at": next_at,
        "error_code": error_code,
        "error": error,
        "counts": dict(counts),
    }
    if not failures:
        values["succeeded_at"] = ids.now_iso(clock)
    tx.execute(update(sources).where(sources.c.source_id == source_id).values(values))


def claim_due(
    tx: Connection, source_id: str, *, owner: str, lease_seconds: float, clock: ids.Clock
) -> bool:
    """Take a source that is due and that nobody runs; whether this process has it now."""
    now = clock()
    taken = tx.execute(
        update(sources)
        .where(
            sources.c.source_id == source_id,
            sources.c.next_at <= now,
            or_(sources.c.lease_until <= now, sources.c.lease_owner == owner),
        )
        .values(lease_owner=owner, lease_until=now + lease_seconds)
    )
    return taken.rowcount == 1


def prolong(
    tx: Connection, source_id: str, *, owner: str, lease_seconds: float, clock: ids.Clock
) -> bool:
    """Keep a source; whether this process still has it."""
    kept = tx.execute(
        update(sources)
        .where(sources.c.source_id == source_id, sources.c.lease_owner == owner)
        .values(lease_until=clock() + lease_seconds)
    )
    return kept.rowcount == 1


def release(tx: Connection, source_id: str, *, owner: str) -> None:
    """Give a source back."""
    tx.execute(
        update(sources)
        .where(sources.c.source_id == source_id, sources.c.lease_owner == owner)
        .values(lease_owner="", lease_until=0.0)
    )


def get_source(conn: Connection, namespace: str, source_id: str) -> SourceRow | None:
    """One source; None when there is none of this id."""
    found = conn.execute(_rows(namespace).where(sources.c.source_id == source_id)).one_or_none()
    return _source(found) if found else None


def list_sources(conn: Connection, namespace: str) -> list[SourceRow]:
    """All sources, by URI."""
    ordered = _rows(namespace).order_by(sources.c.uri, sources.c.kb_name)
    return [_source(row) for row in conn.execute(ordered)]


def known_items(conn: Connection, source_id: str, uris: Sequence[str]) -> dict[str, KnownItem]:
    """What is known of some items, by URI."""
    query = (
        select(
            source_items.c.uri,
            source_items.c.revision,
            source_items.c.recipe,
            source_items.c.document_id,
            source_items.c.job_id,
            func.coalesce(jobs.c.status, ""),
            func.coalesce(jobs.c.dead, False),
            func.coalesce(jobs.c.error, ""),
            func.coalesce(versions.c.fingerprint, ""),
            func.coalesce(versions.c.content_hash, ""),
        )
        .outerjoin(jobs, jobs.c.job_id == source_items.c.job_id)
        .outerjoin(documents, documents.c.document_id == source_items.c.document_id)
        .outerjoin(versions, versions.c.version_id == documents.c.visible_version)
        .where(
            source_items.c.source_id == source_id,
            any_of(source_items.c.item_id, map(_item_id, uris)),
        )
    )
    return {row[0]: KnownItem._make(row) for row in conn.execute(query)}


def note_items(tx: Connection, source_id: str, run: int, notes: Iterable[ItemNote]) -> None:
    """Note items that a run has seen, in place of what was noted of them before."""
    rows = {
        _item_id(note.uri): {"source_id": source_id, "seen": run, **note._asdict()}
        for note in notes
    }
    if rows:
        tx.execute(delete(source_items).where(_these(source_id, rows)))
        tx.execute(
            insert(source_items), [{"item_id": item_id, **row} for item_id, row in rows.items()]
        )


def see_items(tx: Connection, source_id: str, run: int, uris: Sequence[str]) -> None:
    """Note that a run has seen items that are unchanged."""
    if uris:
        tx.execute(
            update(source_items).where(_these(source_id, map(_item_id, uris))).values(seen=run)
        )


def missing_items(conn: Connection, source_id: str, run: int) -> list[MissingItem]:
    """The items that neither this run nor a later one has seen, by URI."""
    query = (
        select(source_items.c.uri, source_items.c.document_id)
        .where(source_items.c.source_id == source_id, source_items.c.seen < run)
        .order_by(source_items.c.uri)
    )
    return [MissingItem(*row) for row in conn.execute(query)]


def forget_items(tx: Connection, source_id: str, uris: Iterable[str]) -> None:
    """Forget items; their documents are not touched."""
    tx.execute(delete(source_items).where(_these(source_id, map(_item_id, uris))))


def present_documents(conn: Connection, document_ids: Sequence[str]) -> set[str]:
    """Those of the ids that are documents."""
    query = select(documents.c.document_id).where(any_of(documents.c.document_id, document_ids))
    return set(conn.scalars(query)) if document_ids else set()


def held_elsewhere(conn: Connection, source_id: str, document_ids: Iterable[str]) -> set[str]:
    """Those of the documents that another source holds too."""
    query = select(source_items.c.document_id).where(
        source_items.c.source_id != source_id, any_of(source_items.c.document_id, document_ids)
    )
    return set(conn.scalars(query))


def document_ids(conn: Connection, source_id: str) -> list[str]:
    """The documents of a source's items."""
    query = select(source_items.c.document_id).where(
        source_items.c.source_id == source_id, source_items.c.document_id != ""
    )
    return list(conn.scalars(query))


def remove_source(tx: Connection, source_id: str) -> None:
    """Forget a source and its items; their documents are not touched."""
    tx.execute(delete(sources).where(sources.c.source_id == source_id))


def _item_id(uri: str) -> str:
    return hashlib.sha256(uri.encode()).hexdigest()[:32]


def _these(source_id: str, item_ids: Iterable[str]) -> Any:
    return and_(source_items.c.source_id == source_id, any_of(source_items.c.item_id, item_ids))


def _rows(namespace: str) -> Any:
    items = (
        select(func.count())
        .where(source_items.c.source_id == sources.c.source_id)
        .scalar_subquery()
        .label("items")
    )
    return select(sources, items).where(sources.c.namespace == namespace)


def _source(row: Row[Any]) -> SourceRow:
    return SourceRow(**{name: getattr(row, name) for name in SourceRow.__slots__})
