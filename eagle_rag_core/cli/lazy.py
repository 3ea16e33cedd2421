"""Groups of commands that are imported when they run."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

#: Command → (module, attribute, one line for --help).
LazyCommands = Mapping[str, tuple[str, str, str]]


class LazyGroup(click.Group):
    """A group whose commands are imported on use, so that a broken one breaks only itself.

    :param lazy: its commands; static, so that ``--help`` imports nothing.
    """

    def __init__(self, *args: Any, lazy: LazyCommands, **more: Any) -> None:
        super().__init__(*args, **more)
        self._lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._lazy:
            return None
        module, attribute, _help = self._lazy[cmd_name]
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, _, text) in self._lazy.items()])
