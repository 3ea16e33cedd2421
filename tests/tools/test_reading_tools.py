"""Reading documents through tools: outline first, then sections and texts, part by part."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingest.parsers.parser_samples import heading_and_text, pdf
from tool_library import TENANT, ToolLibrary

from eagle_rag_core.catalog.cursors import encode_place
from eagle_rag_core.models.token_counts import estimate_json_tokens, estimate_tokens
from eagle_rag_core.service.reading import _beginning, headings_of
from eagle_rag_core.types import LOCAL, Section

GUIDE = """# Sea otters

About them.

## Diet

They eat urchins.

### Tools

They break shells with stones.

## Habitat

Kelp forests.

## Diet

A second part on food.
"""
PLAIN = "Only text, and no heading at all. " * 30


@pytest.fixture(scope="module")
def guide(tools: ToolLibrary) -> str:
    return tools.add(GUIDE, "guide.md", tags=("sea",), metadata={"year": "2024", "note": "n" * 900})


@pytest.fixture(scope="module")
def plain(tools: ToolLibrary) -> str:
    return tools.add(PLAIN, "plain.txt")


def parts(tools: ToolLibrary, tool: str, **arguments: Any) -> Iterator[dict[str, Any]]:
    """All parts of a text, or pages of a list."""
    cursor = ""
    while True:
        found = tools.call(tool, cursor=cursor, **arguments)
        yield found
        cursor = found["next_cursor"]
        if not cursor:
            return


def section(tools: ToolLibrary, document_id: str, title: str) -> dict[str, Any]:
    items = tools.call("core_get_outline", document_id=document_id)["items"]
    return next(item for item in items if item["title"] == title)


def test_the_outline_is_the_tree_of_headings_in_reading_order(
    tools: ToolLibrary, guide: str
) -> None:
    items = tools.call("core_get_outline", document_id=guide)["items"]
    names = {item["section_id"]: item["title"] for item in items} | {"": ""}
    assert [(item["level"], item["title"], names[item["parent_id"]]) for item in items] == [
        (1, "Sea otters", ""),
        (2, "Diet", "Sea otters"),
        (3, "Tools", "Diet"),
        (2, "Habitat", "Sea otters"),
        (2, "Diet", "Sea otters"),
    ]
    assert len(names) == 6, "two sections of one name have an id each"


def test_a_document_without_headings_has_an_empty_outline(tools: ToolLibrary, plain: str) -> None:
    outline = tools.call("core_get_outline", document_id=plain)
    assert (outline["items"], outline["next_cursor"]) == ([], "")


def test_pages_of_an_outline_are_the_outline(tools: ToolLibrary, guide: str) -> None:
    whole = tools.call("core_get_outline", document_id=guide)["items"]
    pages = list(parts(tools, "core_get_outline", document_id=guide, limit=2))
    assert [len(page["items"]) for page in pages] == [2, 2, 1]
    assert [item for page in pages for item in page["items"]] == whole


def test_a_section_comes_with_its_subsections_and_nothing_else(
    tools: ToolLibrary, guide: str
) -> None:
    diet = section(tools, guide, "Diet")
    read = tools.call("core_get_section", document_id=guide, section_id=diet["section_id"])
    assert read["text"].startswith("## Diet") and "break shells" in read["text"]
    assert "Kelp" not in read["text"] and "second part" not in read["text"]
    assert (read["title"], read["path"], read["level"]) == ("Diet", "Sea otters > Diet", 2)
    assert len(read["text"]) == read["total_chars"] == diet["chars"] == read["end"] - read["start"]


def test_headings_and_parts_name_their_pages(tools: ToolLibrary) -> None:
    def write(document: Any) -> None:
        for title in ("First", "Second", "Third"):
            document.add_page()
            heading_and_text(document, title, f"Text of the {title.lower()} chapter. " * 12)

    document_id = tools.add(pdf(write), "chapters.pdf")
    items = tools.call("core_get_outline", document_id=document_id)["items"]
    assert {item["title"]: item["page"] for item in items} == {"First": 1, "Second": 2, "Third": 3}
    third = section(tools, document_id, "Third")["section_id"]
    assert tools.call("core_get_section", document_id=document_id, section_id=third)["page"] == 3
    assert tools.call("core_get_document", document_id=document_id)["page"] == 1


def test_a_document_says_what_is_known_of_it(tools: ToolLibrary, guide: str) -> None:
    read = tools.call("core_get_document", document_id=guide)
    assert read["text"].strip() == GUIDE.strip()
    assert (read["title"], read["tags"]) == ("Sea otters", ["sea"])
    assert read["metadata"]["year"] == "2024"
    assert len(read["metadata"]["note"]) == 301 and read["metadata"]["note"].endswith("…")
    assert (read["start"], read["end"]) == (0, read["total_chars"])


@pytest.mark.parametrize("max_chars", [200, 333, 1000])
def test_the_parts_of_a_text_are_the_text(tools: ToolLibrary, plain: str, max_chars: int) -> None:
    whole = tools.call("core_get_document", document_id=plain)["text"]
    found = list(parts(tools, "core_get_document", document_id=plain, max_chars=max_chars))
    assert "".join(part["text"] for part in found) == whole
    assert all(len(part["text"]) <= max_chars for part in found)
    assert [part["start"] for part in found[1:]] == [part["end"] for part in found[:-1]]
    assert all(part["text"].endswith(" ") for part in found[:-1]), "no word is torn"


def test_the_parts_of_a_section_end_with_it(tools: ToolLibrary) -> None:
    text = f"# One\n\n{'Alpha beta. ' * 60}\n\n# Two\n\nGamma.\n"
    document_id = tools.add(text, "two.md")
    one = section(tools, document_id, "One")
    found = list(
        parts(
            tools,
            "core_get_section",
            document_id=document_id,
            section_id=one["section_id"],
            max_chars=200,
        )
    )
    assert len(found) > 3
    assert sum(len(part["text"]) for part in found) == one["chars"]
    assert "Gamma" not in found[-1]["text"]


@given(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=400),
    st.integers(1, 300),
    st.integers(1, 120),
)
def test_a_part_is_a_beginning_within_its_bounds(text: str, chars: int, tokens: int) -> None:
    part = _beginning(text, chars, tokens)
    assert part and text.startswith(part) and len(part) <= chars
    assert len(part) == 1 or estimate_json_tokens(part) <= tokens


def ids_of(tools: ToolLibrary, document_id: str) -> set[str]:
    items = tools.call("core_get_outline", document_id=document_id)["items"]
    return {item["section_id"] for item in items}


def test_ids_of_sections_survive_what_does_not_concern_them(tools: ToolLibrary) -> None:
    before = tools.add(GUIDE, "changing.md")
    ids = ids_of(tools, before)
    changed = GUIDE.replace("## Diet", "## Size\n\nSmall.\n\n## Diet", 1) + "\n## More\n\nText.\n"
    assert tools.add(changed, "changing.md") == before
    after = ids_of(tools, before)
    assert ids < after
    assert len(after) == len(ids) + 2


def test_ids_of_sections_are_those_of_their_document() -> None:
    sections = [
        Section(0, -1, 0, "", "", 0, 0, 9),
        Section(1, 0, 1, "A", "A", 0, 9, 9),
    ]
    one, other = (headings_of(document, sections)[0].section_id for document in ("a", "b"))
    assert one != other and len(one) == 12


def test_a_title_repeated_ten_thousand_times_has_ten_thousand_ids() -> None:
    sections = [Section(n, 0, 1, "Day", "Day", n, n, n) for n in range(1, 10_001)]
    assert len({heading.section_id for heading in headings_of("d", sections)}) == 10_000


@pytest.mark.parametrize("tool", ["core_get_document", "core_get_outline", "core_get_section"])
def test_an_unknown_and_a_forbidden_document_are_answered_alike(
    tools: ToolLibrary, guide: str, tool: str
) -> None:
    more = {"section_id": "0" * 12} if tool == "core_get_section" else {}
    answers = {
        asked: tools.refusal(tool, by=TENANT, document_id=asked, **more)
        for asked in (guide, "0" * 32, "no id", "../../etc/passwd")
    }
    texts = {text.replace(asked, "") for asked, (_, text) in answers.items()}
    assert {code for code, _ in answers.values()} == {"document_not_found"}
    assert len(texts) == 1


def test_an_unknown_section_is_not_found(tools: ToolLibrary, guide: str, plain: str) -> None:
    for document_id, section_id in ((guide, "0" * 12), (guide, "x"), (plain, "0" * 12)):
        code, text = tools.refusal(
            "core_get_section", document_id=document_id, section_id=section_id
        )
        assert (code, "outline" in text) == ("section_not_found", True)


def test_a_cursor_of_another_text_is_refused(tools: ToolLibrary, guide: str, plain: str) -> None:
    of_plain = tools.call("core_get_document", document_id=plain, max_chars=200)["next_cursor"]
    diet = section(tools, guide, "Diet")["section_id"]
    version = tools.app.services().documents.get(LOCAL, guide).info.version_id
    refused: list[dict[str, Any]] = [
        {"document_id": guide, "cursor": of_plain},
        {"document_id": guide, "cursor": encode_place(version, 10**9)},
        {"document_id": guide, "section_id": diet, "cursor": encode_place(version, 0)},
        {"document_id": guide, "cursor": "bm90IG91cnM"},
    ]
    for arguments in refused:
        tool = "core_get_section" if "section_id" in arguments else "core_get_document"
        assert tools.refusal(tool, **arguments)[0] == "invalid_argument"


def test_a_text_that_is_replaced_is_not_continued(tools: ToolLibrary) -> None:
    document_id = tools.add(PLAIN, "replaced.txt")
    cursor = tools.call("core_get_document", document_id=document_id, max_chars=200)["next_cursor"]
    tools.add(PLAIN + "And more.", "replaced.txt")
    code, text = tools.refusal("core_get_document", document_id=document_id, cursor=cursor)
    assert code == "invalid_argument" and "begin again" in text


@pytest.mark.parametrize("script", ["缓存预热 ", "plain words ", '"quoted"\\ \n', "\N{OTTER}"])
def test_a_text_longer_than_an_answer_is_continued_not_cut(tmp_path: Any, script: str) -> None:
    library = ToolLibrary(tmp_path / "home", settings={"mcp": {"max_result_tokens": 500}})
    try:
        document_id = library.add(f"# Title\n\n{script * 900}", "long.md")
        one = section(library, document_id, "Title")["section_id"]
        for tool, more in (
            ("core_get_document", {}),
            ("core_get_section", {"section_id": one}),
        ):
            found = list(parts(library, tool, document_id=document_id, max_chars=100_000, **more))
            assert len(found) > 2
            assert all(
                estimate_tokens(json.dumps(part, ensure_ascii=False)) <= 550 for part in found
            )
            assert all(estimate_json_tokens(part) <= 500 for part in found)
            assert sum(len(part["text"]) for part in found) == found[0]["total_chars"]
            assert not any("truncated" in part for part in found)
    finally:
        library.close()
