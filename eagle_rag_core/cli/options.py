"""Flags that every command shares."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from eagle_rag_core.bootstrap import Start


class _GivenPath(click.Path):
    """A path that is not empty: ``""``, say of an unset variable, would mean ``.``."""

    def __init__(self, noun: str, *, file_okay: bool = True, dir_okay: bool = True) -> None:
        super().__init__(file_okay=file_okay, dir_okay=dir_okay, path_type=Path)
        self._noun = noun

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail(f"It is empty; name a {self._noun}.", param, ctx)
        return super().convert(value, param, ctx)


def common_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the shared flags; the command receives them as ``start``."""

    @click.option("--config", type=_GivenPath("file", dir_okay=False), help="YAML file.")
    @click.option("--profile", default="", help="Profile to activate, e.g. a pack's namespace.")
    @click.option("--namespace", default="", help="Namespace to bind to, instead of a profile's.")
    @click.option("--home", type=_GivenPath("folder", file_okay=False), help="Data folder.")
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
            # Absolute, because "." stands for the default among the settings.
            overrides["home"] = home.expanduser().absolute()
        return command(start=Start(config, profile, overrides, no_packs), **rest)

    return wrapped
