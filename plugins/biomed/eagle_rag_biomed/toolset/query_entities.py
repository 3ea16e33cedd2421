"""The tool ``biomed_query_entities``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final, Literal

from pydantic import Field

from eagle_rag_biomed.answers import EntityAnswer
from eagle_rag_biomed.finder import EntityFinder, EntityQuestion
from eagle_rag_biomed.toolset.parameters import (
    NAMESPACE,
    AssertionFilter,
    Context,
    Cursor,
    EntityTypes,
    MinConfidence,
    Organism,
    QuoteTokens,
    position_of,
)
from eagle_rag_core.plugins import register_mcp_tool
from eagle_rag_core.plugins.parameters import DocumentIds, KbName

_DESCRIPTION: Final = """\
Finds biomedical entities (diseases, phenotypes, chemicals and drugs, genes, variants, species, \
cell lines) in the ingested documents and shows where they are mentioned. The query is a question \
in plain language, one or more entity names in any common spelling or synonym ("heart attack" \
finds "myocardial infarction"), or identifiers such as MESH:D009203. The answer holds the \
entities the query names, with relation kinds also the kinds of them, then entities mentioned \
beside them in the passages that answer it; each with its identifier, the number of documents and \
mentions, and quoted passages. Mentions are affirmed, negated ("no evidence of pneumonia"), \
hypothetical, about relatives or in the past. Ambiguous and unknown names come back with \
suggestions, and an empty result says why in zero_result_reason. Pages continue with next_cursor. \
It returns entities with short quotes, not whole passages on a topic."""


def query_entities_tool(finder: EntityFinder) -> Callable[..., EntityAnswer]:
    """The tool ``biomed_query_entities``."""

    @register_mcp_tool(
        namespace=NAMESPACE,
        name="query_entities",
        title="Query biomedical entities",
        description=_DESCRIPTION,
    )
    def query_entities(
        query: Annotated[
            str,
            Field(
                min_length=1,
                max_length=2000,
                description="A question, entity names separated by commas, or identifiers.",
            ),
        ],
        entity_types: EntityTypes = (),
        kb_name: KbName = "",
        document_ids: DocumentIds = (),
        assertion: AssertionFilter = "any",
        relation: Annotated[
            Literal["exact", "kinds"],
            Field(
                description="exact = the entities named; kinds = also what is a kind of them, "
                "such as cadmium for heavy metals."
            ),
        ] = "exact",
        limit: Annotated[int, Field(ge=1, le=50, description="Most entities to return.")] = 10,
        evidence_per_entity: Annotated[
            int, Field(ge=0, le=10, description="Most passages to quote for each entity.")
        ] = 2,
        organism: Organism = "",
        context: Context = "",
        min_confidence: MinConfidence = 0.0,
        max_tokens: QuoteTokens = 2000,
        cursor: Cursor = "",
    ) -> EntityAnswer:
        return finder.answer(
            EntityQuestion(
                query=query,
                types=entity_types,
                kb_name=kb_name,
                document_ids=document_ids,
                assertion=assertion,
                relation=relation,
                limit=limit,
                evidence_per_entity=evidence_per_entity,
                organism=organism,
                context=context,
                min_confidence=min_confidence,
                max_tokens=max_tokens,
                position=position_of(cursor),
            )
        )

    return query_entities
