"""``eagle-rag serve`` and ``eagle-rag mcp``."""

from __future__ import annotations

import click

from eagle_rag_core.bootstrap import Start
from eagle_rag_core.cli.options import common_options, given, locked_option

_workers = click.option(
    "--workers", type=click.IntRange(1, 64), help="Processes on the one port (mcp.workers)."
)


@click.command()
@common_options
@locked_option
@click.option("--host", default="", help="Address to bind (server.host).")
@click.option("--port", type=click.IntRange(0, 65535), help="Port (server.port).")
@_workers
def serve(start: Start, host: str, port: int | None, workers: int | None) -> None:
    """Serve MCP at /mcp and REST, over HTTP."""
    server = start.settings().server
    _serve_http(start, host or server.host, server.port if port is None else port, workers)


@click.command()
@common_options
@locked_option
@click.option("--stdio", is_flag=True, help="Speak MCP on stdin and stdout.")
@click.option("--host", default="", help="Address to bind (mcp.host).")
@click.option("--port", type=click.IntRange(0, 65535), help="Port (mcp.port).")
@_workers
def mcp(start: Start, stdio: bool, host: str, port: int | None, workers: int | None) -> None:
    """Serve MCP alone: streamable HTTP, or stdio for a client that starts this command."""
    conf = start.settings().mcp
    if stdio or conf.transport == "stdio":
        from eagle_rag_core.api.mcp_server import serve_stdio

        serve_stdio(start)
        return
    _serve_http(start, host or conf.host, conf.port if port is None else port, workers)


def _serve_http(start: Start, host: str, port: int, workers: int | None) -> None:
    from eagle_rag_core.api.mcp_http import serve_http

    if workers is not None:
        start = given(start, {"mcp": {"workers": workers}})
    serve_http(start, host=host, port=port)
