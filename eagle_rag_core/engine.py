"""The running engine of one deployment.

Imported on first use only: it brings SQL, numpy and the models.
"""

from __future__ import annotations

from dataclasses import dataclass

from eagle_rag_core.assembly.embedding import active_text
from eagle_rag_core.catalog.collections import CollectionInfo
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.errors import ModelError
from eagle_rag_core.jobs.dispatcher import Dispatcher
from eagle_rag_core.jobs.periodic import Periodic
from eagle_rag_core.jobs.queue import JobQueue
from eagle_rag_core.jobs.workers import Workers
from eagle_rag_core.models.embedders import ResolvedEmbedder
from eagle_rag_core.models.llm import ChatModel
from eagle_rag_core.retrieval.orchestrator import Orchestrator
from eagle_rag_core.retrieval.visual import VisualRetriever
from eagle_rag_core.service import Services
from eagle_rag_core.service.health import PackHealth
from eagle_rag_core.service.library_state import LibraryState
from eagle_rag_core.service.polling import SourcePoller
from eagle_rag_core.types import LOCAL, Scope, ScopeRequest
from eagle_rag_core.vectors.collections import as_collection
from eagle_rag_core.vectors.store import VectorStore

#: How long a running job may still finish at the end; then it goes back to the queue.
_GRACE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Engine:
    """The running parts of a deployment.

    :param state: what answers depend on.
    :param dispatcher: tells a broker of the jobs, if there is one.
    :param works: this process runs ingest jobs, unless a broker hands them out.
    :param fingerprint: of the pipeline, which its jobs carry.
    """

    catalog: Catalog
    store: VectorStore
    embedder: ResolvedEmbedder
    orchestrator: Orchestrator
    visual: VisualRetriever
    services: Services
    queue: JobQueue
    worker: Workers
    dispatcher: Dispatcher | None
    refresher: Periodic
    poller: SourcePoller
    packs: PackHealth
    readiness: PackHealth
    llm: ChatModel | None
    state: LibraryState
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
        """Build the index and load the model, and search once, so that the first call does not pay
        for them."""
        info = self.active_collection()
        if info is not None:
            self.store.count(as_collection(info), Scope())
        if self.embedder.embedder.dim:
            self.embedder.embedder.embed_query("warm up")
        # Statements are compiled, threads are started, and packs read what they need.
        self.services.search.search(LOCAL, "warm up", top_k=1, request=ScopeRequest())

    def active_collection(self) -> CollectionInfo | None:
        """The text collection that searches read."""
        return active_text(self.catalog)

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
        self.visual.close()
        self.packs.close()
        self.services.pages.close()
        self.readiness.close()
        self.store.close()
        self.catalog.close()
