"""What an origin said of the content it served: for asking later whether it has changed."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, delete, insert, select

from eagle_rag_core.catalog import ids
from eagle_rag_core.catalog.schema import documents, fetch_validators

_LONGEST = 1024


class Validators(NamedTuple):
    """The validators of one content (RFC 9110 §8.8), "" where the origin gave none."""

    content_hash: str
    etag: str
    last_modified: str


def known_validators(conn: Connection, document_id: str) -> Validators | None:
    """The validators of a document; None when there are none."""
    row = conn.execute(
        select(
            fetch_validators.c.content_hash,
            fetch_validators.c.etag,
            fetch_validators.c.last_modified,
        ).where(fetch_validators.c.document_id == document_id)
    ).one_or_none()
    return Validators(*row) if row else None


def keep_validators(tx: Connection, document_id: str, validators: Validators) -> None:
    """Keep the validators of an existing document, in place of older ones.

    Those that no database holds, or no header would, are not kept.
    """
    tx.execute(delete(fetch_validators).where(fetch_validators.c.document_id == document_id))
    texts = (validators.etag, validators.last_modified)
    usable = any(texts) and all(len(text) <= _LONGEST and ids.storable(text) for text in texts)
    exists = select(documents.c.document_id).where(documents.c.document_id == document_id)
    if usable and tx.scalar(exists) is not None:
        tx.execute(insert(fetch_validators).values(document_id=document_id, **validators._asdict()))
