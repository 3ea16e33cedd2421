"""Ingest: from the objects of a catalog file to records and search terms.

Each record is anchored to the chunk that describes its object.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence

from eagle_rag_core.types import Chunk, Enrichment, EnrichmentInput, NewRecord
from eagle_rag_lakehouse_bi.identifiers import readable
from eagle_rag_lakehouse_bi.record_writer import RecordWriter
from eagle_rag_lakehouse_bi.rendering import RenderedCatalog, Span
from eagle_rag_lakehouse_bi.versions.snapshots import Snapshot, snapshot_record


class CatalogEnricher:
    """Writes the records of catalog files; other documents are left alone."""

    name = "lakehouse_bi_catalog"
    version = "3"

    def enrich(self, item: EnrichmentInput) -> Enrichment:
        rendered = item.parsed.payload
        if isinstance(rendered, Snapshot):
            node_id = item.chunks[0].node_id if item.chunks else ""
            return Enrichment(records=(snapshot_record(rendered, node_id),))
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
    writer = RecordWriter(catalog)
    yield writer.source()
    for table in catalog.tables:
        yield writer.table(table, places.nodes(rendered.tables[table.id]))
        for place, column in enumerate(table.columns):
            node = places.node(rendered.columns[table.id][place])
            yield writer.column(table, column, place, node)
    for relationship in catalog.relationships:
        span = rendered.tables.get(relationship.from_table)
        yield writer.relationship(relationship, places.node(span) if span else "")
    for metric, span in zip(catalog.metrics, rendered.metrics, strict=True):
        yield writer.metric(metric, places.nodes(span))
    for query, span in zip(catalog.queries, rendered.queries, strict=True):
        yield writer.query(query, places.nodes(span))
    for term, span in zip(catalog.terms, rendered.terms, strict=True):
        yield writer.term(term, places.nodes(span))
    for number, (rule, span) in enumerate(zip(catalog.rules, rendered.rules, strict=True)):
        yield writer.rule(rule, number, places.node(span))
    for exposure, span in zip(catalog.exposures, rendered.exposures, strict=True):
        yield writer.exposure(exposure, places.nodes(span))
    for edge in catalog.lineage:
        yield writer.lineage(edge)
    for state in catalog.freshness:
        own = rendered.tables.get(state.table)
        yield writer.freshness(state, places.node(own) if own else "")


def _terms(rendered: RenderedCatalog, places: _Places) -> dict[str, list[str]]:
    """Names as words: of its table in every chunk of a section, of columns where they stand."""
    terms: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for table in rendered.catalog.tables:
        for node in places.nodes(rendered.tables[table.id]):
            terms[node][readable(table.name)] = None
        for column, span in zip(table.columns, rendered.columns[table.id], strict=True):
            for node in places.nodes(span):
                terms[node][readable(column.name)] = None
    catalog = rendered.catalog
    named = [
        *zip((m.name for m in catalog.metrics), rendered.metrics, strict=True),
        *zip((t.name for t in catalog.terms), rendered.terms, strict=True),
    ]
    for name, span in named:
        for node in places.nodes(span):
            terms[node][readable(name)] = None
    return {node: list(found) for node, found in terms.items()}
