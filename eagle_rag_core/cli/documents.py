"""``eagle-rag documents``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from eagle_rag_core.bootstrap import Start
from eagle_rag_core.cli.options import common_options
from eagle_rag_core.types import (
    COMMAND_LINE,
    FILTER_FIELDS,
    Condition,
    DocumentInfo,
    FilterOp,
    ScopeRequest,
)

if TYPE_CHECKING:
    from eagle_rag_core.app import EagleApp

_PAGE = 200
_OPERATORS = {"=": FilterOp.EQ, "~": FilterOp.CONTAINS, "^": FilterOp.PREFIX}


class _ConditionType(click.ParamType):  # type: ignore[type-arg]
    """``field=value`` (equal), ``field~value`` (contains) or ``field^value`` (begins with)."""

    name = "FIELD=VALUE"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> Condition:
        place = min((value.find(sign) for sign in _OPERATORS if sign in value), default=-1)
        if place < 1:
            known = ", ".join(sorted(FILTER_FIELDS))
            self.fail(
                f"{value!r} is no condition; write FIELD=VALUE, FIELD~PART or FIELD^START. "
                f"Fields: {known}, metadata.KEY.",
                param,
                ctx,
            )
        return Condition(value[:place], _OPERATORS[value[place]], value[place + 1 :])


def _filters(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options that choose documents."""
    for option in (
        click.option("--kb", default="", help="Knowledge base; all when omitted."),
        click.option(
            "--where",
            "conditions",
            multiple=True,
            type=_ConditionType(),
            help="FIELD=VALUE, FIELD~PART or FIELD^START; repeatable, all must hold.",
        ),
    ):
        command = option(command)
    return command


@click.group()
def documents() -> None:
    """Look after documents."""


@documents.command("list")
@common_options
@_filters
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1))
@click.option("--json", "as_json", is_flag=True)
def list_(
    start: Start, kb: str, conditions: Sequence[Condition], limit: int, as_json: bool
) -> None:
    """List documents, the last changed first."""
    with start.app() as app:
        found = list(_chosen(app, kb, conditions, limit))
    if as_json:
        click.echo(json.dumps([asdict(item) for item in found], ensure_ascii=False, indent=2))
        return
    for item in found:
        click.echo(
            f"{item.document_id}  {item.kb_name:<16} {item.chunks:>6} passages  "
            f"{item.title or '-'}  {item.source_uri}"
        )


@documents.command()
@click.argument("document_id")
@common_options
@click.option("--json", "as_json", is_flag=True)
def show(start: Start, document_id: str, as_json: bool) -> None:
    """Show one document with its outline."""
    with start.app() as app:
        details = app.services().documents.get(COMMAND_LINE, document_id)
    if as_json:
        click.echo(json.dumps(asdict(details), ensure_ascii=False, indent=2))
        return
    facts = asdict(details.info) | {"size": details.size, "content_hash": details.content_hash}
    facts["tags"] = ", ".join(details.info.tags)
    facts["metadata"] = ", ".join(f"{k}={v}" for k, v in details.info.metadata.items())
    for label, value in facts.items():
        click.echo(f"{label:<13} {value if value != '' else '-'}")
    for section in details.sections:
        if section.level:
            click.echo(f"{'  ' * section.level}{section.title}")


@documents.command()
@click.argument("document_ids", nargs=-1)
@common_options
@_filters
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(
    start: Start,
    document_ids: Sequence[str],
    kb: str,
    conditions: Sequence[Condition],
    yes: bool,
) -> None:
    """Delete the documents DOCUMENT_IDS, or those that --kb and --where choose.

    Their passages, vectors, records, jobs and originals go with them. Exits with 1 when one of
    the DOCUMENT_IDS does not exist.
    """
    if bool(document_ids) == bool(kb or conditions):
        raise click.UsageError("Give DOCUMENT_IDS, or choose by --kb and --where.")
    with start.app() as app:
        chosen = document_ids or [item.document_id for item in _chosen(app, kb, conditions, 0)]
        if chosen and not yes:
            click.confirm(f"Delete {len(chosen)} documents?", abort=True, err=True)
        service = app.services().documents
        gone = [item for item in chosen if service.delete(COMMAND_LINE, item)]
    click.echo(f"{len(gone)} documents deleted.")
    for document_id in sorted(set(chosen) - set(gone)):
        click.echo(f"There is no document {document_id}.", err=True)
    if document_ids and len(gone) < len(set(document_ids)):
        sys.exit(1)


def _chosen(
    app: EagleApp, kb: str, conditions: Sequence[Condition], limit: int
) -> Iterator[DocumentInfo]:
    """The documents that filters choose, page by page.

    :param limit: 0 for all.
    """
    service = app.services().documents
    request = ScopeRequest(kb_name=kb, filter=tuple(conditions))
    cursor, left = "", limit
    while True:
        size = min(left, _PAGE) if limit else _PAGE
        page, cursor = service.list(COMMAND_LINE, request, limit=size, cursor=cursor)
        yield from page
        left -= len(page)
        if not cursor or (limit and not left):
            return
