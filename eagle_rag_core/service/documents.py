"""Looking at documents, and deleting them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eagle_rag_core.catalog import documents, filters, scopes, versions
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.passages import document_sections
from eagle_rag_core.errors import NotFound
from eagle_rag_core.ingest.originals import Originals
from eagle_rag_core.types import Caller, DocumentInfo, ScopeRequest, Section
from eagle_rag_core.vectors.collections import retire_everywhere
from eagle_rag_core.vectors.store import VectorStore


@dataclass(frozen=True, slots=True)
class DocumentDetails:
    """A document with what it was made from.

    :param size: of the original, in bytes.
    :param content_hash: of the original: SHA-256.
    """

    info: DocumentInfo
    size: int
    content_hash: str
    sections: Sequence[Section]


class DocumentService:
    """Documents as callers see them."""

    def __init__(self, catalog: Catalog, store: VectorStore, originals: Originals) -> None:
        self._catalog = catalog
        self._store = store
        self._originals = originals

    def list(
        self, caller: Caller, request: ScopeRequest, *, limit: int, cursor: str
    ) -> tuple[Sequence[DocumentInfo], str]:
        """A page of documents, the last changed first, and the cursor of the next page.

        :raises NotFound: an unknown (or forbidden) knowledge base.
        :raises InvalidArgument: a bad filter or cursor.
        """
        namespace, names = self._catalog.namespace, self._catalog.names
        with self._catalog.read() as conn:
            scope = scopes.resolve(conn, namespace, caller, ScopeRequest(kb_name=request.kb_name))
            conditions = filters.matching(request.filter, names.column(caller))
            found, following = documents.list_documents(
                conn, namespace, scope, conditions, limit=limit, cursor=cursor
            )
        return [names.named(caller, info) for info in found], following

    def get(self, caller: Caller, document_id: str) -> DocumentDetails:
        """One document.

        :raises NotFound: it does not exist, or the caller may not know that it does.
        """
        with self._catalog.read() as conn:
            info = documents.get_document(conn, self._catalog.namespace, caller, document_id)
            size, content_hash = versions.made_from(conn, info.version_id)
            sections = document_sections(conn, document_id)
        named = self._catalog.names.named(caller, info)
        return DocumentDetails(named, size, content_hash, sections)

    def delete(self, caller: Caller, document_id: str) -> bool:
        """Delete a document with all that was made of it: passages, vectors, records, jobs, and
        its original unless another document has the same.

        :returns: whether there was one that the caller may write.
        """
        namespace = self._catalog.namespace
        try:
            with self._catalog.write() as tx:
                removed = versions.delete_document(tx, namespace, caller, document_id)
                retire_everywhere(tx, self._store, namespace, removed.version_ids)
        except NotFound:
            return False
        self._originals.release(removed)
        return True
