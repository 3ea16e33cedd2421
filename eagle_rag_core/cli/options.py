"""Flags that every command shares."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from eagle_rag_core.bootstrap import Start


def common_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the shared flags; the command receives them as ``start``."""

    @click.option("--config", type=click.Path(dir_okay=False, path_type=Path), help="YAML file.")
    @click.option("--profile", default="", help="Profile to activate, e.g. a pack's namespace.")
    @click.option("--namespace", default="", help="Namespace to bind to, instead of a profile's.")
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
        overrides: dict[str, Any] = {}
        if namespace:
            overrides["plugins"] = {"default_namespace": namespace}
        if home:
            overrides["home"] = home
        return command(start=Start(config, profile, overrides, no_packs), **rest)

    return wrapped
