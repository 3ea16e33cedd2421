"""Searching for passages."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from eagle_rag_core.catalog import scopes
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.retrieval.orchestrator import Orchestrator, SearchOutcome
from eagle_rag_core.types import Caller, ScopeRequest, acting_for, current_deadline, note_failures


class SearchService:
    """Resolves what the caller may see, then searches it."""

    def __init__(self, catalog: Catalog, orchestrator: Orchestrator) -> None:
        self._catalog = catalog
        self._orchestrator = orchestrator

    def search(
        self,
        caller: Caller,
        query: str,
        *,
        top_k: int,
        request: ScopeRequest,
        without: Collection[str] = (),
    ) -> SearchOutcome:
        """The best passages for ``query`` inside the requested scope, best first.

        :param without: names of legs that do not take part, to compare them.
        :raises NotFound: an unknown (or forbidden) knowledge base.
        :raises InvalidArgument: a bad filter.
        """
        with self._catalog.read() as conn:
            scope = scopes.resolve(
                conn, self._catalog.namespace, caller, request, self._catalog.names
            )
        with acting_for(caller):  # legs of packs read their records
            found = self._orchestrator.search(
                query, scope, top_k, deadline=current_deadline(), without=without
            )
        note_failures(found.steps)
        named = tuple(self._catalog.names.named(caller, hit) for hit in found.hits)
        return replace(found, hits=named)
