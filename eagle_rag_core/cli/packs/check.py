"""``eagle-rag packs check``."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from eagle_rag_core.testing.checking.checking import Report


@click.command("check")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="The report as JSON.")
def check(path: Path, as_json: bool) -> None:
    """Look through a pack before it is published; exit 1 on an error.

    PATH is a wheel, an sdist or a source folder. Nothing of it is imported or run, so it may be a
    stranger's. Warnings want a look, hints are good practice. `packs doctor PATH` says what would
    keep it from loading in this environment.
    """
    from eagle_rag_core.testing.checking.checking import check as checked

    report = checked(path)
    if as_json:
        click.echo(json.dumps(report.as_dict(), indent=2))
    else:
        _print(report)
    sys.exit(0 if report.ok else 1)


def _print(report: Report) -> None:
    if report.kind:
        size = f"{report.files} files, {max(1, report.size // 1024)} KiB"
        click.echo(f"{report.name} {report.version} ({report.kind}; {size})")
    for pack in report.packs:
        tools = ", ".join(pack.tools) or "none"
        click.echo(f"  {pack.namespace}: {pack.title}; pack API {pack.api}; tools: {tools}")
    for finding in report.findings:
        click.echo(str(finding))
    counts = Counter(finding.severity for finding in report.findings)
    summary = ", ".join(f"{n} {name}{'s' * (n > 1)}" for name, n in counts.items())
    click.echo(summary or "Nothing is wrong.")
