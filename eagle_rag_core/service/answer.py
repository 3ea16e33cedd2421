"""Answering questions with citations."""

from __future__ import annotations

from eagle_rag_core.catalog import scopes
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.query.engine import Answer, AnswerEngine
from eagle_rag_core.types import Caller, ScopeRequest, acting_for, current_deadline


class AnswerService:
    """Resolves what the caller may see, then answers from it."""

    def __init__(self, catalog: Catalog, engine: AnswerEngine) -> None:
        self._catalog = catalog
        self._engine = engine

    def answer(self, caller: Caller, query: str, *, mode: str, request: ScopeRequest) -> Answer:
        """An answer that quotes its sources.

        :param mode: ``auto``, ``text``, ``visual`` or ``hybrid``.
        :raises NotFound: an unknown (or forbidden) knowledge base.
        :raises EagleError: the mode is not available here.
        """
        with self._catalog.read() as conn:
            scope = scopes.resolve(conn, self._catalog.namespace, caller, request)
        with acting_for(caller):  # legs of packs read their records
            return self._engine.answer(query, mode, scope, deadline=current_deadline())
