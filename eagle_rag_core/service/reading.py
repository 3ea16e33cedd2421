"""Reading documents: the outline first, then the parts that matter."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eagle_rag_core.catalog import cursors, documents
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.passages import document_length, document_sections, page_of, stretch
from eagle_rag_core.errors import ErrorCode, InvalidArgument, NotFound
from eagle_rag_core.models.token_counts import estimate_json_tokens
from eagle_rag_core.types import Caller, DocumentInfo, Section

if TYPE_CHECKING:
    from sqlalchemy import Connection

_ID_LENGTH = 12
#: Where a part of a text ends, the best place first.
_BREAKS = ("\n\n", "\n", " ")


@dataclass(frozen=True, slots=True)
class Heading:
    """A section of a document under its heading.

    :param section_id: names it as long as the headings above it stay what they are, whatever
        else changes in the document.
    :param parent_id: of the section that it is a part of, "" for the topmost.
    """

    section_id: str
    parent_id: str
    section: Section


@dataclass(frozen=True, slots=True)
class Outline:
    """A page of the headings of a document, in reading order.

    :param next_cursor: where the next page begins, "" at the end.
    """

    info: DocumentInfo
    headings: Sequence[Heading]
    next_cursor: str


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a document's text. ``start`` and ``end`` are its offsets in the document.

    :param heading: of the section that is read, None for the document itself.
    :param total: characters of all that is read.
    :param page: on which the part begins, 0 without pages.
    :param next_cursor: where the next part begins, "" at the end.
    """

    info: DocumentInfo
    heading: Heading | None
    text: str
    start: int
    end: int
    total: int
    page: int
    next_cursor: str


class ReadingService:
    """Texts and headings of the documents that a caller may read."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def outline(
        self, caller: Caller, document_id: str, *, limit: int = 0, cursor: str = ""
    ) -> Outline:
        """The headings of a document; none where it has none.

        :param limit: headings wanted; 0 = all.
        :raises NotFound: there is no such document that the caller may read.
        :raises InvalidArgument: a cursor that is none, or of a text that changed since.
        """
        with self._catalog.read() as conn:
            info = self._info(conn, caller, document_id)
            headings = headings_of(document_id, document_sections(conn, document_id))
        first = _position(cursor, info, 0, len(headings))
        last = min(first + limit, len(headings)) if limit else len(headings)
        following = cursors.encode_place(info.version_id, last) if last < len(headings) else ""
        return Outline(info, headings[first:last], following)

    def read(
        self,
        caller: Caller,
        document_id: str,
        section_id: str = "",
        *,
        cursor: str = "",
        max_chars: int,
        max_tokens: int,
    ) -> Part:
        """The text of a document or of one of its sections, subsections included, or the next
        part of it. All parts, one after the other, are the text.

        :param max_tokens: of the text as JSON.
        :raises NotFound: there is no such document that the caller may read, or it has no such
            section.
        :raises InvalidArgument: a cursor that is none, or of another or changed text.
        """
        with self._catalog.read() as conn:
            info = self._info(conn, caller, document_id)
            heading = self._heading(conn, document_id, section_id) if section_id else None
            if heading is None:
                first, last = 0, document_length(conn, info.version_id)
            else:
                first, last = heading.section.start, heading.section.end
            start = _position(cursor, info, first, last)
            whole = stretch(conn, info.version_id, start, min(start + max_chars + 1, last))
            text = _beginning(whole, max_chars, max_tokens)
            end = start + len(text)
            page = page_of(conn, info.version_id, start)
        following = cursors.encode_place(info.version_id, end) if end < last else ""
        return Part(info, heading, text, start, end, last - first, page, following)

    def _info(self, conn: Connection, caller: Caller, document_id: str) -> DocumentInfo:
        info = documents.get_document(conn, self._catalog.namespace, caller, document_id)
        return self._catalog.names.named(caller, info)

    def _heading(self, conn: Connection, document_id: str, section_id: str) -> Heading:
        for heading in headings_of(document_id, document_sections(conn, document_id)):
            if heading.section_id == section_id:
                return heading
        raise NotFound(
            f"The document has no section {section_id[:80]!r}; its outline names those it has.",
            code=ErrorCode.SECTION_NOT_FOUND,
        )


def headings_of(document_id: str, sections: Iterable[Section]) -> list[Heading]:
    """The sections that have a heading, with their ids.

    An id is made of the document, the titles from the top, and which of the sections with these
    titles it is.
    """
    seen: Counter[str] = Counter()
    ids: dict[int, str] = {0: ""}
    headings: list[Heading] = []
    for section in sections:
        if section.ordinal == 0:  # the document itself
            continue
        key = f"{document_id}\0{section.path}\0{seen[section.path]}"
        seen[section.path] += 1
        ids[section.ordinal] = _digest(key)
        headings.append(Heading(ids[section.ordinal], ids[section.parent], section))
    return headings


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:_ID_LENGTH]


def _position(cursor: str, info: DocumentInfo, first: int, last: int) -> int:
    """Where to go on; ``first`` without a cursor."""
    if not cursor:
        return first
    version_id, position = cursors.decode_place(cursor)
    if version_id != info.version_id or not first <= position < last:
        raise InvalidArgument(
            "cursor is of another text, or the document was replaced since; leave it out to begin "
            "again."
        )
    return position


def _beginning(text: str, max_chars: int, max_tokens: int) -> str:
    """As much of ``text`` as is allowed, at least one character, up to the end of a paragraph,
    line or word where there is one in its last third."""
    length = _allowed(text, max_chars, max_tokens)
    if length == len(text):
        return text
    for mark in _BREAKS:
        end = text.rfind(mark, length - length // 3, length)
        if end >= 0:
            return text[: end + len(mark)]
    return text[:length]


def _allowed(text: str, max_chars: int, max_tokens: int) -> int:
    """How many of the first characters are within both bounds; at least one."""
    length = min(len(text), max_chars)
    while length > 1 and (tokens := estimate_json_tokens(text[:length])) > max_tokens:
        length = min(length - 1, max(1, length * max_tokens // tokens))
    return length
