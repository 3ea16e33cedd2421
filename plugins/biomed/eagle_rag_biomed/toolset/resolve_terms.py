"""The tool ``biomed_resolve_terms``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import Field

from eagle_rag_biomed.linking import Linker, Resolution
from eagle_rag_biomed.organisms import documents_about
from eagle_rag_biomed.toolset.parameters import NAMESPACE, Context, EntityTypes, Organism
from eagle_rag_core.plugins import PackContext, register_mcp_tool
from eagle_rag_core.plugins.parameters import KbName

_DESCRIPTION: Final = """\
Gives the identifiers of biomedical names: for each term the concepts it may stand for, best \
first, with label, type, synonyms, how it matched (identifier, label, synonym, other_case, part \
of the term, one slip of spelling) and a score from 1 down to 0.5. status is resolved when one \
concept fits best, ambiguous when several fit equally (AD), similar when only the spelling \
resembles, unknown when the vocabulary has nothing. documents counts the ingested documents that \
mention the concept, of those on organism where one is given. Identifiers of other \
terminologies, such as NCBIGene:672 or OMIM:114480, lead to the one used here."""


@dataclass(frozen=True, slots=True)
class ResolvedConcept:
    curie: str
    label: str
    type: str
    match: str
    score: float
    synonyms: list[str]
    documents: int


@dataclass(frozen=True, slots=True)
class ResolvedTerm:
    term: str
    status: Literal["resolved", "ambiguous", "similar", "unknown"]
    concepts: list[ResolvedConcept]


@dataclass(frozen=True, slots=True)
class ResolvedTerms:
    terms: list[ResolvedTerm]
    vocabulary: str
    vocabulary_version: str


#: Synonyms shown with a concept.
_SYNONYMS: Final = 5


def resolve_terms_tool(ctx: PackContext, linker: Linker) -> Callable[..., ResolvedTerms]:
    """The tool ``biomed_resolve_terms``."""

    @register_mcp_tool(
        namespace=NAMESPACE,
        name="resolve_terms",
        title="Resolve biomedical terms",
        description=_DESCRIPTION,
    )
    def resolve_terms(
        terms: Annotated[
            tuple[Annotated[str, Field(min_length=1, max_length=200)], ...],
            Field(min_length=1, max_length=50, description="Names, abbreviations or identifiers."),
        ],
        entity_types: EntityTypes = (),
        context: Context = "",
        organism: Organism = "",
        min_score: Annotated[
            float, Field(ge=0, le=1, description="Leave out concepts that match less well.")
        ] = 0.0,
        kb_name: KbName = "",
        limit: Annotated[int, Field(ge=1, le=10, description="Most concepts for a term.")] = 3,
    ) -> ResolvedTerms:
        about = documents_about(ctx, linker, organism, kb_name=kb_name)

        def documents_with(curie: str) -> int:
            if about is None:
                return 0
            return ctx.records.count(
                "entity", {"curie": curie}, kb_name=kb_name, document_ids=about
            )

        def concept(found: Resolution) -> ResolvedConcept:
            return ResolvedConcept(
                curie=found.concept.curie,
                label=found.concept.label,
                type=found.concept.type,
                match=found.match,
                score=found.score,
                synonyms=list(found.concept.names[:_SYNONYMS]),
                documents=documents_with(found.concept.curie),
            )

        resolved = []
        for term in terms:
            known = linker.resolve(term, entity_types, context)
            found = [r for r in known if r.score >= min_score]
            concepts = [concept(r) for r in found[:limit]]
            resolved.append(ResolvedTerm(term, _status(found), concepts))
        return ResolvedTerms(resolved, linker.vocabulary.described, linker.vocabulary.version)

    return resolve_terms


def _status(
    found: list[Resolution],
) -> Literal["resolved", "ambiguous", "similar", "unknown"]:
    if not found:
        return "unknown"
    if found[0].match == "spelling":
        return "similar"
    best = [r for r in found if r.score == found[0].score]
    return "resolved" if len(best) == 1 else "ambiguous"
