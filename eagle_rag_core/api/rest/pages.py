"""``/documents/{id}/pages`` and ``/images``: pages and regions of them as pictures."""

from __future__ import annotations

import hashlib
import re
from typing import Annotated, Final

from fastapi import APIRouter, Header, Path, Query, Response
from pydantic import Field, StringConstraints

from eagle_rag_core.api.rest.bodies import Parameters
from eagle_rag_core.api.rest.calling import CallerOf, Rest
from eagle_rag_core.api.rest.inputs import DocumentIdPath
from eagle_rag_core.api.rest.openapi import answers
from eagle_rag_core.api.rest.problems import ProblemError
from eagle_rag_core.errors import ErrorCode
from eagle_rag_core.service import Services
from eagle_rag_core.types import Box, Caller

_PNG: Final = "image/png"
_RANGE: Final = r"^\d{1,9}-\d{1,9}$"
_HEADERS: Final = {
    "Cache-Control": "private, no-cache",
    "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
_PROBLEMS: Final = (
    ErrorCode.INVALID_ARGUMENT,
    ErrorCode.DOCUMENT_NOT_FOUND,
    ErrorCode.MODE_UNAVAILABLE,
    ErrorCode.PARSE_FAILED,
)

Known = Annotated[
    str, Header(alias="if-none-match", max_length=1000, description="An ETag you have it of.")
]


class Size(Parameters):
    """How large a picture is wanted."""

    width: Annotated[
        int, Field(ge=32, le=4000, description="Pixels of the width of the whole page.")
    ] = 1200


class PageView(Size):
    """How a page is wanted."""

    highlight: Annotated[
        tuple[Annotated[str, StringConstraints(pattern=_RANGE, max_length=19)], ...],
        Field(
            max_length=20,
            description="Parts of the text to mark, as start-end: offsets that hits have.",
            examples=[["120-180"]],
        ),
    ] = ()


def pages_router(rest: Rest) -> APIRouter:
    router = APIRouter(tags=["documents"])

    @router.get(
        "/documents/{document_id}/pages/{page}.png",
        operation_id="getPageImage",
        summary="A page as an image",
        response_class=Response,
        responses=_answers("The page as it is displayed."),
    )
    async def get_page_image(
        document_id: DocumentIdPath,
        page: Annotated[
            int, Path(ge=1, le=1_000_000, description="Number of the page, from 1.", examples=[1])
        ],
        view: Annotated[PageView, Query()],
        caller: CallerOf,
        known: Known = "",
    ) -> Response:
        """Pages of PDF documents and of pictures, and of Office and web documents where the
        deployment makes them; others have none that can be shown."""

        def draw(services: Services, who: Caller) -> bytes:
            marks = _marks(services, who, document_id, page, view.highlight)
            return services.pages.image(who, document_id, page, width=view.width, highlight=marks)

        arguments = {"document_id": document_id, "page": page, **view.model_dump()}
        return _picture(
            await rest.perform("get_page_image", draw, caller, arguments=arguments), known
        )

    @router.get(
        "/images/{image_id}.png",
        operation_id="getImage",
        summary="A figure, table or region as an image",
        response_class=Response,
        responses=_answers("The region, with a little of the page around it."),
    )
    async def get_image(
        image_id: Annotated[
            str,
            Path(
                max_length=64,
                description="Of a visual hit.",
                examples=["45632fbd8a90c96785e06ea485144338"],
            ),
        ],
        size: Annotated[Size, Query()],
        caller: CallerOf,
        known: Known = "",
    ) -> Response:
        """A part of a page, or a picture inside a document. Tables of documents without pages have
        a text and no image."""
        return _picture(
            await rest.perform(
                "get_image",
                lambda services, who: services.pages.tile(who, image_id, width=size.width),
                caller,
                arguments={"image_id": image_id, "width": size.width},
            ),
            known,
        )

    return router


def _answers(description: str) -> dict[int | str, dict[str, object]]:
    return {
        **answers(
            "(bytes of the image)",
            *_PROBLEMS,
            media_type=_PNG,
            description=description,
            headers={"ETag": "Of its content."},
        ),
        304: {"description": "It has not changed."},
    }


def _marks(
    services: Services, caller: Caller, document_id: str, page: int, parts: tuple[str, ...]
) -> list[Box]:
    """The places on a page of parts of the text."""
    found: list[Box] = []
    for part in parts:
        if not re.fullmatch(_RANGE, part):
            raise ProblemError(
                ErrorCode.INVALID_ARGUMENT, "query.highlight: write each part as start-end."
            )
        start, end = map(int, part.split("-"))
        boxes = services.pages.boxes(caller, document_id, start, end)
        found += (box for number, box in boxes if number == page)
    return found


def _picture(data: bytes, known: str) -> Response:
    etag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
    headers = {**_HEADERS, "ETag": etag}
    if etag in known:
        return Response(status_code=304, headers=headers)
    return Response(data, media_type=_PNG, headers=headers)
