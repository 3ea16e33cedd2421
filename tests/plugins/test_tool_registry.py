"""The registry: owned names, no duplicates, and what a deployment exposes."""

from __future__ import annotations

import dataclasses
import logging
from typing import Any

import pytest
from typing_extensions import TypedDict

from eagle_rag_core.errors import GuardError, PluginError
from eagle_rag_core.plugins import ToolRegistry, ToolSpec, register_mcp_tool
from eagle_rag_core.plugins.mcp_registry import tool_definitions
from eagle_rag_core.plugins.specs import tool_spec_of

OWNERS = {"biomed": "eagle-rag-biomed", "law": "eagle-rag-law"}


class Found(TypedDict):
    name: str


def spec(namespace: str, name: str, owner: str = "", **options: Any) -> ToolSpec:
    @register_mcp_tool(namespace=namespace, name=name, description=f"Describes {name}.", **options)
    def function() -> list[Found]:
        return []

    owners = {**OWNERS, "core": "eagle-rag-core"}
    return tool_spec_of(function, owner=owner or owners[namespace])


def full() -> ToolRegistry:
    registry = ToolRegistry(OWNERS)
    registry.extend(
        [
            spec("law", "search_cases"),
            spec("core", "retrieve_text"),
            spec("biomed", "query_entities"),
            spec("core", "ingest", effect="ingest"),
            spec("biomed", "annotate_text"),
        ]
    )
    return registry


def names(tools: Any) -> list[str]:
    return [tool.name for tool in tools]


def test_g3_exposed_are_the_tools_of_the_core_and_of_the_default_namespace_sorted() -> None:
    registry = full()
    assert names(registry.exposed("biomed")) == [
        "biomed_annotate_text",
        "biomed_query_entities",
        "core_ingest",
        "core_retrieve_text",
    ]
    assert names(registry.exposed("core")) == ["core_ingest", "core_retrieve_text"]
    assert len(registry) == 5


def test_read_only_leaves_out_the_tool_that_writes() -> None:
    assert names(full().exposed("core", read_only=True)) == ["core_retrieve_text"]


def test_definitions_are_a_view_of_the_registry() -> None:
    definitions = tool_definitions(full().exposed("core", read_only=True))
    assert definitions == [
        {
            "name": "core_retrieve_text",
            "description": "Describes retrieve_text.",
            "parameters": {"type": "object", "additionalProperties": False, "properties": {}},
        }
    ]
    assert len(tool_definitions(full())) == 5


def test_a_tool_is_added_by_the_owner_of_its_namespace_only() -> None:
    registry = ToolRegistry(OWNERS)
    with pytest.raises(PluginError, match="belongs to eagle-rag-biomed"):
        registry.add(spec("biomed", "query_entities", owner="evil"))
    with pytest.raises(PluginError, match="belongs to eagle-rag-core"):
        registry.add(spec("core", "get_anything", owner="eagle-rag-biomed"))
    with pytest.raises(PluginError, match="belongs to no enabled pack"):
        registry.add(spec("bio", "query_entities", owner="eagle-rag-biomed"))


def test_nobody_takes_the_core_by_declaring_it() -> None:
    with pytest.raises(PluginError, match="belongs to eagle-rag-core"):
        ToolRegistry({"core": "evil"}).add(spec("core", "get_anything", owner="evil"))


def test_a_name_registered_twice_is_refused_with_both_owners() -> None:
    """Reported as PrefectHQ/fastmcp#3825."""
    registry = full()
    with pytest.raises(PluginError, match="registered twice") as refused:
        registry.add(spec("law", "search_cases"))
    assert refused.value.message.count("eagle-rag-law") == 2
    assert "function" in refused.value.message


def test_several_tools_are_added_or_none() -> None:
    registry = ToolRegistry(OWNERS)
    with pytest.raises(PluginError, match="registered twice"):
        registry.extend([spec("law", "get_a"), spec("law", "get_b"), spec("law", "get_b")])
    assert len(registry) == 0


@pytest.mark.parametrize(
    "name",
    ["law_get_Cases", "law_get-cases", "law_get cases", "law_get_cases\n", "law_" + "a" * 61, "l"],
)
def test_names_are_refused_not_repaired(name: str) -> None:
    """Reported as HKUDS/nanobot#4618."""
    odd = dataclasses.replace(spec("law", "get_cases"), name=name)
    with pytest.raises(PluginError, match="is not valid"):
        ToolRegistry(OWNERS).add(odd)


def test_a_renamed_tool_does_not_slip_past_the_guard() -> None:
    registry = ToolRegistry(OWNERS)
    with pytest.raises(GuardError, match="delete"):
        registry.add(dataclasses.replace(spec("law", "get_cases"), name="law_delete_cases"))
    with pytest.raises(GuardError, match="namespace"):
        registry.add(dataclasses.replace(spec("law", "get_cases"), name="core_get_cases"))


def test_no_other_tool_takes_the_writers_effect() -> None:
    with pytest.raises(PluginError, match="must be 'read'"):
        ToolRegistry(OWNERS).add(dataclasses.replace(spec("law", "get_cases"), effect="ingest"))


def test_long_names_are_noted_without_a_warning_at_every_start(
    caplog: pytest.LogCaptureFixture,
) -> None:
    registry = ToolRegistry(OWNERS)
    with caplog.at_level(logging.DEBUG):
        registry.add(spec("law", "search_" + "a" * 19))
        assert not caplog.records
        registry.add(spec("law", "search_" + "a" * 20))
    (record,) = caplog.records
    assert "31 characters" in record.getMessage()
    assert record.levelno == logging.DEBUG


def test_a_frozen_registry_takes_no_more_tools() -> None:
    registry = full()
    registry.freeze()
    with pytest.raises(PluginError, match="frozen"):
        registry.add(spec("law", "get_more"))
    assert registry.get("law_search_cases") is not None
