"""Settings of the pack: ``plugins.options.lakehouse_bi``."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Options(BaseModel):
    """What an operator may set."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    value_columns: tuple[Annotated[str, Field(min_length=1, max_length=400)], ...] = Field(
        default=(),
        description="Columns whose known values resolve_values may show, as table.column with "
        "* for anything, such as orders.status or *; empty for none. Columns that are marked or "
        "named as personal are never shown.",
    )
