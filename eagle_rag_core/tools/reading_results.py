"""Shapes of the results of reading a document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from pydantic import Field
from typing_extensions import TypedDict

from eagle_rag_core.tools import results as r

if TYPE_CHECKING:
    from eagle_rag_core.service.reading import Heading, Outline, Part

PartPage = Annotated[int, Field(description="Where this part begins; 0 without pages.")]
Start = Annotated[int, Field(description="Offset of this part in the document.")]
End = Annotated[int, Field(description="Offset after its last character.")]
Level = Annotated[int, Field(description="1 for the topmost.")]

#: Characters of a value of metadata that are shown.
_SHOWN = 300


class DocumentText(TypedDict):
    document_id: r.DocumentId
    title: r.Title
    kb_name: r.KbName
    source_uri: r.SourceUri
    source_type: r.SourceType
    media_type: r.MediaType
    language: r.Language
    tags: r.Tags
    metadata: Annotated[
        dict[str, str], Field(description="Facts to filter by; long values end in an ellipsis.")
    ]
    created_at: r.CreatedAt
    updated_at: r.UpdatedAt
    page: PartPage
    start: Start
    end: End
    total_chars: Annotated[int, Field(description="Length of the whole text.")]
    text: Annotated[str, Field(description="This part of the text.")]
    next_cursor: r.NextCursor


class SectionText(TypedDict):
    document_id: r.DocumentId
    section_id: Annotated[str, Field(description="Id of the section.")]
    title: Annotated[str, Field(description="Its heading.")]
    path: Annotated[str, Field(description="Headings from the top, joined by ' > '.")]
    level: Level
    page: PartPage
    start: Start
    end: End
    total_chars: Annotated[int, Field(description="Length of the section with subsections.")]
    text: Annotated[str, Field(description="This part of the section, headings included.")]
    next_cursor: r.NextCursor


class OutlineItem(TypedDict):
    section_id: Annotated[str, Field(description="Pass to core_get_section.")]
    parent_id: Annotated[str, Field(description="Section it is a part of; empty at the top.")]
    level: Level
    title: Annotated[str, Field(description="The heading.")]
    page: Annotated[int, Field(description="Of the heading; 0 without pages.")]
    chars: Annotated[int, Field(description="Length of the section with subsections.")]


class OutlinePage(TypedDict):
    document_id: r.DocumentId
    title: r.Title
    items: Annotated[list[OutlineItem], Field(description="In reading order.")]
    next_cursor: r.NextCursor


def document_text(part: Part) -> DocumentText:
    info = part.info
    return {
        "document_id": info.document_id,
        "title": info.title,
        "kb_name": info.kb_name,
        "source_uri": info.source_uri,
        "source_type": info.source_type,
        "media_type": info.media_type,
        "language": info.language,
        "tags": list(info.tags),
        "metadata": _shown(info.metadata),
        "created_at": info.created_at,
        "updated_at": info.updated_at,
        "page": part.page,
        "start": part.start,
        "end": part.end,
        "total_chars": part.total,
        "text": part.text,
        "next_cursor": part.next_cursor,
    }


def section_text(part: Part) -> SectionText:
    assert part.heading is not None
    section = part.heading.section
    return {
        "document_id": part.info.document_id,
        "section_id": part.heading.section_id,
        "title": section.title,
        "path": section.path,
        "level": section.level,
        "page": part.page,
        "start": part.start,
        "end": part.end,
        "total_chars": part.total,
        "text": part.text,
        "next_cursor": part.next_cursor,
    }


def outline_page(outline: Outline) -> OutlinePage:
    return {
        "document_id": outline.info.document_id,
        "title": outline.info.title,
        "items": [_outline_item(heading) for heading in outline.headings],
        "next_cursor": outline.next_cursor,
    }


def _outline_item(heading: Heading) -> OutlineItem:
    section = heading.section
    return {
        "section_id": heading.section_id,
        "parent_id": heading.parent_id,
        "level": section.level,
        "title": section.title,
        "page": section.page,
        "chars": section.end - section.start,
    }


def _shown(metadata: Mapping[str, object]) -> dict[str, str]:
    texts = {key: str(value) for key, value in metadata.items()}
    return {
        key: text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…" for key, text in texts.items()
    }
