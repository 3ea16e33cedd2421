"""Reading a document whole, to write it elsewhere under other ids."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, select

from eagle_rag_core.catalog import ids
from eagle_rag_core.catalog.documents import get_document
from eagle_rag_core.catalog.passages import document_sections
from eagle_rag_core.catalog.schema import chunks, documents, pack_records, versions
from eagle_rag_core.catalog.tiles import read_lines, version_pages, version_tiles
from eagle_rag_core.catalog.versions import VersionDraft
from eagle_rag_core.types import Caller, Chunk, NewRecord, Tile


@dataclass(frozen=True, slots=True)
class Original:
    """A document of a knowledge base, by what tells whether a copy is up to date."""

    document_id: str
    version_id: str
    source_uri: str
    content_hash: str
    fingerprint: str


def list_originals(conn: Connection, namespace: str, kb_name: str) -> list[Original]:
    """The documents of a knowledge base, in a stable order."""
    query = (
        select(
            documents.c.document_id,
            documents.c.visible_version,
            documents.c.source_uri,
            versions.c.content_hash,
            versions.c.fingerprint,
        )
        .join(versions, versions.c.version_id == documents.c.visible_version)
        .where(documents.c.namespace == namespace, documents.c.kb_name == kb_name)
        .order_by(documents.c.document_id)
    )
    return [Original(*row) for row in conn.execute(query)]


def is_visible(conn: Connection, version_id: str) -> bool:
    """Whether readers see the version."""
    query = select(documents.c.document_id).where(documents.c.visible_version == version_id)
    return conn.scalar(query) is not None


def hold_visible(tx: Connection, version_id: str) -> bool:
    """Whether readers see the version, and will until ``tx`` ends."""
    query = select(documents.c.document_id).where(documents.c.visible_version == version_id)
    return tx.scalar(query.with_for_update(read=True)) is not None


def read_draft(
    conn: Connection, namespace: str, document_id: str, packs: Collection[str]
) -> VersionDraft:
    """The visible version of a document, as it would be written.

    :param packs: the packs whose records and fields of chunks are read.
    :raises NotFound: there is no such document.
    """
    info = get_document(conn, namespace, Caller("copy"), document_id)
    given, content_hash, fingerprint, size, rendition, text = conn.execute(
        select(
            documents.c.given,
            versions.c.content_hash,
            versions.c.fingerprint,
            versions.c.size,
            versions.c.rendition,
            versions.c.text,
        )
        .join(versions, versions.c.version_id == documents.c.visible_version)
        .where(documents.c.document_id == document_id)
    ).one()
    sections = document_sections(conn, document_id)
    rows = conn.execute(
        select(chunks).where(chunks.c.version_id == info.version_id).order_by(chunks.c.ordinal)
    ).all()
    return VersionDraft(
        document=info,
        content_hash=content_hash,
        fingerprint=fingerprint,
        size=size,
        text=text,
        sections=sections,
        chunks=[
            Chunk(
                node_id=row.node_id,
                ordinal=row.ordinal,
                section=row.section,
                start=row.start,
                end=row.end,
                text=row.text,
                path=sections[row.section].path,
                level=sections[row.section].level,
                page=row.page,
            )
            for row in rows
        ],
        fields={row.node_id: _of_packs(row.fields, packs) for row in rows if row.fields},
        records=_records(conn, info.version_id, packs),
        given=given,
        tiles=version_tiles(conn, info.version_id),
        pages=version_pages(conn, info.version_id),
        lines=read_lines(conn, info.version_id),
        rendition=rendition,
    )


def moved(draft: VersionDraft, kb_name: str, document_id: str) -> VersionDraft:
    """The same version as another document's, in another knowledge base."""
    version_id = ids.version_id(document_id, draft.content_hash, draft.fingerprint)
    node = {chunk.node_id: ids.node_id(version_id, chunk.ordinal) for chunk in draft.chunks}
    return replace(
        draft,
        document=replace(
            draft.document, document_id=document_id, kb_name=kb_name, version_id=version_id
        ),
        chunks=[replace(chunk, node_id=node[chunk.node_id]) for chunk in draft.chunks],
        fields={node[node_id]: fields for node_id, fields in draft.fields.items()},
        records=[
            (pack, replace(record, node_id=node.get(record.node_id, "")))
            for pack, record in draft.records
        ],
        tiles=[replace(tile, image_id=_image_id(version_id, tile)) for tile in draft.tiles],
    )


def _image_id(version_id: str, tile: Tile) -> str:
    return ids.image_id(version_id, tile.kind, tile.page, str(tile.box), tile.part)


def _of_packs(fields: Mapping[str, Any], packs: Collection[str]) -> dict[str, Any]:
    return {pack: values for pack, values in fields.items() if pack in packs}


def _records(
    conn: Connection, version_id: str, packs: Collection[str]
) -> list[tuple[str, NewRecord]]:
    query = (
        select(pack_records)
        .where(pack_records.c.version_id == version_id)
        .order_by(pack_records.c.record_id)
    )
    return [
        (row.pack, NewRecord(row.kind, row.fields, row.node_id, row.data))
        for row in conn.execute(query)
        if row.pack in packs
    ]
