"""Flags that every command shares."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from eagle_rag_core.bootstrap import Start

#: How the lock is called where nothing else is said.
LOCK_NAME = "eagle-tools.lock"


class _GivenPath(click.Path):
    """A path that is not empty: ``""``, say of an unset variable, would mean ``.``."""

    def __init__(self, noun: str, *, file_okay: bool = True, dir_okay: bool = True) -> None:
        super().__init__(file_okay=file_okay, dir_okay=dir_okay, path_type=Path)
        self._noun = noun

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail(f"It is empty; name a {self._noun}.", param, ctx)
        return super().convert(value, param, ctx)


def given(start: Start, flags: Mapping[str, Mapping[str, Any]]) -> Start:
    """``start`` with further flags, nested by section."""
    overrides = dict(start.overrides)
    for section, values in flags.items():
        overrides[section] = {**overrides.get(section, {}), **values}
    return replace(start, overrides=overrides)


def locked_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--locked``; goes below :func:`common_options`."""

    @click.option(
        "--locked",
        is_flag=False,
        flag_value=LOCK_NAME,
        default="",
        metavar="[FILE]",
        help=f"Start only if the tools are those of this lock, by default {LOCK_NAME}.",
    )
    @functools.wraps(command)
    def wrapped(start: Start, locked: str, **rest: Any) -> Any:
        if locked:
            start = given(start, {"plugins": {"locked": locked}})
        return command(start=start, **rest)

    return wrapped


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
