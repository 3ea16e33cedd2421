"""Looking at documents."""

from __future__ import annotations

from collections.abc import Sequence

from eagle_rag_core.catalog import documents, scopes
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.types import Caller, DocumentInfo, ScopeRequest


class DocumentService:
    """Documents as callers see them."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def list(
        self, caller: Caller, request: ScopeRequest, *, limit: int, cursor: str
    ) -> tuple[Sequence[DocumentInfo], str]:
        """A page of documents, the last changed first, and the cursor of the next page.

        :raises NotFound: an unknown (or forbidden) knowledge base.
        :raises InvalidArgument: a bad filter or cursor.
        """
        namespace = self._catalog.namespace
        with self._catalog.read() as conn:
            scope = scopes.resolve(conn, namespace, caller, ScopeRequest(kb_name=request.kb_name))
            return documents.list_documents(
                conn, namespace, scope, request.filter, limit=limit, cursor=cursor
            )
