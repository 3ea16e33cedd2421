"""Reads semantic models and semantic views of Snowflake, in either dialect of their YAML.

The older *semantic model* keeps ``measures`` or ``facts`` and ``metrics`` inside tables, and joins
with ``join_type`` and ``relationship_type``; the *semantic view* also has ``metrics`` of its own.
Verified queries are kept as certified.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from functools import partial
from typing import Final

from eagle_rag_lakehouse_bi.builder import CatalogBuilder
from eagle_rag_lakehouse_bi.objects import (
    Catalog,
    Column,
    ColumnRole,
    Metric,
    Origin,
    Relationship,
    Rule,
    SavedQuery,
    Table,
    cardinality_named,
)
from eagle_rag_lakehouse_bi.readers.conditions import plain_column
from eagle_rag_lakehouse_bi.readers.lenient import (
    Node,
    at,
    flag,
    named,
    names,
    objects,
    scalars,
    text,
)
from eagle_rag_lakehouse_bi.readers.query_joins import facts_of
from eagle_rag_lakehouse_bi.readers.structured import line_of, load_yaml
from eagle_rag_lakehouse_bi.sensitivity import marked_sensitive

_ROLES: Final[tuple[tuple[str, ColumnRole], ...]] = (
    ("dimensions", "dimension"),
    ("time_dimensions", "time"),
    ("facts", "fact"),
)


def read_snowflake(data: bytes, name: str) -> Catalog:
    """The catalog a semantic model or view describes.

    :raises IngestError: the file is not valid YAML.
    """
    built = CatalogBuilder()
    title = ""
    for document in load_yaml(data.decode("utf-8", errors="replace")):
        title = title or text(document, "name")
        _SnowflakeReader(built, name).read(document)
    return built.build(title or name, "Snowflake semantic model")


class _SnowflakeReader:
    """Reads one model. ``_ids`` maps the model's names of tables to ids."""

    def __init__(self, built: CatalogBuilder, file: str) -> None:
        self._built = built
        self._file = file
        self._ids: dict[str, str] = {}

    def read(self, document: Node) -> None:
        each, name = self._built.each, lambda node: text(node, "name")
        parts = ("tables", "metrics", "relationships", "verified_queries")
        self._built.note_strangers(document, *parts)
        tables = list(objects(document, "tables"))
        each(tables, self._read_table, name)
        for table in tables:
            own = self._ids.get(text(table, "name").lower(), "")
            for kind in ("metrics", "measures"):
                each(objects(table, kind), partial(self._read_metric, table=own), name)
        each(objects(document, "metrics"), partial(self._read_metric, table=""), name)
        each(objects(document, "relationships"), self._relate, name)
        each(objects(document, "verified_queries"), self._read_query, name)
        for rule in self._rules(document):
            self._built.rules.append(rule)

    def _read_table(self, node: Node) -> None:
        logical = named(node)
        base = text(node, "base_table", "table")
        table = Table(
            name=base or logical,
            schema=text(node, "base_table", "schema"),
            database=text(node, "base_table", "database"),
            description=text(node, "description"),
            columns=tuple(self._columns(node)),
            primary_key=names(node, "primary_key", "columns"),
            unique_keys=tuple(
                key for k in objects(node, "unique_keys") if (key := names(k, "columns"))
            ),
            definition=text(node, "base_table", "definition"),
            synonyms=_synonyms(node, logical if base.lower() != logical.lower() else ""),
            origin=Origin(self._file, line_of(node)),
        )
        self._built.add_table(table)
        self._ids[logical.lower()] = table.id

    def _columns(self, table: Node) -> Iterator[Column]:
        for part, role in _ROLES:
            for node in objects(table, part):
                name = text(node, "name")
                if not name:
                    owner = text(table, "name")
                    self._built.problem(f"One of {part} of {owner} has no name and was left out.")
                    continue
                expression = text(node, "expr")
                values = scalars(node, "sample_values")
                closed = flag(node, "is_enum")
                yield Column(
                    name=name,
                    type=text(node, "data_type"),
                    description=text(node, "description"),
                    unique=flag(node, "unique"),
                    accepted_values=values if closed else (),
                    samples=() if closed else values,
                    sensitive=marked_sensitive(node),
                    expression="" if plain_column(expression) == name else expression,
                    role=role,
                    synonyms=_synonyms(node),
                )

    def _read_metric(self, node: Node, table: str) -> None:
        expression = text(node, "expr")
        named_tables = [i for n, i in self._ids.items() if f"{n}." in expression.lower()]
        self._built.metrics.append(
            Metric(
                name=named(node),
                description=text(node, "description"),
                type="simple" if table else "derived",
                aggregation=text(node, "default_aggregation"),
                expression=expression,
                filter=text(node, "filter"),
                tables=(table,) if table else tuple(named_tables),
                synonyms=_synonyms(node),
                non_additive=", ".join(
                    text(d, "dimension") for d in objects(node, "non_additive_dimensions")
                ),
                origin=Origin(self._file, line_of(node)),
            )
        )

    def _relate(self, node: Node) -> None:
        left, right = text(node, "left_table").lower(), text(node, "right_table").lower()
        pairs = list(objects(node, "relationship_columns"))
        if left not in self._ids or right not in self._ids or not pairs:
            raise ValueError("a relationship needs two tables of the model and columns")
        own = tuple(text(p, "left_column") for p in pairs)
        other = tuple(text(p, "right_column") for p in pairs)
        if not all((*own, *other)):
            raise ValueError("a pair of columns is incomplete")
        self._built.relate(
            Relationship(
                from_table=self._ids[left],
                from_columns=own,
                to_table=self._ids[right],
                to_columns=other,
                evidence="declared",
                name=text(node, "name"),
                cardinality=cardinality_named(text(node, "relationship_type")),
                origin=Origin(self._file, line_of(node)),
            )
        )

    def _read_query(self, node: Node) -> None:
        sql = text(node, "sql")
        if not sql:
            raise ValueError("a verified query needs SQL")
        self._built.queries.append(
            SavedQuery(
                name=text(node, "name"),
                question=text(node, "question") or text(node, "name"),
                sql=sql,
                dialect="snowflake",
                status="certified",
                verified_by=text(node, "verified_by"),
                verified_at=_instant(at(node, "verified_at")),
                tables=tuple(self._tables_of(sql)),
                origin=Origin(self._file, line_of(node)),
            )
        )

    def _tables_of(self, sql: str) -> Iterator[str]:
        """The tables of a verified query, which speaks of logical ones as ``name`` or ``__name``;
        of one that cannot be read, those it names."""
        facts = facts_of(sql, "snowflake")
        if facts is None:
            yield from (i for n, i in self._ids.items() if n in sql.lower())
            return
        for table in facts.tables:
            yield self._ids.get(table.removeprefix("__"), table)

    def _rules(self, document: Node) -> Iterator[Rule]:
        origin = Origin(self._file)
        if rule := text(document, "custom_instructions"):
            yield Rule(rule, origin=origin)
        for key in ("sql_generation", "question_categorization"):
            if rule := text(document, "module_custom_instructions", key):
                yield Rule(rule, origin=origin)
        for table in objects(document, "tables"):
            own = self._ids.get(text(table, "name").lower(), "")
            for item in objects(table, "filters"):
                rule = f"{text(item, 'name')}: {text(item, 'expr')}"
                yield Rule(f"Filter {rule}", own, Origin(self._file, line_of(item)))


def _synonyms(node: Node, more: str = "") -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, (more, *names(node, "synonyms")))))


def _instant(value: object) -> str:
    """Seconds since 1970, or a date of YAML, as ISO 8601; other texts stay."""
    if isinstance(value, date):
        return value.isoformat()
    written = str(value or "")
    try:
        return datetime.fromtimestamp(float(written), UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return written
