"""A library whose embedders count what they are asked, and whose pipeline has a version."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select

from eagle_rag_core.catalog.schema import metadata, vector_rows
from eagle_rag_core.plugins import PackContext, explicit_pack, hookimpl
from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.types import (
    COMMAND_LINE,
    CollectionView,
    EmbedderSpec,
    Enricher,
    Enrichment,
    EnrichmentInput,
    NewRecord,
)

_MANIFEST: Final = """
schema = 1
[pack]
namespace = "{namespace}"
title = "Life"
api = ">=1.0,<2"
[[records]]
kind = "name"
fields = [{{ name = "text", type = "string" }}]
"""


class CountingEmbedder:
    """Vectors that depend on the text and the embedder; remembers the texts it embedded."""

    scripts = frozenset[str]()
    dense_weight = 1.0

    def __init__(self, name: str, dim: int) -> None:
        self.name = name
        self.fingerprint = name.rpartition("_")[2]  # the same in every namespace
        self.dim = dim
        self.embedded: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.embedded += texts
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        seed = int.from_bytes(
            hashlib.sha256(f"{self.fingerprint} {text}".encode()).digest()[:8], "big"
        )
        vector = np.random.default_rng(seed).standard_normal(self.dim)
        return (vector / np.linalg.norm(vector)).astype(np.float32)


class NameEnricher:
    """Records words in capitals and makes every passage findable by "enriched"."""

    def __init__(self, namespace: str, version: str) -> None:
        self.name = f"{namespace}_names"
        self.version = version

    def enrich(self, item: EnrichmentInput) -> Enrichment:
        return Enrichment(
            records=[
                NewRecord("name", {"text": word}, node_id=chunk.node_id)
                for chunk in item.chunks
                for word in re.findall(r"\b[A-Z]{3,}\b", chunk.text)
            ],
            chunk_fields={chunk.node_id: {"seen": True} for chunk in item.chunks},
            chunk_terms={chunk.node_id: ["enriched"] for chunk in item.chunks},
        )


class LifePack:
    def __init__(
        self,
        namespace: str,
        version: str,
        embedders: Sequence[CountingEmbedder],
        views: Sequence[CollectionView],
    ) -> None:
        self._enricher = NameEnricher(namespace, version)
        self._embedders = embedders
        self._views = views

    @hookimpl
    def register_enrichers(self, ctx: PackContext) -> list[Enricher]:
        return [self._enricher]

    @hookimpl
    def register_embedders(self, ctx: PackContext) -> list[EmbedderSpec]:
        return [EmbedderSpec(item.name, lambda item=item: item) for item in self._embedders]

    @hookimpl
    def register_collections(self, ctx: PackContext) -> list[CollectionView]:
        return list(self._views)


class Life:
    """A library in a folder, with short ways to look behind its back.

    :param version: of the pipeline.
    :param views: the pack's collections; their embedders may be its own.
    """

    def __init__(
        self,
        home: Path,
        *,
        embedder: str = "auto",
        version: str = "1",
        namespace: str = "life",
        settings: dict[str, Any] | None = None,
        views: Sequence[CollectionView] = (),
    ) -> None:
        self.alpha = CountingEmbedder(f"{namespace}_alpha", 8)
        self.beta = CountingEmbedder(f"{namespace}_beta", 6)
        self.gamma = CountingEmbedder(f"{namespace}_gamma", 5)
        collections = "".join(
            f"[[collections]]\nname = {view.name.removeprefix(f'{namespace}_')!r}\n"
            for view in views
        )
        pack = explicit_pack(
            LifePack(namespace, version, [self.alpha, self.beta, self.gamma], views),
            _MANIFEST.format(namespace=namespace) + collections,
        )
        if embedder in ("alpha", "beta"):
            embedder = f"{namespace}_{embedder}"
        given = {"models": {"text_embedder": embedder}, **(settings or {})}
        self.home = home
        self.library = PackLibrary(home, pack, settings=given)
        self.engine = self.library.app.engine()
        self.services = self.engine.services
        self.upkeep = self.services.upkeep
        self.upkeep.audit._pause = 0.0

    def __enter__(self) -> Life:
        return self

    def __exit__(self, *_: object) -> None:
        self.library.close()

    def add(self, path: Path, text: str = "", kb: str = "default") -> str:
        """Ingest a file, written first if a text is given; the id of its document."""
        if text:
            path.write_text(text)
        document_id = self.library.ingest(path, kb_name=kb)[0]
        self.rest()
        return document_id

    def rest(self) -> None:
        """Wait for the worker: originals are seen to after a job has succeeded."""
        while self.engine.worker._running:  # type: ignore[attr-defined]
            time.sleep(0.005)

    def search(self, query: str, kb: str = "") -> list[str]:
        """The texts of the passages that hold a word of the query."""
        hits = self.library.call("core_retrieve_text", query=query, kb_name=kb, top_k=50)
        words = query.lower().split()
        return [h["text"] for h in hits if any(word in h["text"].lower() for word in words)]

    def blobs(self) -> set[str]:
        """The hashes of the stored originals."""
        return {path.name for path in (self.home / "blobs").rglob("*") if path.is_file()}

    def rows(self, *without: str) -> dict[str, list[tuple[Any, ...]]]:
        """Everything the catalog holds, by table."""
        with self.engine.catalog.read() as conn:
            return {
                table.name: sorted(map(tuple, conn.execute(select(table))), key=repr)
                for table in metadata.sorted_tables
                if table.name not in without
            }

    def dense(self, document_id: str) -> dict[str, bytes]:
        with self.engine.catalog.read() as conn:
            query = select(vector_rows.c.tokens, vector_rows.c.dense).where(
                vector_rows.c.document_id == document_id
            )
            return dict(conn.execute(query).all())

    def findings(self) -> list[tuple[str, str]]:
        return [(item.check, item.subject) for item in self.upkeep.audit.run()]

    def make_stale_anew(self, kb: str = "") -> list[str]:
        """Run one round of reindexing; the states its jobs end in."""
        jobs = self.upkeep.reindex.submit(COMMAND_LINE, kb).jobs
        self.library.app.work()
        return self.ends([job.job_id for job in jobs])

    def ends(self, job_ids: Sequence[str]) -> list[str]:
        service = self.services.jobs
        while True:
            ended = service.ended(COMMAND_LINE, job_ids)
            if len(ended) == len(job_ids):
                self.rest()
                return [str(job.status) for job in ended]


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
