"""What users of other servers reported about their tools, tried on these.

The table in ``docs/reports.md`` says which test covers which report.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tool_library import LOCAL_FILES, REMOTE, ToolLibrary

from eagle_rag_core.api.mcp_http import build_http_app
from eagle_rag_core.types import LOCAL

#: Arguments that a tool cannot do without, by its name.
REQUIRED = {
    "core_get_document": ["document_id"],
    "core_get_job": ["job_id"],
    "core_get_outline": ["document_id"],
    "core_get_section": ["document_id", "section_id"],
    "core_ingest": ["source_uri"],
    "core_list_documents": [],
    "core_list_kbs": [],
    "core_query": ["query"],
    "core_retrieve_text": ["query"],
    "core_retrieve_visual": ["query"],
}


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ToolLibrary]:
    library = ToolLibrary(tmp_path_factory.mktemp("reports") / "home")
    library.add("# Otters\n\nSea otters eat urchins.\n", "otters.md")
    library.app.services().kbs.create(LOCAL, "empty")
    yield library
    library.close()


@pytest.fixture(scope="module")
def least(tools: ToolLibrary) -> dict[str, str]:
    """A good value for every required argument."""
    (item,) = tools.call("core_list_documents")["items"]
    document_id = item["document_id"]
    (heading,) = tools.call("core_get_outline", document_id=document_id)["items"]
    job = tools.call("core_ingest", source_uri="otters.md")
    return {
        "document_id": document_id,
        "section_id": heading["section_id"],
        "job_id": job["job_id"],
        "source_uri": "otters.md",
        "query": "What do otters eat?",
    }


@pytest.mark.parametrize("tool", REQUIRED)
def test_every_tool_works_with_its_required_arguments_only(
    tools: ToolLibrary, least: dict[str, str], tool: str
) -> None:
    """Reported as infiniflow/ragflow#16369: a default broke the tool's own limit."""
    schema = tools.app.pipeline.tools[tool].input_schema
    defaults = {
        name: node["default"] for name, node in schema["properties"].items() if "default" in node
    }
    required = {name: least[name] for name in REQUIRED[tool]}
    tools.call(tool, **required)
    tools.call(tool, **required, **defaults)


@pytest.mark.parametrize("tool", REQUIRED)
def test_what_the_schema_requires_is_what_is_required(
    tools: ToolLibrary, least: dict[str, str], tool: str
) -> None:
    """Reported as infiniflow/ragflow#13981: an "optional" argument was demanded."""
    schema = tools.app.pipeline.tools[tool].input_schema
    assert schema.get("required", []) == REQUIRED[tool]
    for name in REQUIRED[tool]:
        others = {other: least[other] for other in REQUIRED[tool] if other != name}
        code, text = tools.refusal(tool, **others)
        assert (code, f"{name!r} is required" in text) == ("invalid_argument", True)
    optional = [name for name in schema["properties"] if name not in REQUIRED[tool]]
    required = {name: least[name] for name in REQUIRED[tool]}
    for name in optional:  # clients send null for what their model leaves out
        tools.call(tool, **required, **{name: None})


def test_an_omitted_knowledge_base_means_all_for_reading_and_the_default_for_adding(
    tools: ToolLibrary, least: dict[str, str]
) -> None:
    """Reported as infiniflow/ragflow#13981."""
    tools.add("# Seals\n\nSeals eat fish.\n", "seals.md", kb_name="other")
    found = tools.call("core_retrieve_text", query="otters seals", top_k=9)
    assert {hit["metadata"]["kb_name"] for hit in found} == {"default", "other"}
    document_id = tools.call("core_ingest", source_uri="otters.md")["document_id"]
    assert tools.call("core_get_document", document_id=document_id)["kb_name"] == "default"


def test_a_caller_is_listed_the_same_over_mcp_and_rest(tools: ToolLibrary) -> None:
    """Reported as infiniflow/ragflow#13183: one of two faces listed nothing."""
    api = build_http_app(tools.app, host="127.0.0.1")

    async def listed() -> Any:
        transport = httpx2.ASGITransport(api)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return (await client.get("/kbs")).json()

    over_rest = {kb["name"]: kb["documents"] for kb in asyncio.run(listed())["items"]}
    over_mcp = tools.call("core_list_kbs", by=REMOTE)["items"]
    assert over_rest == {kb["name"]: kb["documents"] for kb in over_mcp}
    assert "empty" in over_rest


def test_an_empty_knowledge_base_is_not_an_unknown_one(tools: ToolLibrary) -> None:
    """Reported as infiniflow/ragflow#12586: an empty one was called invalid."""
    assert tools.call("core_retrieve_text", query="otters", kb_name="empty") == []
    assert tools.call("core_list_documents", kb_name="empty")["items"] == []
    answer = tools.call("core_query", query="otters", kb_name="empty")
    assert answer["sources"] == [] and answer["answer"]
    for tool, arguments in (
        ("core_retrieve_text", {"query": "otters"}),
        ("core_list_documents", {}),
        ("core_query", {"query": "otters"}),
    ):
        assert tools.refusal(tool, kb_name="absent", **arguments)[0] == "kb_not_found"


@pytest.mark.parametrize("name", LOCAL_FILES)
def test_a_file_may_be_called_anything(tools: ToolLibrary, name: str) -> None:
    """Reported as infiniflow/ragflow#9964 and langflow-ai/openrag#1661."""
    document_id = tools.add(f"# A file\n\nIts name is no reason to fail: {name!a}.\n", name)
    read = tools.call("core_get_document", by=REMOTE, document_id=document_id)
    (listed,) = tools.call(
        "core_list_documents",
        by=REMOTE,
        filter=[{"field": "source_uri", "op": "eq", "value": read["source_uri"]}],
    )["items"]
    assert listed["document_id"] == document_id
    again = tools.call("core_ingest", source_uri=str(tools.home / "inbox" / name))
    assert (again["document_id"], again["dedup_hit"]) == (document_id, True)


@pytest.mark.parametrize(
    "query",
    [
        "sea-otter",
        'urchins" OR 1=1 --',
        "title:otters AND (urchins",
        "otters*^~?:\\/[]{}!+-&&||",
        "kb_name == 'default' or 1 == 1",
        "NEAR/2 otters",
        "%_%",
    ],
)
def test_no_character_of_a_query_is_syntax(tools: ToolLibrary, query: str) -> None:
    """Reported as getzep/graphiti#1425 and #1295, and mem0ai/mem0#5744."""
    hits = tools.call("core_retrieve_text", query=query, top_k=9, kb_name="default")
    assert {hit["metadata"]["kb_name"] for hit in hits} <= {"default"}
    assert tools.call("core_retrieve_text", query=query, kb_name="empty") == []


def test_a_chinese_question_finds_what_it_asks_for_and_nothing_else(tools: ToolLibrary) -> None:
    """Reported as AgriciDaniel/claude-obsidian#120: no hits, or any hits with a score of zero."""
    wanted = tools.add("# 缓存\n\n缓存预热可以降低首次查询的延迟。\n", "cache.md", kb_name="zh")
    tools.add("# 日志\n\n日志轮转每天执行一次。\n", "logs.md", kb_name="zh")
    hits = tools.call("core_retrieve_text", query="缓存预热", kb_name="zh", top_k=9)
    assert [hit["metadata"]["document_id"] for hit in hits] == [wanted]
    assert all(hit["score"] > 0 for hit in hits)
    assert tools.call("core_retrieve_text", query="量子纠缠", kb_name="zh") == []


def test_rows_that_others_left_in_the_library_break_no_search(tmp_path: Path) -> None:
    """Reported as qdrant/mcp-server-qdrant#47: a foreign payload broke every search."""
    from sqlalchemy import update

    from eagle_rag_core.catalog.schema import documents

    library = ToolLibrary(tmp_path / "home")
    try:
        library.add("# Otters\n\nSea otters eat urchins.\n", "otters.md")
        with library.app.engine().catalog.write() as tx:
            tx.execute(
                update(documents).values(
                    metadata={"n": 5, "list": [1], "map": {"a": None}, "none": None}
                )
            )
        (hit,) = library.call("core_retrieve_text", query="urchins")
        document_id = hit["metadata"]["document_id"]
        read = library.call("core_get_document", document_id=document_id)
        assert read["metadata"]["n"] == "5"
        assert all(isinstance(value, str) for value in read["metadata"].values())
        filters = [{"field": "metadata.n", "op": "ge", "value": "4"}]
        assert len(library.call("core_list_documents", filter=filters)["items"]) == 1
    finally:
        library.close()


def test_an_answer_stays_far_below_what_clients_cut_at(tools: ToolLibrary) -> None:
    """Reported as oraios/serena#516 and Shopify/dev-mcp#58: 25,000 tokens and more."""
    document_id = tools.add("word " * 200_000, "huge.txt", kb_name="huge")
    for tool, arguments in (
        ("core_get_document", {"document_id": document_id, "max_chars": 100_000}),
        ("core_retrieve_text", {"query": "word", "top_k": 100, "kb_name": "huge"}),
    ):
        payload = tools.call(tool, **arguments)
        assert len(json.dumps(payload, ensure_ascii=False)) < 25_000 * 4
