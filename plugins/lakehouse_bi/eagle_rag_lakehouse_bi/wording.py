"""Objects of a catalog as lines and phrases of text."""

from __future__ import annotations

from eagle_rag_lakehouse_bi.objects import Column, Freshness, Metric, Relationship, Rule, Table


def join_condition(relationship: Relationship) -> str:
    """The join of a relationship, tables by their plain names:
    ``orders.customer_id = customers.id``."""
    if not relationship.from_columns:
        return relationship.condition or "on a condition that is not stated"
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


def column_line(table: Table, column: Column) -> str:
    """A column with its type, keys, description and values."""
    facts = [column.type] if column.type else []
    if column.name in table.primary_key:
        facts.append("primary key")
    elif column.unique:
        facts.append("unique")
    if not column.nullable:
        facts.append("not null")
    values = f" Values: {', '.join(column.accepted_values)}." if column.accepted_values else ""
    kind = f" ({', '.join(facts)})" if facts else ""
    description = f": {one_line(column.description)}" if column.description else ""
    computed = f" Computed as {one_line(column.expression)}." if column.expression else ""
    synonyms = f" Also called {', '.join(column.synonyms)}." if column.synonyms else ""
    return f"- {column.name}{kind}{description}{values}{computed}{synonyms}"


def rule_line(rule: Rule) -> str:
    """A rule with the table it applies to."""
    place = f"{rule.table}: " if rule.table else ""
    return f"- {place}{one_line(rule.text)}"


def state_in_words(state: Freshness) -> str:
    """What is known of the state of a table's data, on one line."""
    facts = [
        state.status,
        f"{state.rows} rows" if state.rows >= 0 else "",
        f"loaded at {state.loaded_at}" if state.loaded_at else "",
        f"failed tests {', '.join(state.failed)}" if state.failed else "",
        f"due every {_hours(state.warn_after or state.error_after)} h"
        if state.warn_after or state.error_after
        else "",
    ]
    return ", ".join(filter(None, facts)) or "unknown"


def _hours(seconds: int) -> str:
    return f"{seconds / 3600:g}"


def qualified_name(table: Table) -> str:
    """The name of a table with schema and database, as the file writes it."""
    return ".".join(part for part in (table.database, table.schema, table.name) if part)


def one_line(text: str) -> str:
    """``text`` without line breaks."""
    return " ".join(text.split())


def evidence_in_words(relationship: Relationship) -> str:
    """How a relationship is known."""
    name = f" {relationship.name}" if relationship.name else ""
    support = f" in {relationship.support} queries" if relationship.support else ""
    role = f", as {relationship.role}" if relationship.role else ""
    return f"{relationship.evidence}{name}{support}{role}"


def counted(number: int, noun: str) -> str:
    """A number with its noun: ``1 table``, ``2 tables``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
