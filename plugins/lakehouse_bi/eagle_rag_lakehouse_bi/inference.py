"""Joins that names suggest, where nothing states one.

A column that is called like the one-column key of another table (``customer_key``), or like that
table and its key (``customer_id`` beside ``customer.id``), probably refers to it. Such joins are
marked ``inferred``, and only tables that nothing else joins get them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from eagle_rag_lakehouse_bi.identifiers import stem
from eagle_rag_lakehouse_bi.objects import Catalog, Relationship, Table

#: Names of keys that say nothing of their table.
_GENERIC: Final = frozenset({"id", "key", "code", "name", "pk", "uuid", "guid", "sk", "no"})
#: A name that is the key of more tables than this points to none of them.
_MOST_OWNERS: Final = 1
_MOST_TABLES: Final = 5_000


def with_inferred_joins(catalog: Catalog) -> Catalog:
    """The catalog with the joins that names suggest."""
    if len(catalog.tables) > _MOST_TABLES:
        return catalog
    known = {frozenset((r.from_table, r.to_table)) for r in catalog.relationships}
    inferred = tuple(r for r in _inferred(catalog.tables, known))
    return replace(catalog, relationships=(*catalog.relationships, *inferred))


def _inferred(tables: tuple[Table, ...], known: set[frozenset[str]]) -> Iterator[Relationship]:
    keys: defaultdict[str, list[tuple[Table, str]]] = defaultdict(list)
    for table in tables:
        for name in _names_of_key(table):
            keys[name].append((table, table.primary_key[0]))
    for table in tables:
        for column in table.columns:
            owners = keys.get(column.name.lower(), [])
            if len(owners) != _MOST_OWNERS:
                continue
            owner, key = owners[0]
            pair = frozenset((table.id, owner.id))
            if owner.id != table.id and pair not in known:
                yield Relationship(table.id, (column.name,), owner.id, (key,), "inferred")


def _names_of_key(table: Table) -> set[str]:
    """What columns elsewhere are called that refer to the table's key."""
    if len(table.primary_key) != 1:
        return set()
    key = table.primary_key[0].lower()
    if key not in _GENERIC:
        return {key}
    name = table.name.lower()
    return {f"{prefix}{joint}{key}" for prefix in (name, stem(name)) for joint in ("_", "")}
