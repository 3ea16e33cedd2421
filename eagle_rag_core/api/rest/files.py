"""``/documents/{id}/file``: the original, so that no browser runs what is in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Annotated, Final
from urllib.parse import quote

from fastapi import APIRouter, Header, Response
from fastapi.responses import StreamingResponse

from eagle_rag_core.api.rest.calling import CallerOf, Rest
from eagle_rag_core.api.rest.inputs import DocumentIdPath
from eagle_rag_core.api.rest.openapi import answers
from eagle_rag_core.errors import ErrorCode
from eagle_rag_core.service import Services
from eagle_rag_core.types import Caller

if TYPE_CHECKING:
    from eagle_rag_core.service.files import DocumentFile

#: What a browser may show in place: it runs nothing in them.
_SHOWN: Final = frozenset(
    {"application/pdf", "text/plain", "image/gif", "image/jpeg", "image/png", "image/webp"}
)
_MEDIA_TYPE: Final = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*")
_UNKNOWN: Final = "application/octet-stream"
_PIECE: Final = 1 << 18
#: Should something be shown after all: in an origin of its own, without scripts and requests.
_POLICY: Final = "sandbox; default-src 'none'; frame-ancestors 'none'"


def files_router(rest: Rest) -> APIRouter:
    router = APIRouter(tags=["documents"])

    @router.get(
        "/documents/{document_id}/file",
        operation_id="getFile",
        summary="The original file",
        response_class=Response,
        responses={
            **answers(
                "(bytes of the file)",
                ErrorCode.DOCUMENT_NOT_FOUND,
                ErrorCode.SOURCE_NOT_FOUND,
                media_type="*/*",
                description="The bytes as they were taken in, with the type of the document.",
                headers={"Content-Disposition": "Name of the file.", "ETag": "Of its content."},
            ),
            304: {"description": "It has not changed."},
        },
    )
    async def get_file(
        document_id: DocumentIdPath,
        caller: CallerOf,
        if_none_match: Annotated[
            str, Header(max_length=1000, description="An ETag you have the file of.")
        ] = "",
    ) -> Response:
        """What could run in a browser (HTML, SVG and the like) is sent as an attachment."""

        def find(services: Services, who: Caller) -> tuple[DocumentFile, IO[bytes] | None]:
            found = services.files.describe(who, document_id)
            known = etag_of(found) in if_none_match
            return found, None if known else services.files.open(found)

        file, stream = await rest.perform(
            "get_file", find, caller, arguments={"document_id": document_id}
        )
        headers = headers_of(file)
        if stream is None:
            return Response(status_code=304, headers=headers)
        # Set here: Starlette would claim that every text is UTF-8.
        headers |= {"Content-Length": str(file.size), "Content-Type": type_of(file)}
        return StreamingResponse(_pieces(stream), headers=headers)

    return router


def etag_of(file: DocumentFile) -> str:
    """Entity tag of a file."""
    return f'"{file.content_hash}"'


def type_of(file: DocumentFile) -> str:
    """The media type, if it is one that can stand in a header."""
    return file.media_type if _MEDIA_TYPE.fullmatch(file.media_type) else _UNKNOWN


def headers_of(file: DocumentFile) -> dict[str, str]:
    """What surrounds the bytes of a file."""
    kind = "inline" if type_of(file) in _SHOWN else "attachment"
    return {
        "Content-Disposition": f"{kind}; {_named(file.name or 'document')}",
        "Content-Security-Policy": _POLICY,
        "Cross-Origin-Resource-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "private, no-cache",
        "ETag": etag_of(file),
    }


def _named(name: str) -> str:
    """A file name for every client: in ASCII, and as it is (RFC 6266, RFC 8187)."""
    plain = re.sub(r"[^A-Za-z0-9 ._()+-]", "_", name)
    return f"filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='', errors='replace')}"


def _pieces(stream: IO[bytes]) -> Iterator[bytes]:
    with stream:
        while piece := stream.read(_PIECE):
            yield piece
