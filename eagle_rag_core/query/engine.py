"""From a question to a cited answer."""

from __future__ import annotations

import math
import time

from eagle_rag_core.query.answer import Answer, Route, Source
from eagle_rag_core.query.citations import cite
from eagle_rag_core.query.extractive import best_sentences, shares_words
from eagle_rag_core.query.router import choose_route
from eagle_rag_core.retrieval.orchestrator import Orchestrator, SearchOutcome
from eagle_rag_core.settings.sections import QuerySettings
from eagle_rag_core.types import Scope, Step

__all__ = ["Answer", "AnswerEngine", "Route", "Source"]

#: Cosine similarity from which on the dense leg alone makes a passage relevant.
MIN_SIMILARITY = 0.35

_NOTHING_RELEVANT = "Nothing relevant to the question was found in the searched documents."
_NOTHING_TO_SEARCH = "There are no documents to search here."


class AnswerEngine:
    """Answers questions from the documents. Safe to use from any thread."""

    def __init__(self, orchestrator: Orchestrator, settings: QuerySettings) -> None:
        self._orchestrator = orchestrator
        self._settings = settings

    def answer(self, query: str, mode: str, scope: Scope, *, deadline: float = math.inf) -> Answer:
        """Answer ``query`` with the best sentences inside ``scope``, quoted and cited.

        Says so, with no sources, when nothing relevant is found.

        :param mode: ``auto``, ``text``, ``visual`` or ``hybrid``.
        :param deadline: when to give up, in :func:`time.monotonic` time.
        :raises InvalidArgument: an empty query or an unknown mode.
        :raises EagleError: the mode is not available here, or the search failed altogether.
        """
        decision = choose_route(mode)
        outcome = self._orchestrator.search(
            query, scope, self._settings.evidence, deadline=deadline
        )
        started = time.perf_counter()
        text, sources = self._extract(outcome)
        elapsed = (time.perf_counter() - started) * 1000
        extraction = Step("extract", "ok", count=len(sources), elapsed_ms=elapsed)
        if scope.empty:
            text = _NOTHING_TO_SEARCH
        steps = (*outcome.steps, *decision.skipped, extraction)
        return Answer(text, sources, decision.route, steps)

    def _extract(self, outcome: SearchOutcome) -> tuple[str, tuple[Source, ...]]:
        if not is_relevant(outcome):
            return _NOTHING_RELEVANT, ()
        quotes = best_sentences(outcome.terms, outcome.hits, self._settings.sentences)
        return cite(quotes, outcome.page_at)


def is_relevant(outcome: SearchOutcome) -> bool:
    """Whether the hits say anything about the query.

    They do when one of them has a content word of the query, or when the dense leg finds one
    close in meaning. The bound on closeness is a rule of thumb, not calibrated per embedder.
    """
    if not outcome.hits:
        return False
    if shares_words(outcome.terms, outcome.hits):
        return True
    return outcome.similarity is not None and outcome.similarity >= MIN_SIMILARITY
