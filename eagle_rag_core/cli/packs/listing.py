"""``eagle-rag packs list``."""

from __future__ import annotations

import json

import click

from eagle_rag_core.bootstrap import Start
from eagle_rag_core.cli.options import common_options


@click.command("list")
@common_options
@click.option("--json", "as_json", is_flag=True, help="With everything known, as JSON.")
def list_(start: Start, as_json: bool) -> None:
    """List installed packs with their state under the active profile.

    No pack is imported, so what fails when it is loaded is not seen here; /health/plugins of a
    running deployment shows it.
    """
    selection = start.selection()
    if as_json:
        report = {
            "default_namespace": selection.default_namespace,
            "fingerprint": selection.fingerprint(),
            "packs": [record.as_dict() for record in selection.records],
        }
        click.echo(json.dumps(report, indent=2))
        return
    if not selection.records:
        click.echo("No domain packs are installed.")
    for record in selection.records:
        reason = f"  {record.reason}" if record.reason else ""
        dist = f"{record.distribution} {record.version}"
        click.echo(f"{record.namespace:<20} {record.state:<16} {dist}{reason}")
