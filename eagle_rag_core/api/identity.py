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
