"""Requests that are not let in, and how they are told.

Nothing that a request sent is repeated: neither the token nor anything in it.
"""

from __future__ import annotations

import json
import math
from http import HTTPStatus
from typing import Any, Final

from starlette.responses import Response

from eagle_rag_core.api.rest.problems import MEDIA_TYPE, HttpCode, ProblemError
from eagle_rag_core.errors import ErrorCode
from eagle_rag_core.telemetry.tracing import current_trace_id

#: JSON-RPC's code for errors of a server's own.
_SERVER_ERROR: Final = -32000


class Refusal(Exception):
    """A request that is not let in.

    :param status: of HTTP.
    :param detail: for the caller: what is wrong, what to do.
    :param error: error code of RFC 6750, for the challenge; "" for none.
    :param scope: scope that would be needed, where that is what is missing.
    :param retry_after_s: seconds after which the same request may be let in, 0 if it never is.
    :param reason: for the log, where it says more than ``detail``.
    :ivar caller: whose good token is not enough, "" where nobody is known.
    """

    caller = ""

    def __init__(
        self,
        status: HTTPStatus,
        code: ErrorCode | HttpCode,
        detail: str,
        *,
        error: str = "",
        scope: str = "",
        retry_after_s: float = 0.0,
        reason: str = "",
    ) -> None:
        super().__init__(reason or detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.error = error
        self.scope = scope
        self.retry_after_s = retry_after_s

    @property
    def is_bad_token(self) -> bool:
        """Whether a token was shown that is none."""
        return self.error == "invalid_token"


def no_token() -> Refusal:
    """The request shows none. By RFC 6750 such a challenge names no error."""
    return Refusal(
        HTTPStatus.UNAUTHORIZED,
        ErrorCode.UNAUTHENTICATED,
        "Show a token: Authorization: Bearer <token>.",
    )


def invalid_token(reason: str, detail: str = "The token is not valid.") -> Refusal:
    """:param reason: what is wrong with it, for the log."""
    return Refusal(
        HTTPStatus.UNAUTHORIZED,
        ErrorCode.UNAUTHENTICATED,
        detail,
        error="invalid_token",
        reason=reason,
    )


def expired_token() -> Refusal:
    """Callers are told, so that they ask for another one."""
    return invalid_token("it has expired", "The token has expired.")


def malformed_request(detail: str) -> Refusal:
    return Refusal(
        HTTPStatus.BAD_REQUEST, HttpCode.MALFORMED_REQUEST, detail, error="invalid_request"
    )


def insufficient_scope(scope: str) -> Refusal:
    return Refusal(
        HTTPStatus.FORBIDDEN,
        ErrorCode.FORBIDDEN,
        f"This takes a token with the scope {scope}.",
        error="insufficient_scope",
        scope=scope,
    )


def forbidden(detail: str) -> Refusal:
    return Refusal(HTTPStatus.FORBIDDEN, ErrorCode.FORBIDDEN, detail)


def too_many(detail: str, retry_after_s: float) -> Refusal:
    return Refusal(
        HTTPStatus.TOO_MANY_REQUESTS, ErrorCode.OVERLOADED, detail, retry_after_s=retry_after_s
    )


def cannot_verify(reason: str, retry_after_s: float = 10.0) -> Refusal:
    """Not the token's fault: a client must not throw it away.

    :param reason: for the log.
    """
    return Refusal(
        HTTPStatus.SERVICE_UNAVAILABLE,
        ErrorCode.AUTH_UNAVAILABLE,
        "Tokens cannot be checked right now; try again.",
        retry_after_s=retry_after_s,
        reason=reason,
    )


def answer(refusal: Refusal, *, challenge: str, as_mcp: bool) -> Response:
    """The answer to a refused request.

    :param challenge: the header ``WWW-Authenticate``, "" for none.
    :param as_mcp: a JSON-RPC error, which MCP clients show, instead of problem details (RFC 9457).
    """
    headers = {"cache-control": "no-store"}
    if challenge:
        headers["www-authenticate"] = challenge
    if refusal.retry_after_s:
        headers["retry-after"] = str(math.ceil(refusal.retry_after_s))
    body = _json_rpc(refusal) if as_mcp else _problem(refusal)
    return Response(
        json.dumps(body),
        status_code=refusal.status,
        headers=headers,
        media_type="application/json" if as_mcp else MEDIA_TYPE,
    )


def _problem(refusal: Refusal) -> dict[str, Any]:
    """As REST has it; but who asks too often is told so (429), not that the server is busy."""
    problem = ProblemError(
        refusal.code,
        refusal.detail,
        retryable=refusal.retry_after_s > 0,
        retry_after_s=round(refusal.retry_after_s, 3),
    ).problem(current_trace_id())
    return {**problem.model_dump(), "status": int(refusal.status)}


def _json_rpc(refusal: Refusal) -> dict[str, Any]:
    """The id stays open: the body with the request's has not been read."""
    error = {
        "code": _SERVER_ERROR,
        "message": f"{refusal.code}: {refusal.detail}",
        "data": {
            "code": str(refusal.code),
            "retryable": refusal.retry_after_s > 0,
            "retry_after_s": round(refusal.retry_after_s, 3),
        },
    }
    return {"jsonrpc": "2.0", "id": None, "error": error}
