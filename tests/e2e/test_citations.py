"""Citations are exact: the quoted words stand in the document where the source says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from e2e import rows
from e2e.product import Deployment
from e2e.servers import Launcher, StdioServer

CORPUS = Path(__file__).parents[2] / "examples" / "corpus"
QUESTIONS = [
    "What hardness should the water of the machine have?",
    "How long are call recordings kept?",
    "Who signs the deletion log?",
    "How much ice thickness did the glacier lose?",
    "When did the meltwater discharge peak?",
    "Where do rough periwinkles live?",
]


@pytest.fixture(scope="module")
def server(shared_deployment: Deployment, shared_launcher: Launcher) -> StdioServer:
    """A server with the example corpus: Markdown, HTML, Word and PDF."""
    server = shared_launcher.stdio(
        shared_deployment.with_settings(ingest__allowed_roots=[str(CORPUS)])
    )
    for path in sorted(CORPUS.iterdir()):
        server.add(path)
    return server


def ask(server: StdioServer, question: str) -> dict[str, Any]:
    reply = server.call("core_query", query=question)
    assert not reply.is_error, reply.raw
    return dict(reply.payload)


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_source_quotes_the_stored_text(
    server: StdioServer, shared_deployment: Deployment, question: str
) -> None:
    answer = ask(server, question)
    assert answer["sources"]
    for source in answer["sources"]:
        text = rows.document_text(shared_deployment, source["document_id"])
        assert 0 <= source["start"] < source["end"] <= len(text)
        assert text[source["start"] : source["end"]] == source["text"]
        assert source["page"] == 0 or source["source_uri"].endswith(".pdf")


@pytest.mark.parametrize("question", QUESTIONS)
def test_answer_and_sources_belong_together(server: StdioServer, question: str) -> None:
    answer = ask(server, question)
    numbers = [source["n"] for source in answer["sources"]]
    cited = {int(number) for number in re.findall(r"\[(\d+)\]", answer["answer"])}
    assert cited == set(numbers) == set(range(1, len(numbers) + 1))
    flat = " ".join(answer["answer"].split())
    for source in answer["sources"]:
        assert " ".join(source["text"].split()) in flat


def test_passages_lie_in_their_documents(
    server: StdioServer, shared_deployment: Deployment
) -> None:
    hits = server.call("core_retrieve_text", query="water machine glacier records", top_k=20)
    assert hits.payload
    for hit in hits.payload:
        text = rows.document_text(shared_deployment, hit["metadata"]["document_id"])
        assert hit["text"] in text


def test_nothing_relevant_is_said_to_be_nothing(server: StdioServer) -> None:
    answer = ask(server, "zymurgy quaternions xylophone")
    assert answer["sources"] == []
    assert "Nothing relevant" in answer["answer"]


def test_a_passage_on_a_page_names_it(server: StdioServer) -> None:
    hits = server.call("core_retrieve_text", query="glacier survey", top_k=5).payload
    pages = [
        hit["metadata"]["page"] for hit in hits if hit["metadata"]["source_uri"].endswith(".pdf")
    ]
    assert pages and min(pages) >= 1
