"""Answering without a language model: the sentences that say most about the query.

A sentence scores the sum of the inverse document frequencies of the query's terms in it, each
counted once, where the "documents" are the candidate sentences themselves: a term that every
sentence has (the topic) says little, one that few have (what is asked about it) says much. The
better the passage ranks, the more its sentences count.

On XQuAD (1,190 questions, 240 paragraphs, six passages, relevance rule included) the expected
answer stands in the best sentence for 77 % of the English questions (MiniLM and BM25) and of the
Chinese ones (BM25), among the quoted ones, at most three, for 89 % and 90 %.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from eagle_rag_core.models.analyzer import analyze
from eagle_rag_core.query.sentences import split
from eagle_rag_core.types import Hit

#: How fast a passage's rank discounts its sentences: the sixth passage counts half.
_RANK_DISCOUNT = 0.2
#: Further sentences say at least this share of what the best one says; below it they share but a
#: word with the query, often in another sense.
_FLOOR = 0.5


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence of a hit. ``start``..``end`` are offsets in the document.

    :param score: comparable within one answer; 0 when no word of the query stands in it.
    """

    hit: Hit
    start: int
    end: int
    score: float = 0.0

    @property
    def text(self) -> str:
        return self.hit.text[self.start - self.hit.start : self.end - self.hit.start]


@dataclass(frozen=True, slots=True)
class _Candidate:
    rank: int
    quote: Quote
    shared: frozenset[str]
    says_more: bool


def best_sentences(terms: Collection[str], hits: Sequence[Hit], limit: int) -> list[Quote]:
    """The sentences to answer with, best first.

    Where no sentence has a word of the query (the passages were found by meaning or by their
    headings), the first sentences of the best passages.

    :param terms: analysed terms of the query.
    :param hits: passages, best first.
    :param limit: sentences at most.
    """
    wanted = frozenset(terms)
    every = _candidates(wanted, hits)
    # A heading or the question itself says nothing beyond the query's own words.
    candidates = [candidate for candidate in every if candidate.says_more] or every
    frequency = Counter(term for candidate in candidates for term in candidate.shared)
    idf = {term: _idf(count, len(candidates)) for term, count in frequency.items()}
    scored = sorted(
        (_scored(candidate, idf) for candidate in candidates if candidate.shared),
        key=lambda quote: -quote.score,  # stable: equal ones stay in order of rank and place
    )
    if not scored:
        return _distinct(_leading(candidates), limit)
    return _distinct([q for q in scored if q.score >= _FLOOR * scored[0].score], limit)


def _candidates(wanted: frozenset[str], hits: Sequence[Hit]) -> list[_Candidate]:
    return [
        _candidate(rank, Quote(hit, hit.start + start, hit.start + end), wanted)
        for rank, hit in enumerate(hits)
        for start, end in split(hit.text)
    ]


def _candidate(rank: int, quote: Quote, wanted: frozenset[str]) -> _Candidate:
    found = frozenset(analyze(quote.text))
    says_more = not found <= wanted and not _is_heading(quote)
    return _Candidate(rank, quote, wanted & found, says_more)


def _is_heading(quote: Quote) -> bool:
    """Whether the sentence is the heading of its passage's section, as the source marks it."""
    title = quote.hit.path.rpartition(" > ")[2]
    return bool(title) and quote.text.strip("#=* \t") == title


def _idf(count: int, total: int) -> float:
    """Inverse document frequency as in BM25; never negative."""
    return math.log(1 + (total - count + 0.5) / (count + 0.5))


def _scored(candidate: _Candidate, idf: dict[str, float]) -> Quote:
    found = math.fsum(idf[term] for term in candidate.shared)
    quote = candidate.quote
    score = found / (1 + _RANK_DISCOUNT * candidate.rank)
    return Quote(quote.hit, quote.start, quote.end, score)


def _leading(candidates: Iterable[_Candidate]) -> list[Quote]:
    first: dict[int, Quote] = {}
    for candidate in candidates:
        first.setdefault(candidate.rank, candidate.quote)
    return list(first.values())


def _distinct(quotes: Iterable[Quote], limit: int) -> list[Quote]:
    """The first ``limit`` quotes with different words."""
    chosen: dict[str, Quote] = {}
    for quote in quotes:
        chosen.setdefault(" ".join(quote.text.split()), quote)
    return list(chosen.values())[:limit]
