"""Parameters that many tools have: one wording and one set of bounds for all of them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

#: An id of a document, a knowledge base or a tag in a list.
Id = Annotated[str, Field(min_length=1, max_length=128)]
KbName = Annotated[
    str,
    Field(
        max_length=64,
        description="Knowledge base to search; empty = every one you may read.",
    ),
]
DocumentIds = Annotated[
    tuple[Id, ...],
    Field(max_length=1000, description="Only these document ids; empty = no limit."),
]
