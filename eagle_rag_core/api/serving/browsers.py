"""Which web pages may call, and under which names this server is called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from fastapi import FastAPI
from fastmcp.server.http import HostOriginGuardMiddleware
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from eagle_rag_core.api.serving.answers import Refusal
from eagle_rag_core.errors import ConfigError
from eagle_rag_core.settings import Settings

_METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
#: Headers of answers that scripts of a page may read.
_READABLE: Final = ("mcp-session-id", "mcp-protocol-version", "www-authenticate", "retry-after")
_PREFLIGHT_SECONDS: Final = 600
_REFUSALS: Final = {
    421: Refusal(
        421,
        "host_not_allowed",
        "This server is not known under the name in the Host header. Call it by the address it "
        "listens at, or add the name to mcp.allowed_hosts.",
    ),
    403: Refusal(
        403,
        "origin_not_allowed",
        "Web pages of this origin may not call. Add the origin to mcp.allowed_origins if they are "
        "yours.",
    ),
}


def guard_against_pages(api: FastAPI, settings: Settings, host: str) -> None:
    """Refuse other hosts and origins on every route: a page in a browser must reach none, by DNS
    rebinding either.

    :param host: the address the server is bound to.
    """
    mcp, base_url = settings.mcp, settings.auth.base_url
    own_names = [name] if (name := urlsplit(base_url).hostname) else []
    own_pages = [base_url] if base_url else []  # those of a sign-in, behind a proxy for TLS
    if mcp.allowed_origins:
        # Without credentials of the browser: callers show tokens, which pages have to know.
        api.add_middleware(
            CORSMiddleware,
            allow_origins=mcp.allowed_origins,
            allow_methods=_METHODS,
            allow_headers=["*"],
            expose_headers=_READABLE,
            max_age=_PREFLIGHT_SECONDS,
        )
    api.add_middleware(
        PageGuard,
        mcp_path=mcp.streamable_http_path,
        allowed_hosts=[host, *mcp.allowed_hosts, *own_names],
        allowed_origins=[*mcp.allowed_origins, *own_pages],
    )


class PageGuard:
    """FastMCP's check of Host and Origin, with a refusal that programs can read too.

    :param mcp_path: where a refusal is a JSON-RPC error.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        mcp_path: str,
        allowed_hosts: Sequence[str],
        allowed_origins: Sequence[str],
    ) -> None:
        self._app = app
        self._mcp_path = mcp_path
        self._check = HostOriginGuardMiddleware(
            _nothing, allowed_hosts, allowed_origins, mode="strict"
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        status = await self._status(scope, receive)
        if not status:
            await self._app(scope, receive, send)
            return
        await _REFUSALS[status].send(send, as_mcp=scope["path"] == self._mcp_path)

    async def _status(self, scope: Scope, receive: Receive) -> int:
        """Of the refusal; 0 when the request may pass."""
        statuses = []

        async def note(message: Message) -> None:
            statuses.append(message.get("status", 0))

        await self._check(scope, receive, note)
        return statuses[0] if statuses else 0


async def _nothing(scope: Scope, receive: Receive, send: Send) -> None:
    """What the check passes requests on to, so that only a refusal sends anything."""


def check_pages(settings: Settings) -> None:
    """Refuse to serve every page that anybody opens.

    :raises ConfigError: any origin is allowed, without authentication.
    """
    if "*" in settings.mcp.allowed_origins and not settings.auth.enabled:
        raise ConfigError(
            "mcp.allowed_origins has *, and auth.enabled is not set: every page that a browser "
            "on this machine opens could read the library. Name the origins."
        )
