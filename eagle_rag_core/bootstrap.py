"""From flags and environment to an open app, the same for every way to start one."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eagle_rag_core.app import EagleApp
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


@dataclass(frozen=True, slots=True)
class Start:
    """Where the settings of a process come from.

    :param overrides: settings given as flags, nested by section; they win over everything.
    :param no_packs: load no domain packs.
    """

    config: Path | None = None
    profile: str = ""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    no_packs: bool = False

    def settings(self) -> Settings:
        """The settings, with the installed packs as implicit profiles."""
        from eagle_rag_core.plugins.discovery import installed_namespaces
        from eagle_rag_core.settings import load_settings

        return load_settings(
            config=self.config,
            profile=self.profile,
            overrides=self.overrides,
            namespaces=() if self.no_packs else installed_namespaces(),
        )

    @contextmanager
    def app(self) -> Iterator[EagleApp]:
        """The app, closed at the end of the block. Logging is set up on the way."""
        from eagle_rag_core.app import EagleApp
        from eagle_rag_core.telemetry.logs import configure_logging

        settings = self.settings()
        configure_logging(settings)
        app = EagleApp.open(settings, no_packs=self.no_packs)
        try:
            yield app
        finally:
            app.close()
