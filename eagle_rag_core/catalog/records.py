"""Records of domain packs: typed, indexed facts that live and die with their document."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, false, func, insert, or_, select

from eagle_rag_core.catalog import filters, ids
from eagle_rag_core.catalog.membership import any_of
from eagle_rag_core.catalog.schema import pack_records, record_values
from eagle_rag_core.errors import PluginError
from eagle_rag_core.types import FieldValue, NewRecord, Record, Scope, Where

#: A PostgreSQL index holds texts up to about 2,700 bytes.
_MAX_TEXT = 500


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
) -> list[Record]:
    """Records inside ``scope`` that meet every condition of ``where``, oldest first."""
    query = (
        select(
            pack_records.c.kind,
            pack_records.c.fields,
            pack_records.c.data,
            pack_records.c.kb_name,
            pack_records.c.document_id,
            pack_records.c.node_id,
        )
        .where(_selected(namespace, pack, kind, where or {}, scope))
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
        .where(_selected(namespace, pack, kind, where or {}, scope))
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
    prefix: str = "",
    limit: int,
) -> list[tuple[FieldValue, int]]:
    """Distinct values of an indexed field, each with its number of records.

    :param prefix: only texts that begin so, whatever the case of ASCII letters; "" for all
        values, numbers included.
    :returns: most frequent first, then in order of the value.
    """
    number = func.count(record_values.c.record_id.distinct())
    query = (
        select(record_values.c.text_value, record_values.c.number_value, number)
        .join(pack_records, pack_records.c.record_id == record_values.c.record_id)
        .where(_values_of(namespace, pack, kind, field), _inside(scope))
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


def _indexed(pack: str, record: NewRecord) -> Iterator[dict[str, Any]]:
    for name, given in record.fields.items():
        for value in _several(given):
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


def _several(given: FieldValue | Sequence[FieldValue]) -> Sequence[FieldValue]:
    return (given,) if isinstance(given, str | int | float) else given


def _selected(
    namespace: str, pack: str, kind: str, where: Where, scope: Scope
) -> ColumnElement[bool]:
    return and_(
        pack_records.c.namespace == namespace,
        pack_records.c.pack == pack,
        pack_records.c.kind == kind,
        _inside(scope),
        *(
            pack_records.c.record_id.in_(
                select(record_values.c.record_id).where(
                    _values_of(namespace, pack, kind, name), _equals(_several(wanted))
                )
            )
            for name, wanted in where.items()
        ),
    )


def _values_of(namespace: str, pack: str, kind: str, field: str) -> ColumnElement[bool]:
    return and_(
        record_values.c.namespace == namespace,
        record_values.c.pack == pack,
        record_values.c.kind == kind,
        record_values.c.field == field,
    )


def _equals(wanted: Sequence[FieldValue]) -> ColumnElement[bool]:
    texts = [value for value in wanted if isinstance(value, str) and ids.storable(value)]
    numbers = [float(value) for value in wanted if not isinstance(value, str)]
    # An alternative without values would keep the other one from its index.
    alternatives = [any_of(record_values.c.text_value, texts)] if texts else []
    if numbers:
        alternatives.append(record_values.c.number_value.in_(numbers))
    return or_(false(), *alternatives)


def _inside(scope: Scope) -> ColumnElement[bool]:
    return or_(
        any_of(pack_records.c.kb_name, scope.kbs),
        any_of(pack_records.c.document_id, scope.documents),
    )
