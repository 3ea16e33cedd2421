"""Documents as readers see them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, or_, select

from eagle_rag_core.catalog import cursors, ids
from eagle_rag_core.catalog.membership import any_of
from eagle_rag_core.catalog.schema import document_tags, documents, versions
from eagle_rag_core.errors import NotFound
from eagle_rag_core.types import Caller, DocumentInfo, Scope


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
        # One whose knowledge base is being deleted is gone.
        if row is not None and ids.is_kb_name(row.kb_name) and caller.may_read(row.kb_name):
            return _info(row, _tags(conn, [document_id]))
    raise _not_found(document_id)


def list_documents(
    conn: Connection,
    namespace: str,
    scope: Scope,
    conditions: Sequence[ColumnElement[bool]] = (),
    *,
    limit: int,
    cursor: str = "",
) -> tuple[list[DocumentInfo], str]:
    """A page of documents, the last changed first, and the cursor of the next page.

    A document that changes while somebody pages moves to the front, where it is not seen
    again; no other document is skipped or repeated.

    :param conditions: see :func:`~eagle_rag_core.catalog.filters.matching`.
    :param cursor: "" for the first page.
    :returns: the documents, and "" for a cursor at the end.
    :raises InvalidArgument: a bad cursor.
    """
    query = (
        _infos()
        .where(documents.c.namespace == namespace, inside(scope), *conditions)
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


def _not_found(document_id: str) -> NotFound:
    return NotFound(
        f"There is no document {document_id[:80]!r} that you may read; "
        "the list of documents names those you may."
    )
