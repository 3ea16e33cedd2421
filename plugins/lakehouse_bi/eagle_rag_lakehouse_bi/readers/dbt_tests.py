"""What the generic tests of a dbt project say about keys, references and values."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from eagle_rag_lakehouse_bi.readers.lenient import Node, mapping, scalars, text, texts

#: ``ref('orders')``, ``ref('package', 'orders')``, ``source('erp', 'orders')``.
_CALL: Final = re.compile(r"(?:ref|source)\(([^)]*)\)")
_QUOTED: Final = re.compile(r"['\"]([^'\"]+)['\"]")
_REFERENCES: Final = frozenset({"relationships", "relationships_where"})


@dataclass(slots=True)
class ColumnFacts:
    """What tests say about one column."""

    name: str = ""
    unique: bool = False
    not_null: bool = False
    accepted_values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TestedReference:
    """A ``relationships`` test; nodes are dbt's unique ids."""

    from_node: str
    column: str
    to_node: str
    field: str


class FactsFromTests:
    """Facts from the test nodes of a manifest, by the unique id of the tested node.

    Tests that are not understood are passed over.
    """

    def __init__(self, tests: Iterable[Node]) -> None:
        self.columns: defaultdict[str, dict[str, ColumnFacts]] = defaultdict(dict)
        self.unique_keys: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
        self.references: list[TestedReference] = []
        for test in tests:
            self._read(test)

    def _read(self, test: Node) -> None:
        arguments = mapping(test, "test_metadata", "kwargs")
        # dbt 1.11 may keep the arguments of a test apart from its configuration.
        arguments = {**arguments, **mapping(arguments, "arguments")}
        node = _tested_node(test, arguments)
        column = text(test, "column_name") or text(arguments, "column_name")
        name = text(test, "test_metadata", "name")
        if not node:
            return
        if name == "unique_combination_of_columns":
            if key := texts(arguments, "combination_of_columns"):
                self.unique_keys[node].append(key)
        elif column:
            self._read_column_test(name, node, column, test, arguments)

    def _read_column_test(
        self, name: str, node: str, column: str, test: Node, arguments: Node
    ) -> None:
        facts = self.columns[node].setdefault(column.lower(), ColumnFacts(column))
        if name == "unique":
            facts.unique = True
        elif name == "not_null":
            facts.not_null = True
        elif name == "accepted_values":
            facts.accepted_values = scalars(arguments, "values")
        elif name in _REFERENCES:
            target = _referenced(text(arguments, "to"), test)
            field = text(arguments, "field")
            if target and field:
                self.references.append(TestedReference(node, column, target, field))


def _tested_node(test: Node, arguments: Node) -> str:
    """The node a test is attached to; manifests before version 9 say so only in its arguments."""
    return text(test, "attached_node") or _referenced(text(arguments, "model"), test)


def _referenced(expression: str, test: Node) -> str:
    """The unique id of what ``ref(…)`` or ``source(…)`` in ``expression`` names."""
    call = _CALL.search(expression)
    names = _QUOTED.findall(call.group(1)) if call else []
    if not names:
        return ""
    wanted = names[-1]
    for node in texts(test, "depends_on", "nodes"):
        # Unique ids end with the name, or with the name and a version: model.shop.orders.v2
        if node.endswith(f".{wanted}") or f".{wanted}.v" in node:
            return node
    return ""
