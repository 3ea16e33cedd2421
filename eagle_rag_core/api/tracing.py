"""Which trace a request belongs to, over HTTP and over MCP."""

from __future__ import annotations

from typing import Any, Final

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from eagle_rag_core.telemetry.tracing import (
    Trace,
    current_trace,
    new_trace,
    parse_traceparent,
    tracing,
)

_HEADER: Final = b"traceparent"
#: Of a message's ``_meta``; the same name and form as over HTTP.
_META: Final = "traceparent"


class Traced:
    """ASGI middleware that finds or begins the trace of a request.

    It goes to ``request.state.trace``, where a session's later messages find their own.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        shown = [value for name, value in scope["headers"] if name == _HEADER]
        # Two of them contradict each other: by the standard neither counts.
        trace = parse_traceparent(shown[0].decode("latin-1")) if len(shown) == 1 else None
        trace = trace or new_trace()
        scope.setdefault("state", {})["trace"] = trace
        with tracing(trace):
            await self._app(scope, receive, send)


def trace_of(request: Request) -> Trace:
    """The trace of a request, also outside of :class:`Traced`."""
    trace = getattr(request.state, "trace", None)
    return trace if isinstance(trace, Trace) else new_trace()


async def traced_message(
    context: ServerRequestContext[Any, Any], call_next: CallNext
) -> HandlerResult:
    """Middleware of the protocol: a message's own trace counts more than that of its request,
    and a request's more than that of the session."""
    own = parse_traceparent((context.meta or {}).get(_META))
    if own is None and isinstance(context.request, Request):
        own = trace_of(context.request)
    with tracing(own or current_trace() or new_trace()):
        return await call_next(context)
