"""Reads MetricFlow: ``semantic_manifest.json``, and the YAML files of a dbt project.

Of the YAML both layouts are read: semantic models of their own with measures (dbt 1.6 to 1.11), and
``semantic_model`` inside a model, with entities and dimensions at its columns and metrics that
aggregate by themselves (dbt 1.12). Descriptions, keys and tests of models, seeds and sources are
read as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from eagle_rag_lakehouse_bi.builder import CatalogBuilder
from eagle_rag_lakehouse_bi.objects import Catalog, Column, ColumnRole, Origin, Table
from eagle_rag_lakehouse_bi.readers.conditions import plain_column
from eagle_rag_lakehouse_bi.readers.dbt_metrics import SemanticLayer
from eagle_rag_lakehouse_bi.readers.dbt_yaml_tests import described_columns, tested_references
from eagle_rag_lakehouse_bi.readers.lenient import Node, mapping, named, objects, text, texts
from eagle_rag_lakehouse_bi.readers.structured import line_of, load_json, load_yaml
from eagle_rag_lakehouse_bi.wording import counted

_QUOTED: Final = re.compile(r"['\"]([^'\"]+)['\"]")
_KINDS: Final = (("models", "model"), ("seeds", "seed"), ("snapshots", "snapshot"))


def read_semantic_manifest(data: bytes, name: str) -> Catalog:
    """The catalog a ``semantic_manifest.json`` describes.

    :raises IngestError: the file is not valid JSON.
    """
    built = CatalogBuilder()
    _read_layer(mapping({"file": load_json(data)}, "file"), built, name)
    return built.build(name, "dbt semantic manifest")


def read_dbt_yaml(data: bytes, name: str) -> Catalog:
    """The catalog a YAML file of a dbt project describes.

    :raises IngestError: the file is not valid YAML.
    """
    built = CatalogBuilder()
    for document in load_yaml(data.decode("utf-8", errors="replace")):
        for part, kind in _KINDS:
            _read_relations(objects(document, part), kind, built, name)
        for source in objects(document, "sources"):
            schema = text(source, "schema") or text(source, "name")
            place = (schema, text(source, "database"))
            _read_relations(objects(source, "tables"), "source", built, name, place)
        _read_layer(_as_manifest(document), built, name)
    return built.build(name, "dbt YAML")


def _read_relations(
    nodes: Iterator[Node],
    kind: str,
    built: CatalogBuilder,
    file: str,
    place: tuple[str, str] = ("", ""),
) -> None:
    def read(node: Node) -> None:
        schema, database = place
        columns = tuple(described_columns(node))
        nameless = sum(not text(column, "name") for column in objects(node, "columns"))
        if nameless:
            left_out = counted(nameless, "column")
            built.problem(f"{left_out} of {text(node, 'name')} without a name left out.")
        keys = [c.name for c in columns if c.unique and not c.nullable]
        table = Table(
            name=text(node, "identifier") or text(node, "config", "alias") or named(node),
            schema=schema,
            database=database,
            kind=kind,
            description=text(node, "description"),
            columns=columns,
            primary_key=tuple(keys) if len(keys) == 1 else (),
            tags=(*texts(node, "tags"), *texts(node, "config", "tags")),
            origin=Origin(file, line_of(node)),
        )
        built.add_table(table)
        for relationship in tested_references(node, table.id, Origin(file, line_of(node))):
            built.relate(relationship)

    built.each(nodes, read, lambda node: text(node, "name"))


def _read_layer(manifest: Node, built: CatalogBuilder, file: str) -> None:
    layer = SemanticLayer(manifest, {}, file)
    built.note_strangers(manifest, "semantic_models", "metrics")
    for model in objects(manifest, "semantic_models"):
        table = _table_of(model, layer, file)
        if table:
            built.add_table(table)
        else:
            what = text(model, "name") or "A semantic model"
            built.problem(f"{what} names no table and was left out.")
    for relationship in layer.relationships():
        built.relate(relationship)
    for own, key in layer.primary_keys():
        known = built.tables.get(own)
        if known and not known.primary_key:
            built.tables[own] = replace(known, primary_key=(key,))
    built.each(
        objects(manifest, "metrics"),
        lambda metric: built.metrics.append(layer.metric(metric)),
        lambda metric: text(metric, "name"),
    )


def _table_of(model: Node, layer: SemanticLayer, file: str) -> Table | None:
    relation = mapping(model, "node_relation")
    name = text(relation, "alias")
    if not name:
        return None
    return Table(
        name=name,
        schema=text(relation, "schema_name"),
        database=text(relation, "database"),
        kind="model",
        description=text(model, "description"),
        columns=tuple(_semantic_columns(model)),
        origin=Origin(file, line_of(model)),
    )


def _semantic_columns(model: Node) -> Iterator[Column]:
    """Entities and dimensions, under the name of the column they are; computed ones under their
    own."""
    for part in ("entities", "dimensions"):
        for node in objects(model, part):
            name = text(node, "name")
            expression = text(node, "expr")
            column = plain_column(expression) if expression else name
            role: ColumnRole = "entity" if part == "entities" else "dimension"
            if text(node, "type") == "time":
                role = "time"
            if column or name:
                yield Column(
                    name=column or name,
                    description=text(node, "description"),
                    expression="" if column else expression,
                    role=role,
                    synonyms=(name,) if name and column and name != column else (),
                )


def _as_manifest(document: Node) -> Node:
    """A YAML document in the layout of a manifest."""
    models: list[dict[str, Any]] = []
    metrics: list[Node] = [_with_parameters(m) for m in objects(document, "metrics")]
    for model in objects(document, "semantic_models"):
        names = _QUOTED.findall(text(model, "model"))
        alias = names[-1] if names else text(model, "model")
        models.append({**model, "node_relation": {"alias": alias}})
        metrics += _metrics_of_measures(model)
    for model in objects(document, "models"):
        if model.get("semantic_model"):
            models.append(_inner_model(model))
            metrics += [_inner_metric(m, model) for m in objects(model, "metrics")]
    return {"semantic_models": models, "metrics": metrics}


def _metrics_of_measures(model: Node) -> Iterator[Node]:
    for measure in objects(model, "measures"):
        if measure.get("create_metric") is True:
            yield {
                "name": text(measure, "name"),
                "label": text(measure, "label"),
                "description": text(measure, "description"),
                "type": "simple",
                "type_params": {"measure": {"name": text(measure, "name")}},
            }


def _inner_model(model: Node) -> dict[str, Any]:
    """A model whose columns carry entities and dimensions, as a semantic model."""
    parts: dict[str, list[dict[str, Any]]] = {"entity": [], "dimension": []}
    for column in objects(model, "columns"):
        for part, found in parts.items():
            inner = mapping(column, part)
            if inner:
                name = text(inner, "name") or text(column, "name")
                found.append({**inner, "name": name, "expr": text(column, "name")})
    name = text(model, "semantic_model", "name") or text(model, "name")
    return {
        "name": name,
        "description": text(model, "description"),
        "node_relation": {"alias": text(model, "name")},
        "defaults": {"agg_time_dimension": text(model, "agg_time_dimension")},
        "entities": parts["entity"],
        "dimensions": parts["dimension"],
    }


def _with_parameters(metric: Node) -> Node:
    """A metric with its parameters apart; dbt 1.12 writes them beside its name."""
    legacy = {"type_params", "calculation_method", "expression", "sql"} & metric.keys()
    return metric if legacy else {**metric, "type_params": metric}


def _inner_metric(metric: Node, model: Node) -> Node:
    """A metric that aggregates by itself, in the layout of a manifest."""
    if not text(metric, "agg"):
        return _with_parameters(metric)
    name = text(model, "semantic_model", "name") or text(model, "name")
    return {
        **metric,
        "type_params": {
            "expr": text(metric, "expr"),
            "metric_aggregation_params": {
                "semantic_model": name,
                "agg": text(metric, "agg"),
                "agg_time_dimension": text(metric, "agg_time_dimension")
                or text(model, "agg_time_dimension"),
            },
        },
    }
