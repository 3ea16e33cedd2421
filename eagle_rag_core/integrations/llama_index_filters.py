"""LlamaIndex's metadata filters as the typed conditions of this engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)

from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.types import FILTER_FIELDS, Condition, FilterOp

_OPS: Final = {
    FilterOperator.EQ: FilterOp.EQ,
    FilterOperator.NE: FilterOp.NE,
    FilterOperator.GT: FilterOp.GT,
    FilterOperator.GTE: FilterOp.GE,
    FilterOperator.LT: FilterOp.LT,
    FilterOperator.LTE: FilterOp.LE,
    FilterOperator.CONTAINS: FilterOp.CONTAINS,
    FilterOperator.TEXT_MATCH_INSENSITIVE: FilterOp.CONTAINS,
}
#: What LlamaIndex calls our fields.
_NAMES: Final = {"document_id": "id", "doc_id": "id", "ref_doc_id": "id"}


def conditions_of(filters: MetadataFilters | None) -> tuple[Condition, ...]:
    """Conditions that all must hold. A key that is no field of a document names its metadata.

    :raises InvalidArgument: alternatives or negations, or an operator this engine has not.
    """
    if filters is None:
        return ()
    if filters.condition not in (FilterCondition.AND, None) and len(filters.filters) > 1:
        raise InvalidArgument("Filters can only be combined with AND.")
    if filters.condition is FilterCondition.NOT:
        raise InvalidArgument("Filters cannot be negated; use the operator !=.")
    found: list[Condition] = []
    for part in filters.filters:
        if isinstance(part, MetadataFilters):
            found += conditions_of(part)
        else:
            found += _conditions(part)
    return tuple(found)


def _conditions(part: MetadataFilter) -> Iterator[Condition]:
    name = _NAMES.get(part.key, part.key)
    field = name if name in FILTER_FIELDS else f"metadata.{name.removeprefix('metadata.')}"
    values = part.value if isinstance(part.value, list) else [part.value]
    match part.operator:
        case FilterOperator.IN | FilterOperator.ANY:
            yield Condition(field, FilterOp.IN, ",".join(map(_without_comma, values)))
        case FilterOperator.NIN:
            yield from (Condition(field, FilterOp.NE, _text(value)) for value in values)
        case FilterOperator.ALL:
            yield from (Condition(field, FilterOp.EQ, _text(value)) for value in values)
        case operator if operator in _OPS and not isinstance(part.value, list):
            yield Condition(field, _OPS[operator], _text(part.value))
        case _:
            raise InvalidArgument(
                f"The filter on {part.key!r} cannot be applied with {part.operator.value!r} and "
                "this value."
            )


def _text(value: Any) -> str:
    if value is None:
        raise InvalidArgument("A filter needs a value.")
    return str(value).lower() if isinstance(value, bool) else str(value)


def _without_comma(value: Any) -> str:
    text = _text(value)
    if "," in text:
        raise InvalidArgument(f"A value in a list of filters cannot hold a comma: {text[:80]!r}.")
    return text
