"""Fakes of what the core gives a pack: sections cut into chunks, records and BM25 search."""

from __future__ import annotations

import math
import re
from collections import Counter
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


def document(name: str, parsed: ParsedDocument, chunk_size: int = 1200) -> EnrichmentInput:
    """A document cut at its headings, and longer sections at line ends."""
    info = DocumentInfo(
        document_id=name,
        kb_name="default",
        source_uri=f"file:///{name}",
        source_type="",
        title=parsed.title,
        language="en",
        media_type=parsed.media_type,
        tags=(),
        metadata={},
        version_id="v1",
        chunks=0,
        created_at="",
        updated_at="",
    )
    text = parsed.text
    starts = [text.rfind("\n", 0, heading.start) + 1 for heading in parsed.headings] or [0]
    chunks: list[Chunk] = []
    for section, (start, end) in enumerate(zip(starts, [*starts[1:], len(text)], strict=True)):
        while start < end:
            cut = end
            if end - start > chunk_size:
                cut = max(text.rfind("\n", start, start + chunk_size) + 1, start + 1)
            node = f"{name}-{len(chunks)}"
            chunks.append(Chunk(node, len(chunks), section, start, cut, text[start:cut], "", 1))
            start = cut
    return EnrichmentInput(info, parsed, chunks)


@dataclass
class Library:
    """Documents and their records; serves as ``ctx.records`` and ``ctx.search``."""

    documents: dict[str, EnrichmentInput] = field(default_factory=dict)
    stored: list[Record] = field(default_factory=list)
    bags: dict[str, Counter[str]] = field(default_factory=dict)
    chunks: dict[str, tuple[Chunk, DocumentInfo]] = field(default_factory=dict)

    def ingest(self, item: EnrichmentInput, enrichment: Enrichment) -> None:
        info = item.document
        self.documents[info.document_id] = item
        for chunk in item.chunks:
            terms = " ".join(enrichment.chunk_terms.get(chunk.node_id, ()))
            self.bags[chunk.node_id] = Counter(self.analyze(f"{chunk.text} {terms}"))
            self.chunks[chunk.node_id] = chunk, info
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
        inside = {
            node: bag
            for node, bag in self.bags.items()
            if kb_name in ("", self.chunks[node][1].kb_name)
            and (not document_ids or self.chunks[node][1].document_id in document_ids)
        }
        scores = _bm25(set(self.analyze(query)), inside)
        return self.passages([node for node, _ in scores.most_common(top_k)])

    def passages(self, node_ids: Sequence[str]) -> list[Hit]:
        hits = []
        for node in node_ids:
            chunk, info = self.chunks[node]
            hits.append(
                Hit(
                    node_id=node,
                    document_id=info.document_id,
                    kb_name=info.kb_name,
                    text=chunk.text,
                    score=1.0,
                    start=chunk.start,
                    end=chunk.end,
                )
            )
        return hits

    @staticmethod
    def analyze(text: str) -> Iterable[str]:
        return (word.rstrip("s") for word in re.findall(r"[a-z]+|\d+", text.lower()))


def _bm25(wanted: set[str], bags: Mapping[str, Counter[str]]) -> Counter[str]:
    scores: Counter[str] = Counter()
    average = sum(bag.total() for bag in bags.values()) / max(1, len(bags))
    for word in wanted:
        holding = {node: bag for node, bag in bags.items() if word in bag}
        rarity = math.log(1 + (len(bags) - len(holding) + 0.5) / (len(holding) + 0.5))
        for node, bag in holding.items():
            length = 0.25 + 0.75 * bag.total() / average
            scores[node] += rarity * bag[word] * 2.2 / (bag[word] + 1.2 * length)
    return scores


def _meets(fields: Mapping[str, Any], where: Where) -> bool:
    return all(
        bool(set(_several(fields.get(name, ()))) & set(_several(wanted)))
        for name, wanted in where.items()
    )


def _several(value: Any) -> Sequence[Any]:
    return [value] if isinstance(value, str | int | float) else list(value)
