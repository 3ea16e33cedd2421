"""The objects of one version of a document, reduced to what questions are ranked by.

A table is found by its own names, by what describes it, and by its columns. Tables that hold one
relation in pieces (``events_20240101``, ``events_20240102`` …) stand as one. Weights were tried
coarsely on Spider and BIRD.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.reading import TableKey
from eagle_rag_lakehouse_bi.retrieval.postings import Numbers, Texts
from eagle_rag_lakehouse_bi.retrieval.terms import (
    WeightedTerms,
    family,
    grams,
    question_terms,
    terms,
)

#: Weights of terms in the text of a table.
_NAME: Final = 4.0
_NAME_GRAMS: Final = 3.0
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
#: So many tables of one family and with the same columns are pieces of one relation.
_FEWEST_SHARDS: Final = 3
#: What a table's standing and layer are worth beside a best match of 1.
_STANDING: Final = {"certified": 0.1, "deprecated": -0.3}
_RAW: Final = frozenset("raw stg staging landing tmp temp bronze backup bak".split())
_LAYER: Final = -0.05


class TableEntry(NamedTuple):
    """A table.

    :param schema: document, database and schema together.
    :param prior: what its standing and layer add to its score.
    :param shards: ids of the tables it stands for beside itself.
    :param names: the terms of its name and of each synonym.
    """

    key: TableKey
    schema: str
    prior: float
    shards: tuple[str, ...]
    names: tuple[frozenset[str], ...]


class ColumnEntry(NamedTuple):
    """A column.

    :param table: its table's place among those of the part.
    :param is_key: it identifies rows or refers to another table.
    """

    table: int
    name: str
    is_key: bool


class Join(NamedTuple):
    """A relationship.

    :param foreign: another document describes its tables, perhaps under fuller names.
    """

    left: str
    right: str
    foreign: bool


class SavedQuestion(NamedTuple):
    """A saved query that answers a question, with the tables it reads."""

    urn: str
    tables: tuple[str, ...]
    certified: bool


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """What one version of a document describes; columns stand by their tables, in their order.

    :param synonyms: for each glossary term the terms of each of its names.
    """

    document_id: str
    tables: tuple[TableEntry, ...]
    columns: tuple[ColumnEntry, ...]
    joins: tuple[Join, ...]
    questions: tuple[SavedQuestion, ...]
    synonyms: tuple[tuple[frozenset[str], ...], ...]
    table_terms: Texts
    table_grams: Texts
    column_terms: Texts
    question_terms: Texts

    @property
    def size(self) -> int:
        """How many objects it holds: what it weighs in a cache."""
        return len(self.tables) + len(self.columns) + len(self.questions) + 1


def document_part(document_id: str, records: Mapping[str, Sequence[Record]]) -> DocumentPart:
    """The part of one document.

    :param records: of the document, by kind.
    """
    columns: defaultdict[str, list[Record]] = defaultdict(list)
    for record in records.get("column", ()):
        columns[record.fields["table"]].append(record)
    for own in columns.values():
        own.sort(key=lambda record: record.data["place"])
    joins = tuple(_joins(records.get("relationship", ())))
    builder = _PartBuilder(_referring(records.get("relationship", ())))
    for table, shards in _relations(records.get("table", ()), columns):
        builder.add(table, shards, columns[table.fields["id"]])
    asked = [record for record in records.get("query", ()) if record.data["question"]]
    return DocumentPart(
        document_id=document_id,
        tables=tuple(builder.tables),
        columns=tuple(builder.columns),
        joins=joins,
        questions=tuple(
            SavedQuestion(
                r.fields["urn"], tuple(r.fields["tables"]), r.fields["status"] == "certified"
            )
            for r in asked
        ),
        synonyms=tuple(
            _names(r.fields["name"], r.data["synonyms"]) for r in records.get("term", ())
        ),
        table_terms=Texts.of(builder.table_terms),
        table_grams=Texts.of(builder.table_grams),
        column_terms=Texts.of(builder.column_terms),
        question_terms=Texts.of([question_terms(r.data["question"]) for r in asked]),
    )


class _PartBuilder:
    """Collects tables with their columns.

    :param referring: columns that refer to another table, as (table, column) in lower case.
    """

    def __init__(self, referring: set[tuple[str, str]]) -> None:
        self._referring = referring
        self.tables: list[TableEntry] = []
        self.columns: list[ColumnEntry] = []
        self.table_terms: list[WeightedTerms] = []
        self.table_grams: list[WeightedTerms] = []
        self.column_terms: list[WeightedTerms] = []

    def add(self, record: Record, shards: tuple[str, ...], columns: Sequence[Record]) -> None:
        fields, data = record.fields, record.data
        name = family(fields["name"]) if shards else fields["name"]
        label = terms(" ".join(data["synonyms"]))
        own, pieces = WeightedTerms(), WeightedTerms()
        own.add(terms(name), _NAME)
        own.add(label, _LABEL)
        own.add(terms(fields["schema"]), _SCHEMA)
        own.add(terms(data["description"]), _DESCRIPTION)
        pieces.add(grams(name).elements(), _NAME_GRAMS)
        schema = f"{record.document_id}/{fields['database']}.{fields['schema']}".lower()
        layer = _LAYER if _RAW & set(terms(f"{fields['schema']} {name}")) else 0.0
        entry = TableEntry(
            key=TableKey(record.document_id, fields["id"]),
            schema=schema,
            prior=_STANDING.get(fields["status"], 0.0) + layer,
            shards=shards,
            names=_names(name, data["synonyms"]),
        )
        key = {column.lower() for column in data["primary_key"]}
        for column in columns:
            self._add_column(column, key, terms(name), own, pieces)
        self.tables.append(entry)
        self.table_terms.append(own)
        self.table_grams.append(pieces)

    def _add_column(
        self,
        record: Record,
        key: set[str],
        table: Sequence[str],
        table_terms: WeightedTerms,
        table_grams: WeightedTerms,
    ) -> None:
        """A column, which adds its words to those of its table."""
        fields, data = record.fields, record.data
        name = terms(fields["name"])
        label = set(terms(" ".join(data["synonyms"]))) - set(name)
        described = terms(f"{data['description']} {' '.join(data['accepted_values'])}")
        own = WeightedTerms()
        own.add(name, _OWN_NAME)
        own.add(label, _OWN_LABEL)
        own.add(described, _OWN_DESCRIPTION)
        own.add(table, _OF_TABLE)
        table_terms.add(name, _COLUMN_NAME)
        table_terms.add(label, _COLUMN_LABEL)
        table_terms.add(described, _COLUMN_DESCRIPTION)
        table_grams.add(grams(fields["name"]).elements(), 1.0)
        plain = fields["name"].lower()
        is_key = plain in key or (fields["table"], plain) in self._referring
        self.columns.append(ColumnEntry(len(self.tables), fields["name"], is_key))
        self.column_terms.append(own)


def _relations(
    tables: Iterable[Record], columns: Mapping[str, Sequence[Record]]
) -> list[tuple[Record, tuple[str, ...]]]:
    """Each table, and the newest of the pieces of a relation with the ids of the others."""
    pieces: defaultdict[tuple[object, ...], list[Record]] = defaultdict(list)
    for record in tables:
        fields = record.fields
        name = fields["name"].lower()
        alone = family(name) == name
        alike = () if alone else tuple(c.fields["name"] for c in columns.get(fields["id"], ()))
        place = fields["id"] if alone else (fields["database"], fields["schema"], family(name))
        pieces[place, alike].append(record)
    found: list[tuple[Record, tuple[str, ...]]] = []
    for records in pieces.values():
        if len(records) < _FEWEST_SHARDS:
            found += [(record, ()) for record in records]
            continue
        *others, newest = sorted(records, key=lambda record: record.fields["name"])
        found.append((newest, tuple(record.fields["id"] for record in others)))
    return found


def _joins(relationships: Iterable[Record]) -> Iterator[Join]:
    """Joins that something states; those that names merely suggest are left out."""
    for record in relationships:
        fields = record.fields
        if fields["evidence"] != "inferred":
            yield Join(fields["from_table"], fields["to_table"], bool(fields["from_leaf"]))


def _referring(relationships: Iterable[Record]) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for record in relationships:
        fields, data = record.fields, record.data
        found |= {(fields["from_table"], c.lower()) for c in data["from_columns"]}
        found |= {(fields["to_table"], c.lower()) for c in data["to_columns"]}
    return found


def _names(name: str, synonyms: Iterable[str]) -> tuple[frozenset[str], ...]:
    """The terms of each name of an object."""
    return tuple(words for text in (name, *synonyms) if (words := frozenset(terms(text))))


def column_owners(part: DocumentPart) -> Numbers:
    """The table of each column, by its place in the part."""
    return np.fromiter((c.table for c in part.columns), np.int64, len(part.columns))


def key_flags(part: DocumentPart) -> NDArray[np.bool_]:
    """Which columns are keys."""
    return np.fromiter((c.is_key for c in part.columns), np.bool_, len(part.columns))
