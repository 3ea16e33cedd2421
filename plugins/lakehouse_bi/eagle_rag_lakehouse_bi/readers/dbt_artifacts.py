"""Reads what dbt writes beside its manifest: ``catalog.json``, ``run_results.json`` and
``sources.json``, in any of their versions.

They are joined to the tables of a manifest by the tables' names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from eagle_rag_lakehouse_bi.builder import CatalogBuilder
from eagle_rag_lakehouse_bi.objects import Catalog, Column, Freshness, Table
from eagle_rag_lakehouse_bi.readers.conditions import relation_id
from eagle_rag_lakehouse_bi.readers.lenient import Node, at, mapping, objects, text
from eagle_rag_lakehouse_bi.readers.structured import load_json

_PASSED: Final = frozenset({"pass", "success", "skipped"})
_RELATIONS: Final = ("model", "seed", "snapshot", "source")
_UNITS: Final = {"minute": 60, "hour": 3_600, "day": 86_400}


def read_dbt_catalog(data: bytes, name: str) -> Catalog:
    """Tables with the columns and types the warehouse really has.

    :raises IngestError: the file is not valid JSON.
    """
    catalog = mapping({"file": load_json(data)}, "file")
    generated = text(catalog, "metadata", "generated_at")
    built = CatalogBuilder()
    built.note_strangers(catalog, "nodes", "sources")
    for part in ("nodes", "sources"):

        def read(node: Node, part: str = part) -> None:
            table = _table(node, "source" if part == "sources" else "")
            built.add_table(table)
            rows = at(node, "stats", "row_count", "value") or at(node, "stats", "num_rows", "value")
            loaded = text(node, "stats", "last_modified", "value")
            count = int(rows) if isinstance(rows, int | float) else -1
            if count >= 0 or loaded:
                state = Freshness(table.id, loaded, rows=count, checked_at=generated)
                built.freshness.append(state)

        built.each(objects(catalog, part), read, lambda node: text(node, "unique_id"))
    return built.build(name, "dbt catalog")


def read_dbt_results(data: bytes, name: str) -> Catalog:
    """The state of tables after a run, or after a check of sources.

    :raises IngestError: the file is not valid JSON.
    """
    results = mapping({"file": load_json(data)}, "file")
    generated = text(results, "metadata", "generated_at")
    built = CatalogBuilder()
    built.note_strangers(results, "results")
    failed = _failed_tests(results)

    def read(result: Node) -> None:
        kind, _, rest = text(result, "unique_id").partition(".")
        if not kind:
            raise ValueError("a result is of something")
        if kind not in _RELATIONS:
            return
        relation = relation_id(text(result, "relation_name"))
        short = rest.rpartition(".")[2].lower()
        status = text(result, "status")
        loaded = text(result, "max_loaded_at") or (generated if status in _PASSED else "")
        warn_after, error_after = agreed_ages(mapping(result, "criteria"))
        built.freshness.append(
            Freshness(
                table=relation or short,
                loaded_at=loaded,
                status=status,
                failed=tuple(failed.pop(short, ())),
                checked_at=text(result, "snapshotted_at") or generated,
                warn_after=warn_after,
                error_after=error_after,
            )
        )

    built.each(objects(results, "results"), read, lambda result: text(result, "unique_id"))
    for table, tests in failed.items():
        built.freshness.append(Freshness(table=table, failed=tuple(tests), checked_at=generated))
    return built.build(name, "dbt results")


def agreed_ages(criteria: Node) -> tuple[int, int]:
    """Seconds from which the freshness criteria of a source warn, and fail; 0 for never."""
    warn, error = (_seconds(mapping(criteria, after)) for after in ("warn_after", "error_after"))
    return warn, error


def _seconds(age: Node) -> int:
    count, unit = at(age, "count"), _UNITS.get(text(age, "period"), 0)
    return count * unit if isinstance(count, int) else 0


def _table(node: Node, kind: str) -> Table:
    unique_id = text(node, "unique_id")
    name = text(node, "metadata", "name")
    if not name:
        raise ValueError("a relation needs a name")
    of_warehouse = text(node, "metadata", "type").lower()
    return Table(
        name=name,
        schema=text(node, "metadata", "schema"),
        database=text(node, "metadata", "database"),
        kind=kind or unique_id.partition(".")[0] or of_warehouse or "table",
        description=text(node, "metadata", "comment"),
        columns=tuple(_columns(node)),
        owner=text(node, "metadata", "owner"),
    )


def _columns(node: Node) -> Iterator[Column]:
    described = [c for c in objects(node, "columns") if text(c, "name")]
    described.sort(key=lambda c: i if isinstance(i := at(c, "index"), int) else 0)
    for column in described:
        yield Column(
            name=text(column, "name"),
            type=text(column, "type").lower(),
            description=text(column, "comment"),
        )


def _failed_tests(results: Node) -> dict[str, list[str]]:
    """Names of failed tests by the table they test, as far as the test's compiled SQL says it."""
    failed: defaultdict[str, list[str]] = defaultdict(list)
    for result in objects(results, "results"):
        kind, _, rest = text(result, "unique_id").partition(".")
        if kind == "test" and text(result, "status") not in _PASSED:
            test = rest.partition(".")[2].rpartition(".")[0] or rest
            failed[_tested(text(result, "compiled_code"))].append(test)
    return dict(failed)


def _tested(sql: str) -> str:
    """The only table a test reads, "" when it reads several or none is known."""
    from sqlglot import exp, parse_one
    from sqlglot.errors import SqlglotError

    try:
        tree = parse_one(sql) if sql else None
    except (SqlglotError, RecursionError):
        return ""
    own = {cte.alias for cte in tree.find_all(exp.CTE)} if tree else set()
    read = (
        {t.name.lower() for t in tree.find_all(exp.Table) if t.name not in own} if tree else set()
    )
    return read.pop() if len(read) == 1 else ""
