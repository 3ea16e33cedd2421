"""The pack: what eagle-rag-biomed contributes to a deployment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from eagle_rag_core.plugins import PackContext, hookimpl
from eagle_rag_core.types import Enricher, HealthCheck, Leg, QueryExpander

if TYPE_CHECKING:
    from eagle_rag_biomed.annotator import Annotator
    from eagle_rag_biomed.options import Options


@cache
def _annotator(options: Options | None) -> Annotator:
    """The annotator that all parts of the pack share."""
    from eagle_rag_biomed.resources import annotator_for

    return annotator_for(options)


def _of(ctx: PackContext) -> Annotator:
    return _annotator(ctx.options or None)


@hookimpl
def register_tools(ctx: PackContext) -> Sequence[Callable[..., Any]]:
    from eagle_rag_biomed.chemistry.finder import CompoundFinder
    from eagle_rag_biomed.finder import EntityFinder
    from eagle_rag_biomed.linking import Linker
    from eagle_rag_biomed.toolset.annotate_text import annotate_text_tool
    from eagle_rag_biomed.toolset.find_cooccurring import find_cooccurring_tool
    from eagle_rag_biomed.toolset.list_entities import list_entities_tool
    from eagle_rag_biomed.toolset.query_entities import query_entities_tool
    from eagle_rag_biomed.toolset.resolve_terms import resolve_terms_tool
    from eagle_rag_biomed.toolset.retrieve_compounds import retrieve_compounds_tool
    from eagle_rag_biomed.toolset.retrieve_context import retrieve_context_tool

    annotator = _of(ctx)
    linker = Linker(annotator)
    return [
        query_entities_tool(EntityFinder(ctx, linker)),
        resolve_terms_tool(ctx, linker),
        annotate_text_tool(annotator, linker),
        list_entities_tool(ctx),
        find_cooccurring_tool(ctx, linker),
        retrieve_context_tool(ctx, linker),
        retrieve_compounds_tool(CompoundFinder(ctx, linker)),
    ]


@hookimpl
def register_enrichers(ctx: PackContext) -> Sequence[Enricher]:
    from eagle_rag_biomed.chemistry.enricher import StructureEnricher
    from eagle_rag_biomed.enricher import EntityEnricher

    return [EntityEnricher(_of(ctx)), StructureEnricher(_of(ctx))]


@hookimpl
def register_query_expanders(ctx: PackContext) -> Sequence[QueryExpander]:
    from eagle_rag_biomed.expander import expander
    from eagle_rag_biomed.linking import Linker

    return [QueryExpander("biomed_synonyms", expander(Linker(_of(ctx)), ctx))]


@hookimpl
def register_retrievers(ctx: PackContext) -> Sequence[Leg]:
    from eagle_rag_biomed.leg import LEG, entity_leg
    from eagle_rag_biomed.linking import Linker

    return [Leg(LEG, entity_leg(Linker(_of(ctx)), ctx), weight=1.5)]


@hookimpl
def register_health(ctx: PackContext) -> Sequence[HealthCheck]:
    def check() -> tuple[Literal["ok", "degraded", "failed"], str]:
        vocabulary = _of(ctx).vocabulary
        return "ok", f"{vocabulary.name} vocabulary, {len(vocabulary)} concepts"

    return [HealthCheck("biomed_vocabulary", check)]
