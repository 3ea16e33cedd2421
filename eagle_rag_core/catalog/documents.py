"""Documents and their versions."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    Table,
    and_,
    delete,
    insert,
    or_,
    select,
    update,
)

from eagle_rag_core.catalog import cursors, filters, ids, kbs
from eagle_rag_core.catalog.active_jobs import cancel_jobs
from eagle_rag_core.catalog.membership import any_of
from eagle_rag_core.catalog.records import write_records
from eagle_rag_core.catalog.schema import (
    chunks,
    document_tags,
    documents,
    jobs,
    sections,
    versions,
)
from eagle_rag_core.errors import NotFound
from eagle_rag_core.types import (
    Caller,
    Chunk,
    Condition,
    DocumentInfo,
    NewRecord,
    Scope,
    Section,
)

_MAX_TAG = 128
_MAX_LANGUAGE = 35


@dataclass(frozen=True, slots=True)
class VersionDraft:
    """A document version that is ready to be written.

    :param document: its ids and everything a caller sees; the times in it are set when it is
        published.
    :param content_hash: of the source's bytes.
    :param fingerprint: of the pipeline that made it.
    :param size: of the source, in bytes.
    :param text: the normalised text that sections and chunks refer to.
    :param fields: per ``node_id``, per pack namespace.
    :param records: each with the namespace of its pack.
    """

    document: DocumentInfo
    content_hash: str
    fingerprint: str
    size: int
    text: str
    sections: Sequence[Section]
    chunks: Sequence[Chunk]
    fields: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    records: Sequence[tuple[str, NewRecord]] = ()


class VisibleVersion(NamedTuple):
    """What readers of a document see, and what it was made from."""

    version_id: str
    content_hash: str
    fingerprint: str


def visible_version(conn: Connection, document_id: str) -> VisibleVersion | None:
    """The version of the document that readers see; None when there is no such document."""
    row = conn.execute(
        select(versions.c.version_id, versions.c.content_hash, versions.c.fingerprint)
        .join(documents, documents.c.visible_version == versions.c.version_id)
        .where(documents.c.document_id == document_id)
    ).one_or_none()
    return VisibleVersion(*row) if row else None


def publish(
    tx: Connection, namespace: str, draft: VersionDraft, *, clock: ids.Clock = time.time
) -> list[str]:
    """Write a version, make it the visible one and delete the document's other versions.

    :returns: the versions whose vectors the caller retires in the same transaction.
    """
    info = draft.document
    kbs.ensure_kb(tx, namespace, info.kb_name, clock=clock)
    # First of all, because on a server it makes writers of one knowledge base wait in turn.
    kbs.bump_epoch(tx, namespace, info.kb_name, clock=clock)
    old = tx.scalars(
        select(versions.c.version_id).where(versions.c.document_id == info.document_id)
    ).all()
    tx.execute(delete(versions).where(versions.c.document_id == info.document_id))
    now = ids.now_iso(clock)
    _write_document(tx, namespace, info, len(draft.chunks), now)
    _write_version(tx, draft, now)
    write_records(
        tx,
        namespace,
        kb_name=info.kb_name,
        document_id=info.document_id,
        version_id=info.version_id,
        records=draft.records,
    )
    return [version for version in old if version != info.version_id]


def get_document(
    conn: Connection, namespace: str, caller: Caller, document_id: str
) -> DocumentInfo:
    """One document.

    :raises NotFound: it does not exist, or the caller may not know that it does.
    """
    if ids.is_id(document_id):
        query = _infos().where(
            documents.c.namespace == namespace, documents.c.document_id == document_id
        )
        row = conn.execute(query).one_or_none()
        if row is not None and caller.may_read(row.kb_name):
            return _info(row, _tags(conn, [document_id]))
    raise _not_found(document_id)


def list_documents(
    conn: Connection,
    namespace: str,
    scope: Scope,
    conditions: Sequence[Condition] = (),
    *,
    limit: int,
    cursor: str = "",
) -> tuple[list[DocumentInfo], str]:
    """A page of documents, the last changed first, and the cursor of the next page.

    A document that changes while somebody pages moves to the front, where it is not seen
    again; no other document is skipped or repeated.

    :param cursor: "" for the first page.
    :returns: the documents, and "" for a cursor at the end.
    :raises InvalidArgument: a bad condition or cursor.
    """
    query = (
        _infos()
        .where(documents.c.namespace == namespace, inside(scope), *filters.matching(conditions))
        .order_by(documents.c.updated_at.desc(), documents.c.document_id.desc())
        .limit(limit + 1)
    )
    if cursor:
        query = query.where(_after(*cursors.decode(cursor)))
    rows = conn.execute(query).all()
    page = rows[:limit]
    tags = _tags(conn, [row.document_id for row in page])
    following = len(rows) > limit and page
    return (
        [_info(row, tags) for row in page],
        cursors.encode(page[-1].updated_at, page[-1].document_id) if following else "",
    )


def inside(scope: Scope) -> ColumnElement[bool]:
    """The documents of a scope, as an SQL expression."""
    parts = []
    if scope.kbs or not scope.documents:
        parts.append(any_of(documents.c.kb_name, scope.kbs))
    if scope.documents:
        parts.append(any_of(documents.c.document_id, scope.documents))
    return or_(*parts)


def delete_document(
    tx: Connection,
    namespace: str,
    caller: Caller,
    document_id: str,
    *,
    clock: ids.Clock = time.time,
) -> list[str]:
    """Delete a document with all that belongs to it, and cancel its jobs.

    :returns: the versions whose vectors the caller retires in the same transaction.
    :raises NotFound: it does not exist, or the caller may not know that it does.
    """
    info = get_document(tx, namespace, caller, document_id)
    kbs.bump_epoch(tx, namespace, info.kb_name, clock=clock)
    reason = "The document was deleted."
    cancel_jobs(tx, namespace, jobs.c.document_id == document_id, reason, clock=clock)
    retired = tx.scalars(
        select(versions.c.version_id).where(versions.c.document_id == document_id)
    ).all()
    tx.execute(delete(documents).where(documents.c.document_id == document_id))
    return list(retired)


def _write_document(
    tx: Connection, namespace: str, info: DocumentInfo, chunk_count: int, now: str
) -> None:
    values = {
        "source_type": _stored(info.source_type),
        "title": _stored(info.title),
        "media_type": _stored(info.media_type),
        "language": _stored(info.language)[:_MAX_LANGUAGE],
        "metadata": {_stored(key): _stored(value) for key, value in info.metadata.items()},
        "visible_version": info.version_id,
        "chunks": chunk_count,
        "updated_at": now,
    }
    found = tx.execute(
        update(documents).where(documents.c.document_id == info.document_id).values(values)
    ).rowcount
    if not found:
        identity = {
            "document_id": info.document_id,
            "namespace": namespace,
            "kb_name": info.kb_name,
            "source_uri": info.source_uri,
            "created_at": now,
        }
        tx.execute(insert(documents).values(identity | values))
    tx.execute(delete(document_tags).where(document_tags.c.document_id == info.document_id))
    tags = dict.fromkeys(_stored(tag).strip()[:_MAX_TAG] for tag in info.tags)
    _insert(
        tx, document_tags, [{"document_id": info.document_id, "tag": tag} for tag in tags if tag]
    )


def _write_version(tx: Connection, draft: VersionDraft, now: str) -> None:
    version_id = draft.document.version_id
    tx.execute(
        insert(versions).values(
            version_id=version_id,
            document_id=draft.document.document_id,
            content_hash=draft.content_hash,
            fingerprint=draft.fingerprint,
            size=draft.size,
            text=draft.text,
            created_at=now,
        )
    )
    _insert(
        tx,
        sections,
        [{"version_id": version_id, **asdict(section)} for section in draft.sections],
    )
    _insert(tx, chunks, [_chunk_row(version_id, chunk, draft.fields) for chunk in draft.chunks])


def _insert(tx: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:  # without rows SQLAlchemy would insert one of defaults
        tx.execute(insert(table), rows)


def _chunk_row(
    version_id: str, chunk: Chunk, fields: Mapping[str, Mapping[str, Mapping[str, Any]]]
) -> dict[str, Any]:
    return {
        "node_id": chunk.node_id,
        "version_id": version_id,
        "ordinal": chunk.ordinal,
        "section": chunk.section,
        "start": chunk.start,
        "end": chunk.end,
        "page": chunk.page,
        "text": chunk.text,
        "fields": fields.get(chunk.node_id, {}),
    }


def _infos() -> Select[*tuple[Any, ...]]:
    return select(
        documents.c.document_id,
        documents.c.kb_name,
        documents.c.source_uri,
        documents.c.source_type,
        documents.c.title,
        documents.c.language,
        documents.c.media_type,
        documents.c.metadata,
        documents.c.visible_version,
        documents.c.chunks,
        documents.c.created_at,
        documents.c.updated_at,
    )


def _info(row: Row[*tuple[Any, ...]], tags: Mapping[str, Sequence[str]]) -> DocumentInfo:
    return DocumentInfo(
        document_id=row.document_id,
        kb_name=row.kb_name,
        source_uri=row.source_uri,
        source_type=row.source_type,
        title=row.title,
        language=row.language,
        media_type=row.media_type,
        tags=tuple(tags.get(row.document_id, ())),
        metadata=row.metadata,
        version_id=row.visible_version,
        chunks=row.chunks,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _tags(conn: Connection, document_ids: Iterable[str]) -> dict[str, list[str]]:
    """The tags of documents, sorted."""
    result: dict[str, list[str]] = {}
    query = (
        select(document_tags.c.document_id, document_tags.c.tag)
        .where(any_of(document_tags.c.document_id, document_ids))
        .order_by(document_tags.c.tag)
    )
    for document_id, tag in conn.execute(query):
        result.setdefault(document_id, []).append(tag)
    return result


def _after(updated_at: str, document_id: str) -> ColumnElement[bool]:
    return or_(
        documents.c.updated_at < updated_at,
        and_(documents.c.updated_at == updated_at, documents.c.document_id < document_id),
    )


def _stored(value: Any) -> Any:
    """``value`` as a database can hold it; names of files may contain anything."""
    if not isinstance(value, str) or ids.storable(value):
        return value
    return value.encode("utf-8", "replace").decode().replace("\0", "")


def _not_found(document_id: str) -> NotFound:
    return NotFound(
        f"There is no document {document_id[:80]!r} that you may read; "
        "the list of documents names those you may."
    )
