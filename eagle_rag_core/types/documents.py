"""Documents as parsers produce them and as the index keeps them.

Offsets are character positions in the document's normalised text; ``end`` is exclusive.
For every chunk ``document.text[chunk.start:chunk.end] == chunk.text`` holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from eagle_rag_core.types.tiles import ReadLine


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading a parser found. ``start`` is where the heading's own text begins.

    :param level: 1 for the topmost level.
    """

    title: str
    level: int
    start: int


@dataclass(frozen=True, slots=True)
class PageSpan:
    """The part of the text that stands on page ``number`` (1-based)."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A parser's result: reading-order text with its headings and pages.

    :param text: normalised text (no NUL, ``\\n`` line ends); never empty.
    :param headings: in order of ``start``.
    :param pages: empty for formats without pages.
    :param keywords: keywords the file itself declares; offered as tags, never invented.
    :param payload: a pack parser's own result, handed to the enrichers of the same run; it is
        not stored.
    :param lines: what OCR read, and where, on the pages whose text is that of OCR.
    """

    text: str
    media_type: str
    headings: tuple[Heading, ...] = ()
    pages: tuple[PageSpan, ...] = ()
    title: str = ""
    language: str = ""
    keywords: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    payload: Any = None
    lines: tuple[ReadLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A node of the section tree.

    ``ordinal`` is its place in reading order; ordinal 0 is the document itself (level 0),
    ``parent`` is -1 there. ``start``..``end`` spans the section with its subsections,
    ``start``..``body_end`` the part before the first subsection.

    :param path: heading titles from the top joined by " > "; "" for the document itself.
    :param page: page of the heading, 0 where the format has no pages.
    """

    ordinal: int
    parent: int
    level: int
    title: str
    path: str
    start: int
    body_end: int
    end: int
    page: int = 0
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A retrievable passage, inside exactly one section.

    :param page: first page it stands on, 0 where the format has no pages.
    """

    node_id: str
    ordinal: int
    section: int
    start: int
    end: int
    text: str
    path: str
    level: int
    page: int = 0


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document as the catalog knows it."""

    document_id: str
    kb_name: str
    source_uri: str
    source_type: str
    title: str
    language: str
    media_type: str
    tags: tuple[str, ...]
    metadata: Mapping[str, Any]
    version_id: str
    chunks: int
    created_at: str
    updated_at: str
