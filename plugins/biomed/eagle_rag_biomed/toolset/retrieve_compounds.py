"""The tool ``biomed_retrieve_compounds``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final

from pydantic import Field

from eagle_rag_biomed.chemistry.answers import CompoundAnswer, CompoundQuestion
from eagle_rag_biomed.chemistry.finder import CompoundFinder
from eagle_rag_biomed.toolset.parameters import (
    NAMESPACE,
    AssertionFilter,
    Context,
    Cursor,
    Organism,
    QuoteTokens,
    position_of,
)
from eagle_rag_core.plugins import register_mcp_tool
from eagle_rag_core.plugins.parameters import DocumentIds, KbName

_DESCRIPTION: Final = """\
Finds where the ingested documents mention a chemical compound, by name or by a structure they \
write down (SMILES, InChI, InChIKey), and compounds of similar structure, most similar first \
(Tanimoto coefficient of Morgan fingerprints of radius 2; stereochemistry is not compared). \
Structures are those of the documents and of the operator's vocabularies. nearest is the \
similarity of the closest other one, whatever min_similarity. An empty result says why in \
zero_result_reason; no_structure: the compound is known by name only."""


def retrieve_compounds_tool(finder: CompoundFinder) -> Callable[..., CompoundAnswer]:
    """The tool ``biomed_retrieve_compounds``."""

    @register_mcp_tool(
        namespace=NAMESPACE,
        name="retrieve_compounds",
        title="Retrieve compounds by structure",
        description=_DESCRIPTION,
    )
    def retrieve_compounds(
        compound: Annotated[
            str,
            Field(
                min_length=1,
                max_length=1000,
                description="A name, identifier, SMILES, InChI or InChIKey.",
            ),
        ],
        min_similarity: Annotated[
            float,
            Field(ge=0, le=1, description="Least similarity; 1 = only the compound itself."),
        ] = 0.5,
        kb_name: KbName = "",
        document_ids: DocumentIds = (),
        assertion: AssertionFilter = "any",
        organism: Organism = "",
        context: Context = "",
        limit: Annotated[int, Field(ge=1, le=50, description="Most compounds to return.")] = 10,
        evidence_per_compound: Annotated[
            int, Field(ge=0, le=10, description="Most passages to quote for each compound.")
        ] = 2,
        max_tokens: QuoteTokens = 2000,
        cursor: Cursor = "",
    ) -> CompoundAnswer:
        return finder.answer(
            CompoundQuestion(
                compound=compound,
                min_similarity=min_similarity,
                kb_name=kb_name,
                document_ids=document_ids,
                organism=organism,
                context=context,
                assertion=assertion,
                limit=limit,
                position=position_of(cursor),
                evidence_per_compound=evidence_per_compound,
                max_tokens=max_tokens,
            )
        )

    return retrieve_compounds
