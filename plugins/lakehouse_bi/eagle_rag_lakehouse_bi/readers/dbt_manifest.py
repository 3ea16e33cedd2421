"""Reads ``manifest.json`` of dbt (schema versions 4 to 12, dbt 1.0 to 1.12).

Only the keys used here are looked at, and each may be missing or malformed: dbt adds and moves
keys between patch releases. An object that cannot be read is named in
:attr:`Catalog.problems`; the others are read all the same.

Keys and references come from four places: constraints of models and columns, the primary key dbt
itself infers, ``unique``/``not_null``/``relationships`` tests, and the entities of semantic models.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_lakehouse_bi.builder import CatalogBuilder
from eagle_rag_lakehouse_bi.objects import (
    Catalog,
    Column,
    Exposure,
    Freshness,
    Lineage,
    Origin,
    Relationship,
    Status,
    Table,
)
from eagle_rag_lakehouse_bi.readers.column_lineage import columns_of_sql
from eagle_rag_lakehouse_bi.readers.dbt_artifacts import agreed_ages
from eagle_rag_lakehouse_bi.readers.dbt_metrics import SemanticLayer
from eagle_rag_lakehouse_bi.readers.dbt_tests import ColumnFacts, FactsFromTests, TestedReference
from eagle_rag_lakehouse_bi.readers.lenient import Node, mapping, objects, text, texts
from eagle_rag_lakehouse_bi.sensitivity import marked_sensitive

_VERSION: Final = re.compile(r"/manifest/(v\d+)\.json")
_RELATIONS: Final = frozenset({"model", "seed", "snapshot", "source"})


def read_dbt_manifest(data: bytes, name: str = "") -> Catalog:
    """The catalog a manifest describes.

    :param name: of the file, for manifests that do not name their project.
    :raises IngestError: the file is not a dbt manifest.
    """
    try:
        manifest = json.loads(data)
    except (ValueError, RecursionError):
        raise IngestError("The file is not valid JSON; run dbt parse again.") from None
    version = _VERSION.search(text(manifest, "metadata", "dbt_schema_version"))
    if not version:
        raise IngestError(
            "The JSON file is not a dbt manifest; ingest target/manifest.json.",
            code=ErrorCode.UNSUPPORTED_FORMAT,
        )
    catalog = _ManifestReader(manifest).read(f"dbt manifest {version.group(1)}")
    return catalog if catalog.name else replace(catalog, name=name)


class _ManifestReader:
    """Reads one manifest. ``_ids`` maps dbt's unique ids to ids of tables."""

    def __init__(self, manifest: Node) -> None:
        self._manifest = manifest
        self._built = CatalogBuilder()
        self._ids: dict[str, str] = {}
        self._facts = FactsFromTests(self._nodes("test"))

    def read(self, format: str) -> Catalog:
        nodes = [node for kind in ("model", "snapshot", "seed") for node in self._nodes(kind)]
        nodes += objects(self._manifest, "sources")
        self._built.note_strangers(self._manifest, "nodes", "sources", "metrics", "exposures")
        self._each(nodes, self._read_table)
        self._each(nodes, self._read_constraints)
        self._each(nodes, self._read_lineage)
        for reference in self._facts.references:
            self._relate_tested(reference)
        layer = SemanticLayer(self._manifest, self._ids)
        self._read_entities(layer)
        self._each(objects(self._manifest, "metrics"), self._metric_reader(layer))
        self._each(objects(self._manifest, "exposures"), self._read_exposure)
        self._each(self._nodes("analysis"), self._read_exposure)
        project = text(self._manifest, "metadata", "project_name") or self._project()
        return self._built.build(project, format)

    def _nodes(self, kind: str) -> Iterator[Node]:
        nodes = objects(self._manifest, "nodes")
        return (node for node in nodes if text(node, "resource_type") == kind)

    def _project(self) -> str:
        """Older manifests do not name the project; their models do."""
        return next((text(node, "package_name") for node in self._nodes("model")), "")

    def _each(self, nodes: Iterable[Node], read: Callable[[Node], None]) -> None:
        self._built.each(nodes, read, lambda node: text(node, "unique_id") or text(node, "name"))

    def _read_table(self, node: Node) -> None:
        kind = text(node, "resource_type") or "source"
        name = text(node, "identifier") or text(node, "alias") or text(node, "name")
        if not name or kind not in _RELATIONS:
            raise ValueError("a relation needs a name")
        unique_id = text(node, "unique_id")
        of_dbt = text(node, "name")
        facts = self._facts.columns.get(unique_id, {})
        table = Table(
            name=name,
            schema=text(node, "schema"),
            database=text(node, "database"),
            kind=kind,
            description=text(node, "description") or text(node, "source_description"),
            columns=tuple(_columns(node, facts)),
            primary_key=_primary_key(node, facts),
            unique_keys=tuple(self._facts.unique_keys.get(unique_id, ())),
            tags=texts(node, "tags"),
            synonyms=(of_dbt,) if of_dbt and of_dbt.lower() != name.lower() else (),
            owner=_owner(node),
            status=_status(node),
            origin=_origin(node),
        )
        self._built.add_table(table)
        self._ids[unique_id] = table.id
        warn_after, error_after = agreed_ages(mapping(node, "freshness"))
        if warn_after or error_after:
            self._built.freshness.append(
                Freshness(table.id, warn_after=warn_after, error_after=error_after)
            )

    def _read_constraints(self, node: Node) -> None:
        """Foreign keys that model contracts declare."""
        own = self._ids.get(text(node, "unique_id"))
        for columns, constraint in _constraints(node):
            target = _relation_id(text(constraint, "to"), self._ids)
            to_columns = texts(constraint, "to_columns")
            if own and target and columns and len(columns) == len(to_columns):
                name = text(constraint, "name")
                self._built.relate(Relationship(own, columns, target, to_columns, "declared", name))

    def _read_lineage(self, node: Node) -> None:
        own = self._ids.get(text(node, "unique_id"))
        sources = [self._ids[d] for d in texts(node, "depends_on", "nodes") if d in self._ids]
        if not own or not sources:
            return
        code = text(node, "compiled_code") or text(node, "compiled_sql")
        columns = columns_of_sql(code, text(self._manifest, "metadata", "adapter_type"))
        for source in dict.fromkeys(sources):
            self._built.lineage.append(Lineage(source, own, columns.get(source, ())))

    def _relate_tested(self, reference: TestedReference) -> None:
        own = self._ids.get(reference.from_node)
        target = self._ids.get(reference.to_node)
        if own and target:
            self._built.relate(
                Relationship(own, (reference.column,), target, (reference.field,), "tested")
            )

    def _read_entities(self, layer: SemanticLayer) -> None:
        for relationship in layer.relationships():
            self._built.relate(relationship)
        for table, key in layer.primary_keys():
            known = self._built.tables.get(table)
            if known and not known.primary_key:
                self._built.tables[table] = replace(known, primary_key=(key,))

    def _metric_reader(self, layer: SemanticLayer) -> Callable[[Node], None]:
        return lambda node: self._built.metrics.append(layer.metric(node))

    def _read_exposure(self, node: Node) -> None:
        if not text(node, "name"):
            raise ValueError("an exposure needs a name")
        tables = (self._ids.get(n) for n in texts(node, "depends_on", "nodes"))
        self._built.exposures.append(
            Exposure(
                name=text(node, "label") or text(node, "name"),
                type=text(node, "type") or text(node, "resource_type"),
                description=text(node, "description"),
                tables=tuple(t for t in tables if t),
                origin=_origin(node),
                owner=text(node, "owner", "name") or text(node, "owner", "email"),
                url=text(node, "url"),
            )
        )


def _columns(node: Node, facts: Mapping[str, ColumnFacts]) -> Iterator[Column]:
    described = [c for c in objects(node, "columns") if text(c, "name")]
    for column in described:
        name = text(column, "name")
        fact = facts.get(name.lower(), ColumnFacts())
        constraints = {text(c, "type") for c in objects(column, "constraints")}
        yield Column(
            name=name,
            type=text(column, "data_type"),
            description=text(column, "description"),
            nullable=not (fact.not_null or constraints & {"not_null", "primary_key"}),
            unique=fact.unique or bool(constraints & {"unique", "primary_key"}),
            accepted_values=fact.accepted_values,
            sensitive=marked_sensitive(column),
        )
    # Tests may name columns that nobody described.
    known = {text(c, "name").lower() for c in described}
    for name, fact in facts.items():
        if name not in known:
            yield Column(
                name=fact.name,
                nullable=not fact.not_null,
                unique=fact.unique,
                accepted_values=fact.accepted_values,
            )


def _primary_key(node: Node, facts: Mapping[str, ColumnFacts]) -> tuple[str, ...]:
    for constraint in objects(node, "constraints"):
        if text(constraint, "type") == "primary_key":
            return texts(constraint, "columns")
    if inferred := texts(node, "primary_key"):
        return inferred
    keyed = [
        text(column, "name")
        for column in objects(node, "columns")
        for constraint in objects(column, "constraints")
        if text(constraint, "type") == "primary_key"
    ]
    tested = [fact.name for fact in facts.values() if fact.unique and fact.not_null]
    return tuple(keyed) or (tuple(tested) if len(tested) == 1 else ())


def _constraints(node: Node) -> Iterator[tuple[tuple[str, ...], Node]]:
    """Foreign-key constraints of a model, each with its columns."""
    for constraint in objects(node, "constraints"):
        if text(constraint, "type") == "foreign_key":
            yield texts(constraint, "columns"), constraint
    for column in objects(node, "columns"):
        for constraint in objects(column, "constraints"):
            if text(constraint, "type") == "foreign_key":
                yield (text(column, "name"),), constraint


def _relation_id(target: str, ids: Mapping[str, str]) -> str:
    """The table a constraint points to: a rendered relation, or a ``ref()`` not yet rendered."""
    name = re.sub(r"[\"`\[\]]", "", target).lower()
    if name in ids.values():
        return name
    quoted = re.findall(r"'([^']+)'", target)
    wanted = quoted[-1].lower() if quoted else name.rpartition(".")[2]
    return next((i for i in ids.values() if i.rpartition(".")[2] == wanted), "")


def _status(node: Node) -> Status:
    if text(node, "deprecation_date"):
        return "deprecated"
    tags = {tag.lower() for tag in texts(node, "tags")}
    return "certified" if "certified" in tags else "deprecated" if "deprecated" in tags else ""


def _owner(node: Node) -> str:
    for path in (("meta", "owner"), ("config", "meta", "owner")):
        owner = text(node, *path) or text(node, *path, "name") or text(node, *path, "email")
        if owner:
            return owner
    return text(node, "group")


def _origin(node: Node) -> Origin:
    return Origin(text(node, "original_file_path"))
