"""From a question to a cited answer."""

from __future__ import annotations

import math
import time
from dataclasses import replace

from eagle_rag_core.models.llm import ChatModel
from eagle_rag_core.query.answer import Answer, Route, Source
from eagle_rag_core.query.citations import cite
from eagle_rag_core.query.evidence import Evidence, EvidenceFinder, Show
from eagle_rag_core.query.extractive import best_sentences
from eagle_rag_core.query.generation import Generated, Listener, generate
from eagle_rag_core.query.relevance import Relevance
from eagle_rag_core.query.router import Decision, choose_route
from eagle_rag_core.query.seeing import Pictures, shown_to
from eagle_rag_core.retrieval.orchestrator import Orchestrator
from eagle_rag_core.retrieval.visual import VisualRetriever
from eagle_rag_core.settings.sections import QuerySettings
from eagle_rag_core.types import Scope, Step

__all__ = ["Answer", "AnswerEngine", "Route", "Source"]

_NOTHING_RELEVANT = "Nothing relevant to the question was found in the searched documents."
_NOTHING_TO_SEARCH = "There are no documents to search here."


def _nobody(_: str | Source | Step) -> None:
    """Nobody listens while the answer is made."""


def _nothing(_: str) -> bytes:
    """There is no picture to show."""
    return b""


def _locating(evidence: Evidence, listener: Listener) -> Listener:
    """A listener that gets citations of regions with their places."""
    return lambda part: listener(evidence.located(part) if isinstance(part, Source) else part)


class AnswerEngine:
    """Answers questions from the documents. Safe to use from any thread.

    :param visual: finds regions of pages; None without a visual index.
    :param relevance: decides whether there is anything to answer from.
    :param model: writes the answers; without one they quote.
    """

    def __init__(
        self,
        orchestrator: Orchestrator,
        settings: QuerySettings,
        relevance: Relevance,
        model: ChatModel | None = None,
        visual: VisualRetriever | None = None,
    ) -> None:
        self._finder = EvidenceFinder(orchestrator, visual)
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
        image: bytes = b"",
        show: Show = _nothing,
    ) -> Answer:
        """Answer ``query`` from the best passages inside ``scope``, with citations.

        Says so, with no sources, when nothing relevant is found. A language model that fails, or
        says nothing that the passages support, leaves an answer of quotes.

        :param mode: ``auto``, ``text``, ``visual`` or ``hybrid``.
        :param deadline: when to give up, in :func:`time.monotonic` time.
        :param listener: gets the steps as they end, pieces of the answer and its sources as soon as
            they are certain.
        :param image: a picture that the question is about, checked.
        :param show: draws regions for a model that reads images.
        :raises InvalidArgument: an empty query or an unknown mode.
        :raises EagleError: the mode is not available here, or the search failed altogether.
        """
        decision = choose_route(mode, query, seeing=self._finder.seeing)
        if image and mode == "auto":
            decision = Decision(Route("hybrid", "A picture came with the question."))
        evidence = self._finder.find(
            decision.route.mode, query, scope, self._settings.evidence, deadline, image
        )
        outcome = evidence.found
        listener = _locating(evidence, listener)
        steps = (*outcome.steps, *decision.skipped)
        for step in steps:
            listener(step)
        if scope.empty or not self._relevance.holds(query, outcome):
            text = _NOTHING_TO_SEARCH if scope.empty else _NOTHING_RELEVANT
            listener(text)
            listener(nothing := Step("extract", "ok"))
            return Answer(text, (), decision.route, (*steps, nothing))
        if self._model is not None:
            pictures = shown_to(self._model, evidence, show, image)
            written = self._generate(self._model, query, evidence, pictures, listener)
            steps = (*steps, written.step)
            if written.text or not written.found:
                route = replace(decision.route, synthesis="generated")
                sources = tuple(map(evidence.located, written.sources))
                return Answer(written.text or _NOTHING_RELEVANT, sources, route, steps)
        text, sources, step = self._extract(evidence, listener)
        return Answer(text, sources, decision.route, (*steps, step))

    def _generate(
        self,
        model: ChatModel,
        query: str,
        evidence: Evidence,
        pictures: Pictures,
        listener: Listener,
    ) -> Generated:
        written = generate(
            model,
            query,
            evidence.found.hits,
            self._settings,
            evidence.page_at,
            listener,
            pictures,
        )
        if not written.found:
            listener(_NOTHING_RELEVANT)
        listener(written.step)
        return written

    def _extract(
        self, evidence: Evidence, listener: Listener
    ) -> tuple[str, tuple[Source, ...], Step]:
        started = time.perf_counter()
        found = evidence.found
        quotes = best_sentences(found.terms, found.hits, self._settings.sentences)
        text, sources = cite(quotes, evidence.page_at)
        sources = tuple(map(evidence.located, sources))
        elapsed = (time.perf_counter() - started) * 1000
        for source in sources:
            listener(source)
        listener(text)
        listener(step := Step("extract", "ok", count=len(sources), elapsed_ms=elapsed))
        return text, sources, step
