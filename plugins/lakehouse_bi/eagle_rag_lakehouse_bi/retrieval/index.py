"""The catalogs of one scope in memory: their parts joined and numbered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from eagle_rag_lakehouse_bi.reading import TableKey, leaf_of, same_table
from eagle_rag_lakehouse_bi.retrieval.parts import (
    DocumentPart,
    Join,
    SavedQuestion,
    TableEntry,
    column_owners,
    key_flags,
)
from eagle_rag_lakehouse_bi.retrieval.postings import Numbers, Postings


class CatalogIndex:
    """What questions are ranked by. Never changed once it is made, so threads may share it.

    Tables, columns and saved questions are numbered from 0; columns of one table stand together.

    :ivar owners: the table of each column.
    :ivar starts: the first column of each table, and after the last table the number of columns.
    :ivar schemas: the number of each table's schema.
    :ivar joined: pairs of tables that join, each in both directions, as two arrays.
    """

    def __init__(self, parts: Sequence[DocumentPart]) -> None:
        self.tables: tuple[TableEntry, ...] = tuple(t for part in parts for t in part.tables)
        self.columns = tuple(c for part in parts for c in part.columns)
        self.questions: tuple[SavedQuestion, ...] = tuple(q for p in parts for q in p.questions)
        self.synonyms = tuple(names for part in parts for names in part.synonyms)
        firsts = np.cumsum([0, *(len(part.tables) for part in parts)])
        self.owners: Numbers = np.concatenate(
            [
                np.empty(0, np.int64),
                *(column_owners(p) + f for p, f in zip(parts, firsts, strict=False)),
            ]
        )
        self.is_key = np.concatenate([np.empty(0, np.bool_), *(key_flags(p) for p in parts)])
        self.starts: Numbers = np.searchsorted(self.owners, np.arange(len(self.tables) + 1))
        numbers: dict[str, int] = {}
        self.schemas: Numbers = np.asarray(
            [numbers.setdefault(t.schema, len(numbers)) for t in self.tables], np.int64
        )
        self.table_terms = Postings(part.table_terms for part in parts)
        self.table_grams = Postings(part.table_grams for part in parts)
        self.column_terms = Postings(part.column_terms for part in parts)
        self.question_terms = Postings(part.question_terms for part in parts)
        self._numbers = {key: n for n, t in enumerate(self.tables) for key in _keys(t)}
        self._by_leaf: defaultdict[str, list[TableKey]] = defaultdict(list)
        for key in self._numbers:
            self._by_leaf[leaf_of(key.id)].append(key)
        pairs = sorted({pair for part in parts for pair in self._pairs(part)})
        both = np.asarray([*pairs, *((b, a) for a, b in pairs)], np.int64).reshape(-1, 2)
        self.joined: tuple[Numbers, Numbers] = both[:, 0], both[:, 1]
        self._asked = [(part.document_id, q.urn) for part in parts for q in part.questions]
        self.reads: tuple[tuple[int, ...], ...] = tuple(
            tuple(self._read(part.document_id, question))
            for part in parts
            for question in part.questions
        )

    @property
    def size(self) -> int:
        """How many objects it holds: what it weighs in a cache."""
        return len(self.tables) + len(self.columns) + len(self.questions) + 1

    def number(self, key: TableKey) -> int | None:
        """The number of a table, or of the one that stands for it."""
        return self._numbers.get(key)

    def name_terms(self, table: int) -> frozenset[str]:
        """The terms of all names of a table."""
        return frozenset[str]().union(*self.tables[table].names)

    def columns_of(self, table: int) -> range:
        """The numbers of a table's columns."""
        return range(int(self.starts[table]), int(self.starts[table + 1]))

    def like(self, terms: Iterable[str]) -> dict[tuple[str, str], float]:
        """How much saved questions have in common with the terms of another, by document and
        URN of their queries; those that share nothing are left out."""
        shares = self.question_terms.overlaps(terms)
        return {self._asked[n]: float(shares[n]) for n in np.flatnonzero(shares)}

    def groups(self, tables: Sequence[int]) -> list[set[int]]:
        """The tables in groups of which each joins another of its group."""
        neighbours = defaultdict[int, list[int]](list)
        wanted = np.isin(self.joined[0], tables) & np.isin(self.joined[1], tables)
        for left, right in zip(*(side[wanted].tolist() for side in self.joined), strict=True):
            neighbours[left].append(right)
        found: list[set[int]] = []
        for table in tables:
            if any(table in group for group in found):
                continue
            group, waiting = set[int](), [table]
            while waiting:
                if (one := waiting.pop()) not in group:
                    group.add(one)
                    waiting += neighbours[one]
            found.append(group)
        return found

    def _pairs(self, part: DocumentPart) -> Iterator[tuple[int, int]]:
        for join in part.joins:
            for left, right in self._ends(part.document_id, join):
                if left != right:
                    yield min(left, right), max(left, right)

    def _ends(self, document: str, join: Join) -> Iterator[tuple[int, int]]:
        """The tables a relationship joins; of several meanings those within one document."""
        if not join.foreign:
            left, right = (
                self._numbers.get(TableKey(document, t)) for t in (join.left, join.right)
            )
            if left is not None and right is not None:
                yield left, right
            return
        lefts, rights = self._meant(document, join.left), self._meant(document, join.right)
        pairs = [(one, other) for one in lefts for other in rights]
        within = [(one, other) for one, other in pairs if one.document_id == other.document_id]
        for one, other in within or pairs:
            yield self._numbers[one], self._numbers[other]

    def _read(self, document: str, question: SavedQuestion) -> Iterator[int]:
        """The tables a saved query reads."""
        for table in question.tables:
            yield from {self._numbers[key] for key in self._meant(document, table)}

    def _meant(self, document: str, table: str) -> list[TableKey]:
        """The tables a name in a document means: its own, else those it may abbreviate."""
        own = TableKey(document, table)
        if own in self._numbers:
            return [own]
        return [key for key in self._by_leaf.get(leaf_of(table), ()) if same_table(key.id, table)]


def _keys(table: TableEntry) -> Iterator[TableKey]:
    yield table.key
    for shard in table.shards:
        yield TableKey(table.key.document_id, shard)
