"""What packs reach through their context: records and search, scoped to the running call.

The caller is the one of the call that is running; without a call there is nobody to act for.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    ) -> list[Record]:
        catalog = self._catalog
        with catalog.read() as conn:
            scope = _scope(catalog, conn, kb_name, document_ids)
            return records.find(
                conn, catalog.namespace, self._pack, kind, where, scope=scope, limit=limit
            )

    def count(
        self,
        kind: str,
        where: Where | None = None,
        *,
        kb_name: str = "",
        document_ids: Sequence[str] = (),
    ) -> int:
        catalog = self._catalog
        with catalog.read() as conn:
            scope = _scope(catalog, conn, kb_name, document_ids)
            return records.count(conn, catalog.namespace, self._pack, kind, where, scope=scope)

    def values(
        self, kind: str, field: str, *, prefix: str = "", kb_name: str = "", limit: int = 100
    ) -> list[tuple[FieldValue, int]]:
        catalog = self._catalog
        with catalog.read() as conn:
            scope = _scope(catalog, conn, kb_name, ())
            return records.values(
                conn,
                catalog.namespace,
                self._pack,
                kind,
                field,
                scope=scope,
                prefix=prefix,
                limit=limit,
            )


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
        return list(found.hits)

    def passages(self, node_ids: Sequence[str]) -> list[Hit]:
        with self._catalog.read() as conn:
            scope = _scope(self._catalog, conn, "", ())
            found = passages(conn, self._catalog.namespace, node_ids)
        return [
            passage_hit(found[node_id])
            for node_id in node_ids
            if node_id in found and found[node_id].kb_name in scope.kbs
        ]


def _scope(catalog: Catalog, conn: Connection, kb_name: str, document_ids: Sequence[str]) -> Scope:
    request = ScopeRequest(kb_name=kb_name, documents=tuple(document_ids))
    return scopes.resolve(conn, catalog.namespace, current_caller(), request)
