"""From flags and environment to an open app, the same for every way to start one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eagle_rag_core.app import EagleApp
    from eagle_rag_core.settings import Settings


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
