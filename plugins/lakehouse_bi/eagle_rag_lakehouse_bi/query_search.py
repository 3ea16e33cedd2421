"""Finds saved queries: those that answer a question like the one asked, or read given tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from eagle_rag_core.plugins import PackContext
from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.answers import Answer
from eagle_rag_lakehouse_bi.identifiers import question_words
from eagle_rag_lakehouse_bi.paging import page
from eagle_rag_lakehouse_bi.reading import CatalogReader, Scope, TableKey
from eagle_rag_lakehouse_bi.retrieval.cache import IndexCache
from eagle_rag_lakehouse_bi.table_names import TableNames

_PASSAGES: Final = 30
_MOST_QUERIES: Final = 2_000
#: Of a query that is certified, beside one whose every word matches.
_CERTIFIED: Final = 0.25
_LONGEST_SQL: Final = 3_000


@dataclass(frozen=True, slots=True)
class FoundQuery:
    """A saved query.

    :param sql: cut to 3,000 characters, with ``truncated`` set then.
    :param gone: tables it reads that no catalog describes any more; a log alone describes none.
    """

    urn: str
    name: str
    question: str
    sql: str
    truncated: bool
    dialect: str
    status: str
    verified_by: str
    verified_at: str
    tables: list[str]
    gone: list[str]
    document_id: str
    kb_name: str


@dataclass(frozen=True, slots=True)
class QueryPage(Answer):
    """A page of queries, best first; certified ones before others that fit alike.

    :param total: of all pages.
    """

    items: list[FoundQuery]
    total: int
    next_cursor: str


@dataclass(frozen=True, slots=True)
class SavedQueryRequest:
    """What to look for: words of a question, tables, or both."""

    question: str = ""
    tables: tuple[str, ...] = ()
    status: str = ""
    scope: Scope = field(default_factory=Scope)
    limit: int = 5
    cursor: str = ""


class QuerySearch:
    """Searches the saved queries of the ingested catalogs. Threads may share it.

    :param indexes: shared with whatever else searches the same catalogs.
    """

    def __init__(self, ctx: PackContext, indexes: IndexCache | None = None) -> None:
        self._ctx = ctx
        self._indexes = indexes or IndexCache()

    def find(self, request: SavedQueryRequest) -> QueryPage:
        """The queries that fit; all of the status when neither question nor tables are given.

        :raises InvalidArgument: the cursor is not valid.
        """
        reader = CatalogReader(self._ctx, request.scope)
        names = TableNames(self._ctx, request.scope)
        words = question_words(request.question)
        place = self._places(request) if request.question else {}
        found = self._candidates(reader, request, words, place)
        if request.tables:
            wanted = [set(keys) for keys in names.find(request.tables).values()]
            read = _tables_read(found, names)
            found = [r for r in found if all(read[_key(r)] & keys for keys in wanted)]
        like = self._indexes.index(reader).like(words) if words else {}
        ranked = sorted(
            found, key=lambda r: (-_score(r, words, place, like), r.fields["name"], _key(r))
        )
        shown, cursor = page(ranked, request.cursor, request.limit)
        meanings = names.find(sorted({t for r in shown for t in r.fields["tables"]}))
        items = [_found(record, meanings) for record in shown]
        return QueryPage(items, len(ranked), cursor)

    def _candidates(
        self,
        reader: CatalogReader,
        request: SavedQueryRequest,
        words: Sequence[str],
        place: Mapping[str, int],
    ) -> list[Record]:
        if request.question:
            named = reader.find("query", "words", words, limit=_MOST_QUERIES)
            records = [*named, *reader.find("query", "passages", place)]
        else:
            records = reader.all("query", limit=_MOST_QUERIES)
        distinct = {_key(record): record for record in records}
        return [r for r in distinct.values() if request.status in ("", r.fields["status"])]

    def _places(self, request: SavedQueryRequest) -> dict[str, int]:
        hits = self._ctx.search.text(
            request.question,
            top_k=_PASSAGES,
            kb_name=request.scope.kb_name,
            document_ids=request.scope.document_ids,
        )
        return {hit.node_id: rank for rank, hit in enumerate(hits, start=1)}


def _tables_read(
    records: Sequence[Record], names: TableNames
) -> dict[tuple[str, str], set[TableKey]]:
    """The tables each query reads, as the catalogs describe them."""
    meanings = names.find(sorted({t for r in records for t in r.fields["tables"]}))
    return {_key(r): {k for t in r.fields["tables"] for k in meanings[t]} for r in records}


def _score(
    record: Record,
    words: Sequence[str],
    place: Mapping[str, int],
    like: Mapping[tuple[str, str], float],
) -> float:
    own = set(record.fields["words"])
    named = len(own & set(words)) / len(own | set(words)) if own or words else 0.0
    shared = like.get(_key(record), named)
    rank = min((place[n] for n in record.fields["passages"] if n in place), default=0)
    certified = _CERTIFIED if record.fields["status"] == "certified" else 0.0
    return shared + (1 / (1 + rank) if rank else 0.0) + certified


def _found(record: Record, meanings: Mapping[str, Sequence[TableKey]]) -> FoundQuery:
    data, fields = record.data, record.fields
    return FoundQuery(
        urn=fields["urn"],
        name=fields["name"],
        question=data["question"],
        sql=data["sql"][:_LONGEST_SQL],
        truncated=len(data["sql"]) > _LONGEST_SQL,
        dialect=data["dialect"],
        status=fields["status"],
        verified_by=data["verified_by"],
        verified_at=data["verified_at"],
        tables=list(fields["tables"]),
        gone=[t for t in fields["tables"] if not meanings[t]],
        document_id=record.document_id,
        kb_name=record.kb_name,
    )


def _key(record: Record) -> tuple[str, str]:
    return record.document_id, record.fields["urn"]
