"""The tool ``biomed_annotate_text``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field

from eagle_rag_biomed.annotator import Annotator, Mention
from eagle_rag_biomed.answers import ConceptRef
from eagle_rag_biomed.linking import Linker
from eagle_rag_biomed.toolset.parameters import (
    NAMESPACE,
    AssertionFilter,
    Context,
    Cursor,
    EntityTypes,
    MinConfidence,
    position_of,
)
from eagle_rag_core.plugins import register_mcp_tool

_DESCRIPTION: Final = """\
Marks the biomedical entities in a given text, which is not kept: each mention with its start and \
end in characters, so that the characters between them are its surface, its type, identifier and \
label, how it was found (dictionary, abbreviation that the text defines, pattern of a variant, \
model), how its words led to the identifier (tier), how likely it is right (confidence), \
and whether it is affirmed, negated, hypothetical, about relatives or in the past, with the cue \
that says so. A mention that several concepts fit has an empty curie and its candidates. The \
text is taken as one document, in English. Pages continue with next_cursor."""


@dataclass(frozen=True, slots=True)
class AnnotatedMention:
    """:param cue: words that decided the assertion, "" when none did."""

    start: int
    end: int
    surface: str
    type: str
    curie: str
    label: str
    method: str
    tier: str
    confidence: float
    assertion: str
    cue: str
    long_form: str
    candidates: list[ConceptRef]


@dataclass(frozen=True, slots=True)
class AnnotatedText:
    """:param truncated: there are more mentions than ``limit``, from ``next_cursor`` on."""

    mentions: list[AnnotatedMention]
    truncated: bool
    next_cursor: str
    vocabulary: str
    vocabulary_version: str


def annotate_text_tool(annotator: Annotator, linker: Linker) -> Callable[..., AnnotatedText]:
    """The tool ``biomed_annotate_text``."""

    @register_mcp_tool(
        namespace=NAMESPACE,
        name="annotate_text",
        title="Annotate a biomedical text",
        description=_DESCRIPTION,
    )
    def annotate_text(
        text: Annotated[
            str, Field(min_length=1, max_length=20_000, description="The text to annotate.")
        ],
        entity_types: EntityTypes = (),
        assertion: AssertionFilter = "any",
        context: Context = "",
        min_confidence: MinConfidence = 0.0,
        limit: Annotated[int, Field(ge=1, le=200, description="Most mentions to return.")] = 100,
        cursor: Cursor = "",
    ) -> AnnotatedText:
        first = position_of(cursor)
        found = [
            m
            for m in linker.in_context(annotator.annotate(text), context)
            if m.confidence >= min_confidence
            and assertion in ("any", m.assertion.status)
            and (not entity_types or not m.types.isdisjoint(entity_types))
        ]
        return AnnotatedText(
            [_mention(m) for m in found[first : first + limit]],
            len(found) > first + limit,
            str(first + limit) if len(found) > first + limit else "",
            annotator.vocabulary.described,
            annotator.vocabulary.version,
        )

    return annotate_text


def _mention(mention: Mention) -> AnnotatedMention:
    concept = mention.concept
    return AnnotatedMention(
        start=mention.start,
        end=mention.end,
        surface=mention.surface,
        type=mention.type or "",
        curie=concept.curie if concept else "",
        label=concept.label if concept else "",
        method=mention.method,
        tier=mention.tier,
        confidence=mention.confidence,
        assertion=mention.assertion.status,
        cue=mention.assertion.cue,
        long_form=mention.long_form,
        candidates=[]
        if concept
        else [ConceptRef(c.curie, c.label, c.type) for c in mention.candidates],
    )
