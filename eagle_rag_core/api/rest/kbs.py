"""``/kbs`` and ``/tags``: knowledge bases and what their documents are tagged with."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query
from fastapi.responses import JSONResponse
from pydantic import Field

from eagle_rag_core.api.rest.bodies import Body, json_body
from eagle_rag_core.api.rest.calling import CallerOf, Rest
from eagle_rag_core.api.rest.inputs import KbName, KbNamePath, Page
from eagle_rag_core.api.rest.openapi import answers, body
from eagle_rag_core.api.rest.problems import HttpCode
from eagle_rag_core.api.rest.shapes import (
    KB,
    KB_RECORD,
    KbDeleted,
    KbDetails,
    KbRecords,
    TagPage,
    kb_details,
    kb_record,
)
from eagle_rag_core.errors import ErrorCode, InvalidArgument
from eagle_rag_core.service import Services
from eagle_rag_core.types import Caller

#: Seconds to delete what is in a knowledge base.
_DELETION_SECONDS: Final = 600.0
_BODY_PROBLEMS: Final = (
    HttpCode.MALFORMED_REQUEST,
    HttpCode.UNSUPPORTED_MEDIA_TYPE,
    ErrorCode.INVALID_ARGUMENT,
    ErrorCode.UNKNOWN_ARGUMENT,
    ErrorCode.KB_NOT_FOUND,
    ErrorCode.FORBIDDEN,
)

_Name = Annotated[
    str,
    Field(
        pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$",
        description="1 to 64 of a-z, 0-9, - and _, beginning with a letter or digit.",
    ),
]
_Title = Annotated[str, Field(max_length=500, description="For people.")]
_Description = Annotated[
    str, Field(max_length=2000, description="What is in it, for those who choose by it.")
]


class NewKb(Body):
    """A knowledge base to be created."""

    name: _Name
    title: _Title = ""
    description: _Description = ""


class KbChange(Body):
    """What is to change of a knowledge base; what is left out stays."""

    name: _Name | None = None
    title: _Title | None = None
    description: _Description | None = None


class TagListing(Page):
    """Which tags to list."""

    kb_name: KbName = ""


def kbs_router(rest: Rest) -> APIRouter:
    router = APIRouter(tags=["knowledge bases"])

    @router.get(
        "/kbs",
        operation_id="listKbs",
        summary="List knowledge bases",
        response_model=KbRecords,
        responses=answers({"items": [KB_RECORD]}),
    )
    async def list_kbs(caller: CallerOf) -> JSONResponse:
        """Those you may read, by name, with their sizes and languages."""
        return JSONResponse(
            await rest.perform(
                "list_kbs",
                lambda services, who: {"items": [kb_record(kb) for kb in services.kbs.list(who)]},
                caller,
            )
        )

    @router.post(
        "/kbs",
        operation_id="createKb",
        summary="Create a knowledge base",
        status_code=201,
        response_model=KbDetails,
        responses=answers(KB, *_BODY_PROBLEMS, status=201, headers={"Location": "Where it is."}),
        openapi_extra=body(
            NewKb, {"name": "biology", "title": "Biology", "description": KB["description"]}
        ),
        dependencies=[Depends(rest.check_writable)],
    )
    async def create_kb(
        new: Annotated[NewKb, Depends(json_body(NewKb))], caller: CallerOf
    ) -> JSONResponse:
        """It is empty. An ingest that names one that does not exist creates it, too."""

        def run(services: Services, who: Caller) -> Any:
            services.kbs.create(who, new.name, title=new.title, description=new.description)
            return kb_details(services.kbs.stats(who, new.name))

        made = await rest.perform("create_kb", run, caller, arguments=new.model_dump(), reads=False)
        return JSONResponse(made, status_code=201, headers={"Location": f"/kbs/{new.name}"})

    @router.get(
        "/kbs/{kb_name}",
        operation_id="getKb",
        summary="Describe a knowledge base",
        response_model=KbDetails,
        responses=answers(KB, ErrorCode.KB_NOT_FOUND),
    )
    async def get_kb(kb_name: KbNamePath, caller: CallerOf) -> JSONResponse:
        """Its settings and what it holds."""
        return JSONResponse(
            await rest.perform(
                "get_kb",
                lambda services, who: kb_details(services.kbs.stats(who, kb_name)),
                caller,
                arguments={"kb_name": kb_name},
            )
        )

    @router.patch(
        "/kbs/{kb_name}",
        operation_id="changeKb",
        summary="Change a knowledge base",
        response_model=KbDetails,
        responses=answers(KB, *_BODY_PROBLEMS),
        openapi_extra=body(KbChange, {"title": "Biology"}),
        dependencies=[Depends(rest.check_writable)],
    )
    async def change_kb(
        kb_name: KbNamePath,
        change: Annotated[KbChange, Depends(json_body(KbChange))],
        caller: CallerOf,
    ) -> JSONResponse:
        """Its title, its description, or its name: documents and their ids stay."""

        def run(services: Services, who: Caller) -> Any:
            name = change.name or kb_name
            if name != kb_name:  # first, because it is what another name can refuse
                services.kbs.rename(who, kb_name, name)
            services.kbs.describe(who, name, title=change.title, description=change.description)
            return kb_details(services.kbs.stats(who, name))

        arguments = {"kb_name": kb_name, **change.model_dump(exclude_unset=True)}
        return JSONResponse(
            await rest.perform("change_kb", run, caller, arguments=arguments, reads=False)
        )

    @router.delete(
        "/kbs/{kb_name}",
        operation_id="deleteKb",
        summary="Delete a knowledge base",
        response_model=KbDeleted,
        responses=answers({"documents_deleted": 12}, ErrorCode.KB_NOT_FOUND, ErrorCode.FORBIDDEN),
        dependencies=[Depends(rest.check_writable)],
    )
    async def delete_kb(kb_name: KbNamePath, caller: CallerOf) -> JSONResponse:
        """With all that is in it. Nobody sees anything of it from the first moment on."""
        gone = await rest.perform(
            "delete_kb",
            lambda services, who: services.kbs.delete(who, kb_name),
            caller,
            arguments={"kb_name": kb_name},
            reads=False,
            seconds=_DELETION_SECONDS,
        )
        return JSONResponse({"documents_deleted": gone})

    @router.get(
        "/tags",
        operation_id="listTags",
        summary="List tags",
        response_model=TagPage,
        responses=answers(
            {"items": [{"tag": "mammals", "documents": 7}], "next_cursor": ""},
            ErrorCode.KB_NOT_FOUND,
            ErrorCode.INVALID_ARGUMENT,
        ),
    )
    async def list_tags(listing: Annotated[TagListing, Query()], caller: CallerOf) -> JSONResponse:
        """Those of the documents you may read, by name, with how many have them."""
        found, last = await rest.perform(
            "list_tags",
            lambda services, who: services.descriptions.tags(
                who, kb_name=listing.kb_name, limit=listing.limit, after=_after(listing.cursor)
            ),
            caller,
            arguments=listing.model_dump(exclude_unset=True),
        )
        items = [{"tag": tag, "documents": count} for tag, count in found]
        return JSONResponse({"items": items, "next_cursor": _cursor(last)})

    return router


def _cursor(last: str) -> str:
    """An opaque cursor behind a tag, "" at the end."""
    return base64.urlsafe_b64encode(last.encode()).decode().rstrip("=")


def _after(cursor: str) -> str:
    """The tag in a cursor.

    :raises InvalidArgument: it is none of ours.
    """
    try:
        tag = base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", True).decode()
        if "\0" not in tag:
            return tag
    except (ValueError, binascii.Error):
        pass
    raise InvalidArgument(
        "cursor is not one this server gave out; pass next_cursor of the page before unchanged, "
        "or leave it out to begin again."
    )
