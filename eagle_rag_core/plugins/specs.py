"""A tool as the app knows it: frozen, checked, independent of the MCP server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from eagle_rag_core.errors import PluginError
from eagle_rag_core.plugins.arguments import ToolArguments
from eagle_rag_core.plugins.guard_tools import check_tool_texts
from eagle_rag_core.plugins.mcp_registry import Effect, mark_of, texts_of
from eagle_rag_core.plugins.results import ToolResult
from eagle_rag_core.plugins.schema import Schema
from eagle_rag_core.plugins.signatures import signature_of


@dataclass(frozen=True, slots=True)
class ToolAnnotations:
    """The four behaviour hints of an MCP tool."""

    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool.

    :param name: public name, namespace first.
    :param owner: distribution that brings it.
    :param function: takes the validated arguments as keywords; synchronous.
    :param timeout: seconds one call may take, ``None`` for ``mcp.tool_timeout``.
    :param open_world: whether a call reaches beyond this deployment.
    """

    name: str
    namespace: str
    owner: str
    title: str
    description: str
    effect: Effect
    function: Callable[..., Any]
    timeout: float | None
    open_world: bool
    _arguments: ToolArguments = field(repr=False, compare=False)
    _result: ToolResult = field(repr=False, compare=False)

    @property
    def annotations(self) -> ToolAnnotations:
        """Hints that follow from the effect. Ingesting the same source again changes nothing."""
        return ToolAnnotations(
            read_only=self.effect == "read",
            destructive=False,
            idempotent=True,
            open_world=self.open_world,
        )

    @property
    def input_schema(self) -> Schema:
        return self._arguments.json_schema

    @property
    def output_schema(self) -> Schema:
        """Schema of the structured content; a list stands under ``result``."""
        return self._result.json_schema

    @property
    def wraps_list(self) -> bool:
        """Whether the tool returns a list, sent as ``{"result": [...]}``."""
        return self._result.wraps_list

    def validate(self, arguments: Mapping[str, object]) -> dict[str, object]:
        """Keyword arguments for :attr:`function`; see :meth:`ToolArguments.validate`."""
        return self._arguments.validate(arguments)

    def dump(self, result: object) -> Any:
        """The JSON form of a result, not wrapped; see :meth:`ToolResult.dump`."""
        return self._result.dump(result)


def tool_spec_of(function: Callable[..., Any], *, owner: str) -> ToolSpec:
    """The tool a marked function stands for.

    :param owner: distribution that brings the function.
    :raises PluginError: it is not marked, or breaks a rule on signatures and schemas.
    :raises GuardError: a text of its parameters or result is refused.
    """
    mark = mark_of(function)
    if mark is None:
        name = getattr(function, "__qualname__", type(function).__name__)
        raise PluginError(f"{name} is not a tool: mark it with @register_mcp_tool(…).")
    parameters, returned = signature_of(function, tool=mark.full_name)
    spec = ToolSpec(
        name=mark.full_name,
        namespace=mark.namespace,
        owner=owner,
        title=mark.title,
        description=mark.description,
        effect=mark.effect,
        function=function,
        timeout=mark.timeout,
        open_world=mark.open_world,
        _arguments=ToolArguments(parameters, tool=mark.full_name),
        _result=ToolResult(returned, tool=mark.full_name),
    )
    check_tool_texts(texts_of(spec))
    return spec
