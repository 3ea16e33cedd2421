"""What changed between two states of the catalogs, and whether it breaks anything.

A removed object and an added one that look alike count as one that was renamed, probably: tables by
their columns, columns by type and name, metrics by what they mean. Each is paired once, the most
alike first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from eagle_rag_lakehouse_bi.identifiers import identifier_words
from eagle_rag_lakehouse_bi.reading import leaf_of
from eagle_rag_lakehouse_bi.versions.state import (
    CatalogState,
    ColumnState,
    MetricState,
    TableState,
)

ChangeKind = Literal["added", "removed", "renamed", "retyped", "redefined"]
ObjectKind = Literal["table", "column", "metric", "join"]

#: Tables that share so much of their columns are probably one.
_SAME_TABLE: Final = 0.6
_SAME_COLUMN: Final = 0.5
#: More objects than this came and went together: another catalog, not another version of one.
_MOST_PAIRS: Final = 200_000
_INTEGERS: Final = ("tinyint", "smallint", "int", "bigint")
_NUMBERS: Final = (*_INTEGERS, "decimal", "double")
_TEXTS: Final = ("char", "varchar", "text")
_ALIASES: Final = {
    "integer": "int",
    "int2": "smallint",
    "int4": "int",
    "int8": "bigint",
    "int64": "bigint",
    "long": "bigint",
    "number": "decimal",
    "numeric": "decimal",
    "float": "double",
    "float8": "double",
    "float64": "double",
    "real": "double",
    "double precision": "double",
    "string": "text",
    "character varying": "varchar",
    "nvarchar": "varchar",
    "character": "char",
    "bool": "boolean",
    "timestamptz": "timestamp",
    "datetime": "timestamp",
}
_TYPE: Final = re.compile(r"^\s*([a-z][\w ]*?)\s*(?:\(\s*(\d+)[^)]*\))?\s*$")


@dataclass(frozen=True, slots=True)
class Change:
    """One difference.

    :param name: of the object: an id, ``table.column``, a metric, a join. Of a renamed one the old
        name.
    :param table: the id of the table it belongs to, "" for metrics.
    :param column: the old name of a changed column, "" for other objects.
    :param before: what it was; ``after`` what it is. "" where it was or is not there.
    :param breaking: whether queries that worked may fail, or give other numbers.
    :param why: in words, of breaking changes and of probable renames.
    """

    change: ChangeKind
    kind: ObjectKind
    name: str
    table: str
    column: str
    before: str
    after: str
    breaking: bool
    why: str


def changes(before: CatalogState, after: CatalogState) -> Iterator[Change]:
    """All differences, tables first."""
    renamed = _pairs(
        before.tables.keys() - after.tables.keys(),
        after.tables.keys() - before.tables.keys(),
        lambda old, new: _table_likeness(before.tables[old], after.tables[new]),
        _SAME_TABLE,
    )
    yield from _tables(before, after, renamed)
    for old, table in before.tables.items():
        new = renamed.get(old, old)
        if new in after.tables:
            yield from _columns(old, table, after.tables[new])
            yield from _key(old, table, after.tables[new])
    yield from _metrics(before, after)
    yield from _joins(before, after, renamed)


def _tables(before: CatalogState, after: CatalogState, renamed: dict[str, str]) -> Iterator[Change]:
    for name in sorted(before.tables.keys() - after.tables.keys()):
        if new := renamed.get(name):
            alike = round(100 * _table_likeness(before.tables[name], after.tables[new]))
            why = f"{leaf_of(new)} has {alike} % of its columns; queries name {leaf_of(name)}"
            yield Change("renamed", "table", name, name, "", name, new, True, why)
        else:
            kind = before.tables[name].kind
            yield Change("removed", "table", name, name, "", kind, "", True, "it is gone")
    for name in sorted(after.tables.keys() - before.tables.keys() - set(renamed.values())):
        kind = after.tables[name].kind
        yield Change("added", "table", name, name, "", "", kind, False, "")
    for name in sorted(before.tables.keys() & after.tables.keys()):
        old, new = before.tables[name].definition, after.tables[name].definition
        if old and new and _plain(old) != _plain(new):
            why = "the query behind it changed; its rows may differ"
            yield Change("redefined", "table", name, name, "", old, new, True, why)


def _columns(table: str, before: TableState, after: TableState) -> Iterator[Change]:
    if not before.columns or not after.columns:
        return  # one of the files lists none
    gone = before.columns.keys() - after.columns.keys()
    new = after.columns.keys() - before.columns.keys()
    renamed = _pairs(
        gone,
        new,
        lambda a, b: _column_likeness(a, before.columns[a], b, after.columns[b]),
        _SAME_COLUMN,
    )
    for name in sorted(gone):
        own, old = f"{table}.{name}", before.columns[name]
        if other := renamed.get(name):
            why = f"{other} has its type and looks like it; queries name {name}"
            yield Change("renamed", "column", own, table, name, name, other, True, why)
        else:
            yield Change("removed", "column", own, table, name, old.type, "", True, "it is gone")
    for name in sorted(new - set(renamed.values())):
        own, kind = f"{table}.{name}", after.columns[name].type
        yield Change("added", "column", own, table, "", "", kind, False, "")
    for name, old in sorted(before.columns.items()):
        now = after.columns.get(renamed.get(name, name))
        if now:
            yield from _column(table, name, old, now)


def _column(table: str, name: str, old: ColumnState, now: ColumnState) -> Iterator[Change]:
    own = f"{table}.{name}"
    if old.type and now.type and _parsed(old.type) != _parsed(now.type):
        wider = _widens(old.type, now.type)
        why = "" if wider else "values may not fit or compare as before"
        yield Change("retyped", "column", own, table, name, old.type, now.type, not wider, why)
    if old.expression and now.expression and _plain(old.expression) != _plain(now.expression):
        yield Change(
            "redefined",
            "column",
            own,
            table,
            name,
            old.expression,
            now.expression,
            True,
            "it is computed otherwise",
        )
    if not old.nullable and now.nullable:
        why = "it may be missing now; joins on it lose rows"
        yield Change("redefined", "column", own, table, name, "not null", "nullable", True, why)


def _key(table: str, before: TableState, after: TableState) -> Iterator[Change]:
    old, new = before.primary_key, after.primary_key
    if old and sorted(old) != sorted(new):
        why = "joins to it may meet several rows now"
        written = (", ".join(old), ", ".join(new))
        yield Change("redefined", "table", table, table, "", *written, True, f"key: {why}")


def _metrics(before: CatalogState, after: CatalogState) -> Iterator[Change]:
    gone = before.metrics.keys() - after.metrics.keys()
    new = after.metrics.keys() - before.metrics.keys()
    renamed = _pairs(
        gone, new, lambda a, b: _metric_likeness(before.metrics[a], after.metrics[b]), 1.0
    )
    for name in sorted(gone):
        old = before.metrics[name].written
        if other := renamed.get(name):
            why = f"{other} means the same"
            yield Change("renamed", "metric", name, "", "", name, other, True, why)
        else:
            yield Change("removed", "metric", name, "", "", old, "", True, "it is gone")
    for name in sorted(new - set(renamed.values())):
        yield Change("added", "metric", name, "", "", "", after.metrics[name].written, False, "")
    for name in sorted(before.metrics.keys() & after.metrics.keys()):
        one, two = before.metrics[name], after.metrics[name]
        differing = sorted(
            aspect
            for aspect in one.meaning.keys() | two.meaning.keys()
            if one.meaning.get(aspect) != two.meaning.get(aspect)
        )
        if differing:
            why = f"other {', '.join(differing).replace('_', ' ')}"
            yield Change("redefined", "metric", name, "", "", one.written, two.written, True, why)


def _joins(before: CatalogState, after: CatalogState, renamed: dict[str, str]) -> Iterator[Change]:
    gone_tables = before.tables.keys() - after.tables.keys() - renamed.keys()
    for name in sorted(before.joins.keys() - after.joins.keys()):
        join = before.joins[name]
        # What is told of a table is not told again of its joins.
        if not {join.left, join.right} & (gone_tables | renamed.keys()):
            why = "nothing states this join any more"
            yield Change("removed", "join", name, join.left, "", join.evidence, "", True, why)
    for name in sorted(after.joins.keys() - before.joins.keys()):
        join = after.joins[name]
        if {join.left, join.right} <= before.tables.keys():
            yield Change("added", "join", name, join.left, "", "", join.evidence, False, "")
    for name in sorted(before.joins.keys() & after.joins.keys()):
        old, new = before.joins[name].cardinality, after.joins[name].cardinality
        if old and new and old != new:
            why = "totals over it may count rows more or less often"
            table = before.joins[name].left
            yield Change("redefined", "join", name, table, "", old, new, True, why)


def _pairs(
    gone: Iterable[str],
    new: Iterable[str],
    likeness: Callable[[str, str], float],
    least: float,
) -> dict[str, str]:
    """What each that is gone became: the most alike of the new ones, each once."""
    left, fresh = sorted(gone), sorted(new)
    if len(left) * len(fresh) > _MOST_PAIRS:
        return {}
    scored = sorted(
        (-score, a, b) for a in left for b in fresh if (score := likeness(a, b)) >= least
    )
    pairs: dict[str, str] = {}
    taken: set[str] = set()
    for _, old, other in scored:
        if old not in pairs and other not in taken:
            pairs[old] = other
            taken.add(other)
    return pairs


def _table_likeness(one: TableState, other: TableState) -> float:
    """The share of columns that both have."""
    names = one.columns.keys() | other.columns.keys()
    shared = one.columns.keys() & other.columns.keys()
    return len(shared) / len(names) if len(shared) > 1 else 0.0


def _column_likeness(name: str, one: ColumnState, other_name: str, other: ColumnState) -> float:
    """The share of words that two names of one type have in common; half for the same place."""
    if one.type and other.type and _parsed(one.type) != _parsed(other.type):
        return 0.0
    words, others = set(identifier_words(name)), set(identifier_words(other_name))
    shared = len(words & others) / len(words | others) if words | others else 0.0
    return max(shared, 0.5 if one.place == other.place and one.type else 0.0)


def _metric_likeness(one: MetricState, other: MetricState) -> float:
    return float(bool(one.meaning.get("formula")) and one.meaning == other.meaning)


def _plain(sql: str) -> str:
    return " ".join(sql.lower().split())


def _parsed(kind: str) -> tuple[str, int]:
    """The common name of a type, and its length (0 when it states none)."""
    match = _TYPE.match(kind.lower())
    if not match:
        return kind.lower(), 0
    name, length = match.groups()
    return _ALIASES.get(name, name), int(length or 0)


def _widens(before: str, after: str) -> bool:
    """Whether every value of the old type is one of the new type."""
    (old, length), (new, longer) = _parsed(before), _parsed(after)
    if old == new:
        return longer == 0 or 0 < length <= longer
    for family in (_NUMBERS, _TEXTS):
        if old in family and new in family:
            # A double holds few bigints exactly.
            exact = not (old == "bigint" and new == "double")
            return exact and family.index(new) > family.index(old) and (longer == 0 or length == 0)
    return (old, new) == ("date", "timestamp")
