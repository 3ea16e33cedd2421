"""What failures of any route are answered with."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Match

from eagle_rag_core.api.rest.problems import HttpCode, ProblemError, invalid, model_in
from eagle_rag_core.api.serving.bodies import BodyRefused
from eagle_rag_core.api.tracing import trace_of
from eagle_rag_core.errors import EagleError, ErrorCode
from eagle_rag_core.telemetry.tracing import tracing

_LOG = logging.getLogger(__name__)

_HTTP_DETAILS: Final[Mapping[str, str]] = {
    HttpCode.ROUTE_NOT_FOUND: "There is nothing at this path; /openapi.json names what there is.",
    HttpCode.METHOD_NOT_ALLOWED: "This path does not take this method; the header Allow names "
    "those it takes.",
}
#: Codes of what Starlette itself refuses.
_HTTP_CODES: Final[Mapping[int, str]] = {
    400: HttpCode.MALFORMED_REQUEST,
    401: ErrorCode.UNAUTHENTICATED,
    403: ErrorCode.FORBIDDEN,
    404: HttpCode.ROUTE_NOT_FOUND,
    405: HttpCode.METHOD_NOT_ALLOWED,
    413: HttpCode.REQUEST_TOO_LARGE,
    415: HttpCode.UNSUPPORTED_MEDIA_TYPE,
}


def handle_failures(api: FastAPI) -> None:
    """Answer every failure with a problem."""
    api.add_exception_handler(ProblemError, on_problem)
    api.add_exception_handler(EagleError, on_error)
    api.add_exception_handler(RequestValidationError, on_invalid)
    api.add_exception_handler(HTTPException, on_http)
    api.add_exception_handler(Exception, on_crash)


async def on_problem(_request: Request, error: Exception) -> JSONResponse:
    """Answer a :class:`ProblemError`."""
    assert isinstance(error, ProblemError)
    return error.response()


async def on_error(_request: Request, error: Exception) -> JSONResponse:
    """Answer an error of ours that no call turned into an outcome."""
    assert isinstance(error, EagleError)
    return ProblemError.of_error(error).response()


async def on_invalid(request: Request, error: Exception) -> JSONResponse:
    """Answer a request whose path or query is wrong."""
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    where = str(found[0]["loc"][0])
    here = [{**one, "loc": one["loc"][1:]} for one in found if one["loc"][0] == where]
    return invalid(here, _query_model(request), where).response()


def _query_model(request: Request) -> type[BaseModel] | None:
    """What the route of a request takes in the query, if that is a model."""
    dependant = getattr(request.scope.get("route"), "dependant", None)
    fields = dependant.query_params if dependant is not None else ()
    return next(filter(None, (model_in(field.field_info.annotation) for field in fields)), None)


async def on_http(request: Request, error: Exception) -> JSONResponse:
    """Answer what Starlette refuses."""
    assert isinstance(error, HTTPException)
    code = _HTTP_CODES.get(error.status_code, ErrorCode.INTERNAL)
    headers = dict(error.headers or {})
    if code == HttpCode.METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(_allowed(request))
    detail = _HTTP_DETAILS.get(code, f"{HTTPStatus(error.status_code).phrase}.")
    return ProblemError(code, detail, headers=headers).response()


def _allowed(request: Request) -> list[str]:
    """The methods of all routes at a path; Starlette names those of the first."""
    return sorted(
        method
        for route in request.app.routes
        if route.matches(request.scope)[0] is Match.PARTIAL
        for method in getattr(route, "methods", None) or ()
    )


async def on_crash(request: Request, error: Exception) -> JSONResponse:
    """Answer an exception nobody expected; its text goes to the log."""
    with tracing(trace_of(request)):  # this runs outside of all middleware
        if not isinstance(error, BodyRefused):  # which is answered further out
            _LOG.error("Unexpected failure of %s", request.url.path, exc_info=error)
        return ProblemError(ErrorCode.INTERNAL, "An unexpected failure; the log has it.").response()
