"""Whether the catalogs answer a question.

Four facts are weighed, none of which grows with the size of the catalogs alone: how much the text
of the best table says of the question, absolutely and as a share of it; how much of the question
the best group of tables that join each other covers; how much of its words are pieces of names.
Words that look like values ("Lisbon") or operations ("average") are hardly missed.

The weights are those of a logistic regression. It was fitted to questions of Spider and BIRD, each
once with the catalogs that hold its tables and once without, for the half of the databases whose
name hashes to an even number; ``benchmarks/table_retrieval.py`` tells how it does on the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from eagle_rag_lakehouse_bi.answers import Verdict
from eagle_rag_lakehouse_bi.retrieval.finding import Found
from eagle_rag_lakehouse_bi.retrieval.question import is_operation

#: Of the regression: best text, its share, covered, pieces, and the constant.
_TEXT: Final = 1.297
_SHARE: Final = -2.983
_COVERED: Final = 6.197
_PIECES: Final = 2.643
_CONSTANT: Final = -5.046
#: Two of a thousand questions that the catalogs do answer are below this confidence.
_NO_MATCH: Final = 0.05
_ANSWERABLE: Final = 0.5
#: Tables that may cover the question together.
_TABLES: Final = 12


#: A metric that was found: the words of its names, and the numbers of its tables.
MetricWords = tuple[frozenset[str], Sequence[int]]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What can be expected of an answer.

    :param confidence: that the catalogs answer the question, 0 to 1, where as many questions are
        asked that they do answer as that they do not.
    :param unmatched: words of the question that no table or metric found holds.
    """

    verdict: Verdict
    confidence: float
    unmatched: list[str]


def judge(found: Found, metrics: Sequence[MetricWords]) -> Judgement:
    """Judge what was found for a question, together with the metrics found for it."""
    terms = found.asked.terms
    groups = _covered_by_group(found, metrics)
    covered = frozenset[str]().union(*groups)
    unmatched = [t for t in terms if t not in covered and not is_operation(t)]
    if not covered:
        return Judgement("no_match", 0.0, unmatched)
    confidence = _confidence(found, groups)
    verdict: Verdict = "answerable" if confidence >= _ANSWERABLE else "partial"
    if confidence < _NO_MATCH and not _is_named(found):
        verdict = "no_match"
    return Judgement(verdict, round(confidence, 3), unmatched)


def _is_named(found: Found) -> bool:
    """Whether the question says the whole name of a table."""
    said = found.asked.terms.keys() - found.asked.incidental
    names = (name for n in found.ranking[:_TABLES] for name in found.index.tables[n].names)
    return any(name <= said for name in names)


def _confidence(found: Found, groups: Sequence[frozenset[str]]) -> float:
    index, asked = found.index, found.asked
    texts, pieces = index.table_terms, index.table_grams
    rarity = {term: texts.idf(term) for term in asked.terms}
    missed = {term: rarity[term] * asked.importance(term) for term in asked.terms}
    text = float(found.scores.texts.max(initial=0.0))
    best_pieces = float(found.scores.grams.max(initial=0.0))
    covered = max(sum(missed[t] for t in group) for group in groups)
    evidence = (
        _CONSTANT
        + _TEXT * text / math.log(1 + max(texts.size, 1))
        + _SHARE * _share(text, sum(rarity.values()))
        + _COVERED * _share(covered, sum(missed.values()))
        + _PIECES * _share(best_pieces, sum(pieces.idf(gram) for gram in asked.grams))
    )
    return 1 / (1 + math.exp(-evidence))


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0


def _covered_by_group(found: Found, metrics: Sequence[MetricWords]) -> list[frozenset[str]]:
    """The terms of the question that each group of joinable tables covers, with their metrics."""
    index, terms = found.index, found.asked.terms
    tables = found.ranking[:_TABLES]
    holders = {term: set(index.table_terms.owners(term).tolist()) for term in terms}
    groups = []
    for group in index.groups(tables):
        own = {term for term in terms if holders[term] & group}
        for words, of_tables in metrics:
            if group & set(of_tables):
                own |= words & terms.keys()
        groups.append(frozenset(own))
    alone = [words & terms.keys() for words, of_tables in metrics if not of_tables]
    return [*groups, *alone]
