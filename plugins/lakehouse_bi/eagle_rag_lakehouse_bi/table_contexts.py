"""Records of tables, columns and metrics as the parts of an answer."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.answers import ColumnContext, MetricContext, TableContext
from eagle_rag_lakehouse_bi.reading import TableKey
from eagle_rag_lakehouse_bi.selection import Selected, Selection

Columns = Mapping[TableKey, Sequence[Record]]
#: Why columns match, by table and name.
Reasons = Mapping[tuple[TableKey, str], list[str]]


def table_contexts(selection: Selection, columns: Columns, reasons: Reasons) -> list[TableContext]:
    """The tables of a selection with all of their columns."""
    foreign = set(_referring(selection))
    return [
        _table_context(table, columns.get(table.key, ()), foreign, reasons)
        for table in selection.tables
    ]


def metric_context(metric: Record) -> MetricContext:
    """A metric with its definition."""
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


def _referring(selection: Selection) -> Iterator[tuple[TableKey, str]]:
    """Columns that refer to another table, in lower case."""
    for left, _, edge in selection.graph.edges:
        for name in edge.data["from_columns"]:
            yield left, name.lower()


def _table_context(
    table: Selected,
    columns: Sequence[Record],
    foreign: Collection[tuple[TableKey, str]],
    reasons: Reasons,
) -> TableContext:
    record = table.record
    primary = record.data["primary_key"]
    return TableContext(
        id=table.key.id,
        kind=record.fields["kind"],
        relation=table.relation,
        why=list(table.why),
        description=record.data["description"],
        primary_key=primary,
        columns=[
            _column_context(
                column,
                primary,
                (table.key, column.fields["name"].lower()) in foreign,
                reasons.get((table.key, column.fields["name"]), []),
            )
            for column in columns
        ],
        omitted_columns=0,
        source=record.fields["source"],
        file=record.data["origin"]["file"],
        line=record.data["origin"]["line"],
        node_id=record.node_id,
        document_id=record.document_id,
        kb_name=record.kb_name,
    )


def _column_context(
    column: Record, primary_key: Sequence[str], is_foreign: bool, why: list[str]
) -> ColumnContext:
    name = column.fields["name"]
    if name in primary_key:
        key = "primary"
    elif is_foreign:
        key = "foreign"
    else:
        key = "unique" if column.data["unique"] else ""
    return ColumnContext(
        name=name,
        type=column.data["type"],
        description=column.data["description"],
        key=key,
        values=column.data["accepted_values"],
        why=why,
    )
