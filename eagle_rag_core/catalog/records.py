"""Records of domain packs: typed, indexed facts that live and die with their document."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, func, insert, select

from eagle_rag_core.catalog import filters, ids
from eagle_rag_core.catalog.record_conditions import (
    inside,
    ordered,
    paired,
    selected,
    several,
    values_of,
)
from eagle_rag_core.catalog.schema import pack_records, record_values
from eagle_rag_core.errors import PluginError
from eagle_rag_core.types import FieldValue, NewRecord, Record, Scope, Where

#: A PostgreSQL index holds texts up to about 2,700 bytes.
_MAX_TEXT = 500
#: What the core notes of every record, and records can be counted by.
STAMPS: Final = frozenset({"kb_name", "document_id", "node_id"})
_RECORDS: Final = select(
    pack_records.c.kind,
    pack_records.c.fields,
    pack_records.c.data,
    pack_records.c.kb_name,
    pack_records.c.document_id,
    pack_records.c.node_id,
)


def write_records(
    tx: Connection,
    namespace: str,
    *,
    kb_name: str,
    document_id: str,
    version_id: str,
    records: Sequence[tuple[str, NewRecord]],
) -> None:
    """Store the records of a document version, each with the namespace of its pack.

    :raises PluginError: a field has a value that cannot be indexed.
    """
    if not records:
        return
    indexed = [list(_indexed(pack, record)) for pack, record in records]
    owner = {
        "namespace": namespace,
        "kb_name": kb_name,
        "document_id": document_id,
        "version_id": version_id,
    }
    rows = [
        {
            **owner,
            "pack": pack,
            "kind": record.kind,
            "node_id": record.node_id,
            "fields": dict(record.fields),
            "data": dict(record.data),
        }
        for pack, record in records
    ]
    statement = insert(pack_records).returning(
        pack_records.c.record_id, sort_by_parameter_order=True
    )
    numbers = tx.scalars(statement, rows).all()
    values = [
        {"namespace": namespace, "record_id": number, "pack": pack, "kind": record.kind, **value}
        for number, (pack, record), fields in zip(numbers, records, indexed, strict=True)
        for value in fields
    ]
    if values:
        tx.execute(insert(record_values), values)


def find(
    conn: Connection,
    namespace: str,
    pack: str,
    kind: str,
    where: Where | None = None,
    *,
    scope: Scope,
    limit: int,
    order_by: str = "",
    offset: int = 0,
) -> list[Record]:
    """Records inside ``scope`` that meet every condition of ``where``.

    :param order_by: an indexed field, with ``-`` before it for the highest values first; records
        without a value come last. "" for the oldest first.
    :param offset: how many of them are left out.
    """
    query = (
        _RECORDS.where(selected(namespace, pack, kind, where or {}, scope))
        .order_by(*(ordered(conn, order_by) if order_by else ()), pack_records.c.record_id)
        .limit(limit)
        .offset(offset)
    )
    return [Record(*row) for row in conn.execute(query)]


def find_pairs(
    conn: Connection,
    namespace: str,
    pack: str,
    kind: str,
    field: str,
    pairs: Iterable[tuple[str, FieldValue]],
    *,
    scope: Scope,
    limit: int,
) -> list[Record]:
    """Records inside ``scope`` of which a pair names the document and a value of the field,
    oldest first."""
    found = (
        select(pack_records.c.record_id)
        .join(record_values, record_values.c.record_id == pack_records.c.record_id)
        .where(values_of(namespace, pack, kind, field), paired(pairs))
    )
    query = (
        _RECORDS.where(
            selected(namespace, pack, kind, {}, scope), pack_records.c.record_id.in_(found)
        )
        .order_by(pack_records.c.record_id)
        .limit(limit)
    )
    return [Record(*row) for row in conn.execute(query)]


def count(
    conn: Connection,
    namespace: str,
    pack: str,
    kind: str,
    where: Where | None = None,
    *,
    scope: Scope,
) -> int:
    """How many records :func:`find` would find without a limit."""
    query = (
        select(func.count())
        .select_from(pack_records)
        .where(selected(namespace, pack, kind, where or {}, scope))
    )
    return conn.scalar(query) or 0


def values(
    conn: Connection,
    namespace: str,
    pack: str,
    kind: str,
    field: str,
    *,
    scope: Scope,
    where: Where | None = None,
    prefix: str = "",
    limit: int,
) -> list[tuple[FieldValue, int]]:
    """Distinct values of an indexed field, each with its number of records.

    :param where: conditions on the records that count.
    :param prefix: only texts that begin so, whatever the case of ASCII letters; "" for all
        values, numbers included.
    :returns: most frequent first, then in order of the value.
    """
    number = func.count(record_values.c.record_id.distinct())
    query = (
        select(record_values.c.text_value, record_values.c.number_value, number)
        .join(pack_records, pack_records.c.record_id == record_values.c.record_id)
        .where(*_counted(namespace, pack, kind, field, where or {}, scope))
        .group_by(record_values.c.text_value, record_values.c.number_value)
        .order_by(number.desc(), record_values.c.text_value, record_values.c.number_value)
        .limit(limit)
    )
    if prefix:
        if not ids.storable(prefix):
            return []
        query = query.where(filters.has_prefix(record_values.c.text_value, prefix[:_MAX_TEXT]))
    return [
        (_number(numeric) if text is None else text, times)
        for text, numeric, times in conn.execute(query)
    ]


def _counted(
    namespace: str, pack: str, kind: str, field: str, where: Where, scope: Scope
) -> Iterator[ColumnElement[bool]]:
    """The values of a field of records that meet conditions."""
    if where:
        # Asked of the records alone, so that a database without statistics looks up the few that
        # meet the conditions, and not every value of the field.
        yield selected(namespace, pack, kind, where, scope)
        yield record_values.c.field == field
    else:
        yield values_of(namespace, pack, kind, field)
        yield inside(scope)


def count_by(
    conn: Connection,
    namespace: str,
    pack: str,
    kind: str,
    field: str,
    where: Where | None = None,
    *,
    scope: Scope,
    limit: int,
) -> list[tuple[FieldValue, int]]:
    """How many records there are for each value of a field.

    :param field: an indexed field, or one of :data:`STAMPS`.
    :returns: most frequent first, then in order of the value.
    """
    if field not in STAMPS:
        return values(conn, namespace, pack, kind, field, scope=scope, where=where, limit=limit)
    stamp = pack_records.c[field]
    query = (
        select(stamp, func.count())
        .where(selected(namespace, pack, kind, where or {}, scope))
        .group_by(stamp)
        .order_by(func.count().desc(), stamp)
        .limit(limit)
    )
    return [(value, number) for value, number in conn.execute(query)]


def _indexed(pack: str, record: NewRecord) -> Iterator[dict[str, Any]]:
    for name, given in record.fields.items():
        for value in several(given):
            if not _indexable(value):
                raise PluginError(
                    f"Pack {pack!r} gave field {name!r} of a {record.kind!r} record a value that "
                    f"cannot be indexed: a text of more than {_MAX_TEXT} characters, one that is "
                    "not valid Unicode, or a number that is not finite. Put it into data."
                )
            text = isinstance(value, str)
            yield {
                "field": name,
                "text_value": value if text else None,
                "number_value": None if text else float(value),
            }


def _indexable(value: FieldValue) -> bool:
    if isinstance(value, str):
        return len(value) <= _MAX_TEXT and ids.storable(value)
    return math.isfinite(value)


def _number(value: float) -> float | int:
    return int(value) if value.is_integer() else value
