"""``eagle-rag serve`` and ``eagle-rag mcp``."""

from __future__ import annotations

import click

from eagle_rag_core.bootstrap import Start
from eagle_rag_core.cli.options import common_options, locked_option


@click.command()
@common_options
@locked_option
@click.option("--host", default="", help="Address to bind (server.host).")
@click.option("--port", type=click.IntRange(0, 65535), help="Port (server.port).")
def serve(start: Start, host: str, port: int | None) -> None:
    """Serve MCP at /mcp and REST, over HTTP."""
    with start.app() as app:
        from eagle_rag_core.api.mcp_http import serve_http

        server = app.settings.server
        serve_http(app, host=host or server.host, port=server.port if port is None else port)


@click.command()
@common_options
@locked_option
@click.option("--stdio", is_flag=True, help="Speak MCP on stdin and stdout.")
@click.option("--host", default="", help="Address to bind (mcp.host).")
@click.option("--port", type=click.IntRange(0, 65535), help="Port (mcp.port).")
def mcp(start: Start, stdio: bool, host: str, port: int | None) -> None:
    """Serve MCP alone: streamable HTTP, or stdio for a client that starts this command."""
    if stdio or start.settings().mcp.transport == "stdio":
        from eagle_rag_core.api.mcp_server import serve_stdio

        serve_stdio(start)
        return
    with start.app() as app:
        from eagle_rag_core.api.mcp_http import serve_http

        conf = app.settings.mcp
        serve_http(app, host=host or conf.host, port=conf.port if port is None else port)
