"""The objects of one document, reduced to what questions are ranked by.

A table is found by its own names, by what describes it, and by its columns. Weights were tried
coarsely on Spider and BIRD.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.catalog_index.terms import (
    WeightedTerms,
    family,
    grams,
    question_terms,
    terms,
)
from eagle_rag_lakehouse_bi.reading import TableKey

#: Weights of terms in the text of a table.
_NAME: Final = 3.0
_LABEL: Final = 1.0
_SCHEMA: Final = 1.0
_DESCRIPTION: Final = 1.0
_COLUMN_NAME: Final = 1.0
_COLUMN_LABEL: Final = 0.5
_COLUMN_DESCRIPTION: Final = 0.3
#: Weights of terms in the text of a column.
_OWN_NAME: Final = 2.0
_OWN_LABEL: Final = 1.0
_OWN_DESCRIPTION: Final = 0.5
_OF_TABLE: Final = 1.0

#: What a table's standing and layer are worth beside a best match of 1.
_STANDING: Final = {"certified": 0.1, "deprecated": -0.3}
_RAW: Final = frozenset("raw stg staging landing tmp temp bronze backup bak".split())
_LAYER: Final = -0.05


@dataclass(frozen=True, slots=True)
class TableEntry:
    """A table.

    :param schema: document, database and schema together.
    :param family: schema and name without the date of a shard.
    """

    key: TableKey
    schema: str
    family: str
    prior: float
    terms: WeightedTerms
    grams: WeightedTerms


class ColumnEntry(NamedTuple):
    """A column; ``table`` is its table's place among those of the document."""

    table: int
    name: str
    terms: WeightedTerms


class QueryEntry(NamedTuple):
    """A saved query that answers a question."""

    tables: tuple[str, ...]
    certified: bool
    terms: Mapping[str, float]


class MetricEntry(NamedTuple):
    """A metric. ``name`` holds the words of its names alone."""

    urn: str
    tables: tuple[str, ...]
    name: frozenset[str]
    terms: WeightedTerms


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """What one version of a document describes.

    :param synonyms: for each glossary term the words of each of its names.
    """

    document_id: str
    tables: list[TableEntry] = field(default_factory=list)
    columns: list[ColumnEntry] = field(default_factory=list)
    relationships: list[Record] = field(default_factory=list)
    queries: list[QueryEntry] = field(default_factory=list)
    metrics: list[MetricEntry] = field(default_factory=list)
    synonyms: list[list[frozenset[str]]] = field(default_factory=list)


def document_part(document_id: str, records: Mapping[str, Sequence[Record]]) -> DocumentPart:
    """The part of one document.

    :param records: of the document, by kind.
    """
    part = DocumentPart(document_id, relationships=list(records.get("relationship", ())))
    part.tables.extend(_table(record) for record in records.get("table", ()))
    place = {entry.key.id: number for number, entry in enumerate(part.tables)}
    for record in records.get("column", ()):
        number = place.get(record.fields["table"])
        if number is not None:
            part.columns.append(_column(record, number, part.tables[number]))
    part.queries.extend(_query(r) for r in records.get("query", ()) if r.data["question"])
    part.metrics.extend(_metric(record) for record in records.get("metric", ()))
    part.synonyms.extend(_names(record) for record in records.get("term", ()))
    return part


def _table(record: Record) -> TableEntry:
    fields, data = record.fields, record.data
    name = fields["name"]
    own = WeightedTerms()
    own.add(terms(name), _NAME)
    own.add(terms(" ".join(data["synonyms"])), _LABEL)
    own.add(terms(fields["schema"]), _SCHEMA)
    own.add(terms(data["description"]), _DESCRIPTION)
    pieces = WeightedTerms()
    pieces.add(grams(name).elements(), _NAME)
    schema = f"{record.document_id}/{fields['database']}.{fields['schema']}".lower()
    layer = _LAYER if _RAW & set(terms(f"{fields['schema']} {name}")) else 0.0
    return TableEntry(
        key=TableKey(record.document_id, fields["id"]),
        schema=schema,
        family=f"{schema}.{family(name)}",
        prior=_STANDING.get(fields["status"], 0.0) + layer,
        terms=own,
        grams=pieces,
    )


def _column(record: Record, number: int, table: TableEntry) -> ColumnEntry:
    """A column, which adds its words to those of its table."""
    fields, data = record.fields, record.data
    name = terms(fields["name"])
    label = set(terms(" ".join(data["synonyms"]))) - set(name)
    described = terms(f"{data['description']} {' '.join(data['accepted_values'])}")
    own = WeightedTerms()
    own.add(name, _OWN_NAME)
    own.add(label, _OWN_LABEL)
    own.add(described, _OWN_DESCRIPTION)
    own.add(terms(table.key.id.rpartition(".")[2]), _OF_TABLE)
    table.terms.add(name, _COLUMN_NAME)
    table.terms.add(label, _COLUMN_LABEL)
    table.terms.add(described, _COLUMN_DESCRIPTION)
    table.grams.add(grams(fields["name"]).elements(), 1.0)
    return ColumnEntry(number, fields["name"], own)


def _query(record: Record) -> QueryEntry:
    return QueryEntry(
        tuple(record.fields["tables"]),
        record.fields["status"] == "certified",
        question_terms(record.data["question"]),
    )


def _metric(record: Record) -> MetricEntry:
    fields, data = record.fields, record.data
    names = " ".join((fields["name"], data["label"], *data["synonyms"]))
    own = WeightedTerms()
    own.add(terms(names), _OWN_NAME)
    own.add(terms(data["description"]), _OWN_DESCRIPTION)
    own.add(terms(" ".join(data["inputs"])), _OWN_DESCRIPTION)
    return MetricEntry(fields["urn"], tuple(fields["tables"]), frozenset(terms(names)), own)


def _names(record: Record) -> list[frozenset[str]]:
    names = (record.fields["name"], *record.data["synonyms"])
    return [words for name in names if (words := frozenset(terms(name)))]
