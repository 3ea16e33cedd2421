"""Parameters that several tools have."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

NAMESPACE: Final = "lakehouse_bi"

Cursor = Annotated[
    str,
    Field(max_length=32, description="next_cursor of the page before; empty = the first page."),
]
MaxTokens = Annotated[
    int, Field(ge=500, le=16000, description="Largest size of the answer, in tokens.")
]
