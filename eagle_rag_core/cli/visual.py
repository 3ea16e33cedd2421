"""``eagle-rag search --visual``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from eagle_rag_core.bootstrap import Start
from eagle_rag_core.errors import EagleError
from eagle_rag_core.types import COMMAND_LINE, ScopeRequest, Step

if TYPE_CHECKING:
    from eagle_rag_core.app import EagleApp
    from eagle_rag_core.retrieval.visual import VisualHit


def search_visual(
    start: Start, query: str, kb: str, top_k: int, save: Path | None, as_json: bool
) -> None:
    """Print the regions that best match, and write them to a folder.

    :param save: None to write nothing.
    """
    from eagle_rag_core.tools.parameters import words
    from eagle_rag_core.tools.visual import visual_result

    with start.app() as app:
        found = app.services().visual.search(
            COMMAND_LINE, words(query), top_k=top_k, request=ScopeRequest(kb_name=kb)
        )
        saved = _save(app, found.hits, save) if save is not None else {}
    if as_json:
        shown = [visual_result(hit) for hit in found.hits]
        click.echo(json.dumps(shown, ensure_ascii=False, indent=2))
        return
    tell_troubles(found.steps)
    if not found.hits:
        click.echo("Nothing found.")
    for rank, hit in enumerate(found.hits, 1):
        page = f", page {hit.page}" if hit.page else ""
        click.secho(f"{rank}. {hit.kind.value} of {hit.title}{page}  [{hit.score:.3f}]", bold=True)
        place = (saved.get(hit.image_id, ""), hit.position, hit.matched_by, hit.kb_name)
        click.echo("   " + " · ".join((*filter(None, place), hit.image_id)))
        click.echo("   " + " ".join((hit.caption or hit.text).split())[:400])


def tell_troubles(steps: Iterable[Step]) -> None:
    """Say on stderr what was left out, and why."""
    for step in steps:
        if step.status != "ok":
            click.echo(f"({step.name} {step.status}: {step.detail})", err=True)


def _save(app: EagleApp, hits: Iterable[VisualHit], folder: Path) -> dict[str, str]:
    """Write what the hits show; names of the files, by image. What has no image is said."""
    folder.mkdir(parents=True, exist_ok=True)
    saved: dict[str, str] = {}
    for rank, hit in enumerate(hits, 1):
        try:
            data = app.services().pages.tile(COMMAND_LINE, hit.image_id)
        except EagleError as error:
            click.echo(f"({rank}. has no image: {error.message})", err=True)
            continue
        name = f"{rank:02}-{hit.kind.value}-{hit.image_id[:8]}.png"
        (folder / name).write_bytes(data)
        saved[hit.image_id] = name
    return saved
