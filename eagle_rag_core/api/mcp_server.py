"""The MCP server object, and MCP over stdio.

``python -m eagle_rag_core.api.mcp_server`` serves stdio, as ``eagle-rag mcp --stdio`` does.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import FrameType
from typing import Any

from fastmcp import FastMCP

from eagle_rag_core import __version__
from eagle_rag_core.api.completions import Completions
from eagle_rag_core.api.frozen_server import FrozenServer
from eagle_rag_core.api.instructions import instructions
from eagle_rag_core.api.prompts import answer_prompt
from eagle_rag_core.api.resources import LibraryResources
from eagle_rag_core.api.standard_streams import StandardStreams
from eagle_rag_core.api.stdio import serve_streams
from eagle_rag_core.api.surface import FrozenTools
from eagle_rag_core.api.tools import Entry
from eagle_rag_core.app import EagleApp
from eagle_rag_core.bootstrap import Start, leave
from eagle_rag_core.errors import EagleError
from eagle_rag_core.types import LOCAL, Caller

#: A client that asked the server to end kills it when that takes long; be gone before.
_CLOSING_SECONDS = 8.0


def build_server(
    app: EagleApp, *, identify: Callable[[], Caller] = lambda: LOCAL, face: str = "mcp-stdio"
) -> FrozenServer:
    """The MCP server with exactly the exposed tools, the core's resources and prompt, frozen.

    :param identify: tells who makes the current call.
    :param face: name of the transport in the call log.
    """
    entry = Entry(app.pipeline, identify, face)
    resources = LibraryResources(entry, app.services, app.settings.mcp.max_result_tokens)
    return FrozenServer(
        "eagle-rag",
        FrozenTools(entry),
        components=[*resources.templates(), answer_prompt(entry)],
        listing=resources.listed,
        completions=Completions(entry, app.services).complete,
        instructions=instructions(app.settings),
        version=__version__,
        lifespan=_lifespan(app),
    )


def _lifespan(app: EagleApp) -> Callable[[FastMCP[Any]], Any]:
    @asynccontextmanager
    async def run(_server: FastMCP[Any]) -> AsyncIterator[None]:
        app.start()
        try:
            yield
        finally:
            app.close()

    return run


def serve_stdio(start: Start) -> None:
    """Open the app and serve it on stdin and stdout until stdin closes.

    Whatever packs and libraries print, from their import to the end of the process, goes to
    stderr, and stdin is empty for them.

    :raises ConfigError: see :class:`StandardStreams`.
    """
    import anyio

    streams = StandardStreams()
    with start.app() as app:
        server = build_server(app)
        _end_on_signals(app)
        anyio.run(serve_streams, server, streams, app.settings.mcp.max_request_bytes)
    leave()


def _end_on_signals(app: EagleApp) -> None:
    """End at SIGINT and SIGTERM: hand running jobs back, then leave.

    The transport's thread cannot be interrupted while it waits for a line on stdin; leaving the
    usual way would wait for that line.
    """

    wake, signalled = os.pipe()

    def end() -> None:
        number = os.read(wake, 1)[0]
        threading.Timer(_CLOSING_SECONDS, os._exit, (128 + number,)).start()
        app.close()
        os._exit(128 + number)

    def handle(number: int, _frame: FrameType | None) -> None:
        # Nothing but this: what is interrupted may hold any lock, even that of starting threads.
        os.write(signalled, bytes([number]))

    threading.Thread(target=end, name="end-on-signal", daemon=True).start()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handle)


def main() -> None:
    """Entry point of ``python -m eagle_rag_core.api.mcp_server``; settings come from the file
    and the environment."""
    try:
        serve_stdio(Start())
    except EagleError as error:
        sys.exit(f"Error [{error.code}]: {error.message}")


if __name__ == "__main__":
    main()
