"""Reading what a search found: chunks with their section and document, and whole texts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, Integer, Select, String, and_, bindparam, func, select

from eagle_rag_core.catalog.membership import any_of, any_of_bound, as_array
from eagle_rag_core.catalog.schema import chunks, documents, sections, versions
from eagle_rag_core.types import Section


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk of a visible version with where it stands. Offsets are into the document's text."""

    node_id: str
    version_id: str
    document_id: str
    kb_name: str
    source_uri: str
    source_type: str
    title: str
    ordinal: int
    start: int
    end: int
    page: int
    text: str
    section: int
    path: str
    level: int
    summary: str
    body_end: int


class ChunkSpan(NamedTuple):
    """Where a chunk lies in its document's text."""

    node_id: str
    ordinal: int
    start: int
    end: int
    page: int


#: Prepared once: building a statement costs more than running it.
_PASSAGES: Select[*tuple[Any, ...]] = (
    select(
        chunks.c.node_id,
        chunks.c.version_id,
        documents.c.document_id,
        documents.c.kb_name,
        documents.c.source_uri,
        documents.c.source_type,
        documents.c.title,
        chunks.c.ordinal,
        chunks.c.start,
        chunks.c.end,
        chunks.c.page,
        chunks.c.text,
        chunks.c.section,
        sections.c.path,
        sections.c.level,
        sections.c.summary,
        sections.c.body_end,
    )
    .join(documents, documents.c.visible_version == chunks.c.version_id)
    .join(
        sections,
        and_(sections.c.version_id == chunks.c.version_id, sections.c.ordinal == chunks.c.section),
    )
    .where(
        documents.c.namespace == bindparam("namespace", type_=String),
        any_of_bound(chunks.c.node_id, bindparam("nodes", type_=String)),
    )
)
#: Finds more sections than asked for, when several versions are: no index serves pairs.
_SECTION_CHUNKS = (
    select(
        chunks.c.version_id,
        chunks.c.section,
        chunks.c.node_id,
        chunks.c.ordinal,
        chunks.c.start,
        chunks.c.end,
        chunks.c.page,
    )
    .where(
        any_of_bound(chunks.c.version_id, bindparam("versions", type_=String)),
        any_of_bound(chunks.c.section, bindparam("sections", type_=String)),
    )
    .order_by(chunks.c.ordinal)
)
_STRETCH = select(
    func.substr(
        versions.c.text, bindparam("first", type_=Integer), bindparam("length", type_=Integer)
    )
).where(versions.c.version_id == bindparam("version", type_=String))


def passages(conn: Connection, namespace: str, node_ids: Iterable[str]) -> dict[str, Passage]:
    """The passages of nodes, without those of versions that are not visible (any more)."""
    rows = conn.execute(_PASSAGES, {"namespace": namespace, "nodes": as_array(node_ids)})
    return {row[0]: Passage(*row) for row in rows.all()}


def section_chunks(
    conn: Connection, wanted: Iterable[tuple[str, int]]
) -> dict[tuple[str, int], list[ChunkSpan]]:
    """The chunks of sections in text order.

    :param wanted: sections, each as version and ordinal.
    """
    result: dict[tuple[str, int], list[ChunkSpan]] = {key: [] for key in wanted}
    rows = conn.execute(
        _SECTION_CHUNKS,
        {
            "versions": as_array({version for version, _ in result}),
            "sections": as_array({section for _, section in result}),
        },
    )
    for version_id, section, *span in rows.all():
        if (version_id, section) in result:
            result[version_id, section].append(ChunkSpan(*span))
    return result


def span_texts(
    conn: Connection, spans: Iterable[tuple[str, int, int]]
) -> dict[tuple[str, int, int], str]:
    """Parts of the texts of versions, each given by version, start and (exclusive) end."""
    by_version: dict[str, list[tuple[str, int, int]]] = {}
    for span in spans:
        by_version.setdefault(span[0], []).append(span)
    result: dict[tuple[str, int, int], str] = {}
    for version_id, parts in by_version.items():
        first = min(start for _, start, _ in parts)
        length = max(end for _, _, end in parts) - first
        # One stretch of text serves all spans of a version; SQL counts from 1.
        stretch = conn.scalar(
            _STRETCH, {"version": version_id, "first": first + 1, "length": length}
        )
        if stretch is not None:
            for span in parts:
                result[span] = stretch[span[1] - first : span[2] - first]
    return result


def chunk_texts(conn: Connection, version_ids: Iterable[str]) -> dict[str, str]:
    """The text of every chunk of versions, by node."""
    query = select(chunks.c.node_id, chunks.c.text).where(any_of(chunks.c.version_id, version_ids))
    return dict(conn.execute(query).all())


def document_text(conn: Connection, document_id: str) -> str | None:
    """The normalised text of a document's visible version; None when there is no such document."""
    text: str | None = conn.scalar(
        select(versions.c.text)
        .join(documents, documents.c.visible_version == versions.c.version_id)
        .where(documents.c.document_id == document_id)
    )
    return text


def document_length(conn: Connection, version_id: str) -> int:
    """How many characters the text of a version has; 0 when there is no such version."""
    query = select(func.length(versions.c.text)).where(versions.c.version_id == version_id)
    return conn.scalar(query) or 0


def stretch(conn: Connection, version_id: str, start: int, end: int) -> str:
    """A part of the text of a version; "" where there is none."""
    bounds = {"version": version_id, "first": start + 1, "length": max(end - start, 0)}
    return conn.scalar(_STRETCH, bounds) or ""


def page_of(conn: Connection, version_id: str, position: int) -> int:
    """The page on which the passage at or before a position begins; 0 without pages."""
    query = (
        select(chunks.c.page)
        .where(chunks.c.version_id == version_id, chunks.c.start <= position)
        .order_by(chunks.c.ordinal.desc())
        .limit(1)
    )
    return conn.scalar(query) or 0


def document_sections(conn: Connection, document_id: str) -> list[Section]:
    """The section tree of a document's visible version in reading order; empty when unknown."""
    query = (
        select(*(sections.c[name] for name in Section.__annotations__))
        .join(documents, documents.c.visible_version == sections.c.version_id)
        .where(documents.c.document_id == document_id)
        .order_by(sections.c.ordinal)
    )
    return [Section(*row) for row in conn.execute(query)]
