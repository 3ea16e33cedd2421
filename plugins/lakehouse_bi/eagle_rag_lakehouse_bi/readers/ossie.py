"""Reads Apache Ossie (formerly OSI) documents: semantic models and ontologies.

An ontology's concepts become terms of the glossary; the semantic models inside its mappings are
read like others.
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
    Rule,
    Table,
    Term,
)
from eagle_rag_lakehouse_bi.readers.conditions import plain_column, relation_parts
from eagle_rag_lakehouse_bi.readers.lenient import (
    Node,
    at,
    flag,
    mapping,
    named,
    names,
    objects,
    text,
    texts,
)
from eagle_rag_lakehouse_bi.readers.structured import line_of, load_yaml


def read_ossie(data: bytes, name: str) -> Catalog:
    """The catalog an Ossie document describes.

    :raises IngestError: the file is not valid YAML.
    """
    built = CatalogBuilder()
    title = version = ""
    for document in load_yaml(data.decode("utf-8", errors="replace")):
        version = version or text(document, "version")
        for model in _models(document):
            title = title or text(model, "name")
            _ModelReader(built, name).read(model)
        built.each(
            objects(document, "ontology"),
            lambda concept: built.terms.append(_term(concept, name)),
            lambda concept: text(concept, "concept"),
        )
        title = title or text(document, "name")
    return built.build(title or name, f"Ossie {version}".strip())


def _models(document: Node) -> Iterator[Node]:
    """Semantic models of a document: a list, one alone, or those of mappings."""
    for node in (document, *objects(document, "ontology_mappings")):
        one = mapping(node, "semantic_model")
        if one:
            yield one
        else:
            yield from objects(node, "semantic_model")


def _term(concept: Node, file: str) -> Term:
    name = text(concept, "concept") or named(concept)
    extends = texts(concept, "extends")
    definition = text(concept, "description")
    if extends:
        definition = f"{definition} Kind of {', '.join(extends)}.".strip()
    return Term(name, definition, _synonyms(concept), Origin(file, line_of(concept)))


class _ModelReader:
    """Reads one semantic model. ``_ids`` maps names of datasets to ids of tables."""

    def __init__(self, built: CatalogBuilder, file: str) -> None:
        self._built = built
        self._file = file
        self._ids: dict[str, str] = {}

    def read(self, model: Node) -> None:
        each, name = self._built.each, lambda node: text(node, "name")
        self._built.note_strangers(model, "datasets", "relationships", "metrics")
        each(objects(model, "datasets"), self._read_dataset, name)
        each(objects(model, "relationships"), self._relate, name)
        each(objects(model, "metrics"), self._read_metric, name)
        if rule := _instructions(model):
            self._built.rules.append(Rule(rule, origin=self._origin(model)))

    def _read_dataset(self, node: Node) -> None:
        name, source = named(node), text(node, "source")
        try:
            database, schema, base = relation_parts(source)
        except ValueError:
            database, schema, base = "", "", name
        alias = name if base.lower() != name.lower() else ""
        table = Table(
            name=base,
            schema=schema,
            database=database,
            description=text(node, "description"),
            columns=tuple(self._columns(node)),
            primary_key=names(node, "primary_key"),
            unique_keys=tuple(_keys(node)),
            definition=source if base == name and " " in source else "",
            synonyms=tuple(dict.fromkeys(filter(None, (alias, *_synonyms(node))))),
            origin=self._origin(node),
        )
        self._built.add_table(table)
        self._ids[name.lower()] = table.id
        if rule := _instructions(node):
            self._built.rules.append(Rule(rule, table.id, self._origin(node)))

    def _columns(self, dataset: Node) -> Iterator[Column]:
        for node in objects(dataset, "fields"):
            name = text(node, "name")
            if not name:
                owner = text(dataset, "name")
                self._built.problem(f"A field of {owner} has no name and was left out.")
                continue
            expression, label = _expression(node), text(node, "label")
            yield Column(
                name=name,
                type=text(node, "datatype"),
                description=text(node, "description") or label,
                expression="" if plain_column(expression) == name else expression,
                role="time" if flag(node, "dimension", "is_time") else "dimension",
                synonyms=tuple(dict.fromkeys(filter(None, (label, *_synonyms(node))))),
            )

    def _relate(self, node: Node) -> None:
        own, other = self._ids[text(node, "from").lower()], self._ids[text(node, "to").lower()]
        columns, others = names(node, "from_columns"), names(node, "to_columns")
        if not columns or len(columns) != len(others):
            raise ValueError("columns of a relationship pair up")
        self._built.relate(
            Relationship(
                from_table=own,
                from_columns=columns,
                to_table=other,
                to_columns=others,
                evidence="declared",
                name=text(node, "name"),
                # The specification puts the many side first.
                cardinality="many_to_one",
                origin=self._origin(node),
            )
        )

    def _read_metric(self, node: Node) -> None:
        expression = _expression(node)
        tables = [i for n, i in self._ids.items() if f"{n}." in expression.lower()]
        self._built.metrics.append(
            Metric(
                name=named(node),
                description=text(node, "description"),
                type="simple",
                expression=expression,
                tables=tuple(tables),
                synonyms=_synonyms(node),
                origin=self._origin(node),
            )
        )

    def _origin(self, node: Node) -> Origin:
        return Origin(self._file, line_of(node))


def _expression(node: Node) -> str:
    """An expression in standard SQL, else in the first dialect given."""
    dialects = list(objects(node, "expression", "dialects"))
    standard = [d for d in dialects if text(d, "dialect") == "ANSI_SQL"]
    chosen = next(iter(standard or dialects), {})
    return text(chosen, "expression") or text(node, "expression")


def _synonyms(node: Node) -> tuple[str, ...]:
    return names(node, "ai_context", "synonyms")


def _instructions(node: Node) -> str:
    """``ai_context`` is a text, or an object with instructions."""
    return text(node, "ai_context") or text(node, "ai_context", "instructions")


def _keys(node: Node) -> Iterator[tuple[str, ...]]:
    """Unique keys: each a list of columns, or a column alone."""
    value = at(node, "unique_keys")
    for key in value if isinstance(value, list) else ():
        if columns := names({"key": key}, "key"):
            yield columns
