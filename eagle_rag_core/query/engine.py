"""From a question to a cited answer."""

from __future__ import annotations

import math
import time
from dataclasses import replace

from eagle_rag_core.models.llm import ChatModel
from eagle_rag_core.query.answer import Answer, Route, Source
from eagle_rag_core.query.citations import cite
from eagle_rag_core.query.extractive import best_sentences
from eagle_rag_core.query.generation import Generated, Listener, generate
from eagle_rag_core.query.relevance import Relevance
from eagle_rag_core.query.router import choose_route
from eagle_rag_core.retrieval.orchestrator import Orchestrator, SearchOutcome
from eagle_rag_core.settings.sections import QuerySettings
from eagle_rag_core.types import Scope, Step

__all__ = ["Answer", "AnswerEngine", "Route", "Source"]

_NOTHING_RELEVANT = "Nothing relevant to the question was found in the searched documents."
_NOTHING_TO_SEARCH = "There are no documents to search here."


def _nobody(_: str | Source) -> None:
    """Nobody listens while the answer is made."""


class AnswerEngine:
    """Answers questions from the documents. Safe to use from any thread.

    :param relevance: decides whether there is anything to answer from.
    :param model: writes the answers; without one they quote.
    """

    def __init__(
        self,
        orchestrator: Orchestrator,
        settings: QuerySettings,
        relevance: Relevance,
        model: ChatModel | None = None,
    ) -> None:
        self._orchestrator = orchestrator
        self._settings = settings
        self._relevance = relevance
        self._model = model

    def answer(
        self,
        query: str,
        mode: str,
        scope: Scope,
        *,
        deadline: float = math.inf,
        listener: Listener = _nobody,
    ) -> Answer:
        """Answer ``query`` from the best passages inside ``scope``, with citations.

        Says so, with no sources, when nothing relevant is found. A language model that fails, or
        says nothing that the passages support, leaves an answer of quotes.

        :param mode: ``auto``, ``text``, ``visual`` or ``hybrid``.
        :param deadline: when to give up, in :func:`time.monotonic` time.
        :param listener: gets pieces of the answer and its sources as soon as they are certain.
        :raises InvalidArgument: an empty query or an unknown mode.
        :raises EagleError: the mode is not available here, or the search failed altogether.
        """
        decision = choose_route(mode)
        outcome = self._orchestrator.search(
            query, scope, self._settings.evidence, deadline=deadline
        )
        steps = (*outcome.steps, *decision.skipped)
        if scope.empty or not self._relevance.holds(query, outcome):
            text = _NOTHING_TO_SEARCH if scope.empty else _NOTHING_RELEVANT
            listener(text)
            return Answer(text, (), decision.route, (*steps, Step("extract", "ok")))
        if self._model is not None:
            written = self._generate(self._model, query, outcome, listener)
            steps = (*steps, written.step)
            if written.text or not written.found:
                route = replace(decision.route, synthesis="generated")
                return Answer(written.text or _NOTHING_RELEVANT, written.sources, route, steps)
        text, sources, step = self._extract(outcome, listener)
        return Answer(text, sources, decision.route, (*steps, step))

    def _generate(
        self, model: ChatModel, query: str, outcome: SearchOutcome, listener: Listener
    ) -> Generated:
        written = generate(model, query, outcome.hits, self._settings, outcome.page_at, listener)
        if not written.found:
            listener(_NOTHING_RELEVANT)
        return written

    def _extract(
        self, outcome: SearchOutcome, listener: Listener
    ) -> tuple[str, tuple[Source, ...], Step]:
        started = time.perf_counter()
        quotes = best_sentences(outcome.terms, outcome.hits, self._settings.sentences)
        text, sources = cite(quotes, outcome.page_at)
        elapsed = (time.perf_counter() - started) * 1000
        for source in sources:
            listener(source)
        listener(text)
        return text, sources, Step("extract", "ok", count=len(sources), elapsed_ms=elapsed)
