"""Reads LookML: views become tables, their dimensions columns and their measures metrics;
explores give joins, with their roles.

Refinements (``view: +orders``) add to the view they refine, where it is in the same file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from eagle_rag_core.errors import IngestError
from eagle_rag_lakehouse_bi.builder import MALFORMED, CatalogBuilder
from eagle_rag_lakehouse_bi.objects import (
    Catalog,
    Column,
    ColumnRole,
    Exposure,
    Metric,
    Origin,
    Relationship,
    Rule,
    Table,
    cardinality_named,
    table_id,
)
from eagle_rag_lakehouse_bi.readers.conditions import (
    joined_columns,
    plain_column,
    relation_id,
)
from eagle_rag_lakehouse_bi.readers.lenient import Node, flag, mapping, named, objects, text, texts
from eagle_rag_lakehouse_bi.sensitivity import marked_sensitive

_FIELD: Final = re.compile(r"\$\{\s*([\w.]+?)(?:\.SQL_TABLE_NAME)?\s*\}")
_OWN: Final = re.compile(r"\$\{TABLE\}\s*\.\s*")
_DEEPEST: Final = 200


def read_lookml(data: bytes, name: str) -> Catalog:
    """The catalog a LookML file describes.

    :raises IngestError: it is not valid LookML.
    """
    import lkml

    source = data.decode("utf-8-sig", errors="replace")
    if _depth(source) > _DEEPEST:
        raise IngestError("The LookML file nests too deep to be read.")
    try:
        parsed: Any = lkml.load(source)
    except (SyntaxError, RecursionError, *MALFORMED):
        raise IngestError(
            "The file is not valid LookML; check it with Looker's validator or the lkml command."
        ) from None
    reader = _LookmlReader(name, source)
    reader.read(parsed)
    return reader.built.build(name, "LookML")


def _depth(source: str) -> int:
    """How deep braces nest at most."""
    depth = deepest = 0
    for sign in re.findall(r"[{}]", source):
        depth += 1 if sign == "{" else -1
        deepest = max(deepest, depth)
    return deepest


class _LookmlReader:
    def __init__(self, file: str, source: str) -> None:
        self.built = CatalogBuilder()
        self._file = file
        self._lines = {
            (kind, name): source.count("\n", 0, match.start(1)) + 1
            for match in re.finditer(r"^[ \t]*(view|explore):\s*(\+?\w+)", source, re.MULTILINE)
            for kind, name in [match.groups()]
        }

    def read(self, document: Node) -> None:
        each, name = self.built.each, lambda node: text(node, "name")
        each(objects(document, "views"), self._read_view, name)
        each(objects(document, "explores"), self._read_explore, name)

    def _read_view(self, view: Node) -> None:
        name = named(view).removeprefix("+")
        fields = [*objects(view, "dimensions"), *objects(view, "dimension_groups")]
        bases = [*texts(view, "extends"), *texts(view, "extends__all")]
        label = text(view, "label") or text(view, "view_label")
        note = f"Extends {', '.join(bases)}." if bases else ""
        description = " ".join(filter(None, (text(view, "description"), note)))
        self.built.add_table(
            Table(
                name=name,
                kind="view",
                description=description,
                columns=tuple(self._columns(view, fields)),
                primary_key=tuple(
                    text(d, "name") for d in fields if flag(d, "primary_key") and text(d, "name")
                ),
                tags=texts(view, "tags"),
                definition=text(view, "derived_table", "sql"),
                relation=relation_id(text(view, "sql_table_name")),
                synonyms=(label,) if label and label.lower() != name.lower() else (),
                origin=self._origin("view", text(view, "name")),
            )
        )
        self.built.each(
            objects(view, "measures"),
            lambda measure: self._read_measure(measure, name),
            lambda measure: text(measure, "name"),
        )

    def _columns(self, view: Node, fields: list[Node]) -> Iterator[Column]:
        groups = {id(g) for g in objects(view, "dimension_groups")}
        for node in fields:
            name = text(node, "name")
            if not name:
                owner = text(view, "name")
                self.built.problem(f"A dimension of {owner} has no name and was left out.")
                continue
            expression = _readable(text(node, "sql"))
            role: ColumnRole = "time" if id(node) in groups else "dimension"
            label = text(node, "label")
            yield Column(
                name=name,
                type=text(node, "type") or "string",
                description=text(node, "description"),
                unique=flag(node, "primary_key"),
                expression="" if plain_column(expression) == name else expression,
                role=role,
                synonyms=(label,) if label and label.lower() != name.lower() else (),
                samples=texts(node, "suggestions"),
                sensitive=marked_sensitive(node),
            )

    def _read_measure(self, measure: Node, view: str) -> None:
        kind = text(measure, "type")
        computed = kind in ("number", "string", "date", "yesno", "")
        self.built.metrics.append(
            Metric(
                name=named(measure),
                label=text(measure, "label"),
                description=text(measure, "description"),
                type="derived" if computed else "simple",
                aggregation="" if computed else kind,
                expression=_readable(text(measure, "sql")),
                filter=" and ".join(_filters(measure)),
                tables=(table_id(view),),
                origin=self._origin("view", view),
            )
        )

    def _read_explore(self, explore: Node) -> None:
        name = named(explore).removeprefix("+")
        base = text(explore, "from") or text(explore, "view_name") or name
        own = text(explore, "view_name") or name
        aliases = {own.lower(): table_id(base)}
        joins = list(objects(explore, "joins"))
        for join in joins:
            alias = text(join, "name")
            aliases[alias.lower()] = table_id(text(join, "from") or alias)
        self.built.each(
            joins, lambda join: self._relate(join, own, aliases), lambda join: text(join, "name")
        )
        origin = self._origin("explore", text(explore, "name"))
        label, description = text(explore, "label"), text(explore, "description")
        self.built.exposures.append(
            Exposure(label or name, "explore", description, tuple(aliases.values()), origin)
        )
        condition = _readable(text(explore, "sql_always_where"))
        for rule in (condition, " and ".join(_filters(mapping(explore, "always_filter")))):
            if rule:
                what = f"Queries of explore {name} always filter by: {rule}"
                self.built.rules.append(Rule(what, table_id(base), origin))

    def _relate(self, join: Node, base: str, aliases: dict[str, str]) -> None:
        alias = named(join).lower()
        condition = _readable(text(join, "sql_on"))
        key = text(join, "foreign_key")
        if key:
            # The key of the joined view is its primary key, which only its own file may tell.
            condition = f"{base}.{key.rpartition('.')[2]} = the primary key of {alias}"
        left, columns, others = self._sides(condition, alias, base, aliases)
        target = aliases[alias]
        self.built.relate(
            Relationship(
                from_table=aliases[left],
                from_columns=columns,
                to_table=target,
                to_columns=others,
                evidence="semantic",
                name=alias,
                role=alias if alias != target else "",
                # LookML takes a join without one for many to one.
                cardinality=cardinality_named(text(join, "relationship") or "many_to_one"),
                condition="" if columns else condition,
                origin=self._origin("explore", base),
            )
        )

    def _sides(
        self, condition: str, alias: str, base: str, aliases: dict[str, str]
    ) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """Which earlier view a condition joins, and the columns it pairs up."""
        for left in aliases:
            columns, others = joined_columns(condition, left, alias)
            if columns and left != alias:
                return left, columns, others
        return base.lower(), (), ()

    def _origin(self, kind: str, name: str) -> Origin:
        return Origin(self._file, self._lines.get((kind, name), 0))


def _filters(node: Node) -> Iterator[str]:
    """Filters of a measure or explore, whose layout differs between versions of lkml."""
    for part in ("filters", "filters__all"):
        value = node.get(part)
        for item in _flat(value):
            if "field" in item:
                yield f"{item['field']} = {item.get('value', '')}"
            else:
                yield from (f"{k} = {v}" for k, v in item.items() if isinstance(v, str))


def _flat(value: Any) -> Iterator[Node]:
    if isinstance(value, dict):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _flat(item)


def _readable(sql: str) -> str:
    """SQL with references to fields written as names."""
    return _FIELD.sub(r"\1", _OWN.sub("", sql)).strip()
