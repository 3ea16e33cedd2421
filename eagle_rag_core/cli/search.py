"""``eagle-rag search`` and ``eagle-rag query``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from eagle_rag_core.bootstrap import Start
from eagle_rag_core.cli.options import common_options
from eagle_rag_core.cli.visual import search_visual, tell_troubles
from eagle_rag_core.types import COMMAND_LINE, ScopeRequest


@click.command()
@click.argument("query")
@common_options
@click.option("--kb", default="", help="Knowledge base; all when omitted.")
@click.option("--top-k", default=5, show_default=True, type=click.IntRange(1, 100))
@click.option("--visual", is_flag=True, help="Figures, tables and regions of pages instead.")
@click.option(
    "--save",
    type=click.Path(file_okay=False, path_type=Path),
    help="With --visual: write what was found to this folder, as images.",
)
@click.option("--json", "as_json", is_flag=True, help="The result as core_retrieve_text gives it.")
def search(
    start: Start,
    query: str,
    kb: str,
    top_k: int,
    visual: bool,
    save: Path | None,
    as_json: bool,
) -> None:
    """Find the passages that best match QUERY."""
    if visual:
        search_visual(start, query, kb, top_k, save, as_json)
        return
    if save is not None:
        raise click.UsageError("--save writes images; add --visual.")
    from eagle_rag_core.tools.parameters import words
    from eagle_rag_core.tools.results import text_hit

    with start.app() as app:
        found = app.services().search.search(
            COMMAND_LINE, words(query), top_k=top_k, request=ScopeRequest(kb_name=kb)
        )
    if as_json:
        click.echo(json.dumps([text_hit(hit) for hit in found.hits], ensure_ascii=False, indent=2))
        return
    tell_troubles(found.steps)
    if not found.hits:
        click.echo("Nothing found.")
    for rank, hit in enumerate(found.hits, 1):
        page = f", page {hit.page}" if hit.page else ""
        click.secho(f"{rank}. {hit.title}{page}  [{hit.score:.3f}]", bold=True)
        click.echo(f"   {hit.path or '(whole document)'} · {hit.kb_name} · {hit.document_id}")
        click.echo("   " + " ".join(hit.text.split())[:400])


@click.command()
@click.argument("question")
@common_options
@click.option("--kb", default="", help="Knowledge base; all when omitted.")
@click.option(
    "--mode",
    type=click.Choice(["auto", "text", "visual", "hybrid"]),
    default="auto",
    show_default=True,
)
@click.option("--json", "as_json", is_flag=True, help="The result as core_query gives it.")
def query(start: Start, question: str, kb: str, mode: str, as_json: bool) -> None:
    """Answer QUESTION from the ingested documents, with citations."""
    from eagle_rag_core.tools.parameters import words
    from eagle_rag_core.tools.results import query_result

    with start.app() as app:
        answer = app.services().answer.answer(
            COMMAND_LINE, words(question), mode=mode, request=ScopeRequest(kb_name=kb)
        )
    if as_json:
        click.echo(json.dumps(query_result(answer), ensure_ascii=False, indent=2))
        return
    tell_troubles(answer.steps)
    click.echo(answer.answer)
    for source in answer.sources:
        page = f", page {source.page}" if source.page else ""
        place = f" · {source.path}" if source.path else ""
        click.echo(f"  [{source.n}] {source.title}{place}{page} ({source.document_id})")
