"""What SQL expressions inside semantic files say: join conditions, plain columns, tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from eagle_rag_lakehouse_bi.objects import Table, table_id

_NAME: Final = r"(\w[\w$]*|`[^`]+`|\"[^\"]+\"|\[[^\]]+\])"
#: ``a.x = b.y``, quoted or not; of longer names the last two parts.
_EQUAL: Final = re.compile(
    rf"{_NAME}\s*\.\s*{_NAME}\s*={{1,2}}\s*(?:{_NAME}\s*\.\s*)*?{_NAME}\s*\.\s*{_NAME}"
    r"(?=\s|$|\)|;)"
)
#: Longer conditions are not joins anyone reads.
_LONGEST: Final = 2_000
_OR: Final = re.compile(r"\bor\b", re.IGNORECASE)
_PLAIN: Final = re.compile(r"^(?:\w+\.)?[`\"]?(\w+)[`\"]?$")
_TABLE: Final = re.compile(r"^[\w$\-`\"\[\].@{}]+$")


class Pair(NamedTuple):
    """One equality of a join condition: two columns, each with what qualifies it."""

    left: str
    left_column: str
    right: str
    right_column: str


def equalities(condition: str) -> list[Pair]:
    """The equalities of a condition that joins by nothing else than columns; empty for a
    condition with alternatives."""
    condition = condition[:_LONGEST]
    if _OR.search(condition):
        return []
    found = (m.group(1, 2, 4, 5) for m in _EQUAL.finditer(condition))
    return [Pair(*(part.strip('`"[]') for part in parts)) for parts in found]


def joined_columns(
    condition: str, left: str, right: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns a condition pairs up, of ``left`` and of ``right``; empty when it joins others,
    or only some of its terms are equalities of columns."""
    own, other = [], []
    for pair in equalities(condition):
        if (pair.left.lower(), pair.right.lower()) == (left.lower(), right.lower()):
            own.append(pair.left_column)
            other.append(pair.right_column)
        elif (pair.right.lower(), pair.left.lower()) == (left.lower(), right.lower()):
            own.append(pair.right_column)
            other.append(pair.left_column)
    return tuple(own), tuple(other)


def plain_column(expression: str) -> str:
    """The column an expression is, "" when it computes something."""
    match = _PLAIN.match(expression.strip())
    return match.group(1) if match else ""


def relation_parts(relation: str) -> tuple[str, str, str]:
    """Database, schema and name of a relation, quotes off.

    :raises ValueError: it is a query or empty.
    """
    relation = relation.strip().rstrip(";").strip()
    if not relation or not _TABLE.match(relation):
        raise ValueError("not the name of a relation")
    parts = [p.strip('`"[]') for p in re.split(r"\.", relation)]
    *_, database, schema, name = ["", "", *parts]
    return database, schema, name


def relation_id(relation: str) -> str:
    """The id of a relation, "" when it is a query."""
    try:
        database, schema, name = relation_parts(relation)
    except ValueError:
        return ""
    return table_id(name, schema, database)


def resolved(wanted: str, known: Mapping[str, Table]) -> str:
    """The id of the table meant: the name as written, or the only one that ends with it."""
    if wanted in known:
        return wanted
    ending = [i for i in known if i.endswith(f".{wanted}") or wanted.endswith(f".{i}")]
    return ending[0] if len(ending) == 1 else wanted
