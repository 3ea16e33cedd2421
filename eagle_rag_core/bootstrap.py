"""From flags and environment to an open app, the same for every way to start one."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
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
    from eagle_rag_core.plugins.sources import PackSource
    from eagle_rag_core.settings import Settings


#: How the threads are called that run what may hang: jobs, tools, legs and checks of packs.
_WORKING = ("eagle-rag-worker", "call", "retrieval", "health")


def leave() -> None:
    """End the process, after the app was closed, if a thread is still at work.

    A job that was given back, or a tool that hangs, may be inside native code: the interpreter's
    own end would abort it, or wait for it for ever. Otherwise this returns, for a usual end.
    """
    working = [thread for thread in threading.enumerate() if thread.name.startswith(_WORKING)]
    until = time.monotonic() + 0.3  # for all of them: many calls may hang
    for thread in working:
        thread.join(max(0.0, until - time.monotonic()))  # idle ones end at once
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
        settings = self.settings()
        with opened(settings, packs=self.installed.packs, no_packs=self.no_packs) as app:
            yield app


@contextmanager
def opened(
    settings: Settings, *, packs: Sequence[PackSource] | None = None, no_packs: bool = False
) -> Iterator[EagleApp]:
    """The app of settings that are known, closed at the end of the block. Logging is set up on
    the way.

    :param packs: the installed packs; by default they are looked for.
    :param no_packs: load none, whatever the settings enable.
    """
    from eagle_rag_core.app import EagleApp
    from eagle_rag_core.telemetry.logs import configure_logging

    configure_logging(settings)
    app = EagleApp.open(settings, packs=packs, no_packs=no_packs)
    if settings.ingest.isolation == "process":
        app.run_jobs_with(_in_processes(settings, no_packs=no_packs))
    try:
        yield app
    finally:
        app.close()


def _in_processes(settings: Settings, *, no_packs: bool) -> WorkersFactory:
    def make(queue: JobQueue, process: Process, fingerprint: str) -> Workers:
        from eagle_rag_core.jobs.workers import in_processes  # only once the engine is built

        return in_processes(settings, no_packs=no_packs)(queue, process, fingerprint)

    return make
