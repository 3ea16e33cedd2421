"""From flags and environment to an open app, the same for every way to start one."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eagle_rag_core.app import EagleApp
    from eagle_rag_core.jobs.queue import JobQueue
    from eagle_rag_core.jobs.workers import Process, Workers, WorkersFactory
    from eagle_rag_core.plugins.discovery import Discovery
    from eagle_rag_core.plugins.selection import Selection
    from eagle_rag_core.settings import Settings


#: How the threads are called that run what may hang: jobs, tools, legs and checks of packs.
_WORKING = ("eagle-rag-worker", "call", "retrieval", "health")


def leave() -> None:
    """End the process, after the app was closed, if a thread is still at work.

    A job that was given back, or a tool that hangs, may be inside native code: the interpreter's
    own end would abort it, or wait for it for ever. Otherwise this returns, for a usual end.
    """
    working = [thread for thread in threading.enumerate() if thread.name.startswith(_WORKING)]
    for thread in working:
        thread.join(0.3)  # idle ones end at once
    if not any(thread.is_alive() for thread in working):
        return
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # the other side may be gone
            stream.flush()
    os._exit(0)


@dataclass(frozen=True)
class Start:
    """Where the settings of a process come from.

    :param overrides: settings given as flags, nested by section; they win over everything.
    :param no_packs: load no domain packs, whatever the settings enable.
    """

    config: Path | None = None
    profile: str = ""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    no_packs: bool = False

    @cached_property
    def installed(self) -> Discovery:
        """The installed packs; a process looks for them once."""
        from eagle_rag_core.plugins.discovery import discover

        return discover()

    def settings(self) -> Settings:
        """The settings, with the installed packs as implicit profiles."""
        from eagle_rag_core.settings import load_settings

        return load_settings(
            config=self.config,
            profile=self.profile,
            overrides=self.overrides,
            namespaces=self.installed.namespaces,
        )

    def selection(self) -> Selection:
        """What the settings make of the installed packs; none is imported."""
        from eagle_rag_core.plugins.selection import select

        plugins = self.settings().plugins
        return select(plugins, self.installed.packs, no_packs=self.no_packs)

    @contextmanager
    def app(self) -> Iterator[EagleApp]:
        """The app, closed at the end of the block. Logging is set up on the way."""
        from eagle_rag_core.app import EagleApp
        from eagle_rag_core.telemetry.logs import configure_logging

        settings = self.settings()
        configure_logging(settings)
        app = EagleApp.open(settings, packs=self.installed.packs, no_packs=self.no_packs)
        if settings.ingest.isolation == "process":
            app.run_jobs_with(_in_processes(settings, no_packs=self.no_packs))
        try:
            yield app
        finally:
            app.close()


def _in_processes(settings: Settings, *, no_packs: bool) -> WorkersFactory:
    def make(queue: JobQueue, process: Process, fingerprint: str) -> Workers:
        from eagle_rag_core.jobs.workers import in_processes  # only once the engine is built

        return in_processes(settings, no_packs=no_packs)(queue, process, fingerprint)

    return make
