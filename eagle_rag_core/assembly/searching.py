"""Retrieval over the built rooms, with the legs and rerankers of packs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from eagle_rag_core.assembly.embedding import active_text
from eagle_rag_core.catalog.collections import CollectionInfo, active_collection
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.errors import ConfigError
from eagle_rag_core.ingest.matrix_files import MatrixFiles
from eagle_rag_core.ingest.pixel_view import kind_of
from eagle_rag_core.ingest.visual_view import VISUAL
from eagle_rag_core.models.embedders import ResolvedEmbedder
from eagle_rag_core.models.image_embedders import ImageEmbedder
from eagle_rag_core.models.rerankers import FASTEMBED, HTTP, core_reranker
from eagle_rag_core.retrieval.late_scoring import LateScoring
from eagle_rag_core.retrieval.legs import TextIndex
from eagle_rag_core.retrieval.orchestrator import Orchestrator, RetrievalParts
from eagle_rag_core.retrieval.pixels import PixelIndex
from eagle_rag_core.retrieval.view_legs import SearchedView, ViewIndex
from eagle_rag_core.retrieval.visual import VisualParts, VisualRetriever
from eagle_rag_core.settings import Settings
from eagle_rag_core.settings.sections import ModelSettings
from eagle_rag_core.settings.suggest import did_you_mean
from eagle_rag_core.types import Extensions, QueryExpander, Reranker
from eagle_rag_core.vectors.store import VectorStore


def orchestrator(
    settings: Settings,
    catalog: Catalog,
    store: VectorStore,
    resolved: ResolvedEmbedder,
    extensions: Extensions,
    views: Sequence[SearchedView],
) -> Orchestrator:
    """The orchestrator of all legs.

    :raises ConfigError: ``models.reranker`` names nothing that is there, or legs share a name.
    """
    # What waits for a server may hang and needs a thread and a deadline of its own.
    in_process = not settings.milvus.uri and resolved.in_process
    index = TextIndex(
        store, partial(active_text, catalog), resolved.embedder, in_process=in_process
    )
    return Orchestrator(
        RetrievalParts(
            catalog=catalog,
            index=index,
            settings=settings.retrieval,
            views=ViewIndex(catalog, store, views) if views else None,
            legs=extensions.legs,
            expanders=extensions.expanders,
            rerankers=_rerankers(settings.models, extensions),
        )
    )


def visual_retriever(
    settings: Settings,
    catalog: Catalog,
    store: VectorStore,
    resolved: ResolvedEmbedder,
    pixels: ImageEmbedder | None,
    matrices: MatrixFiles,
    expanders: tuple[QueryExpander, ...],
) -> VisualRetriever:
    """What finds regions of pages and pictures."""
    seen = _pixel_index(catalog, store, pixels, matrices) if pixels else None
    in_process = not settings.milvus.uri and resolved.in_process
    index = TextIndex(
        store, partial(_active, catalog, VISUAL), resolved.embedder, in_process=in_process
    )
    return VisualRetriever(VisualParts(catalog, index, settings.retrieval, seen, expanders))


def _pixel_index(
    catalog: Catalog, store: VectorStore, pixels: ImageEmbedder, matrices: MatrixFiles
) -> PixelIndex:
    late = LateScoring(catalog, matrices, pixels.fingerprint) if pixels.multi_vector else None
    return PixelIndex(catalog, store, pixels, kind_of(pixels), late)


def _active(catalog: Catalog, kind: str) -> CollectionInfo | None:
    with catalog.read() as conn:
        return active_collection(conn, catalog.namespace, kind)


def _rerankers(settings: ModelSettings, extensions: Extensions) -> tuple[Reranker, ...]:
    wanted = settings.reranker
    if wanted == "none":
        return ()
    of_packs = {reranker.name: reranker for reranker in extensions.rerankers}
    reranker = of_packs.get(wanted) or core_reranker(wanted, settings.rerank)
    if reranker is None:
        known = [*of_packs, "none", HTTP, f"{FASTEMBED}<model>"]
        raise ConfigError(
            f"models.reranker names {wanted!r}, which nothing installed provides"
            f"{did_you_mean(wanted, known)} Known are: {', '.join(known)}."
        )
    return (reranker,)
