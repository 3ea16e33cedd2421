"""Filter expressions for Milvus, built from values, never from text.

Milvus takes filters as expression text. Every value here becomes an escaped literal and every
field name comes from :class:`Field`, so that no value can leave its literal. (Milvus's own
templates are no way out: the embedded engine cannot parse them. ``json.dumps`` is none either:
Milvus does not know ``\\u`` escapes everywhere.)
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NewType

from eagle_rag_core.errors import InvalidArgument
from eagle_rag_core.types import Scope

#: Only this module makes expressions.
Expression = NewType("Expression", str)

#: An expression with more literals takes Milvus seconds to parse.
MOST_LITERALS = 10_000
MOST_DOCUMENTS = 100_000


class Field(StrEnum):
    """The fields a filter may name."""

    NODE_ID = "node_id"
    VERSION_ID = "version_id"
    DOCUMENT_ID = "document_id"
    KB_NAME = "kb_name"


#: No row has another knowledge base than one with a name.
EVERYTHING = Expression(f'{Field.KB_NAME} != ""')

# Everything else may stand in a literal as it is.
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def literal(text: str) -> str:
    """``text`` as a string literal of the expression language.

    :raises InvalidArgument: ``text`` holds lone surrogates, which no stored value can.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidArgument("A name to search in is not valid Unicode text.") from None
    return f'"{text.translate(_ESCAPES)}"'


def is_in(field: Field, values: Iterable[str]) -> Expression:
    """The field has one of the values, of which there must be at least one."""
    return _membership(field, "in", values)


def is_not_in(field: Field, values: Iterable[str]) -> Expression:
    """The field has none of the values, of which there must be at least one."""
    return _membership(field, "not in", values)


def any_of(*expressions: Expression) -> Expression:
    return Expression(" or ".join(f"({expression})" for expression in expressions))


def all_of(*expressions: Expression) -> Expression:
    return Expression(" and ".join(f"({expression})" for expression in expressions))


def scope_expressions(scope: Scope) -> list[Expression]:
    """Expressions that no row fulfils twice and that together hold exactly the scope's rows.

    One, unless the scope lists very many documents.

    :raises InvalidArgument: it lists more than :data:`MOST_DOCUMENTS`.
    """
    if len(scope.documents) > MOST_DOCUMENTS:
        raise InvalidArgument(
            f"The scope holds {len(scope.documents):,} single documents, more than the "
            f"{MOST_DOCUMENTS:,} that a search in Milvus takes; name knowledge bases instead."
        )
    ids = sorted(scope.documents)
    documents = [
        is_in(Field.DOCUMENT_ID, ids[start : start + MOST_LITERALS])
        for start in range(0, len(ids), MOST_LITERALS)
    ]
    if not scope.kbs:
        return documents
    inside = is_in(Field.KB_NAME, scope.kbs)
    outside = is_not_in(Field.KB_NAME, scope.kbs)
    return [any_of(inside, *documents[:1]), *(all_of(outside, d) for d in documents[1:])]


def _membership(field: Field, operator: str, values: Iterable[str]) -> Expression:
    literals = ", ".join(map(literal, sorted(values)))
    if not literals:
        raise ValueError(f"no values for {field}")
    return Expression(f"{field} {operator} [{literals}]")
