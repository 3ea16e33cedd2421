"""Joins among tables: hints for the tables returned, and tables that bridge others."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.answers import JoinHint
from eagle_rag_lakehouse_bi.identifiers import identifier_words, readable, stem
from eagle_rag_lakehouse_bi.objects import Cardinality
from eagle_rag_lakehouse_bi.reading import Edge, TableKey, leaf_of

#: Keys of tables, each by its columns in lower case.
UniqueKeys = Mapping[TableKey, Sequence[tuple[str, ...]]]
#: How a relationship is known that leads from a reference to a key.
_REFERENCES: Final = frozenset({"declared", "tested", "semantic"})
_WEIGHTS: Final = {"declared": 1.0, "tested": 1.0, "semantic": 1.1, "inferred": 2.5}
#: Words of a column that say it is a key, not what it refers to.
_KEY_WORDS: Final = frozenset({"id", "key", "fk", "code", "number", "no", "sk", "uuid"})


class JoinGraph:
    """Relationships around some tables, as an undirected graph of tables."""

    def __init__(self, relationships: Iterable[Edge]) -> None:
        self.edges: list[Edge] = []
        self._neighbours: defaultdict[TableKey, dict[TableKey, None]] = defaultdict(dict)
        for edge in relationships:
            left, right, _ = edge
            self.edges.append(edge)
            self._neighbours[left][right] = None
            self._neighbours[right][left] = None

    def bridges(self, tables: Sequence[TableKey]) -> list[TableKey]:
        """Tables outside of ``tables`` that join groups of them not joined yet, each by one
        step; those for better-ranked tables first."""
        added: list[TableKey] = []
        group = self.groups(tables)
        for table in tables:
            for bridge in self._neighbours[table]:
                joined = {group[n] for n in self._neighbours[bridge] if n in group}
                if bridge not in group and len(joined) > 1:
                    added.append(bridge)
                    group = self.groups([*tables, *added])
        return added

    def groups(self, tables: Iterable[TableKey]) -> dict[TableKey, int]:
        """The tables with the number of the joined group each belongs to."""
        members = list(tables)
        group: dict[TableKey, int] = {}
        for number, start in enumerate(members):
            waiting = [] if start in group else [start]
            while waiting:
                table = waiting.pop()
                group[table] = number
                waiting += [n for n in self._neighbours[table] if n in members and n not in group]
        return group

    def hints(self, tables: Collection[TableKey], unique: UniqueKeys) -> Iterator[JoinHint]:
        """How ``tables`` join each other, what is known best first."""
        among = [e for e in self.edges if e.left in tables and e.right in tables]
        for edge in sorted(among, key=weight):
            yield hint_of(edge, unique)


def hint_of(edge: Edge, unique: UniqueKeys) -> JoinHint:
    """A join in words."""
    data = edge.record.data
    return JoinHint(
        left=edge.left.id,
        right=edge.right.id,
        condition=condition_of(edge),
        cardinality=cardinality_of(edge, unique),
        evidence=edge.record.fields["evidence"],
        support=data["support"],
        role=role_of(edge),
    )


def condition_of(edge: Edge) -> str:
    """The condition of a join as SQL, all of its columns together."""
    data = edge.record.data
    pairs = zip(data["from_columns"], data["to_columns"], strict=True)
    written = " AND ".join(f"{edge.left.id}.{a} = {edge.right.id}.{b}" for a, b in pairs)
    return written or str(data["condition"])


def role_of(edge: Edge) -> str:
    """What the right table stands for in this join: as stated, else by the name of the column
    that leads to it (``billing`` of ``billing_address_id``)."""
    data = edge.record.data
    other = set(identifier_words(leaf_of(edge.right.id)))
    if data["role"] or len(data["from_columns"]) != 1:
        plain = set(identifier_words(data["role"])) <= other
        return "" if plain else str(data["role"])
    words = readable(data["from_columns"][0]).split()
    other.update(identifier_words(data["to_columns"][0]))
    return " ".join(w for w in words if stem(w) not in other and w not in _KEY_WORDS)


def cardinality_of(edge: Edge, unique: UniqueKeys) -> Cardinality:
    """How many rows meet how many: as stated, else what keys prove.

    A reference leads to a key even where its table does not say so. A logged or inferred join
    proves nothing by itself: where no key does, the answer is "".
    """
    data = edge.record.data
    if data["cardinality"]:
        return data["cardinality"]  # type: ignore[no-any-return]
    left = is_unique(edge.left, data["from_columns"], unique)
    right = is_unique(edge.right, data["to_columns"], unique)
    reference = edge.record.fields["evidence"] in _REFERENCES and bool(data["from_columns"])
    if right or (reference and not left):
        return "one_to_one" if left else "many_to_one"
    if left:
        return "one_to_one" if reference else "one_to_many"
    return ""


def is_unique(table: TableKey, columns: Sequence[str], unique: UniqueKeys) -> bool:
    """Whether rows of ``table`` differ in ``columns``: a key is among them."""
    have = {column.lower() for column in columns}
    return any(key and have >= set(key) for key in unique.get(table, ()))


def weight(edge: Edge) -> float:
    """What a join costs on a path: the less, the better it is known."""
    data = edge.record.data
    base = _WEIGHTS.get(edge.record.fields["evidence"], 2.0)
    if edge.record.fields["evidence"] == "mined":
        base = 1.0 + 1.0 / (1.0 + math.log1p(data["support"]))
    return base if data["from_columns"] else base + 0.5


def unique_keys(
    tables: Mapping[TableKey, Record], columns: Mapping[TableKey, Sequence[Record]]
) -> dict[TableKey, list[tuple[str, ...]]]:
    """The keys of tables, by their columns in lower case."""
    found: dict[TableKey, list[tuple[str, ...]]] = {}
    for key, record in tables.items():
        data = record.data
        keys = [tuple(c.lower() for c in k) for k in (data["primary_key"], *data["unique_keys"])]
        keys += [(c.fields["name"].lower(),) for c in columns.get(key, ()) if c.data["unique"]]
        found[key] = [k for k in keys if k]
    return found
