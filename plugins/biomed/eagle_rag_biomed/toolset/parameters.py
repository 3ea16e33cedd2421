"""Parameters that several of the pack's tools have, in one wording."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from eagle_rag_biomed.concepts import ConceptType
from eagle_rag_core.errors import InvalidArgument

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
Organism = Annotated[
    str,
    Field(
        max_length=200,
        description="Only documents that mention this species, by any name such as mouse.",
    ),
]
Context = Annotated[
    str,
    Field(
        max_length=4000,
        description="Words that tell what ambiguous names mean, such as memory loss for AD.",
    ),
]
Cursor = Annotated[
    str, Field(max_length=32, description="next_cursor of the page before, unchanged.")
]
MinConfidence = Annotated[
    float,
    Field(ge=0, le=1, description="Leave out mentions that are less likely to be right."),
]
QuoteTokens = Annotated[
    int, Field(ge=0, le=16_000, description="Largest size of all quotes together, in tokens.")
]
EntityName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=200,
        description="An entity by any common name or identifier, such as MESH:D009203.",
    ),
]


def position_of(cursor: str) -> int:
    """Where the page begins that ``cursor`` leads to.

    :raises InvalidArgument: it is no cursor of this pack's.
    """
    if cursor and not (cursor.isascii() and cursor.isdigit() and len(cursor) < 9):
        raise InvalidArgument("cursor is none of this tool's; pass next_cursor unchanged.")
    return int(cursor or 0)
