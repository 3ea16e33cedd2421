"""``eagle-rag packs``: reads metadata and manifests, and never imports a pack to show it."""

from __future__ import annotations

import click

from eagle_rag_core.cli.lazy import LazyGroup

_COMMANDS = {
    "list": ("eagle_rag_core.cli.packs.listing", "list_", "List installed packs with their state."),
    "show": ("eagle_rag_core.cli.packs.show", "show", "Show everything known about one pack."),
    "doctor": ("eagle_rag_core.cli.packs.doctor", "doctor", "Say what is wrong, and what to do."),
    "new": ("eagle_rag_core.cli.packs.new", "new", "Write a new pack that works."),
    "check": ("eagle_rag_core.cli.packs.check", "check", "Look through a pack before it is out."),
    "lock": ("eagle_rag_core.cli.packs.lock", "lock", "Write down the exposed tools."),
}


@click.group(cls=LazyGroup, lazy=_COMMANDS)
def packs() -> None:
    """Look after domain packs."""
