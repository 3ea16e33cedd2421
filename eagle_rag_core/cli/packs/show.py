"""``eagle-rag packs show``."""

from __future__ import annotations

import json

import click

from eagle_rag_core.bootstrap import Start
from eagle_rag_core.cli.options import common_options


@click.command("show")
@click.argument("pack")
@common_options
def show(start: Start, pack: str) -> None:
    """Show everything known about one PACK, by namespace or distribution."""
    from packaging.utils import canonicalize_name

    from eagle_rag_core.errors import PluginError
    from eagle_rag_core.plugins.namespaces import fold
    from eagle_rag_core.settings.suggest import did_you_mean

    records = start.selection().records
    found = [
        record
        for record in records
        if fold(pack) == fold(record.namespace)
        or canonicalize_name(pack) == canonicalize_name(record.distribution)
    ]
    if not found:
        known = [record.namespace for record in records]
        raise PluginError(
            f"No installed pack has the namespace {pack!r}{did_you_mean(fold(pack), known)}"
        )
    for record in found:
        click.echo(json.dumps(record.as_dict(), indent=2))
