"""Settings of the pack: ``plugins.options.biomed``."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from eagle_rag_biomed.concepts import ConceptType


class UserVocabulary(BaseModel):
    """A vocabulary of the user's own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: str = Field(
        min_length=1,
        description="A table (.tsv, .csv), an ontology (.obo), mappings (.sssom.tsv) or "
        "molecules (.sdf).",
    )
    type: ConceptType | Literal[""] = Field(
        default="", description="Type of its concepts, where the file does not say it."
    )


class Options(BaseModel):
    """What an operator may set."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    vocabulary: str = Field(
        default="",
        description="Folder of a vocabulary that eagle-rag-biomed vocab build compiled; "
        "empty for the small built-in one.",
    )
    user_vocabularies: tuple[UserVocabulary, ...] = Field(
        default=(), description="Vocabularies of your own, on top; later ones win."
    )
    crf_model: str = Field(
        default="",
        description="Folder of a model that eagle-rag-biomed train made, which corrects and "
        "completes what the vocabulary finds; needs the crf extra. Empty for none.",
    )
    stop_terms: tuple[str, ...] = Field(
        default=(), description="Tables of further names that are not looked for in texts."
    )
