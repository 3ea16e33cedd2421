"""Reads the modelling language (MDL) of WrenAI: its JSON manifest, or a YAML file of a project.

Cubes and metrics over models become metrics; views keep their statement.
"""

from __future__ import annotations

from collections.abc import Iterator

from eagle_rag_lakehouse_bi.builder import CatalogBuilder
from eagle_rag_lakehouse_bi.objects import (
    Catalog,
    Column,
    Metric,
    Origin,
    Relationship,
    Table,
    cardinality_named,
    table_id,
)
from eagle_rag_lakehouse_bi.readers.conditions import joined_columns
from eagle_rag_lakehouse_bi.readers.lenient import Node, flag, mapping, named, names, objects, text
from eagle_rag_lakehouse_bi.readers.structured import line_of, load_json, load_yaml


def read_wren(data: bytes, name: str) -> Catalog:
    """The catalog an MDL manifest describes.

    :raises IngestError: the file is neither valid JSON nor valid YAML.
    """
    reader = _WrenReader(name)
    if data.lstrip()[:1] == b"{":
        reader.read(mapping({"mdl": load_json(data)}, "mdl"))
    else:
        for document in load_yaml(data.decode("utf-8", errors="replace")):
            reader.read(document)
    return reader.built.build(name, "WrenAI MDL")


class _WrenReader:
    """Reads one manifest. ``_ids`` maps names of models and views to ids of tables."""

    def __init__(self, file: str) -> None:
        self.built = CatalogBuilder()
        self._file = file
        self._ids: dict[str, str] = {}

    def read(self, mdl: Node) -> None:
        each, name = self.built.each, lambda node: text(node, "name")
        self.built.note_strangers(mdl, "models", "views", "relationships", "cubes", "metrics")
        each(objects(mdl, "models"), self._read_model, name)
        each(objects(mdl, "views"), self._read_view, name)
        each(objects(mdl, "relationships"), self._relate, name)
        each(objects(mdl, "cubes"), self._read_measures, name)
        each(objects(mdl, "metrics"), self._read_measures, name)

    def _read_model(self, node: Node) -> None:
        name = named(node)
        reference = mapping(node, "tableReference") or mapping(node, "table_reference")
        base = text(reference, "table")
        table = Table(
            name=base or name,
            schema=text(reference, "schema"),
            database=text(reference, "catalog"),
            kind="model",
            description=_described(node),
            columns=tuple(self._columns(node)),
            primary_key=names(node, "primaryKey") or names(node, "primary_key"),
            definition=text(node, "refSql") or text(node, "ref_sql"),
            synonyms=(name,) if base and base.lower() != name.lower() else (),
            origin=self._origin(node),
        )
        self.built.add_table(table)
        self._ids[name.lower()] = table.id

    def _columns(self, model: Node) -> Iterator[Column]:
        for node in objects(model, "columns"):
            name = text(node, "name")
            if not name:
                owner = text(model, "name")
                self.built.problem(f"A column of {owner} has no name and was left out.")
            elif not text(node, "relationship"):
                yield Column(
                    name=name,
                    type=text(node, "type"),
                    description=_described(node),
                    nullable=not (flag(node, "notNull") or flag(node, "not_null")),
                    unique=flag(node, "isPrimaryKey"),
                    expression=text(node, "expression"),
                )

    def _read_view(self, node: Node) -> None:
        name = named(node)
        self.built.add_table(
            Table(
                name=name,
                kind="view",
                description=_described(node),
                definition=text(node, "statement"),
                origin=self._origin(node),
            )
        )
        self._ids[name.lower()] = table_id(name)

    def _relate(self, node: Node) -> None:
        models = names(node, "models")
        if len(models) != 2:
            raise ValueError("a relationship joins two models")
        left, right = models
        condition = text(node, "condition")
        own, other = joined_columns(condition, left, right)
        if not condition:
            raise ValueError("a relationship needs a condition")
        kind = text(node, "joinType") or text(node, "join_type")
        self.built.relate(
            Relationship(
                from_table=self._id(left),
                from_columns=own,
                to_table=self._id(right),
                to_columns=other,
                evidence="declared",
                name=text(node, "name"),
                cardinality=cardinality_named(kind),
                condition="" if own else condition,
                origin=self._origin(node),
            )
        )

    def _read_measures(self, node: Node) -> None:
        base = text(node, "baseObject") or text(node, "base_object")
        dimensions = [*objects(node, "dimensions"), *objects(node, "dimension")]
        for measure in [*objects(node, "measures"), *objects(node, "measure")]:
            self.built.metrics.append(
                Metric(
                    name=named(measure),
                    description=_described(measure) or _described(node),
                    type="simple",
                    expression=text(measure, "expression"),
                    tables=(self._id(base),) if base else (),
                    dimensions=tuple(n for d in dimensions if (n := text(d, "name"))),
                    origin=self._origin(measure),
                )
            )

    def _id(self, model: str) -> str:
        return self._ids.get(model.lower(), table_id(model))

    def _origin(self, node: Node) -> Origin:
        return Origin(self._file, line_of(node))


def _described(node: Node) -> str:
    return text(node, "description") or text(node, "properties", "description")
