"""Parameters that several of the pack's tools have, in one wording."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from eagle_rag_biomed.concepts import ConceptType

NAMESPACE: Final = "biomed"

EntityTypes = Annotated[
    tuple[ConceptType, ...],
    Field(max_length=7, description="Return only entities of these types; empty for all types."),
]
AssertionFilter = Annotated[
    Literal["any", "affirmed", "negated", "hypothetical", "family", "historical"],
    Field(
        description="Count and quote only mentions that are affirmed, negated, hypothetical, "
        "about relatives, or in the past."
    ),
]
EntityName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=200,
        description="An entity by any common name or identifier, such as MESH:D009203.",
    ),
]
