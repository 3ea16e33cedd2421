"""The base of all sections, and the types that several fields have."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from eagle_rag_core.settings import durations

Port = Annotated[int, Field(ge=0, le=65535)]
#: With its scheme, or empty.
ServerUrl = Annotated[str, Field(pattern=r"^(https?://\S+)?$")]
#: Seconds, or text such as ``10m``.
Duration = Annotated[float, BeforeValidator(durations.seconds)]


class Section(BaseModel):
    """Base of all sections: unknown keys are errors, values do not change after start."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)
