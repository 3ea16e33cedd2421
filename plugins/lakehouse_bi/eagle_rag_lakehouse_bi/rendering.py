"""Writes a catalog as text that people and search engines read: a section for each object.

The place of every object in the text is kept, so that its record is anchored to the chunk that
describes it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from eagle_rag_core.types import Heading
from eagle_rag_lakehouse_bi.objects import (
    Catalog,
    Column,
    Exposure,
    Metric,
    Relationship,
    Table,
)


@dataclass(frozen=True, slots=True)
class Span:
    """Characters ``start``..``end`` of the text, ``end`` exclusive."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class RenderedCatalog:
    """A catalog and its text.

    :param tables: the section of each table, by id; ``columns`` holds the line of each column, in
        the order of the table's columns. ``metrics`` holds sections in the catalog's order.
    """

    catalog: Catalog
    text: str
    headings: tuple[Heading, ...]
    tables: dict[str, Span]
    columns: dict[str, list[Span]]
    metrics: list[Span]


def render(catalog: Catalog) -> RenderedCatalog:
    """The catalog as text with headings: the catalog itself, tables, metrics, exposures."""
    return _Renderer(catalog).render()


@dataclass(slots=True)
class _Text:
    """A text under construction."""

    parts: list[str] = field(default_factory=list)
    length: int = 0
    headings: list[Heading] = field(default_factory=list)

    def line(self, text: str = "") -> Span:
        start = self.length
        self.parts.append(text + "\n")
        self.length += len(text) + 1
        return Span(start, start + len(text))

    def heading(self, title: str, level: int) -> None:
        marks = "#" * level + " "
        self.headings.append(Heading(title, level, self.length + len(marks)))
        self.line(marks + title)
        self.line()


class _Renderer:
    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._text = _Text()
        self._out: defaultdict[str, list[Relationship]] = defaultdict(list)
        self._in: defaultdict[str, list[Relationship]] = defaultdict(list)
        for relationship in catalog.relationships:
            self._out[relationship.from_table].append(relationship)
            self._in[relationship.to_table].append(relationship)
        self._metrics_of: defaultdict[str, list[str]] = defaultdict(list)
        for metric in catalog.metrics:
            for table in metric.tables:
                self._metrics_of[table].append(metric.name)
        self._users_of: defaultdict[str, list[str]] = defaultdict(list)
        for exposure in catalog.exposures:
            for table in exposure.tables:
                self._users_of[table].append(exposure.name)

    def render(self) -> RenderedCatalog:
        catalog = self._catalog
        self._overview()
        tables: dict[str, Span] = {}
        columns: dict[str, list[Span]] = {}
        for table in catalog.tables:
            start = self._text.length
            columns[table.id] = self._table(table)
            tables[table.id] = Span(start, self._text.length)
        metrics = [self._metric(metric) for metric in catalog.metrics]
        for exposure in catalog.exposures:
            self._exposure(exposure)
        self._problems()
        return RenderedCatalog(
            catalog,
            "".join(self._text.parts),
            tuple(self._text.headings),
            tables,
            columns,
            metrics,
        )

    def _overview(self) -> None:
        catalog = self._catalog
        self._text.heading(catalog.name or "Catalog", 1)
        counts = [
            _counted(len(catalog.tables), "table"),
            _counted(len(catalog.relationships), "relationship"),
            _counted(len(catalog.metrics), "metric"),
        ]
        self._text.line(f"{catalog.format}: {', '.join(counts)}.")
        self._text.line()

    def _table(self, table: Table) -> list[Span]:
        """Write the section of a table.

        :returns: the line of each column.
        """
        text = self._text
        text.heading(table.name, 2)
        kind = f"{table.kind.capitalize()} {_qualified(table)}."
        text.line(f"{kind} {_one_line(table.description)}".rstrip())
        if table.tags:
            text.line(f"Tags: {', '.join(table.tags)}.")
        if table.primary_key:
            text.line(f"Primary key: {', '.join(table.primary_key)}.")
        for key in table.unique_keys:
            text.line(f"Unique: {', '.join(key)}.")
        text.line()
        lines = [text.line(_column_line(table, column)) for column in table.columns]
        if lines:
            text.line()
        context = list(self._context_of(table))
        for sentence in context:
            text.line(sentence)
        if context:
            text.line()
        return lines

    def _context_of(self, table: Table) -> Iterator[str]:
        """Joins, metrics and users of a table, and the query of a view."""
        for relationship in self._out[table.id]:
            yield f"Join: {join_condition(relationship)} ({_evidence(relationship)})."
        for relationship in self._in[table.id]:
            if relationship.from_table == table.id:
                continue
            yield f"Referenced by: {join_condition(relationship)} ({_evidence(relationship)})."
        if metrics := self._metrics_of[table.id]:
            yield f"Metrics: {', '.join(metrics)}."
        if users := self._users_of[table.id]:
            yield f"Used by: {', '.join(users)}."
        if table.definition:
            yield f"Defined as:\n{table.definition}"

    def _metric(self, metric: Metric) -> Span:
        text = self._text
        start = text.length
        text.heading(f"Metric {metric.name}", 2)
        label = f"{metric.label}. " if metric.label else ""
        text.line(f"{label}{_one_line(metric.description)}".strip())
        formula = metric_formula(metric)
        for name, value in (
            ("Type", metric.type),
            ("Formula", formula),
            ("Filter", metric.filter),
            ("Time dimension", metric.time_dimension),
            ("Made of", ", ".join(metric.inputs)),
            ("Computed from", ", ".join(metric.tables)),
        ):
            if value:
                text.line(f"{name}: {value}.")
        text.line()
        return Span(start, text.length)

    def _exposure(self, exposure: Exposure) -> None:
        text = self._text
        text.heading(f"{(exposure.type or 'exposure').capitalize()} {exposure.name}", 2)
        text.line(_one_line(exposure.description))
        if exposure.tables:
            text.line(f"Uses: {', '.join(exposure.tables)}.")
        text.line()

    def _problems(self) -> None:
        """What could not be read stays findable as it stands in the file."""
        if not self._catalog.problems:
            return
        self._text.heading("Not read", 2)
        for problem in self._catalog.problems:
            self._text.line(problem.message)
            if problem.source:
                self._text.line(problem.source)
            self._text.line()


def join_condition(relationship: Relationship) -> str:
    """The join of a relationship, tables by their plain names:
    ``orders.customer_id = customers.id``."""
    own = relationship.from_table.rpartition(".")[2]
    other = relationship.to_table.rpartition(".")[2]
    return " and ".join(
        f"{own}.{left} = {other}.{right}"
        for left, right in zip(relationship.from_columns, relationship.to_columns, strict=True)
    )


def metric_formula(metric: Metric) -> str:
    """Aggregation and expression of a metric as one formula."""
    if metric.aggregation and metric.expression:
        return f"{metric.aggregation}({metric.expression})"
    return metric.expression or metric.aggregation


def _column_line(table: Table, column: Column) -> str:
    facts = [column.type] if column.type else []
    if column.name in table.primary_key:
        facts.append("primary key")
    elif column.unique:
        facts.append("unique")
    if not column.nullable:
        facts.append("not null")
    values = f" Values: {', '.join(column.accepted_values)}." if column.accepted_values else ""
    kind = f" ({', '.join(facts)})" if facts else ""
    description = f": {_one_line(column.description)}" if column.description else ""
    return f"- {column.name}{kind}{description}{values}"


def _qualified(table: Table) -> str:
    return ".".join(part for part in (table.database, table.schema, table.name) if part)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _evidence(relationship: Relationship) -> str:
    name = f" {relationship.name}" if relationship.name else ""
    return f"{relationship.evidence}{name}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
