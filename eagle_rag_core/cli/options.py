"""Flags that every command shares, and the app they open."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from eagle_rag_core.app import EagleApp
    from eagle_rag_core.settings import Settings


@dataclass(frozen=True, slots=True)
class CommonOptions:
    """Where the settings come from, as given on the command line."""

    config: Path | None
    profile: str
    namespace: str
    home: Path | None
    no_packs: bool

    def overrides(self) -> dict[str, Any]:
        flags: dict[str, Any] = {}
        if self.namespace:
            flags["plugins"] = {"default_namespace": self.namespace}
        if self.home:
            flags["home"] = self.home.expanduser()
        return flags


def common_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the shared flags; the command receives them as ``common``."""

    @click.option("--config", type=click.Path(dir_okay=False, path_type=Path), help="YAML file.")
    @click.option("--profile", default="", help="Profile to activate, e.g. a pack's namespace.")
    @click.option(
        "--namespace", default="", help="Namespace to bind to (plugins.default_namespace)."
    )
    @click.option("--home", type=click.Path(file_okay=False, path_type=Path), help="Data folder.")
    @click.option("--no-packs", is_flag=True, help="Load no domain packs.")
    @functools.wraps(command)
    def wrapped(
        config: Path | None,
        profile: str,
        namespace: str,
        home: Path | None,
        no_packs: bool,
        **rest: Any,
    ) -> Any:
        common = CommonOptions(config, profile, namespace, home, no_packs)
        return command(common=common, **rest)

    return wrapped


def load(common: CommonOptions) -> Settings:
    """The settings, with the installed packs as implicit profiles."""
    from eagle_rag_core.plugins.discovery import installed_namespaces
    from eagle_rag_core.settings import load_settings

    return load_settings(
        config=common.config,
        profile=common.profile,
        overrides=common.overrides(),
        namespaces=installed_namespaces(),
    )


@contextmanager
def opened(common: CommonOptions) -> Iterator[EagleApp]:
    """The app for one command, closed at its end."""
    from eagle_rag_core.app import EagleApp
    from eagle_rag_core.telemetry.logs import configure_logging

    settings = load(common)
    configure_logging(settings)
    app = EagleApp.open(settings, no_packs=common.no_packs)
    try:
        yield app
    finally:
        app.close()
