"""``eagle-rag vectors``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Literal

import click

from eagle_rag_core.bootstrap import Start
from eagle_rag_core.cli.options import common_options, given
from eagle_rag_core.cli.progress import bar

if TYPE_CHECKING:
    from eagle_rag_core.app import EagleApp
    from eagle_rag_core.catalog.engine import Catalog
    from eagle_rag_core.service.vectors_move import Moved
    from eagle_rag_core.settings import Settings
    from eagle_rag_core.vectors.store import VectorStore

Place = Literal["local", "milvus"]
_PLACES = click.Choice(["local", "milvus"])
_uri = click.option("--uri", default="", help="Milvus URI or Lite file, for `milvus`.")
_token = click.option(
    "--token", default="", help="Milvus token; better in EAGLE_RAG_MILVUS__TOKEN (milvus.token)."
)
_all = click.option("--all-namespaces", is_flag=True, help="Those of every namespace.")


@click.group()
def vectors() -> None:
    """Carry vectors between the catalog and Milvus."""


@vectors.command()
@common_options
@click.option("--to", "place", type=_PLACES, required=True, help="The new place.")
@_uri
@_token
@_all
@click.option("--json", "as_json", is_flag=True)
def move(
    start: Start, place: Place, uri: str, token: str, all_namespaces: bool, as_json: bool
) -> None:
    """Copy all vectors to the other backend, without embedding anything.

    Searches go on at the old place until milvus.uri is changed, which is yours to do. Give the
    command again after an interruption, and for what has come since: it copies what is missing.
    """
    from eagle_rag_core.service.vectors_move import VectorMove

    settings = _elsewhere(start, place, uri, token)
    done: list[Moved] = []
    with start.app() as app, bar("Vectors", quiet=as_json) as progress:
        for catalog, source in _stores(app, all_namespaces):
            with _opened(settings, catalog) as target:
                done.append(VectorMove(catalog, source, target).run(progress))
    if as_json:
        click.echo(json.dumps([asdict(item) for item in done], ensure_ascii=False, indent=2))
        return
    for item in done:
        click.echo(
            f"{item.namespace}: {item.versions} documents with {item.rows} vectors in "
            f"{item.collections} collections; {item.copied} copied now, all counted, "
            f"{item.compared} compared."
        )
    click.echo(_what_next(place, settings.milvus.uri))


@vectors.command()
@common_options
@click.option("--from", "place", type=_PLACES, required=True, help="The place not in use.")
@_uri
@_token
@_all
@click.option("--yes", is_flag=True, help="Do not ask.")
def drop(start: Start, place: Place, uri: str, token: str, all_namespaces: bool, yes: bool) -> None:
    """Remove this library's vectors from the place that is not in use any more."""
    from eagle_rag_core.catalog.collections import list_collections
    from eagle_rag_core.vectors.collections import as_collection

    settings = _elsewhere(start, place, uri, token)
    if not yes:
        where = f"Milvus at {uri}" if place == "milvus" else "the catalog"
        click.confirm(f"Remove all vectors of this library's collections in {where}?", abort=True)
    dropped = 0
    with start.app() as app:
        for catalog, _ in _stores(app, all_namespaces):
            with catalog.read() as conn:
                found = list_collections(conn, catalog.namespace)
            with _opened(settings, catalog) as store:
                for info in found:
                    store.drop(as_collection(info))
            dropped += len(found)
    click.echo(f"{dropped} collections removed from {place}.")


def _elsewhere(start: Start, place: Place, uri: str, token: str) -> Settings:
    """The settings under which ``place`` is where vectors are.

    :raises InvalidArgument: it is where they are already.
    :raises click.UsageError: it is not said where it is.
    """
    from eagle_rag_core.errors import InvalidArgument

    if place == "local" and (uri or token):
        raise click.UsageError("--uri and --token are of milvus; local has none.")
    if place == "milvus" and not uri:
        raise click.UsageError("Say where Milvus is with --uri.")
    present = start.settings().milvus.uri
    if place == "local" and not present:
        raise InvalidArgument(
            "milvus.uri is not set, so the local backend is in use already; name the other place."
        )
    if place == "milvus" and present:
        raise InvalidArgument(
            "milvus.uri is set, so Milvus is in use already. To move vectors out of the catalog, "
            "leave it unset until they have moved; from one Milvus to another they get with a "
            "backup and a restore."
        )
    milvus = {"uri": uri, **({"token": token} if token else {})}
    return given(start, {"milvus": milvus}).settings()


def _stores(app: EagleApp, all_namespaces: bool) -> Iterator[tuple[Catalog, VectorStore]]:
    """The catalog of each namespace, and its vectors where they are in use."""
    from eagle_rag_core.service.vectors_move import namespaces
    from eagle_rag_core.storage import open_catalog

    engine = app.engine()  # refuses an embedder that is not the library's
    yield engine.catalog, engine.store
    if not all_namespaces:
        return
    for name in namespaces(engine.catalog):
        if name == engine.catalog.namespace:
            continue
        with ExitStack() as stack:
            catalog = open_catalog(app.settings, namespace=name)
            stack.callback(catalog.close)
            yield catalog, stack.enter_context(_opened(app.settings, catalog))


@contextmanager
def _opened(settings: Settings, catalog: Catalog) -> Iterator[VectorStore]:
    from eagle_rag_core.vectors.factory import open_vector_store

    store = open_vector_store(settings, catalog)
    try:
        yield store
    finally:
        store.close()


def _what_next(place: Place, uri: str) -> str:
    change = (
        f"set milvus.uri to {uri} (EAGLE_RAG_MILVUS__URI)"
        if place == "milvus"
        else "remove the setting milvus.uri (EAGLE_RAG_MILVUS__URI)"
    )
    former = "local" if place == "milvus" else "milvus --uri …"
    return (
        f"Searches read the old place still. To switch, {change} and restart all servers and "
        f"workers; `eagle-rag vectors drop --from {former}` then frees the old place."
    )
