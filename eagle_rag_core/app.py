"""The app: the one place that knows everything, and builds the rest from settings."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eagle_rag_core.calls.caching import CachedCalls
from eagle_rag_core.calls.pipeline import CallPipeline
from eagle_rag_core.errors import EagleError, ErrorCode
from eagle_rag_core.mcp_cache import result_cache
from eagle_rag_core.plugins import PluginManager
from eagle_rag_core.plugins.context import PackServices
from eagle_rag_core.plugins.guard import assert_rag_only_tool_name
from eagle_rag_core.plugins.mcp_registry import tool_definitions
from eagle_rag_core.plugins.namespaces import CORE_DISTRIBUTION
from eagle_rag_core.plugins.specs import tool_spec_of
from eagle_rag_core.settings import Settings
from eagle_rag_core.telemetry.call_log import CallLog
from eagle_rag_core.telemetry.spans import call_spans
from eagle_rag_core.tools.core import core_tools
from eagle_rag_core.tools.illustrating import illustrate

if TYPE_CHECKING:
    from eagle_rag_core.engine import Engine
    from eagle_rag_core.jobs.workers import WorkersFactory
    from eagle_rag_core.plugins.lockfile import Lock
    from eagle_rag_core.plugins.sources import PackSource
    from eagle_rag_core.plugins.states import PackRecord
    from eagle_rag_core.service import Services
    from eagle_rag_core.types import Caller

_LOG = logging.getLogger(__name__)
#: A client lists the tools right after the start; warming up waits until that is over.
_WARM_UP_DELAY = 0.3
#: What packs read through their context only.
_LIBRARY_FILES = ("audit.db", "blobs", "catalog.db")
_ABSOLUTE_PATH = re.compile(r"(?:^|[\s'\"(=:])/\w")


class EagleApp:
    """One deployment in one process.

    Opening it loads the packs and registers the tools; the engine (catalog, index, models) is
    built on the first call, or in the background after :meth:`start`.
    """

    def __init__(self, settings: Settings, plugins: PluginManager) -> None:
        self.settings = settings
        self._plugins = plugins
        self._engine: Engine | None = None
        self._workers: WorkersFactory | None = None
        self._lock = threading.Lock()
        self._warm_up: threading.Timer | None = None
        self._started = False
        self._closed = False
        telemetry = settings.telemetry
        self._call_log = (
            CallLog(
                settings.home / "audit.db",
                keep_days=telemetry.call_log_days,
                keep_mb=telemetry.call_log_mb,
            )
            if telemetry.call_log
            else None
        )
        self._spans = call_spans(settings)
        self._exposed = self._register_tools()
        private = [settings.home / name for name in _LIBRARY_FILES]
        cache = result_cache(settings)
        self.pipeline = CallPipeline(
            settings,
            {spec.name: spec for spec in self._exposed},
            self._call_log,
            ready=self._ready_for_call,
            run=plugins.effect_guard(private).run if settings.plugins.enforce_effects else None,
            cached=CachedCalls(cache, self._library_state) if cache else None,
            illustrate=partial(illustrate, self.services),
        )
        if self._spans is not None:
            self.pipeline.listen(self._spans.record)

    @classmethod
    def open(
        cls,
        settings: Settings,
        *,
        no_packs: bool = False,
        packs: Sequence[PackSource] | None = None,
    ) -> EagleApp:
        """Load the packs that ``settings`` enable and register every tool.

        :param no_packs: load none, whatever the settings enable; the namespace stays.
        :param packs: use these packs; by default they are looked for.
        :raises ConfigError: settings that cannot work.
        :raises PluginError: the default namespace's pack cannot be loaded, or what is exposed is
            not what ``plugins.locked`` says.
        """
        plugins = PluginManager(settings.plugins, packs=packs, no_packs=no_packs)
        if settings.plugins.locked:
            return cls._open_locked(settings, plugins)
        plugins.load()
        return cls(settings, plugins)

    @classmethod
    def _open_locked(cls, settings: Settings, plugins: PluginManager) -> EagleApp:
        from eagle_rag_core.plugins.lock_changes import require_same, require_same_packs
        from eagle_rag_core.plugins.lockfile import read_lock

        where = settings.plugins.locked
        locked = read_lock(Path(where))
        require_same_packs(locked, plugins.chosen, where=where)  # before any code of theirs runs
        plugins.load()
        app = cls(settings, plugins)
        require_same(locked, app.lock(), where=where)
        return app

    def lock(self) -> Lock:
        """What this deployment exposes, for its lock.

        :raises PluginError: a pack that it enables is not active.
        """
        from eagle_rag_core.plugins.lockfile import lock_of

        packs = self._plugins.chosen
        for pack in packs:
            self._plugins.require_active(pack.record.namespace)
        return lock_of(
            self._exposed,
            packs,
            namespace=self.settings.namespace,
            fingerprint=self._plugins.fingerprint(),
        )

    def run_jobs_with(self, workers: WorkersFactory) -> None:
        """Choose what runs the ingest jobs, before the engine is built; by default a thread."""
        self._workers = workers

    def services(self) -> Services:
        """The services; the first use builds the engine.

        :raises EagleError: the catalog, the vector store or the embedder cannot be used.
        """
        return self.engine().services

    def engine(self) -> Engine:
        """The engine, built on first use by whichever thread comes first."""
        with self._lock:
            if self._engine is None:
                self._engine = self._build_engine()
                self._plugins.bind(self._services_of_pack)
            return self._engine

    def start(self) -> None:
        """Begin background work: warm up, follow the index, run ingest jobs. Returns at once."""
        with self._lock:
            if self._started or self._closed:
                return
            self._started = True
            self._warn_of_open_port()
            self._warm_up = threading.Timer(_WARM_UP_DELAY, self._begin)
            self._warm_up.daemon = True
            self._warm_up.start()

    def work(self) -> None:
        """Run ingest jobs in this process now, whatever ``ingest.embedded_worker`` says.

        :raises EagleError: the engine cannot be built, or this process cannot ingest.
        """
        self.engine().work()

    def close(self) -> None:
        """Stop everything; running jobs go back to the queue. Safe to call twice."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            warm_up, engine = self._warm_up, self._engine
        if warm_up is not None:
            warm_up.cancel()
            warm_up.join()
            engine = self._engine
        self.pipeline.close()
        if engine is not None:
            engine.close()
        if self._call_log is not None:
            self._call_log.close()
        if self._spans is not None:
            self._spans.close()

    @property
    def call_log(self) -> CallLog | None:
        """The audit of calls; None where the settings want none."""
        return self._call_log

    def tool_definitions(self) -> list[dict[str, Any]]:
        """The exposed tools with name, description and parameters."""
        return tool_definitions(self._exposed)

    def health(self) -> dict[str, Any]:
        """State of the engine's parts, for ``/health``."""
        try:
            engine = self.engine()
        except EagleError as error:
            detail = _for_callers(error).message
            return {"status": "failed", "code": str(error.code), "detail": detail}
        parts, packs = engine.readiness.report(), engine.packs.report()
        for part in parts.values():
            part["detail"] = _without_paths(part["detail"])
        for name, part in parts.items():
            if part["status"] == "failed":
                code, detail = str(ErrorCode.STORAGE_UNAVAILABLE), part["detail"]
                return {"status": "failed", "code": code, "detail": detail, "failed": name}
        well = all(part["status"] == "ok" for part in (*parts.values(), *packs.values()))
        return {
            "status": "ok" if well else "degraded",
            "parts": parts,
            "packs": packs,
            "namespace": self.settings.namespace,
            "profile": self.settings.profile,
            "vectors": engine.store.name,
            "embedder": engine.embedder.embedder.name,
            "notice": engine.embedder.notice,
            "stuck_calls": engine.orchestrator.stuck(),
        }

    def plugins_report(self) -> dict[str, Any]:
        """Every installed pack with its state, for ``/health/plugins``.

        Folders of this machine and texts of exceptions are left out: they are for operators, who
        have the log and ``eagle-rag packs show``.
        """
        return {
            "default_namespace": self.settings.namespace,
            "fingerprint": self._plugins.fingerprint(),
            "packs": [_public(record) for record in self._plugins.records],
            "decisions": {
                namespace: [
                    {"at": decision.at, "kind": decision.kind, "detail": decision.detail}
                    for decision in decisions
                ]
                for namespace, decisions in self._plugins.decisions().items()
            },
        }

    def _warn_of_open_port(self) -> None:
        uri = self.settings.milvus.uri
        if uri and "://" not in uri:
            _LOG.warning(
                "milvus.uri is a Milvus Lite file, which is served on a port of this machine that "
                "asks for no password: every local user can read and change all vectors. Use the "
                "local backend or a Milvus server with a token where others have accounts."
            )

    def _library_state(self, caller: Caller, kb_name: str) -> Sequence[object]:
        """What an answer to this caller depends on; see :class:`LibraryState`."""
        return self.engine().state.of(caller, kb_name)

    def _register_tools(self) -> tuple[Any, ...]:
        registry, models = self._plugins.registry, self.settings.models
        registry.extend(
            tool_spec_of(function, owner=CORE_DISTRIBUTION)
            for function in core_tools(
                self.services,
                max_result_tokens=self.settings.mcp.max_result_tokens,
                sees=models.image_embedder != "none",
                reads_images=bool(models.llm.base_url) and models.llm.vision,
            )
        )
        registry.freeze()
        for spec in registry:  # again, by a reference that packs had no part in
            assert_rag_only_tool_name(spec.name, namespace=spec.namespace)
        return registry.exposed(self.settings.namespace, read_only=self.settings.mcp.read_only)

    def _build_engine(self) -> Engine:
        """Build the engine; when a pack turns out not to start, build it again without that pack.

        :raises PluginError: the pack is the default namespace's.
        :raises EagleError: the catalog, the vector store or the embedder cannot be used.
        """
        from eagle_rag_core.assembly.building import build_engine

        while True:
            self._plugins.require_default()
            active = self._plugins.active_packs
            try:
                engine = build_engine(self.settings, self._plugins.extensions, self._workers)
            except EagleError:
                if self._plugins.active_packs == active:
                    raise
                continue
            if self._plugins.active_packs == active:
                return engine
            engine.close()

    def _ready_for_call(self, namespace: str) -> None:
        """Build the engine if need be: a pack's tool may use it through its context only.

        :raises EagleError: it cannot be built, or the pack of the namespace did not start.
        """
        try:
            self.engine()
            self._plugins.require_active(namespace)
        except EagleError as error:
            raise _for_callers(error) from error

    def _begin(self) -> None:
        try:
            engine = self.engine()
            if not self._closed:
                engine.start()
                engine.warm()
        # A call will meet the same fault and tell its caller; here it can only be logged.
        except EagleError as error:
            _LOG.error("The engine could not be started in the background: %s", error.message)
        except Exception:
            _LOG.exception("The engine could not be started in the background")

    def _services_of_pack(self, namespace: str) -> PackServices:
        from eagle_rag_core.service.pack_access import ScopedRecords, ScopedSearch

        engine = self._engine
        assert engine is not None
        return PackServices(
            records=ScopedRecords(engine.catalog, namespace),
            search=ScopedSearch(engine.catalog, engine.orchestrator),
            llm=engine.llm,
        )


def _for_callers(error: EagleError) -> EagleError:
    """An error of the start without the folders of this machine, which the log names."""
    if not _ABSOLUTE_PATH.search(error.message):
        return error
    _LOG.error("The engine cannot be built: %s", error.message)
    return type(error)(
        "This deployment cannot be opened; its log says why.",
        code=error.code,
        retryable=error.retryable,
        retry_after_s=error.retry_after_s,
    )


def _without_paths(detail: str) -> str:
    """A finding for whoever may read the health of the deployment."""
    if not _ABSOLUTE_PATH.search(detail):
        return detail
    _LOG.warning("The deployment is not well: %s", detail)
    return "The log of this deployment says what is wrong."


def _public(record: PackRecord) -> dict[str, Any]:
    """A pack's record for whoever may read the health of the deployment."""
    shown = record.as_dict()
    del shown["location"], shown["error"]
    if _ABSOLUTE_PATH.search(record.reason):
        shown["reason"] = f"Ask the operator: `eagle-rag packs show {record.namespace}` says why."
    return shown
