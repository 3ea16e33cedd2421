"""The ingested catalog files: what each is, how much it describes, what could not be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from eagle_rag_core.plugins import PackContext
from eagle_rag_lakehouse_bi.answers import Answer
from eagle_rag_lakehouse_bi.paging import page
from eagle_rag_lakehouse_bi.reading import CatalogReader, Scope

_MOST_SOURCES: Final = 2_000
_MOST_PROBLEMS: Final = 10


@dataclass(frozen=True, slots=True)
class SourceCounts:
    """How many objects a file describes; ``problems`` are those that could not be read."""

    tables: int
    columns: int
    relationships: int
    metrics: int
    queries: int
    terms: int
    rules: int
    problems: int


@dataclass(frozen=True, slots=True)
class CatalogSource:
    """One catalog file.

    :param version: a hash of all it describes: equal as long as nothing changed.
    :param problems: the first of the objects that could not be read, one sentence each.
    """

    name: str
    format: str
    version: str
    counts: SourceCounts
    problems: list[str]
    document_id: str
    kb_name: str


@dataclass(frozen=True, slots=True)
class SourcePage(Answer):
    """A page of catalog files, by name.

    :param total: of all pages.
    """

    items: list[CatalogSource]
    total: int
    next_cursor: str


class SourceLister:
    """Lists catalog files."""

    def __init__(self, ctx: PackContext) -> None:
        self._ctx = ctx

    def list(self, scope: Scope, limit: int, cursor: str) -> SourcePage:
        """A page of the catalog files in ``scope``.

        :raises InvalidArgument: the cursor is not valid.
        """
        records = CatalogReader(self._ctx, scope).all("source", limit=_MOST_SOURCES)
        records.sort(key=lambda r: (r.fields["name"], r.document_id))
        shown, next_cursor = page(records, cursor, limit)
        items = [
            CatalogSource(
                name=record.fields["name"],
                format=record.fields["format"],
                version=record.data["hash"],
                counts=SourceCounts(**record.data["counts"]),
                problems=record.data["problems"][:_MOST_PROBLEMS],
                document_id=record.document_id,
                kb_name=record.kb_name,
            )
            for record in shown
        ]
        return SourcePage(items, len(records), next_cursor)
