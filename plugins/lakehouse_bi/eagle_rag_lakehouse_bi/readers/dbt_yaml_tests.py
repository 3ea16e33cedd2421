"""Columns of a dbt YAML file, with what the tests beside them say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from eagle_rag_lakehouse_bi.objects import Column, Origin, Relationship, table_id
from eagle_rag_lakehouse_bi.readers.lenient import Node, at, mapping, objects, scalars, text
from eagle_rag_lakehouse_bi.sensitivity import marked_sensitive

_QUOTED: Final = re.compile(r"['\"]([^'\"]+)['\"]")


def described_columns(node: Node) -> Iterator[Column]:
    """The columns a model, seed or source describes."""
    for column in objects(node, "columns"):
        name = text(column, "name")
        if not name:
            continue
        tests = dict(_tests(column))
        constraints = {text(c, "type") for c in objects(column, "constraints")}
        known = tests.keys() | constraints
        yield Column(
            name=name,
            type=text(column, "data_type"),
            description=text(column, "description"),
            nullable=not known & {"not_null", "primary_key"},
            unique=bool(known & {"unique", "primary_key"}),
            accepted_values=scalars(tests.get("accepted_values", {}), "values"),
            sensitive=marked_sensitive(column),
        )


def tested_references(node: Node, own: str, origin: Origin) -> Iterator[Relationship]:
    """What ``relationships`` tests of the columns refer to."""
    for column in objects(node, "columns"):
        for name, arguments in _tests(column):
            target = _QUOTED.findall(text(arguments, "to"))
            field = text(arguments, "field")
            if name == "relationships" and target and field and text(column, "name"):
                yield Relationship(
                    own,
                    (text(column, "name"),),
                    table_id(target[-1]),
                    (field,),
                    "tested",
                    origin=origin,
                )


def _tests(column: Node) -> Iterator[tuple[str, Node]]:
    """Tests with their arguments: a name alone, or a name over arguments."""
    for part in ("tests", "data_tests"):
        listed: Any = at(column, part)
        for test in listed if isinstance(listed, list) else ():
            if isinstance(test, str):
                yield test, {}
            elif isinstance(test, dict):
                for name, arguments in test.items():
                    if isinstance(name, str) and isinstance(arguments, dict):
                        # dbt 1.11 keeps the arguments apart from the configuration.
                        yield name, {**arguments, **mapping(arguments, "arguments")}
