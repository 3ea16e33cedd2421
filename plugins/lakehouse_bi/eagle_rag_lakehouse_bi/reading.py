"""Reads the catalog's records within the scope of one question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from eagle_rag_core.plugins import PackContext
from eagle_rag_core.types import FieldValue, Record

#: Most records one lookup returns; a word that names more objects than this names nothing.
LOOKUP_LIMIT: Final = 500
#: Thirty tables are rarely wider than this together.
_MOST_COLUMNS: Final = 20_000
_MOST_TABLES: Final = 2_000
_MOST_RELATIONSHIPS: Final = 2_000
#: More files than any library of catalogs holds.
_MOST_SOURCES: Final = 100_000
#: Two documents that describe tables of one name make a logged join ambiguous.
_MOST_MEANINGS: Final = 4


class TableKey(NamedTuple):
    """A table of one document: two files may describe tables of the same name."""

    document_id: str
    id: str


@dataclass(frozen=True, slots=True)
class Scope:
    """Where to look; "" and empty mean everywhere the caller may read."""

    kb_name: str = ""
    document_ids: tuple[str, ...] = ()


class Edge(NamedTuple):
    """A relationship between two tables that are described somewhere."""

    left: TableKey
    right: TableKey
    record: Record


class CatalogReader:
    """Lookups by the indexed fields of records."""

    def __init__(self, ctx: PackContext, scope: Scope) -> None:
        self._ctx = ctx
        self._records = ctx.records
        self._scope = scope

    def tables(self, field: str, values: Iterable[str]) -> dict[TableKey, Record]:
        """Tables of which ``field`` has one of ``values``."""
        found = self._find("table", {field: list(values)})
        return {TableKey(r.document_id, r.fields["id"]): r for r in found}

    def columns_named(self, word: str) -> list[Record]:
        """Columns whose name holds ``word``."""
        return self._find("column", {"words": [word]})

    def tables_of(self, keys: Iterable[TableKey]) -> dict[TableKey, Record]:
        """The tables of these keys, as far as they are in the scope."""
        found = self._paired("table", "id", keys, limit=_MOST_TABLES)
        return {TableKey(r.document_id, r.fields["id"]): r for r in found}

    def columns_of(self, tables: Iterable[TableKey]) -> dict[TableKey, list[Record]]:
        """The columns of tables, in their order."""
        columns: defaultdict[TableKey, list[Record]] = defaultdict(list)
        for record in self._paired("column", "table", tables, limit=_MOST_COLUMNS):
            columns[TableKey(record.document_id, record.fields["table"])].append(record)
        for found in columns.values():
            found.sort(key=lambda record: record.data["place"])
        return columns

    def relationships(self, tables: Iterable[TableKey]) -> list[Edge]:
        """Relationships from or to any of the tables, each once.

        A relationship is between tables of its own document; where that describes none of the
        name, as a log of queries does not, between those another document describes.
        """
        keys = set(tables)
        leaves = sorted({leaf_of(key.id) for key in keys})
        most = _MOST_RELATIONSHIPS
        own = _distinct(
            self._paired("relationship", "from_table", keys, limit=most)
            + self._paired("relationship", "to_table", keys, limit=most)
        )
        foreign = _distinct(
            self.find("relationship", "from_leaf", leaves, limit=most)
            + self.find("relationship", "to_leaf", leaves, limit=most)
        )
        known = self._described({leaf for record in foreign for leaf in _leaves(record)})
        within = [_own_edge(record) for record in own if not record.fields["from_leaf"]]
        across = [edge for record in foreign for edge in _edges(record, known)]
        return [e for e in (*within, *across) if e.left in keys or e.right in keys]

    def find(
        self, kind: str, field: str, values: Iterable[FieldValue], *, limit: int = LOOKUP_LIMIT
    ) -> list[Record]:
        """Records of ``kind`` of which ``field`` has one of ``values``."""
        return self._find(kind, {field: list(values)}, limit=limit)

    def sources(self) -> list[Record]:
        """One record for each catalog file, which holds a hash of its content."""
        return self._find("source", {}, limit=_MOST_SOURCES)

    def within(self, document_ids: Sequence[str]) -> CatalogReader:
        """A reader of these documents, as far as they are in the scope."""
        scope = Scope(self._scope.kb_name, tuple(document_ids))
        return CatalogReader(self._ctx, scope)

    def all(self, kind: str, *, limit: int) -> list[Record]:
        """The records of ``kind``, ``limit`` at most."""
        return self._find(kind, {}, limit=limit)

    def _described(self, leaves: Iterable[str]) -> dict[str, list[TableKey]]:
        """The tables that are described, by the last part of their names."""
        found: defaultdict[str, list[TableKey]] = defaultdict(list)
        for record in self._find("table", {"leaf": sorted(leaves)}, limit=_MOST_RELATIONSHIPS):
            key = TableKey(record.document_id, record.fields["id"])
            found[record.fields["leaf"]].append(key)
        return found

    def metrics(self, field: str, values: Iterable[str]) -> list[Record]:
        """Metrics of which ``field`` has one of ``values``."""
        return self._find("metric", {field: list(values)})

    def _paired(
        self, kind: str, field: str, keys: Iterable[TableKey], *, limit: int
    ) -> list[Record]:
        """Records of the documents of tables of which ``field`` has the table's id."""
        documents = self._scope.document_ids
        pairs = sorted({key for key in keys if not documents or key.document_id in documents})
        if not pairs:
            return []
        return self._records.find_pairs(
            kind, field, pairs, kb_name=self._scope.kb_name, limit=limit
        )

    def _find(
        self, kind: str, where: dict[str, Sequence[FieldValue]], *, limit: int = LOOKUP_LIMIT
    ) -> list[Record]:
        if not all(where.values()):
            return []
        return self._records.find(
            kind,
            where,
            kb_name=self._scope.kb_name,
            document_ids=self._scope.document_ids,
            limit=limit,
        )


def leaf_of(table: str) -> str:
    """The last part of a table's id."""
    return table.rpartition(".")[2]


def same_table(one: str, other: str) -> bool:
    """Whether two ids may name one table: they are equal, or one has more parts in front."""
    return one == other or one.endswith(f".{other}") or other.endswith(f".{one}")


def _own_edge(record: Record) -> Edge:
    """A relationship between tables of its own document."""
    document, fields = record.document_id, record.fields
    left, right = fields["from_table"], fields["to_table"]
    return Edge(TableKey(document, left), TableKey(document, right), record)


def _leaves(relationship: Record) -> tuple[str, str]:
    return relationship.fields["from_leaf"], relationship.fields["to_leaf"]


def _edges(record: Record, known: Mapping[str, Sequence[TableKey]]) -> Iterator[Edge]:
    """What a relationship joins, of the tables ``known`` by the last part of their names."""
    left = _meant(record, record.fields["from_table"], known)
    right = _meant(record, record.fields["to_table"], known)
    pairs = [Edge(one, other, record) for one in left for other in right]
    within = [edge for edge in pairs if edge.left.document_id == edge.right.document_id]
    yield from (within or pairs)[:_MOST_MEANINGS]


def _meant(record: Record, table: str, known: Mapping[str, Sequence[TableKey]]) -> list[TableKey]:
    candidates = known.get(leaf_of(table), ())
    own = TableKey(record.document_id, table)
    if own in candidates:
        return [own]
    return [key for key in candidates if same_table(key.id, table)]


def _distinct(relationships: Iterable[Record]) -> list[Record]:
    return list({_identity(record): record for record in relationships}.values())


def _identity(record: Record) -> tuple[object, ...]:
    return (
        record.document_id,
        record.fields["from_table"],
        record.fields["to_table"],
        tuple(record.data["from_columns"]),
        tuple(record.data["to_columns"]),
        record.data["condition"],
        record.data["role"],
    )
