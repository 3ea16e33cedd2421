"""Reads metadata of open table formats: Iceberg's ``metadata.json`` and Delta's transaction log.

Only the metadata files themselves are read, never data: names, types and comments of columns, keys,
partitions, and when the data was last written. The files do not name their table; it is the last
folder of the location they state.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from eagle_rag_core.errors import IngestError
from eagle_rag_lakehouse_bi.builder import CatalogBuilder
from eagle_rag_lakehouse_bi.objects import Catalog, Column, Freshness, Origin, Table
from eagle_rag_lakehouse_bi.readers.lenient import Node, at, mapping, objects, text, texts
from eagle_rag_lakehouse_bi.readers.structured import load_json, load_json_lines
from eagle_rag_lakehouse_bi.wording import counted

_FOLDERS: Final = frozenset({"metadata", "_delta_log", "data"})
#: Nested types are written out down to this depth.
_DEEPEST: Final = 20


def read_iceberg(data: bytes, name: str) -> Catalog:
    """The table an Iceberg ``metadata.json`` describes, formats 1 to 3.

    :raises IngestError: the file is not valid JSON, or holds no schema.
    """
    built = CatalogBuilder()
    metadata = mapping({"file": load_json(data)}, "file")
    schema = _current(metadata, "schemas", "schema-id", "current-schema-id", "schema")
    keys = at(schema, "identifier-field-ids")
    keyed = {k for k in keys if isinstance(k, int)} if isinstance(keys, list) else set()
    properties = mapping(metadata, "properties")
    table = Table(
        name=_named_by(text(metadata, "location")) or name,
        description=text(properties, "comment"),
        columns=tuple(
            Column(
                name=text(f, "name"),
                type=_iceberg_type(at(f, "type")),
                description=text(f, "doc"),
                nullable=at(f, "required") is not True,
            )
            for f in objects(schema, "fields")
            if text(f, "name")
        ),
        primary_key=tuple(
            text(f, "name") for f in objects(schema, "fields") if at(f, "id") in keyed
        ),
        tags=tuple(_partitions(metadata)),
        owner=text(properties, "owner"),
        origin=Origin(name),
    )
    _note_nameless(schema, built)
    if not table.columns:
        raise IngestError("The Iceberg metadata holds no schema; ingest the newest metadata.json.")
    built.add_table(table)
    snapshot = _current(metadata, "snapshots", "snapshot-id", "current-snapshot-id", "")
    rows = text(snapshot, "summary", "total-records")
    loaded = _instant(at(snapshot, "timestamp-ms") or at(metadata, "last-updated-ms"))
    built.freshness.append(Freshness(table.id, loaded, rows=int(rows) if rows.isdecimal() else -1))
    return built.build(table.name, f"Iceberg v{at(metadata, 'format-version')}")


def read_delta(data: bytes, name: str) -> Catalog:
    """The table an entry of a Delta log describes.

    :raises IngestError: the entry describes no table.
    """
    built = CatalogBuilder()
    actions, broken = load_json_lines(data)
    for line in broken:
        built.problem(f"Line {line} is not valid JSON and was left out.")
    described = [mapping(a, "metaData") for a in actions if mapping(a, "metaData")]
    if not described:
        raise IngestError(
            "The entry of the Delta log describes no table; ingest the one that created the table."
        )
    metadata = described[-1]
    schema = _inner_json(text(metadata, "schemaString"))
    _note_nameless(schema, built)
    partitions = texts(metadata, "partitionColumns")
    table = Table(
        name=text(metadata, "name").rpartition(".")[2] or name.partition(".")[0],
        description=text(metadata, "description"),
        columns=tuple(
            Column(
                name=text(f, "name"),
                type=_delta_type(at(f, "type")),
                description=text(f, "metadata", "comment"),
                nullable=at(f, "nullable") is not False,
            )
            for f in objects(schema, "fields")
            if text(f, "name")
        ),
        tags=tuple(f"partitioned by {column}" for column in partitions),
        origin=Origin(name),
    )
    built.add_table(table)
    commit = next((mapping(a, "commitInfo") for a in actions if mapping(a, "commitInfo")), {})
    written = at(commit, "timestamp") or at(metadata, "createdTime")
    built.freshness.append(Freshness(table.id, _instant(written), text(commit, "operation")))
    return built.build(table.name, "Delta log")


def _note_nameless(schema: Node, built: CatalogBuilder) -> None:
    built.note_strangers(schema, "fields")
    count = sum(not text(field, "name") for field in objects(schema, "fields"))
    if count:
        built.problem(f"{counted(count, 'column')} without a name left out.")


def _current(metadata: Node, part: str, key: str, current: str, alone: str) -> Node:
    """The object of ``part`` that is current, else the last; older files hold it ``alone``."""
    wanted = at(metadata, current)
    listed = list(objects(metadata, part))
    chosen = [item for item in listed if at(item, key) == wanted] or listed[-1:]
    return chosen[0] if chosen else mapping(metadata, alone)


def _partitions(metadata: Node) -> Iterator[str]:
    spec = _current(metadata, "partition-specs", "spec-id", "default-spec-id", "")
    for field in objects(spec, "fields"):
        yield f"partitioned by {text(field, 'name')} ({text(field, 'transform')})"


def _iceberg_type(kind: Any, depth: int = 0) -> str:
    if isinstance(kind, str):
        return kind
    if not isinstance(kind, dict) or depth > _DEEPEST:
        return ""
    if text(kind, "type") == "list":
        return f"list<{_iceberg_type(at(kind, 'element'), depth + 1)}>"
    if text(kind, "type") == "map":
        key, value = at(kind, "key"), at(kind, "value")
        return f"map<{_iceberg_type(key, depth + 1)}, {_iceberg_type(value, depth + 1)}>"
    inner = (
        f"{text(f, 'name')}: {_iceberg_type(at(f, 'type'), depth + 1)}"
        for f in objects(kind, "fields")
    )
    return f"struct<{', '.join(inner)}>"


def _delta_type(kind: Any, depth: int = 0) -> str:
    if isinstance(kind, str):
        return kind
    if not isinstance(kind, dict) or depth > _DEEPEST:
        return ""
    if text(kind, "type") == "array":
        return f"array<{_delta_type(at(kind, 'elementType'), depth + 1)}>"
    if text(kind, "type") == "map":
        key, value = at(kind, "keyType"), at(kind, "valueType")
        return f"map<{_delta_type(key, depth + 1)}, {_delta_type(value, depth + 1)}>"
    inner = (
        f"{text(f, 'name')}: {_delta_type(at(f, 'type'), depth + 1)}"
        for f in objects(kind, "fields")
    )
    return f"struct<{', '.join(inner)}>"


def _named_by(location: str) -> str:
    parts = [p for p in location.split("/") if p and p not in _FOLDERS]
    return parts[-1].removesuffix(".db") if parts else ""


def _inner_json(value: str) -> Node:
    try:
        return mapping({"inner": json.loads(value)}, "inner")
    except (ValueError, RecursionError):
        return {}


def _instant(milliseconds: Any) -> str:
    """A point in time as ISO 8601, "" when it is none."""
    if not isinstance(milliseconds, int | float):
        return ""
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return ""
