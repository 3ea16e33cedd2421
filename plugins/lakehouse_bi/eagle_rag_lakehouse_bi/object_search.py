"""Finds objects of the catalogs by words: of their names, and of the passages on them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from eagle_rag_core.plugins import PackContext
from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.answers import Answer
from eagle_rag_lakehouse_bi.identifiers import question_words
from eagle_rag_lakehouse_bi.paging import page
from eagle_rag_lakehouse_bi.reading import CatalogReader, Scope
from eagle_rag_lakehouse_bi.retrieval.cache import IndexCache
from eagle_rag_lakehouse_bi.retrieval.finding import find

ObjectKind = Literal["table", "column", "metric", "query", "term"]
KINDS: Final[tuple[ObjectKind, ...]] = ("table", "column", "metric", "query", "term")
#: Kinds whose records know the passages about them.
_WITH_PASSAGES: Final = ("table", "metric", "query", "term")
_PASSAGES: Final = 30
#: Of the best passage, beside a word that names one object alone.
_PASSAGE: Final = 1.0
#: Of the table or column that names and descriptions fit best.
_DESCRIBED: Final = 0.5
#: Tables and columns found by their descriptions.
_BEST: Final = 50
_SHORT: Final = 160
#: Among equals what is certified comes first and what is deprecated last.
_STANDING: Final = {"certified": 0.1, "deprecated": -0.3}


#: Document, kind and URN of an object.
_Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class FoundObject:
    """One object, in short.

    :param table: id of the table of a column, "" for others.
    :param why: what made it match.
    """

    urn: str
    kind: str
    name: str
    table: str
    description: str
    status: str
    why: list[str]
    document_id: str
    kb_name: str


@dataclass(frozen=True, slots=True)
class ObjectPage(Answer):
    """A page of what was found, best first.

    :param total: of all pages.
    :param unmatched_words: words of the query that nothing found is named by.
    """

    query: str
    items: list[FoundObject]
    total: int
    unmatched_words: list[str]
    next_cursor: str


@dataclass(frozen=True, slots=True)
class ObjectQuery:
    """What to look for. No kinds mean all."""

    query: str
    kinds: tuple[ObjectKind, ...] = ()
    status: str = ""
    scope: Scope = field(default_factory=Scope)
    limit: int = 20
    cursor: str = ""


class ObjectSearch:
    """Searches the records of the ingested catalogs. Threads may share it.

    :param indexes: shared with whatever else searches the same catalogs.
    """

    def __init__(self, ctx: PackContext, indexes: IndexCache | None = None) -> None:
        self._ctx = ctx
        self._indexes = indexes or IndexCache()

    def find(self, query: ObjectQuery) -> ObjectPage:
        """The objects that fit ``query``.

        :raises InvalidArgument: the cursor is not valid.
        """
        words = question_words(query.query)
        reader = CatalogReader(self._ctx, query.scope)
        kinds = query.kinds or KINDS
        named = {kind: reader.find(kind, "words", words) for kind in kinds}
        frequency = Counter(w for found in named.values() for r in found for w in _own(r, words))
        place = self._places(query)
        candidates = [
            *(record for kind in kinds for record in named[kind]),
            *(r for kind in kinds if kind in _WITH_PASSAGES for r in _passed(reader, kind, place)),
        ]
        described = self._described(reader, query.query, kinds, place)
        scored: dict[_Key, tuple[float, Record]] = {}
        for record in (*candidates, *(record for _, record in described.values())):
            if not query.status or record.fields.get("status", "") == query.status:
                share, _ = described.get(_key(record), (0.0, record))
                score = _score(record, words, frequency, place) + _DESCRIBED * share
                scored[_key(record)] = (score, record)
        ranked = sorted(scored.values(), key=lambda item: (-item[0], _order(item[1])))
        shown, cursor = page(ranked, query.cursor, query.limit)
        return ObjectPage(
            query=query.query,
            items=[_found(record, words, place) for _, record in shown],
            total=len(ranked),
            unmatched_words=[w for w in words if w not in frequency],
            next_cursor=cursor,
        )

    def _described(
        self,
        reader: CatalogReader,
        query: str,
        kinds: Sequence[ObjectKind],
        place: Mapping[str, int],
    ) -> dict[_Key, tuple[float, Record]]:
        """Tables and columns that names, descriptions and values fit, each with its share of the
        best one's score."""
        if not {"table", "column"} & set(kinds):
            return {}
        found = find(self._indexes.index(reader), query, reader, place)
        records: list[tuple[float, Record]] = []
        if "table" in kinds:
            tables = found.described_tables(_BEST)
            by_key = reader.tables_of(tables)
            records += [(share, by_key[key]) for key, share in tables.items() if key in by_key]
        if "column" in kinds:
            columns = found.described_columns(_BEST)
            for key, own in reader.columns_of({key for key, _ in columns}).items():
                names = {record.fields["name"]: record for record in own}
                records += [
                    (share, names[name])
                    for (table, name), share in columns.items()
                    if table == key and name in names
                ]
        return {_key(record): (share, record) for share, record in records}

    def _places(self, query: ObjectQuery) -> dict[str, int]:
        """Ranks of the passages the library's search finds, by their ids."""
        hits = self._ctx.search.text(
            query.query,
            top_k=_PASSAGES,
            kb_name=query.scope.kb_name,
            document_ids=query.scope.document_ids,
        )
        return {hit.node_id: rank for rank, hit in enumerate(hits, start=1)}


def _passed(reader: CatalogReader, kind: ObjectKind, place: Mapping[str, int]) -> list[Record]:
    """Objects that passages found are about."""
    return reader.find(kind, "passages", place)


def _key(record: Record) -> _Key:
    return record.document_id, record.kind, record.fields["urn"]


def _score(
    record: Record, words: Sequence[str], frequency: Mapping[str, int], place: Mapping[str, int]
) -> float:
    own = _own(record, words)
    named = sum(1 / (1 + math.log(frequency[w])) for w in own if frequency[w])
    extra = len(record.fields["words"]) - len(own)
    rank = _rank(record, place)
    score = named / math.sqrt(1 + 0.3 * extra) + (_PASSAGE / (1 + rank) if rank else 0.0)
    return score + _STANDING.get(record.fields.get("status", ""), 0.0)


def _own(record: Record, words: Sequence[str]) -> set[str]:
    return set(words) & set(record.fields["words"])


def _rank(record: Record, place: Mapping[str, int]) -> int:
    """The rank of the best passage about the record, 0 when none was found."""
    ranks = [place[n] for n in record.fields.get("passages", ()) if n in place]
    return min(ranks, default=0)


def _found(record: Record, words: Sequence[str], place: Mapping[str, int]) -> FoundObject:
    rank = _rank(record, place)
    own = sorted(_own(record, words))
    why = [f"name holds {', '.join(own)}"] if own else []
    if rank:
        why.append(f"passage ranked {rank}")
    if not why:
        why.append("description or values hold words of the query")
    return FoundObject(
        urn=record.fields["urn"],
        kind=record.kind,
        name=record.fields["name"],
        table=record.fields.get("table", ""),
        description=shortened(described(record)),
        status=record.fields.get("status", ""),
        why=why,
        document_id=record.document_id,
        kb_name=record.kb_name,
    )


def described(record: Record) -> str:
    """What the catalog says of an object, whatever its kind calls that."""
    data = record.data
    texts = (data.get(key, "") for key in ("description", "definition", "question", "text"))
    return next((t for t in texts if t), "")


def shortened(text: str, longest: int = _SHORT) -> str:
    """``text`` on one line, cut with an ellipsis when it is long."""
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def _order(record: Record) -> tuple[str, str, str]:
    return record.fields["name"], record.fields["urn"], record.document_id
