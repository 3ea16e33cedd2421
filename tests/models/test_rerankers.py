from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from model_servers import Answer, model_server, overlap_reranker

from eagle_rag_core.errors import ConfigError, ModelError
from eagle_rag_core.models.rerankers import core_reranker
from eagle_rag_core.settings.sections import RerankSettings
from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.types import Hit


def hit(text: str) -> Hit:
    return Hit(text, "d", "k", text, score=0.5, start=0, end=len(text))


def settings(**changes: Any) -> RerankSettings:
    return RerankSettings.model_validate(changes)


@pytest.mark.parametrize("protocol", ["cohere", "tei"])
def test_a_server_orders_the_hits(protocol: str) -> None:
    hits = [hit("a cup of tea"), hit("how to descale a kettle"), hit("descale")]
    with model_server(overlap_reranker) as server:
        reranker = core_reranker(
            "http",
            settings(base_url=server.url, protocol=protocol, model="m", api_key="secret"),
        )
        assert reranker is not None
        found = reranker.rerank("descale a kettle", hits)
    assert [hit.text for hit in found] == [
        "how to descale a kettle",
        "a cup of tea",
        "descale",
    ]
    ((path, body, token),) = server.requests
    assert (path, body["model"], token) == ("/v1/rerank", "m", "secret")


def test_passages_that_the_server_leaves_out_come_last() -> None:
    def best_only(path: str, body: Any) -> tuple[int, Any]:
        return 200, {"results": [{"index": 2, "relevance_score": 0.9}]}

    with model_server(best_only) as server:
        reranker = core_reranker("http", settings(base_url=server.url))
        assert reranker is not None
        found = reranker.rerank("q", [hit("a"), hit("b"), hit("c")])
    assert [hit.text for hit in found] == ["c", "a", "b"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda path, body: (200, "<html>"), "no JSON"),
        (lambda path, body: (200, {}), "no field 'results'"),
        (lambda path, body: (200, {"results": []}), "no scores"),
        (lambda path, body: (200, {"results": [{"index": 7, "relevance_score": 1}]}), "index"),
        (lambda path, body: (200, {"results": [{"index": 0, "relevance_score": "x"}]}), "number"),
        (lambda path, body: (200, {"results": [{"index": 0}]}), "relevance_score"),
        (lambda path, body: (401, {"error": "key sk-1234 is not known"}), "401"),
    ],
)
def test_an_answer_that_cannot_be_used_is_an_error_of_ours(answer: Answer, reason: str) -> None:
    with model_server(answer) as server:
        reranker = core_reranker("http", settings(base_url=server.url))
        assert reranker is not None
        with pytest.raises(ModelError, match=reason) as caught:
            reranker.rerank("q", [hit("a")])
    assert "sk-1234" not in caught.value.message
    assert server.url not in caught.value.message
    assert len(server.requests) == 1


def test_a_server_that_is_starting_is_asked_again() -> None:
    answers = iter([(503, {}), (429, {})])

    def answer(path: str, body: Any) -> tuple[int, Any]:
        return next(answers, None) or overlap_reranker(path, body)

    with model_server(answer) as server:
        reranker = core_reranker("http", settings(base_url=server.url, timeout=20))
        assert reranker is not None
        assert reranker.rerank("a", [hit("a")])
    assert len(server.requests) == 3


def test_a_server_that_is_not_there_is_an_error_in_time() -> None:
    with model_server(overlap_reranker) as server:
        url = server.url
    reranker = core_reranker("http", settings(base_url=url, timeout=0.2))
    assert reranker is not None
    with pytest.raises(ModelError, match="does not answer") as caught:
        reranker.rerank("q", [hit("a")])
    assert caught.value.retryable


def test_http_needs_to_know_where() -> None:
    with pytest.raises(ConfigError, match=r"models\.rerank\.base_url"):
        core_reranker("http", settings())


def test_a_missing_fastembed_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed.rerank.cross_encoder", None)
    reranker = core_reranker("fastembed:Xenova/ms-marco-MiniLM-L-6-v2", settings())
    assert reranker is not None
    with pytest.raises(ModelError, match=r"eagle-rag-core\[fastembed\]"):
        reranker.rerank("q", [hit("a")])


def library(home: Path, url: str, name: str = "http") -> PackLibrary:
    models = {"reranker": name, "rerank": {"base_url": url, "timeout": 0.5}}
    return PackLibrary(home, settings={"models": models})


def test_a_search_is_reranked_and_survives_the_reranker(tmp_path: Path) -> None:
    tea = "Tea. How tea is made, how tea is kept and how tea is drunk."
    kettle = "Whoever wants to know how to descale a kettle takes vinegar instead of tea."
    with model_server(overlap_reranker) as server, library(tmp_path, server.url) as books:
        books.ingest_text(tea, "tea.md")
        books.ingest_text(kettle, "kettle.md")
        question = "how tea kettle"
        first = books.call("core_retrieve_text", query=question)
        assert [hit["text"] for hit in first] == [kettle, tea]
        server.close()
        left = books.call("core_query", query=question)
        (step,) = (step for step in left["steps"] if step["name"] == "rerank:http")
        assert step["status"] == "failed"
        assert len(left["sources"]) > 0


def test_an_unknown_reranker_is_refused_at_start_with_what_is_known(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"'htp'.*did you mean 'http'.*fastembed:<model>"):
        library(tmp_path, "http://127.0.0.1:1", name="htp")


def test_a_key_that_a_server_repeats_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    with model_server(lambda path, body: (401, {"error": "bad key sk-secret"})) as server:
        reranker = core_reranker("http", settings(base_url=server.url, api_key="sk-secret"))
        assert reranker is not None
        with pytest.raises(ModelError):
            reranker.rerank("q", [hit("a")])
    assert "bad key [key]" in caplog.text
    assert "sk-secret" not in caplog.text


def test_an_address_without_its_scheme_is_refused() -> None:
    with pytest.raises(ValueError, match="base_url"):
        settings(base_url="127.0.0.1:9")
