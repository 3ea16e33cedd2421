"""The pack: what eagle-rag-biomed contributes to a deployment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Literal

from eagle_rag_biomed.annotator import Annotator
from eagle_rag_biomed.vocabulary import builtin_vocabulary
from eagle_rag_core.plugins import PackContext, hookimpl
from eagle_rag_core.types import Enricher, HealthCheck, QueryExpander


@cache
def _annotator() -> Annotator:
    return Annotator(builtin_vocabulary())


@hookimpl
def register_tools(ctx: PackContext) -> Sequence[Callable[..., Any]]:
    from eagle_rag_biomed.finder import EntityFinder
    from eagle_rag_biomed.linking import Linker
    from eagle_rag_biomed.tools import query_entities_tool

    return [query_entities_tool(EntityFinder(ctx, Linker(_annotator())))]


@hookimpl
def register_enrichers(ctx: PackContext) -> Sequence[Enricher]:
    from eagle_rag_biomed.enricher import EntityEnricher

    return [EntityEnricher(_annotator())]


@hookimpl
def register_query_expanders(ctx: PackContext) -> Sequence[QueryExpander]:
    from eagle_rag_biomed.expander import expander
    from eagle_rag_biomed.linking import Linker

    return [QueryExpander("biomed_synonyms", expander(Linker(_annotator()), ctx))]


@hookimpl
def register_health(ctx: PackContext) -> Sequence[HealthCheck]:
    def check() -> tuple[Literal["ok", "degraded", "failed"], str]:
        vocabulary = _annotator().vocabulary
        return "ok", f"{vocabulary.name} vocabulary, {len(vocabulary)} concepts"

    return [HealthCheck("biomed_vocabulary", check)]
