"""What a question finds in the catalogs of its scope."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from eagle_rag_lakehouse_bi.reading import CatalogReader, TableKey
from eagle_rag_lakehouse_bi.retrieval.columns import RankedColumn, rank_columns
from eagle_rag_lakehouse_bi.retrieval.index import CatalogIndex
from eagle_rag_lakehouse_bi.retrieval.question import AskedTerms
from eagle_rag_lakehouse_bi.retrieval.reasons import matches, reasons
from eagle_rag_lakehouse_bi.retrieval.scoring import TableScores, score_tables
from eagle_rag_lakehouse_bi.retrieval.terms import terms


@dataclass(frozen=True)
class Found:
    """The tables of an index as a question ranks them."""

    index: CatalogIndex
    asked: AskedTerms
    scores: TableScores

    @cached_property
    def ranking(self) -> list[int]:
        """Tables that something speaks for, best first."""
        return self.scores.ranking()

    def above(self, share: float) -> list[int]:
        """Those of them that have this share of the best score."""
        scores = self.scores.fused
        return [n for n in self.ranking if scores[n] >= share * scores[self.ranking[0]]]

    def order(self) -> list[int]:
        """All tables, best first."""
        return [int(n) for n in np.argsort(-self.scores.fused, kind="stable")]

    def key(self, table: int) -> TableKey:
        return self.index.tables[table].key

    def matches(self, key: TableKey) -> bool:
        """Whether something of its own speaks for a table."""
        number = self.index.number(key)
        return number is not None and matches(self.scores, number)

    def why(self, key: TableKey) -> list[str]:
        """What speaks for a table, in words."""
        number = self.index.number(key)
        return [] if number is None else reasons(self.index, self.asked, self.scores, number)

    def columns(self, keys: Sequence[TableKey]) -> list[RankedColumn]:
        """The columns of tables, best first."""
        numbers = {self.index.number(key): None for key in keys}
        tables = [number for number in numbers if number is not None]
        return rank_columns(self.index, self.asked, self.scores, tables)

    def described_tables(self, most: int) -> dict[TableKey, float]:
        """Tables whose text holds terms of the question, each with its share of the best score."""
        texts = self.scores.texts
        best = [int(n) for n in np.argsort(-texts, kind="stable")[:most] if texts[n] > 0]
        return {self.key(n): float(texts[n] / texts[best[0]]) for n in best}

    def described_columns(self, most: int) -> dict[tuple[TableKey, str], float]:
        """Columns whose own name, description or values hold terms of the question, each with its
        share of the best score."""
        scores = self.scores.columns
        order = [int(n) for n in np.argsort(-scores, kind="stable") if scores[n] > 0]
        own = list(islice(filter(self._holds_terms, order), most))
        return {self._column(n): float(scores[n] / scores[own[0]]) for n in own}

    def _holds_terms(self, column: int) -> bool:
        """Whether a column itself holds a term of the question, not only the name of its table."""
        index, asked = self.index, self.asked.expanded
        of_table = index.name_terms(int(index.owners[column]))
        if not asked.keys().isdisjoint(terms(index.columns[column].name)):
            return True
        return any(t not in of_table and column in index.column_terms.owners(t) for t in asked)

    def _column(self, column: int) -> tuple[TableKey, str]:
        return self.key(int(self.index.owners[column])), self.index.columns[column].name


def find(
    index: CatalogIndex, question: str, reader: CatalogReader, places: Mapping[str, int]
) -> Found:
    """Rank the tables of ``index`` for a question.

    :param places: ranks of the passages the library's search found, from 1, by their nodes.
    """
    asked = AskedTerms.of(question, index.synonyms)
    return Found(index, asked, score_tables(index, asked, _passages(reader, places)))


def _passages(reader: CatalogReader, places: Mapping[str, int]) -> dict[TableKey, int]:
    """The rank of each table among those that passages describe."""
    best = {
        key: min(places[node] for node in record.fields["passages"] if node in places)
        for key, record in reader.tables("passages", places).items()
    }
    order = sorted(best, key=lambda key: (best[key], key))
    return {key: rank for rank, key in enumerate(order, start=1)}
