"""The vector collections of a namespace and which of each kind is in use."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    String,
    bindparam,
    delete,
    insert,
    select,
    text,
    update,
)

from eagle_rag_core.catalog import ids
from eagle_rag_core.catalog.membership import any_of_bound, as_array
from eagle_rag_core.catalog.schema import vector_collections, vector_retirements
from eagle_rag_core.errors import ErrorCode, InvalidArgument, ModelError

#: The kind of the collection that every document has rows in.
TEXT: Final = "text"
#: How the kinds begin whose versions have, beside their rows, a file of matrices.
MATRICES: Final = "matrices_"
#: Columns hold kinds of up to so many characters.
_MAX_KIND: Final = 32


@dataclass(frozen=True, slots=True)
class CollectionInfo:
    """A set of vectors of one kind by one embedder.

    :param embedder: name of the embedder.
    :param fingerprint: of the embedder; vectors of different ones are never compared.
    :param dim: length of the dense vectors; 0 for a lexical-only collection.
    :param active: ingest writes and searches read this one of its kind.
    :param replaced_at: seconds since the epoch; when another became active in its place, 0 for
        one that was never replaced.
    """

    namespace: str
    name: str
    kind: str
    embedder: str
    fingerprint: str
    dim: int
    active: bool
    created_at: str
    replaced_at: float = 0.0


_INFOS: Select[*tuple[Any, ...]] = select(
    *(vector_collections.c[name] for name in CollectionInfo.__annotations__)
)
# Prepared once, because every search asks this.
_ACTIVE = _INFOS.where(
    vector_collections.c.namespace == bindparam("namespace", type_=String),
    vector_collections.c.kind == bindparam("kind", type_=String),
    vector_collections.c.active,
)
_ALL_ACTIVE = _INFOS.where(
    vector_collections.c.namespace == bindparam("namespace", type_=String),
    any_of_bound(vector_collections.c.kind, bindparam("kinds", type_=String)),
    vector_collections.c.active,
)


def collection_name(kind: str, fingerprint: str) -> str:
    """The name of the collection of a kind by an embedder, e.g. ``text_1a2b3c4d``."""
    return f"{kind}_{hashlib.sha256(fingerprint.encode()).hexdigest()[:8]}"


def kind_of_view(name: str) -> str:
    """The kind of the collections of a pack's view: its name, shortened where it is long."""
    if len(name) <= _MAX_KIND:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: _MAX_KIND - 9]}_{digest}"


def active_collection(conn: Connection, namespace: str, kind: str) -> CollectionInfo | None:
    """The collection of ``kind`` in use; None when nothing was ever ingested."""
    row = conn.execute(_ACTIVE, {"namespace": namespace, "kind": kind}).one_or_none()
    return _info(row) if row else None


def active_collections(
    conn: Connection, namespace: str, kinds: Iterable[str]
) -> dict[str, CollectionInfo]:
    """The collections of kinds in use, by kind."""
    rows = conn.execute(_ALL_ACTIVE, {"namespace": namespace, "kinds": as_array(kinds)})
    return {info.kind: info for info in map(_info, rows)}


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
    query = _INFOS.where(*_is(namespace, name))
    row = tx.execute(query).one_or_none()
    if row is None:
        _create_alone(tx, namespace, kind)
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
    elif row.replaced_at:  # it is wanted again
        tx.execute(update(vector_collections).where(*_is(namespace, name)).values(replaced_at=0.0))
    return _info(row)


def hold_active(tx: Connection, namespace: str, name: str) -> None:
    """Make sure that a collection is in use, and stays so until the transaction ends.

    :raises ModelError: another one took its place.
    """
    query = select(vector_collections.c.active).where(*_is(namespace, name))
    if not tx.scalar(query.with_for_update(read=True)):
        raise ModelError(
            "The library was embedded anew with another embedder; restart this process to use it.",
            code=ErrorCode.EMBEDDER_MISMATCH,
            retryable=True,
        )


def hold_collections(tx: Connection, namespace: str, kind: str) -> CollectionInfo | None:
    """The active collection of a kind; until ``tx`` ends nobody else publishes or switches."""
    table = vector_collections
    query = _INFOS.where(table.c.namespace == namespace, table.c.kind == kind)
    rows = tx.execute(query.order_by(table.c.name).with_for_update()).all()
    return next((_info(row) for row in rows if row.active), None)


def activate_collection(
    tx: Connection, namespace: str, name: str, *, clock: ids.Clock = time.time
) -> None:
    """Make a collection the one of its kind that ingest writes and searches read.

    :raises InvalidArgument: there is no such collection.
    """
    table = vector_collections
    kind = tx.scalar(
        select(table.c.kind).where(table.c.namespace == namespace, table.c.name == name)
    )
    if kind is None:
        raise InvalidArgument(f"There is no vector collection {name[:80]!r}.")
    of_kind = update(table).where(table.c.namespace == namespace, table.c.kind == kind)
    tx.execute(of_kind.where(table.c.active).values(active=False, replaced_at=clock()))
    tx.execute(of_kind.where(table.c.name == name).values(active=True, replaced_at=0.0))


def give_up_unfinished(
    tx: Connection, namespace: str, kind: str, *, clock: ids.Clock = time.time
) -> None:
    """Count the collections of a kind as replaced that were never finished."""
    table = vector_collections
    tx.execute(
        update(table)
        .where(
            table.c.namespace == namespace,
            table.c.kind == kind,
            ~table.c.active,
            table.c.replaced_at == 0,
        )
        .values(replaced_at=clock())
    )


def forget_collection(tx: Connection, namespace: str, name: str) -> None:
    """Remove what the catalog knows of a collection whose vectors are gone."""
    for table in (vector_collections, vector_retirements):
        column = table.c.name if table is vector_collections else table.c.collection
        tx.execute(delete(table).where(table.c.namespace == namespace, column == name))


def _create_alone(tx: Connection, namespace: str, kind: str) -> None:
    """Let nobody else create a collection of a kind until ``tx`` ends. SQLite has one writer."""
    if tx.dialect.name == "postgresql":
        digest = hashlib.sha256(f"eagle-rag collections {namespace} {kind}".encode()).digest()
        key = int.from_bytes(digest[:8], "big", signed=True)
        tx.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": key})


def _is(namespace: str, name: str) -> tuple[ColumnElement[bool], ...]:
    return vector_collections.c.namespace == namespace, vector_collections.c.name == name


def _info(row: Row[*tuple[Any, ...]]) -> CollectionInfo:
    return CollectionInfo(*row)
