"""Chooses the tables of an answer: those that match, and those needed to join them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.answers import Dropped
from eagle_rag_lakehouse_bi.joins import JoinGraph
from eagle_rag_lakehouse_bi.ranking import Ranked
from eagle_rag_lakehouse_bi.reading import CatalogReader, TableKey

#: Tables of so many of the best metrics are part of the answer.
_METRICS_WITH_TABLES: Final = 3


@dataclass(frozen=True, slots=True)
class Selected:
    """A table of the answer.

    :param matched_columns: names of columns that hold words of the question.
    """

    key: TableKey
    record: Record
    relation: Literal["matched", "joined"]
    why: tuple[str, ...] = ()
    matched_columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Selection:
    """The tables of an answer, best first, the joins around them, and what was left out."""

    tables: list[Selected]
    graph: JoinGraph
    dropped: list[Dropped]

    @property
    def keys(self) -> list[TableKey]:
        return [table.key for table in self.tables]


def select(
    reader: CatalogReader, ranked: Sequence[Ranked], metrics: Sequence[Record], max_tables: int
) -> Selection:
    """The best tables, then those of the best metrics, then bridges between them, ``max_tables``
    in all.

    What the limit leaves out is named as dropped.
    """
    tables = {r.key: _ranked(r) for r in ranked[:max_tables]}
    dropped = [Dropped("table", r.key.id, 1) for r in ranked[max_tables:] if r.matched]
    for table in _of_metrics(reader, metrics[:_METRICS_WITH_TABLES]):
        if table.key not in tables and len(tables) < max_tables:
            tables[table.key] = table
    graph = JoinGraph(reader.relationships(tables))
    bridges = graph.bridges(list(tables))
    free = max_tables - len(tables)
    dropped += [Dropped("table", key.id, 1) for key in bridges[free:]]
    for table in _bridging(reader, bridges[:free]):
        tables[table.key] = table
    return Selection(list(tables.values()), graph, list(dict.fromkeys(dropped)))


def _ranked(table: Ranked) -> Selected:
    relation: Literal["matched", "joined"] = "matched" if table.matched else "joined"
    return Selected(table.key, table.record, relation, tuple(table.why), tuple(table.columns))


def _of_metrics(reader: CatalogReader, metrics: Iterable[Record]) -> Iterator[Selected]:
    for metric in metrics:
        for key, record in reader.tables("id", metric.fields["tables"]).items():
            if key.document_id == metric.document_id:
                why = (f"metric {metric.fields['name']}",)
                yield Selected(key, record, "matched", why)


def _bridging(reader: CatalogReader, keys: Sequence[TableKey]) -> Iterator[Selected]:
    records = reader.tables("id", [key.id for key in keys])
    for key in keys:
        if key in records:
            yield Selected(key, records[key], "joined", ("joins tables that match",))
