"""The stored rows of the local backend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select

from eagle_rag_core.catalog.membership import any_of
from eagle_rag_core.catalog.schema import vector_rows
from eagle_rag_core.vectors.store import Collection, VersionRows

#: Rows read at a time: enough to keep numpy busy, small beside the finished index.
_BATCH = 4096


class StoredRow(NamedTuple):
    """One node as the catalog keeps it."""

    node_id: str
    version_id: str
    document_id: str
    kb_name: str
    dense: bytes | None
    tokens: str


_COLUMNS = [vector_rows.c[name] for name in StoredRow._fields]


def insert_rows(tx: Connection, collection: Collection, rows: VersionRows) -> None:
    if not rows.node_ids:
        return
    dense: Sequence[bytes | None] = [None] * len(rows.node_ids)
    if collection.dim and rows.dense is not None:
        dense = [row.tobytes() for row in rows.dense.astype("<f4")]
    same: dict[str, Any] = {
        "namespace": collection.namespace,
        "collection": collection.name,
        "version_id": rows.version_id,
        "document_id": rows.document_id,
        "kb_name": rows.kb_name,
    }
    tx.execute(
        insert(vector_rows),
        [
            same | {"node_id": node_id, "dense": vector, "tokens": " ".join(tokens)}
            for node_id, vector, tokens in zip(rows.node_ids, dense, rows.tokens, strict=True)
        ],
    )


def delete_versions(tx: Connection, collection: Collection, version_ids: Sequence[str]) -> None:
    tx.execute(
        delete(vector_rows).where(
            *_within(collection), any_of(vector_rows.c.version_id, version_ids)
        )
    )


def read_rows(
    connection: Connection, collection: Collection, version_ids: Sequence[str] | None = None
) -> Iterator[Sequence[StoredRow]]:
    """The rows of the given versions, or of the whole collection, in batches."""
    wanted = select(*_COLUMNS).where(*_within(collection))
    if version_ids is not None:
        wanted = wanted.where(any_of(vector_rows.c.version_id, version_ids))
    result = connection.execute(wanted, execution_options={"yield_per": _BATCH})
    for batch in result.partitions():
        yield [StoredRow._make(row) for row in batch]


def read_versions(
    connection: Connection, collection: Collection, version_ids: Sequence[str]
) -> Iterator[VersionRows]:
    """The rows of versions, as they were written; those with a damaged vector are left out."""
    for version_id in version_ids:
        rows = [row for batch in read_rows(connection, collection, [version_id]) for row in batch]
        if rows and all(len(row.dense or b"") == 4 * collection.dim for row in rows):
            yield _as_written(collection, rows)


def count_rows(connection: Connection, collection: Collection) -> dict[str, int]:
    """The number of rows of every version."""
    column = vector_rows.c.version_id
    query = select(column, func.count()).where(*_within(collection)).group_by(column)
    return dict(connection.execute(query).all())


def total(connection: Connection, collection: Collection) -> int:
    """The number of rows of a collection."""
    query = select(func.count()).select_from(vector_rows).where(*_within(collection))
    return connection.scalar(query) or 0


def _as_written(collection: Collection, rows: Sequence[StoredRow]) -> VersionRows:
    import numpy as np

    dense = None
    if collection.dim:
        data = b"".join(row.dense or b"" for row in rows)
        dense = np.frombuffer(data, "<f4").astype(np.float32).reshape(len(rows), collection.dim)
    return VersionRows(
        version_id=rows[0].version_id,
        document_id=rows[0].document_id,
        kb_name=rows[0].kb_name,
        node_ids=[row.node_id for row in rows],
        tokens=[row.tokens.split(" ") if row.tokens else [] for row in rows],
        dense=dense,
    )


def _within(collection: Collection) -> tuple[ColumnElement[bool], ...]:
    return (
        vector_rows.c.namespace == collection.namespace,
        vector_rows.c.collection == collection.name,
    )
