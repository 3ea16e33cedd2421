"""Conditions and orders of records, in SQL. Names and values are parameters, never text of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Float,
    UnaryExpression,
    and_,
    asc,
    cast,
    collate,
    desc,
    false,
    func,
    or_,
    select,
    tuple_,
)

from eagle_rag_core.catalog import ids
from eagle_rag_core.catalog.membership import any_of, elements
from eagle_rag_core.catalog.schema import pack_records, record_values
from eagle_rag_core.types import FieldValue, Scope, Where

#: Of every id, see :func:`~eagle_rag_core.catalog.ids.is_id`.
_ID_LENGTH: Final = 32


def several(given: FieldValue | Sequence[FieldValue]) -> Sequence[FieldValue]:
    """A value or several, as several."""
    return (given,) if isinstance(given, str | int | float) else given


def selected(
    namespace: str, pack: str, kind: str, where: Where, scope: Scope
) -> ColumnElement[bool]:
    """Records of a kind inside ``scope`` that meet every condition of ``where``."""
    return and_(
        pack_records.c.namespace == namespace,
        pack_records.c.pack == pack,
        pack_records.c.kind == kind,
        inside(scope),
        *conditions(namespace, pack, kind, where),
    )


def conditions(namespace: str, pack: str, kind: str, where: Where) -> Iterator[ColumnElement[bool]]:
    """What ``where`` asks of records."""
    for name, wanted in where.items():
        of_field = values_of(namespace, pack, kind, name)
        matching = select(record_values.c.record_id).where(of_field, equals(several(wanted)))
        yield pack_records.c.record_id.in_(matching)


def ordered(conn: Connection, order_by: str) -> Iterator[UnaryExpression[Any]]:
    """Records with a value first, by the lowest of their values or the highest."""
    name = order_by.removeprefix("-")
    extreme, direction = (func.max, desc) if order_by.startswith("-") else (func.min, asc)
    text: ColumnElement[str] = record_values.c.text_value
    if conn.dialect.name == "postgresql":
        text = collate(text, "C")  # as SQLite orders
    keys = [
        select(extreme(column))
        .where(record_values.c.record_id == pack_records.c.record_id, record_values.c.field == name)
        .scalar_subquery()
        for column in (record_values.c.number_value, text)
    ]
    yield asc(and_(*(key.is_(None) for key in keys)))
    yield from (direction(key) for key in keys)


def paired(pairs: Iterable[tuple[str, FieldValue]]) -> ColumnElement[bool]:
    """Document and value, of a join of records and values, are one of the pairs."""
    known = [pair for pair in pairs if ids.is_id(pair[0])]
    texts = [pair for pair in known if isinstance(pair[1], str) and ids.storable(pair[1])]
    numbers = [pair for pair in known if not isinstance(pair[1], str) and math.isfinite(pair[1])]
    return or_(false(), *(_one_of(some) for some in (texts, numbers) if some))


def _one_of(pairs: Sequence[tuple[str, FieldValue]]) -> ColumnElement[bool]:
    """:param pairs: whose values are all texts, or all numbers."""
    # One parameter for all: an id has a fixed length, and the value is the rest.
    if isinstance(pairs[0][1], str):
        pair = elements(f"{document_id}{value}" for document_id, value in pairs)
        column: ColumnElement[Any] = record_values.c.text_value
        rest: ColumnElement[Any] = func.substr(pair, _ID_LENGTH + 1)
    else:
        pair = elements(f"{document_id}{float(value)!r}" for document_id, value in pairs)
        column = record_values.c.number_value
        rest = cast(func.substr(pair, _ID_LENGTH + 1), Float)
    wanted = select(func.substr(pair, 1, _ID_LENGTH), rest)
    return and_(
        equals([value for _, value in pairs]),  # which an index finds
        tuple_(pack_records.c.document_id, column).in_(wanted),
    )


def values_of(namespace: str, pack: str, kind: str, field: str) -> ColumnElement[bool]:
    """The indexed values of a field."""
    return and_(
        record_values.c.namespace == namespace,
        record_values.c.pack == pack,
        record_values.c.kind == kind,
        record_values.c.field == field,
    )


def equals(wanted: Sequence[FieldValue]) -> ColumnElement[bool]:
    """An indexed value is one of these."""
    texts = [value for value in wanted if isinstance(value, str) and ids.storable(value)]
    numbers = [float(value) for value in wanted if not isinstance(value, str)]
    # An alternative without values would keep the other one from its index.
    alternatives = [any_of(record_values.c.text_value, texts)] if texts else []
    if finite := [repr(number) for number in numbers if math.isfinite(number)]:
        found = select(cast(elements(finite), Float))
        alternatives.append(record_values.c.number_value.in_(found))
    return or_(false(), *alternatives)


def inside(scope: Scope) -> ColumnElement[bool]:
    """Records of a knowledge base or document of the scope."""
    return or_(
        any_of(pack_records.c.kb_name, scope.kbs),
        any_of(pack_records.c.document_id, scope.documents),
    )
