"""The vector collections of a namespace and which of each kind is in use."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, String, bindparam, insert, select, update

from eagle_rag_core.catalog import ids
from eagle_rag_core.catalog.schema import vector_collections
from eagle_rag_core.errors import InvalidArgument


@dataclass(frozen=True, slots=True)
class CollectionInfo:
    """A set of vectors of one kind by one embedder.

    :param embedder: name of the embedder.
    :param fingerprint: of the embedder; vectors of different ones are never compared.
    :param dim: length of the dense vectors; 0 for a lexical-only collection.
    :param active: ingest writes and searches read this one of its kind.
    """

    namespace: str
    name: str
    kind: str
    embedder: str
    fingerprint: str
    dim: int
    active: bool
    created_at: str


_INFOS: Select[*tuple[Any, ...]] = select(
    *(vector_collections.c[name] for name in CollectionInfo.__annotations__)
)
# Prepared once, because every search asks this.
_ACTIVE = _INFOS.where(
    vector_collections.c.namespace == bindparam("namespace", type_=String),
    vector_collections.c.kind == bindparam("kind", type_=String),
    vector_collections.c.active,
)


def collection_name(kind: str, fingerprint: str) -> str:
    """The name of the collection of a kind by an embedder, e.g. ``text_1a2b3c4d``."""
    return f"{kind}_{hashlib.sha256(fingerprint.encode()).hexdigest()[:8]}"


def active_collection(conn: Connection, namespace: str, kind: str) -> CollectionInfo | None:
    """The collection of ``kind`` in use; None when nothing was ever ingested."""
    row = conn.execute(_ACTIVE, {"namespace": namespace, "kind": kind}).one_or_none()
    return _info(row) if row else None


def list_collections(conn: Connection, namespace: str) -> list[CollectionInfo]:
    """All collections of the namespace, by name."""
    query = _INFOS.where(vector_collections.c.namespace == namespace).order_by(
        vector_collections.c.name
    )
    return [_info(row) for row in conn.execute(query)]


def ensure_collection(
    tx: Connection,
    namespace: str,
    *,
    kind: str,
    embedder: str,
    fingerprint: str,
    dim: int,
    clock: ids.Clock = time.time,
) -> CollectionInfo:
    """The collection of a kind by an embedder, created if needed.

    It becomes the active one when its kind has none yet; otherwise that takes
    :func:`activate_collection`, after it has been filled.
    """
    name = collection_name(kind, fingerprint)
    query = _INFOS.where(
        vector_collections.c.namespace == namespace, vector_collections.c.name == name
    )
    row = tx.execute(query).one_or_none()
    if row is None:
        tx.execute(
            insert(vector_collections).values(
                namespace=namespace,
                name=name,
                kind=kind,
                embedder=embedder,
                fingerprint=fingerprint,
                dim=dim,
                active=active_collection(tx, namespace, kind) is None,
                created_at=ids.now_iso(clock),
            )
        )
        row = tx.execute(query).one()
    return _info(row)


def activate_collection(tx: Connection, namespace: str, name: str) -> None:
    """Make a collection the one of its kind that ingest writes and searches read.

    :raises InvalidArgument: there is no such collection.
    """
    table = vector_collections
    kind = tx.scalar(
        select(table.c.kind).where(table.c.namespace == namespace, table.c.name == name)
    )
    if kind is None:
        raise InvalidArgument(f"There is no vector collection {name[:80]!r}.")
    tx.execute(
        update(table)
        .where(table.c.namespace == namespace, table.c.kind == kind)
        .values(active=table.c.name == name)
    )


def _info(row: Row[*tuple[Any, ...]]) -> CollectionInfo:
    return CollectionInfo(*row)
