"""Reads the data model of Cube: its YAML files, and the JSON of its ``/v1/meta``.

A cube becomes a table with its dimensions as columns and its measures as metrics. Views of cubes
become tables of kind ``cube view``. JavaScript models are not read; their ``/meta`` is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from eagle_rag_lakehouse_bi.builder import CatalogBuilder
from eagle_rag_lakehouse_bi.objects import (
    Cardinality,
    Catalog,
    Column,
    ColumnRole,
    Metric,
    Origin,
    Relationship,
    Table,
    table_id,
)
from eagle_rag_lakehouse_bi.readers.conditions import (
    joined_columns,
    plain_column,
    relation_id,
)
from eagle_rag_lakehouse_bi.readers.lenient import Node, flag, mapping, named, objects, text
from eagle_rag_lakehouse_bi.readers.structured import line_of, load_json, load_yaml
from eagle_rag_lakehouse_bi.sensitivity import marked_sensitive

_CARDINALITIES: Final[dict[str, Cardinality]] = {
    "many_to_one": "many_to_one",
    "belongs_to": "many_to_one",
    "belongsto": "many_to_one",
    "one_to_many": "one_to_many",
    "has_many": "one_to_many",
    "hasmany": "one_to_many",
    "one_to_one": "one_to_one",
    "has_one": "one_to_one",
    "hasone": "one_to_one",
}
#: ``{CUBE}.x``, ``{users.id}``, ``${CUBE}.x``, ``${users.id}``.
_MEMBER: Final = re.compile(r"\$?\{\s*([\w.]+)\s*\}")
_KINDS_OF_TIME: Final = frozenset({"time", "date", "timestamp"})


def read_cube_yaml(data: bytes, name: str) -> Catalog:
    """The catalog a YAML file of a Cube data model describes.

    :raises IngestError: the file is not valid YAML.
    """
    reader = _CubeReader(name)
    for document in load_yaml(data.decode("utf-8", errors="replace")):
        reader.read(document, kind="cubes")
        reader.read(document, kind="views")
    return reader.built.build(name, "Cube YAML")


def read_cube_meta(data: bytes, name: str) -> Catalog:
    """The catalog the JSON of Cube's ``/v1/meta`` describes.

    :raises IngestError: the file is not valid JSON.
    """
    reader = _CubeReader(name)
    reader.read(mapping({"meta": load_json(data)}, "meta"), kind="cubes")
    return reader.built.build(name, "Cube meta")


@dataclass(slots=True)
class _CubeReader:
    file: str
    built: CatalogBuilder

    def __init__(self, file: str) -> None:
        self.file = file
        self.built = CatalogBuilder()

    def read(self, document: Node, *, kind: str) -> None:
        read = self._read_cube if kind == "cubes" else self._read_view
        self.built.note_strangers(document, kind)
        self.built.each(objects(document, kind), read, lambda cube: text(cube, "name"))

    def _read_cube(self, cube: Node) -> None:
        name = named(cube)
        kind = "cube view" if text(cube, "type") == "view" else "cube"
        relation = text(cube, "sql_table") or text(cube, "sqlTable")
        self.built.add_table(
            Table(
                name=name,
                kind=kind,
                description=_described(cube),
                columns=tuple(self._columns(cube, name)),
                primary_key=tuple(
                    _member(d, name)
                    for d in objects(cube, "dimensions")
                    if flag(d, "primary_key") or flag(d, "primaryKey")
                ),
                definition=text(cube, "sql"),
                relation=relation_id(relation),
                origin=self._origin(cube),
            )
        )
        measures = list(objects(cube, "measures"))
        self.built.each(measures, lambda m: self._read_measure(m, name), lambda m: text(m, "name"))
        joins = list(objects(cube, "joins"))
        self.built.each(joins, lambda j: self._read_join(j, name), lambda j: text(j, "name"))

    def _read_view(self, view: Node) -> None:
        name = named(view)
        included = [text(c, "join_path") for c in objects(view, "cubes")]
        paths = [path for path in included if path]
        note = f"Combines {', '.join(paths)}." if paths else ""
        self.built.add_table(
            Table(
                name=name,
                kind="cube view",
                description=" ".join(filter(None, (_described(view), note))),
                columns=tuple(self._columns(view, name)),
                origin=self._origin(view),
            )
        )

    def _columns(self, cube: Node, name: str) -> Iterator[Column]:
        for dimension in objects(cube, "dimensions"):
            member = _member(dimension, name)
            if not member:
                self.built.problem(f"A dimension of {name} has no name and was left out.")
                continue
            expression = _readable(text(dimension, "sql"), name)
            role: ColumnRole = "time" if text(dimension, "type") in _KINDS_OF_TIME else "dimension"
            yield Column(
                name=member,
                type=text(dimension, "type"),
                description=_described(dimension),
                unique=flag(dimension, "primary_key") or flag(dimension, "primaryKey"),
                expression="" if plain_column(expression) == member else expression,
                role=role,
                sensitive=marked_sensitive(dimension),
            )

    def _read_measure(self, measure: Node, cube: str) -> None:
        name = _member(measure, cube)
        if not name:
            raise ValueError("a measure needs a name")
        filters = [_readable(text(f, "sql"), cube) for f in objects(measure, "filters")]
        aggregation = text(measure, "aggType") or text(measure, "type")
        expression = _readable(text(measure, "sql"), cube)
        self.built.metrics.append(
            Metric(
                name=name,
                label=text(measure, "title"),
                description=text(measure, "description"),
                type="derived" if aggregation == "number" else "simple",
                aggregation="" if aggregation in ("number", "string", "time") else aggregation,
                expression=expression,
                filter=" and ".join(f for f in filters if f),
                tables=(table_id(cube),),
                origin=self._origin(measure),
            )
        )

    def _read_join(self, join: Node, cube: str) -> None:
        other = named(join)
        condition = _readable(text(join, "sql"), cube)
        own, others = joined_columns(condition, cube, other)
        self.built.relate(
            Relationship(
                from_table=table_id(cube),
                from_columns=own,
                to_table=table_id(other),
                to_columns=others,
                evidence="semantic",
                cardinality=_CARDINALITIES.get(text(join, "relationship").lower(), ""),
                condition="" if own else condition,
                origin=self._origin(join),
            )
        )

    def _origin(self, node: Node) -> Origin:
        return Origin(self.file, line_of(node))


def _member(node: Node, cube: str) -> str:
    """The name of a member; ``/meta`` writes the cube's name before it."""
    return text(node, "name").removeprefix(f"{cube}.")


def _described(node: Node) -> str:
    title, description = text(node, "title"), text(node, "description")
    return f"{title}. {description}" if title and description else title or description


def _readable(sql: str, cube: str) -> str:
    """SQL with references to members written as qualified names."""
    named = _MEMBER.sub(r"\1", sql)
    return re.sub(r"\bCUBE\b", cube, named)
