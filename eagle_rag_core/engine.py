"""The engine of one deployment, assembled from its rooms.

Imported on first use only: it brings SQL, numpy and the models.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from sqlalchemy.engine import URL

from eagle_rag_core.blobs.store import BlobStore
from eagle_rag_core.catalog import collections, kbs
from eagle_rag_core.catalog.collections import CollectionInfo
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.errors import ConfigError, ModelError
from eagle_rag_core.ingest.chunking import Chunker
from eagle_rag_core.ingest.fetch.http import SafeFetcher
from eagle_rag_core.ingest.parsers import ParserRegistry
from eagle_rag_core.ingest.pipeline import IngestPipeline, Limits, PipelineParts
from eagle_rag_core.jobs.periodic import Periodic
from eagle_rag_core.jobs.queue import JobQueue
from eagle_rag_core.jobs.worker import Worker
from eagle_rag_core.models.embedders import HomeEmbedder, ResolvedEmbedder, resolve_text_embedder
from eagle_rag_core.models.rerankers import FASTEMBED, HTTP, core_reranker
from eagle_rag_core.query.engine import AnswerEngine
from eagle_rag_core.retrieval.legs import TextIndex
from eagle_rag_core.retrieval.orchestrator import Orchestrator, RetrievalParts
from eagle_rag_core.service import Services
from eagle_rag_core.service.answer import AnswerService
from eagle_rag_core.service.documents import DocumentService
from eagle_rag_core.service.health import PackHealth
from eagle_rag_core.service.ingest import IngestPolicy, IngestService
from eagle_rag_core.service.ingest_runner import IngestRunner
from eagle_rag_core.service.jobs import JobService
from eagle_rag_core.service.kbs import KbService
from eagle_rag_core.service.search import SearchService
from eagle_rag_core.settings import Settings
from eagle_rag_core.settings.sections import ModelSettings
from eagle_rag_core.settings.suggest import did_you_mean
from eagle_rag_core.types import Caller, Extensions, Reranker, Scope
from eagle_rag_core.vectors.factory import open_vector_store
from eagle_rag_core.vectors.store import Collection, VectorStore

_LOG = logging.getLogger(__name__)
_TEXT = "text"
#: How long a running job may still finish at the end; then it goes back to the queue.
_GRACE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Engine:
    """The running parts of a deployment.

    :param works: this process runs ingest jobs.
    """

    catalog: Catalog
    store: VectorStore
    embedder: ResolvedEmbedder
    orchestrator: Orchestrator
    services: Services
    worker: Worker
    refresher: Periodic
    packs: PackHealth
    works: bool

    def start(self) -> None:
        """Begin background work: follow the index and, where this process works, run jobs."""
        self.refresher.start()
        if self.works:
            self.worker.start()

    def warm(self) -> None:
        """Build the index and load the model, so that the first call does not pay for them."""
        info = self.active_collection()
        if info is not None:
            self.store.count(_as_collection(info), Scope())
        if self.embedder.embedder.dim:
            self.embedder.embedder.embed_query("warm up")

    def active_collection(self) -> CollectionInfo | None:
        """The text collection that searches read."""
        return _active_text(self.catalog)

    def work(self) -> None:
        """Run jobs in this process.

        :raises ModelError: it lacks the embedder of the home.
        """
        if not self.embedder.can_ingest:
            raise ModelError(self.embedder.notice)
        self.worker.start()

    def close(self) -> None:
        """Stop background work, hand running jobs back and release everything."""
        self.worker.close(grace=_GRACE_SECONDS)
        self.refresher.close()
        self.orchestrator.close()
        self.packs.close()
        self.store.close()
        self.catalog.close()


def build_engine(settings: Settings, extensions: Extensions) -> Engine:
    """Open the home and assemble the engine.

    :raises EagleError: the catalog, the vector store or the embedder cannot be used.
    """
    catalog = Catalog(_catalog_url(settings), namespace=settings.namespace)
    catalog.migrate()
    if not settings.ingest.allowed_roots:
        # The inbox of a new home.
        settings.allowed_roots[0].mkdir(mode=0o700, parents=True, exist_ok=True)
    _tell_other_namespaces(catalog)
    store = open_vector_store(settings, catalog)
    embedder = _embedder(settings, catalog, extensions)
    collection = _collection(catalog, store, embedder)
    orchestrator = _orchestrator(settings, catalog, store, embedder, extensions)
    pipeline = IngestPipeline(
        PipelineParts(
            catalog=catalog,
            store=store,
            blobs=BlobStore(settings.blobs.url or settings.home / "blobs"),
            collection=collection,
            embedder=embedder.embedder,
            parsers=ParserRegistry(extensions.parsers),
            chunker=Chunker(),
            fetcher=SafeFetcher(
                max_bytes=settings.ingest.max_bytes, total_timeout=settings.ingest.fetch_timeout
            ),
            enrichers=extensions.enrichers,
            record_rules=extensions.record_rules,
            pack_versions=extensions.pack_versions,
            limits=Limits(settings.allowed_roots, settings.ingest.max_bytes),
        )
    )
    queue = JobQueue(
        catalog, fingerprint=pipeline.fingerprint, max_attempts=settings.ingest.max_attempts
    )
    worker = Worker(
        queue,
        IngestRunner(catalog, queue, pipeline).process,
        fingerprint=pipeline.fingerprint,
        lease_seconds=settings.ingest.lease_seconds,
    )
    works = settings.ingest.embedded_worker and embedder.can_ingest
    policy = IngestPolicy(
        settings.ingest.default_kb,
        settings.allowed_roots,
        refusal="" if embedder.can_ingest else embedder.notice,
    )
    ingest = IngestService(
        catalog, queue, pipeline, policy, wake=worker.wake if works else _leave_it_to_workers
    )
    services = Services(
        ingest=ingest,
        jobs=JobService(queue),
        search=SearchService(catalog, orchestrator),
        answer=AnswerService(catalog, AnswerEngine(orchestrator, settings.query)),
        documents=DocumentService(catalog),
        kbs=KbService(catalog),
    )

    def keep_fresh() -> None:
        store.refresh()
        store.sweep()

    packs = PackHealth(extensions.health)
    refresher = Periodic("index-refresh", settings.retrieval.refresh_seconds, keep_fresh)
    return Engine(catalog, store, embedder, orchestrator, services, worker, refresher, packs, works)


def _catalog_url(settings: Settings) -> URL | str:
    if settings.database.url:
        return settings.database.url
    # Not as text: the folder's name may hold what has a meaning in a URL.
    return URL.create("sqlite", database=str(settings.home / "catalog.db"))


def _leave_it_to_workers() -> None:
    """Other processes poll the job table."""


def _embedder(settings: Settings, catalog: Catalog, extensions: Extensions) -> ResolvedEmbedder:
    active = _active_text(catalog)
    home = HomeEmbedder(active.embedder, active.fingerprint, active.dim) if active else None
    packs = {spec.name: spec.factory for spec in extensions.embedders}
    return resolve_text_embedder(settings.models, home=home, extra=packs)


def _active_text(catalog: Catalog) -> CollectionInfo | None:
    with catalog.read() as conn:
        return collections.active_collection(conn, catalog.namespace, _TEXT)


def _collection(catalog: Catalog, store: VectorStore, resolved: ResolvedEmbedder) -> Collection:
    """The collection this process writes to: the home's own, else a new one."""
    embedder = resolved.embedder
    with catalog.write() as tx:
        info = collections.active_collection(tx, catalog.namespace, _TEXT)
        if info is None:
            info = collections.ensure_collection(
                tx,
                catalog.namespace,
                kind=_TEXT,
                embedder=embedder.name,
                fingerprint=embedder.fingerprint,
                dim=embedder.dim,
            )
    collection = _as_collection(info)
    store.ensure(collection)
    return collection


def _as_collection(info: CollectionInfo) -> Collection:
    return Collection(namespace=info.namespace, name=info.name, kind=info.kind, dim=info.dim)


def _orchestrator(
    settings: Settings,
    catalog: Catalog,
    store: VectorStore,
    resolved: ResolvedEmbedder,
    extensions: Extensions,
) -> Orchestrator:
    # What waits for a server may hang and needs a thread and a deadline of its own.
    in_process = not settings.milvus.uri and resolved.in_process
    return Orchestrator(
        RetrievalParts(
            catalog=catalog,
            index=TextIndex(
                store, lambda: _active_text(catalog), resolved.embedder, in_process=in_process
            ),
            settings=settings.retrieval,
            legs=extensions.legs,
            expanders=extensions.expanders,
            rerankers=_rerankers(settings.models, extensions),
        )
    )


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


def _tell_other_namespaces(catalog: Catalog) -> None:
    """A changed namespace shows an empty library, which surprises; say so."""
    with catalog.read() as conn:
        if kbs.readable_kbs(conn, catalog.namespace, Caller("start")):
            return
        others = kbs.other_namespaces(conn, catalog.namespace)
    if others:
        listed = ", ".join(f"{name} ({count} documents)" for name, count in others.items())
        _LOG.warning(
            "The library of namespace %s is empty; this home also holds %s.",
            catalog.namespace,
            listed,
        )
