"""MCP over streamable HTTP and REST in one ASGI application."""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastmcp.server.http import HostOriginGuardMiddleware

from eagle_rag_core import __version__
from eagle_rag_core.api.frozen_routes import FrozenRoutes, Routes
from eagle_rag_core.api.identity import ANONYMOUS
from eagle_rag_core.api.mcp_server import build_server
from eagle_rag_core.api.rest.discovery import discovery_router
from eagle_rag_core.api.rest.health import health_router
from eagle_rag_core.app import EagleApp
from eagle_rag_core.errors import ConfigError
from eagle_rag_core.settings import Settings


def build_http_app(app: EagleApp, *, host: str) -> FastAPI:
    """The ASGI application of ``eagle-rag serve`` and ``eagle-rag mcp``.

    :param host: the address it will be bound to; decides which Host headers are honoured.
    """
    mcp = app.settings.mcp
    server = build_server(app, identify=lambda: ANONYMOUS, face="mcp-http")
    mcp_app = server.http_app(
        path=mcp.streamable_http_path,
        stateless_http=mcp.stateless_http,
        json_response=mcp.json_response,
    )

    @asynccontextmanager
    async def lifespan(_api: FastAPI) -> AsyncIterator[None]:
        async with mcp_app.lifespan(mcp_app):
            yield

    api = FastAPI(title="eagle-rag", version=__version__, lifespan=lifespan)
    # Before every route, not only MCP's: a page in a browser must reach none by DNS rebinding.
    api.add_middleware(HostOriginGuardMiddleware, allowed_hosts=[host], mode="strict")
    api.include_router(health_router(app))
    api.include_router(discovery_router(app))
    api.mount("/", mcp_app)  # last: it also answers /.well-known at the root
    api.add_middleware(FrozenRoutes, frozen=[Routes(api), Routes(mcp_app)])
    return api


def check_exposure(settings: Settings, host: str) -> None:
    """Refuse to serve strangers without authentication.

    :raises ConfigError: a bind beyond loopback without authentication, or authentication asked
        for, which this release does not have: serving openly instead would be worse.
    """
    if settings.auth.enabled:
        raise ConfigError(
            "auth.enabled is set, but this release has no authentication yet; serve on loopback "
            "behind a proxy that authenticates, and unset it."
        )
    if not _is_loopback(host) and not settings.auth.allow_anonymous:
        raise ConfigError(
            f"Binding to {host} would serve everybody without authentication. Bind to 127.0.0.1, "
            "or set auth.allow_anonymous if the network itself is trusted."
        )
    if settings.mcp.workers > 1:
        raise ConfigError(
            "mcp.workers above 1 is not available in this release; start several processes on one "
            "home instead."
        )


def serve_http(app: EagleApp, *, host: str, port: int) -> None:
    """Serve until SIGINT or SIGTERM; calls in flight may finish.

    :raises ConfigError: see :func:`check_exposure`; or the address cannot be bound.
    """
    import uvicorn

    check_exposure(app.settings, host)
    try:
        uvicorn.run(
            build_http_app(app, host=host),
            host=host,
            port=port,
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=15,
        )
    except SystemExit:  # uvicorn has logged the system's reason
        raise ConfigError(
            f"The server cannot listen on {host}:{port}: another program uses the port, or the "
            "address is not one of this machine. Choose another one with --host and --port."
        ) from None


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
