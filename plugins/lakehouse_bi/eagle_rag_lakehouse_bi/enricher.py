"""Ingest: from the objects of a catalog file to records and search terms.

Each record is anchored to the chunk that describes its object. Its field ``words`` holds the
stemmed words of its name, by which the tool finds it without reading all records.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Final

from eagle_rag_core.types import Chunk, Enrichment, EnrichmentInput, NewRecord
from eagle_rag_lakehouse_bi.identifiers import identifier_words, readable
from eagle_rag_lakehouse_bi.objects import Column, Metric, Relationship, Table
from eagle_rag_lakehouse_bi.rendering import RenderedCatalog, Span, metric_formula

#: An indexed value is at most so long; longer names are cut alike wherever they stand.
_INDEXED: Final = 300


class CatalogEnricher:
    """Writes the records of catalog files; other documents are left alone."""

    name = "lakehouse_bi_catalog"
    version = "1"

    def enrich(self, item: EnrichmentInput) -> Enrichment:
        rendered = item.parsed.payload
        if not isinstance(rendered, RenderedCatalog):
            return Enrichment()
        places = _Places(item.chunks)
        return Enrichment(
            records=tuple(_records(rendered, places)), chunk_terms=_terms(rendered, places)
        )


class _Places:
    """Which chunks hold a part of the text."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = sorted(chunks, key=lambda chunk: chunk.start)
        self._starts = [chunk.start for chunk in self._chunks]

    def nodes(self, span: Span) -> list[str]:
        """The chunks that share characters with ``span``, in order."""
        first = max(0, bisect_right(self._starts, span.start) - 1)
        found = []
        for chunk in self._chunks[first:]:
            if chunk.start >= span.end:
                break
            if chunk.end > span.start:
                found.append(chunk.node_id)
        return found

    def node(self, span: Span) -> str:
        """The first of them, "" when no chunk holds the span."""
        return next(iter(self.nodes(span)), "")


def _records(rendered: RenderedCatalog, places: _Places) -> Iterator[NewRecord]:
    catalog = rendered.catalog
    for table in catalog.tables:
        yield _table_record(table, catalog.name, places.nodes(rendered.tables[table.id]))
        for place, column in enumerate(table.columns):
            node = places.node(rendered.columns[table.id][place])
            yield _column_record(table, column, place, node)
    for relationship in catalog.relationships:
        span = rendered.tables.get(relationship.from_table)
        yield _relationship_record(relationship, places.node(span) if span else "")
    for metric, span in zip(catalog.metrics, rendered.metrics, strict=True):
        yield _metric_record(metric, places.nodes(span))


def _table_record(table: Table, source: str, nodes: list[str]) -> NewRecord:
    return NewRecord(
        kind="table",
        fields={
            "id": _indexed(table.id),
            "name": _indexed(table.name),
            "schema": _indexed(table.schema),
            "database": _indexed(table.database),
            "source": _indexed(source),
            "kind": table.kind,
            "words": _words(table.name),
            "passages": nodes,
        },
        node_id=nodes[0] if nodes else "",
        data={
            "description": table.description,
            "primary_key": list(table.primary_key),
            "unique_keys": [list(key) for key in table.unique_keys],
            "tags": list(table.tags),
            "origin": asdict(table.origin),
        },
    )


def _column_record(table: Table, column: Column, place: int, node: str) -> NewRecord:
    return NewRecord(
        kind="column",
        fields={
            "table": _indexed(table.id),
            "name": _indexed(column.name),
            "type": _indexed(column.type),
            "words": _words(column.name),
        },
        node_id=node,
        data={
            "place": place,
            "type": column.type,
            "description": column.description,
            "nullable": column.nullable,
            "unique": column.unique,
            "accepted_values": list(column.accepted_values),
        },
    )


def _relationship_record(relationship: Relationship, node: str) -> NewRecord:
    return NewRecord(
        kind="relationship",
        fields={
            "from_table": _indexed(relationship.from_table),
            "to_table": _indexed(relationship.to_table),
            "evidence": relationship.evidence,
        },
        node_id=node,
        data={
            "name": relationship.name,
            "from_columns": list(relationship.from_columns),
            "to_columns": list(relationship.to_columns),
            "origin": asdict(relationship.origin),
        },
    )


def _metric_record(metric: Metric, nodes: list[str]) -> NewRecord:
    return NewRecord(
        kind="metric",
        fields={
            "name": _indexed(metric.name),
            "type": _indexed(metric.type),
            "tables": [_indexed(table) for table in metric.tables],
            "words": _words(metric.name, metric.label),
            "passages": nodes,
        },
        node_id=nodes[0] if nodes else "",
        data={
            "label": metric.label,
            "description": metric.description,
            "formula": metric_formula(metric),
            "aggregation": metric.aggregation,
            "expression": metric.expression,
            "filter": metric.filter,
            "time_dimension": metric.time_dimension,
            "inputs": list(metric.inputs),
            "origin": asdict(metric.origin),
        },
    )


def _terms(rendered: RenderedCatalog, places: _Places) -> dict[str, list[str]]:
    """Names as words: of its table in every chunk of a section, of columns where they stand."""
    terms: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for table in rendered.catalog.tables:
        for node in places.nodes(rendered.tables[table.id]):
            terms[node][readable(table.name)] = None
        for column, span in zip(table.columns, rendered.columns[table.id], strict=True):
            for node in places.nodes(span):
                terms[node][readable(column.name)] = None
    for metric, span in zip(rendered.catalog.metrics, rendered.metrics, strict=True):
        for node in places.nodes(span):
            terms[node][readable(metric.name)] = None
    return {node: list(found) for node, found in terms.items()}


def _indexed(text: str) -> str:
    return text[:_INDEXED]


def _words(*names: str) -> list[str]:
    words = (word for name in names for word in identifier_words(name))
    return list(dict.fromkeys(map(_indexed, words)))
