"""The frozen tools of a server: what was registered at boot is all there is.

Tools that the deployment does not expose are never here (G3). Clients are shown copies made at
boot, and a call runs only if the tool is still what it was then.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import CodeType
from typing import Any

from fastmcp.tools import Tool, ToolResult

from eagle_rag_core.api.tools import Entry, ListedTool, listed_tool, to_tool_result
from eagle_rag_core.calls.outcome import failure, unknown_tool
from eagle_rag_core.plugins import ToolSpec
from eagle_rag_core.plugins.schema import Schema

_LOG = logging.getLogger(__name__)


def code_of(function: Callable[..., Any]) -> CodeType | None:
    """What runs when ``function`` is called; it can be swapped while the function stays the same.

    ``None`` for a callable that is not written in Python.
    """
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    return code if isinstance(code, CodeType) else None


def _state(spec: ToolSpec) -> tuple[object, ...]:
    """What clients see of a tool, but for its schemas, and what runs behind it."""
    function = spec.function
    return (
        spec.name,
        spec.title,
        spec.description,
        spec.annotations,
        function,
        code_of(function),
        getattr(function, "__defaults__", None),
        getattr(function, "__kwdefaults__", None),
    )


@dataclass(frozen=True, slots=True)
class _FrozenTool:
    """A tool with its state at boot.

    Comparing costs a few microseconds at every call, where a hash would cost ten times as much.

    :param schemas: of the input and the output: copies, since they can be changed in place.
    :param listed: what clients are shown, as JSON.
    """

    spec: ToolSpec
    state: tuple[object, ...]
    schemas: tuple[Schema, Schema]
    listed: str

    @classmethod
    def of(cls, spec: ToolSpec) -> _FrozenTool:
        schemas = copy.deepcopy((spec.input_schema, spec.output_schema))
        return cls(spec, _state(spec), schemas, listed_tool(spec).model_dump_json())

    @property
    def intact(self) -> bool:
        spec = self.spec
        return (
            _state(spec) == self.state and (spec.input_schema, spec.output_schema) == self.schemas
        )


class FrozenTools:
    """Lists and calls the tools of one server as they were when this was made.

    :param entry: the way their calls go; it also answers calls of tools that never were.
    """

    def __init__(self, entry: Entry) -> None:
        self._entry = entry
        self._frozen: Mapping[str, _FrozenTool] = {
            name: _FrozenTool.of(spec) for name, spec in entry.pipeline.tools.items()
        }

    def listed(self) -> list[Tool]:
        """The tools, sorted by name: copies, so that no change of one reaches the next listing."""
        return [
            ListedTool.model_validate_json(tool.listed)
            for name, tool in self._frozen.items()
            if self._holds(name)
        ]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Run one call; one of a tool that is not what it was fails like that of an unknown one."""
        if self._holds(name):
            return to_tool_result(await self._entry.call(name, arguments))
        tool = self._frozen.get(name)
        as_list = tool is not None and tool.spec.wraps_list
        return to_tool_result(failure(name, unknown_tool(name, ()), as_list=as_list))

    def _holds(self, name: str) -> bool:
        """Whether a tool is what it was at start; one that never was is none now either."""
        tool, spec = self._frozen.get(name), self._entry.pipeline.tools.get(name)
        if tool is None and spec is None:
            return True
        if tool is not None and tool.spec is spec and tool.intact:
            return True
        _LOG.error("Refused tool %r: it is not what was registered at start.", name)
        return False
