"""Collects the objects of one file into a catalog."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from eagle_rag_lakehouse_bi.objects import (
    Catalog,
    Column,
    Exposure,
    Freshness,
    Lineage,
    Metric,
    Problem,
    Relationship,
    Rule,
    SavedQuery,
    Table,
    Term,
)
from eagle_rag_lakehouse_bi.readers.lenient import Node, strangers
from eagle_rag_lakehouse_bi.readers.structured import line_of

#: A file broken all over is told once, not a thousand times.
_MAX_PROBLEMS: Final = 200
#: What reading an object of an unexpected shape raises.
MALFORMED: Final = (TypeError, ValueError, KeyError, AttributeError, IndexError)

_Item = TypeVar("_Item")


@dataclass(slots=True)
class CatalogBuilder:
    """Collects objects; descriptions of one table from several places become one."""

    tables: dict[str, Table] = field(default_factory=dict)
    metrics: list[Metric] = field(default_factory=list)
    exposures: list[Exposure] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    queries: list[SavedQuery] = field(default_factory=list)
    terms: list[Term] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    lineage: list[Lineage] = field(default_factory=list)
    freshness: list[Freshness] = field(default_factory=list)
    _joins: dict[tuple[object, ...], Relationship] = field(default_factory=dict)

    def add_table(self, table: Table) -> None:
        """Add a table, or what is new about a known one."""
        known = self.tables.get(table.id)
        self.tables[table.id] = _merged(known, table) if known else table

    def relate(self, relationship: Relationship) -> None:
        """Add a relationship; of several for one join the first stays."""
        r = relationship
        join = (r.from_table, r.from_columns, r.to_table, r.to_columns, r.condition)
        self._joins.setdefault(join, relationship)

    def each(
        self, items: Iterable[_Item], read: Callable[[_Item], None], name: Callable[[_Item], str]
    ) -> None:
        """Read every item; one that is malformed is named and the others are read all the same."""
        for item in items:
            try:
                read(item)
            except MALFORMED:
                self.problem(f"{name(item) or _nameless(item)} is malformed and was left out.")

    def note_strangers(self, node: Node, *parts: str) -> None:
        """Note the values in the lists and mappings under ``parts`` that are no objects at all."""
        for part in parts:
            for name in strangers(node, part):
                self.problem(f"{name} is malformed and was left out.")

    def problem(self, message: str, source: str = "") -> None:
        """Note something that could not be read."""
        if len(self.problems) < _MAX_PROBLEMS:
            self.problems.append(Problem(message, source))

    @property
    def relationships(self) -> tuple[Relationship, ...]:
        return tuple(self._joins.values())

    def build(self, name: str, format: str) -> Catalog:
        """The catalog of what was collected."""
        return Catalog(
            name=name,
            format=format,
            tables=tuple(self.tables.values()),
            relationships=self.relationships,
            metrics=tuple(self.metrics),
            exposures=tuple(self.exposures),
            problems=tuple(self.problems),
            queries=tuple(self.queries),
            terms=tuple(self.terms),
            rules=tuple(self.rules),
            lineage=tuple(dict.fromkeys(self.lineage)),
            freshness=tuple(self.freshness),
        )


def _nameless(item: object) -> str:
    line = line_of(item) if isinstance(item, dict) else 0
    return f"An object without a name (line {line})" if line else "An object without a name"


def _merged(known: Table, more: Table) -> Table:
    columns = {c.name.lower(): c for c in known.columns}
    for column in more.columns:
        mine = columns.get(column.name.lower())
        columns[column.name.lower()] = _merged_column(mine, column) if mine else column
    return replace(
        known,
        description=known.description or more.description,
        columns=tuple(columns.values()),
        primary_key=known.primary_key or more.primary_key,
        unique_keys=tuple(dict.fromkeys((*known.unique_keys, *more.unique_keys))),
        tags=tuple(dict.fromkeys((*known.tags, *more.tags))),
        definition=known.definition or more.definition,
        synonyms=tuple(dict.fromkeys((*known.synonyms, *more.synonyms))),
        owner=known.owner or more.owner,
        status=known.status or more.status,
    )


def _merged_column(mine: Column, more: Column) -> Column:
    return replace(
        mine,
        type=mine.type or more.type,
        description=mine.description or more.description,
        accepted_values=mine.accepted_values or more.accepted_values,
        expression=mine.expression or more.expression,
        role=mine.role or more.role,
        samples=mine.samples or more.samples,
        sensitive=mine.sensitive or more.sensitive,
        synonyms=tuple(dict.fromkeys((*mine.synonyms, *more.synonyms))),
    )
