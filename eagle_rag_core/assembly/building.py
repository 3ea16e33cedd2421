"""From settings and what packs contribute to a running engine."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial

from eagle_rag_core import __version__
from eagle_rag_core.assembly.embedding import embedder_of_name, text_embedder, written_collection
from eagle_rag_core.assembly.ingesting import Ingesting, ingesting
from eagle_rag_core.assembly.rendering import page_renderer_of
from eagle_rag_core.assembly.searching import orchestrator, visual_retriever
from eagle_rag_core.assembly.views import pack_views
from eagle_rag_core.blobs.store import BlobStore
from eagle_rag_core.catalog import kbs
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.engine import Engine
from eagle_rag_core.ingest.chunking import Chunker
from eagle_rag_core.ingest.matrix_files import MatrixFiles
from eagle_rag_core.ingest.originals import Originals
from eagle_rag_core.ingest.parsers import ParserRegistry
from eagle_rag_core.ingest.pipeline import PipelineParts
from eagle_rag_core.ingest.pixel_view import PixelView
from eagle_rag_core.ingest.sources.breaker import Breaker
from eagle_rag_core.ingest.tiles.tiler import Tiler
from eagle_rag_core.ingest.views import IndexedView, TextView
from eagle_rag_core.ingest.visual_view import VisualView
from eagle_rag_core.jobs.periodic import Periodic
from eagle_rag_core.jobs.workers import WorkersFactory
from eagle_rag_core.models.embedders import ResolvedEmbedder
from eagle_rag_core.models.image_embedders import image_embedder
from eagle_rag_core.models.llm import chat_model
from eagle_rag_core.models.ocr import ocr_engine
from eagle_rag_core.query.engine import AnswerEngine
from eagle_rag_core.query.relevance import Relevance
from eagle_rag_core.service import Services
from eagle_rag_core.service.answer import AnswerService
from eagle_rag_core.service.descriptions import DescriptionService
from eagle_rag_core.service.documents import DocumentService
from eagle_rag_core.service.drawing.pool import DrawingPool
from eagle_rag_core.service.embedder_change import RefilledView
from eagle_rag_core.service.files import FileService
from eagle_rag_core.service.health import PackHealth
from eagle_rag_core.service.jobs import JobService
from eagle_rag_core.service.kbs import KbService
from eagle_rag_core.service.library_state import LibraryState, instance_of
from eagle_rag_core.service.pages import PageService
from eagle_rag_core.service.polling import SourcePoller
from eagle_rag_core.service.readiness import readiness_checks
from eagle_rag_core.service.reading import ReadingService
from eagle_rag_core.service.search import SearchService
from eagle_rag_core.service.source_items import RunParts
from eagle_rag_core.service.source_parts import scheduled_sources, source_reader, source_tools
from eagle_rag_core.service.sources import SourceService
from eagle_rag_core.service.upkeep import Upkeep, UpkeepParts, build_upkeep
from eagle_rag_core.service.uploads import UploadService
from eagle_rag_core.service.visual import VisualService
from eagle_rag_core.settings import Settings
from eagle_rag_core.storage import open_blobs, open_catalog, vector_stores
from eagle_rag_core.types import Caller, Extensions
from eagle_rag_core.vectors.factory import open_vector_store

_LOG = logging.getLogger(__name__)


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
    embedder = text_embedder(settings, catalog, extensions)
    packs = pack_views(settings, catalog, extensions, embedder.embedder)
    pixels = image_embedder(settings.models)
    refilled: tuple[RefilledView, ...] = (*packs, words := VisualView(catalog, embedder.embedder))
    views: list[IndexedView] = [*packs, words]
    blobs = open_blobs(settings)
    matrices = MatrixFiles(catalog, blobs)
    if pixels is not None:
        views.append(PixelView(catalog, pixels, matrices))
    rooms = _rooms(settings, extensions, catalog, blobs, embedder, views)
    search = orchestrator(settings, catalog, rooms.store, embedder, extensions, packs)
    seeing = visual_retriever(
        settings, catalog, rooms.store, embedder, pixels, matrices, extensions.expanders
    )
    llm = chat_model(settings.models.llm)
    taking_in = ingesting(
        settings, rooms, workers, refusal="" if embedder.can_ingest else embedder.notice
    )
    documents = DocumentService(catalog, rooms.store, rooms.originals)
    knowledge_bases = KbService(catalog, rooms.store, rooms.originals)
    upkeep = _upkeep(settings, extensions, rooms, taking_in, knowledge_bases, embedder, refilled)
    sources = _sources(settings, rooms, taking_in, documents)
    relevance = Relevance(embedder.embedder.name)
    answers = AnswerEngine(search, settings.query, relevance, llm, seeing)
    pages = PageService(catalog, rooms.originals, DrawingPool())
    services = Services(
        ingest=taking_in.service,
        uploads=UploadService(taking_in.service, rooms.originals, settings.ingest.max_bytes),
        jobs=JobService(taking_in.queue),
        search=SearchService(catalog, search),
        answer=AnswerService(catalog, answers, pages),
        documents=documents,
        reading=ReadingService(catalog),
        descriptions=DescriptionService(catalog, upkeep.reindex.remake),
        files=FileService(catalog, rooms.originals),
        pages=pages,
        kbs=knowledge_bases,
        sources=sources,
        upkeep=upkeep,
        visual=VisualService(catalog, seeing),
    )

    def keep_fresh() -> None:
        rooms.store.refresh()
        rooms.store.sweep()
        upkeep.embedders.drop_replaced()

    return Engine(
        catalog=catalog,
        store=rooms.store,
        embedder=embedder,
        orchestrator=search,
        visual=seeing,
        services=services,
        queue=taking_in.queue,
        worker=taking_in.worker,
        dispatcher=taking_in.dispatcher,
        refresher=Periodic("index-refresh", settings.retrieval.refresh_seconds, keep_fresh),
        poller=SourcePoller(sources),
        packs=PackHealth(extensions.health),
        readiness=PackHealth(readiness_checks(settings.home, catalog, taking_in.worker.trouble)),
        llm=llm,
        state=LibraryState(catalog, _instance(settings, embedder, taking_in)),
        works=taking_in.works,
        fingerprint=taking_in.pipeline.job_fingerprint,
    )


def _instance(settings: Settings, embedder: ResolvedEmbedder, taking_in: Ingesting) -> str:
    """What the answers of this process depend on; versions of packs are in the pipeline's."""
    own = (__version__, taking_in.pipeline.fingerprint, embedder.embedder.fingerprint)
    return instance_of(settings, *own)


def _rooms(
    settings: Settings,
    extensions: Extensions,
    catalog: Catalog,
    blobs: BlobStore,
    embedder: ResolvedEmbedder,
    views: Sequence[IndexedView],
) -> PipelineParts:
    store = open_vector_store(settings, catalog)
    ocr = ocr_engine(settings.models.ocr)
    parsers = ParserRegistry(extensions.parsers, ocr=ocr, max_pages=settings.ingest.max_pages)
    return PipelineParts(
        catalog=catalog,
        store=store,
        originals=Originals(catalog, blobs),
        matrices=MatrixFiles(catalog, blobs),
        blobs=blobs,
        text=TextView(written_collection(catalog, store, embedder), embedder.embedder),
        views=views,
        parsers=parsers,
        chunker=Chunker(),
        tiler=Tiler(ocr),
        pages=page_renderer_of(settings),
        reader=source_reader(settings),
        enrichers=extensions.enrichers,
        record_rules=extensions.record_rules,
        pack_versions=extensions.pack_versions,
    )


def _upkeep(
    settings: Settings,
    extensions: Extensions,
    rooms: PipelineParts,
    taking_in: Ingesting,
    knowledge_bases: KbService,
    embedder: ResolvedEmbedder,
    views: Sequence[RefilledView],
) -> Upkeep:
    parts = UpkeepParts(
        blobs=rooms.blobs,
        queue=taking_in.queue,
        kbs=knowledge_bases,
        embeds=embedder.can_ingest,
        open_store=vector_stores(settings, rooms.catalog, rooms.store),
        create_embedder=partial(embedder_of_name, settings, extensions),
        views=views,
        wake=taking_in.wake,
    )
    return build_upkeep(parts, rooms, taking_in.pipeline)


def _sources(
    settings: Settings, rooms: PipelineParts, taking_in: Ingesting, documents: DocumentService
) -> SourceService:
    parts = RunParts(
        catalog=rooms.catalog,
        ingest=taking_in.service,
        delete=documents.delete,
        parsers=rooms.parsers,
        tools=source_tools(settings, rooms.reader),
    )
    return SourceService(
        parts,
        Breaker(settings.ingest.source_fail_threshold),
        scheduled_sources(settings),
        lease_seconds=settings.ingest.lease_seconds,
    )


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
