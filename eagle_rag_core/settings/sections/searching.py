"""Search, and the answers made from what it finds."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from eagle_rag_core.settings.sections.base import Section


class RetrievalSettings(Section):
    overfetch: int = Field(5, ge=1, le=50, description="Candidates per leg = overfetch x top_k.")
    min_candidates: int = Field(50, ge=1, le=1000, description="At least so many per leg.")
    rrf_k: int = Field(60, ge=1, description="Constant of reciprocal-rank fusion.")
    leg_timeout: float = Field(5.0, gt=0, description="Seconds before a leg is skipped.")
    expand_chars: int = Field(
        1500, ge=0, description="A hit grows to its neighbours up to this many characters."
    )
    refresh_seconds: float = Field(
        1.0, gt=0, description="An idle process applies index changes this often."
    )


class QuerySettings(Section):
    evidence: int = Field(6, ge=1, le=50, description="Passages an answer is built from.")
    sentences: int = Field(3, ge=1, le=10, description="Sentences of an extractive answer.")
    context_tokens: int = Field(
        4000, ge=200, description="Tokens of passages that a language model gets."
    )
    unsupported: Literal["drop", "mark"] = Field(
        "drop", description="What becomes of a model's sentences that no passage supports."
    )
