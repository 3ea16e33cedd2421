"""Which web pages may call, and under which names this server is called."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from fastapi import FastAPI
from fastmcp.server.http import HostOriginGuardMiddleware
from starlette.middleware.cors import CORSMiddleware

from eagle_rag_core.errors import ConfigError
from eagle_rag_core.settings import Settings

_METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
#: Headers of answers that scripts of a page may read.
_READABLE: Final = ("mcp-session-id", "mcp-protocol-version", "www-authenticate", "retry-after")
_PREFLIGHT_SECONDS: Final = 600


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
        HostOriginGuardMiddleware,
        allowed_hosts=[host, *mcp.allowed_hosts, *own_names],
        allowed_origins=[*mcp.allowed_origins, *own_pages],
        mode="strict",
    )


def check_pages(settings: Settings) -> None:
    """Refuse to serve every page that anybody opens.

    :raises ConfigError: any origin is allowed, without authentication.
    """
    if "*" in settings.mcp.allowed_origins and not settings.auth.enabled:
        raise ConfigError(
            "mcp.allowed_origins has *, and auth.enabled is not set: every page that a browser "
            "on this machine opens could read the library. Name the origins."
        )
