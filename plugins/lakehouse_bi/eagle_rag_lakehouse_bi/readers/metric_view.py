"""Reads metric views of Databricks (versions 0.1 and 1.1).

A metric view becomes a table of kind ``metric view``: its dimensions are columns, its measures
metrics, and its joins relationships between the relations it is made of.
"""

from __future__ import annotations

from collections.abc import Iterator

from eagle_rag_lakehouse_bi.builder import CatalogBuilder
from eagle_rag_lakehouse_bi.objects import (
    Cardinality,
    Catalog,
    Column,
    Lineage,
    Metric,
    Origin,
    Relationship,
    Rule,
    Table,
    table_id,
)
from eagle_rag_lakehouse_bi.readers.conditions import (
    equalities,
    joined_columns,
    plain_column,
    relation_id,
    relation_parts,
)
from eagle_rag_lakehouse_bi.readers.lenient import Node, flag, named, names, objects, text
from eagle_rag_lakehouse_bi.readers.structured import line_of, load_yaml

_SOURCE = "source"


def read_metric_view(data: bytes, name: str) -> Catalog:
    """The catalog a metric view describes.

    :param name: of the file, which names the view: its YAML does not.
    :raises IngestError: the file is not valid YAML.
    """
    built = CatalogBuilder()
    for document in load_yaml(data.decode("utf-8", errors="replace")):
        if text(document, "source"):
            _MetricViewReader(built, name).read(document)
    return built.build(name, "Databricks metric view")


class _MetricViewReader:
    def __init__(self, built: CatalogBuilder, file: str) -> None:
        self._built = built
        self._file = file
        self._view = file.rpartition("/")[2].partition(".")[0] or file
        self._id = table_id(self._view)

    def read(self, view: Node) -> None:
        source = text(view, "source")
        base = relation_id(source)
        dimensions = [*objects(view, "dimensions"), *objects(view, "fields")]
        self._built.add_table(
            Table(
                name=self._view,
                kind="metric view",
                description=text(view, "comment"),
                columns=tuple(self._columns(dimensions)),
                definition="" if base else source,
                origin=Origin(self._file, line_of(view)),
            )
        )
        if base:
            self._add_relation(source)
            self._built.lineage.append(Lineage(base, self._id))
        self._built.note_strangers(view, "measures", "dimensions", "fields")
        each = self._built.each
        each(
            objects(view, "measures"),
            lambda m: self._read_measure(m, view),
            lambda m: text(m, "name"),
        )
        self._read_joins(view, base, _SOURCE)
        if condition := text(view, "filter"):
            self._built.rules.append(
                Rule(f"Rows are limited to: {condition}", self._id, Origin(self._file))
            )

    def _columns(self, dimensions: list[Node]) -> Iterator[Column]:
        for node in dimensions:
            name = text(node, "name")
            if not name:
                self._built.problem(f"A dimension of {self._view} has no name and was left out.")
                continue
            expression = text(node, "expr")
            label = text(node, "display_name")
            yield Column(
                name=name,
                description=text(node, "comment") or label,
                expression="" if plain_column(expression) == name else expression,
                role="dimension",
                synonyms=tuple(dict.fromkeys(filter(None, (label, *names(node, "synonyms"))))),
            )

    def _read_measure(self, node: Node, view: Node) -> None:
        self._built.metrics.append(
            Metric(
                name=named(node),
                label=text(node, "display_name"),
                description=text(node, "comment"),
                type="simple",
                expression=text(node, "expr"),
                filter=text(view, "filter"),
                tables=(self._id,),
                synonyms=names(node, "synonyms"),
                dimensions=tuple(n for d in objects(view, "dimensions") if (n := text(d, "name"))),
                origin=Origin(self._file, line_of(node)),
            )
        )

    def _read_joins(self, node: Node, base: str, alias: str) -> None:
        def read(join: Node) -> None:
            self._relate(join, base, alias)

        self._built.each(objects(node, "joins"), read, lambda join: text(join, "name"))

    def _relate(self, join: Node, base: str, alias: str) -> None:
        other, relation = named(join), text(join, "source")
        condition = text(join, "on")
        using = names(join, "using")
        target = relation_id(relation)
        self._add_relation(relation)
        self._built.lineage.append(Lineage(target, self._id))
        columns = using or self._columns_of(condition, alias, other)[0]
        others = using or self._columns_of(condition, alias, other)[1]
        one = flag(join, "rely", "at_most_one_match") or text(join, "cardinality") == "many_to_one"
        cardinality: Cardinality = "many_to_one" if one else ""
        self._built.relate(
            Relationship(
                from_table=base,
                from_columns=columns,
                to_table=target,
                to_columns=others,
                evidence="semantic",
                name=other,
                role=other if other.lower() != target.rpartition(".")[2] else "",
                cardinality=cardinality,
                condition="" if columns else condition,
                origin=Origin(self._file, line_of(join)),
            )
        )
        self._read_joins(join, target, other)

    @staticmethod
    def _columns_of(
        condition: str, alias: str, other: str
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The columns of a condition; a join below another may still name ``source``."""
        found = joined_columns(condition, alias, other)
        if found[0] or len(equalities(condition)) == 0:
            return found
        return joined_columns(condition, _SOURCE, other)

    def _add_relation(self, relation: str) -> None:
        database, schema, name = relation_parts(relation)
        self._built.add_table(
            Table(name=name, schema=schema, database=database, origin=Origin(self._file))
        )
