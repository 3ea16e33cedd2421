"""Writing and removing versions of documents."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table, delete, insert, select, text, update

from eagle_rag_core.catalog import ids, kbs
from eagle_rag_core.catalog.active_jobs import cancel_jobs, pending_uploads
from eagle_rag_core.catalog.collection_use import versions_with_matrices
from eagle_rag_core.catalog.documents import get_document
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
from eagle_rag_core.catalog.tiles import write_pages, write_tiles
from eagle_rag_core.types import (
    Caller,
    Chunk,
    DocumentInfo,
    NewRecord,
    PageSpan,
    ReadLine,
    Section,
    Tile,
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
    :param rendition: SHA-256 of the PDF that shows its pages; "" where the original does.
    :param text: the normalised text that sections and chunks refer to.
    :param fields: per ``node_id``, per pack namespace.
    :param records: each with the namespace of its pack.
    :param given: what its submitter said of it, as fields of an ingest request.
    :param pages: which part of the text stands on which page.
    :param lines: what OCR read on pages.
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
    given: Mapping[str, Any] = field(default_factory=dict)
    tiles: Sequence[Tile] = ()
    pages: Sequence[PageSpan] = ()
    lines: Sequence[ReadLine] = ()
    rendition: str = ""

    @property
    def files(self) -> frozenset[str]:
        """The files that it needs, by their hashes."""
        return frozenset({self.content_hash, self.rendition} - {""})


class Removed(NamedTuple):
    """Versions that go with a transaction.

    :param version_ids: their vectors are retired in the same transaction.
    :param content_hashes: of their originals and renditions, which go after it where nothing else
        needs them.
    :param with_matrices: those of the versions whose files of matrices go after it as well.
    """

    version_ids: list[str]
    content_hashes: frozenset[str]
    with_matrices: frozenset[str] = frozenset()


def publish(
    tx: Connection, namespace: str, draft: VersionDraft, *, clock: ids.Clock = time.time
) -> Removed:
    """Write a version, make it the visible one and delete the document's other versions."""
    info = draft.document
    kbs.ensure_kb(tx, namespace, info.kb_name, clock=clock)
    # First of all, because on a server it makes writers of one knowledge base wait in turn.
    kbs.bump_epoch(tx, namespace, info.kb_name, clock=clock)
    hold_originals(tx, draft.files)
    removed = _remove(tx, [info.document_id])
    now = ids.now_iso(clock)
    _write_document(tx, namespace, draft, now)
    _write_version(tx, draft, now)
    write_records(
        tx,
        namespace,
        kb_name=info.kb_name,
        document_id=info.document_id,
        version_id=info.version_id,
        records=draft.records,
    )
    return Removed(
        [version for version in removed.version_ids if version != info.version_id],
        removed.content_hashes - draft.files,
        removed.with_matrices - {info.version_id},
    )


def delete_document(
    tx: Connection,
    namespace: str,
    caller: Caller,
    document_id: str,
    *,
    clock: ids.Clock = time.time,
) -> Removed:
    """Delete a document with all that belongs to it, and cancel its jobs.

    :raises NotFound: it does not exist, or the caller may not know that it does.
    """
    info = get_document(tx, namespace, caller, document_id)
    reason = "The document was deleted."
    cancel_jobs(tx, namespace, jobs.c.document_id == document_id, reason, clock=clock)
    kbs.bump_epoch(tx, namespace, info.kb_name, clock=clock)
    return _delete(tx, [document_id])


def empty_kb(tx: Connection, namespace: str, kb_name: str, limit: int) -> Removed | None:
    """Delete up to ``limit`` documents of a knowledge base that nobody can see any more.

    None when there were none left.
    """
    query = (
        select(documents.c.document_id)
        .where(documents.c.namespace == namespace, documents.c.kb_name == kb_name)
        .limit(limit)
    )
    document_ids = tx.scalars(query).all()
    return _delete(tx, document_ids) if document_ids else None


def _delete(tx: Connection, document_ids: Sequence[str]) -> Removed:
    removed = _remove(tx, document_ids)
    tx.execute(delete(documents).where(any_of(documents.c.document_id, document_ids)))
    return removed


def _remove(tx: Connection, document_ids: Sequence[str]) -> Removed:
    """Delete all versions of documents."""
    mine = any_of(versions.c.document_id, document_ids)
    files = versions.c.content_hash, versions.c.rendition
    rows = tx.execute(select(versions.c.version_id, *files).where(mine)).all()
    version_ids = [row.version_id for row in rows]
    hashes = frozenset(key for row in rows for key in row[1:] if key)
    with_matrices = versions_with_matrices(tx, version_ids)
    tx.execute(delete(versions).where(mine))
    return Removed(version_ids, hashes, with_matrices)


def made_from(conn: Connection, version_id: str) -> tuple[int, str]:
    """Size and hash of the original of a version."""
    size, content_hash = conn.execute(
        select(versions.c.size, versions.c.content_hash).where(versions.c.version_id == version_id)
    ).one()
    return size, content_hash


def rendition_of(conn: Connection, version_id: str) -> str:
    """Hash of the PDF that shows the pages of a version; "" where its original does, or nothing."""
    query = select(versions.c.rendition).where(versions.c.version_id == version_id)
    return conn.scalar(query) or ""


def stored_files(conn: Connection) -> set[str]:
    """The hashes of all originals and renditions that versions of any namespace need."""
    found = conn.execute(select(versions.c.content_hash, versions.c.rendition).distinct())
    return {key for row in found for key in row if key}


def related_versions(
    conn: Connection, namespace: str, document_id: str, content_hash: str
) -> list[str]:
    """The visible version of a document, and one that was made from a content."""
    shown = (
        select(versions.c.version_id)
        .join(documents, documents.c.visible_version == versions.c.version_id)
        .where(documents.c.namespace == namespace)
        .limit(1)
    )
    found = (
        conn.scalar(shown.where(documents.c.document_id == document_id)),
        conn.scalar(shown.where(versions.c.content_hash == content_hash)),
    )
    return sorted({version_id for version_id in found if version_id is not None})


def hold_originals(tx: Connection, content_hashes: Iterable[str]) -> None:
    """Let nobody else decide until ``tx`` ends whether originals are needed.

    SQLite has one writer anyway.
    """
    if tx.dialect.name != "postgresql":
        return
    for content_hash in sorted(content_hashes):  # in order, so that nobody waits for each other
        key = int(content_hash[:16], 16) - 2**63
        tx.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": key})


def referenced(conn: Connection, content_hashes: Iterable[str]) -> set[str]:
    """Those of the files that a version of any namespace was made from or is shown by, or that
    were sent along with a job that is not over."""
    hashes = set(content_hashes) - {""}
    found = pending_uploads(conn) & hashes
    for column in (versions.c.content_hash, versions.c.rendition):
        found |= set(conn.scalars(select(column).where(any_of(column, hashes))))
    return found


def _write_document(tx: Connection, namespace: str, draft: VersionDraft, now: str) -> None:
    info = draft.document
    values = {
        "source_type": _stored(info.source_type),
        "title": _stored(info.title),
        "media_type": _stored(info.media_type),
        "language": _stored(info.language)[:_MAX_LANGUAGE],
        "metadata": {_stored(key): _stored(value) for key, value in info.metadata.items()},
        "visible_version": info.version_id,
        "chunks": len(draft.chunks),
        "given": dict(draft.given),
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
            rendition=draft.rendition,
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
    write_tiles(tx, version_id, draft.tiles)
    write_pages(tx, version_id, draft.pages, draft.lines)


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


def _stored(value: Any) -> Any:
    """``value`` as a database can hold it; names of files may contain anything."""
    if not isinstance(value, str) or ids.storable(value):
        return value
    return value.encode("utf-8", "replace").decode().replace("\0", "")
