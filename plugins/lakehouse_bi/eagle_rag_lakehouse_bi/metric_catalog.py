"""Metrics: lists of them, which of them a dimension slices, and what one is made of."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.plugins import PackContext
from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.identifiers import question_words
from eagle_rag_lakehouse_bi.joins import cardinality_of, unique_keys
from eagle_rag_lakehouse_bi.metric_answers import (
    MetricConflict,
    MetricDefinition,
    MetricDimension,
    MetricPage,
    MetricPart,
    MetricSummary,
)
from eagle_rag_lakehouse_bi.metric_conflicts import conflicts_of, key_of
from eagle_rag_lakehouse_bi.object_search import shortened
from eagle_rag_lakehouse_bi.paging import page
from eagle_rag_lakehouse_bi.reading import CatalogReader, Scope, TableKey

_MOST_METRICS: Final = 5_000
#: Metrics are made of metrics; a chain longer than this is a circle.
_DEEPEST: Final = 6
_MOST_PARTS: Final = 60
_MOST_DIMENSIONS: Final = 150


@dataclass(frozen=True, slots=True)
class MetricQuery:
    """Which metrics to list; "" for no limit."""

    search: str = ""
    dimension: str = ""
    scope: Scope = field(default_factory=Scope)
    limit: int = 50
    cursor: str = ""


class MetricCatalog:
    """Reads metrics from the records of the ingested catalogs."""

    def __init__(self, ctx: PackContext) -> None:
        self._ctx = ctx

    def list(self, query: MetricQuery) -> MetricPage:
        """The metrics that fit ``query``.

        :raises InvalidArgument: the cursor is not valid.
        """
        reader = CatalogReader(self._ctx, query.scope)
        words = question_words(query.search)
        if query.search:
            records = reader.find("metric", "words", words, limit=_MOST_METRICS)
        else:
            records = reader.all("metric", limit=_MOST_METRICS)
        if query.dimension:
            sliced = _sliced_by(reader, records, query.dimension)
            records = [record for record in records if key_of(record) in sliced]

        def order(record: Record) -> tuple[int, str, str]:
            own = len(set(words) & set(record.fields["words"]))
            return -own, record.fields["name"], record.document_id

        records.sort(key=order)
        shown, cursor = page(records, query.cursor, query.limit)
        conflicts = conflicts_of(reader, shown)
        items = [_summary(record, conflicts[key_of(record)]) for record in shown]
        return MetricPage(items, len(records), cursor)

    def get(self, metric: str, scope: Scope) -> MetricDefinition:
        """The metric of a URN or a name; of several of that name a certified one, else the first.

        :raises InvalidArgument: there is none.
        """
        reader = CatalogReader(self._ctx, scope)
        field = "urn" if metric.startswith("lh://") else "name"
        found = reader.find("metric", field, [metric])
        if not found:
            raise InvalidArgument(
                "No metric has this name or URN; list the metrics and pass one of theirs."
            )
        found.sort(key=lambda r: r.fields["status"] != "certified")
        return _definition(reader, found[0])


def _definition(reader: CatalogReader, record: Record) -> MetricDefinition:
    data = record.data
    parts = list(_parts(reader, record))
    tables = list(dict.fromkeys(t for part in parts for t in part.tables))
    keys = [TableKey(record.document_id, table) for table in tables]
    dimensions = list(_dimensions(reader, keys))
    stated = {name.lower() for name in data["dimensions"]}
    if stated:
        dimensions = [d for d in dimensions if d.name.lower() in stated] or dimensions
    return MetricDefinition(
        urn=record.fields["urn"],
        name=record.fields["name"],
        label=data["label"],
        description=data["description"],
        status=record.fields["status"],
        synonyms=data["synonyms"],
        time_dimension=data["time_dimension"],
        non_additive=data["non_additive"],
        parts=parts,
        dimensions=dimensions[:_MOST_DIMENSIONS],
        omitted_dimensions=max(0, len(dimensions) - _MOST_DIMENSIONS),
        rules=[r.data["text"] for r in reader.find("rule", "table", tables)],
        conflicts=conflicts_of(reader, [record])[key_of(record)],
        file=data["origin"]["file"],
        line=data["origin"]["line"],
        node_id=record.node_id,
        document_id=record.document_id,
        kb_name=record.kb_name,
    )


def _parts(reader: CatalogReader, record: Record) -> Iterator[MetricPart]:
    """The metric and, after each, those it is made of; a metric met twice is shown once."""
    waiting = [(record, 0)]
    seen: set[str] = set()
    while waiting and len(seen) < _MOST_PARTS:
        current, depth = waiting.pop(0)
        name = current.fields["name"]
        if name in seen or depth > _DEEPEST:
            continue
        seen.add(name)
        inputs = current.data["inputs"]
        yield MetricPart(
            name=name,
            depth=depth,
            type=current.fields["type"],
            formula=current.data["formula"],
            filter=current.data["filter"],
            inputs=inputs,
            tables=list(current.fields["tables"]),
        )
        below = [r for r in reader.metrics("name", inputs) if r.document_id == record.document_id]
        waiting = [*((r, depth + 1) for r in below), *waiting]


def _dimensions(reader: CatalogReader, keys: Sequence[TableKey]) -> Iterator[MetricDimension]:
    """Columns a metric over the tables ``keys`` can be grouped by without counting rows twice:
    their own, and those of tables that each of their rows meets once."""
    through = _reached(reader, keys)
    columns = reader.columns_of(through)
    for key, path in through.items():
        listed = columns.get(key, [])
        semantic = [c for c in listed if c.fields["role"] in ("dimension", "time")]
        for column in semantic or listed:
            yield MetricDimension(
                name=column.fields["name"],
                table=key.id,
                type=column.fields["role"] or column.data["type"],
                description=shortened(column.data["description"]),
                through=path,
            )


def _reached(reader: CatalogReader, keys: Sequence[TableKey]) -> dict[TableKey, list[str]]:
    """The tables themselves and those one safe join away, each with the way there."""
    reached: dict[TableKey, list[str]] = {key: [] for key in keys}
    for many, one in _safe_joins(reader, keys):
        if many in keys:
            reached.setdefault(one, [one.id])
    return reached


def _safe_joins(
    reader: CatalogReader, keys: Collection[TableKey]
) -> Iterator[tuple[TableKey, TableKey]]:
    """Joins around tables in which each row of the first table meets one row of the second."""
    edges = reader.relationships(keys)
    ends = {k for e in edges for k in (e.left, e.right)}
    tables = reader.tables("id", [k.id for k in ends])
    unique = unique_keys(tables, reader.columns_of(tables))
    for edge in edges:
        cardinality = cardinality_of(edge, unique)
        if cardinality in ("many_to_one", "one_to_one"):
            yield edge.left, edge.right
        if cardinality in ("one_to_many", "one_to_one"):
            yield edge.right, edge.left


def _sliced_by(
    reader: CatalogReader, records: Sequence[Record], dimension: str
) -> set[tuple[str, str]]:
    """The metrics that columns or dimensions of a name slice."""
    words = set(question_words(dimension))
    if not words:
        return set()
    named = [c for w in sorted(words) for c in reader.columns_named(w)]
    tables = {
        TableKey(c.document_id, c.fields["table"]) for c in named if words <= set(c.fields["words"])
    }
    tables |= {many for many, one in _safe_joins(reader, tables) if one in tables}
    return {
        key_of(record)
        for record in records
        if any(words <= set(question_words(name)) for name in record.data["dimensions"])
        or any(TableKey(record.document_id, t) in tables for t in record.fields["tables"])
    }


def _summary(record: Record, conflicts: Sequence[MetricConflict]) -> MetricSummary:
    return MetricSummary(
        urn=record.fields["urn"],
        name=record.fields["name"],
        label=record.data["label"],
        description=shortened(record.data["description"]),
        type=record.fields["type"],
        status=record.fields["status"],
        tables=list(record.fields["tables"]),
        conflicts=list(dict.fromkeys(conflict.urn for conflict in conflicts)),
        document_id=record.document_id,
        kb_name=record.kb_name,
    )
