"""A serving process: the application on a socket, until a signal."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from eagle_rag_core.api.serving.draining import DrainingServer
from eagle_rag_core.api.serving.patience import with_patience
from eagle_rag_core.errors import ConfigError
from eagle_rag_core.settings.sections import McpSettings

#: Longer than clients and proxies keep idle connections, so that none uses one that just ends.
_KEEP_ALIVE_SECONDS: Final = 75
#: For the answer to a call that has used all of its time.
_ANSWER_SECONDS: Final = 5
#: Connections accepted in one go.
_ALL, _ONE = 2048, 1


def bind(host: str, port: int) -> socket.socket:
    """A socket on an address, not listening yet.

    :raises ConfigError: the address cannot be had.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        bound = socket.socket(family, kind, protocol)
        try:
            if os.name == "posix":  # elsewhere it would allow two servers on one port
                bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
        except OSError:
            bound.close()
            raise
    except OSError:
        raise ConfigError(
            f"The server cannot listen on {host}:{port}: another program uses the port, or the "
            "address is not one of this machine. Choose another one with --host and --port."
        ) from None
    bound.setblocking(False)
    return bound


def server_for(
    api: ASGIApp,
    settings: McpSettings,
    *,
    ready: Callable[[], object] = lambda: None,
    drain: Callable[[], object] = lambda: None,
    alone: bool = True,
) -> DrainingServer:
    """The server of an application; it serves sockets until SIGINT or SIGTERM, and calls in
    flight may finish.

    :param ready: called when connections are accepted.
    :param drain: called when the end begins.
    :param alone: no other process accepts from the sockets; of what others could take as well, a
        busy process should take little.
    """
    config = uvicorn.Config(
        api,
        http=with_patience(settings.read_timeout),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        backlog=_ALL if alone else _ONE,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=round(settings.tool_timeout) + _ANSWER_SECONDS,
    )
    return DrainingServer(config, ready=ready, drain=drain, seconds=settings.drain_seconds)
