"""``eagle-rag profile``: which there are, and what one amounts to."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from eagle_rag_core.bootstrap import Start
from eagle_rag_core.cli.options import common_options

if TYPE_CHECKING:
    from eagle_rag_core.settings.layers import Layers
    from eagle_rag_core.settings.origins import Setting


@click.group()
def profile() -> None:
    """Look at the profiles of the configuration and of the installed packs."""


@profile.command("list")
@common_options
@click.option("--json", "as_json", is_flag=True)
def list_(start: Start, as_json: bool) -> None:
    """List the profiles; the active one is marked with *."""
    layers = _layers(start)
    packs = {pack.record.namespace: pack.record.distribution for pack in start.installed.packs}
    written = {name.replace("-", "_"): name for name in map(str, layers.profiles)}
    found = []
    for name in sorted({"core", *written, *packs}):
        shown = written.get(name, name)
        found.append(
            {
                "name": shown,
                "active": layers.name.replace("-", "_") == name,
                "pack": packs.get(name, ""),
                "file": str(layers.path) if name in written else "",
            }
        )
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False, indent=2))
        return
    for each in found:
        of = [f"pack {each['pack']}"] if each["pack"] else []
        of += [f"file {each['file']}"] if each["file"] else []
        mark = "*" if each["active"] else " "
        click.echo(f"{mark} {each['name']:<20} {', '.join(of)}".rstrip())


@profile.command()
@click.argument("name", required=False, default="")
@common_options
@click.option("--changed", is_flag=True, help="Only what is not the default.")
@click.option("--json", "as_json", is_flag=True)
def explain(start: Start, name: str, changed: bool, as_json: bool) -> None:
    """Show every setting under profile NAME, by default the active one, and where its value comes
    from.

    Secrets are not shown.
    """
    from eagle_rag_core.settings.origins import Origin, effective_settings

    if name and start.profile and start.profile != name:
        raise click.UsageError("NAME is the profile; leave --profile away.")
    settings = effective_settings(
        config=start.config,
        profile=name or _layers(start).name,
        overrides=start.overrides,
        namespaces=start.installed.namespaces,
    )
    if changed:
        settings = [each for each in settings if each.origin is not Origin.DEFAULT]
    if as_json:
        found = [asdict(each) for each in settings]
        click.echo(json.dumps(found, ensure_ascii=False, indent=2))
        return
    for each in settings:
        click.echo(_line(each))


def _layers(start: Start) -> Layers:
    from eagle_rag_core.settings.layers import read_layers

    return read_layers(
        config=start.config,
        profile=start.profile,
        flags=start.overrides,
        namespaces=start.installed.namespaces,
        environ=os.environ,
    )


def _line(setting: Setting) -> str:
    where = f": {setting.where}" if setting.where else ""
    value = json.dumps(setting.value, ensure_ascii=False)
    return f"{setting.key} = {value}  ({setting.origin}{where})"
