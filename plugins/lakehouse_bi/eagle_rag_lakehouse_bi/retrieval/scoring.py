"""Which tables a question is about: several signals, fused.

Each signal is divided by its best value for the question, and their weighted mean is taken: words
of a table's text, its two best columns, pieces of names (inflections and glued words), passages the
library's search found, saved queries that answer a like question. To that mean come a share of the
schema the question fits best, a share of the score of the best table it joins (questions rarely
name the tables between those they name), and what the table's standing is worth.

The share of a schema goes by its best table, not by the sum of all: near-duplicate schemas would
otherwise win by their number. It is a softmax, so that it counts where one schema stands out and
vanishes where many fit alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from eagle_rag_lakehouse_bi.reading import TableKey
from eagle_rag_lakehouse_bi.retrieval.index import CatalogIndex
from eagle_rag_lakehouse_bi.retrieval.postings import Floats
from eagle_rag_lakehouse_bi.retrieval.question import AskedTerms

#: Weights of the signals; see ``benchmarks/table_retrieval.py`` for how they were chosen.
_TEXT: Final = 1.0
_COLUMNS: Final = 0.3
_GRAMS: Final = 0.9
_PASSAGES: Final = 0.4
_QUERIES: Final = 0.6
#: How fast passages further down count less.
_PASSAGE_RANKS: Final = 10.0
_SCHEMA: Final = 0.3
_SCHEMA_SHARPNESS: Final = 8.0
_JOINED: Final = 0.55
#: Columns of a table that speak for it.
_BEST_COLUMNS: Final = 2
#: A saved query has a vote when its question and the one asked share at least so much.
_LIKE: Final = 0.4
_UNCERTIFIED: Final = 0.5


@dataclass(frozen=True, slots=True)
class TableScores:
    """What speaks for each table of an index, by its number.

    :param fused: the score tables are ranked by.
    :param own: of which without schema, joins and standing.
    :param columns: BM25 of every column.
    :param passages: rank of the best passage of each table that has one.
    :param voted: whether a saved query votes for it.
    :param texts: BM25 of the texts of tables; ``grams`` of the pieces of their names.
    """

    fused: Floats
    own: Floats
    texts: Floats
    grams: Floats
    columns: Floats
    passages: Mapping[int, int]
    voted: Floats

    def ranking(self) -> list[int]:
        """Tables something speaks for, best first."""
        order = np.argsort(-self.fused, kind="stable")
        return [int(n) for n in order if self.fused[n] > 0]


def score_tables(
    index: CatalogIndex, asked: AskedTerms, passages: Mapping[TableKey, int]
) -> TableScores:
    """Scores of all tables.

    :param passages: rank of the best passage about each table, from 1.
    """
    texts = index.table_terms.scores(asked.expanded)
    grams = index.table_grams.scores(asked.grams)
    columns = index.column_terms.scores(asked.expanded)
    votes = _votes(index, asked)
    places = _places(index, passages)
    signals = [
        (_TEXT, texts),
        (_COLUMNS, _best_columns(index, columns)),
        (_GRAMS, grams),
        (_PASSAGES, _passage_scores(len(index.tables), places)),
    ]
    own = np.zeros(len(index.tables), np.float32)
    for weight, values in signals:
        own += np.float32(weight) * values / max(float(values.max(initial=0.0)), 1e-9)
    own /= np.float32(sum(weight for weight, _ in signals))
    own += np.float32(_QUERIES) * votes
    fused = _with_joined(index, own + _schema_shares(index, own))
    standing = np.asarray([table.prior for table in index.tables], np.float32)
    return TableScores(
        fused=np.where(own > 0, fused + standing, fused),
        own=own,
        texts=texts,
        grams=grams,
        columns=columns,
        passages=places,
        voted=votes,
    )


def best_columns(index: CatalogIndex, columns: Floats, table: int) -> list[int]:
    """The columns of a table that speak for it, best first."""
    own = index.columns_of(table)
    found = [n for n in own if columns[n] > 0]
    return sorted(found, key=lambda n: (-columns[n], n))[:_BEST_COLUMNS]


def _best_columns(index: CatalogIndex, columns: Floats) -> Floats:
    """The sum of the best columns of each table."""
    hits = np.flatnonzero(columns)
    order = hits[np.lexsort((-columns[hits], index.owners[hits]))]
    owners = index.owners[order]
    place = np.arange(len(order)) - np.searchsorted(owners, owners)
    best = order[place < _BEST_COLUMNS]
    sums = np.bincount(index.owners[best], columns[best], minlength=len(index.tables))
    return sums.astype(np.float32)


def _places(index: CatalogIndex, passages: Mapping[TableKey, int]) -> dict[int, int]:
    places: dict[int, int] = {}
    for key, rank in passages.items():
        number = index.number(key)
        if number is not None:
            places[number] = min(rank, places.get(number, rank))
    return places


def _passage_scores(tables: int, places: Mapping[int, int]) -> Floats:
    scores = np.zeros(tables, np.float32)
    for number, rank in places.items():
        scores[number] = 1 / (1 + (rank - 1) / _PASSAGE_RANKS)
    return scores


def _votes(index: CatalogIndex, asked: AskedTerms) -> Floats:
    """Votes of saved queries for the tables they read: of the one most like the question."""
    votes = np.zeros(len(index.tables), np.float32)
    likeness = index.question_terms.overlaps(asked.terms)
    for number in np.flatnonzero(likeness >= _LIKE):
        weight = 1.0 if index.questions[number].certified else _UNCERTIFIED
        for table in index.reads[number]:
            votes[table] = max(votes[table], weight * likeness[number])
    return votes


def _schema_shares(index: CatalogIndex, own: Floats) -> Floats:
    """What each table has of the schema it stands in."""
    if not len(own):
        return own
    best = np.zeros(int(index.schemas.max()) + 1, np.float32)
    np.maximum.at(best, index.schemas, own)
    share = np.exp(_SCHEMA_SHARPNESS * (best - best.max()))
    shares: Floats = (_SCHEMA * share / share.sum()).astype(np.float32)
    return shares[index.schemas]


def _with_joined(index: CatalogIndex, scores: Floats) -> Floats:
    left, right = index.joined
    best = np.zeros_like(scores)
    np.maximum.at(best, left, scores[right])
    return (scores + _JOINED * best).astype(np.float32)
