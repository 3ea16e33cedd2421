"""Knowledge bases."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import (
    ColumnElement,
    Connection,
    String,
    and_,
    bindparam,
    delete,
    exc,
    func,
    insert,
    select,
    update,
)

from eagle_rag_core.catalog import ids
from eagle_rag_core.catalog.active_jobs import cancel_jobs
from eagle_rag_core.catalog.membership import any_of_bound, as_array
from eagle_rag_core.catalog.schema import documents, jobs, kbs
from eagle_rag_core.errors import ErrorCode, NotFound
from eagle_rag_core.types import Caller

# Prepared once, because every call asks these, and building a statement takes longer than
# running it.
_ALL = select(kbs.c.name).where(kbs.c.namespace == bindparam("namespace", type_=String))
_ONE = _ALL.where(kbs.c.name == bindparam("name", type_=String))
_EPOCHS = select(kbs.c.name, kbs.c.epoch).where(
    kbs.c.namespace == bindparam("namespace", type_=String),
    any_of_bound(kbs.c.name, bindparam("names", type_=String)),
)


@dataclass(frozen=True, slots=True)
class KbInfo:
    """A knowledge base as callers see it.

    :param languages: of its documents, as far as they are known, sorted.
    :param updated_at: when a document was last added, changed or deleted.
    """

    name: str
    title: str
    documents: int
    chunks: int
    languages: tuple[str, ...]
    updated_at: str


def ensure_kb(tx: Connection, namespace: str, name: str, *, clock: ids.Clock = time.time) -> bool:
    """Create the knowledge base unless it exists; whether it was created.

    :raises InvalidArgument: no knowledge base can have this name.
    """
    ids.check_kb_name(name)
    if kb_exists(tx, namespace, name):
        return False
    now = ids.now_iso(clock)
    row = {
        "namespace": namespace,
        "name": name,
        "seed": name,
        "title": "",
        # Random, so that a knowledge base created anew under an old name never meets answers
        # that were cached for the old one.
        "epoch": secrets.randbelow(2**30),
        "created_at": now,
        "updated_at": now,
    }
    try:
        with tx.begin_nested():
            tx.execute(insert(kbs), row)
    except exc.IntegrityError:
        return False  # somebody else created it at the same moment
    return True


def kb_exists(conn: Connection, namespace: str, name: str) -> bool:
    """Whether the namespace has a knowledge base of this name."""
    return conn.scalar(_ONE, {"namespace": namespace, "name": name}) is not None


def check_readable(conn: Connection, namespace: str, caller: Caller, name: str) -> str:
    """``name``, if it is a knowledge base the caller may read.

    :raises NotFound: it does not exist, or the caller may not know that it does.
    """
    # A name no knowledge base can have never reaches the database.
    if ids.is_kb_name(name) and caller.may_read(name) and kb_exists(conn, namespace, name):
        return name
    raise NotFound(
        f"There is no knowledge base {name[:80]!r} that you may read; "
        "the list of knowledge bases names those you may.",
        code=ErrorCode.KB_NOT_FOUND,
    )


def readable_kbs(conn: Connection, namespace: str, caller: Caller) -> frozenset[str]:
    """Names of the existing knowledge bases the caller may read."""
    names = conn.scalars(_ALL, {"namespace": namespace})
    return frozenset(filter(caller.may_read, names))


def list_kbs(conn: Connection, namespace: str, caller: Caller) -> list[KbInfo]:
    """Every knowledge base the caller may read, by name."""
    contents = _contents(conn, namespace)
    rows = conn.execute(
        select(kbs.c.name, kbs.c.title, kbs.c.updated_at)
        .where(kbs.c.namespace == namespace)
        .order_by(kbs.c.name)
    )
    return [
        _info(name, title, updated_at, contents.get(name, []))
        for name, title, updated_at in rows
        if caller.may_read(name)
    ]


def bump_epoch(tx: Connection, namespace: str, name: str, *, clock: ids.Clock = time.time) -> None:
    """Note that a search in the knowledge base can find something else from now on."""
    tx.execute(
        update(kbs)
        .where(_is(namespace, name))
        .values(epoch=kbs.c.epoch + 1, updated_at=ids.now_iso(clock))
    )


def epochs(conn: Connection, namespace: str, names: Iterable[str]) -> dict[str, int]:
    """The epoch of each of the named knowledge bases that exist.

    An unchanged epoch means an unchanged content.
    """
    rows = conn.execute(_EPOCHS, {"namespace": namespace, "names": as_array(names)})
    return dict(rows.all())


def other_namespaces(conn: Connection, namespace: str) -> dict[str, int]:
    """Number of documents in each further namespace of this catalog."""
    query = (
        select(kbs.c.namespace, func.count(documents.c.document_id))
        .outerjoin(
            documents,
            and_(documents.c.namespace == kbs.c.namespace, documents.c.kb_name == kbs.c.name),
        )
        .where(kbs.c.namespace != namespace)
        .group_by(kbs.c.namespace)
        .order_by(kbs.c.namespace)
    )
    return dict(conn.execute(query).all())


def delete_kb(
    tx: Connection, namespace: str, name: str, *, clock: ids.Clock = time.time
) -> list[str]:
    """Delete a knowledge base with all its documents, and cancel its jobs.

    :returns: the versions whose vectors the caller retires in the same transaction.
    :raises NotFound: there is no such knowledge base.
    """
    if not ids.is_kb_name(name) or not tx.execute(delete(kbs).where(_is(namespace, name))).rowcount:
        raise NotFound(f"There is no knowledge base {name[:80]!r}.", code=ErrorCode.KB_NOT_FOUND)
    reason = "The knowledge base was deleted."
    cancel_jobs(tx, namespace, jobs.c.kb_name == name, reason, clock=clock)
    inside = and_(documents.c.namespace == namespace, documents.c.kb_name == name)
    retired = tx.scalars(select(documents.c.visible_version).where(inside)).all()
    tx.execute(delete(documents).where(inside))
    return list(retired)


def _is(namespace: str, name: str) -> ColumnElement[bool]:
    return and_(kbs.c.namespace == namespace, kbs.c.name == name)


def _contents(conn: Connection, namespace: str) -> dict[str, list[tuple[str, int, int]]]:
    """Language, number of documents and of chunks, per knowledge base and language."""
    query = (
        select(
            documents.c.kb_name,
            documents.c.language,
            func.count(),
            func.sum(documents.c.chunks),
        )
        .where(documents.c.namespace == namespace)
        .group_by(documents.c.kb_name, documents.c.language)
    )
    result: dict[str, list[tuple[str, int, int]]] = {}
    for name, language, count, chunks in conn.execute(query):
        result.setdefault(name, []).append((language, count, chunks))
    return result


def _info(name: str, title: str, updated_at: str, parts: list[tuple[str, int, int]]) -> KbInfo:
    return KbInfo(
        name=name,
        title=title,
        documents=sum(count for _, count, _ in parts),
        chunks=sum(chunks for _, _, chunks in parts),
        languages=tuple(sorted(language for language, _, _ in parts if language)),
        updated_at=updated_at,
    )
