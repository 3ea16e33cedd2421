"""Everything the catalogs say about single objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.answers import ColumnContext
from eagle_rag_lakehouse_bi.identifiers import question_words
from eagle_rag_lakehouse_bi.joins import JoinGraph, unique_keys
from eagle_rag_lakehouse_bi.object_answers import ObjectDetail
from eagle_rag_lakehouse_bi.object_search import described
from eagle_rag_lakehouse_bi.objects import Freshness
from eagle_rag_lakehouse_bi.reading import CatalogReader, TableKey, leaf_of, same_table
from eagle_rag_lakehouse_bi.wording import state_in_words

_KINDS: Final = frozenset({"table", "column", "metric", "query", "term", "rule", "exposure"})
_MOST_JOINS: Final = 40


def records_of(reader: CatalogReader, urn: str) -> list[Record]:
    """The records of a URN; several where two documents describe it."""
    scheme, _, rest = urn.partition("://")
    kind = rest.split("/", 2)[1] if rest.count("/") >= 2 else ""
    return reader.find(kind, "urn", [urn]) if scheme == "lh" and kind in _KINDS else []


def detail_of(reader: CatalogReader, record: Record, column_filter: str) -> ObjectDetail:
    """All that is known of the object of a record.

    :param column_filter: words; only columns named by one of them, and keys, are shown.
    """
    words = question_words(column_filter)
    data, fields = record.data, record.fields
    origin = data.get("origin", {})
    sql = data.get("sql") or data.get("formula") or data.get("expression") or ""
    detail = ObjectDetail(
        urn=fields["urn"],
        kind=record.kind,
        name=fields.get("name", ""),
        type=fields.get("kind", "") or fields.get("type", "") or data.get("dialect", ""),
        description=described(record) if record.kind != "table" else data["description"],
        status=fields.get("status", ""),
        owner=data.get("owner", ""),
        tags=data.get("tags", []),
        synonyms=data.get("synonyms", []),
        relation=data.get("relation", ""),
        sql=data["definition"] if record.kind == "table" else sql,
        primary_key=data.get("primary_key", []),
        columns=[],
        omitted_columns=0,
        joins=[],
        metrics=[],
        made_from=list(fields.get("tables", ())),
        feeds=[],
        rules=[],
        states=[],
        continued=False,
        shortened=False,
        file=origin.get("file", ""),
        line=origin.get("line", 0),
        format=origin.get("format", ""),
        hash=data["hash"],
        node_id=record.node_id,
        document_id=record.document_id,
        kb_name=record.kb_name,
    )
    return _with_table(reader, detail, record, words) if record.kind == "table" else detail


def _with_table(
    reader: CatalogReader, detail: ObjectDetail, record: Record, words: Sequence[str]
) -> ObjectDetail:
    """The details of a table, with what stands around it."""
    key = TableKey(record.document_id, record.fields["id"])
    columns = reader.columns_of([key]).get(key, [])
    edges = reader.relationships([key])
    keys = {c.lower() for c in record.data["primary_key"]}
    joined = {c.lower() for e in edges if e.left == key for c in e.record.data["from_columns"]}
    shown = [c for c in columns if _wanted(c, words, keys | joined)]
    neighbours = {k for e in edges for k in (e.left, e.right)}
    around = reader.tables("id", [k.id for k in neighbours])
    unique = unique_keys(around, reader.columns_of(around))
    hints = list(JoinGraph(edges).hints(neighbours, unique))
    return replace(
        detail,
        columns=[_column(c, keys, joined) for c in shown],
        omitted_columns=len(columns) - len(shown),
        joins=hints[:_MOST_JOINS],
        metrics=[m.fields["name"] for m in reader.metrics("tables", [key.id])],
        made_from=[
            r.fields["source_table"] for r in reader.find("lineage", "target_table", [key.id])
        ],
        feeds=[r.fields["target_table"] for r in reader.find("lineage", "source_table", [key.id])],
        rules=[r.data["text"] for r in reader.find("rule", "table", [key.id])],
        states=list(_states(reader, key.id)),
    )


def _wanted(column: Record, words: Sequence[str], essential: set[str]) -> bool:
    name = column.fields["name"].lower()
    return not words or name in essential or bool(set(words) & set(column.fields["words"]))


def _column(column: Record, keys: set[str], joined: set[str]) -> ColumnContext:
    name, data = column.fields["name"], column.data
    key = "primary" if name.lower() in keys else "foreign" if name.lower() in joined else ""
    return ColumnContext(
        name=name,
        type=data["type"],
        description=_with_expression(data),
        key=key or ("unique" if data["unique"] else ""),
        values=data["accepted_values"],
    )


def _with_expression(data: Any) -> str:
    computed = f"Computed as {data['expression']}." if data["expression"] else ""
    return " ".join(filter(None, (data["description"], computed)))


def _states(reader: CatalogReader, table: str) -> Iterator[str]:
    for record in reader.find("freshness", "leaf", [leaf_of(table)]):
        if same_table(record.fields["table"], table):
            data = record.data
            state = Freshness(
                table=record.fields["table"],
                loaded_at=data["loaded_at"],
                status=record.fields["status"],
                rows=data["rows"],
                failed=tuple(data["failed"]),
                warn_after=data["warn_after"],
                error_after=data["error_after"],
            )
            yield f"{state_in_words(state)} (by {data['source']})"
