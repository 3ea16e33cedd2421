"""From a question to a cited answer."""

from __future__ import annotations

import math
import time
from dataclasses import replace

from eagle_rag_core.models.analyzer import analyze
from eagle_rag_core.models.llm import ChatModel
from eagle_rag_core.query.answer import Answer, Route, Source
from eagle_rag_core.query.citations import cite
from eagle_rag_core.query.extractive import best_sentences, coverage
from eagle_rag_core.query.generation import Generated, Listener, generate
from eagle_rag_core.query.router import choose_route
from eagle_rag_core.retrieval.orchestrator import Orchestrator, SearchOutcome
from eagle_rag_core.settings.sections import QuerySettings
from eagle_rag_core.types import Scope, Step

__all__ = ["Answer", "AnswerEngine", "Route", "Source"]

#: Share of the query's terms that one passage must have to be relevant by its words.
MIN_COVERAGE = 0.35
#: Cosine similarity of query and passage from which on it is relevant by its meaning.
MIN_SIMILARITY = 0.4

_NOTHING_RELEVANT = "Nothing relevant to the question was found in the searched documents."
_NOTHING_TO_SEARCH = "There are no documents to search here."


def _nobody(_: str | Source) -> None:
    """Nobody listens while the answer is made."""


class AnswerEngine:
    """Answers questions from the documents. Safe to use from any thread.

    :param model: writes the answers; without one they quote.
    """

    def __init__(
        self, orchestrator: Orchestrator, settings: QuerySettings, model: ChatModel | None = None
    ) -> None:
        self._orchestrator = orchestrator
        self._settings = settings
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
        if scope.empty or not is_relevant(query, outcome):
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


def is_relevant(query: str, outcome: SearchOutcome) -> bool:
    """Whether the hits say anything about the query.

    They do when one of them has enough of the query's terms (or of those an expander added for
    them), or when the dense leg finds one close enough in meaning. On XQuAD with MiniLM, 0.6 % of
    the English questions are given up although their paragraph is in the index, 30 % when just
    that paragraph is left out, and 90 % of questions from other collections. The bounds are
    not calibrated per embedder.
    """
    own = len(set(analyze(query)))
    if own and coverage(outcome.terms, outcome.hits) >= MIN_COVERAGE * own:
        return True
    return outcome.similarity is not None and outcome.similarity >= MIN_SIMILARITY
