"""The visual tools as clients get them."""

from __future__ import annotations

import asyncio
import base64
import io
from typing import Any

import pytest
from fastmcp import Client
from PIL import Image
from visual_library import Seen

from eagle_rag_core.api.mcp_server import build_server
from eagle_rag_core.tools.illustrating import MAX_BYTES, MAX_PICTURES
from eagle_rag_core.types import Caller

STRANGER = Caller("stranger", kbs=frozenset({"other"}))


def over_mcp(seen: Seen, tool: str, **arguments: Any) -> Any:
    async def run() -> Any:
        async with Client(build_server(seen.library.app)) as client:
            return await client.call_tool(tool, arguments)

    return asyncio.run(run())


def test_hits_come_as_structured_content_without_images(seen: Seen) -> None:
    hits = seen.library.call("core_retrieve_visual", query="milk of the dairies", top_k=3)
    assert 1 < len(hits) <= 3
    assert hits[0]["kind"] == "figure" and hits[0]["page"] == seen.places["milk"].page
    wanted = {"image_id", "document_id", "page", "position", "score", "kb_name", "matched_by"}
    assert set(hits[0]) >= {*wanted, "text", "truncated"}


def outcome_of(seen: Seen, tool: str, caller: Caller, **arguments: Any) -> Any:
    call = seen.library.app.pipeline.call(tool, arguments, caller=caller, face="test")
    return asyncio.run(call)


@pytest.mark.parametrize("tool", ["core_retrieve_visual", "core_retrieve_text"])
def test_images_come_beside_the_result_as_often_as_asked(seen: Seen, tool: str) -> None:
    arguments = {"query": "ferries, dairies and honey of the town", "top_k": 20}
    for _ in range(2):  # the second answer comes from the cache
        shown = outcome_of(seen, tool, Caller("a"), **arguments, include_images=True)
        assert 1 <= len(shown.pictures) <= MAX_PICTURES
        assert sum(len(picture.data) for picture in shown.pictures) <= MAX_BYTES
        assert len({picture.data for picture in shown.pictures}) == len(shown.pictures)
    assert outcome_of(seen, tool, Caller("a"), **arguments).pictures == ()
    assert outcome_of(seen, tool, STRANGER, **arguments, include_images=True).pictures == ()


def test_over_mcp_each_image_stands_behind_its_label(seen: Seen) -> None:
    result = over_mcp(
        seen, "core_retrieve_visual", query="storm signal bars", top_k=1, include_images=True
    )
    text, label, image = result.content
    assert (text.type, label.type, image.type) == ("text", "text", "image")
    (hit,) = result.structured_content["result"]
    assert hit["image_id"] in label.text and label.text.startswith("Hit 1: figure")
    assert image.mime_type == "image/jpeg"
    picture = Image.open(io.BytesIO(base64.b64decode(image.data)))
    assert picture.format == "JPEG"
    assert picture.width > 1.5 * picture.height, "the crop, not the page"


def test_without_an_image_model_no_tool_takes_images(seen: Seen) -> None:
    tools = seen.library.app.pipeline.tools
    assert "core_retrieve_by_image" not in tools
    assert "image_base64" not in tools["core_query"].input_schema["properties"]
