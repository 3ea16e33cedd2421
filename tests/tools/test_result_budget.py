"""No answer is longer than ``mcp.max_result_tokens``, and nothing is lost for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tool_library import ToolLibrary

from eagle_rag_core.models.token_counts import estimate_json_tokens
from eagle_rag_core.types import LOCAL

LIMIT = 800
DOCUMENTS, KBS, HEADINGS = 12, 30, 60


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ToolLibrary]:
    """A library whose titles, tags and texts are long, and a small limit."""
    settings = {"mcp": {"max_result_tokens": LIMIT}}
    library = ToolLibrary(tmp_path_factory.mktemp("budget") / "home", settings=settings)
    for n in range(DOCUMENTS):
        library.add(
            f"# Otters {n}\n\n{'Sea otters eat urchins. ' * 60}",
            f"{n}.md",
            title=f"On otters {n}, " + "at length " * 12,
            tags=tuple(f"tag {k} {'x' * 20}" for k in range(4)),
        )
    for n in range(KBS):
        library.app.services().kbs.create(LOCAL, f"kb-{n:02}", title="A long title. " * 12)
    yield library
    library.close()


def everything(tools: ToolLibrary, tool: str, **arguments: Any) -> list[Any]:
    """The items of all pages, each within the limit."""
    cursor, found = "", []
    while True:
        page = tools.call(tool, cursor=cursor, **arguments)
        assert estimate_json_tokens(page) <= LIMIT
        assert page["items"]
        found += page["items"]
        cursor = page["next_cursor"]
        if not cursor:
            return found


def test_pages_of_documents_get_smaller_and_leave_none_out(tools: ToolLibrary) -> None:
    assert len(tools.call("core_list_documents", limit=100)["items"]) < DOCUMENTS
    found = everything(tools, "core_list_documents", limit=100)
    assert len({item["document_id"] for item in found}) == len(found) == DOCUMENTS


def test_pages_of_knowledge_bases_do_too(tools: ToolLibrary) -> None:
    found = everything(tools, "core_list_kbs", limit=500)
    names = [item["name"] for item in found]
    assert names == sorted(["default", *(f"kb-{n:02}" for n in range(KBS))])


def test_pages_of_an_outline_do_too(tools: ToolLibrary) -> None:
    headings = "\n\n".join(f"## {n} {'on and on ' * 8}\n\nText." for n in range(HEADINGS))
    document_id = tools.add(f"# All\n\n{headings}\n", "outline.md", kb_name="outlines")
    found = everything(tools, "core_get_outline", document_id=document_id, limit=500)
    assert len(found) == HEADINGS + 1


def test_passages_are_cut_and_say_so(tools: ToolLibrary) -> None:
    hits = tools.call("core_retrieve_text", query="otters urchins", top_k=4)
    assert estimate_json_tokens(hits) <= LIMIT
    assert len(hits) == 4 and any(hit["metadata"]["truncated"] for hit in hits)


def test_an_answer_is_too(tools: ToolLibrary) -> None:
    assert estimate_json_tokens(tools.call("core_query", query="What do sea otters eat?")) <= LIMIT


def test_what_cannot_fit_says_what_to_ask_for(tools: ToolLibrary) -> None:
    code, text = tools.refusal("core_retrieve_text", query="otters urchins", top_k=100)
    assert code == "invalid_argument" and "fewer results" in text


def test_the_largest_page_of_the_defaults_fits(tmp_path: Any) -> None:
    """Reported as infiniflow/ragflow#16369: defaults are inside the product's own limits."""
    library = ToolLibrary(tmp_path / "home")
    try:
        for n in range(40):
            library.add(f"# {n}\n\n{'Sea otters eat urchins. ' * 80}", f"{n}.md")
        for tool, arguments in (
            ("core_query", {"query": "otters"}),
            ("core_retrieve_text", {"query": "otters"}),
            ("core_retrieve_text", {"query": "otters", "top_k": 100}),
            ("core_list_documents", {}),
            ("core_list_documents", {"limit": 100}),
            ("core_list_kbs", {}),
        ):
            assert estimate_json_tokens(library.call(tool, **arguments)) <= 20_000
    finally:
        library.close()
