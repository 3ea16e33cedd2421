"""Defined metrics and saved queries that a statement says over again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from eagle_rag_core.types import Record
from eagle_rag_lakehouse_bi.sql_answers import LikeQuery, ResembledMetric

#: How semantic layers call the aggregations of SQL.
_AGGREGATIONS = {"average": "avg", "mean": "avg", "number": "", "sum_boolean": "sum"}
_DISTINCT = frozenset({"count_distinct", "countdistinct", "distinct_count"})


def resembled(query: exp.Query, metrics: Iterable[Record]) -> Iterator[ResembledMetric]:
    """Metrics whose formula is an expression of the query."""
    formulas = [(record, _formula(record)) for record in metrics]
    for expression in _computed(query):
        written = _plain(expression)
        for record, formula in formulas:
            if formula and formula == written:
                yield ResembledMetric(
                    name=record.fields["name"],
                    urn=record.fields["urn"],
                    expression=expression.sql(),
                    formula=record.data["formula"],
                    filter=record.data["filter"],
                    status=record.fields["status"],
                )


def alike(tree: exp.Expr, queries: Iterable[Record]) -> Iterator[LikeQuery]:
    """Saved queries that differ from a statement in values and names of aliases at most."""
    shape = _shape(tree)
    for record in queries:
        other = _parsed(record.data["sql"], record.data["dialect"])
        if other is not None and _shape(other) == shape:
            fields = record.fields
            yield LikeQuery(fields["urn"], fields["name"], fields["status"])


def aggregates(query: exp.Query) -> Iterator[exp.Expr]:
    """The aggregations that a query returns."""
    for item in query.selects:
        for function in item.find_all(exp.AggFunc):
            if not function.find_ancestor(exp.AggFunc):
                yield function


def _computed(query: exp.Query) -> Iterator[exp.Expr]:
    """What a query and the queries in it compute by aggregation, whole and in parts."""
    seen: set[str] = set()
    for select in query.find_all(exp.Select):
        for item in select.selects:
            whole = item.unalias()
            parts = [whole] if whole.find(exp.AggFunc) else []
            for part in (*parts, *whole.find_all(exp.AggFunc)):
                if part.sql() not in seen:
                    seen.add(part.sql())
                    yield part


def _formula(metric: Record) -> str:
    """The formula of a metric as it is compared, "" when it is none of SQL."""
    aggregation, expression = metric.data["aggregation"].lower(), metric.data["expression"]
    if not expression:
        return ""
    aggregation = _AGGREGATIONS.get(aggregation, aggregation)
    if aggregation in _DISTINCT:
        written = f"count(distinct {expression})"
    else:
        written = f"{aggregation}({expression})" if aggregation else expression
    tree = _parsed(f"select {written}", "")
    selects = tree.selects if isinstance(tree, exp.Select) else []
    return _plain(selects[0].unalias()) if len(selects) == 1 else ""


def _plain(expression: exp.Expr) -> str:
    """An expression without names of tables, quotes and case of names."""

    def plain(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column):
            return exp.column(exp.to_identifier(node.name.lower(), quoted=False))
        return node.this if isinstance(node, exp.Paren) else node

    return expression.copy().transform(plain).sql(comments=False, normalize_functions="upper")


def _shape(tree: exp.Expr) -> str:
    """A statement without the values it compares with and without aliases of its columns."""

    def plain(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Literal):
            return exp.Placeholder()
        if isinstance(node, exp.Identifier):
            return exp.to_identifier(node.name.lower(), quoted=False)
        return node.unalias()

    return tree.copy().transform(plain).sql(comments=False, normalize_functions="upper")


def _parsed(sql: str, dialect: str) -> exp.Expr | None:
    try:
        return parse_one(sql, dialect=dialect or None)
    except (SqlglotError, RecursionError, ValueError):
        return None
