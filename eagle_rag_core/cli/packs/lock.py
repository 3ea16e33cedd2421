"""``eagle-rag packs lock``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from eagle_rag_core.bootstrap import Start
from eagle_rag_core.cli.options import LOCK_NAME, common_options, given
from eagle_rag_core.errors import ConfigError

if TYPE_CHECKING:
    from eagle_rag_core.plugins.lockfile import Lock


@click.command("lock")
@common_options
@click.option(
    "--file", type=click.Path(dir_okay=False), default="", help="The lock (plugins.locked)."
)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if something changed.")
def lock(start: Start, file: str, check: bool) -> None:
    """Write down the exposed tools, so that `--locked` refuses any others.

    Prints what changed since the lock was last written. To know the tools, this imports the
    enabled packs; what they print goes to stderr.
    """
    from eagle_rag_core.plugins.lock_changes import changes
    from eagle_rag_core.plugins.lockfile import read_lock

    path = Path(file or start.settings().plugins.locked or LOCK_NAME)
    # The lock that is being replaced must not keep its successor from being made.
    with given(start, {"plugins": {"locked": ""}}).app() as app:
        now = app.lock()
    packs = sorted(block["namespace"] for block in now.distributions.values())
    click.echo(f"Imported: {', '.join(packs)}.", err=True)
    if check:
        lines = changes(read_lock(path), now)
        click.echo("\n".join(lines), nl=bool(lines))
        sys.exit(1 if lines else 0)
    if before := _former(path):
        click.echo("\n".join(changes(before, now)) or "Nothing changed.")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(now.text(), "utf-8", newline="\n")
    click.echo(f"Wrote {path}: {len(now.tools)} tools.", err=True)


def _former(path: Path) -> Lock | None:
    """The lock that is being replaced; a damaged one is replaced without a comparison."""
    from eagle_rag_core.plugins.lockfile import read_lock

    if not path.exists():
        return None
    try:
        return read_lock(path)
    except ConfigError as error:
        click.echo(error.message, err=True)
        return None
