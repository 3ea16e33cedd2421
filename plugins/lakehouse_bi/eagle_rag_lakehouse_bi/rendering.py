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
    Exposure,
    Freshness,
    Metric,
    Relationship,
    SavedQuery,
    Table,
    Term,
)
from eagle_rag_lakehouse_bi.wording import (
    column_line,
    counted,
    evidence_in_words,
    join_condition,
    metric_formula,
    one_line,
    qualified_name,
    rule_line,
    state_in_words,
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
        the order of the table's columns. ``metrics``, ``queries``, ``terms``, ``rules`` and
        ``exposures`` hold the places of each in the catalog's order.
    """

    catalog: Catalog
    text: str
    headings: tuple[Heading, ...]
    tables: dict[str, Span]
    columns: dict[str, list[Span]]
    metrics: list[Span]
    queries: list[Span]
    terms: list[Span]
    rules: list[Span]
    exposures: list[Span]


def render(catalog: Catalog) -> RenderedCatalog:
    """The catalog as text with headings: the catalog itself, then a section for each object."""
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
        self._made_from: defaultdict[str, list[str]] = defaultdict(list)
        for edge in catalog.lineage:
            self._made_from[edge.target].append(edge.source)
        self._state_of: defaultdict[str, list[Freshness]] = defaultdict(list)
        for state in catalog.freshness:
            self._state_of[state.table].append(state)

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
        queries = [self._query(query) for query in catalog.queries]
        terms = [self._term(term) for term in catalog.terms]
        rules = self._rules()
        exposures = [self._exposure(exposure) for exposure in catalog.exposures]
        self._states()
        self._problems()
        return RenderedCatalog(
            catalog,
            "".join(self._text.parts),
            tuple(self._text.headings),
            tables,
            columns,
            metrics,
            queries,
            terms,
            rules,
            exposures,
        )

    def _overview(self) -> None:
        catalog = self._catalog
        self._text.heading(catalog.name or "Catalog", 1)
        counts = [
            counted(len(catalog.tables), "table"),
            counted(len(catalog.relationships), "relationship"),
            counted(len(catalog.metrics), "metric"),
        ]
        for number, one, many in (
            (len(catalog.queries), "query", "queries"),
            (len(catalog.terms), "term", "terms"),
        ):
            if number:
                counts.append(f"{number} {one if number == 1 else many}")
        self._text.line(f"{catalog.format}: {', '.join(counts)}.")
        self._text.line()

    def _table(self, table: Table) -> list[Span]:
        """Write the section of a table.

        :returns: the line of each column.
        """
        text = self._text
        text.heading(table.name, 2)
        kind = f"{table.kind.capitalize()} {qualified_name(table)}."
        text.line(f"{kind} {one_line(table.description)}".rstrip())
        if table.tags:
            text.line(f"Tags: {', '.join(table.tags)}.")
        if table.primary_key:
            text.line(f"Primary key: {', '.join(table.primary_key)}.")
        for key in table.unique_keys:
            text.line(f"Unique: {', '.join(key)}.")
        for label, value in (
            ("Also called", ", ".join(table.synonyms)),
            ("Relation", table.relation),
            ("Owner", table.owner),
            ("Status", table.status),
        ):
            if value:
                text.line(f"{label}: {value}.")
        text.line()
        lines = [text.line(column_line(table, column)) for column in table.columns]
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
            yield f"Join: {join_condition(relationship)} ({evidence_in_words(relationship)})."
        for relationship in self._in[table.id]:
            if relationship.from_table == table.id:
                continue
            known = evidence_in_words(relationship)
            yield f"Referenced by: {join_condition(relationship)} ({known})."
        if metrics := self._metrics_of[table.id]:
            yield f"Metrics: {', '.join(metrics)}."
        if users := self._users_of[table.id]:
            yield f"Used by: {', '.join(users)}."
        if sources := self._made_from[table.id]:
            yield f"Made from: {', '.join(sources)}."
        for state in self._state_of[table.id]:
            yield f"State: {state_in_words(state)}."
        if table.definition:
            yield f"Defined as:\n{table.definition}"

    def _metric(self, metric: Metric) -> Span:
        text = self._text
        start = text.length
        text.heading(f"Metric {metric.name}", 2)
        label = f"{metric.label}. " if metric.label else ""
        text.line(f"{label}{one_line(metric.description)}".strip())
        formula = metric_formula(metric)
        for name, value in (
            ("Type", metric.type),
            ("Formula", formula),
            ("Filter", metric.filter),
            ("Time dimension", metric.time_dimension),
            ("Made of", ", ".join(metric.inputs)),
            ("Computed from", ", ".join(metric.tables)),
            ("Also called", ", ".join(metric.synonyms)),
            ("Dimensions", ", ".join(metric.dimensions)),
            ("Not to be summed over", metric.non_additive),
            ("Status", metric.status),
        ):
            if value:
                text.line(f"{name}: {value}.")
        text.line()
        return Span(start, text.length)

    def _query(self, query: SavedQuery) -> Span:
        text = self._text
        start = text.length
        text.heading(f"Query {one_line(query.name) or 'without a name'}", 2)
        if query.question and query.question != query.name:
            text.line(one_line(query.question))
        verified = " ".join(filter(None, (query.verified_by, query.verified_at)))
        for label, value in (
            ("Status", query.status),
            ("Verified", verified),
            ("Reads", ", ".join(query.tables)),
        ):
            if value:
                text.line(f"{label}: {value}.")
        text.line(query.sql)
        text.line()
        return Span(start, text.length)

    def _term(self, term: Term) -> Span:
        text = self._text
        start = text.length
        text.heading(f"Term {term.name}", 2)
        text.line(one_line(term.definition))
        if term.synonyms:
            text.line(f"Also called: {', '.join(term.synonyms)}.")
        text.line()
        return Span(start, text.length)

    def _rules(self) -> list[Span]:
        if self._catalog.rules:
            self._text.heading("Rules", 2)
        lines = [self._text.line(rule_line(rule)) for rule in self._catalog.rules]
        if lines:
            self._text.line()
        return lines

    def _states(self) -> None:
        """States of tables that another file describes."""
        described = {table.id for table in self._catalog.tables}
        others = [s for s in self._catalog.freshness if s.table not in described]
        if others:
            self._text.heading("State of tables", 2)
            for state in others:
                self._text.line(f"- {state.table or 'Some table'}: {state_in_words(state)}")
            self._text.line()

    def _exposure(self, exposure: Exposure) -> Span:
        text = self._text
        start = text.length
        text.heading(f"{(exposure.type or 'exposure').capitalize()} {exposure.name}", 2)
        text.line(one_line(exposure.description))
        if exposure.tables:
            text.line(f"Uses: {', '.join(exposure.tables)}.")
        if exposure.owner:
            text.line(f"Owner: {exposure.owner}.")
        text.line()
        return Span(start, text.length)

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
