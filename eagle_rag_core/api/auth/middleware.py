"""The one gate in front of every route over HTTP."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from eagle_rag_core.api.auth.authentication import Authentication
from eagle_rag_core.api.auth.bearer import refuse_token_in_address, token_of
from eagle_rag_core.api.auth.rates import Rate, peer_of
from eagle_rag_core.api.auth.refusals import (
    Refusal,
    answer,
    forbidden,
    insufficient_scope,
    malformed_request,
    too_many,
)
from eagle_rag_core.api.auth.verified import ADMIN_SCOPE, TOOLS_SCOPE, Verified
from eagle_rag_core.api.identity import ANONYMOUS
from eagle_rag_core.settings import Settings

_LOG = logging.getLogger(__name__)

#: Whether a process lives and may be sent calls: for those who start and balance them.
_PROBES: Final = ("/health/live", "/health/ready")
_ADMIN: Final = "/admin"
#: A caller may use up so many seconds' worth of its limit at once.
_BURST_SECONDS: Final = 10
#: Bytes of what a stranger may send in a sign-in.
_LONGEST_FORM: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class RefusedRequest:
    """A request that was not let in.

    :param peer: the address it came from.
    """

    refusal: Refusal
    method: str
    path: str
    peer: str


class AccessGuard:
    """ASGI middleware that finds out who makes a request before anything else sees it.

    The caller goes to ``request.state.caller``; who is none gets no further. Open are the probes
    and what leads to a token; nothing else, and no route can exempt itself.

    :param authentication: ``None`` while it is off, when everybody is :data:`ANONYMOUS`.
    :param exposed: others than this machine's users reach the server.
    :param refused: told of every request that is not let in.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        authentication: Authentication | None,
        settings: Settings,
        exposed: bool,
        refused: Callable[[RefusedRequest], object] = lambda request: None,
    ) -> None:
        auth = settings.auth
        self._app = app
        self._authentication = authentication
        self._exposed = exposed
        self._tell = refused
        self._mcp_path = settings.mcp.streamable_http_path
        self._calls = Rate(auth.rate_limit, auth.rate_limit * _BURST_SECONDS // 60)
        self._failures = Rate(auth.failure_limit, auth.failure_limit)
        sign_in = authentication.sign_in if authentication else ()
        metadata = authentication.resource.routes if authentication else ()
        self._sign_in = frozenset(route.path for route in sign_in)
        self._open = frozenset({*_PROBES, *(route.path for route in metadata)})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] != "http":  # there is nothing to be had over websockets
            await send({"type": "websocket.close", "code": 1008})
        else:
            try:
                await self._admit(scope)
            except Refusal as refusal:
                await self._refuse(refusal, scope, receive, send)
            else:
                await self._app(scope, receive, send)

    async def _admit(self, scope: Scope) -> None:
        """Let a request in as its caller.

        :raises Refusal: it is not let in.
        """
        path = scope["path"]
        if self._authentication is None:
            if self._exposed and _is_admin(path):
                raise forbidden("Administration over the network takes auth.enabled.")
            _set_caller(scope, Verified(ANONYMOUS, frozenset()))
            return
        refuse_token_in_address(scope)
        if path in self._open:
            return
        if path in self._sign_in:
            self._count(scope, "Too many sign-ins from this address.")
            _refuse_long_form(scope)
            return
        verified = await self._authentication.verify(token_of(scope))
        try:
            self._check(verified, path)
        except Refusal as refusal:
            refusal.caller = verified.caller.id
            raise
        _set_caller(scope, verified)

    def _check(self, verified: Verified, path: str) -> None:
        """See whether a good token is enough.

        :raises Refusal: it is not.
        """
        needed = ADMIN_SCOPE if _is_admin(path) else TOOLS_SCOPE
        if needed not in verified.scopes:
            raise insufficient_scope(needed)
        if needed == ADMIN_SCOPE and verified.caller.kbs is not None:
            raise forbidden("Administration takes a token for all knowledge bases.")
        if wait := self._calls.spend(verified.caller.id):
            raise too_many("You make too many requests; wait a little.", wait)

    async def _refuse(self, refusal: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
        if refusal.is_bad_token:
            try:
                self._count(scope, "Too many refused tokens from this address.")
            except Refusal as too_often:
                refusal = too_often
            else:
                _LOG.warning("Refused a token from %s: %s", _peer(scope), refusal)
        elif refusal.status >= 500:
            _LOG.warning("A token could not be checked: %s", refusal)
        self._tell(RefusedRequest(refusal, scope["method"], scope["path"], _peer(scope)))
        authentication = self._authentication
        challenge = (
            authentication.resource.challenge(refusal, Request(scope)) if authentication else ""
        )
        as_mcp = scope["path"] == self._mcp_path and scope["method"] == "POST"
        await answer(refusal, challenge=challenge, as_mcp=as_mcp)(scope, receive, send)

    def _count(self, scope: Scope, detail: str) -> None:
        """Count what a stranger does. A good token is never held up by others' bad ones."""
        if wait := self._failures.spend(_peer(scope)):
            raise too_many(detail, wait)


def _is_admin(path: str) -> bool:
    return path == _ADMIN or path.startswith(f"{_ADMIN}/")


def _refuse_long_form(scope: Scope) -> None:
    length = dict(scope["headers"]).get(b"content-length", b"")
    has_length = length.isdigit() and int(length) <= _LONGEST_FORM
    if scope["method"] == "POST" and not has_length:
        raise malformed_request("A form of a sign-in is short, and says how long it is.")


def _peer(scope: Scope) -> str:
    return peer_of(scope.get("client"))


def _set_caller(scope: Scope, verified: Verified) -> None:
    caller = verified.caller
    scope.setdefault("state", {})["caller"] = caller
    # The MCP transport binds its sessions to this, and asks for nothing else of it.
    access = AccessToken(token="", client_id=caller.id, scopes=sorted(verified.scopes))
    scope["user"] = AuthenticatedUser(access)
