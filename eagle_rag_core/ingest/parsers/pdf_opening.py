"""Opens a PDF by liteparse within limits, and turns its failures into reasons."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from eagle_rag_core.errors import IngestError
from eagle_rag_core.ingest.parsers.failures import parse_failed
from eagle_rag_core.ingest.parsers.pdf_pictures import page_sizes

if TYPE_CHECKING:
    from liteparse import LiteParse, ParseResult
    from liteparse.types import ParsedPage

logger = logging.getLogger(__name__)

#: Square points. The largest page that PDF programs make (14,400 points square) is a hundredth of
#: it; the layout analysis takes memory by the area.
_MAX_AREA: Final = 2e10
_QUARTER: Final = 90


def open_pdf(data: bytes, name: str, max_pages: int) -> ParseResult:
    """Parse all pages; those that can be read at all are in the result, with upright text.

    :param data: begins with the signature.
    :raises IngestError: no page can be read, or there are too many, or one is too large.
    """
    _check_limits(page_sizes(data), name, max_pages)
    with _failures_named(data, name):
        result = _liteparse(max_pages=max_pages).parse(data)
        if result.total_pages > max_pages:
            raise _too_many(name, result.total_pages, max_pages)
        _turn_upright(data, result)
    if not result.pages:
        raise parse_failed(name, "is damaged: none of its pages can be read.")
    return result


def _check_limits(sizes: Sequence[tuple[float, float]], name: str, max_pages: int) -> None:
    if len(sizes) > max_pages:
        raise _too_many(name, len(sizes), max_pages)
    for number, (width, height) in enumerate(sizes, start=1):
        if width * height > _MAX_AREA:
            raise parse_failed(
                name,
                f"has a page that is {width:,.0f} by {height:,.0f} points large (page {number}), "
                "as no page is; it is refused.",
            )


def _too_many(name: str, pages: int, max_pages: int) -> IngestError:
    return parse_failed(
        name,
        f"has {pages:,} pages, more than the {max_pages:,} that one document may have "
        "(ingest.max_pages); split it.",
    )


def _liteparse(**options: Any) -> LiteParse:
    from liteparse import LiteParse

    return LiteParse(
        ocr_enabled=False,
        quiet=True,
        continue_on_page_error=True,
        # It would strip "Chapter 1", "Chapter 2" from the tops of pages for running heads.
        keep_headers_footers=True,
        extract_blocks=True,
        extract_text_metadata=True,
        extract_document_metadata=True,
        extract_links=False,
        image_mode="off",
        include_complexity=True,
        **options,
    )


def _turn_upright(data: bytes, result: ParseResult) -> None:
    """Parse pages whose text runs up, down or on its head once more, turned.

    Wide tables are often printed like that; the layout analysis drops all of their text.
    """
    turned = {page.page_num: turn for page in result.pages if (turn := turn_of(page))}
    if not turned:
        return
    again = _liteparse(
        target_pages=",".join(map(str, turned)), page_orientation_corrections=list(turned.items())
    ).parse(data)
    upright = {page.page_num: page for page in again.pages}
    result.pages = [upright.get(page.page_num, page) for page in result.pages]


def turn_of(page: ParsedPage) -> int:
    """By how many degrees, clockwise, most of a page's text is turned: 0, 90, 180 or 270."""
    characters: Counter[int] = Counter()
    for item in page.text_items:
        characters[round(item.rotation / _QUARTER) * _QUARTER % 360] += len(item.text)
    turn, count = max(characters.items(), key=lambda entry: entry[1], default=(0, 0))
    return turn if count * 2 > characters.total() else 0


@contextmanager
def _failures_named(data: bytes, name: str) -> Iterator[None]:
    """Turn the errors of the library into ours."""
    from liteparse import ParseError

    try:
        yield
    except ParseError as error:
        logger.info("a PDF cannot be read: %s", error)
        raise parse_failed(name, _reason(str(error), data)) from error


def _reason(error: str, data: bytes) -> str:
    if "password" in error.lower():
        return "is protected by a password; save a copy without one and ingest that."
    if b"%%EOF" not in data[-2048:]:
        return "is cut off: the end of the PDF is missing. Fetch or copy the file again."
    return "is a damaged PDF or has no pages; open and save it anew in a PDF program."
