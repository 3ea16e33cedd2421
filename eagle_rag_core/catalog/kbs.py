"""Knowledge bases."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count as numbers

from sqlalchemy import (
    ColumnElement,
    Connection,
    String,
    and_,
    bindparam,
    exc,
    false,
    func,
    insert,
    select,
    update,
)

from eagle_rag_core.catalog import ids
from eagle_rag_core.catalog.membership import any_of_bound, as_array
from eagle_rag_core.catalog.schema import documents, jobs, kbs, versions
from eagle_rag_core.errors import ErrorCode, NotFound
from eagle_rag_core.types import Caller, JobStatus

# Prepared once, because every call asks these, and building a statement takes longer than
# running it.
_ALL = select(kbs.c.name).where(
    kbs.c.namespace == bindparam("namespace", type_=String), kbs.c.deleted == false()
)
_ONE = _ALL.where(kbs.c.name == bindparam("name", type_=String))
_EPOCHS = select(kbs.c.name, kbs.c.epoch).where(
    kbs.c.namespace == bindparam("namespace", type_=String), kbs.c.deleted == false()
)
_SEEDS = select(kbs.c.name, kbs.c.seed).where(
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
    description: str = ""


@dataclass(frozen=True, slots=True)
class KbStats:
    """What a knowledge base holds.

    :param bytes: of the originals of its documents.
    :param jobs_pending: queued and running ones.
    """

    info: KbInfo
    bytes: int
    jobs_pending: int
    created_at: str


def ensure_kb(
    tx: Connection,
    namespace: str,
    name: str,
    *,
    title: str = "",
    description: str = "",
    clock: ids.Clock = time.time,
) -> bool:
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
        "title": title,
        "description": description,
        "epoch": new_epoch(),
        "created_at": now,
        "updated_at": now,
    }
    while True:
        try:
            with tx.begin_nested():
                tx.execute(insert(kbs), row | {"seed": _free_seed(tx, namespace, name)})
        except exc.IntegrityError:
            # Somebody else created it, or took the seed, at the same moment.
            if kb_exists(tx, namespace, name):
                return False
        else:
            return True


def kb_exists(conn: Connection, namespace: str, name: str) -> bool:
    """Whether the namespace has a knowledge base of this name."""
    return conn.scalar(_ONE, {"namespace": namespace, "name": name}) is not None


def seeds(conn: Connection, namespace: str, names: Iterable[str]) -> dict[str, str]:
    """What rows of vectors call each of the knowledge bases.

    One that does not exist has the seed it would get, never one of another.
    """
    found = dict(conn.execute(_SEEDS, {"namespace": namespace, "names": as_array(names)}).all())
    return {name: found.get(name) or _free_seed(conn, namespace, name) for name in names}


def seed(conn: Connection, namespace: str, name: str) -> str:
    """What ids of documents and rows of vectors are made of, in place of the name."""
    return seeds(conn, namespace, [name])[name]


def hold_kb(tx: Connection, namespace: str, name: str) -> None:
    """Let nobody rename or delete the knowledge base until ``tx`` ends."""
    tx.execute(select(kbs.c.name).where(is_kb(namespace, name)).with_for_update(read=True))


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
        select(kbs.c.name, kbs.c.title, kbs.c.updated_at, kbs.c.description)
        .where(kbs.c.namespace == namespace, kbs.c.deleted == false())
        .order_by(kbs.c.name)
    )
    return [
        _info(name, title, updated_at, description, contents.get(name, []))
        for name, title, updated_at, description in rows
        if caller.may_read(name)
    ]


def kb_stats(conn: Connection, namespace: str, caller: Caller, name: str) -> KbStats:
    """What a knowledge base holds.

    :raises NotFound: it does not exist, or the caller may not know that it does.
    """
    check_readable(conn, namespace, caller, name)
    (info,) = (info for info in list_kbs(conn, namespace, caller) if info.name == name)
    size = (
        select(func.coalesce(func.sum(versions.c.size), 0))
        .join(documents, documents.c.visible_version == versions.c.version_id)
        .where(documents.c.namespace == namespace, documents.c.kb_name == name)
    )
    pending = select(func.count()).where(
        jobs.c.namespace == namespace,
        jobs.c.kb_name == name,
        jobs.c.status.in_((JobStatus.QUEUED, JobStatus.RUNNING)),
    )
    created = select(kbs.c.created_at).where(is_kb(namespace, name))
    return KbStats(
        info,
        bytes=conn.scalar(size) or 0,
        jobs_pending=conn.scalar(pending) or 0,
        created_at=conn.scalar(created) or "",
    )


def bump_epoch(tx: Connection, namespace: str, name: str, *, clock: ids.Clock = time.time) -> None:
    """Note that a search in the knowledge base can find something else from now on."""
    tx.execute(
        update(kbs)
        .where(is_kb(namespace, name))
        .values(epoch=kbs.c.epoch + 1, updated_at=ids.now_iso(clock))
    )


def epochs(conn: Connection, namespace: str, caller: Caller) -> dict[str, int]:
    """The epoch of each knowledge base the caller may read.

    An unchanged epoch means an unchanged content.
    """
    rows = conn.execute(_EPOCHS, {"namespace": namespace})
    return {name: epoch for name, epoch in rows.all() if caller.may_read(name)}


def other_namespaces(conn: Connection, namespace: str) -> dict[str, int]:
    """Number of documents in each further namespace of this catalog."""
    query = (
        select(kbs.c.namespace, func.count(documents.c.document_id))
        .outerjoin(
            documents,
            and_(documents.c.namespace == kbs.c.namespace, documents.c.kb_name == kbs.c.name),
        )
        .where(kbs.c.namespace != namespace, kbs.c.deleted == false())
        .group_by(kbs.c.namespace)
        .order_by(kbs.c.namespace)
    )
    return dict(conn.execute(query).all())


def new_epoch() -> int:
    """The first epoch of a knowledge base, or of a name it has not had before."""
    # Random, so that a knowledge base that gets an old name never meets answers that were cached
    # for its predecessor.
    return secrets.randbelow(2**30)


def is_kb(namespace: str, name: str) -> ColumnElement[bool]:
    """The row of a knowledge base, as an SQL expression."""
    return and_(kbs.c.namespace == namespace, kbs.c.name == name)


def _free_seed(conn: Connection, namespace: str, name: str) -> str:
    """The seed that a knowledge base created now would get."""
    for seed in _possible_seeds(name):
        taken = select(kbs.c.seed).where(kbs.c.namespace == namespace, kbs.c.seed == seed)
        if conn.scalar(taken) is None:
            return seed
    raise AssertionError("the possible seeds have no end")


def _possible_seeds(name: str) -> Iterator[str]:
    """The name, and what to take while another knowledge base has that since a change of names.

    Always the same, so that ids can be told before the knowledge base exists.
    """
    yield name
    for number in numbers(1):
        yield hashlib.sha256(f"{name}\0{number}".encode()).hexdigest()[:32]


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


def _info(
    name: str, title: str, updated_at: str, description: str, parts: list[tuple[str, int, int]]
) -> KbInfo:
    return KbInfo(
        name=name,
        title=title,
        documents=sum(count for _, count, _ in parts),
        chunks=sum(chunks for _, _, chunks in parts),
        languages=tuple(sorted(language for language, _, _ in parts if language)),
        updated_at=updated_at,
        description=description,
    )
