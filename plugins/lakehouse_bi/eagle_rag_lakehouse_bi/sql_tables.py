"""The tables a statement reads, as the catalogs describe them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.joins import UniqueKeys, unique_keys
from eagle_rag_lakehouse_bi.reading import CatalogReader, Edge, TableKey
from eagle_rag_lakehouse_bi.table_names import TableNames

if TYPE_CHECKING:
    from sqlglot import exp

    from eagle_rag_lakehouse_bi.readers.query_joins import Join


class StatementTables:
    """Looks up what the names of tables in one statement mean.

    ``meanings`` has, by the name the statement uses, all tables it may mean.
    """

    def __init__(self, tree: exp.Expr, names: TableNames, reader: CatalogReader) -> None:
        from eagle_rag_lakehouse_bi.readers.query_joins import tables_of

        self._reader = reader
        self.meanings: Mapping[str, Sequence[TableKey]] = names.find(tables_of(tree))
        self.keys = {key for keys in self.meanings.values() for key in keys}

    @cached_property
    def records(self) -> dict[TableKey, Record]:
        """The record of each table."""
        found = self._reader.tables("id", sorted({key.id for key in self.keys}))
        return {key: record for key, record in found.items() if key in self.keys}

    @cached_property
    def columns(self) -> dict[TableKey, list[Record]]:
        """The columns of each table, in order."""
        return dict(self._reader.columns_of(self.keys))

    @cached_property
    def edges(self) -> list[Edge]:
        """What the catalogs know of joins from or to the tables."""
        return self._reader.relationships(self.keys)

    @cached_property
    def unique(self) -> UniqueKeys:
        """The keys of the tables."""
        return unique_keys(self.records, self.columns)

    @cached_property
    def known_columns(self) -> dict[str, frozenset[str] | None]:
        """Columns by the name the statement has for a table: those of all tables it may mean, in
        lower case, with their synonyms; ``None`` where they are not known."""
        known: dict[str, frozenset[str] | None] = {}
        for name, keys in self.meanings.items():
            columns = [self.columns[key] for key in keys if self.columns.get(key)]
            texts = (
                text.lower()
                for listed in columns
                for column in listed
                for text in (column.fields["name"], *column.data["synonyms"])
            )
            # A table without columns in one catalog may have any.
            known[name] = frozenset(texts) if keys and len(columns) == len(keys) else None
        return known

    def between(self, join: Join) -> tuple[Edge | None, list[Edge]]:
        """What is known of a join of the statement: the relationship it follows, and all there
        are between its tables."""
        left, right = set(self.meanings[join.left]), set(self.meanings[join.right])
        stated = {frozenset(((join.left, a), (join.right, b))) for a, b in join.columns}
        others = []
        for edge in self.edges:
            forward = edge.left in left and edge.right in right
            if not forward and not (edge.left in right and edge.right in left):
                continue
            own, other = (join.left, join.right) if forward else (join.right, join.left)
            data = edge.record.data
            pairs = zip(data["from_columns"], data["to_columns"], strict=True)
            needed = {frozenset(((own, a.lower()), (other, b.lower()))) for a, b in pairs}
            others.append(edge)
            if needed and needed <= stated:
                return edge, others
        return None, others
