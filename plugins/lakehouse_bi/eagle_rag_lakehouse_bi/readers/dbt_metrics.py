"""The semantic layer of a dbt project: metrics, and joins by entities.

Three layouts of metrics are read: that of dbt up to 1.5 (``calculation_method`` over a model),
MetricFlow's with measures in semantic models (dbt 1.6 to 1.11), and the one with the aggregation
inside the metric (dbt 1.12).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from eagle_rag_lakehouse_bi.objects import Metric, Origin, Relationship, table_id
from eagle_rag_lakehouse_bi.readers.lenient import Node, at, mapping, objects, text, texts
from eagle_rag_lakehouse_bi.readers.structured import line_of

#: Metrics may be made of metrics; a chain longer than this is a circle.
_DEEPEST: Final = 10


@dataclass(frozen=True, slots=True)
class _Measure:
    table: str
    aggregation: str
    expression: str
    time_dimension: str
    non_additive: str


@dataclass(frozen=True, slots=True)
class _Entity:
    table: str
    name: str
    type: str
    column: str


class SemanticLayer:
    """Metrics and entities of a manifest.

    :param ids: ids of tables by dbt's unique ids.
    :param file: where metrics stand that do not say it themselves.
    """

    def __init__(self, manifest: Node, ids: Mapping[str, str], file: str = "") -> None:
        self._ids = ids
        self._file = file
        self._metrics = {text(m, "name"): m for m in objects(manifest, "metrics")}
        self._measures: dict[str, _Measure] = {}
        self._tables: dict[str, str] = {}
        self._entities: list[_Entity] = []
        for model in objects(manifest, "semantic_models"):
            self._read_model(model)

    def relationships(self) -> Iterator[Relationship]:
        """Joins from each foreign entity to the tables whose primary key it is."""
        keys = [e for e in self._entities if e.type in ("primary", "unique", "natural")]
        for foreign in self._entities:
            for key in keys:
                if (
                    foreign.type == "foreign"
                    and foreign.name == key.name
                    and foreign.table != key.table
                ):
                    yield Relationship(
                        foreign.table,
                        (foreign.column,),
                        key.table,
                        (key.column,),
                        "semantic",
                        foreign.name,
                    )

    def primary_keys(self) -> Iterator[tuple[str, str]]:
        """Tables with the column of their primary entity."""
        return ((e.table, e.column) for e in self._entities if e.type == "primary")

    def metric(self, node: Node) -> Metric:
        """The metric a node describes.

        :raises ValueError: it has no name.
        """
        name = text(node, "name")
        if not name:
            raise ValueError("a metric needs a name")
        parameters = mapping(node, "type_params")
        aggregation, expression, time_dimension = self._calculation(node, parameters)
        return Metric(
            name=name,
            label=text(node, "label"),
            description=text(node, "description"),
            type=text(node, "type") or text(node, "calculation_method"),
            aggregation=aggregation,
            expression=expression,
            filter=_filter(node),
            time_dimension=time_dimension,
            inputs=tuple(_inputs(parameters)),
            tables=tuple(dict.fromkeys(self._tables_of(node, _DEEPEST))),
            non_additive=_non_additive(parameters, self._measures),
            origin=Origin(text(node, "original_file_path") or self._file, line_of(node)),
        )

    def _read_model(self, model: Node) -> None:
        table = self._table_of_model(model)
        if not table:
            return
        self._tables[text(model, "name")] = table
        default_time = text(model, "defaults", "agg_time_dimension")
        for measure in objects(model, "measures"):
            name = text(measure, "name")
            self._measures[name] = _Measure(
                table,
                text(measure, "agg"),
                text(measure, "expr") or name,
                text(measure, "agg_time_dimension") or default_time,
                text(measure, "non_additive_dimension", "name"),
            )
        for entity in objects(model, "entities"):
            name = text(entity, "name")
            self._entities.append(
                _Entity(table, name, text(entity, "type"), text(entity, "expr") or name)
            )

    def _table_of_model(self, model: Node) -> str:
        for node in texts(model, "depends_on", "nodes"):
            if node in self._ids:
                return self._ids[node]
        relation = mapping(model, "node_relation")
        return table_id(
            text(relation, "alias"), text(relation, "schema_name"), text(relation, "database")
        )

    def _calculation(self, node: Node, parameters: Node) -> tuple[str, str, str]:
        """Aggregation, expression and time dimension of a metric, "" where it has none."""
        expression = text(parameters, "expr")
        inner = mapping(parameters, "metric_aggregation_params")
        if inner:
            return (
                text(inner, "agg"),
                expression or text(node, "name"),
                text(inner, "agg_time_dimension"),
            )
        measure = self._measures.get(_name_of(at(parameters, "measure")))
        if measure:
            return measure.aggregation, measure.expression, measure.time_dimension
        if not parameters:
            return (
                text(node, "calculation_method") or text(node, "type"),
                text(node, "expression") or text(node, "sql"),
                text(node, "timestamp"),
            )
        if text(node, "type") == "ratio":
            top = _name_of(at(parameters, "numerator"))
            return "", f"{top} / {_name_of(at(parameters, 'denominator'))}", ""
        return "", expression, ""

    def _tables_of(self, node: Node, depth: int) -> Iterator[str]:
        parameters = mapping(node, "type_params")
        model = text(parameters, "metric_aggregation_params", "semantic_model")
        if model in self._tables:
            yield self._tables[model]
        measure = self._measures.get(_name_of(at(parameters, "measure")))
        if measure:
            yield measure.table
        for dependency in texts(node, "depends_on", "nodes"):
            if dependency in self._ids:
                yield self._ids[dependency]
        if depth:
            for name in _inputs(parameters):
                if name in self._metrics:
                    yield from self._tables_of(self._metrics[name], depth - 1)


def _inputs(parameters: Node) -> Iterator[str]:
    """Names of the metrics a metric is made of."""
    metrics = at(parameters, "metrics")
    names = [_name_of(metric) for metric in (metrics if isinstance(metrics, list) else ())]
    names += [_name_of(at(parameters, key)) for key in ("numerator", "denominator")]
    names.append(_name_of(at(parameters, "cumulative_type_params", "metric")))
    for key in ("base_metric", "conversion_metric"):
        names.append(_name_of(at(parameters, "conversion_type_params", key)))
    yield from dict.fromkeys(name for name in names if name)


def _non_additive(parameters: Node, measures: Mapping[str, _Measure]) -> str:
    """The dimension a metric must not be summed over."""
    own = text(parameters, "metric_aggregation_params", "non_additive_dimension", "name")
    measure = measures.get(_name_of(at(parameters, "measure")))
    return own or (measure.non_additive if measure else "")


def _filter(node: Node) -> str:
    """The filter of a metric as text; its layout differs between versions."""
    if plain := text(node, "filter"):
        return plain
    where = [text(f, "where_sql_template") for f in objects(node, "filter", "where_filters")]
    legacy = [
        " ".join((text(f, "field"), text(f, "operator"), text(f, "value")))
        for f in objects(node, "filters")
    ]
    return " and ".join(f for f in (*where, *legacy) if f.strip())


def _name_of(reference: object) -> str:
    """A reference is a name, or an object with one."""
    if isinstance(reference, str):
        return reference
    return text(reference, "name") if isinstance(reference, dict) else ""
