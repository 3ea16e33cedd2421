"""The tool ``biomed_find_cooccurring``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import Field

from eagle_rag_biomed.answers import ConceptRef, Evidence
from eagle_rag_biomed.cooccurrence import (
    MOST_UNITS,
    CooccurrenceCounter,
    CooccurrenceScope,
    Pair,
    Unit,
)
from eagle_rag_biomed.linking import Linker
from eagle_rag_biomed.organisms import documents_about
from eagle_rag_biomed.quoting import Budget, quotes
from eagle_rag_biomed.stored_mentions import none_annotated
from eagle_rag_biomed.toolset.parameters import (
    NAMESPACE,
    AssertionFilter,
    Context,
    Cursor,
    EntityName,
    EntityTypes,
    Organism,
    QuoteTokens,
    position_of,
)
from eagle_rag_core.plugins import PackContext, register_mcp_tool
from eagle_rag_core.plugins.parameters import DocumentIds, KbName

Reason = Literal[
    "",
    "not_in_vocabulary",
    "ambiguous",
    "not_in_library",
    "filtered_out",
    "unknown_documents",
]

_DESCRIPTION: Final = """\
Finds the biomedical entities that the ingested documents mention together with a given one, in \
the same passage or document. The strongest come first, by normalised pointwise mutual \
information (npmi: 1 = only together, 0 = as often as chance has it, negative = less often), \
among those found together at least min_together times. Each has the number of shared passages \
or documents and quotes from some, with how it is asserted there. Being mentioned together is no \
proof of a relation. Pages continue with next_cursor. An empty result says why in \
zero_result_reason."""


@dataclass(frozen=True, slots=True)
class Cooccurring:
    """:param together: passages or documents that mention both; ``alone`` counts the entity's own.
    :param evidence: passages that mention both, or of documents that do.
    """

    curie: str
    label: str
    type: str
    npmi: float
    together: int
    alone: int
    evidence: list[Evidence]


@dataclass(frozen=True, slots=True)
class CooccurringEntities:
    """:param truncated: the entity is in more passages or documents than were read.
    :param budget_truncated: quotes were left out, to keep within ``max_tokens``.
    """

    entity: list[ConceptRef]
    items: list[Cooccurring]
    zero_result_reason: Reason
    truncated: bool
    next_cursor: str = ""
    budget_truncated: bool = False


def find_cooccurring_tool(ctx: PackContext, linker: Linker) -> Callable[..., CooccurringEntities]:
    """The tool ``biomed_find_cooccurring``."""

    @register_mcp_tool(
        namespace=NAMESPACE,
        name="find_cooccurring",
        title="Find co-occurring entities",
        description=_DESCRIPTION,
    )
    def find_cooccurring(
        entity: EntityName,
        entity_types: EntityTypes = (),
        unit: Annotated[Unit, Field(description="Where both have to be mentioned.")] = "passage",
        min_together: Annotated[
            int, Field(ge=1, le=1000, description="Fewest shared passages or documents.")
        ] = 1,
        assertion: AssertionFilter = "any",
        organism: Organism = "",
        context: Context = "",
        kb_name: KbName = "",
        document_ids: DocumentIds = (),
        limit: Annotated[int, Field(ge=1, le=50, description="Most entities to return.")] = 10,
        evidence_per_entity: Annotated[
            int, Field(ge=0, le=5, description="Most passages to quote for each entity.")
        ] = 1,
        max_tokens: QuoteTokens = 2000,
        cursor: Cursor = "",
    ) -> CooccurringEntities:
        first = position_of(cursor)
        found = linker.resolve(entity, context=context)
        best = [r.concept for r in found if r.score == found[0].score]
        refs = [ConceptRef(c.curie, c.label, c.type) for c in best[:10]]
        if len(best) != 1:
            reason: Reason = "ambiguous" if best else "not_in_vocabulary"
            return CooccurringEntities(refs, [], reason, False)
        about = documents_about(ctx, linker, organism, kb_name=kb_name, document_ids=document_ids)
        if about is None:
            reason = _reason(ctx, best[0].curie, kb_name, document_ids)
            return CooccurringEntities(refs, [], reason, False)
        scope = CooccurrenceScope(kb_name, about, "" if assertion == "any" else assertion)
        counter = CooccurrenceCounter(ctx, linker.vocabulary, best[0], scope, unit)
        pairs = counter.pairs(entity_types, min_together)
        page = pairs[first : first + limit]
        budget = Budget.of_tokens(max_tokens)
        spots = [counter.spots(pair, evidence_per_entity) for pair in page]
        evidence = quotes(ctx, spots, budget)
        return CooccurringEntities(
            refs,
            [_item(pair, quoted) for pair, quoted in zip(page, evidence, strict=True)],
            "" if page else _reason(ctx, best[0].curie, kb_name, document_ids),
            len(counter.units) >= MOST_UNITS,
            str(first + limit) if len(pairs) > first + limit else "",
            budget.exceeded,
        )

    return find_cooccurring


def _reason(ctx: PackContext, curie: str, kb_name: str, document_ids: Sequence[str]) -> Reason:
    """Why nothing is mentioned together with an entity, in the way asked for."""
    if ctx.records.count("entity", {"curie": curie}, kb_name=kb_name, document_ids=document_ids):
        return "filtered_out"
    return "unknown_documents" if none_annotated(ctx, document_ids) else "not_in_library"


def _item(pair: Pair, evidence: list[Evidence]) -> Cooccurring:
    concept = pair.concept
    return Cooccurring(
        concept.curie,
        concept.label,
        concept.type,
        pair.npmi,
        len(pair.shared),
        pair.alone,
        evidence,
    )
