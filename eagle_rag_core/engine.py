"""The engine of one deployment, assembled from its rooms.

Imported on first use only: it brings SQL, numpy and the models.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from eagle_rag_core.catalog import collections, kbs
from eagle_rag_core.catalog.collections import CollectionInfo
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.errors import ConfigError, ModelError
from eagle_rag_core.ingest.chunking import Chunker
from eagle_rag_core.ingest.originals import Originals
from eagle_rag_core.ingest.parsers import ParserRegistry
from eagle_rag_core.ingest.pipeline import IngestPipeline, PipelineParts
from eagle_rag_core.ingest.sources.breaker import Breaker
from eagle_rag_core.jobs.dispatcher import Dispatcher, open_dispatcher
from eagle_rag_core.jobs.periodic import Periodic
from eagle_rag_core.jobs.queue import JobQueue
from eagle_rag_core.jobs.workers import Workers, WorkersFactory, in_this_process
from eagle_rag_core.models.embedders import HomeEmbedder, ResolvedEmbedder, resolve_text_embedder
from eagle_rag_core.models.llm import ChatModel, chat_model
from eagle_rag_core.models.ocr import ocr_engine
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
from eagle_rag_core.service.polling import SourcePoller
from eagle_rag_core.service.search import SearchService
from eagle_rag_core.service.source_items import RunParts
from eagle_rag_core.service.source_parts import scheduled_sources, source_reader, source_tools
from eagle_rag_core.service.sources import SourceService
from eagle_rag_core.service.upkeep import UpkeepParts, build_upkeep
from eagle_rag_core.settings import Settings
from eagle_rag_core.settings.sections import ModelSettings
from eagle_rag_core.settings.suggest import did_you_mean
from eagle_rag_core.storage import open_blobs, open_catalog, vector_stores
from eagle_rag_core.types import Caller, Extensions, Reranker, Scope
from eagle_rag_core.vectors.collections import as_collection
from eagle_rag_core.vectors.factory import open_vector_store
from eagle_rag_core.vectors.store import Collection, VectorStore

_LOG = logging.getLogger(__name__)
_TEXT = "text"
#: How long a running job may still finish at the end; then it goes back to the queue.
_GRACE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Engine:
    """The running parts of a deployment.

    :param dispatcher: tells a broker of the jobs, if there is one.
    :param works: this process runs ingest jobs, unless a broker hands them out.
    :param fingerprint: of the pipeline, which its jobs carry.
    """

    catalog: Catalog
    store: VectorStore
    embedder: ResolvedEmbedder
    orchestrator: Orchestrator
    services: Services
    queue: JobQueue
    worker: Workers
    dispatcher: Dispatcher | None
    refresher: Periodic
    poller: SourcePoller
    packs: PackHealth
    llm: ChatModel | None
    works: bool
    fingerprint: str

    def start(self) -> None:
        """Begin background work: follow the index and, where this process works, run jobs."""
        self.refresher.start()
        if self.dispatcher is not None:
            self.dispatcher.start()
        elif self.works:
            self.worker.start()
        if self.works:
            self.poller.start()

    def warm(self) -> None:
        """Build the index and load the model, so that the first call does not pay for them."""
        info = self.active_collection()
        if info is not None:
            self.store.count(as_collection(info), Scope())
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
        self.worker.start(foreground=True)

    def close(self) -> None:
        """Stop background work, hand running jobs back and release everything."""
        self.poller.close()
        if self.dispatcher is not None:
            self.dispatcher.close()
        self.worker.close(grace=_GRACE_SECONDS)
        self.refresher.close()
        self.orchestrator.close()
        self.packs.close()
        self.store.close()
        self.catalog.close()


def build_engine(
    settings: Settings, extensions: Extensions, workers: WorkersFactory | None = None
) -> Engine:
    """Open the home and assemble the engine.

    :param workers: makes what runs the jobs; by default a thread of this process.
    :raises EagleError: the catalog, the vector store or the embedder cannot be used.
    """
    catalog = open_catalog(settings)
    if not settings.ingest.allowed_roots:
        # The inbox of a new home.
        settings.allowed_roots[0].mkdir(mode=0o700, parents=True, exist_ok=True)
    _tell_other_namespaces(catalog)
    store = open_vector_store(settings, catalog)
    embedder = _embedder(settings, catalog, extensions)
    collection = _collection(catalog, store, embedder)
    orchestrator = _orchestrator(settings, catalog, store, embedder, extensions)
    llm = chat_model(settings.models.llm)
    blobs = open_blobs(settings)
    originals = Originals(catalog, blobs)
    parsers, reader = _parsers(settings, extensions), source_reader(settings)
    rooms = PipelineParts(
        catalog=catalog,
        store=store,
        originals=originals,
        collection=collection,
        embedder=embedder.embedder,
        parsers=parsers,
        chunker=Chunker(),
        reader=reader,
        enrichers=extensions.enrichers,
        record_rules=extensions.record_rules,
        pack_versions=extensions.pack_versions,
    )
    pipeline = IngestPipeline(rooms)
    queue = JobQueue(
        catalog,
        fingerprint=pipeline.job_fingerprint,
        packs=extensions.pack_versions,
        max_attempts=settings.ingest.max_attempts,
        max_queued=settings.ingest.max_queued,
    )
    make_workers = workers or in_this_process(settings)
    worker = make_workers(
        queue, IngestRunner(catalog, queue, pipeline).process, pipeline.job_fingerprint
    )
    dispatcher = open_dispatcher(settings, queue, pipeline.job_fingerprint)
    works = settings.ingest.embedded_worker and embedder.can_ingest
    wake = _waking(worker, dispatcher, works)
    policy = IngestPolicy(
        settings.ingest.default_kb,
        settings.allowed_roots,
        reader.allowed_s3,
        refusal="" if embedder.can_ingest else embedder.notice,
    )
    ingest = IngestService(
        catalog, queue, pipeline, policy, wake=wake
    )
    documents = DocumentService(catalog, store, originals)
    knowledge_bases = KbService(catalog, store, originals)
    upkeep = build_upkeep(
        UpkeepParts(
            blobs=blobs,
            queue=queue,
            kbs=knowledge_bases,
            embeds=embedder.can_ingest,
            open_store=vector_stores(settings, catalog, store),
            create_embedder=partial(_embedder_of_name, settings, extensions),
            wake=wake,
        ),
        rooms,
        pipeline,
    )
    sources = SourceService(
        RunParts(
            catalog=catalog,
            ingest=ingest,
            delete=documents.delete,
            parsers=parsers,
            tools=source_tools(settings, reader),
        ),
        Breaker(settings.ingest.source_fail_threshold),
        scheduled_sources(settings),
        lease_seconds=settings.ingest.lease_seconds,
    )
    services = Services(
        ingest=ingest,
        jobs=JobService(queue),
        search=SearchService(catalog, orchestrator),
        answer=AnswerService(catalog, AnswerEngine(orchestrator, settings.query, llm)),
        documents=documents,
        kbs=knowledge_bases,
        sources=sources,
        upkeep=upkeep,
    )

    def keep_fresh() -> None:
        store.refresh()
        store.sweep()
        upkeep.embedders.drop_replaced()

    packs = PackHealth(extensions.health)
    refresher = Periodic("index-refresh", settings.retrieval.refresh_seconds, keep_fresh)
    return Engine(
        catalog=catalog,
        store=store,
        embedder=embedder,
        orchestrator=orchestrator,
        services=services,
        queue=queue,
        worker=worker,
        dispatcher=dispatcher,
        refresher=refresher,
        poller=SourcePoller(sources),
        packs=packs,
        llm=llm,
        works=works,
        fingerprint=pipeline.job_fingerprint,
    )


def _waking(worker: Workers, dispatcher: Dispatcher | None, works: bool) -> Callable[[], None]:
    """Tells whoever is to run a new job; other processes poll the job table."""

    def wake() -> None:
        if dispatcher is not None:
            dispatcher.wake()
        if worker.started or (works and dispatcher is None):
            worker.wake()

    return wake


def _parsers(settings: Settings, extensions: Extensions) -> ParserRegistry:
    return ParserRegistry(
        extensions.parsers,
        ocr=ocr_engine(settings.models.ocr),
        max_pages=settings.ingest.max_pages,
    )


def _embedder(settings: Settings, catalog: Catalog, extensions: Extensions) -> ResolvedEmbedder:
    active = _active_text(catalog)
    home = HomeEmbedder(active.embedder, active.fingerprint, active.dim) if active else None
    packs = {spec.name: spec.factory for spec in extensions.embedders}
    return resolve_text_embedder(settings.models, home=home, extra=packs)


def _embedder_of_name(settings: Settings, extensions: Extensions, name: str) -> ResolvedEmbedder:
    """The embedder that ``models.text_embedder: name`` gives a new home."""
    packs = {spec.name: spec.factory for spec in extensions.embedders}
    chosen = settings.models.model_copy(update={"text_embedder": name})
    return resolve_text_embedder(chosen, home=None, extra=packs)


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
    collection = as_collection(info)
    store.ensure(collection)
    return collection


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
