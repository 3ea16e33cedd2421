"""The frozen MCP surface: what was exposed at boot is all there is.

Tools that the deployment does not expose are never registered (G3). Should anything reach the
server object later and add, swap or rewrite a tool, the outermost middleware refuses it, on list
and on call, because it no longer matches what was frozen.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence

import mcp_types
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import Tool, ToolResult

from eagle_rag_core.api.tools import EagleTool, Entry, to_tool_result
from eagle_rag_core.calls.outcome import failure, unknown_tool

_LOG = logging.getLogger(__name__)


def fingerprint(tool: Tool) -> str:
    """Hash of everything about a tool that a client or the model can see, and of its code."""
    visible = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "parameters": tool.parameters,
        "output": tool.output_schema,
        "annotations": tool.annotations.model_dump() if tool.annotations else None,
        "code": id(tool.code) if isinstance(tool, EagleTool) else id(tool),
    }
    canonical = json.dumps(visible, sort_keys=True, default=str)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


class FrozenSurface(Middleware):
    """Outermost middleware: passes only tools that match their frozen fingerprint.

    :param entry: answers, and records, calls of tools that were never there.
    """

    def __init__(self, tools: Sequence[Tool], entry: Entry) -> None:
        self._entry = entry
        self._frozen: Mapping[str, str] = {tool.name: fingerprint(tool) for tool in tools}

    async def on_list_tools(
        self,
        context: MiddlewareContext[mcp_types.ListToolsRequest],
        call_next: CallNext[mcp_types.ListToolsRequest, Sequence[Tool]],
    ) -> Sequence[Tool]:
        listed = await call_next(context)
        return sorted((tool for tool in listed if self._matches(tool)), key=lambda t: t.name)

    async def on_call_tool(
        self,
        context: MiddlewareContext[mcp_types.CallToolRequestParams],
        call_next: CallNext[mcp_types.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        name = context.message.name
        if name not in self._frozen:
            return to_tool_result(await self._entry.call(name, context.message.arguments or {}))
        server = context.fastmcp_context.fastmcp if context.fastmcp_context else None
        tool = await server.get_tool(name) if server else None
        if tool is None or not self._matches(tool):
            return to_tool_result(failure(name, unknown_tool(name, ()), as_list=False))
        return await call_next(context)

    def _matches(self, tool: Tool) -> bool:
        if self._frozen.get(tool.name) == fingerprint(tool):
            return True
        _LOG.error("Refused tool %r: it is not what was registered at start.", tool.name)
        return False
