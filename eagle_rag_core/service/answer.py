"""Answering questions with citations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from eagle_rag_core.catalog import scopes
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.query.answer import Source
from eagle_rag_core.query.engine import Answer, AnswerEngine
from eagle_rag_core.query.generation import Listener
from eagle_rag_core.types import (
    Caller,
    ScopeRequest,
    Step,
    acting_for,
    current_deadline,
    note_failures,
)

if TYPE_CHECKING:
    from eagle_rag_core.service.pages import PageService

#: Pixels of the width of a page of which a model is sent a region.
_SHOWN_WIDTH: Final = 1000


def _nobody(_: str | Source | Step) -> None:
    """Nobody listens while the answer is made."""


class AnswerService:
    """Resolves what the caller may see, then answers from it."""

    def __init__(self, catalog: Catalog, engine: AnswerEngine, pages: PageService) -> None:
        self._catalog = catalog
        self._pages = pages
        self._engine = engine

    def answer(
        self,
        caller: Caller,
        query: str,
        *,
        mode: str,
        request: ScopeRequest,
        listener: Listener = _nobody,
        image: bytes = b"",
    ) -> Answer:
        """An answer that quotes its sources.

        :param mode: ``auto``, ``text``, ``visual`` or ``hybrid``.
        :param listener: gets the steps as they end, pieces of the answer and its sources as soon as
            they are certain.
        :param image: a picture that the question is about, checked.
        :raises NotFound: an unknown (or forbidden) knowledge base.
        :raises EagleError: the mode is not available here.
        """
        with self._catalog.read() as conn:
            scope = scopes.resolve(
                conn, self._catalog.namespace, caller, request, self._catalog.names
            )

        def named(source: Source) -> Source:
            return self._catalog.names.named(caller, source)

        def listen(part: str | Source | Step) -> None:
            listener(named(part) if isinstance(part, Source) else part)

        def show(image_id: str) -> bytes:
            return self._pages.tile(caller, image_id, width=_SHOWN_WIDTH, format="jpeg")

        with acting_for(caller):  # legs of packs read their records
            answer = self._engine.answer(
                query,
                mode,
                scope,
                deadline=current_deadline(),
                listener=listen,
                image=image,
                show=show,
            )
        note_failures(answer.steps)
        return replace(answer, sources=tuple(map(named, answer.sources)))
