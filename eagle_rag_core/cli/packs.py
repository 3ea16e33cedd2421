"""``eagle-rag packs``: reads metadata and manifests, never imports a pack."""

from __future__ import annotations

import json

import click

from eagle_rag_core.bootstrap import Start
from eagle_rag_core.cli.options import common_options


@click.group()
def packs() -> None:
    """Show installed domain packs."""


@packs.command("list")
@common_options
@click.option("--json", "as_json", is_flag=True)
def list_(start: Start, as_json: bool) -> None:
    """List installed packs with their state under the active profile."""
    records = _records(start)
    if as_json:
        click.echo(json.dumps([record.as_dict() for record in records], indent=2))
        return
    if not records:
        click.echo("No domain packs are installed.")
    for record in records:
        reason = f"  {record.reason}" if record.reason else ""
        dist = f"{record.distribution} {record.version}"
        click.echo(f"{record.namespace:<20} {record.state:<16} {dist}{reason}")


@packs.command("show")
@click.argument("pack")
@common_options
def show(start: Start, pack: str) -> None:
    """Show everything known about one PACK, by namespace or distribution."""
    from eagle_rag_core.errors import ErrorCode, PluginError
    from eagle_rag_core.settings.suggest import did_you_mean

    records = _records(start)
    folded = pack.replace("-", "_")
    found = [
        record for record in records if folded == record.namespace or pack == record.distribution
    ]
    if not found:
        known = [record.namespace for record in records]
        raise PluginError(
            f"No installed pack has the namespace {pack!r}{did_you_mean(folded, known)}",
            code=ErrorCode.PLUGIN_FAILED,
        )
    for record in found:
        click.echo(json.dumps(record.as_dict(), indent=2))


def _records(start: Start):  # type: ignore[no-untyped-def]
    from eagle_rag_core.plugins.selection import survey

    return survey(start.settings().plugins)
