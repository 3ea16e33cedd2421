"""The sections of the tools page, from the tools the core registers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

from schema_words import Schema, default, kind, prose, rows, table

from eagle_rag_core.plugins import ToolSpec
from eagle_rag_core.plugins.specs import tool_spec_of
from eagle_rag_core.tools.core import core_tools


def core_specs() -> list[ToolSpec]:
    """The core's tools, in the order in which they are registered."""
    return [tool_spec_of(tool, owner="eagle-rag-core") for tool in core_tools(_no_services)]


def tool_sections() -> str:
    return "\n\n".join(_section(spec) for spec in core_specs())


def _section(spec: ToolSpec) -> str:
    listed = ' A list, found under `"result"` in the structured content.' if spec.wraps_list else ""
    return "\n\n".join(
        (
            f"## `{spec.name}`",
            spec.description,
            "**Parameters**",
            _parameters(spec),
            f"**Result.**{listed}",
            _result(spec),
        )
    )


def _parameters(spec: ToolSpec) -> str:
    if not spec.input_schema["properties"]:
        return "None."

    def lines() -> Iterator[tuple[str, ...]]:
        for name, node, required in rows(spec.input_schema):
            fallback = "*required*" if required else default(node)
            yield f"`{name}`", kind(node), fallback, prose(node)

    return table(("Name", "Type", "Default", "Meaning"), lines())


def _result(spec: ToolSpec) -> str:
    schema: Schema = spec.output_schema
    if spec.wraps_list:
        schema = schema["properties"]["result"]["items"]
    lines = ((f"`{name}`", kind(node), prose(node)) for name, node, _ in rows(schema))
    return table(("Field", "Type", "Meaning"), lines)


def _no_services() -> NoReturn:
    raise AssertionError("describing a tool must not build the engine")
