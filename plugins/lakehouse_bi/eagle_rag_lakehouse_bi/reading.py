"""Reads the catalog's records within the scope of one question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from eagle_rag_core.plugins import PackContext
from eagle_rag_core.types import FieldValue, Record

#: Most records one lookup returns; a word that names more objects than this names nothing.
LOOKUP_LIMIT: Final = 500
#: Thirty tables are rarely wider than this together.
_MOST_COLUMNS: Final = 20_000


class TableKey(NamedTuple):
    """A table of one document: two files may describe tables of the same name."""

    document_id: str
    id: str


@dataclass(frozen=True, slots=True)
class Scope:
    """Where to look; "" and empty mean everywhere the caller may read."""

    kb_name: str = ""
    document_ids: tuple[str, ...] = ()


class CatalogReader:
    """Lookups by the indexed fields of records."""

    def __init__(self, ctx: PackContext, scope: Scope) -> None:
        self._records = ctx.records
        self._scope = scope

    def tables(self, field: str, values: Iterable[str]) -> dict[TableKey, Record]:
        """Tables of which ``field`` has one of ``values``."""
        found = self._find("table", {field: list(values)})
        return {TableKey(r.document_id, r.fields["id"]): r for r in found}

    def columns_named(self, word: str) -> list[Record]:
        """Columns whose name holds ``word``."""
        return self._find("column", {"words": [word]})

    def columns_of(self, tables: Iterable[TableKey]) -> dict[TableKey, list[Record]]:
        """The columns of tables, in their order."""
        wanted = set(tables)
        columns: defaultdict[TableKey, list[Record]] = defaultdict(list)
        ids = sorted({key.id for key in wanted})
        for record in self._find("column", {"table": ids}, limit=_MOST_COLUMNS):
            key = TableKey(record.document_id, record.fields["table"])
            if key in wanted:
                columns[key].append(record)
        for found in columns.values():
            found.sort(key=lambda record: record.data["place"])
        return columns

    def relationships(self, tables: Iterable[TableKey]) -> list[Record]:
        """Relationships from or to any of the tables, each once."""
        ids = [key.id for key in tables]
        outgoing = self._find("relationship", {"from_table": ids}, limit=LOOKUP_LIMIT * 4)
        incoming = self._find("relationship", {"to_table": ids}, limit=LOOKUP_LIMIT * 4)
        return list({_identity(record): record for record in (*outgoing, *incoming)}.values())

    def metrics(self, field: str, values: Iterable[str]) -> list[Record]:
        """Metrics of which ``field`` has one of ``values``."""
        return self._find("metric", {field: list(values)})

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


def ends(relationship: Record) -> tuple[TableKey, TableKey]:
    """The tables a relationship record leads from and to."""
    document, fields = relationship.document_id, relationship.fields
    return TableKey(document, fields["from_table"]), TableKey(document, fields["to_table"])


def _identity(record: Record) -> tuple[object, ...]:
    return (
        record.document_id,
        record.fields["from_table"],
        record.fields["to_table"],
        tuple(record.data["from_columns"]),
        tuple(record.data["to_columns"]),
    )
