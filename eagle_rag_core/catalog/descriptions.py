"""What is said of documents: changing it, and the tags there are."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, insert, select, update

from eagle_rag_core.catalog import ids, kbs
from eagle_rag_core.catalog.documents import get_document
from eagle_rag_core.catalog.membership import any_of
from eagle_rag_core.catalog.schema import document_tags, documents
from eagle_rag_core.types import Caller


@dataclass(frozen=True, slots=True)
class DescriptionChange:
    """A change of what is said of a document; None leaves a part as it is.

    :param tags: all there are to be.
    :param metadata: values by key; None removes the key, others stay.
    """

    title: str | None = None
    tags: Sequence[str] | None = None
    metadata: Mapping[str, str | None] | None = None


def describe_document(
    tx: Connection,
    namespace: str,
    caller: Caller,
    document_id: str,
    change: DescriptionChange,
    *,
    clock: ids.Clock = time.time,
) -> bool:
    """Change what is said of a document.

    :returns: whether its title changed, whose words its passages are found by.
    :raises NotFound: it does not exist, or the caller may not know that it does.
    """
    info = get_document(tx, namespace, caller, document_id)
    # First of all, because on a server it makes writers of one knowledge base wait in turn.
    kbs.bump_epoch(tx, namespace, info.kb_name, clock=clock)
    this = documents.c.document_id == document_id
    row = tx.execute(
        select(documents.c.title, documents.c.metadata, documents.c.given)
        .where(this)
        .with_for_update()
    ).one()
    given = dict(row.given)
    values: dict[str, object] = {"updated_at": ids.now_iso(clock)}
    if change.title is not None:
        values["title"] = given["title"] = change.title
    if change.tags is not None:
        _replace_tags(tx, document_id, change.tags)
        given |= {"tags": list(change.tags), "own_tags": False}
    if change.metadata is not None:
        values["metadata"] = _merged(row.metadata, change.metadata)
        given["metadata"] = _merged(given.get("metadata", {}), change.metadata)
    tx.execute(update(documents).where(this).values(values | {"given": given}))
    return change.title not in (None, row.title)


def tag_counts(
    conn: Connection, namespace: str, kb_names: Iterable[str], *, limit: int, after: str = ""
) -> list[tuple[str, int]]:
    """The tags of knowledge bases with their numbers of documents, by name.

    :param after: only those behind this one.
    """
    query = (
        select(document_tags.c.tag, func.count())
        .join(documents, documents.c.document_id == document_tags.c.document_id)
        .where(
            documents.c.namespace == namespace,
            any_of(documents.c.kb_name, kb_names),
            document_tags.c.tag > after,
        )
        .group_by(document_tags.c.tag)
        .order_by(document_tags.c.tag)
        .limit(limit)
    )
    return [(tag, count) for tag, count in conn.execute(query)]


def _replace_tags(tx: Connection, document_id: str, tags: Sequence[str]) -> None:
    tx.execute(delete(document_tags).where(document_tags.c.document_id == document_id))
    if tags:
        rows = [{"document_id": document_id, "tag": tag} for tag in tags]
        tx.execute(insert(document_tags), rows)


def _merged(old: Mapping[str, object], new: Mapping[str, str | None]) -> dict[str, object]:
    return {key: value for key, value in {**old, **new}.items() if value is not None}
