"""Small documents for tests of the catalog."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from eagle_rag_core.catalog import ids, versions
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.types import Chunk, DocumentInfo, NewRecord, Section

NAMESPACE = "core"


class FakeClock:
    """Seconds since the epoch; every look takes a millisecond."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


def draft(
    uri: str = "file:///a.txt",
    *,
    kb: str = "default",
    text: str = "Alpha beta.\n\nGamma delta.\n\nEpsilon.",
    namespace: str = NAMESPACE,
    fingerprint: str = "pipeline",
    fields: Mapping[str, Mapping[str, Any]] | None = None,
    records: Sequence[tuple[str, NewRecord]] = (),
    **info: Any,
) -> versions.VersionDraft:
    """A version of a document whose paragraphs are its chunks.

    :param fields: per ordinal of a chunk, as text.
    """
    document_id = ids.document_id(namespace, kb, uri)
    content_hash = hashlib.sha256(text.encode()).hexdigest()
    version_id = ids.version_id(document_id, content_hash, fingerprint)
    chunks = _chunks(text, version_id)
    values: dict[str, Any] = {
        "source_type": "",
        "title": f"Title of {uri}",
        "language": "en",
        "media_type": "text/plain",
        "tags": (),
        "metadata": {},
        "created_at": "",
        "updated_at": "",
    }
    return versions.VersionDraft(
        document=DocumentInfo(
            document_id=document_id,
            kb_name=kb,
            source_uri=uri,
            version_id=version_id,
            chunks=len(chunks),
            **(values | info),
        ),
        content_hash=content_hash,
        fingerprint=fingerprint,
        size=len(text.encode()),
        text=text,
        sections=_sections(text, chunks),
        chunks=chunks,
        fields={chunks[int(n)].node_id: value for n, value in (fields or {}).items()},
        records=records,
    )


def publish(catalog: Catalog, *drafts: versions.VersionDraft, clock: Any = None) -> list[str]:
    """Publish drafts in one transaction; returns the retired versions."""
    retired: list[str] = []
    with catalog.write() as tx:
        for item in drafts:
            removed = versions.publish(
                tx, catalog.namespace, item, **({"clock": clock} if clock else {})
            )
            retired += removed.version_ids
    return retired


def _chunks(text: str, version_id: str) -> list[Chunk]:
    chunks: list[Chunk] = []
    start = 0
    for ordinal, paragraph in enumerate(text.split("\n\n")):
        node_id = hashlib.sha256(f"{version_id}/{ordinal}".encode()).hexdigest()[:32]
        section = min(ordinal, 1)
        end = start + len(paragraph)
        path = "Body" if section else ""
        chunks.append(
            Chunk(node_id, ordinal, section, start, end, paragraph, path, section, ordinal + 1)
        )
        start = end + 2
    return chunks


def _sections(text: str, chunks: Sequence[Chunk]) -> list[Section]:
    """The first paragraph belongs to the document itself, the others to one section."""
    root = Section(0, -1, 0, "", "", 0, chunks[0].end, len(text))
    if len(chunks) == 1:
        return [root]
    start = chunks[1].start
    return [
        root,
        Section(1, 0, 1, "Body", "Body", start, len(text), len(text), 2, "About the body."),
    ]
