"""``/query``: answers with citations, at once or as they are made."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse
from pydantic import Field

from eagle_rag_core.api.rest.bodies import json_body
from eagle_rag_core.api.rest.calling import CallerOf, Rest
from eagle_rag_core.api.rest.events import EventStream, event, with_heartbeats
from eagle_rag_core.api.rest.inputs import Scoped, Text, given, scope_request
from eagle_rag_core.api.rest.openapi import answers, body
from eagle_rag_core.api.rest.problems import HttpCode, ProblemError
from eagle_rag_core.api.rest.shapes import ANSWER, SOURCE, STEP
from eagle_rag_core.errors import EagleError, ErrorCode
from eagle_rag_core.query.answer import Source
from eagle_rag_core.service import Services
from eagle_rag_core.tools import parameters as p
from eagle_rag_core.tools import results as r
from eagle_rag_core.types import Caller, Step

#: A failure within so many seconds gets a status of its own instead of an event.
_EARLY_SECONDS: Final = 1.0
_EXAMPLE: Final = {"query": "What do sea otters eat?", "kb_name": "biology"}
_EVENTS: Final = "".join(
    event(name, data).decode()
    for name, data in (
        ("step", STEP),
        ("source", SOURCE),
        ("token", {"text": "Sea otters eat urchins. [1]"}),
        ("done", ANSWER),
    )
)
_PROBLEMS: Final = (
    HttpCode.MALFORMED_REQUEST,
    HttpCode.UNSUPPORTED_MEDIA_TYPE,
    ErrorCode.INVALID_ARGUMENT,
    ErrorCode.UNKNOWN_ARGUMENT,
    ErrorCode.MODE_UNAVAILABLE,
    ErrorCode.KB_NOT_FOUND,
)


class QueryRequest(Scoped):
    """A question, and where to look for its answer."""

    query: Text
    mode: Annotated[
        Literal["auto", "text", "visual", "hybrid"],
        Field(description="auto chooses; text and visual force one kind of evidence."),
    ] = "auto"


def query_router(rest: Rest) -> APIRouter:
    router = APIRouter(tags=["search"])
    asked = body(QueryRequest, _EXAMPLE)

    @router.post(
        "/query",
        operation_id="query",
        summary="Answer a question",
        response_model=r.QueryResult,
        responses=answers(ANSWER, *_PROBLEMS),
        openapi_extra=asked,
    )
    async def query(
        request: Annotated[QueryRequest, Depends(json_body(QueryRequest))], caller: CallerOf
    ) -> JSONResponse:
        """An answer from the documents with numbered sources; it says so when nothing relevant is
        found. The same as `core_query`."""
        return JSONResponse(await rest.call("core_query", given(request), caller))

    @router.post(
        "/query/stream",
        operation_id="streamQuery",
        summary="Answer a question, as the answer is made",
        response_class=EventStream,
        status_code=200,
        responses=answers(
            _EVENTS, *_PROBLEMS, ErrorCode.OVERLOADED, media_type=EventStream.media_type
        ),
        openapi_extra=asked,
    )
    async def stream(
        request: Annotated[QueryRequest, Depends(json_body(QueryRequest))], caller: CallerOf
    ) -> EventStream:
        """Server-sent events: `step` when one ends, `token` with a piece of the answer's text,
        `source` with a citation as soon as it is certain, then `done` with the whole answer as
        `/query` gives it; or `error` with a problem."""
        rest.streams.check()
        answering = _Answering(rest, request, caller)
        await answering.begin()
        return EventStream(with_heartbeats(_counted(rest, answering)))

    return router


async def _counted(rest: Rest, answering: _Answering) -> AsyncIterator[bytes]:
    with rest.streams.one_more():
        async for item in answering.events():
            yield item


class _Answering:
    """An answer that is being made in a thread, as events for whoever follows it."""

    def __init__(self, rest: Rest, request: QueryRequest, caller: Caller) -> None:
        self._rest = rest
        self._request = request
        self._loop = asyncio.get_running_loop()
        self._made: asyncio.Queue[bytes] = asyncio.Queue()
        self._gone = False
        self._work = asyncio.create_task(self._answer(caller))

    async def begin(self) -> None:
        """Wait for the first event, or a moment.

        :raises ProblemError: there is no answer.
        """
        try:
            await asyncio.wait([self._work], timeout=_EARLY_SECONDS)
            if self._work.done():
                self._work.result()
        except asyncio.CancelledError:
            self._gone = True
            raise

    async def events(self) -> AsyncIterator[bytes]:
        """What happens, to the end. When the reader goes away the answer is given up."""
        try:
            while not (self._work.done() and self._made.empty()):
                taking = asyncio.ensure_future(self._made.get())
                try:
                    await asyncio.wait([taking, self._work], return_when=asyncio.FIRST_COMPLETED)
                finally:
                    if not taking.done():
                        taking.cancel()
                if taking.done() and not taking.cancelled():
                    yield taking.result()
            for item in self._end():
                yield item
        finally:
            self._gone = True

    def _end(self) -> list[bytes]:
        try:
            result = self._work.result()
        except ProblemError as error:
            return [event("error", error.logged().model_dump())]
        return [event("done", result)]

    async def _answer(self, caller: Caller) -> Any:
        return await self._rest.perform(
            "stream_query", self._run, caller, arguments=given(self._request)
        )

    def _run(self, services: Services, caller: Caller) -> r.QueryResult:
        answer = services.answer.answer(
            caller,
            p.words(self._request.query),
            mode=self._request.mode,
            request=scope_request(self._request),
            listener=self._hear,
        )
        return r.query_result(answer)

    def _hear(self, part: str | Source | Step) -> None:
        """Called in the thread that makes the answer."""
        if self._gone:
            raise EagleError("Nobody waits for the answer any more.", code=ErrorCode.CANCELLED)
        if isinstance(part, str):
            item = event("token", {"text": part})
        elif isinstance(part, Step):
            item = event("step", r.step_result(part))
        else:
            item = event("source", r.source_result(part))
        self._loop.call_soon_threadsafe(self._made.put_nowait, item)
