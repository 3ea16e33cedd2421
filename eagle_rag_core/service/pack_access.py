"""What packs reach through their context: records and search, scoped to the running call.

The caller is the one of the call that is running; without a call there is nobody to act for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from eagle_rag_core.catalog import records, scopes
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.passages import passages
from eagle_rag_core.retrieval.orchestrator import Orchestrator
from eagle_rag_core.retrieval.selection import passage_hit
from eagle_rag_core.types import (
    FieldValue,
    Hit,
    Record,
    Scope,
    ScopeRequest,
    Where,
    current_caller,
    current_deadline,
)

if TYPE_CHECKING:
    from sqlalchemy import Connection


class ScopedRecords:
    """The records of one pack, cut down to what the current caller may read."""

    def __init__(self, catalog: Catalog, pack: str) -> None:
        self._catalog = catalog
        self._pack = pack

    def find(
        self,
        kind: str,
        where: Where | None = None,
        *,
        kb_name: str = "",
        document_ids: Sequence[str] = (),
        limit: int = 100,
        kb_names: Sequence[str] = (),
        order_by: str = "",
        offset: int = 0,
    ) -> list[Record]:
        with self._scoped(kb_name, kb_names, document_ids) as (conn, scope):
            return records.find(
                conn,
                *self._of(kind),
                where,
                scope=scope,
                limit=limit,
                order_by=order_by,
                offset=offset,
            )

    def find_pairs(
        self,
        kind: str,
        field: str,
        pairs: Iterable[tuple[str, FieldValue]],
        *,
        kb_name: str = "",
        kb_names: Sequence[str] = (),
        limit: int = 100,
    ) -> list[Record]:
        with self._scoped(kb_name, kb_names) as (conn, scope):
            return records.find_pairs(conn, *self._of(kind), field, pairs, scope=scope, limit=limit)

    def count(
        self,
        kind: str,
        where: Where | None = None,
        *,
        kb_name: str = "",
        document_ids: Sequence[str] = (),
        kb_names: Sequence[str] = (),
    ) -> int:
        with self._scoped(kb_name, kb_names, document_ids) as (conn, scope):
            return records.count(conn, *self._of(kind), where, scope=scope)

    def count_by(
        self,
        kind: str,
        field: str,
        where: Where | None = None,
        *,
        kb_name: str = "",
        kb_names: Sequence[str] = (),
        document_ids: Sequence[str] = (),
        limit: int = 100,
    ) -> list[tuple[FieldValue, int]]:
        with self._scoped(kb_name, kb_names, document_ids) as (conn, scope):
            return records.count_by(conn, *self._of(kind), field, where, scope=scope, limit=limit)

    def values(
        self,
        kind: str,
        field: str,
        *,
        prefix: str = "",
        kb_name: str = "",
        limit: int = 100,
        where: Where | None = None,
        document_ids: Sequence[str] = (),
        kb_names: Sequence[str] = (),
    ) -> list[tuple[FieldValue, int]]:
        with self._scoped(kb_name, kb_names, document_ids) as (conn, scope):
            return records.values(
                conn,
                *self._of(kind),
                field,
                scope=scope,
                where=where,
                prefix=prefix,
                limit=limit,
            )

    def _of(self, kind: str) -> tuple[str, str, str]:
        return self._catalog.namespace, self._pack, kind

    @contextmanager
    def _scoped(
        self, kb_name: str, kb_names: Sequence[str], document_ids: Sequence[str] = ()
    ) -> Iterator[tuple[Connection, Scope]]:
        """A snapshot, and what of it the caller may read of the knowledge bases."""
        names = {name for name in (kb_name, *kb_names) if name} or {""}
        with self._catalog.read() as conn:
            found = [_scope(self._catalog, conn, name, document_ids) for name in sorted(names)]
            kbs = frozenset[str]().union(*(scope.kbs for scope in found))
            documents = frozenset[str]().union(*(scope.documents for scope in found))
            yield conn, Scope(kbs, documents)


class ScopedSearch:
    """Search for packs, cut down to what the current caller may read."""

    def __init__(self, catalog: Catalog, orchestrator: Orchestrator) -> None:
        self._catalog = catalog
        self._orchestrator = orchestrator

    def text(
        self, query: str, *, top_k: int = 5, kb_name: str = "", document_ids: Sequence[str] = ()
    ) -> list[Hit]:
        with self._catalog.read() as conn:
            scope = _scope(self._catalog, conn, kb_name, document_ids)
        found = self._orchestrator.search(query, scope, top_k, deadline=current_deadline())
        return self._named(found.hits)

    def passages(self, node_ids: Sequence[str]) -> list[Hit]:
        with self._catalog.read() as conn:
            scope = _scope(self._catalog, conn, "", ())
            found = passages(conn, self._catalog.namespace, node_ids)
        return self._named(
            passage_hit(found[node_id])
            for node_id in node_ids
            if node_id in found and found[node_id].kb_name in scope.kbs
        )

    def _named(self, hits: Iterable[Hit]) -> list[Hit]:
        caller = current_caller()
        return [self._catalog.names.named(caller, hit) for hit in hits]


def _scope(catalog: Catalog, conn: Connection, kb_name: str, document_ids: Sequence[str]) -> Scope:
    request = ScopeRequest(kb_name=kb_name, documents=tuple(document_ids))
    return scopes.resolve(conn, catalog.namespace, current_caller(), request)
