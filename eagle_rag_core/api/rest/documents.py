"""``/documents``: reading, describing and deleting documents."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Response
from fastapi.responses import JSONResponse
from pydantic import Field, StringConstraints

from eagle_rag_core.api.rest.bodies import Body, json_body
from eagle_rag_core.api.rest.calling import CallerOf, Rest
from eagle_rag_core.api.rest.inputs import DocumentIdPath, Listing, Tags, Title
from eagle_rag_core.api.rest.openapi import answers, body
from eagle_rag_core.api.rest.problems import HttpCode, ProblemError
from eagle_rag_core.api.rest.shapes import (
    DOCUMENT,
    DOCUMENT_ITEM,
    DocumentRecord,
    document_record,
)
from eagle_rag_core.errors import ErrorCode
from eagle_rag_core.service import Services
from eagle_rag_core.tools import results as r
from eagle_rag_core.types import Caller

_CHANGE: Final = {"title": "Sea otters", "tags": ["mammals"], "metadata": {"year": "2024"}}


class DocumentChange(Body):
    """What is to change of a document; what is left out stays."""

    title: Title | None = None
    tags: Tags | None = None
    metadata: Annotated[
        dict[str, Annotated[str, StringConstraints(max_length=2000)] | None] | None,
        Field(max_length=50, description="Values by key; null removes a key, others stay."),
    ] = None


def documents_router(rest: Rest) -> APIRouter:
    router = APIRouter(tags=["documents"])

    @router.get(
        "/documents",
        operation_id="listDocuments",
        summary="List documents",
        response_model=r.DocumentPage,
        responses=answers(
            {"items": [DOCUMENT_ITEM], "next_cursor": ""},
            ErrorCode.KB_NOT_FOUND,
            ErrorCode.INVALID_ARGUMENT,
        ),
    )
    async def list_documents(listing: Listing, caller: CallerOf) -> JSONResponse:
        """The last changed first. The same as `core_list_documents`."""
        arguments = {
            "kb_name": listing.kb_name,
            "filter": listing.conditions,
            "limit": listing.limit,
            "cursor": listing.cursor,
        }
        return JSONResponse(await rest.call("core_list_documents", arguments, caller))

    @router.get(
        "/documents/{document_id}",
        operation_id="getDocument",
        summary="Describe a document",
        response_model=DocumentRecord,
        responses=answers(DOCUMENT, ErrorCode.DOCUMENT_NOT_FOUND),
    )
    async def get_document(document_id: DocumentIdPath, caller: CallerOf) -> JSONResponse:
        """What is known of it; its text is at `/documents/{document_id}/text`."""
        return JSONResponse(
            await rest.perform(
                "get_document",
                lambda services, who: document_record(services.documents.get(who, document_id)),
                caller,
                arguments={"document_id": document_id},
            )
        )

    @router.patch(
        "/documents/{document_id}",
        operation_id="changeDocument",
        summary="Change title, tags or metadata",
        response_model=DocumentRecord,
        responses=answers(
            DOCUMENT,
            HttpCode.MALFORMED_REQUEST,
            HttpCode.UNSUPPORTED_MEDIA_TYPE,
            ErrorCode.INVALID_ARGUMENT,
            ErrorCode.UNKNOWN_ARGUMENT,
            ErrorCode.DOCUMENT_NOT_FOUND,
            ErrorCode.FORBIDDEN,
        ),
        openapi_extra=body(DocumentChange, _CHANGE),
        dependencies=[Depends(rest.check_writable)],
    )
    async def change_document(
        document_id: DocumentIdPath,
        change: Annotated[DocumentChange, Depends(json_body(DocumentChange))],
        caller: CallerOf,
    ) -> JSONResponse:
        """Readers and filters see it at once; for a new title a job makes the document anew, so
        that it is found by these words. What a later ingest of the source says counts again."""

        def run(services: Services, who: Caller) -> Any:
            from eagle_rag_core.catalog.descriptions import DescriptionChange

            services.descriptions.change(
                who,
                document_id,
                DescriptionChange(title=change.title, tags=change.tags, metadata=change.metadata),
            )
            return document_record(services.documents.get(who, document_id))

        arguments = {"document_id": document_id, **change.model_dump(exclude_unset=True)}
        return JSONResponse(
            await rest.perform("change_document", run, caller, arguments=arguments, reads=False)
        )

    @router.delete(
        "/documents/{document_id}",
        operation_id="deleteDocument",
        summary="Delete a document",
        status_code=204,
        responses={
            204: {"description": "It is gone."},
            **_problems_of_deletion(),
        },
        dependencies=[Depends(rest.check_writable)],
    )
    async def delete_document(document_id: DocumentIdPath, caller: CallerOf) -> Response:
        """With all that was made of it, and its original unless another document has the same."""
        found = await rest.perform(
            "delete_document",
            lambda services, who: services.documents.delete(who, document_id),
            caller,
            arguments={"document_id": document_id},
            reads=False,
        )
        if not found:
            raise ProblemError(
                ErrorCode.DOCUMENT_NOT_FOUND,
                "There is no such document that you may delete; the list of documents names "
                "those you may.",
            )
        return Response(status_code=204)

    return router


def _problems_of_deletion() -> dict[int | str, dict[str, Any]]:
    found = answers(None, ErrorCode.DOCUMENT_NOT_FOUND, ErrorCode.FORBIDDEN)
    del found[200]
    return found
