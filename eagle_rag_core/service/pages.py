"""Pictures of pages and tiles, and where on pages words stand."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from eagle_rag_core.catalog import documents, tiles, versions
from eagle_rag_core.catalog.engine import Catalog
from eagle_rag_core.catalog.passages import document_length, stretch
from eagle_rag_core.errors import EagleError, ErrorCode, InvalidArgument, NotFound
from eagle_rag_core.ingest.originals import Originals
from eagle_rag_core.ingest.tiles.alignment import Alignment
from eagle_rag_core.ingest.tiles.words import Word, joined_on_lines, words_of_lines
from eagle_rag_core.service.drawing.frames import Answer, Ask
from eagle_rag_core.service.drawing.pool import DrawingPool
from eagle_rag_core.types import Box, Caller, PageSpan

if TYPE_CHECKING:
    from sqlalchemy import Connection

#: Pixels of a page's width.
WIDTH: Final = 1200
MIN_WIDTH: Final = 32
MAX_WIDTH: Final = 4000
MAX_MARKS: Final = 500
_PDF: Final = "application/pdf"
#: What is kept of pictures that were drawn, and of words that were looked up.
_CACHE_BYTES: Final = 64_000_000
_CACHED_WORD_BYTES: Final = 100
#: A tile is shown with so much of the page around it, in shares of the page.
_MARGIN: Final = 0.006
#: A quotation reaches over no more pages; a whole book has no place.
_MAX_PAGES: Final = 20

Format = Literal["png", "jpeg"]


@dataclass(frozen=True, slots=True)
class _Source:
    """What there is to show of a document that the caller may read.

    :param original: hash of the original.
    :param pages: of what shows its pages: the original, or a PDF that was made of it.
    :param pages_type: media type of that.
    """

    version_id: str
    original: str
    media_type: str
    pages: str
    pages_type: str

    @property
    def has_pages(self) -> bool:
        return self.pages_type == _PDF or self.pages_type.startswith("image/")


class PageService:
    """Shows what a caller may read."""

    def __init__(self, catalog: Catalog, originals: Originals, pool: DrawingPool) -> None:
        self._catalog = catalog
        self._originals = originals
        self._pool = pool
        self._cache = _Cache(_CACHE_BYTES)

    def image(
        self,
        caller: Caller,
        document_id: str,
        page: int,
        *,
        width: int = WIDTH,
        highlight: Sequence[Box] = (),
        format: Format = "png",
    ) -> bytes:
        """A page of a document as it is displayed.

        :param page: 1-based.
        :param width: in pixels; a picture is not enlarged, and a huge page is drawn smaller.
        :param highlight: places to be marked, such as :meth:`boxes` gives.
        :raises NotFound: there is no such document that the caller may read.
        :raises InvalidArgument: no such page, or another argument is out of range.
        :raises EagleError: ``mode_unavailable``: documents of that kind have no pages to be shown;
            ``source_not_found``: the original is not stored any more; ``parse_failed``: it is
            damaged.
        """
        _check_range("width", width, MIN_WIDTH, MAX_WIDTH)
        _check_range("highlight", len(highlight), 0, MAX_MARKS)
        with self._catalog.read() as conn:
            source = self._source(conn, caller, document_id)
        if not source.has_pages:
            raise EagleError(
                "This document has no pages that can be shown; read its text, or ingest it as PDF.",
                code=ErrorCode.MODE_UNAVAILABLE,
            )
        marks = tuple(str(box) for box in highlight)
        ask = Ask(
            source.pages,
            source.pages_type,
            page,
            width=width,
            marks=marks,
            format=format,
        )
        return self._answer(ask).image

    def tile(
        self, caller: Caller, image_id: str, *, width: int = WIDTH, format: Format = "png"
    ) -> bytes:
        """A tile: the part of its page, or the picture inside its document.

        :param width: of the whole page in pixels.
        :raises NotFound: there is no such tile that the caller may read.
        :raises EagleError: as of :meth:`image`; ``mode_unavailable`` too for a table of a document
            without pages.
        """
        _check_range("width", width, MIN_WIDTH, MAX_WIDTH)
        with self._catalog.read() as conn:
            found = tiles.placed_tiles(conn, self._catalog.namespace, [image_id]).get(image_id)
            if found is None or not caller.may_read(found.kb_name):
                raise NotFound("There is no such image; it may be of a document that changed.")
            source = self._source(conn, caller, found.document_id)
        tile = found.tile
        if tile.part.startswith("#table") or not (tile.part or source.has_pages):
            raise EagleError(
                "This has no picture of its own; its text says what it shows.",
                code=ErrorCode.MODE_UNAVAILABLE,
            )
        if tile.part:
            ask = Ask(source.original, source.media_type, max(1, tile.page), width=width)
        else:
            ask = Ask(source.pages, source.pages_type, max(1, tile.page), width=width)
        ask = replace(ask, part=tile.part, box=str(_with_margin(tile.box)), format=format)
        return self._answer(ask).image

    def boxes(
        self, caller: Caller, document_id: str, start: int, end: int
    ) -> Sequence[tuple[int, Box]]:
        """Where the words of a part of a document's text stand: page and place, words that follow
        each other on a line as one.

        Nothing for documents without pages. Words that stand on no page as they do in the text,
        such as a caption that was made up, have no place.

        :param start: character offsets in the document, as a hit has them; ``end`` is exclusive.
        :raises NotFound: there is no such document that the caller may read.
        :raises InvalidArgument: the offsets are not in the document, or span too many pages.
        """
        with self._catalog.read() as conn:
            source = self._source(conn, caller, document_id)
            length = document_length(conn, source.version_id)
            if not 0 <= start < end <= length:
                raise InvalidArgument(
                    f"start and end must be offsets in the text (0 to {length}), start the lower."
                )
            spans = tiles.pages_between(conn, source.version_id, start, end)
            if len(spans) > _MAX_PAGES:
                raise InvalidArgument(
                    f"The passage spans {len(spans)} pages; ask for at most {_MAX_PAGES} at once."
                )
            pages = [
                (
                    span,
                    stretch(conn, source.version_id, span.start, span.end),
                    words_of_lines(tiles.read_lines(conn, source.version_id, span.number)),
                )
                for span in spans
            ]
        return [
            (span.number, box)
            for span, text, words in pages
            for box in self._on_page(source, span, text, words, start, end)
        ]

    def close(self) -> None:
        """End the processes that draw."""
        self._pool.close()

    def _on_page(
        self,
        source: _Source,
        span: PageSpan,
        text: str,
        words: Sequence[Word],
        start: int,
        end: int,
    ) -> Sequence[Box]:
        if not words:
            ask = Ask(source.pages, source.pages_type, span.number, words=True)
            words = [Word(*word) for word in self._answer(ask).words]
        alignment = Alignment(text, words)
        found = alignment.between(max(start, span.start) - span.start, end - span.start)
        return joined_on_lines(words[word] for word in found)

    def _source(self, conn: Connection, caller: Caller, document_id: str) -> _Source:
        info = documents.get_document(conn, self._catalog.namespace, caller, document_id)
        _, content_hash = versions.made_from(conn, info.version_id)
        rendition = versions.rendition_of(conn, info.version_id)
        pages = (rendition, _PDF) if rendition else (content_hash, info.media_type)
        return _Source(info.version_id, content_hash, info.media_type, *pages)

    def _answer(self, ask: Ask) -> Answer:
        answer = self._cache.get(ask)
        if answer is None:
            answer = self._pool.ask(ask, lambda: self._originals.read(ask.content_hash))
            if answer.failure == "no_page":
                raise InvalidArgument(
                    f"The document has {answer.pages} pages; there is no page {ask.page}."
                )
            if answer.failure:
                raise EagleError(
                    "This page cannot be drawn: its file is damaged.", code=ErrorCode.PARSE_FAILED
                )
            self._cache.put(ask, answer)
        return answer


class _Cache:
    """The latest answers, up to so many bytes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._answers: OrderedDict[Ask, Answer] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, ask: Ask) -> Answer | None:
        with self._lock:
            answer = self._answers.get(ask)
            if answer is not None:
                self._answers.move_to_end(ask)
            return answer

    def put(self, ask: Ask, answer: Answer) -> None:
        with self._lock:
            if ask in self._answers:
                return
            self._answers[ask] = answer
            self._size += _size(answer)
            while self._size > self._most:
                _, oldest = self._answers.popitem(last=False)
                self._size -= _size(oldest)


def _size(answer: Answer) -> int:
    return len(answer.image) + _CACHED_WORD_BYTES * len(answer.words) + _CACHED_WORD_BYTES


def _with_margin(box: Box) -> Box:
    return Box.of(box.x0 - _MARGIN, box.y0 - _MARGIN, box.x1 + _MARGIN, box.y1 + _MARGIN)


def _check_range(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise InvalidArgument(f"{name} must be between {least} and {most}.")
