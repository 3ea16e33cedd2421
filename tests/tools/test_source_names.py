"""Who is no user of this machine learns nothing of its folders, whatever is asked."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tool_library import REMOTE, ToolLibrary

from eagle_rag_core.service.pack_access import ScopedSearch
from eagle_rag_core.types import LOCAL, ScopeRequest, acting_for

TEXT = "# Otters\n\nSea otters eat urchins.\n"
URL = "https://example.org/otters"


@pytest.fixture(scope="module")
def ids(tools: ToolLibrary, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A document in a folder of the inbox, one of another folder, one with an odd name."""
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "outside.md"
    elsewhere.write_text(TEXT + "Outside.\n")
    return {
        "reports/2024/inside.md": tools.add(TEXT + "Inside.\n", "reports/2024/inside.md"),
        "outside.md": tools.add_path(elsewhere, any_path=True),
        "%E3%83%86 100%25.md".replace(" ", "%20"): tools.add(TEXT + "Odd.\n", "テ 100%.md"),
    }


def uris(tools: ToolLibrary, *, by: Any = REMOTE, **condition: str) -> set[str]:
    filters = [{"field": "source_uri", **condition}] if condition else []
    found = tools.call("core_list_documents", by=by, filter=filters)["items"]
    return {item["source_uri"] for item in found}


def test_users_of_this_machine_see_where_files_lie(tools: ToolLibrary, ids: dict[str, str]) -> None:
    shown = uris(tools, by=LOCAL)
    assert all(uri.startswith("file:///") for uri in shown)
    assert (tools.home / "inbox/reports/2024/inside.md").as_uri() in shown


def test_others_see_the_path_from_the_allowed_folder_or_the_bare_name(
    tools: ToolLibrary, ids: dict[str, str]
) -> None:
    assert uris(tools) == set(ids)


def test_every_tool_names_a_source_alike(tools: ToolLibrary, ids: dict[str, str]) -> None:
    hits = tools.call("core_retrieve_text", by=REMOTE, query="otters urchins", top_k=9)
    sources = tools.call("core_query", by=REMOTE, query="What do otters eat?")["sources"]
    read = [tools.call("core_get_document", by=REMOTE, document_id=each) for each in ids.values()]
    assert {hit["metadata"]["source_uri"] for hit in hits} == set(ids)
    assert sources and {source["source_uri"] for source in sources} <= set(ids)
    assert {each["document_id"]: each["source_uri"] for each in read} == {
        document_id: uri for uri, document_id in ids.items()
    }
    said = json.dumps([hits, sources, read])
    assert str(tools.home) not in said and "file:" not in said


def test_pieces_of_an_answer_and_hits_of_packs_are_no_exception(
    tools: ToolLibrary, ids: dict[str, str]
) -> None:
    heard: list[Any] = []
    services, engine = tools.app.services(), tools.app.engine()
    services.answer.answer(
        REMOTE, "What do otters eat?", mode="text", request=ScopeRequest(), listener=heard.append
    )
    search = ScopedSearch(engine.catalog, engine.orchestrator)
    with acting_for(REMOTE):
        hits = search.text("otters urchins", top_k=9)
        hits += search.passages([hit.node_id for hit in hits])
    assert len(hits) == 6 and {hit.source_uri for hit in hits} == set(ids)
    assert any(not isinstance(piece, str) for piece in heard)
    assert "file:" not in repr(heard)


@pytest.mark.parametrize(
    ("op", "value", "expected"),
    [
        ("eq", "outside.md", {"outside.md"}),
        ("in", "outside.md, reports/2024/inside.md", {"outside.md", "reports/2024/inside.md"}),
        ("prefix", "reports/", {"reports/2024/inside.md"}),
        ("contains", "2024", {"reports/2024/inside.md"}),
        ("contains", "100%25", {"%E3%83%86%20100%25.md"}),
        ("ne", "outside.md", {"reports/2024/inside.md", "%E3%83%86%20100%25.md"}),
        ("ge", "p", {"reports/2024/inside.md"}),
    ],
)
def test_filters_compare_what_is_shown(
    tools: ToolLibrary, ids: dict[str, str], op: str, value: str, expected: set[str]
) -> None:
    assert uris(tools, op=op, value=value) == expected
    filters = [{"field": "source_uri", "op": op, "value": value}]
    hits = tools.call("core_retrieve_text", by=REMOTE, query="otters", top_k=9, filter=filters)
    assert {hit["metadata"]["source_uri"] for hit in hits} == expected


def test_no_filter_tells_what_is_not_shown(tools: ToolLibrary, ids: dict[str, str]) -> None:
    folder = (tools.home / "inbox").as_uri()
    assert len(uris(tools, by=LOCAL, op="prefix", value=folder)) == 2
    for op in ("prefix", "contains", "eq"):
        for value in (folder, "file:", "/home", tools.home.name, f"{folder}/テ 100%.md"):
            assert uris(tools, op=op, value=value) == set()


def test_a_refused_path_is_named_as_it_was_given(tools: ToolLibrary, ids: dict[str, str]) -> None:
    for path in ("reports/missing.md", "../catalog.db", "/etc/passwd"):
        _, text = tools.refusal("core_ingest", by=REMOTE, source_uri=path)
        assert str(tools.home) not in text


def test_resources_name_sources_alike(tools: ToolLibrary, ids: dict[str, str]) -> None:
    from eagle_rag_core.api.resources import LibraryResources
    from eagle_rag_core.api.tools import Entry

    entry = Entry(tools.app.pipeline, lambda: REMOTE, "test")
    resources = LibraryResources(entry, tools.app.services, 20_000)
    read = tools.run(asyncio.wait_for(resources._read_kb("default"), 20))
    said = read.contents[0].content
    assert isinstance(said, str) and "file:" not in said and "outside.md" in said
    assert Path(json.loads(said)["items"][0]["source_uri"]).name.endswith(".md")
