"""Typed filter conditions as SQL expressions over ``documents``.

Values only ever become bound parameters, field names come from a list or match a strict
pattern, so no value is ever read as query text. What each operator means:

* text fields and ``metadata.<key>``: ``eq``, ``ne``, ``in`` compare exactly; ``contains`` and
  ``prefix`` ignore the case of ASCII letters; ``gt`` … ``le`` compare as numbers where both
  sides are plain decimals (metadata only), else as text.
* ``tags``: ``eq``, ``in``, ``contains`` = has (one of) the tag(s); ``ne`` = has not; ``prefix`` =
  has a tag that begins so.
* ``source_uri``: what the caller is shown of it.
* ``created_at``, ``updated_at``: the value is an ISO 8601 date, which stands for that whole day
  in UTC, or a date and time (UTC unless it names an offset); ``prefix`` compares the ISO text.

A document without the metadata key meets ``ne`` and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Double,
    Text,
    and_,
    case,
    cast,
    exists,
    not_,
    or_,
)

from eagle_rag_core.catalog import ids
from eagle_rag_core.catalog.membership import any_of
from eagle_rag_core.catalog.schema import document_tags, documents
from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.types import FILTER_FIELDS, Condition, FilterOp

_METADATA = "metadata."
_METADATA_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,63}")
_TEXT_COLUMNS: dict[str, ColumnElement[str]] = {
    "id": documents.c.document_id,
    "title": documents.c.title,
    "source_type": documents.c.source_type,
    "language": documents.c.language,
}
_TIME_COLUMNS: dict[str, ColumnElement[str]] = {
    "created_at": documents.c.created_at,
    "updated_at": documents.c.updated_at,
}
#: Below SQLite's limit for LIKE patterns even when every character needs an escape.
_MAX_VALUE = 2000
_COMPARE: dict[FilterOp, Callable[[Any, Any], ColumnElement[bool]]] = {
    FilterOp.GT: lambda left, right: left > right,
    FilterOp.GE: lambda left, right: left >= right,
    FilterOp.LT: lambda left, right: left < right,
    FilterOp.LE: lambda left, right: left <= right,
}
#: A plain decimal, written so that Python and PostgreSQL read the pattern alike; bounded, so
#: that no database overflows when it converts one.
_DECIMAL = r"\A-?[0-9]{1,30}(\.[0-9]{1,30})?\Z"


def matching(
    conditions: Sequence[Condition], source_uri: ColumnElement[str] = documents.c.source_uri
) -> list[ColumnElement[bool]]:
    """SQL expressions over ``documents``, all of which must hold.

    :param source_uri: what conditions on that field compare with; see :class:`SourceNames`.
    :raises InvalidArgument: an unknown field or operator, or a value the field cannot have.
    """
    return [_expression(condition, source_uri) for condition in conditions]


def has_prefix(column: ColumnElement[str], value: str) -> ColumnElement[bool]:
    """``column`` begins with ``value``; the case of ASCII letters does not matter."""
    return column.istartswith(value, autoescape=True)


def _expression(condition: Condition, source_uri: ColumnElement[str]) -> ColumnElement[bool]:
    op = _operator(condition)
    _check_value(condition, op)
    name, value = condition.field, condition.value
    if name == "source_uri":
        return _text(source_uri, op, value)
    if name in _TEXT_COLUMNS:
        return _text(_TEXT_COLUMNS[name], op, value)
    if name in _TIME_COLUMNS:
        return _time(name, op, value)
    if name == "tags":
        return _tags(op, value)
    if name.startswith(_METADATA) and _METADATA_KEY.fullmatch(name.removeprefix(_METADATA)):
        return _metadata(name.removeprefix(_METADATA), op, value)
    raise _unknown("field", name, [*sorted(FILTER_FIELDS), "metadata.<key>"])


def _operator(condition: Condition) -> FilterOp:
    try:
        return FilterOp(condition.op)
    except ValueError:
        raise _unknown("op", str(condition.op), [op.value for op in FilterOp]) from None


def _check_value(condition: Condition, op: FilterOp) -> None:
    subject = f"The value of the filter on {condition.field[:80]!r}"
    if len(condition.value) > _MAX_VALUE:
        raise InvalidArgument(f"{subject} is longer than {_MAX_VALUE} characters.")
    if not ids.storable(condition.value):
        raise InvalidArgument(f"{subject} contains characters that no text can have.")
    if op in (FilterOp.CONTAINS, FilterOp.PREFIX) and not condition.value:
        raise InvalidArgument(f"{subject} is empty; {op.value!r} needs at least one character.")
    if op is FilterOp.IN and not _listed(condition.value):
        raise InvalidArgument(f"{subject} is empty; 'in' needs values separated by commas.")


def _listed(value: str) -> list[str]:
    return [item for part in value.split(",") if (item := part.strip())]


def _text(column: ColumnElement[str], op: FilterOp, value: str) -> ColumnElement[bool]:
    match op:
        case FilterOp.EQ:
            return column == value
        case FilterOp.NE:
            return column != value
        case FilterOp.IN:
            return any_of(column, _listed(value))
        case FilterOp.CONTAINS:
            return column.icontains(value, autoescape=True)
        case FilterOp.PREFIX:
            return has_prefix(column, value)
        case _:
            return _COMPARE[op](column, value)


def _metadata(key: str, op: FilterOp, value: str) -> ColumnElement[bool]:
    column = cast(documents.c.metadata[key].as_string(), Text)
    if op is FilterOp.NE:
        return or_(column.is_(None), column != value)
    if op not in _COMPARE or not re.search(_DECIMAL, value):
        return _text(column, op, value)
    compare = _COMPARE[op]
    # CASE, because a database may evaluate the sides of AND in any order and the conversion of
    # a text that is no number fails.
    return case(
        (column.regexp_match(_DECIMAL), compare(cast(column, Double), float(value))),
        else_=compare(column, value),
    )


def _tags(op: FilterOp, value: str) -> ColumnElement[bool]:
    tag = document_tags.c.tag
    match op:
        case FilterOp.EQ | FilterOp.CONTAINS:
            return _has_tag(tag == value)
        case FilterOp.NE:
            return not_(_has_tag(tag == value))
        case FilterOp.IN:
            return _has_tag(any_of(tag, _listed(value)))
        case FilterOp.PREFIX:
            return _has_tag(has_prefix(tag, value))
        case _:
            raise InvalidArgument(
                f"The filter op {op.value!r} does not fit tags; use eq, ne, in, contains or prefix."
            )


def _has_tag(condition: ColumnElement[bool]) -> ColumnElement[bool]:
    return exists().where(document_tags.c.document_id == documents.c.document_id, condition)


def _time(name: str, op: FilterOp, value: str) -> ColumnElement[bool]:
    column = _TIME_COLUMNS[name]
    match op:
        case FilterOp.PREFIX:
            return has_prefix(column, value)
        case FilterOp.CONTAINS:
            raise InvalidArgument(
                f"The filter op 'contains' does not fit {name}; use prefix or gt, ge, lt, le."
            )
        case FilterOp.IN:
            return or_(*(_inside(column, *_span(name, item)) for item in _listed(value)))
        case FilterOp.EQ:
            return _inside(column, *_span(name, value))
        case FilterOp.NE:
            return not_(_inside(column, *_span(name, value)))
    first, last = _span(name, value)
    return _COMPARE[op](column, first if op in (FilterOp.GE, FilterOp.LT) else last)


def _inside(column: ColumnElement[str], first: str, last: str) -> ColumnElement[bool]:
    return and_(column >= first, column <= last)


def _span(name: str, value: str) -> tuple[str, str]:
    """The first and last instant that a date, or a date and time, stands for."""
    text = value.strip()
    try:
        if day := _day(text):
            start = datetime.combine(day, time(), UTC)
            return ids.iso(start), ids.iso(start + timedelta(days=1, microseconds=-1))
        moment = datetime.fromisoformat(text)
        instant = ids.iso(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
        return instant, instant
    except (ValueError, OverflowError):
        raise InvalidArgument(
            f"The value of the filter on {name} is not a date; write 2026-01-31 or "
            "2026-01-31T08:00:00Z."
        ) from None


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _unknown(what: str, given: str, allowed: list[str]) -> InvalidArgument:
    from eagle_rag_core.settings.suggest import did_you_mean

    return InvalidArgument(
        f"Unknown filter {what} {given[:80]!r}{did_you_mean(given, allowed)} "
        f"Allowed: {', '.join(allowed)}."
    )
