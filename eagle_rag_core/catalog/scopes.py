"""From what a caller asks for to what a search may touch."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import ColumnElement, Connection, select

from eagle_rag_core.catalog import filters, ids, kbs
from eagle_rag_core.catalog.documents import inside
from eagle_rag_core.catalog.membership import any_of
from eagle_rag_core.catalog.schema import document_tags, documents
from eagle_rag_core.catalog.source_names import BARE_NAMES, SourceNames
from eagle_rag_core.types import Caller, Scope, ScopeRequest


def resolve(
    conn: Connection,
    namespace: str,
    caller: Caller,
    request: ScopeRequest,
    names: SourceNames = BARE_NAMES,
) -> Scope:
    """The concrete scope of a request, cut down to what the caller may read.

    A non-empty union (knowledge bases, documents, documents with a tag) replaces ``kb_name``
    and ``documents``; otherwise those two intersect. ``filter`` intersects with either. With
    nothing given the scope is every knowledge base the caller may read. Unknown documents and
    tags hold nothing.

    :param names: of sources, which the filter compares with as the caller is shown them.
    :raises NotFound: a named knowledge base does not exist or is not the caller's to read.
    :raises InvalidArgument: a bad filter.
    """
    if request.scope_kbs or request.scope_documents or request.scope_tags:
        scope = _union(conn, namespace, caller, request)
    else:
        scope = _intersection(conn, namespace, caller, request)
    if not request.filter:
        return scope
    conditions = filters.matching(request.filter, names.column(caller))
    return _filtered(conn, namespace, scope, conditions)


def _union(conn: Connection, namespace: str, caller: Caller, request: ScopeRequest) -> Scope:
    names = frozenset(
        kbs.check_readable(conn, namespace, caller, name) for name in request.scope_kbs
    )
    readable = kbs.readable_kbs(conn, namespace, caller)
    documents = _known_documents(conn, namespace, readable, request.scope_documents)
    return Scope(names, documents | _tagged(conn, namespace, readable, request.scope_tags))


def _intersection(conn: Connection, namespace: str, caller: Caller, request: ScopeRequest) -> Scope:
    if request.kb_name:
        names = frozenset((kbs.check_readable(conn, namespace, caller, request.kb_name),))
    else:
        names = kbs.readable_kbs(conn, namespace, caller)
    if not request.documents:
        return Scope(kbs=names)
    return Scope(documents=_known_documents(conn, namespace, names, request.documents))


def _known_documents(
    conn: Connection, namespace: str, names: Collection[str], document_ids: Sequence[str]
) -> frozenset[str]:
    """Those of the documents that stand in the knowledge bases."""
    wanted = [document_id for document_id in document_ids if ids.is_id(document_id)]
    if not wanted:
        return frozenset()
    query = select(documents.c.document_id).where(
        documents.c.namespace == namespace,
        any_of(documents.c.document_id, wanted),
        any_of(documents.c.kb_name, names),
    )
    return frozenset(conn.scalars(query))


def _tagged(
    conn: Connection, namespace: str, names: Collection[str], tags: Sequence[str]
) -> frozenset[str]:
    """The documents in the knowledge bases that have any of the tags."""
    wanted = [tag for tag in tags if ids.storable(tag)]
    if not wanted:
        return frozenset()
    query = (
        select(documents.c.document_id)
        .join(document_tags, document_tags.c.document_id == documents.c.document_id)
        .where(
            documents.c.namespace == namespace,
            any_of(document_tags.c.tag, wanted),
            any_of(documents.c.kb_name, names),
        )
    )
    return frozenset(conn.scalars(query))


def _filtered(
    conn: Connection, namespace: str, scope: Scope, conditions: Sequence[ColumnElement[bool]]
) -> Scope:
    query = select(documents.c.document_id).where(
        documents.c.namespace == namespace, inside(scope), *conditions
    )
    return Scope(documents=frozenset(conn.scalars(query)))
