"""Fakes of what the core gives a pack: documents, records and search held in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eagle_rag_core.types import (
    Chunk,
    DocumentInfo,
    Enrichment,
    EnrichmentInput,
    FieldValue,
    Hit,
    ParsedDocument,
    Record,
    Where,
)


def document(name: str, text: str, chunk_size: int = 400) -> EnrichmentInput:
    """A document cut into chunks at paragraph borders, at most ``chunk_size`` characters each
    where paragraphs allow."""
    info = DocumentInfo(
        document_id=name,
        kb_name="default",
        source_uri=f"file:///{name}",
        source_type="",
        title=name,
        language="en",
        media_type="text/markdown",
        tags=(),
        metadata={},
        version_id="v1",
        chunks=0,
        created_at="",
        updated_at="",
    )
    chunks: list[Chunk] = []
    start = 0
    while start < len(text):
        end = text.rfind("\n\n", start, start + chunk_size)
        end = len(text) if start + chunk_size >= len(text) or end <= start else end
        chunks.append(
            Chunk(f"{name}-{len(chunks)}", len(chunks), 0, start, end, text[start:end], "", 0)
        )
        start = end + 2
    return EnrichmentInput(info, ParsedDocument(text, "text/markdown"), chunks)


@dataclass
class Library:
    """Documents and their records; serves as ``ctx.records`` and ``ctx.search``.

    Search counts the words of the query, and those an enrichment added, in each chunk.
    """

    documents: dict[str, EnrichmentInput] = field(default_factory=dict)
    stored: list[Record] = field(default_factory=list)
    terms: dict[str, Sequence[str]] = field(default_factory=dict)

    def ingest(self, item: EnrichmentInput, enrichment: Enrichment) -> None:
        info = item.document
        self.documents[info.document_id] = item
        self.terms.update(enrichment.chunk_terms)
        self.stored += [
            Record(r.kind, r.fields, r.data, info.kb_name, info.document_id, r.node_id)
            for r in enrichment.records
        ]

    def find(
        self,
        kind: str,
        where: Where | None = None,
        *,
        kb_name: str = "",
        document_ids: Sequence[str] = (),
        limit: int = 100,
    ) -> list[Record]:
        found = (
            r
            for r in self.stored
            if r.kind == kind
            and kb_name in ("", r.kb_name)
            and (not document_ids or r.document_id in document_ids)
            and _meets(r.fields, where or {})
        )
        return list(found)[:limit]

    def count(self, kind: str, where: Where | None = None, **scope: Any) -> int:
        return len(self.find(kind, where, limit=len(self.stored), **scope))

    def values(self, kind: str, field: str, **_: Any) -> list[tuple[FieldValue, int]]:
        raise NotImplementedError

    def text(
        self, query: str, *, top_k: int = 5, kb_name: str = "", document_ids: Sequence[str] = ()
    ) -> list[Hit]:
        words = set(query.lower().split())
        scored = [
            (
                len(
                    words
                    & set(f"{c.text} {' '.join(self.terms.get(c.node_id, ()))}".lower().split())
                ),
                c,
            )
            for c in self._chunks()
        ]
        best = sorted((s for s in scored if s[0]), key=lambda s: -s[0])
        hits = self.passages([chunk.node_id for _, chunk in best])
        return [h for h in hits if not document_ids or h.document_id in document_ids][:top_k]

    def passages(self, node_ids: Sequence[str]) -> list[Hit]:
        chunks = {c.node_id: c for c in self._chunks()}
        owners = {c.node_id: i for i in self.documents.values() for c in i.chunks}
        return [
            Hit(
                node_id=n,
                document_id=owners[n].document.document_id,
                kb_name=owners[n].document.kb_name,
                text=chunks[n].text,
                score=1.0,
                start=chunks[n].start,
                end=chunks[n].end,
                title=owners[n].document.title,
            )
            for n in node_ids
        ]

    def _words(self, chunk: Chunk) -> set[str]:
        text = " ".join([chunk.text, *self.terms.get(chunk.node_id, ())])
        return set(text.lower().split())

    def _chunks(self) -> Iterable[Chunk]:
        return (c for item in self.documents.values() for c in item.chunks)


def _meets(fields: Mapping[str, Any], where: Where) -> bool:
    return all(
        bool(set(_several(fields.get(name, ()))) & set(_several(wanted)))
        for name, wanted in where.items()
    )


def _several(value: Any) -> Sequence[Any]:
    return [value] if isinstance(value, str | int | float) else list(value)
