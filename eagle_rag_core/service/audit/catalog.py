"""Checks of the catalog itself: its file, its versions, records and knowledge bases."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlalchemy import delete, func, or_, select, text

from eagle_rag_core.catalog import ids
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.schema import chunks, documents, kbs, pack_records, sections, versions
from eagle_rag_core.service.audit.findings import Finding, Level
from eagle_rag_core.service.kbs import KbService

#: Problems of a damaged file that are listed.
_LISTED = 20


def integrity(catalog: Catalog) -> Iterator[Finding]:
    """Whether the database file is sound. Servers look after their own."""
    with catalog.read() as conn:
        if conn.dialect.name != "sqlite":
            return
        problems = conn.execute(text(f"PRAGMA quick_check({_LISTED})")).scalars().all()
        dangling = conn.execute(text("PRAGMA foreign_key_check")).all()
    if problems != ["ok"]:
        yield Finding(
            "catalog.integrity",
            "catalog",
            f"The database is damaged: {problems[0]}.",
            remedy="Stop all processes and restore a backup.",
        )
    for table in sorted({row[0] for row in dangling}):
        yield Finding(
            "catalog.integrity",
            table,
            "Rows of this table belong to nothing.",
            remedy="Stop all processes and restore a backup.",
        )


def unseen_versions(catalog: Catalog) -> Iterator[Finding]:
    """Versions that no reader sees."""
    query = (
        select(versions.c.version_id)
        .join(documents, documents.c.document_id == versions.c.document_id)
        .where(
            documents.c.namespace == catalog.namespace,
            documents.c.visible_version != versions.c.version_id,
        )
        .order_by(versions.c.version_id)
    )
    with catalog.read() as conn:
        found = conn.scalars(query).all()
    for version_id in found:
        yield Finding(
            "catalog.versions",
            version_id,
            "No reader sees this version of a document.",
            repair=_deleting(catalog, version_id),
        )


def broken_documents(catalog: Catalog, remake: Callable[[str], object]) -> Iterator[Finding]:
    """Documents whose passages are not those that they had."""
    passages = (
        select(func.count())
        .where(chunks.c.version_id == documents.c.visible_version)
        .scalar_subquery()
    )
    query = (
        select(documents.c.document_id)
        .join(versions, versions.c.version_id == documents.c.visible_version)
        .where(documents.c.namespace == catalog.namespace, documents.c.chunks != passages)
        .order_by(documents.c.document_id)
    )
    with catalog.read() as conn:
        found = conn.scalars(query).all()
    for document_id in found:
        yield Finding(
            "catalog.documents",
            document_id,
            "Passages of this document are missing.",
            repair=_calling(remake, document_id),
        )


def lost_sections(catalog: Catalog, remake: Callable[[str], object]) -> Iterator[Finding]:
    """Documents whose outline has gaps, or ends before the section of a passage."""
    number, last = (
        select(value).where(sections.c.version_id == documents.c.visible_version).scalar_subquery()
        for value in (func.count(), func.max(sections.c.ordinal))
    )
    named = (
        select(func.max(chunks.c.section))
        .where(chunks.c.version_id == documents.c.visible_version)
        .scalar_subquery()
    )
    query = (
        select(documents.c.document_id)
        .join(versions, versions.c.version_id == documents.c.visible_version)
        .where(
            documents.c.namespace == catalog.namespace,
            # Ordinals begin at 0, which every document has: the whole of it.
            or_(number == 0, number != last + 1, named > last),
        )
        .order_by(documents.c.document_id)
    )
    with catalog.read() as conn:
        found = conn.scalars(query).all()
    for document_id in found:
        yield Finding(
            "catalog.sections",
            document_id,
            "Sections of this document are missing.",
            repair=_calling(remake, document_id),
        )


def stray_records(catalog: Catalog) -> Iterator[Finding]:
    """Records of packs that do not stand where their document does."""
    query = (
        select(pack_records.c.record_id, pack_records.c.pack, pack_records.c.kind)
        .outerjoin(
            documents,
            (documents.c.visible_version == pack_records.c.version_id)
            & (documents.c.document_id == pack_records.c.document_id)
            & (documents.c.namespace == pack_records.c.namespace)
            & (documents.c.kb_name == pack_records.c.kb_name),
        )
        .where(pack_records.c.namespace == catalog.namespace, documents.c.document_id.is_(None))
        .order_by(pack_records.c.record_id)
    )
    with catalog.read() as conn:
        found = conn.execute(query).all()
    for record_id, pack, kind in found:
        yield Finding(
            "records.orphans",
            str(record_id),
            f"This {kind} record of pack {pack} belongs to no document that readers see.",
            repair=_deleting_record(catalog, record_id),
        )


def homeless_documents(catalog: Catalog) -> Iterator[Finding]:
    """Documents of knowledge bases that are not there."""
    query = (
        select(documents.c.document_id, documents.c.kb_name)
        .outerjoin(
            kbs,
            (kbs.c.namespace == documents.c.namespace) & (kbs.c.name == documents.c.kb_name),
        )
        .where(documents.c.namespace == catalog.namespace, kbs.c.name.is_(None))
        .order_by(documents.c.document_id)
    )
    with catalog.read() as conn:
        found = conn.execute(query).all()
    for document_id, kb_name in found:
        yield Finding(
            "catalog.kbs",
            document_id,
            f"The knowledge base {kb_name!r} of this document is not there.",
            remedy=f"eagle-rag kb create {kb_name}" if ids.is_kb_name(kb_name) else "",
        )


def unfinished_deletions(service: KbService) -> Iterator[Finding]:
    """Knowledge bases whose deletion was interrupted."""
    for aside in service.unfinished_deletions():
        yield Finding(
            "catalog.deletions",
            aside,
            "The deletion of a knowledge base was interrupted.",
            repair=service.finish_deletions,
        )


def stale_documents(count: Callable[[], int]) -> Iterator[Finding]:
    """Documents that another pipeline made."""
    if number := count():
        yield Finding(
            "pipeline.stale",
            "documents",
            f"{number} documents were made by another version of the parsers, chunker, analyzer "
            "or packs.",
            remedy="eagle-rag reindex",
            level=Level.NOTE,
        )


def _deleting(catalog: Catalog, version_id: str) -> Callable[[], None]:
    def repair() -> None:
        with catalog.write() as tx:
            seen = select(documents.c.visible_version)
            tx.execute(
                delete(versions).where(
                    versions.c.version_id == version_id, versions.c.version_id.not_in(seen)
                )
            )

    return repair


def _deleting_record(catalog: Catalog, record_id: int) -> Callable[[], None]:
    def repair() -> None:
        with catalog.write() as tx:
            tx.execute(delete(pack_records).where(pack_records.c.record_id == record_id))

    return repair


def _calling(action: Callable[[str], object], subject: str) -> Callable[[], object]:
    return lambda: action(subject)
