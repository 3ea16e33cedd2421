"""What part of the library a search may touch."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Scope:
    """A resolved scope: a row is inside when its knowledge base *or* its document is listed.

    Always concrete and already cut down to what the caller may read: an empty scope holds
    nothing, and no value means "everything". Stores trust it and look at nothing else.
    """

    kbs: frozenset[str] = frozenset()
    documents: frozenset[str] = frozenset()

    @property
    def empty(self) -> bool:
        return not self.kbs and not self.documents


class FilterOp(StrEnum):
    """Operators of a typed filter condition."""

    EQ = "eq"
    NE = "ne"
    IN = "in"
    CONTAINS = "contains"
    PREFIX = "prefix"
    GT = "gt"
    GE = "ge"
    LT = "lt"
    LE = "le"


#: Document fields a filter may name; ``metadata.<key>`` is allowed besides.
FILTER_FIELDS = frozenset(
    {
        "id",
        "title",
        "source_uri",
        "source_type",
        "tags",
        "language",
        "created_at",
        "updated_at",
    }
)


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of a filter. ``value`` is text; ``in`` takes comma-separated values.

    The catalog coerces it by the field's type; it never becomes query text.
    """

    field: str
    op: FilterOp
    value: str


@dataclass(frozen=True, slots=True)
class ScopeRequest:
    """What a caller asked for, before it is resolved against rights and the catalog.

    A non-empty ``scope_*`` group (knowledge bases, documents, tags: a union) replaces
    ``kb_name`` and ``documents``; otherwise those two intersect. ``filter`` always intersects.
    """

    kb_name: str = ""
    documents: tuple[str, ...] = ()
    scope_kbs: tuple[str, ...] = ()
    scope_documents: tuple[str, ...] = ()
    scope_tags: tuple[str, ...] = ()
    filter: tuple[Condition, ...] = field(default=())
