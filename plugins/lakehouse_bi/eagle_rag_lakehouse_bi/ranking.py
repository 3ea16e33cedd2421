"""Which tables and metrics a question is about.

Two lists of tables are fused by reciprocal rank: those whose passages the library's own search
finds, and those whose names, or names of columns, hold words of the question. A word counts the
more, the fewer objects it names; in the name of a table it counts double. A table also has a share
of the score of the best table it joins: questions rarely name the tables between those they name.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from eagle_rag_core.types import Hit, Record
from eagle_rag_lakehouse_bi.reading import LOOKUP_LIMIT, CatalogReader, TableKey

#: Of reciprocal-rank fusion. Small, because lists are short and their heads matter.
_RRF_K: Final = 10
#: Weight of the list by names beside that by passages. These weights, tried coarsely on Spider and
#: BIRD, find most of a question's tables among eight.
_NAMES: Final = 0.3
_JOINED: Final = 0.5
_TABLE_NAME: Final = 2.0
_COLUMN_NAME: Final = 1.0
#: Candidates below this share of the best score are not about the question.
_CUT: Final = 0.3


@dataclass(slots=True)
class Ranked:
    """A table with what speaks for it.

    :param columns: names of its columns that hold words of the question.
    :param passage: rank of its best passage among those found, 0 when none was.
    """

    key: TableKey
    record: Record
    words: set[str] = field(default_factory=set)
    columns: list[str] = field(default_factory=list)
    passage: int = 0
    named: float = 0.0
    score: float = 0.0

    @property
    def matched(self) -> bool:
        """Whether something of its own speaks for it, not only its neighbours."""
        return bool(self.named or self.passage)

    @property
    def why(self) -> list[str]:
        reasons = []
        if self.words:
            reasons.append(f"name holds {', '.join(sorted(self.words))}")
        if self.columns:
            reasons.append(f"columns {', '.join(self.columns[:5])}")
        if self.passage:
            reasons.append(f"passage ranked {self.passage}")
        return reasons or ["joins tables that match"]


def rank_tables(reader: CatalogReader, words: Sequence[str], hits: Sequence[Hit]) -> list[Ranked]:
    """Tables the question may be about, best first."""
    ranked: dict[TableKey, Ranked] = {}
    _by_table_names(reader, words, ranked)
    _by_column_names(reader, words, ranked)
    _by_passages(reader, hits, ranked)
    named = sorted((r for r in ranked.values() if r.named), key=lambda r: (-r.named, r.key))
    for rank, table in enumerate(named, start=1):
        table.score += _NAMES / (_RRF_K + rank)
    for table in ranked.values():
        if table.passage:
            table.score += 1 / (_RRF_K + table.passage)
    _share_with_joined(reader, ranked)
    best = max((r.score for r in ranked.values()), default=0.0)
    kept = [r for r in ranked.values() if r.score >= _CUT * best]
    return sorted(kept, key=lambda r: (-r.score, r.key))


def rank_metrics(reader: CatalogReader, words: Sequence[str], hits: Sequence[Hit]) -> list[Record]:
    """Metrics whose names hold words of the question or whose passages were found, best first."""
    place = {hit.node_id: rank for rank, hit in enumerate(hits, start=1)}
    found: dict[tuple[str, str], Record] = {}
    for record in (*reader.metrics("words", words), *reader.metrics("passages", place)):
        found[record.document_id, record.fields["name"]] = record
    wanted = set(words)

    def score(record: Record) -> float:
        own = set(record.fields["words"])
        rank = min((place[n] for n in record.fields["passages"] if n in place), default=0)
        return len(own & wanted) / max(1, len(own)) + (1 / (1 + rank) if rank else 0)

    return sorted(found.values(), key=lambda r: (-score(r), r.fields["name"]))


def _by_table_names(
    reader: CatalogReader, words: Sequence[str], ranked: dict[TableKey, Ranked]
) -> None:
    tables = reader.tables("words", words)
    frequency: defaultdict[str, int] = defaultdict(int)
    for record in tables.values():
        for word in record.fields["words"]:
            frequency[word] += 1
    for key, record in tables.items():
        entry = ranked[key] = Ranked(key, record)
        entry.words = set(words) & set(record.fields["words"])
        entry.named += sum(_TABLE_NAME * _weight(frequency[w]) for w in entry.words)


def _by_column_names(
    reader: CatalogReader, words: Sequence[str], ranked: dict[TableKey, Ranked]
) -> None:
    named: dict[str, list[Record]] = {word: reader.columns_named(word) for word in words}
    specific = {w: columns for w, columns in named.items() if len(columns) < LOOKUP_LIMIT}
    _complete(reader, ranked, (_table(c) for columns in specific.values() for c in columns))
    for word, columns in named.items():
        tables = {_table(c) for c in columns}
        for key in tables:
            if key in ranked and word not in ranked[key].words:
                ranked[key].named += _COLUMN_NAME * _weight(len(tables))
        for column in columns:
            entry = ranked.get(_table(column))
            if entry and column.fields["name"] not in entry.columns:
                entry.columns.append(column.fields["name"])


def _by_passages(
    reader: CatalogReader, hits: Sequence[Hit], ranked: dict[TableKey, Ranked]
) -> None:
    place = {hit.node_id: rank for rank, hit in enumerate(hits, start=1)}
    tables = reader.tables("passages", place)
    best = {
        key: min(place[n] for n in record.fields["passages"] if n in place)
        for key, record in tables.items()
    }
    for rank, key in enumerate(sorted(best, key=lambda k: (best[k], k)), start=1):
        ranked.setdefault(key, Ranked(key, tables[key])).passage = rank


def _share_with_joined(reader: CatalogReader, ranked: dict[TableKey, Ranked]) -> None:
    own = {key: table.score for key, table in ranked.items()}
    shared: defaultdict[TableKey, float] = defaultdict(float)
    for left, right, record in reader.relationships(own):
        if record.fields["evidence"] == "inferred":
            continue
        shared[left] = max(shared[left], own.get(right, 0.0))
        shared[right] = max(shared[right], own.get(left, 0.0))
    best = max(own.values(), default=0.0)
    _complete(reader, ranked, (k for k, score in shared.items() if _JOINED * score >= _CUT * best))
    for key, score in shared.items():
        if key in ranked:
            ranked[key].score += _JOINED * score


def _complete(
    reader: CatalogReader, ranked: dict[TableKey, Ranked], keys: Iterable[TableKey]
) -> None:
    """Read the tables of ``keys`` that are not ranked yet."""
    missing = {key for key in keys if key not in ranked}
    for key, record in reader.tables("id", sorted({k.id for k in missing})).items():
        if key in missing:
            ranked[key] = Ranked(key, record)


def _table(column: Record) -> TableKey:
    return TableKey(column.document_id, column.fields["table"])


def _weight(frequency: int) -> float:
    return 1 / (1 + math.log(max(1, frequency)))
