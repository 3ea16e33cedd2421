"""A library with packs in it: the real engine in a folder of its own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, Self

from eagle_rag_core.errors import ErrorCode, IngestError
from eagle_rag_core.types import (
    COMMAND_LINE,
    LOCAL,
    Hit,
    IngestRequest,
    Job,
    JobStatus,
    Record,
    Where,
    acting_for,
)

if TYPE_CHECKING:
    from eagle_rag_core.plugins.sources import PackSource
    from eagle_rag_core.settings import Settings

#: Seconds one ingest may take.
_PATIENCE: Final = 60.0
_POLL: Final = 0.005


class CallFailed(Exception):
    """A tool answered with an error.

    :param error: what the caller was sent: ``error``, ``code``, ``retryable``, ``retry_after_s``.
    """

    def __init__(self, tool: str, error: Mapping[str, Any]) -> None:
        super().__init__(f"{tool}: {error['error']}")
        self.error = dict(error)

    @property
    def code(self) -> ErrorCode:
        return ErrorCode(self.error["code"])


class PackLibrary:
    """An app on the real engine whose packs need not be installed.

    Documents are searched by words alone unless ``settings`` choose an embedder, and programs of
    the machine make no pages of them unless ``settings`` (``ingest.pages``) say so. Configuration
    files of the machine are not read; its ``EAGLE_RAG_…`` variables count less than ``settings``.

    Close it, or use it in a ``with`` statement.

    :param home: folder of its own, such as pytest's ``tmp_path``.
    :param packs: packages, or packs in any other form; all are enabled in this order, and the
        first one's namespace is the library's.
    :param settings: nested by section, as in the configuration file.
    :raises ConfigError: settings that cannot work.
    :raises PluginError: a manifest is not valid, or the first pack cannot be loaded.
    :raises EagleError: the home cannot be used, or the chosen embedder is missing.
    """

    def __init__(
        self,
        home: Path,
        *packs: ModuleType | PackSource,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        from eagle_rag_core.app import EagleApp
        from eagle_rag_core.plugins import PluginManager

        sources = [pack_from(pack) if isinstance(pack, ModuleType) else pack for pack in packs]
        namespaces = [source.record.namespace for source in sources]
        self._home = home
        self._pack = namespaces[0] if namespaces else "core"
        loaded = _settings(home, self._pack, namespaces, settings or {})
        #: The packs as they are loaded, with what they contribute.
        self.plugins = PluginManager(loaded.plugins, packs=sources)
        self.plugins.load()
        #: The whole app, for what this class does not offer.
        self.app = EagleApp(loaded, self.plugins)
        # As a started server has; packs may use their context from now on.
        self.app.engine()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop everything the library runs. Safe to call twice."""
        self.app.close()

    def ingest(self, *sources: Path | str, kb_name: str = "") -> list[str]:
        """Add files and wait until they can be searched.

        :returns: the ids of their documents, in the same order.
        :raises EagleError: a source is refused, or its ingest fails, with the reason.
        """
        service = self.app.services().ingest
        requests = [IngestRequest(str(source), kb_name=kb_name) for source in sources]
        jobs = [service.submit(COMMAND_LINE, request) for request in requests]
        self.app.work()
        return [self._finish(job).document_id for job in jobs]

    def ingest_text(self, text: str, name: str = "document.md", *, kb_name: str = "") -> str:
        """Add a text as a file called ``name``; another text of that name replaces it.

        :returns: the id of its document.
        :raises EagleError: as :meth:`ingest` does.
        """
        path = self._home / "sources" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return self.ingest(path, kb_name=kb_name)[0]

    def call(self, tool: str, /, **arguments: Any) -> Any:
        """The result of a tool as its caller gets it: checked, within the limits, as JSON data.

        :param tool: full name, of the first pack or of the core.
        :raises CallFailed: the tool answers with an error.
        """
        call = self.app.pipeline.call(tool, arguments, caller=LOCAL, face="test")
        outcome = asyncio.run(call)
        if outcome.is_error:
            raise CallFailed(tool, outcome.error)
        return outcome.payload

    def records(
        self,
        kind: str,
        where: Where | None = None,
        *,
        kb_name: str = "",
        document_ids: Sequence[str] = (),
        limit: int = 1000,
        kb_names: Sequence[str] = (),
        order_by: str = "",
        offset: int = 0,
    ) -> list[Record]:
        """Records of the first pack, as its own ``ctx.records.find`` returns them."""
        from eagle_rag_core.service.pack_access import ScopedRecords

        reader = ScopedRecords(self.app.engine().catalog, self._pack)
        with acting_for(LOCAL):
            return reader.find(
                kind,
                where,
                kb_name=kb_name,
                document_ids=document_ids,
                limit=limit,
                kb_names=kb_names,
                order_by=order_by,
                offset=offset,
            )

    def passages(self, *node_ids: str) -> list[Hit]:
        """Passages by their nodes, as a pack's own ``ctx.search.passages`` returns them."""
        from eagle_rag_core.service.pack_access import ScopedSearch

        engine = self.app.engine()
        with acting_for(LOCAL):
            return ScopedSearch(engine.catalog, engine.orchestrator).passages(node_ids)

    def _finish(self, job: Job) -> Job:
        """The job when it is over.

        :raises IngestError: it did not succeed.
        :raises TimeoutError: it is not over in good time.
        """
        service = self.app.services().jobs
        until = time.monotonic() + _PATIENCE
        while not job.status.final:
            if time.monotonic() > until:
                raise TimeoutError(f"{job.source_uri} is still {job.status} ({job.stage}).")
            time.sleep(_POLL)
            job = service.get(COMMAND_LINE, job.job_id)
        if job.status is not JobStatus.SUCCEEDED:
            raise IngestError(job.error, code=ErrorCode(job.error_code))
        return job


def pack_from(package: ModuleType) -> PackSource:
    """The pack a package holds, as if its entry point were ``package:pack``.

    :raises PluginError: its manifest is missing or not valid.
    """
    from importlib.resources import files

    from eagle_rag_core.errors import PluginError
    from eagle_rag_core.plugins import explicit_pack
    from eagle_rag_core.plugins.manifest import MANIFEST_NAME

    manifest = files(package) / MANIFEST_NAME
    if not manifest.is_file():
        raise PluginError(f"The package {package.__name__} has no {MANIFEST_NAME}.")
    return explicit_pack(package.pack, manifest.read_text("utf-8"))


def _settings(
    home: Path, namespace: str, enabled: Sequence[str], given: Mapping[str, Any]
) -> Settings:
    from eagle_rag_core.settings import load_settings
    from eagle_rag_core.settings.layers import CONFIG_NAME
    from eagle_rag_core.settings.sources import merge

    usual = {
        "home": home,
        "plugins": {"enabled": list(enabled), "default_namespace": namespace},
        "models": {"text_embedder": "none"},
        "ingest": {"pages": {"office": "off", "web": "off"}},
    }
    # Naming a file keeps the one in the working folder out.
    home.mkdir(parents=True, exist_ok=True)
    (config := home / CONFIG_NAME).touch()
    return load_settings(
        config=config, profile=namespace, namespaces=enabled, overrides=merge(usual, given)
    )
