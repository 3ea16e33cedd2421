"""Writes the objects of a catalog as records.

Each has a URN where tools refer to it, and in its data where it is described (``origin``) and a
hash of its content, by which two versions of a catalog are compared. Its field ``words`` holds the
stemmed words of its name, by which tools find it without reading all records.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from eagle_rag_core.types import FieldValue, NewRecord
from eagle_rag_lakehouse_bi.identifiers import identifier_words, question_words
from eagle_rag_lakehouse_bi.objects import (
    Catalog,
    Column,
    Exposure,
    Freshness,
    Lineage,
    Metric,
    Origin,
    Relationship,
    Rule,
    SavedQuery,
    Table,
    Term,
)
from eagle_rag_lakehouse_bi.sensitivity import is_sensitive
from eagle_rag_lakehouse_bi.urns import urn
from eagle_rag_lakehouse_bi.values import value_words
from eagle_rag_lakehouse_bi.wording import metric_formula

#: An indexed value is at most so long; longer names are cut alike wherever they stand.
_INDEXED: Final = 300
_MOST_PROBLEMS: Final = 50
_MOST_SAMPLES: Final = 50
_MOST_VALUE_WORDS: Final = 200


class RecordWriter:
    """Records of one catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._tables = {table.id for table in catalog.tables}

    def source(self) -> NewRecord:
        """What the file is and how much it describes."""
        catalog = self._catalog
        counts = {
            "tables": len(catalog.tables),
            "columns": sum(len(t.columns) for t in catalog.tables),
            "relationships": len(catalog.relationships),
            "metrics": len(catalog.metrics),
            "queries": len(catalog.queries),
            "terms": len(catalog.terms),
            "rules": len(catalog.rules),
            "problems": len(catalog.problems),
        }
        return _record(
            "source",
            {"name": catalog.name, "format": catalog.format},
            data={
                "counts": counts,
                "problems": [p.message for p in catalog.problems[:_MOST_PROBLEMS]],
                "hash": _hash(asdict(catalog)),
                "evidence": dict(Counter(r.evidence for r in catalog.relationships)),
            },
        )

    def table(self, table: Table, nodes: list[str]) -> NewRecord:
        return _record(
            "table",
            {
                "urn": self._urn("table", table.id),
                "id": table.id,
                "leaf": table.id.rpartition(".")[2],
                "name": table.name,
                "schema": table.schema,
                "database": table.database,
                "source": self._catalog.name,
                "kind": table.kind,
                "status": table.status,
                "words": _words(table.name, *table.synonyms),
                "passages": nodes,
            },
            next(iter(nodes), ""),
            {
                "description": table.description,
                "primary_key": list(table.primary_key),
                "unique_keys": [list(key) for key in table.unique_keys],
                "tags": list(table.tags),
                "synonyms": list(table.synonyms),
                "relation": table.relation,
                "owner": table.owner,
                "definition": table.definition,
                **self._provenance(table, table.origin),
            },
        )

    def column(self, table: Table, column: Column, place: int, node: str) -> NewRecord:
        return _record(
            "column",
            {
                "urn": self._urn("column", f"{table.id}.{column.name.lower()}"),
                "table": table.id,
                "name": column.name,
                "type": column.type,
                "role": column.role,
                "words": _words(column.name, *column.synonyms),
                "value_words": _value_words(column),
            },
            node,
            {
                "place": place,
                "type": column.type,
                "description": column.description,
                "nullable": column.nullable,
                "unique": column.unique,
                "accepted_values": list(column.accepted_values),
                "samples": list(column.samples[:_MOST_SAMPLES]),
                "sensitive": column.sensitive,
                "expression": column.expression,
                "synonyms": list(column.synonyms),
                "hash": _hash(asdict(column)),
            },
        )

    def relationship(self, relationship: Relationship, node: str) -> NewRecord:
        within = {relationship.from_table, relationship.to_table} <= self._tables
        return _record(
            "relationship",
            {
                "from_table": relationship.from_table,
                "to_table": relationship.to_table,
                "from_leaf": "" if within else relationship.from_table.rpartition(".")[2],
                "to_leaf": "" if within else relationship.to_table.rpartition(".")[2],
                "evidence": relationship.evidence,
            },
            node,
            {
                "name": relationship.name,
                "from_columns": list(relationship.from_columns),
                "to_columns": list(relationship.to_columns),
                "role": relationship.role,
                "cardinality": relationship.cardinality,
                "support": relationship.support,
                "condition": relationship.condition,
                **self._provenance(relationship, relationship.origin),
            },
        )

    def metric(self, metric: Metric, nodes: list[str]) -> NewRecord:
        return _record(
            "metric",
            {
                "urn": self._urn("metric", metric.name),
                "name": metric.name,
                "type": metric.type,
                "status": metric.status,
                "tables": list(metric.tables),
                "words": _words(metric.name, metric.label, *metric.synonyms),
                "passages": nodes,
            },
            next(iter(nodes), ""),
            {
                "label": metric.label,
                "description": metric.description,
                "formula": metric_formula(metric),
                "aggregation": metric.aggregation,
                "expression": metric.expression,
                "filter": metric.filter,
                "time_dimension": metric.time_dimension,
                "inputs": list(metric.inputs),
                "synonyms": list(metric.synonyms),
                "dimensions": list(metric.dimensions),
                "non_additive": metric.non_additive,
                **self._provenance(metric, metric.origin),
            },
        )

    def query(self, query: SavedQuery, nodes: list[str]) -> NewRecord:
        name = query.name or query.question
        return _record(
            "query",
            {
                "urn": self._urn("query", f"{_hash(query.sql)[:8]}-{name}"),
                "name": name,
                "status": query.status,
                "tables": list(query.tables),
                "words": question_words(query.question or query.name),
                "passages": nodes,
            },
            next(iter(nodes), ""),
            {
                "question": query.question,
                "sql": query.sql,
                "dialect": query.dialect,
                "verified_by": query.verified_by,
                "verified_at": query.verified_at,
                **self._provenance(query, query.origin),
            },
        )

    def term(self, term: Term, nodes: list[str]) -> NewRecord:
        return _record(
            "term",
            {
                "urn": self._urn("term", term.name),
                "name": term.name,
                "words": _words(term.name, *term.synonyms),
                "passages": nodes,
            },
            next(iter(nodes), ""),
            {
                "definition": term.definition,
                "synonyms": list(term.synonyms),
                **self._provenance(term, term.origin),
            },
        )

    def rule(self, rule: Rule, number: int, node: str) -> NewRecord:
        return _record(
            "rule",
            {"urn": self._urn("rule", f"{rule.table or 'all'}.{number}"), "table": rule.table},
            node,
            {"text": rule.text, **self._provenance(rule, rule.origin)},
        )

    def exposure(self, exposure: Exposure, nodes: list[str]) -> NewRecord:
        return _record(
            "exposure",
            {
                "urn": self._urn("exposure", exposure.name),
                "name": exposure.name,
                "type": exposure.type,
                "tables": list(exposure.tables),
                "leaves": [table.rpartition(".")[2] for table in exposure.tables],
                "words": _words(exposure.name),
                "passages": nodes,
            },
            next(iter(nodes), ""),
            {
                "description": exposure.description,
                "owner": exposure.owner,
                "url": exposure.url,
                **self._provenance(exposure, exposure.origin),
            },
        )

    def lineage(self, edge: Lineage) -> NewRecord:
        return _record(
            "lineage",
            {"source_table": edge.source, "target_table": edge.target},
            data={"columns": [list(pair) for pair in edge.columns]},
        )

    def freshness(self, state: Freshness, node: str) -> NewRecord:
        return _record(
            "freshness",
            {
                "leaf": state.table.rpartition(".")[2],
                "table": state.table,
                "status": state.status,
            },
            node,
            {
                "loaded_at": state.loaded_at,
                "rows": state.rows,
                "failed": list(state.failed),
                "checked_at": state.checked_at,
                "warn_after": state.warn_after,
                "error_after": state.error_after,
                "format": self._catalog.format,
                "source": self._catalog.name,
            },
        )

    def _urn(self, kind: str, name: str) -> str:
        return urn(self._catalog.name, kind, name)

    def _provenance(self, item: Any, origin: Origin) -> dict[str, Any]:
        return {
            "origin": {**asdict(origin), "format": self._catalog.format},
            "hash": _hash(asdict(item)),
        }


def _record(
    kind: str,
    fields: dict[str, FieldValue | Sequence[FieldValue]],
    node: str = "",
    data: dict[str, Any] | None = None,
) -> NewRecord:
    cut = {
        name: _indexed(value) if isinstance(value, str) else _all_indexed(value)
        for name, value in fields.items()
    }
    return NewRecord(kind=kind, fields=cut, node_id=node, data=data or {})


def _all_indexed(value: FieldValue | Sequence[FieldValue]) -> FieldValue | list[FieldValue]:
    if isinstance(value, int | float | str):
        return value
    return [_indexed(v) if isinstance(v, str) else v for v in value]


def _indexed(text: str) -> str:
    return text[:_INDEXED]


def _words(*names: str) -> list[str]:
    return list(dict.fromkeys(word for name in names for word in identifier_words(name)))


def _value_words(column: Column) -> list[str]:
    """The words of a column's known values, none where these may be personal."""
    if column.sensitive or is_sensitive((column.name, *column.synonyms)):
        return []
    values = (*column.accepted_values, *column.samples[:_MOST_SAMPLES])
    words = dict.fromkeys(word for value in values for word in value_words(value))
    return list(words)[:_MOST_VALUE_WORDS]


def _hash(value: Any) -> str:
    """A hash of content; where an object stands is not part of it."""
    if isinstance(value, dict):
        value = {key: v for key, v in value.items() if key != "origin"}
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", errors="replace")).hexdigest()[:16]
