"""A FastMCP server that serves what it was made with, whatever reaches the object later."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeVar

from fastmcp import FastMCP
from fastmcp.exceptions import NotFoundError
from fastmcp.prompts import Prompt, PromptResult
from fastmcp.resources import Resource, ResourceResult, ResourceTemplate
from fastmcp.tools import Tool, ToolResult
from fastmcp.utilities.components import FastMCPComponent
from fastmcp.utilities.versions import VersionSpec

from eagle_rag_core.api.surface import FrozenTools, code_of
from eagle_rag_core.errors import PluginError

_LOG = logging.getLogger(__name__)
_Component = TypeVar("_Component", bound=FastMCPComponent)

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

    Tools are not looked up among FastMCP's providers at all, so nothing that is added, mounted,
    transformed, enabled or put between later has a part in them. Resources and prompts are, and
    only the very objects given here, unchanged, are served. Middleware runs around neither.

    :param tools: the tools.
    :param components: resources, resource templates and prompts.
    :param settings: of FastMCP.
    """

    _frozen = False

    def __init__(
        self,
        name: str,
        tools: FrozenTools,
        *,
        components: Sequence[Resource | ResourceTemplate | Prompt] = (),
        **settings: Any,
    ) -> None:
        super().__init__(
            name,
            on_duplicate="error",
            mask_error_details=True,
            dereference_schemas=False,  # schemas of tools have no references
            **settings,
        )
        for component in components:
            self._add(component)
        self._tools = tools
        self._components = {each.key: (id(each), _visible(each)) for each in components}
        self.middleware: Any = ()
        # Completions and extensions would bring methods of their own.
        protocol: Any = self._mcp_server
        protocol._request_handlers = MappingProxyType(dict(protocol._request_handlers))
        self._frozen = True

    def __setattr__(self, name: str, value: Any) -> None:
        if self._frozen and not name.startswith("_"):
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
        return await self._tools.call(name, arguments or {})

    async def list_resources(self, *, run_middleware: bool = True) -> Sequence[Resource]:
        return self._held(await super().list_resources(run_middleware=False))

    async def list_resource_templates(
        self, *, run_middleware: bool = True
    ) -> Sequence[ResourceTemplate]:
        return self._held(await super().list_resource_templates(run_middleware=False))

    async def list_prompts(self, *, run_middleware: bool = True) -> Sequence[Prompt]:
        return self._held(await super().list_prompts(run_middleware=False))

    async def read_resource(
        self, uri: str, *, version: VersionSpec | None = None, run_middleware: bool = True
    ) -> ResourceResult:
        found = await self.get_resource(uri) or await self.get_resource_template(uri)
        if not self._holds(found):
            raise NotFoundError(f"Unknown resource: {uri!r}")
        return await super().read_resource(uri, run_middleware=False)

    async def render_prompt(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        *,
        version: VersionSpec | None = None,
        run_middleware: bool = True,
    ) -> PromptResult:
        if not self._holds(await self.get_prompt(name)):
            raise NotFoundError(f"Unknown prompt: {name!r}")
        return await super().render_prompt(name, arguments, run_middleware=False)

    def _add(self, component: Resource | ResourceTemplate | Prompt) -> None:
        if isinstance(component, Prompt):
            self.add_prompt(component)
        elif isinstance(component, Resource):
            self.add_resource(component)
        else:
            self.add_template(component)

    def _held(self, components: Sequence[_Component]) -> list[_Component]:
        return [component for component in components if self._holds(component)]

    def _holds(self, component: FastMCPComponent | None) -> bool:
        if component is None:
            return False
        frozen = self._components.get(component.key)
        if frozen is not None and frozen == (id(component), _visible(component)):
            return True
        _LOG.error("Refused %s: it is not what was registered at start.", component.key)
        return False


def _visible(component: FastMCPComponent) -> tuple[object, ...]:
    """What clients see of a resource or prompt, and what runs behind it."""
    function = getattr(component, "fn", None)
    return component.model_dump_json(exclude={"fn"}), function, function and code_of(function)


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
