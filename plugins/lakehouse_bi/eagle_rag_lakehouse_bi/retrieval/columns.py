"""Which columns of the best tables an answer shows first.

A column has a share of its table's score, squared so that the best tables keep most of their
columns; what its own words say, and the pieces of its name; keys have a share of their own, for
joins need them. Columns of narrow tables come easier: to show such a table whole costs little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from eagle_rag_lakehouse_bi.retrieval.index import CatalogIndex
from eagle_rag_lakehouse_bi.retrieval.postings import Floats
from eagle_rag_lakehouse_bi.retrieval.question import AskedTerms
from eagle_rag_lakehouse_bi.retrieval.scoring import TableScores
from eagle_rag_lakehouse_bi.retrieval.terms import grams, terms

_TABLE: Final = 3.0
_GRAMS: Final = 0.3
_KEY: Final = 0.5
_NARROW: Final = 1.5
#: A table of so many columns is not narrow at all.
_WIDE: Final = 16


@dataclass(frozen=True, slots=True)
class RankedColumn:
    """A column of the pack.

    :param is_key: it identifies rows or refers to another table.
    :param words: terms of the question that its name holds.
    :param described: whether its description or values hold terms of the question.
    """

    table: int
    name: str
    is_key: bool
    words: tuple[str, ...]
    described: bool

    @property
    def why(self) -> list[str]:
        """What speaks for it, in words."""
        reasons = [f"name holds {', '.join(self.words)}"] if self.words else []
        if self.described:
            reasons.append("description or values match")
        return reasons


def rank_columns(
    index: CatalogIndex, asked: AskedTerms, scores: TableScores, tables: Sequence[int]
) -> list[RankedColumn]:
    """The columns of ``tables``, best first."""
    numbers = np.asarray([n for table in tables for n in index.columns_of(table)], np.int64)
    if not len(numbers):
        return []
    owners = index.owners[numbers]
    share = np.maximum(scores.fused[owners], 0) / max(float(scores.fused[list(tables)].max()), 1e-9)
    widths = index.starts[owners + 1] - index.starts[owners]
    values = (
        _TABLE * share**2
        + _normed(scores.columns[numbers])
        + _GRAMS * _normed(_gram_scores(index, asked, numbers.tolist()))
        + _KEY * index.is_key[numbers] * share
        + _NARROW * np.clip((_WIDE - widths) / _WIDE, 0, 1) * share
    )
    order = numbers[np.argsort(-values, kind="stable")]
    return [_ranked(index, asked, scores, int(number)) for number in order]


def _gram_scores(index: CatalogIndex, asked: AskedTerms, numbers: Sequence[int]) -> Floats:
    """What pieces of the question names hold, rare pieces counting more."""
    weights = {gram: index.table_grams.idf(gram) for gram in asked.grams}
    sums = [
        sum(weights.get(gram, 0.0) for gram in grams(index.columns[number].name))
        for number in numbers
    ]
    return np.asarray(sums, np.float32)


def _normed(values: Floats) -> Floats:
    return values / np.float32(max(float(values.max(initial=0.0)), 1e-9))


def _ranked(
    index: CatalogIndex, asked: AskedTerms, scores: TableScores, number: int
) -> RankedColumn:
    column, owner = index.columns[number], int(index.owners[number])
    own = terms(column.name)
    words = tuple(dict.fromkeys(word for word in own if word in asked.expanded))
    # The words of its table are part of its text: they are no description.
    of_table = bool(index.name_terms(owner) & asked.expanded.keys())
    described = bool(scores.columns[number]) and not words and not of_table
    return RankedColumn(owner, column.name, column.is_key, words, described)
