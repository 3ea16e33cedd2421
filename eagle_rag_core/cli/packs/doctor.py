"""``eagle-rag packs doctor``."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eagle_rag_core import __version__
from eagle_rag_core.bootstrap import Start
from eagle_rag_core.cli.options import common_options

if TYPE_CHECKING:
    from eagle_rag_core.plugins.diagnosis import Finding
    from eagle_rag_core.plugins.selection import Selection
    from eagle_rag_core.plugins.states import PackRecord


@click.command("doctor")
@click.argument("path", required=False, type=click.Path(exists=True, path_type=Path))
@common_options
@click.option("--json", "as_json", is_flag=True, help="The findings as JSON.")
def doctor(start: Start, path: Path | None, as_json: bool) -> None:
    """Say what is wrong with the installed packs and what to do; exit 1 on a problem.

    With PATH, the folder of a pack's source, its wheel or its sdist: what would keep it from
    loading, and what the installation in this environment does not know of it yet. No pack is
    imported.
    """
    report, findings = _examined(start, path) if path else _diagnosed(start)
    broken = any(finding.severity == "problem" for finding in findings)
    if as_json:
        shown = {**report, "ok": not broken, "findings": [asdict(finding) for finding in findings]}
        click.echo(json.dumps(shown, indent=2))
    else:
        _print(report, findings)
    if broken:
        sys.exit(1)


def _diagnosed(start: Start) -> tuple[dict[str, Any], Sequence[Finding]]:
    from eagle_rag_core.plugins.diagnosis import diagnose

    selection = start.selection()
    report = {
        **_environment(),
        "default_namespace": selection.default_namespace,
        "enabled": list(selection.enabled),
        "packs": [_pack(record, selection) for record in selection.records],
    }
    return report, diagnose(start.settings().plugins, selection, start.installed)


def _examined(start: Start, path: Path) -> tuple[dict[str, Any], Sequence[Finding]]:
    from eagle_rag_core.plugins.artifact import open_artifact
    from eagle_rag_core.plugins.examination import examine

    with open_artifact(path) as artifact:
        findings = examine(artifact, path, start.installed)
    packs = [
        {"namespace": namespace, "distribution": artifact.name, "version": artifact.version}
        for namespace in artifact.entry_points
    ]
    return {**_environment(), "path": str(path), "packs": packs}, findings


def _environment() -> dict[str, Any]:
    from eagle_rag_core.plugins.hookspecs import PACK_API_VERSION

    return {"core": __version__, "pack_api": PACK_API_VERSION, "prefix": sys.prefix}


def _pack(record: PackRecord, selection: Selection) -> dict[str, Any]:
    shown = ("namespace", "distribution", "version", "state", "location", "editable")
    known = record.as_dict()
    enabled = record.namespace in selection.enabled
    return {**{name: known[name] for name in shown}, "enabled": enabled}


def _print(report: dict[str, Any], findings: Sequence[Finding]) -> None:
    click.echo(
        f"eagle-rag-core {report['core']}, pack API {report['pack_api']}, in {report['prefix']}"
    )
    for pack in report["packs"]:
        place = f"  {pack['location']}" if "location" in pack else ""
        click.echo(
            f"{pack['namespace']:<20} {pack.get('state', ''):<16} "
            f"{pack['distribution']} {pack['version']}{place}"
        )
    for finding in findings:
        click.secho(f"{finding.severity}: {finding.subject}: {finding.what}", bold=True)
        if finding.remedy:
            click.echo(f"    {finding.remedy}")
    if not findings:
        click.echo("Nothing is wrong.")
