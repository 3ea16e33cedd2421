"""The pictures that go with an answer: of the regions and pages that its hits are on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from eagle_rag_core.errors import CallTimeout, EagleError
from eagle_rag_core.types import Picture, current_caller

if TYPE_CHECKING:
    from eagle_rag_core.service.pages import PageService
    from eagle_rag_core.tools.parameters import ServicesOf

_LOG = logging.getLogger(__name__)
#: Clients keep pictures in the context of a model, where each costs about a thousand tokens.
MAX_PICTURES: Final = 5
#: All pictures of an answer together; in base64 a third more.
MAX_BYTES: Final = 1_500_000
#: Pixels of the width of a whole page; the second one where the first takes too much.
_WIDTHS: Final = (1000, 500)
_JPEG: Final = "image/jpeg"
_Draw = Callable[[int], bytes]


def illustrate(services: ServicesOf, payload: Any) -> tuple[Picture, ...]:
    """Pictures for the hits of an answer, best first, each once, as many as fit.

    A hit without a picture, or whose picture cannot be drawn, goes without.

    :param payload: hits of core_retrieve_text or core_retrieve_visual, as JSON.
    """
    pictures: list[Picture] = []
    left = MAX_BYTES
    for label, draw in _wanted(services().pages, payload):
        if len(pictures) == MAX_PICTURES:
            break
        data = _drawn(draw, left)
        if data:
            left -= len(data)
            pictures.append(Picture(label, data, _JPEG))
    return tuple(pictures)


def _wanted(pages: PageService, payload: Any) -> Iterator[tuple[str, _Draw]]:
    seen: set[tuple[str, int]] = set()
    for rank, hit in enumerate(payload, 1):
        key, what, draw = _picture_of(pages, hit)
        if key not in seen:
            seen.add(key)
            yield f"Hit {rank}: {what}", draw


def _picture_of(pages: PageService, hit: Mapping[str, Any]) -> tuple[tuple[str, int], str, _Draw]:
    """What identifies the picture of a hit, what it shows, and how it is drawn."""
    caller = current_caller()
    if image_id := hit.get("image_id"):

        def tile(width: int) -> bytes:
            return pages.tile(caller, image_id, width=width, format="jpeg")

        return (image_id, 0), f"{hit['kind']} {image_id}, page {hit['page']}", tile
    document_id, page = hit["metadata"]["document_id"], hit["metadata"]["page"]

    def whole(width: int) -> bytes:
        return pages.image(caller, document_id, page, width=width, format="jpeg") if page else b""

    return (document_id, page), f"document {document_id}, page {page}", whole


def _drawn(draw: _Draw, most: int) -> bytes:
    """The picture, smaller if need be; nothing where there is none that fits."""
    for width in _WIDTHS:
        try:
            data = draw(width)
        except CallTimeout:
            raise
        except EagleError as error:
            _LOG.info("a hit goes without its picture: %s", error.message)
            return b""
        if len(data) <= most:
            return data
    return b""
