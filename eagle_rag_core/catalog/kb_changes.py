"""Describing, renaming and deleting knowledge bases.

Ids of documents and rows of vectors are made of a knowledge base's seed, not of its name. So a
new name is a matter of one short transaction, whatever the size, and a deleted one can be set
aside at once and emptied later: nobody can ask for the name it has meanwhile, and whoever takes
its old name gets another seed as long as it holds the old one.
"""

from __future__ import annotations

import secrets
import time

from sqlalchemy import ColumnElement, Connection, and_, delete, false, select, true, update

from eagle_rag_core.catalog import ids
from eagle_rag_core.catalog.active_jobs import cancel_jobs
from eagle_rag_core.catalog.kbs import is_kb, kb_exists, new_epoch
from eagle_rag_core.catalog.schema import documents, jobs, kbs, pack_records, sources
from eagle_rag_core.errors import ErrorCode, InvalidArgument, NotFound
from eagle_rag_core.types import JobStatus

#: No knowledge base can be called so.
_ASIDE = "~"


def describe_kb(
    tx: Connection,
    namespace: str,
    name: str,
    *,
    title: str | None = None,
    description: str | None = None,
) -> None:
    """Change what is said of a knowledge base; None leaves it as it is."""
    given = {"title": title, "description": description}
    values = {key: value for key, value in given.items() if value is not None}
    if values:
        tx.execute(update(kbs).where(is_kb(namespace, name)).values(values))


def rename_kb(
    tx: Connection, namespace: str, name: str, new_name: str, *, clock: ids.Clock = time.time
) -> None:
    """Give a knowledge base another name. Its documents and their ids stay.

    Its running jobs are started again, so that none publishes under the old name.

    :raises InvalidArgument: the new name is none, or taken.
    :raises NotFound: there is no such knowledge base.
    """
    ids.check_kb_name(new_name)
    if kb_exists(tx, namespace, new_name):
        raise InvalidArgument(f"There is a knowledge base {new_name!r} already.")
    _move(tx, namespace, name, new_name, clock)
    mine = (jobs.c.namespace == namespace, jobs.c.kb_name == name)
    tx.execute(
        update(jobs)
        .where(*mine, jobs.c.status == JobStatus.RUNNING)
        .values(
            status=JobStatus.QUEUED,
            stage="",
            progress=0.0,
            attempts=jobs.c.attempts - 1,
            lease_owner="",
            lease_until=0.0,
        )
    )
    tx.execute(update(jobs).where(*mine).values(kb_name=new_name))
    # Sources that never came to make the knowledge base of the new name have nothing in it.
    tx.execute(delete(sources).where(_of(namespace, new_name)))
    tx.execute(update(sources).where(_of(namespace, name)).values(kb_name=new_name))


def set_aside(tx: Connection, namespace: str, name: str, *, clock: ids.Clock = time.time) -> str:
    """Delete a knowledge base for everybody to see, and cancel its jobs.

    :returns: the name it has meanwhile: its documents are to be removed, then :func:`forget` it.
    :raises NotFound: there is no such knowledge base.
    """
    aside = f"{_ASIDE}{secrets.token_hex(16)}"
    _move(tx, namespace, name, aside, clock)
    tx.execute(update(kbs).where(is_kb(namespace, aside)).values(deleted=True))
    reason = "The knowledge base was deleted."
    cancel_jobs(tx, namespace, jobs.c.kb_name == name, reason, clock=clock)
    tx.execute(delete(sources).where(_of(namespace, name)))
    return aside


def set_aside_kbs(conn: Connection, namespace: str) -> list[str]:
    """The knowledge bases whose deletion has not ended."""
    query = select(kbs.c.name).where(kbs.c.namespace == namespace, kbs.c.deleted == true())
    return list(conn.scalars(query))


def forget(tx: Connection, namespace: str, aside: str) -> None:
    """End the deletion of a knowledge base that is empty."""
    tx.execute(delete(kbs).where(is_kb(namespace, aside)))


def _of(namespace: str, kb_name: str) -> ColumnElement[bool]:
    """The sources of a knowledge base."""
    return and_(sources.c.namespace == namespace, sources.c.kb_name == kb_name)


def _move(tx: Connection, namespace: str, name: str, new_name: str, clock: ids.Clock) -> None:
    # Where writers run side by side: one that publishes holds its job and waits for its knowledge
    # base, so jobs come first.
    tx.execute(
        select(jobs.c.job_id)
        .where(
            jobs.c.namespace == namespace,
            jobs.c.kb_name == name,
            jobs.c.status == JobStatus.RUNNING,
        )
        .order_by(jobs.c.job_id)
        .with_for_update()
    )
    moving = update(kbs).where(is_kb(namespace, name), kbs.c.deleted == false())
    values = {"name": new_name, "epoch": new_epoch(), "updated_at": ids.now_iso(clock)}
    if not ids.is_kb_name(name) or not tx.execute(moving.values(values)).rowcount:
        raise NotFound(f"There is no knowledge base {name[:80]!r}.", code=ErrorCode.KB_NOT_FOUND)
    for table in (documents, pack_records):
        tx.execute(
            update(table)
            .where(table.c.namespace == namespace, table.c.kb_name == name)
            .values(kb_name=new_name)
        )
