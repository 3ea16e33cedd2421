"""``/admin``: what only administrators see. Who that is, the gate in front of all routes says."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse
from pydantic import AwareDatetime, Field
from typing_extensions import TypedDict

from eagle_rag_core.api.rest.calling import CallerOf, Rest
from eagle_rag_core.api.rest.inputs import Page
from eagle_rag_core.api.rest.openapi import answers
from eagle_rag_core.errors import EagleError, ErrorCode, InvalidArgument
from eagle_rag_core.telemetry.call_query import CallQuery
from eagle_rag_core.tools import results as r

_CALL: Final = {
    "at": "2026-03-01T09:30:00.000000Z",
    "tool": "core_query",
    "caller": "research",
    "face": "mcp-http",
    "arguments": {"query": "What do sea otters eat?"},
    "outcome": "ok",
    "latency_ms": 12.4,
    "cache_hit": False,
    "summary": "answer, sources, route, steps",
    "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
}
_Name = Annotated[str, Field(max_length=128)]
_Moment = Annotated[AwareDatetime | None, Field(description="ISO 8601 with its zone.")]


class CallItem(TypedDict):
    at: Annotated[str, Field(description="Its end, ISO 8601 UTC.")]
    tool: Annotated[str, Field(description="Name of the tool, or of the operation over REST.")]
    caller: Annotated[str, Field(description="Who made it.")]
    face: Annotated[str, Field(description="mcp-http, mcp-stdio, rest, http, …")]
    arguments: Annotated[
        dict[str, Any], Field(description="Without secrets, and cut where they are long.")
    ]
    outcome: Annotated[str, Field(description="ok, or the code of the error.")]
    latency_ms: Annotated[float, Field(description="How long it took.")]
    cache_hit: Annotated[bool, Field(description="The answer was there already.")]
    summary: Annotated[str, Field(description="Size of the result, never its text.")]
    trace_id: Annotated[str, Field(description="Of its trace, which the log names, too.")]


class CallPage(TypedDict):
    items: Annotated[list[CallItem], Field(description="The newest first.")]
    next_cursor: r.NextCursor


class CallListing(Page):
    """Which calls to list."""

    tool: Annotated[_Name, Field(description="Only calls of this tool or operation.")] = ""
    caller: Annotated[_Name, Field(description="Only calls by this caller.")] = ""
    face: Annotated[_Name, Field(description="Only calls that came in this way.")] = ""
    outcome: Annotated[
        _Name, Field(description="ok, the code of an error, or error for all of them.")
    ] = ""
    trace_id: Annotated[_Name, Field(description="Only calls of this trace.")] = ""
    since: _Moment = None
    until: _Moment = None
    cache_hit: Annotated[bool | None, Field(description="Whether the cache answered.")] = None


def admin_router(rest: Rest) -> APIRouter:
    router = APIRouter(tags=["admin"])

    @router.get(
        "/admin/mcp",
        operation_id="listCalls",
        summary="List calls",
        response_model=CallPage,
        responses=answers(
            {"items": [_CALL], "next_cursor": ""},
            ErrorCode.FORBIDDEN,
            ErrorCode.INVALID_ARGUMENT,
            ErrorCode.MODE_UNAVAILABLE,
        ),
    )
    async def list_calls(
        listing: Annotated[CallListing, Query()], caller: CallerOf
    ) -> JSONResponse:
        """Everybody's, over MCP and REST, and tokens that were refused. All processes of the
        home write to one log."""
        log = rest.app.call_log
        if log is None:
            raise EagleError(
                "This deployment keeps no log of calls (telemetry.call_log is off).",
                code=ErrorCode.MODE_UNAVAILABLE,
            )
        found, last = await rest.perform(
            "list_calls",
            lambda _services, _who: log.page(
                _query(listing), limit=listing.limit, before=_before(listing.cursor)
            ),
            caller,
            arguments=listing.model_dump(mode="json", exclude_unset=True),
        )
        items = [_item(record) for record in found]
        return JSONResponse({"items": items, "next_cursor": str(last) if last else ""})

    return router


def _query(listing: CallListing) -> CallQuery:
    return CallQuery(
        tool=listing.tool,
        caller=listing.caller,
        face=listing.face,
        outcome=listing.outcome,
        trace_id=listing.trace_id,
        since=listing.since.timestamp() if listing.since else None,
        until=listing.until.timestamp() if listing.until else None,
        cache_hit=listing.cache_hit,
    )


def _before(cursor: str) -> int:
    """Where a page begins.

    :raises InvalidArgument: the cursor is none of ours.
    """
    if not cursor:
        return 0
    if cursor.isascii() and cursor.isdigit() and len(cursor) < 19 and int(cursor):
        return int(cursor)
    raise InvalidArgument(
        "cursor is not one this server gave out; pass next_cursor of the page before unchanged, "
        "or leave it out to begin again."
    )


def _item(record: dict[str, Any]) -> dict[str, Any]:
    at = datetime.fromtimestamp(record["at"], UTC)
    shown = {name: record[name] for name in CallItem.__annotations__}
    return {**shown, "at": at.isoformat(timespec="microseconds").replace("+00:00", "Z")}
