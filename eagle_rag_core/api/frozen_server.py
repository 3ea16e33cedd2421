"""A FastMCP server that serves what it was made with, whatever reaches the object later."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Final

from fastmcp import FastMCP
from fastmcp.exceptions import FastMCPError, NotFoundError
from fastmcp.prompts import Prompt, PromptResult
from fastmcp.resources import Resource, ResourceResult, ResourceTemplate
from fastmcp.server.completions import CompletionHandler
from fastmcp.tools import Tool, ToolResult
from fastmcp.utilities.versions import VersionSpec
from mcp.server.caching import CacheHint
from mcp.shared.exceptions import MCPError

from eagle_rag_core.api.frozen_components import FrozenComponents
from eagle_rag_core.api.refusals import Refused
from eagle_rag_core.api.serving.masking import masked
from eagle_rag_core.api.serving.progress import signs_of_life
from eagle_rag_core.api.surface import FrozenTools
from eagle_rag_core.api.tracing import traced_message
from eagle_rag_core.calls.outcome import unexpected
from eagle_rag_core.errors import PluginError

#: Deprecated by the protocol; nothing is ever logged to clients, who have the server's own log.
_UNSERVED: Final = frozenset({"logging/setLevel"})
#: What is fixed at the start may be kept for a while, by the client that asked: what a caller may
#: see is its own. Resources, and which there are, change with the library.
_CACHE_HINTS: Final = {
    **dict.fromkeys(
        ("server/discover", "tools/list", "prompts/list", "resources/templates/list"),
        CacheHint(ttl_ms=300_000, scope="private"),
    ),
    **dict.fromkeys(("resources/list", "resources/read"), CacheHint(ttl_ms=0, scope="private")),
}
#: What changes a server; refused loudly, though little of it could reach a client.
_CHANGES: Final = (
    "add_completion_handler",
    "add_extension",
    "add_middleware",
    "add_prompt",
    "add_provider",
    "add_resource",
    "add_template",
    "add_tool",
    "add_transform",
    "completion",
    "custom_route",
    "disable",
    "enable",
    "mount",
    "prompt",
    "resource",
    "tool",
)


class FrozenServer(FastMCP[Any]):
    """FastMCP as a protocol only: what it lists, calls, reads and renders was fixed when it was
    made.

    Nothing is looked up among FastMCP's providers, so that nothing which is added, mounted,
    transformed, enabled or put between later has a part in it.

    :param tools: the tools.
    :param components: resources, resource templates and prompts.
    :param listing: further resources, of those that the templates stand for, for whoever asks.
    :param completions: completes arguments of templates and prompts.
    :param settings: of FastMCP.
    """

    _frozen = False
    #: Set after the start, by methods of FastMCP's own classes, these would be served.
    _fixed = ("_completion_handler",)

    def __init__(
        self,
        name: str,
        tools: FrozenTools,
        *,
        components: Sequence[Resource | ResourceTemplate | Prompt] = (),
        listing: Callable[[], Awaitable[Sequence[Resource]]] | None = None,
        completions: CompletionHandler | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(
            name,
            on_duplicate="error",
            mask_error_details=True,
            dereference_schemas=False,  # schemas of tools have no references
            **settings,
        )
        if completions is not None:
            self.add_completion_handler(completions)
        self._tools = tools
        self._listing = listing
        self._components = FrozenComponents(components)
        self.middleware: Any = ()
        # Extensions would bring methods of their own.
        protocol: Any = self._mcp_server
        handlers = {
            method: handler
            for method, handler in protocol._request_handlers.items()
            if method not in _UNSERVED
        }
        protocol._request_handlers = MappingProxyType(handlers)
        protocol.cache_hints = MappingProxyType(_CACHE_HINTS)
        protocol.middleware = (traced_message, masked, *protocol.middleware)
        self._frozen = True

    def __setattr__(self, name: str, value: Any) -> None:
        if self._frozen and (not name.startswith("_") or name in self._fixed):
            raise _refusal(name)
        super().__setattr__(name, value)

    async def list_tools(self, *, run_middleware: bool = True) -> Sequence[Tool]:
        return self._tools.listed()

    async def get_tool(self, name: str, version: VersionSpec | None = None) -> Tool | None:
        return next((tool for tool in self._tools.listed() if tool.name == name), None)

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        *,
        version: VersionSpec | None = None,
        run_middleware: bool = True,
    ) -> ToolResult:
        async with signs_of_life():
            return await self._tools.call(name, arguments or {})

    async def list_resources(self, *, run_middleware: bool = True) -> Sequence[Resource]:
        fixed = self._components.of(Resource)
        if self._listing is None:
            return fixed
        with _refusals():
            return [*fixed, *await self._listing()]

    async def list_resource_templates(
        self, *, run_middleware: bool = True
    ) -> Sequence[ResourceTemplate]:
        return self._components.of(ResourceTemplate)

    async def list_prompts(self, *, run_middleware: bool = True) -> Sequence[Prompt]:
        return self._components.of(Prompt)

    async def get_resource(self, uri: str, version: VersionSpec | None = None) -> Resource | None:
        return self._components.resource(uri)

    async def get_resource_template(
        self, uri: str, version: VersionSpec | None = None
    ) -> ResourceTemplate | None:
        return self._components.template(uri)

    async def get_prompt(self, name: str, version: VersionSpec | None = None) -> Prompt | None:
        return self._components.prompt(name)

    async def read_resource(
        self, uri: str, *, version: VersionSpec | None = None, run_middleware: bool = True
    ) -> ResourceResult:
        with _refusals(uri=uri):
            if resource := self._components.resource(uri):
                return await resource._read()
            if template := self._components.template(uri):
                return await template._read(uri, template.matches(uri) or {})
        raise NotFoundError(f"Unknown resource: {uri!r}")

    async def render_prompt(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        *,
        version: VersionSpec | None = None,
        run_middleware: bool = True,
    ) -> PromptResult:
        prompt = self._components.prompt(name)
        if prompt is None:
            raise NotFoundError(f"Unknown prompt: {name!r}")
        with _refusals():
            return await prompt._render(arguments)


@contextmanager
def _refusals(**about: str) -> Iterator[None]:
    """Send what is refused as the protocol's error; of anything else only a log id."""
    try:
        yield
    except Refused as refused:
        raise refused.as_protocol_error(**about) from None
    except (FastMCPError, MCPError):
        raise
    except Exception as error:
        raise FastMCPError(unexpected("a resource or prompt", error).message) from error


def _refusal(what: str) -> PluginError:
    return PluginError(
        f"The MCP server is frozen ({what}): what it serves is fixed at start. A pack contributes "
        "through its hooks."
    )


def _refusing(name: str) -> Callable[..., Any]:
    method = getattr(FastMCP, name)

    @functools.wraps(method)
    def change(self: FrozenServer, *arguments: Any, **options: Any) -> Any:
        if self._frozen:
            raise _refusal(name)
        return method(self, *arguments, **options)

    return change


for _name in _CHANGES:
    setattr(FrozenServer, _name, _refusing(_name))
