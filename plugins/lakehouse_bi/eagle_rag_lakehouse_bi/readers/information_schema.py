"""Reads exports of ``information_schema``: its views ``columns``, ``tables``, ``key_column_usage``
with references, and data dictionaries, as CSV, TSV or JSON.

A dump of a view is recognised by the names of its columns, in any order and case.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from eagle_rag_core.errors import IngestError
from eagle_rag_lakehouse_bi.builder import CatalogBuilder
from eagle_rag_lakehouse_bi.objects import Catalog, Column, Origin, Relationship, Table, table_id
from eagle_rag_lakehouse_bi.readers.delimited import Row, rows

_DESCRIPTIONS: Final = ("column_comment", "comment", "description", "column_description", "remarks")


def read_information_schema(data: bytes, name: str) -> Catalog:
    """The catalog an export describes.

    :raises IngestError: it is not valid JSON, or names no table.
    """
    built = CatalogBuilder()
    found, broken = rows(data)
    for line in broken:
        built.problem(f"Line {line} is not valid JSON and was left out.")
    if any(row.get("referenced_table_name") for row in found):
        _read_references(found, built, name)
    else:
        _read_tables(found, built, name)
    if not built.tables and not built.relationships:
        raise IngestError("No row of the export names a table and its columns.")
    return built.build(name, "information_schema")


def _read_tables(found: list[Row], built: CatalogBuilder, file: str) -> None:
    columns: defaultdict[tuple[str, str, str], list[tuple[int, Column]]] = defaultdict(list)
    facts: dict[tuple[str, str, str], Row] = {}
    for number, row in enumerate(found, start=1):
        table = row.get("table_name", "")
        if not table:
            built.problem(f"Row {number} names no table and was left out.")
            continue
        key = (row.get("table_catalog", ""), row.get("table_schema", ""), table)
        facts.setdefault(key, row)
        if row.get("column_name"):
            columns[key].append((_number(row.get("ordinal_position", "")), _column(row)))
        elif "column_name" in row:
            built.problem(f"Row {number} names no column and was left out.")
        else:
            columns.setdefault(key, [])
    for key, listed in columns.items():
        database, schema, table = key
        listed.sort(key=lambda item: item[0])
        row = facts[key]
        keys = [c.name for _, c in listed if c.unique]
        built.add_table(
            Table(
                name=table,
                schema=schema,
                database=database,
                kind="view" if "view" in row.get("table_type", "").lower() else "table",
                description=row.get("table_comment", "") or row.get("table_description", ""),
                columns=tuple(column for _, column in listed),
                primary_key=tuple(keys),
                owner=row.get("table_owner", ""),
                origin=Origin(file),
            )
        )


def _column(row: Row) -> Column:
    return Column(
        name=row["column_name"],
        type=(row.get("column_type") or row.get("data_type") or "").lower(),
        description=next((row[key] for key in _DESCRIPTIONS if row.get(key)), ""),
        nullable=row.get("is_nullable", "yes").lower() not in ("no", "false", "0"),
        unique=row.get("column_key", "").upper() == "PRI",
    )


def _read_references(found: list[Row], built: CatalogBuilder, file: str) -> None:
    """``key_column_usage`` of databases that name what a key refers to; a row for each column."""
    pairs: defaultdict[tuple[str, str, str], list[tuple[int, str, str]]] = defaultdict(list)
    for row in found:
        other = row.get("referenced_table_name", "")
        if other and row.get("table_name") and row.get("column_name"):
            own = table_id(
                row["table_name"], row.get("table_schema", ""), row.get("table_catalog", "")
            )
            target = table_id(other, row.get("referenced_table_schema", ""))
            place = _number(row.get("ordinal_position", ""))
            pair = (place, row["column_name"], row.get("referenced_column_name", ""))
            pairs[own, target, row.get("constraint_name", "")].append(pair)
    for (own, target, name), listed in pairs.items():
        listed.sort()
        if not all(other for _, _, other in listed):
            built.problem(f"Constraint {name} of {own} lacks columns and was left out.")
            continue
        built.relate(
            Relationship(
                own,
                tuple(column for _, column, _ in listed),
                target,
                tuple(other for _, _, other in listed),
                "declared",
                name,
                Origin(file),
            )
        )


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0
