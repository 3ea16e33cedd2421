"""Searching for regions of pages and for pictures."""

from __future__ import annotations

from dataclasses import replace

from eagle_rag_core.catalog import scopes
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.retrieval.visual import VisualHit, VisualOutcome, VisualRetriever
from eagle_rag_core.types import Caller, ScopeRequest, current_deadline, note_failures

__all__ = ["VisualHit", "VisualOutcome", "VisualService"]


class VisualService:
    """Resolves what the caller may see, then searches its regions."""

    def __init__(self, catalog: Catalog, retriever: VisualRetriever) -> None:
        self._catalog = catalog
        self._retriever = retriever

    def search(
        self,
        caller: Caller,
        query: str,
        *,
        top_k: int,
        request: ScopeRequest,
        image: bytes = b"",
    ) -> VisualOutcome:
        """The best regions for words, a picture or both inside the requested scope, best first.

        :param image: a picture to compare with; only where pixels are compared.
        :raises NotFound: an unknown (or forbidden) knowledge base.
        :raises InvalidArgument: a bad filter, or ``image`` is no picture.
        :raises EagleError: ``mode_unavailable``: pixels are not compared here.
        """
        with self._catalog.read() as conn:
            scope = scopes.resolve(
                conn, self._catalog.namespace, caller, request, self._catalog.names
            )
        found = self._retriever.search(
            query, scope, top_k, image=image, deadline=current_deadline()
        )
        note_failures(found.steps)
        named = tuple(self._catalog.names.named(caller, hit) for hit in found.hits)
        return replace(found, hits=named)
