"""A library whose answers a language model writes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from test_generation import chat

sys.path.append(str(Path(__file__).parents[1] / "models"))

from model_servers import Answer, model_server

from eagle_rag_core.errors import ConfigError
from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.testing.fake_distributions import pack_code, pack_manifest

FACT = "Acme was founded in 1999 by Ada Berg."


def ask(home: Path, answer: Answer, question: str = "Who founded Acme?") -> dict[str, Any]:
    with model_server(answer) as server:
        llm = {"base_url": server.url, "model": "m", "timeout": 0.5}
        with PackLibrary(home, settings={"models": {"llm": llm}}) as library:
            library.ingest_text(f"# Acme\n\n{FACT} It makes kettles.\n", "acme.md")
            answered: dict[str, Any] = library.call("core_query", query=question)
            return answered


def test_the_model_writes_and_the_library_proves(tmp_path: Path) -> None:
    said = "Acme was founded by Ada Berg [1]. It sold submarines to Mars [1]."
    answered = ask(tmp_path, chat(lambda _: said))
    assert answered["answer"] == "Acme was founded by Ada Berg. [1]"
    assert answered["route"]["synthesis"] == "generated"
    (source,) = answered["sources"]
    assert source["text"] == FACT


def test_a_model_that_is_down_leaves_quotes(tmp_path: Path) -> None:
    answered = ask(tmp_path, lambda path, body: (503, {}))
    assert answered["route"]["synthesis"] == "extractive"
    assert FACT in answered["answer"]
    steps = {step["name"]: step["status"] for step in answered["steps"]}
    assert (steps["generate"], steps["extract"]) == ("failed", "ok")


def test_a_model_that_invents_everything_leaves_quotes(tmp_path: Path) -> None:
    answered = ask(tmp_path, chat(lambda _: "Bob Stone owns submarines on Mars [1]."))
    assert answered["route"]["synthesis"] == "extractive"
    assert FACT in answered["answer"]


def test_a_model_that_finds_nothing_is_believed(tmp_path: Path) -> None:
    answered = ask(tmp_path, chat(lambda _: "NOTHING FOUND"))
    assert answered["answer"].startswith("Nothing relevant")
    assert answered["sources"] == []


def test_the_model_is_not_asked_when_nothing_is_relevant(tmp_path: Path) -> None:
    def never(path: str, body: Any) -> tuple[int, Any]:
        raise AssertionError("asked")

    assert ask(tmp_path, never, "zebra crossing stripes")["sources"] == []


def test_a_server_without_a_model_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"models\.llm\.model"):
        PackLibrary(tmp_path, settings={"models": {"llm": {"base_url": "http://127.0.0.1:1"}}})


def test_packs_may_ask_the_model(tmp_path: Path) -> None:
    from types import ModuleType

    from eagle_rag_core.plugins import explicit_pack

    module = ModuleType("asking")
    code = pack_code(
        "asking", in_hook="global CTX; CTX = ctx", in_tool="query = CTX.llm.complete(query)"
    )
    exec(compile(code, "asking.py", "exec"), vars(module))
    pack = explicit_pack(module.pack, pack_manifest("asking"))
    with model_server(chat(lambda messages: f"You said {messages[0]['content']}")) as server:
        settings = {"models": {"llm": {"base_url": server.url, "model": "m"}}}
        with PackLibrary(tmp_path, pack, settings=settings) as library:
            found = library.call("asking_query_things", query="hello")
    assert found == [{"name": "You said hello"}]
