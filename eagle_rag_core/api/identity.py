"""Who makes a request over HTTP."""

from __future__ import annotations

from starlette.requests import Request

from eagle_rag_core.types import Caller

#: Who calls over HTTP while authentication is off: anybody who reaches this machine's loopback.
ANONYMOUS = Caller("anonymous")


def caller_of(request: Request) -> Caller:
    """The caller that authentication found, or the anonymous one where there is none."""
    caller = getattr(request.state, "caller", ANONYMOUS)
    assert isinstance(caller, Caller)
    return caller


def is_identified(request: Request) -> bool:
    """Whether it is known who calls; it need not be on the few routes open to strangers."""
    return hasattr(request.state, "caller")


def mcp_caller() -> Caller:
    """Who makes the MCP request that is being answered.

    The request is that of the message, not the one that opened the session: in a session, too,
    every call is its own token's.

    :raises RuntimeError: no request over HTTP is being answered.
    """
    from fastmcp.server.dependencies import get_http_request

    return caller_of(get_http_request())
