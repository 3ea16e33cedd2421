"""Errors over HTTP: problem details (RFC 9457) with the codes that every face has.

Nothing of a request is repeated but names of fields, and nothing of a foreign exception at all.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, get_args

from pydantic import BaseModel, Field
from starlette.responses import JSONResponse

from eagle_rag_core.calls.outcome import CallOutcome
from eagle_rag_core.errors import EagleError, ErrorCode
from eagle_rag_core.settings.suggest import did_you_mean
from eagle_rag_core.telemetry.tracing import current_trace_id

_LOG = logging.getLogger(__name__)

#: Type of pydantic's error for a field that there is not.
_UNKNOWN: Final = "extra_forbidden"
#: Wrong fields that are named.
_MOST_FIELDS: Final = 20
MEDIA_TYPE: Final = "application/problem+json"
_TYPE: Final = "urn:eagle-rag:problem:"
_INSTANCE: Final = "urn:eagle-rag:request:"


class HttpCode(StrEnum):
    """Reasons that only HTTP has, beside those of :class:`ErrorCode`."""

    MALFORMED_REQUEST = "malformed_request"
    ROUTE_NOT_FOUND = "route_not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    REQUEST_TOO_LARGE = "request_too_large"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"


#: The one table from codes to statuses.
STATUS: Final[Mapping[str, int]] = {
    HttpCode.MALFORMED_REQUEST: 400,
    HttpCode.ROUTE_NOT_FOUND: 404,
    HttpCode.METHOD_NOT_ALLOWED: 405,
    HttpCode.REQUEST_TOO_LARGE: 413,
    HttpCode.UNSUPPORTED_MEDIA_TYPE: 415,
    ErrorCode.INVALID_ARGUMENT: 422,
    ErrorCode.UNKNOWN_ARGUMENT: 422,
    ErrorCode.TOOL_NOT_FOUND: 404,
    ErrorCode.KB_NOT_FOUND: 404,
    ErrorCode.DOCUMENT_NOT_FOUND: 404,
    ErrorCode.SECTION_NOT_FOUND: 404,
    ErrorCode.SECTION_NOT_FOUND: 404,
    ErrorCode.JOB_NOT_FOUND: 404,
    ErrorCode.UNAUTHENTICATED: 401,
    ErrorCode.AUTH_UNAVAILABLE: 503,
    ErrorCode.FORBIDDEN: 403,
    ErrorCode.PATH_NOT_ALLOWED: 403,
    ErrorCode.URL_NOT_ALLOWED: 403,
    ErrorCode.SOURCE_NOT_FOUND: 404,
    ErrorCode.SOURCE_UNREADABLE: 422,
    ErrorCode.SOURCE_TOO_LARGE: 413,
    ErrorCode.FETCH_FAILED: 502,
    ErrorCode.UNSUPPORTED_FORMAT: 415,
    ErrorCode.PARSE_FAILED: 422,
    ErrorCode.EMPTY_DOCUMENT: 422,
    ErrorCode.NEEDS_OCR: 422,
    ErrorCode.MODE_UNAVAILABLE: 422,
    ErrorCode.TIMEOUT: 504,
    ErrorCode.OVERLOADED: 503,
    ErrorCode.CIRCUIT_OPEN: 503,
    ErrorCode.CANCELLED: 409,
    ErrorCode.CONFIG_INVALID: 500,
    ErrorCode.PLUGIN_FAILED: 500,
    ErrorCode.LOCK_MISMATCH: 500,
    ErrorCode.GUARD_REFUSED: 500,
    ErrorCode.EFFECT_REFUSED: 500,
    ErrorCode.MODEL_UNAVAILABLE: 503,
    ErrorCode.EMBEDDER_MISMATCH: 503,
    ErrorCode.STORAGE_UNAVAILABLE: 503,
    ErrorCode.LEASE_LOST: 409,
    ErrorCode.INTERNAL: 500,
}
#: What is said of failures whose outcome names the operation alone.
_DETAILS: Final[Mapping[str, str]] = {
    ErrorCode.TIMEOUT: "The answer took too long. Ask for less, or again later.",
    ErrorCode.OVERLOADED: "Too much waits already. Come back later.",
    ErrorCode.CIRCUIT_OPEN: "This has failed repeatedly and rests for a while.",
}


class FieldProblem(BaseModel):
    """One thing wrong with a request."""

    field: str = Field(description="Where it is, as a path of names: body.filter.0.op.")
    detail: str = Field(description="What is wrong; never the value that was given.")


class Problem(BaseModel):
    """Problem details (RFC 9457)."""

    type: str = Field(description="urn:eagle-rag:problem: and the code.")
    title: str = Field(description="The code in words.")
    status: int = Field(description="The HTTP status.")
    detail: str = Field(description="What is wrong, and what to do.")
    code: str = Field(description="Stable and machine-readable; the same as over MCP.")
    retryable: bool = Field(description="Whether the same request may succeed later.")
    retry_after_s: float = Field(description="Seconds to wait before that; 0 when unknown.")
    instance: str = Field(
        description="Ends with the id of the trace, which log and audit have, too."
    )
    errors: list[FieldProblem] = Field([], description="The fields that are wrong, if any are.")


class ProblemError(Exception):
    """Ends a request with a problem.

    :param code: of :data:`STATUS`.
    :param detail: for the caller, written by us.
    :param headers: further ones of the response.
    """

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        retryable: bool = False,
        retry_after_s: float = 0.0,
        errors: Sequence[FieldProblem] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.code = str(code)
        self.detail = detail
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.errors = errors
        self.headers = dict(headers or {})

    @classmethod
    def of_outcome(cls, outcome: CallOutcome) -> ProblemError:
        """The problem of a call that failed."""
        # The class of an error names it for programs over MCP; here the code does.
        text = re.sub(r"\A\w+: ", "", str(outcome.error["error"]))
        return cls(
            outcome.code,
            _DETAILS.get(outcome.code, text),
            retryable=outcome.retryable,
            retry_after_s=outcome.retry_after_s,
        )

    @classmethod
    def of_error(cls, error: EagleError) -> ProblemError:
        """The problem that an error of ours is."""
        return cls(
            error.code, error.message, retryable=error.retryable, retry_after_s=error.retry_after_s
        )

    def problem(self, instance: str) -> Problem:
        """The problem.

        :param instance: id of the occurrence.
        """
        return Problem(
            type=f"{_TYPE}{self.code}",
            title=title_of(self.code),
            status=STATUS.get(self.code, 500),
            detail=self.detail,
            code=self.code,
            retryable=self.retryable,
            retry_after_s=self.retry_after_s,
            instance=f"{_INSTANCE}{instance}",
            errors=list(self.errors),
        )

    def logged(self) -> Problem:
        """The problem under the id of its trace, which the log has, too."""
        problem = self.problem(current_trace_id())
        level = logging.ERROR if problem.status >= 500 else logging.DEBUG
        _LOG.log(level, "%s: %s: %s", problem.instance, self.code, self.detail)
        return problem

    def response(self) -> JSONResponse:
        """The whole response; logged."""
        problem = self.logged()
        headers = dict(self.headers)
        if problem.retry_after_s > 0:
            headers["Retry-After"] = str(math.ceil(problem.retry_after_s))
        return JSONResponse(
            problem.model_dump(), status_code=problem.status, headers=headers, media_type=MEDIA_TYPE
        )


def title_of(code: str) -> str:
    """A code in words."""
    return code.replace("_", " ").capitalize()


def invalid(
    found: Sequence[Mapping[str, Any]], model: type[BaseModel] | None, where: str
) -> ProblemError:
    """The problem of a request whose fields are wrong, without their values.

    :param found: what pydantic says of it.
    :param model: what it should have been.
    :param where: body, query or path.
    """
    errors = [
        FieldProblem(
            field=".".join(map(_shown, (where, *error["loc"]))), detail=_detail(error, model)
        )
        for error in found[:_MOST_FIELDS]  # finding near names takes time
    ]
    unknown = any(error["type"] == _UNKNOWN for error in found)
    shown = "; ".join(f"{error.field}: {error.detail}" for error in errors[:5])
    return ProblemError(
        ErrorCode.UNKNOWN_ARGUMENT if unknown else ErrorCode.INVALID_ARGUMENT,
        shown[:2000],
        errors=errors,
    )


def _detail(error: Mapping[str, Any], model: type[BaseModel] | None) -> str:
    if error["type"] == "string_pattern_mismatch":  # the pattern helps nobody
        return "It does not have the form that /openapi.json describes."
    if error["type"] != _UNKNOWN:
        return str(error["msg"])
    *outer, name = error["loc"]
    return f"There is no such field{did_you_mean(str(name)[:64], _fields_at(model, outer))}"


def _fields_at(model: type[BaseModel] | None, path: Sequence[str | int]) -> list[str]:
    """The names of the fields there are at a place inside a model."""
    for part in path:
        if isinstance(part, str) and model is not None:
            model = model_in(model.model_fields[part].annotation)
    return list(model.model_fields) if model is not None else []


def model_in(annotation: Any) -> type[BaseModel] | None:
    """The model that a type is, or has inside."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    inner = (model_in(part) for part in get_args(annotation))
    return next(filter(None, inner), None)


def _shown(part: str | int) -> str:
    text = str(part)[:64]
    return text if text.isprintable() else "?"
