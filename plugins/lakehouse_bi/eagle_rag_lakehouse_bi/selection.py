"""Chooses the tables of an answer: those that match, and those needed to join them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.answers import Dropped, Relation
from eagle_rag_lakehouse_bi.joins import JoinGraph
from eagle_rag_lakehouse_bi.reading import CatalogReader, TableKey
from eagle_rag_lakehouse_bi.retrieval.finding import Found
from eagle_rag_lakehouse_bi.retrieval.reasons import JOINS

#: Tables of so many of the best metrics are part of the answer.
_METRICS_WITH_TABLES: Final = 3
#: A table below this share of the best score is not about the question.
_CUT: Final = 0.1
#: This share of an answer goes to the best tables before those that metrics and joins need.
_BEST: Final = 0.75


@dataclass(frozen=True, slots=True)
class Selected:
    """A table of the answer."""

    key: TableKey
    record: Record
    relation: Relation
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """The tables of an answer, best first, the joins around them, and what was left out.

    :param further: tables beyond the limit, best first.
    """

    tables: list[Selected]
    graph: JoinGraph
    further: list[TableKey]

    @property
    def keys(self) -> list[TableKey]:
        return [table.key for table in self.tables]

    @property
    def dropped(self) -> list[Dropped]:
        """The tables beyond the limit, by name."""
        return [Dropped("table", key.id, 1) for key in self.further]


def select(
    reader: CatalogReader, found: Found, metrics: Sequence[Record], max_tables: int
) -> Selection:
    """The best tables with those of the best metrics and bridges between them, ``max_tables`` in
    all.

    What the limit leaves out is named as dropped.
    """
    ranking = [found.key(n) for n in found.above(_CUT)]
    best = ranking[: max(1, int(_BEST * max_tables))]
    needed = dict.fromkeys((*best, *(key for key, _ in _of_metrics(metrics))))
    candidates = dict.fromkeys((*needed, *ranking[:max_tables]))
    # Around the candidates, so that it holds the joins of whatever bridges them as well.
    graph = JoinGraph(reader.relationships(candidates))
    order = list(dict.fromkeys((*needed, *graph.bridges(list(needed)), *ranking)))
    tables = _selected(reader, found, order[:max_tables], metrics)
    return Selection(tables, graph, order[max_tables:])


def select_these(
    reader: CatalogReader, found: Found, metrics: Sequence[Record], keys: Sequence[TableKey]
) -> Selection:
    """These tables, in their order."""
    tables = _selected(reader, found, keys, metrics)
    return Selection(tables, JoinGraph(reader.relationships(keys)), [])


def select_all(reader: CatalogReader, found: Found, metrics: Sequence[Record]) -> Selection:
    """Every table of the catalogs, best first."""
    keys = [found.key(n) for n in found.order()]
    tables = _selected(reader, found, keys, metrics, others="listed")
    return Selection(tables, JoinGraph(reader.relationships(keys)), [])


def _selected(
    reader: CatalogReader,
    found: Found,
    keys: Sequence[TableKey],
    metrics: Sequence[Record],
    others: Relation = "joined",
) -> list[Selected]:
    """:param others: how tables are shown that nothing of their own speaks for."""
    records = reader.tables_of(keys)
    of_metrics = dict(_of_metrics(metrics))
    tables = []
    for key in keys:
        if key not in records:
            continue
        why = found.why(key)
        if key in of_metrics:
            why = [*why, of_metrics[key]]
        matched = found.matches(key) or key in of_metrics
        relation: Relation = "matched" if matched else others
        reasons = why or ([JOINS] if relation == "joined" else [])
        tables.append(Selected(key, records[key], relation, tuple(reasons)))
    return tables


def _of_metrics(metrics: Sequence[Record]) -> Iterator[tuple[TableKey, str]]:
    """Tables of the best metrics with the reason."""
    for metric in metrics[:_METRICS_WITH_TABLES]:
        for table in metric.fields["tables"]:
            yield TableKey(metric.document_id, table), f"metric {metric.fields['name']}"
