"""The hooks a pack may implement: the contract between packs and the core.

Hooks are synchronous and declarative. They run once, at start-up, in the order of
``plugins.enabled``, and return plain objects; work happens in those objects, later. Every hook is
optional and takes the pack's :class:`~eagle_rag_core.plugins.context.PackContext`.

A pack marks an implementation with a bare ``@hookimpl``. Options of the marker (``tryfirst``,
``wrapper``, …), coroutine functions and names that are not listed here are refused when the pack
is registered.

Names of legs, query expanders, rerankers, embedders, collections and health checks are shared by
all packs of a deployment, so each is the pack's namespace, or begins with it and an underscore
(``biomed``, ``biomed_entities``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import pluggy

if TYPE_CHECKING:
    from eagle_rag_core.plugins.context import PackContext
    from eagle_rag_core.types import (
        CollectionView,
        EmbedderSpec,
        Enricher,
        HealthCheck,
        Leg,
        Parser,
        QueryExpander,
        Reranker,
    )

#: Version of this contract. A manifest's ``api`` specifier is checked against it. Additions raise
#: the minor number; anything that breaks a pack raises the major number.
PACK_API_VERSION: Final = "1.1"
#: The name pluggy knows this project by.
PROJECT: Final = "eagle_rag"

hookspec: Final = pluggy.HookspecMarker(PROJECT)
#: Marks a function of a pack as the implementation of the hook of the same name.
hookimpl: Final = pluggy.HookimplMarker(PROJECT)


@hookspec
def register_tools(ctx: PackContext) -> Sequence[Callable[..., Any]]:  # type: ignore[empty-body]
    """Contribute MCP tools.

    They are exposed only where the pack is the deployment's default namespace.

    :returns: functions marked with
        :func:`~eagle_rag_core.plugins.mcp_registry.register_mcp_tool`, exactly the tools the
        manifest declares. They may be closures over ``ctx`` or bound methods.

    .. versionadded:: 1.0
    """


@hookspec
def register_parsers(ctx: PackContext) -> Sequence[Parser]:  # type: ignore[empty-body]
    """Contribute parsers for source formats.

    The parser most confident of a source reads it; a tie with one of the core's parsers goes to
    the pack.

    :returns: :class:`~eagle_rag_core.types.Parser` objects.

    .. versionadded:: 1.0
    """


@hookspec
def register_enrichers(ctx: PackContext) -> Sequence[Enricher]:  # type: ignore[empty-body]
    """Contribute enrichers, which add records, fields and search terms to chunks at ingest.

    They never change the text, path or order of chunks. Kinds and fields of records are those the
    manifest declares.

    :returns: :class:`~eagle_rag_core.types.Enricher` objects.

    .. versionadded:: 1.0
    """


@hookspec
def register_embedders(ctx: PackContext) -> Sequence[EmbedderSpec]:  # type: ignore[empty-body]
    """Contribute text embedders that ``models.text_embedder`` or a collection may name.

    :returns: :class:`~eagle_rag_core.types.EmbedderSpec` objects; a factory runs on first use.

    .. versionadded:: 1.0
    """


@hookspec
def register_collections(ctx: PackContext) -> Sequence[CollectionView]:  # type: ignore[empty-body]
    """Contribute further vector views of chunks, each with an embedder and a predicate.

    The chunks of a document that the predicate accepts are embedded by that embedder as well,
    into a collection of the pack, which searches look through beside the library's own.

    :returns: :class:`~eagle_rag_core.types.CollectionView` objects, exactly the collections the
        manifest declares.

    .. versionadded:: 1.0
    """


@hookspec
def register_retrievers(ctx: PackContext) -> Sequence[Leg]:  # type: ignore[empty-body]
    """Contribute legs: further ways of finding chunks, fused by rank with the core's own.

    :returns: :class:`~eagle_rag_core.types.Leg` objects. A leg returns nodes inside the scope of
        its request only.

    .. versionadded:: 1.0
    """


@hookspec
def register_query_expanders(ctx: PackContext) -> Sequence[QueryExpander]:  # type: ignore[empty-body]
    """Contribute query expanders: terms, leg weights, and filters that only ever narrow.

    :returns: :class:`~eagle_rag_core.types.QueryExpander` objects.

    .. versionadded:: 1.0
    """


@hookspec
def register_rerankers(ctx: PackContext) -> Sequence[Reranker]:  # type: ignore[empty-body]
    """Contribute rerankers that ``models.reranker`` may name.

    :returns: :class:`~eagle_rag_core.types.Reranker` objects, which permute the hits they get.

    .. versionadded:: 1.0
    """


@hookspec
def register_health(ctx: PackContext) -> Sequence[HealthCheck]:  # type: ignore[empty-body]
    """Contribute health checks, run when the deployment's health is asked for.

    :returns: :class:`~eagle_rag_core.types.HealthCheck` objects.

    .. versionadded:: 1.0
    """
