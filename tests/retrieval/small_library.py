"""A real catalog with the local vector store, filled from short texts, for tests of retrieval."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from vectors.staging import publishing

from eagle_rag_core.catalog import collections, ids, versions
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.models.analyzer import analyze
from eagle_rag_core.retrieval.legs import TextIndex
from eagle_rag_core.retrieval.orchestrator import Orchestrator, RetrievalParts
from eagle_rag_core.settings.sections import RetrievalSettings
from eagle_rag_core.types import Chunk, DocumentInfo, Scope, Section
from eagle_rag_core.vectors.local.store import LocalVectorStore
from eagle_rag_core.vectors.store import Collection, VersionRows

NAMESPACE = "core"


class WordEmbedder:
    """Unit vectors that count hashed terms: texts are close when they share words."""

    name = "words"
    fingerprint = "words-1"
    dim = 64
    scripts = frozenset({"latin"})
    dense_weight = 1.0

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> np.ndarray:
        vector = np.full(self.dim, 1e-3, np.float32)
        for term in analyze(text):
            vector[int(hashlib.md5(term.encode()).hexdigest(), 16) % self.dim] += 1.0
        return vector / np.linalg.norm(vector)


class NoEmbedder(WordEmbedder):
    name = "none"
    fingerprint = "none"
    dim = 0


class SmallLibrary:
    """Documents in a catalog below ``folder``. Lines "# title" begin sections, paragraphs are
    chunks, a form feed at the start of a paragraph begins a page."""

    def __init__(self, folder: Path, embedder: Any = None) -> None:
        self.catalog = Catalog(f"sqlite:///{folder / 'catalog.db'}", namespace=NAMESPACE)
        self.catalog.migrate()
        self.embedder = embedder or WordEmbedder()
        with self.catalog.write() as tx:
            self.active = collections.ensure_collection(
                tx,
                NAMESPACE,
                kind="text",
                embedder=self.embedder.name,
                fingerprint=self.embedder.fingerprint,
                dim=self.embedder.dim,
            )
        self.collection = Collection(NAMESPACE, self.active.name, "text", self.embedder.dim)
        self.store: Any = LocalVectorStore(self.catalog)

    def add(self, uri: str, text: str, *, kb: str = "default", source_type: str = "") -> str:
        """Publish a version of a document; returns the document's id."""
        document_id = ids.document_id(NAMESPACE, kb, uri)
        version_id = ids.version_id(document_id, hashlib.sha256(text.encode()).hexdigest(), "p")
        sections = _sections(text)
        chunks = _chunks(text, sections, version_id)
        now = ids.now_iso()
        info = DocumentInfo(
            document_id=document_id,
            kb_name=kb,
            source_uri=uri,
            source_type=source_type,
            title=f"Title of {uri}",
            language="en",
            media_type="text/plain",
            tags=(),
            metadata={},
            version_id=version_id,
            chunks=len(chunks),
            created_at=now,
            updated_at=now,
        )
        texts = [chunk.text for chunk in chunks]
        rows = VersionRows(
            version_id=version_id,
            document_id=document_id,
            kb_name=kb,
            node_ids=[chunk.node_id for chunk in chunks],
            tokens=[analyze(chunk_text) for chunk_text in texts],
            dense=self.embedder.embed_documents(texts) if self.embedder.dim else None,
        )
        draft = versions.VersionDraft(
            document=info,
            content_hash=hashlib.sha256(text.encode()).hexdigest(),
            fingerprint="p",
            size=len(text),
            text=text,
            sections=sections,
            chunks=chunks,
        )
        with publishing(self.catalog, self.store, self.collection, rows) as tx:
            removed = versions.publish(tx, NAMESPACE, draft)
            self.store.retire(tx, self.collection, removed.version_ids)
        return document_id

    def orchestrator(self, **parts: Any) -> Orchestrator:
        """An orchestrator over this library; keywords are fields of its parts or settings."""
        fields = RetrievalSettings.model_fields
        settings = {name: parts.pop(name) for name in list(parts) if name in fields}
        index = parts.pop("index", None) or self.index()
        return Orchestrator(
            RetrievalParts(self.catalog, index, RetrievalSettings(**settings), **parts)
        )

    def index(self, **changes: Any) -> TextIndex:
        values = {
            "store": self.store,
            "active": lambda: self.active,
            "embedder": self.embedder,
        }
        return TextIndex(**(values | changes))

    def everything(self, *kbs: str) -> Scope:
        return Scope(kbs=frozenset(kbs or ("default",)))

    def close(self) -> None:
        self.store.close()
        self.catalog.close()


def _sections(text: str) -> list[Section]:
    starts = [match.start() for match in re.finditer(r"^# ", text, re.MULTILINE)]
    root_end = starts[0] if starts else len(text)
    sections = [Section(0, -1, 0, "", "", 0, root_end, len(text))]
    for ordinal, start in enumerate(starts, start=1):
        end = starts[ordinal] if ordinal < len(starts) else len(text)
        title = text[start + 2 : text.index("\n", start)]
        summary = f"About {title}."
        sections.append(Section(ordinal, 0, 1, title, title, start, end, end, summary=summary))
    return sections


def _chunks(text: str, sections: Sequence[Section], version_id: str) -> list[Chunk]:
    chunks: list[Chunk] = []
    page = 1
    for section in sections:
        body = text[section.start : section.body_end]
        for match in re.finditer(r"\S(?:.|\n(?!\s*\n))*", body):
            page += body[: match.start()].rstrip(" \n").endswith("\f")
            start, end = section.start + match.start(), section.start + match.end()
            while text[end - 1].isspace():
                end -= 1
            ordinal = len(chunks)
            chunks.append(
                Chunk(
                    node_id=hashlib.sha256(f"{version_id}/{ordinal}".encode()).hexdigest()[:32],
                    ordinal=ordinal,
                    section=section.ordinal,
                    start=start,
                    end=end,
                    text=text[start:end],
                    path=section.path,
                    level=section.level,
                    page=page,
                )
            )
    return chunks
