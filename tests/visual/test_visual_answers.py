"""Answers from figures and tables, and the rules that choose them."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import pytest
from models.model_servers import model_server
from PIL import Image
from visual_library import SETTINGS, Seen
from visual_samples import draw_report, picture

from eagle_rag_core.query.router import choose_route
from eagle_rag_core.testing import PackLibrary


@pytest.mark.parametrize(
    ("query", "mode"),
    [
        ("What does the chart of honey show?", "hybrid"),
        ("see Figure 3", "hybrid"),
        ("Which screenshot has the button?", "hybrid"),
        ("图3显示了什么", "hybrid"),
        ("产量的表格", "hybrid"),
        ("这张图片里有什么", "hybrid"),
        ("How do I figure out the cause?", "text"),
        ("What does the table of contents say?", "text"),
        ("这表示什么", "text"),
        ("图书馆几点开门", "text"),
        ("What do otters eat?", "text"),
    ],
)
def test_the_question_decides_and_the_reason_says_so(query: str, mode: str) -> None:
    route = choose_route("auto", query, seeing=True).route
    assert route.mode == mode
    assert ("says" in route.reason) is (mode == "hybrid")


@pytest.mark.parametrize("mode", ["text", "visual", "hybrid"])
def test_what_is_asked_for_is_done(mode: str) -> None:
    assert choose_route(mode, "the chart", seeing=True).route.mode == mode


@pytest.mark.parametrize("mode", ["visual", "auto"])
def test_a_table_is_quoted_with_its_place(seen: Seen, mode: str) -> None:
    question = "Which origin does the table name for the pigment malachite?"
    answer = seen.library.call("core_query", query=question, mode=mode)
    assert answer["route"]["mode"] == ("visual" if mode == "visual" else "hybrid")
    cited = [source for source in answer["sources"] if source["image_id"]]
    assert cited and "Urals" in answer["answer"]
    for source in cited:
        assert source["page"] == seen.places["paint"].page
        assert source["position"].count(",") == 3
        assert (source["start"], source["end"]) == (0, 0)
        assert source["text"] and f"[{source['n']}]" in answer["answer"]


def test_text_questions_cite_no_region(seen: Seen) -> None:
    answer = seen.library.call("core_query", query="When was the line to the coast opened?")
    assert answer["route"]["mode"] == "text"
    assert answer["sources"] and not any(source["image_id"] for source in answer["sources"])


def test_nothing_relevant_is_said_of_pictures_too(seen: Seen) -> None:
    answer = seen.library.call("core_query", query="quarks and gluons", mode="visual")
    assert answer["sources"] == []


class Reader:
    """A model that looks: it says what colour most of what is drawn on the first image is."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def __call__(self, path: str, body: Any) -> tuple[int, Any]:
        content = body["messages"][-1]["content"]
        self.seen.append(content)
        said = "NOTHING FOUND"
        if isinstance(content, list):
            urls = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
            image = Image.open(io.BytesIO(base64.b64decode(urls[0].partition(",")[2])))
            colours = image.convert("RGB").resize((60, 40)).getcolors(10_000)
            drawn = [(count, rgb) for count, rgb in colours if min(rgb) < 170]
            _, (red, green, blue) = max(drawn)
            named = max((red, "reddish"), (green, "greenish"), (blue, "bluish"))[1]
            said = f"The drawing is {named} [1]."
        return 200, {"choices": [{"message": {"content": said}, "finish_reason": "stop"}]}


def test_a_model_that_reads_images_is_shown_the_regions(tmp_path: Path) -> None:
    draw_report(tmp_path / "report.pdf")
    reader = Reader()
    with model_server(reader) as server:
        llm = {"base_url": server.url, "model": "eye", "vision": True}
        settings = {**SETTINGS, "models": {"ocr": "none", "llm": llm}}
        with PackLibrary(tmp_path / "home", settings=settings) as library:
            library.ingest(tmp_path / "report.pdf")
            question = "Which colour has the picture of the rings of the antenna dish?"
            answer = library.call("core_query", query=question, mode="visual")
            sent = base64.b64encode(picture("disc", (200, 60, 50))).decode()
            library.call("core_query", query=question, mode="visual", image_base64=sent)
    assert answer["answer"] == "The drawing is bluish. [1]"
    assert answer["route"]["synthesis"] == "generated"
    (source,) = answer["sources"]
    assert source["image_id"] and source["position"]
    texts = [part["text"] for part in reader.seen[0] if part["type"] == "text"]
    assert any("Image of passage 1" in text for text in texts)
    kinds = [part["type"] for part in reader.seen[1]]
    assert kinds.count("image_url") > [part["type"] for part in reader.seen[0]].count("image_url")
