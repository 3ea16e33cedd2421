"""From parsed DDL statements to objects of the catalog."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp
from sqlglot.errors import SqlglotError

from eagle_rag_lakehouse_bi.builder import CatalogBuilder
from eagle_rag_lakehouse_bi.objects import (
    Catalog,
    Column,
    Lineage,
    Origin,
    Relationship,
    Table,
    table_id,
)
from eagle_rag_lakehouse_bi.readers.column_lineage import derived_columns
from eagle_rag_lakehouse_bi.readers.conditions import resolved
from eagle_rag_lakehouse_bi.readers.query_joins import (
    QueryFacts,
    joins_of,
    mined_relationships,
    tables_of,
)
from eagle_rag_lakehouse_bi.readers.sql_statements import Reading, Statement

_HEAD_WORDS = 6


class DdlReader:
    """Collects what a script defines, statement by statement."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._built = CatalogBuilder()
        self._sources: list[tuple[str, str]] = []
        self._columns: dict[tuple[str, str], list[tuple[str, str]]] = {}
        self._joins: list[QueryFacts] = []

    def read(self, reading: Reading, statement: Statement) -> None:
        tree = reading.tree
        if isinstance(tree, exp.Create):
            self._read_create(tree, reading.dialect, statement)
        elif isinstance(tree, exp.Alter):
            self._read_alter(tree, statement)
        elif isinstance(tree, exp.Comment):
            self._read_comment(tree)

    def problem(self, statement: Statement) -> None:
        """Note a statement that no dialect reads."""
        head = " ".join(statement.code.split()[:_HEAD_WORDS])
        message = f"Line {statement.line}: “{head} …” could not be read."
        self._built.problem(message, statement.code)

    def catalog(self, format: str) -> Catalog:
        """What was collected; references to tables of the script take their full names."""
        known = self._built.tables
        relationships = [
            replace(
                r,
                to_table=resolved(r.to_table, known),
                from_table=resolved(r.from_table, known),
            )
            for r in self._built.relationships
        ]
        complete = CatalogBuilder(tables=known, problems=self._built.problems)
        for relationship in relationships:
            complete.relate(self._with_target_columns(relationship))
        for source, target in self._sources:
            columns = self._columns.get((source, target), ())
            complete.lineage.append(Lineage(resolved(source, known), target, tuple(columns)))
        for join in self._mined():
            complete.relate(join)
        return complete.build(self._file, format)

    def _mined(self) -> Iterator[Relationship]:
        """Joins of views that no key declares."""
        known = self._built.tables
        declared = {frozenset((r.from_table, r.to_table)) for r in self._built.relationships}
        for join in mined_relationships(self._joins, Origin(self._file)):
            left, right = resolved(join.from_table, known), resolved(join.to_table, known)
            if frozenset((left, right)) not in declared:
                yield replace(join, from_table=left, to_table=right)

    def _read_create(self, tree: exp.Create, dialect: str, statement: Statement) -> None:
        target = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
        if not isinstance(target, exp.Table) or not target.name:
            return
        parts = list(tree.this.expressions) if isinstance(tree.this, exp.Schema) else []
        constraints = list(_constraints(parts))
        columns = tuple(_column(c, dialect) for c in parts if isinstance(c, exp.ColumnDef))
        query = tree.expression if isinstance(tree.expression, exp.Query) else None
        table = Table(
            name=target.name,
            schema=target.db,
            database=target.catalog,
            kind=str(tree.args.get("kind") or "TABLE").lower(),
            description=_table_comment(tree) or statement.comment,
            columns=columns or tuple(_query_columns(query, parts)),
            primary_key=_primary_key(parts, constraints),
            unique_keys=tuple(_unique_keys(constraints)),
            definition=query.sql(dialect=dialect, pretty=True) if query else "",
            origin=Origin(self._file, statement.line),
        )
        self._built.add_table(table)
        if query:
            listed = [p.name.lower() for p in parts if not isinstance(p, exp.ColumnDef)]
            self._read_query(table.id, query, listed)
        for column in parts:
            if isinstance(column, exp.ColumnDef):
                for reference in column.find_all(exp.Reference):
                    self._relate(table.id, (column.name,), reference, "", statement)
        self._read_foreign_keys(table.id, constraints, statement)

    def _read_query(self, own: str, query: exp.Query, listed: list[str]) -> None:
        """What a view is made from, and how it joins it.

        :param listed: names the view gives to the columns of its query, by place.
        """
        self._sources += [(source, own) for source in tables_of(query)]
        try:
            for column, table, source in derived_columns(_named(query, listed)):
                self._columns.setdefault((table, own), []).append((source, column))
            self._joins.append(QueryFacts((), frozenset(joins_of(query)), ""))
        except (SqlglotError, RecursionError):
            # The view stays; only its joins and columns are unknown.
            return

    def _read_alter(self, tree: exp.Alter, statement: Statement) -> None:
        if not isinstance(tree.this, exp.Table):
            return
        own = _id(tree.this)
        added = [
            constraint
            for action in tree.args.get("actions") or ()
            if isinstance(action, exp.AddConstraint)
            for constraint in _constraints(action.expressions)
        ]
        self._read_foreign_keys(own, added, statement)
        key = _primary_key([], added)
        table = self._built.tables.get(resolved(own, self._built.tables))
        if key and table:
            self._built.tables[table.id] = replace(table, primary_key=key)

    def _read_comment(self, tree: exp.Comment) -> None:
        text = tree.expression.name if tree.expression else ""
        target = tree.this
        if isinstance(target, exp.Table):
            table = self._built.tables.get(resolved(_id(target), self._built.tables))
            if table:
                self._built.tables[table.id] = replace(table, description=text)
        elif isinstance(target, exp.Column):
            own = table_id(target.table, target.db, target.catalog)
            table = self._built.tables.get(resolved(own, self._built.tables))
            if table:
                columns = tuple(
                    replace(c, description=text) if c.name.lower() == target.name.lower() else c
                    for c in table.columns
                )
                self._built.tables[table.id] = replace(table, columns=columns)

    def _read_foreign_keys(
        self, own: str, constraints: list[tuple[str, exp.Expression]], statement: Statement
    ) -> None:
        for name, constraint in constraints:
            if isinstance(constraint, exp.ForeignKey):
                columns = tuple(c.name for c in constraint.expressions)
                self._relate(own, columns, constraint.args.get("reference"), name, statement)

    def _relate(
        self,
        own: str,
        columns: tuple[str, ...],
        reference: exp.Expression | None,
        name: str,
        statement: Statement,
    ) -> None:
        target = reference.find(exp.Table) if reference else None
        if target is None or reference is None:
            return
        named = reference.this.expressions if isinstance(reference.this, exp.Schema) else ()
        self._built.relate(
            Relationship(
                from_table=own,
                from_columns=columns,
                to_table=_id(target),
                to_columns=tuple(c.name for c in named),
                evidence="declared",
                name=name,
                origin=Origin(self._file, statement.line),
            )
        )

    def _with_target_columns(self, relationship: Relationship) -> Relationship:
        """A reference that names no columns is to the primary key."""
        if relationship.to_columns:
            return relationship
        table = self._built.tables.get(relationship.to_table)
        key = table.primary_key if table else ()
        fits = len(key) == len(relationship.from_columns)
        return replace(relationship, to_columns=key if fits else relationship.from_columns)


def _named(query: exp.Query, names: list[str]) -> exp.Query:
    """A query whose columns have other names, by place."""
    first = query.copy()
    select = first
    while isinstance(select, exp.SetOperation) and isinstance(select.this, exp.Query):
        select = select.this
    if isinstance(select, exp.Select) and len(select.expressions) == len(names):
        pairs = zip(select.expressions, names, strict=True)
        select.set("expressions", [exp.alias_(column.unalias(), name) for column, name in pairs])
    return first


def _column(definition: exp.ColumnDef, dialect: str) -> Column:
    kinds = [c.args.get("kind") for c in definition.constraints]
    comment = next((k.name for k in kinds if isinstance(k, exp.CommentColumnConstraint)), "")
    # sqlglot hangs "-- …" on whatever node stands before it.
    comments = (c.strip() for node in definition.walk() for c in node.comments or ())
    inline = " ".join(dict.fromkeys(comments))
    primary = any(isinstance(k, exp.PrimaryKeyColumnConstraint) for k in kinds)
    return Column(
        name=definition.name,
        type=definition.kind.sql(dialect=dialect).lower() if definition.kind else "",
        description=comment or inline,
        nullable=not primary
        and not any(
            isinstance(k, exp.NotNullColumnConstraint) and not k.args.get("allow_null")
            for k in kinds
        ),
        unique=primary or any(isinstance(k, exp.UniqueColumnConstraint) for k in kinds),
        accepted_values=tuple(_checked_values(kinds)),
    )


def _checked_values(kinds: list[exp.Expression | None]) -> Iterator[str]:
    """The texts of ``CHECK (column IN ('a', 'b'))``."""
    for kind in kinds:
        if isinstance(kind, exp.CheckColumnConstraint) and isinstance(kind.this, exp.In):
            yield from (v.name for v in kind.this.expressions if isinstance(v, exp.Literal))


def _query_columns(query: exp.Query | None, parts: list[exp.Expression]) -> Iterator[Column]:
    """Columns of a view or of CREATE TABLE AS: the names it lists, else those of its query."""
    named = [p.name for p in parts if isinstance(p, exp.Identifier | exp.Column)]
    if not named and query:
        named = [n for n in query.named_selects if n and n != "*"]
    yield from (Column(name) for name in dict.fromkeys(named))


def _constraints(parts: list[exp.Expression]) -> Iterator[tuple[str, exp.Expression]]:
    """Constraints of a table, each with its name or ""."""
    for part in parts:
        if isinstance(part, exp.Constraint):
            yield from ((part.name, inner) for inner in part.expressions)
        elif not isinstance(part, exp.ColumnDef):
            yield "", part


def _primary_key(
    parts: list[exp.Expression], constraints: list[tuple[str, exp.Expression]]
) -> tuple[str, ...]:
    for _, constraint in constraints:
        if isinstance(constraint, exp.PrimaryKey):
            return tuple(_names(constraint))
    return tuple(
        part.name
        for part in parts
        if isinstance(part, exp.ColumnDef)
        and any(
            isinstance(c.args.get("kind"), exp.PrimaryKeyColumnConstraint) for c in part.constraints
        )
    )


def _unique_keys(constraints: list[tuple[str, exp.Expression]]) -> Iterator[tuple[str, ...]]:
    for _, constraint in constraints:
        if isinstance(constraint, exp.UniqueColumnConstraint) and constraint.this:
            yield tuple(_names(constraint.this))


def _names(constraint: exp.Expression) -> list[str]:
    """Column names in a constraint, whose columns may carry an order ("id DESC")."""
    names = (e.this.name if isinstance(e, exp.Ordered) else e.name for e in constraint.expressions)
    return [name for name in names if name]


def _table_comment(tree: exp.Create) -> str:
    properties = tree.args.get("properties")
    comment = properties.find(exp.SchemaCommentProperty) if properties else None
    return comment.this.name if comment else ""


def _id(table: exp.Table) -> str:
    return table_id(table.name, table.db, table.catalog)
