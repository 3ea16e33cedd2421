"""Every schema is inside what all clients and model APIs accept, and everything has a bound.

A rule comes from the client or API that breaks without it; one tool outside often takes all
others with it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import eagle_rag_biomed
import eagle_rag_lakehouse_bi
from eagle_rag_core.api.tools import listed_tool
from eagle_rag_core.app import EagleApp
from eagle_rag_core.models.token_counts import estimate_json_tokens
from eagle_rag_core.plugins import ToolSpec
from eagle_rag_core.settings import load_settings
from eagle_rag_core.testing.library import pack_from

Schema = dict[str, Any]

PACKS: dict[str, ModuleType] = {
    "biomed": eagle_rag_biomed,
    "lakehouse_bi": eagle_rag_lakehouse_bi,
}
SNAPSHOT = Path(__file__).parent / "core_tools.json"
SEARCH = ["query", "scope", "top_k", "kb_name", "scope_filter", "filter", "include_images"]
#: Parameters of the core's tools, the required ones first; a change breaks clients.
PARAMETERS = {
    "core_get_document": ["document_id", "max_chars", "cursor"],
    "core_get_job": ["job_id"],
    "core_get_outline": ["document_id", "limit", "cursor"],
    "core_get_section": ["document_id", "section_id", "max_chars", "cursor"],
    "core_ingest": ["source_uri", "source_type", "kb_name", "tags", "title", "metadata"],
    "core_list_documents": ["kb_name", "filter", "limit", "cursor"],
    "core_list_kbs": ["limit", "cursor"],
    "core_query": ["query", "mode", "scope", "kb_name", "scope_filter"],
    "core_retrieve_text": SEARCH,
    "core_retrieve_visual": SEARCH,
}


def exposed(home: Path, *packs: ModuleType, **mcp: Any) -> tuple[ToolSpec, ...]:
    sources = [pack_from(pack) for pack in packs]
    plugins = {"default_namespace": sources[0].record.namespace} if packs else {}
    overrides = {"home": home, "models": {"text_embedder": "none"}, "plugins": plugins, "mcp": mcp}
    app = EagleApp.open(load_settings(overrides=overrides), packs=sources)
    tools = tuple(app.pipeline.tools.values())
    app.close()
    return tools


@pytest.fixture(scope="module")
def deployments(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[ToolSpec, ...]]:
    """The tools of the core alone, and beside each of the packs."""
    home = tmp_path_factory.mktemp("home")
    return {
        "core": exposed(home / "core"),
        **{name: exposed(home / name, pack) for name, pack in PACKS.items()},
    }


@pytest.fixture(scope="module")
def every_tool(deployments: dict[str, tuple[ToolSpec, ...]]) -> dict[str, ToolSpec]:
    return {spec.name: spec for tools in deployments.values() for spec in tools}


def shown(spec: ToolSpec) -> Schema:
    """A tool as clients get it."""
    listed = listed_tool(spec).to_mcp_tool(name=spec.name)
    return dict(listed.model_dump(mode="json", by_alias=True, exclude_none=True))


def nodes(schema: Schema, path: str = "") -> Iterator[tuple[str, Schema]]:
    """Every schema inside one, with its place."""
    yield path, schema
    for name, child in schema.get("properties", {}).items():
        yield from nodes(child, f"{path}.{name}")
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from nodes(schema[key], f"{path}[]")


class Breaches:
    """The rules, as messages about what breaks them."""

    #: What every one of them reads: Gemini's Schema object (ai.google.dev/api/caching#Schema) has
    #: these keywords and no others, and refuses a request with an unknown one; clients take away
    #: additionalProperties, which OpenAI wants (gemini-cli PR 22210).
    KEYWORDS = frozenset(
        "type description enum default properties required items minimum maximum minLength "
        "maxLength minItems maxItems minProperties maxProperties pattern "
        "additionalProperties".split()
    )
    TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object"})

    @classmethod
    def of_name(cls, name: str) -> Iterator[str]:
        # Claude and OpenAI: ^[a-zA-Z0-9_-]{1,64}$; Gemini: begins with a letter, at most 63.
        # Cursor leaves out what has more than 60 with the server's name before it
        # (chrome-devtools-mcp#1169).
        if not re.fullmatch(r"[a-z][a-z0-9_]{0,62}", name):
            yield "name"
        if len(f"mcp_eagle-rag_{name}") > 64:
            yield "name with prefix"

    @classmethod
    def of_schema(cls, schema: Schema) -> Iterator[str]:
        # OpenAI and MCP: the root is an object. MCP says so of both schemas.
        if schema.get("type") != "object" or not isinstance(schema.get("properties"), dict):
            yield "root"
        for place, node in nodes(schema):
            for breach in cls._of_node(node):
                yield f"{place}: {breach}"

    @classmethod
    def _of_node(cls, node: Schema) -> Iterator[str]:
        # cursor/cursor#3778 refuses ["null", "string"]; unions of types break all tools on Gemini
        # (copilot-cli#4623, mcp-server-excel#672, gitlab-mcp#166), and so
        # do $ref, anyOf, oneOf and allOf. One type, by name, and nothing but known keywords.
        if str(node.get("type")) not in cls.TYPES:
            yield f"type {node.get('type')!r}"
        if unknown := set(node) - cls.KEYWORDS:
            yield f"keywords {sorted(unknown)}"
        # Gemini: enums are of strings.
        if "enum" in node and (
            node["type"] != "string" or not all(isinstance(v, str) for v in node["enum"])
        ):
            yield "enum of something else than strings"
        # OpenAI: "array schema missing items".
        if node.get("type") == "array" and not isinstance(node.get("items"), dict):
            yield "array without items"
        # Claude: keys of properties are ^[a-zA-Z0-9_.-]{1,64}$; LlamaIndex makes attributes of
        # them, which do not begin with an underscore.
        for name in node.get("properties", {}):
            if not re.fullmatch(r"[a-zA-Z][a-zA-Z0-9_]{0,63}", name):
                yield f"property {name!r}"
        # A default is of its own type, or LlamaIndex's models refuse to call without it.
        if "default" in node and not isinstance(node["default"], _PYTHON[node["type"]]):
            yield "default of another type"
        # OpenAI lists each required property among the properties.
        if set(node.get("required", ())) - set(node.get("properties", ())):
            yield "required without property"

    @classmethod
    def of_inputs(cls, schema: Schema) -> Iterator[str]:
        for place, node in nodes(schema):
            # OpenAI's strict mode: objects are closed. One with keys of the caller's own has values
            # of one type instead.
            further = node.get("additionalProperties")
            if node["type"] == "object" and further is not False and not isinstance(further, dict):
                yield f"{place}: open object"
            for bound in _BOUNDS.get(node["type"], ()):
                if "enum" not in node and bound not in node:
                    yield f"{place}: no {bound}"
            if isinstance(further, dict) and "maxProperties" not in node:
                yield f"{place}: no maxProperties"
        # OpenAI's strict mode: at most 5 levels and 100 properties.
        if max(place.count(".") + place.count("[]") for place, _ in nodes(schema)) > 5:
            yield "too deep"


_PYTHON: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}
_BOUNDS = {
    "string": ("maxLength",),
    "integer": ("minimum", "maximum"),
    "number": ("minimum", "maximum"),
    "array": ("maxItems",),
}


def test_names_and_schemas_are_in_the_intersection_of_all_clients(
    every_tool: dict[str, ToolSpec],
) -> None:
    long = {"lakehouse_bi_query_semantic_context"}
    for name, spec in every_tool.items():
        tool = shown(spec)
        assert name in long or not list(Breaches.of_name(name)), name
        for schema in (tool["inputSchema"], tool["outputSchema"], spec.output_schema):
            assert list(Breaches.of_schema(schema)) == [], name


def test_every_number_string_and_list_of_the_input_has_bounds(
    every_tool: dict[str, ToolSpec],
) -> None:
    for name, spec in every_tool.items():
        assert list(Breaches.of_inputs(spec.input_schema)) == [], name


@pytest.mark.parametrize(
    "node",
    [
        {"type": ["null", "string"]},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"$ref": "#/$defs/X"},
        {"type": "array"},
        {"type": "integer", "enum": [1, 2]},
        {"type": "string", "const": "a"},
        {"type": "string", "default": 5},
        {"type": "object", "properties": {"_hidden": {"type": "string"}}},
    ],
)
def test_the_rules_find_what_breaks_them(node: Schema) -> None:
    schema = {"type": "object", "properties": {"x": node}}
    assert list(Breaches.of_schema(schema))


def test_the_bounds_are_missed_where_they_are_missing() -> None:
    schema = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "text": {"type": "string"},
            "number": {"type": "integer", "minimum": 1},
            "list": {"type": "array", "items": {"type": "string", "maxLength": 1}},
            "map": {"type": "object", "additionalProperties": {"type": "string", "maxLength": 1}},
            "open": {"type": "object", "properties": {}},
        },
    }
    assert list(Breaches.of_inputs(schema)) == [
        ".text: no maxLength",
        ".number: no maximum",
        ".list: no maxItems",
        ".map: no maxProperties",
        ".open: open object",
    ]


def test_llama_index_makes_models_of_the_schemas(every_tool: dict[str, ToolSpec]) -> None:
    from llama_index.tools.mcp import McpToolSpec

    maker = McpToolSpec(client=None)  # type: ignore[arg-type]
    for name, spec in every_tool.items():
        model = maker.create_model_from_json_schema(spec.input_schema, model_name=f"{name}_Schema")
        assert list(model.model_fields) == list(spec.input_schema["properties"])
        required = {key for key, field in model.model_fields.items() if field.is_required()}
        assert required == set(spec.input_schema.get("required", ()))


def test_every_tool_has_four_annotations_a_title_and_plain_texts(
    every_tool: dict[str, ToolSpec],
) -> None:
    for name, spec in every_tool.items():
        tool = shown(spec)
        assert set(tool["annotations"]) == {
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        }
        assert tool["annotations"]["readOnlyHint"] is (name != "core_ingest")
        texts = [tool["title"], tool["description"]]
        texts += [node.get("description", "x") for _, node in nodes(tool["inputSchema"])]
        # mcp-grafana#521: gateways refuse back-ticks in descriptions.
        assert all(text and text.isascii() and "`" not in text for text in texts), name


def test_tools_and_their_parameters_are_these_in_this_order(
    deployments: dict[str, tuple[ToolSpec, ...]],
) -> None:
    written = {spec.name: list(spec.input_schema["properties"]) for spec in deployments["core"]}
    assert written == PARAMETERS
    for tools in deployments.values():
        names = [spec.name for spec in tools]
        assert names == sorted(names)


def test_a_read_only_deployment_does_not_ingest(tmp_path: Path) -> None:
    names = [spec.name for spec in exposed(tmp_path / "home", read_only=True)]
    assert names == [name for name in PARAMETERS if name != "core_ingest"]


def test_a_client_is_shown_types_of_results_and_no_more(every_tool: dict[str, ToolSpec]) -> None:
    for spec in every_tool.values():
        whole, listed = spec.output_schema, shown(spec)["outputSchema"]
        assert list(listed["properties"]) == list(whole["properties"])
        for name, field in listed["properties"].items():
            full = whole["properties"][name]
            assert set(field) <= {"type", "items"}
            assert field["type"] == full["type"]
            assert field.get("items", {}).get("type") == full.get("items", {}).get("type")
        assert "required" not in listed and "_meta" not in shown(spec)


#: Tokens of what a model is given of all tools: name, description and input schema.
FOR_THE_MODEL = {"core": 2800, "biomed": 6800, "lakehouse_bi": 6900}
#: Tokens of the whole list of tools.
FOR_THE_CLIENT = {"core": 4300, "biomed": 8500, "lakehouse_bi": 10100}


@pytest.mark.parametrize("deployment", FOR_THE_MODEL)
def test_the_list_of_tools_leaves_room_for_the_conversation(
    deployments: dict[str, tuple[ToolSpec, ...]], deployment: str
) -> None:
    tools = [shown(spec) for spec in deployments[deployment]]
    given = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in tools]
    assert estimate_json_tokens(given) <= FOR_THE_MODEL[deployment]
    assert estimate_json_tokens(tools) <= FOR_THE_CLIENT[deployment]


def test_the_contract_of_the_core_is_what_was_frozen(
    deployments: dict[str, tuple[ToolSpec, ...]],
) -> None:
    """Regenerate with UPDATE_DOCS=1, and say in the change log what clients have to know."""
    contract = {
        spec.name: {**shown(spec), "outputSchema": spec.output_schema}
        for spec in deployments["core"]
    }
    text = json.dumps(contract, indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("UPDATE_DOCS"):
        SNAPSHOT.write_text(text, "utf-8")
    assert SNAPSHOT.read_text("utf-8") == text, "the tools changed; UPDATE_DOCS=1 accepts it"
