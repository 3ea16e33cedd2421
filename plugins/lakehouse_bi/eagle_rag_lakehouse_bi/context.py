"""Assembles the semantic context of a question: tables, joins, metrics, a verdict."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from eagle_rag_core.plugins import PackContext
from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.answers import (
    ColumnContext,
    MetricContext,
    SemanticContext,
    TableContext,
)
from eagle_rag_lakehouse_bi.budget import fit
from eagle_rag_lakehouse_bi.identifiers import identifier_words, question_words, text_words
from eagle_rag_lakehouse_bi.joins import unique_keys
from eagle_rag_lakehouse_bi.ranking import rank_metrics, rank_tables
from eagle_rag_lakehouse_bi.reading import CatalogReader, Scope, TableKey
from eagle_rag_lakehouse_bi.selection import Selected, Selection, select
from eagle_rag_lakehouse_bi.verdict import judge

_PASSAGES: Final = 20
_METRICS: Final = 10

_Columns = Mapping[TableKey, Sequence[Record]]


@dataclass(frozen=True, slots=True)
class ContextQuestion:
    """What the caller asks for. An empty KB or no documents mean all."""

    query: str
    kb_name: str = ""
    document_ids: tuple[str, ...] = ()
    max_tables: int = 8
    max_tokens: int = 6000


class ContextFinder:
    """Answers questions from the records of the ingested catalogs."""

    def __init__(self, ctx: PackContext) -> None:
        self._ctx = ctx

    def answer(self, question: ContextQuestion) -> SemanticContext:
        words = question_words(question.query)
        reader = CatalogReader(self._ctx, Scope(question.kb_name, question.document_ids))
        hits = self._ctx.search.text(
            question.query,
            top_k=_PASSAGES,
            kb_name=question.kb_name,
            document_ids=question.document_ids,
        )
        metrics = rank_metrics(reader, words, hits)[:_METRICS]
        selection = select(reader, rank_tables(reader, words, hits), metrics, question.max_tables)
        columns = reader.columns_of(selection.keys)
        verdict, unmatched = judge(words, _covered(selection, columns, metrics))
        if verdict == "no_match":
            return SemanticContext(question.query, verdict, unmatched, [], [], [], [], 0)
        fitted = fit(
            [_table_context(t, columns.get(t.key, ()), selection) for t in selection.tables],
            list(
                selection.graph.hints(
                    set(selection.keys),
                    unique_keys({t.key: t.record for t in selection.tables}, columns),
                )
            ),
            [_metric_context(m) for m in metrics],
            essential=set(_essential(selection)),
            max_tokens=question.max_tokens,
        )
        return SemanticContext(
            query=question.query,
            verdict=verdict,
            unmatched_words=unmatched,
            tables=fitted.tables,
            joins=fitted.joins,
            metrics=fitted.metrics,
            dropped=[*selection.dropped, *fitted.dropped],
            tokens=fitted.tokens,
        )


def _covered(
    selection: Selection, columns: _Columns, metrics: Sequence[Record]
) -> dict[int, set[str]]:
    """The words each group of joinable tables covers; -1 is of metrics without tables here."""
    group = selection.graph.groups(selection.keys)
    covered: defaultdict[int, set[str]] = defaultdict(set)
    for table in selection.tables:
        words = covered[group[table.key]]
        words.update(identifier_words(table.record.fields["name"]))
        words |= text_words([table.record.data["description"]])
        for column in columns.get(table.key, ()):
            words.update(identifier_words(column.fields["name"]))
            words |= text_words([column.data["description"], *column.data["accepted_values"]])
    for metric in metrics:
        words = set(metric.fields["words"]) | text_words([metric.data["description"]])
        keys = [TableKey(metric.document_id, t) for t in metric.fields["tables"]]
        for number in {group.get(key, -1) for key in keys} or {-1}:
            covered[number] |= words
    return covered


def _essential(selection: Selection) -> Iterator[tuple[str, str, str]]:
    """Columns a table is not shown without: its key, what joins it, what matches."""
    shown = set(selection.keys)
    for table in selection.tables:
        for name in (*table.record.data["primary_key"], *table.matched_columns):
            yield (*table.key, name)
    for left, right, record in selection.graph.edges:
        if left in shown and right in shown:
            for name in record.data["from_columns"]:
                yield (*left, name)
            for name in record.data["to_columns"]:
                yield (*right, name)


def _table_context(
    table: Selected, columns: Sequence[Record], selection: Selection
) -> TableContext:
    record = table.record
    foreign = {
        name.lower()
        for left, _, edge in selection.graph.edges
        if left == table.key
        for name in edge.data["from_columns"]
    }
    return TableContext(
        id=table.key.id,
        kind=record.fields["kind"],
        relation=table.relation,
        why=list(table.why),
        description=record.data["description"],
        primary_key=record.data["primary_key"],
        columns=[_column_context(c, record.data["primary_key"], foreign) for c in columns],
        omitted_columns=0,
        source=record.fields["source"],
        file=record.data["origin"]["file"],
        line=record.data["origin"]["line"],
        node_id=record.node_id,
        document_id=record.document_id,
        kb_name=record.kb_name,
    )


def _column_context(column: Record, primary_key: Sequence[str], foreign: set[str]) -> ColumnContext:
    name = column.fields["name"]
    if name in primary_key:
        key = "primary"
    elif name.lower() in foreign:
        key = "foreign"
    else:
        key = "unique" if column.data["unique"] else ""
    return ColumnContext(
        name=name,
        type=column.data["type"],
        description=column.data["description"],
        key=key,
        values=column.data["accepted_values"],
    )


def _metric_context(metric: Record) -> MetricContext:
    data = metric.data
    return MetricContext(
        name=metric.fields["name"],
        label=data["label"],
        type=metric.fields["type"],
        description=data["description"],
        formula=data["formula"],
        filter=data["filter"],
        time_dimension=data["time_dimension"],
        inputs=data["inputs"],
        tables=list(metric.fields["tables"]),
        node_id=metric.node_id,
        document_id=metric.document_id,
        kb_name=metric.kb_name,
    )
