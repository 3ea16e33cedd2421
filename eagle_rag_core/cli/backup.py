"""``eagle-rag backup`` and ``eagle-rag restore``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eagle_rag_core.bootstrap import Start
from eagle_rag_core.cli.options import common_options
from eagle_rag_core.cli.progress import bar

if TYPE_CHECKING:
    from eagle_rag_core.settings import Settings

_AUDIT = "audit.db"


@click.command()
@click.argument("target", type=click.Path(path_type=Path))
@common_options
@click.option("--audit", is_flag=True, help="Include the call log.")
@click.option("--json", "as_json", is_flag=True)
def backup(start: Start, target: Path, audit: bool, as_json: bool) -> None:
    """Write everything that this deployment keeps into one archive.

    TARGET is a new file that ends in .tar or .tar.gz, or the folder to put one into. Servers and
    workers may go on meanwhile. The configuration is not included. The archive can be restored
    into any other database and vector backend.
    """
    from eagle_rag_core.service.backup.backup import BackupService

    settings = _settings(start)
    with _parts(settings) as parts, bar("Originals", quiet=as_json) as progress:
        done = BackupService(**parts).run(
            target, audit=settings.home / _AUDIT if audit else None, progress=progress
        )
    if as_json:
        click.echo(json.dumps({**asdict(done), "path": str(done.path)}, ensure_ascii=False))
        return
    click.echo(
        f"{done.path}: {done.documents} documents, {done.originals} originals, "
        f"{done.bytes / 1e6:.1f} MB."
    )
    if done.missing:
        click.echo(f"{done.missing} originals are lost; `eagle-rag doctor` names them.", err=True)
    if done.without_vectors:
        click.echo(
            f"{done.without_vectors} documents have no vectors; after a restore `eagle-rag doctor "
            "--repair` makes them anew.",
            err=True,
        )


@click.command()
@click.argument("archive", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@common_options
@click.option("--force", is_flag=True, help="Replace what is there, all of it.")
@click.option("--check", is_flag=True, help="Only check the archive, and say what is in it.")
def restore(start: Start, archive: Path, force: bool, check: bool) -> None:
    """Bring a backup into this deployment, which must be empty.

    Every byte of ARCHIVE is checked first. The settings say where its parts go: a backup of a
    folder can become a deployment on PostgreSQL, S3 and Milvus, and the other way round.
    """
    from eagle_rag_core.service.backup.archive import ArchiveReader
    from eagle_rag_core.service.backup.restore import RestoreService, restore_audit

    settings = _settings(start)
    opened = ArchiveReader(archive)
    if check:
        shown = {name: value for name, value in opened.manifest.items() if name != "sha256"}
        click.echo(json.dumps(shown, ensure_ascii=False, indent=2))
        return
    with _parts(settings) as parts, bar("Originals") as progress:
        done = RestoreService(**parts).run(opened, force=force, progress=progress)
    restore_audit(opened, settings.home / _AUDIT)
    click.echo(f"{done.documents} documents and {done.originals} originals restored.")


def _settings(start: Start) -> Settings:
    from eagle_rag_core.telemetry.logs import configure_logging

    settings = start.settings()
    configure_logging(settings)
    return settings


@contextmanager
def _parts(settings: Settings) -> Iterator[dict[str, Any]]:
    """What both services are made of; neither packs nor models."""
    from eagle_rag_core.storage import open_blobs, open_catalog, vector_stores
    from eagle_rag_core.vectors.factory import open_vector_store

    catalog = open_catalog(settings)
    store = open_vector_store(settings, catalog)
    try:
        yield {
            "catalog": catalog,
            "blobs": open_blobs(settings),
            "open_store": vector_stores(settings, catalog, store),
            "transactional": store.name == "local",
        }
    finally:
        store.close()
        catalog.close()
