"""MCP over streamable HTTP and REST in one ASGI application."""

from __future__ import annotations

import logging
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from fastapi import FastAPI
from starlette.routing import Route

from eagle_rag_core import __version__
from eagle_rag_core.api.auth import AccessGuard, configure_mcp_auth
from eagle_rag_core.api.auth.addresses import is_loopback
from eagle_rag_core.api.auth.recording import RefusalRecorder
from eagle_rag_core.api.frozen_routes import FrozenRoutes, Routes
from eagle_rag_core.api.identity import mcp_caller
from eagle_rag_core.api.mcp_server import build_server
from eagle_rag_core.api.rest.metrics import metrics_of
from eagle_rag_core.api.rest.mounting import add_rest
from eagle_rag_core.api.serving.bodies import BodyLimits
from eagle_rag_core.api.serving.browsers import check_pages, guard_against_pages
from eagle_rag_core.api.serving.draining import Draining
from eagle_rag_core.api.serving.endpoint import McpEndpoint
from eagle_rag_core.api.serving.running import bind, server_for
from eagle_rag_core.api.serving.workers import check_workers, serve_with_workers
from eagle_rag_core.api.tracing import Traced
from eagle_rag_core.app import EagleApp
from eagle_rag_core.bootstrap import Start, leave
from eagle_rag_core.errors import ConfigError
from eagle_rag_core.settings import Settings
from eagle_rag_core.telemetry.logs import configure_logging
from eagle_rag_core.telemetry.metrics import with_metrics

_LOG = logging.getLogger(__name__)
#: What a form with a file has besides the file.
_FORM_BYTES: Final = 1024 * 1024


def build_http_app(app: EagleApp, *, host: str) -> FastAPI:
    """The ASGI application of ``eagle-rag serve`` and ``eagle-rag mcp``.

    :param host: the address it will be bound to; decides which Host headers are honoured.
    """
    mcp = app.settings.mcp
    metrics = metrics_of(app)
    authentication = configure_mcp_auth(app.settings)
    endpoint = McpEndpoint(build_server(app, identify=mcp_caller, face="mcp-http"), mcp)

    @asynccontextmanager
    async def lifespan(_api: FastAPI) -> AsyncIterator[None]:
        async with endpoint.lifespan():
            yield

    # The pages that show the description load their code from elsewhere: there are none.
    api = FastAPI(
        title="eagle-rag",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    api.state.mcp = endpoint
    api.add_middleware(
        BodyLimits,
        limit=app.settings.ingest.max_bytes + _FORM_BYTES,
        mcp_path=mcp.streamable_http_path,
        mcp_limit=mcp.max_request_bytes,
        seconds=mcp.read_timeout,
    )
    # In front of all routes, behind the check of the Host header, which challenges repeat.
    api.add_middleware(
        AccessGuard,
        authentication=authentication,
        settings=app.settings,
        exposed=not is_loopback(host),
        refused=RefusalRecorder(metrics, app.call_log),
    )
    guard_against_pages(api, app.settings, host)
    api.router.routes.append(
        Route(mcp.streamable_http_path, endpoint=endpoint, methods=endpoint.methods)
    )
    add_rest(api, app, metrics)
    if authentication is not None:
        api.router.routes.extend(authentication.routes)
    routes = Routes(api)
    api.add_middleware(FrozenRoutes, frozen=[routes])
    # Around everything else, so that nothing is answered uncounted and without its trace.
    api.add_middleware(with_metrics, metrics=metrics, paths=routes.fixed_paths())
    api.add_middleware(Traced)
    return api


def check_exposure(settings: Settings, host: str) -> None:
    """Refuse to serve strangers without authentication.

    :raises ConfigError: a bind beyond loopback without authentication, or authentication that
        cannot work as it is set: serving openly instead would be worse.
    """
    if configure_mcp_auth(settings) is not None:
        _warn_of_plain_text(settings, host)
    elif not is_loopback(host) and not settings.auth.allow_anonymous:
        raise ConfigError(
            f"Binding to {host} would serve everybody without authentication. Bind to 127.0.0.1, "
            "set auth.enabled, or set auth.allow_anonymous if the network itself is trusted."
        )
    check_pages(settings)


def serve_http(start: Start, *, host: str, port: int) -> None:
    """Serve until SIGINT or SIGTERM; calls in flight may finish.

    :raises ConfigError: see :func:`check_exposure`; the address cannot be bound; or several
        processes are asked for where they cannot be.
    """
    settings = start.settings()
    if settings.mcp.workers > 1:
        configure_logging(settings)
        check_exposure(settings, host)
        check_workers(settings)
        serve_with_workers(settings, bind(host, port), host=host, no_packs=start.no_packs)
        return
    with start.app() as app:
        check_exposure(settings, host)
        serve_app(app, bind(host, port), host=host)
    leave()


def serve_app(
    app: EagleApp,
    bound: socket.socket,
    *,
    host: str,
    ready: Callable[[], object] = lambda: None,
    alone: bool = True,
) -> None:
    """Serve in this process on a socket.

    :param bound: closed at the end.
    :param host: the address it is bound to.
    :param ready: called when connections are accepted.
    :param alone: no other process accepts from the socket.
    """
    api = build_http_app(app, host=host)
    draining = Draining(api)

    def drain() -> None:
        draining.begin()
        api.state.mcp.release()
        api.state.rest.release()

    server = server_for(draining, app.settings.mcp, ready=ready, drain=drain, alone=alone)
    server.run(sockets=[bound])


def _warn_of_plain_text(settings: Settings, host: str) -> None:
    if not is_loopback(host) and not settings.auth.base_url.startswith("https://"):
        _LOG.warning(
            "Tokens travel in the clear to %s: put a proxy that speaks TLS in front, and set "
            "auth.base_url to its address.",
            host,
        )
