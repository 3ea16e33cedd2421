"""The engine as LlamaIndex components, in the hands of LlamaIndex's own parts."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import ImageNode, NodeRelationship, TextNode
from llama_index.core.tools import BaseTool, QueryEngineTool, RetrieverTool
from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)

sys.path.append(str(Path(__file__).parents[1] / "models"))

from model_servers import model_server
from served_model import ServedModel, scripted_agent

from eagle_rag_core.errors import InvalidArgument, NotFound
from eagle_rag_core.integrations.llama_index import (
    EagleRouterQueryEngine,
    KnowhereGraphRetriever,
    PixelRAGVisualRetriever,
    RetrieverOrchestrator,
)
from eagle_rag_core.integrations.llama_index_filters import conditions_of
from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.types import LOCAL, Caller, Condition, FilterOp

KETTLE = "# Care\n\n## Descaling\n\nA kettle is descaled with vinegar every three months.\n"
TEA = "# Tea\n\nGreen tea is steeped for two minutes. The kettle is hot.\n"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PackLibrary]:
    with PackLibrary(tmp_path_factory.mktemp("home")) as made:
        made.ingest_text(KETTLE, "kettle.md", kb_name="house")
        made.ingest_text(TEA, "tea.md", kb_name="kitchen")
        yield made


def test_passages_are_nodes_with_their_place(library: PackLibrary) -> None:
    (first, *_) = KnowhereGraphRetriever(library.app).retrieve("how is a kettle descaled")
    node = first.node
    assert node.text in KETTLE
    assert KETTLE[node.start_char_idx : node.end_char_idx] == node.text
    assert node.metadata["path"] == "Care > Descaling"
    assert node.metadata["kb_name"] == "house"
    source = node.relationships[NodeRelationship.SOURCE]
    assert source.node_id == node.metadata["document_id"]
    assert first.score is not None and 0 < first.score <= 1


def test_filters_narrow_and_callers_see_their_own(library: PackLibrary) -> None:
    titled = MetadataFilters(filters=[MetadataFilter(key="title", value="Tea")])
    found = KnowhereGraphRetriever(library.app, filters=titled).retrieve("kettle")
    assert {node.node.metadata["kb_name"] for node in found} == {"kitchen"}
    guest = Caller("guest", kbs=frozenset({"kitchen"}))
    found = KnowhereGraphRetriever(library.app, caller=guest).retrieve("kettle")
    assert {node.node.metadata["kb_name"] for node in found} == {"kitchen"}
    with pytest.raises(NotFound):
        KnowhereGraphRetriever(library.app, caller=guest, kb_name="house").retrieve("kettle")


def test_an_answer_is_a_response_with_its_quotes(library: PackLibrary) -> None:
    engine = EagleRouterQueryEngine(library.app)
    response = engine.query("How is a kettle descaled?")
    assert "vinegar" in str(response)
    assert response.metadata is not None
    assert response.metadata["route"]["mode"] == "text"
    quote = response.source_nodes[0].node
    assert quote.get_content() in str(response)
    assert asyncio.run(engine.aquery("How is a kettle descaled?")).response == response.response


def test_several_retrievers_are_fused_by_llama_index(library: PackLibrary) -> None:
    titled = MetadataFilters(filters=[MetadataFilter(key="title", value="Tea")])
    retrievers = [
        KnowhereGraphRetriever(library.app, kb_name="house"),
        RetrieverOrchestrator(library.app, filters=titled),
    ]
    fused = QueryFusionRetriever(
        retrievers, llm=MockLLM(), num_queries=1, mode=FUSION_MODES.RECIPROCAL_RANK
    )
    found = fused.retrieve("kettle")
    assert {node.node.metadata["kb_name"] for node in found} == {"house", "kitchen"}
    again = asyncio.run(fused.aretrieve("kettle"))
    assert [node.node.node_id for node in again] == [node.node.node_id for node in found]


def agents_answer(library: PackLibrary, tool: BaseTool) -> tuple[str, list[Any]]:
    """What an agent with one tool says, and what its model was asked."""
    with model_server(scripted_agent) as server:
        agent = FunctionAgent(tools=[tool], llm=ServedModel(server.url))

        async def ask() -> str:
            return str(await agent.run("How is a kettle descaled?"))

        return asyncio.run(ask()), [body for _, body, _ in server.requests]


def test_an_agent_answers_from_the_library(library: PackLibrary) -> None:
    tool = QueryEngineTool.from_defaults(
        EagleRouterQueryEngine(library.app), name="library", description="The user's documents."
    )
    said, asked = agents_answer(library, tool)
    assert said.startswith("The library says: ") and "vinegar" in said
    assert [message["role"] for message in asked[-1]["messages"]][-2:] == ["assistant", "tool"]


def test_an_agent_retrieves_from_the_library(library: PackLibrary) -> None:
    tool = RetrieverTool.from_defaults(
        RetrieverOrchestrator(library.app, top_k=1), name="passages", description="The library."
    )
    said, _ = agents_answer(library, tool)
    assert "three months" in said and "steeped" not in said


@dataclass
class Region:
    """A region of a page, as a visual index finds it."""

    document_id: str
    image_id: str = "i1"
    kb_name: str = "house"
    page: int = 2
    position: str = "0,0,1,0.5"
    score: float = 1.0
    matched_by: str = "text"
    text: str = "A diagram of a kettle"


@pytest.fixture
def seeing(library: PackLibrary, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Gives the library a visual index that finds one region; what it was asked."""
    asked: list[Any] = []

    class Index:
        def search(self, caller: Caller, query: str, **options: Any) -> SimpleNamespace:
            asked.append((caller, query, options))
            return SimpleNamespace(hits=[Region("d1")])

    services = replace(library.app.services(), visual=Index())
    monkeypatch.setattr(library.app, "services", lambda: services)
    return asked


def test_regions_are_image_nodes_with_their_place(library: PackLibrary, seeing: list[Any]) -> None:
    filters = MetadataFilters(filters=[MetadataFilter(key="title", value="Care")])
    (found,) = PixelRAGVisualRetriever(library.app, top_k=3, filters=filters).retrieve("kettle")
    assert isinstance(found.node, ImageNode)
    assert (found.node.node_id, found.node.text) == ("i1", "A diagram of a kettle")
    assert found.node.metadata["page"] == 2
    assert found.node.metadata["position"] == "0,0,1,0.5"
    assert found.node.relationships[NodeRelationship.SOURCE].node_id == "d1"
    ((caller, query, options),) = seeing
    assert (caller, query, options["top_k"]) == (LOCAL, "kettle", 3)
    assert options["request"].filter == (Condition("title", FilterOp.EQ, "Care"),)


@pytest.mark.parametrize(
    ("mode", "kinds"),
    [
        ("auto", [TextNode, ImageNode]),
        ("hybrid", [TextNode, ImageNode]),
        ("text", [TextNode]),
        ("visual", [ImageNode]),
    ],
)
def test_the_orchestrator_fuses_what_its_mode_asks_for(
    library: PackLibrary, seeing: list[Any], mode: str, kinds: list[type]
) -> None:
    retriever = RetrieverOrchestrator(library.app, mode=mode, kb_name="house", top_k=2)
    found = retriever.retrieve("descaled")
    assert sorted(type(node.node).__name__ for node in found) == sorted(k.__name__ for k in kinds)


def test_a_library_without_pictures_shows_none(library: PackLibrary) -> None:
    assert PixelRAGVisualRetriever(library.app).retrieve("kettle") == []
    assert RetrieverOrchestrator(library.app, mode="hybrid").retrieve("kettle")
    with pytest.raises(InvalidArgument, match="mode must be one of"):
        RetrieverOrchestrator(library.app, mode="smell")


def only(key: str, operator: FilterOperator, value: Any) -> tuple[Condition, ...]:
    part = MetadataFilter(key=key, operator=operator, value=value)
    return conditions_of(MetadataFilters(filters=[part]))


@pytest.mark.parametrize(
    ("key", "operator", "value", "expected"),
    [
        ("title", FilterOperator.EQ, "Tea", [("title", FilterOp.EQ, "Tea")]),
        ("document_id", FilterOperator.NE, "x", [("id", FilterOp.NE, "x")]),
        ("year", FilterOperator.GTE, 1999, [("metadata.year", FilterOp.GE, "1999")]),
        ("metadata.year", FilterOperator.LT, 5, [("metadata.year", FilterOp.LT, "5")]),
        ("tags", FilterOperator.IN, ["a", "b"], [("tags", FilterOp.IN, "a,b")]),
        ("tags", FilterOperator.ANY, ["a"], [("tags", FilterOp.IN, "a")]),
        (
            "tags",
            FilterOperator.ALL,
            ["a", "b"],
            [("tags", FilterOp.EQ, "a"), ("tags", FilterOp.EQ, "b")],
        ),
        ("language", FilterOperator.NIN, ["de"], [("language", FilterOp.NE, "de")]),
        ("title", FilterOperator.CONTAINS, "ea", [("title", FilterOp.CONTAINS, "ea")]),
    ],
)
def test_filters_become_conditions(
    key: str, operator: FilterOperator, value: Any, expected: list[tuple[str, FilterOp, str]]
) -> None:
    found = only(key, operator, value)
    assert [(part.field, part.op, part.value) for part in found] == expected


@pytest.mark.parametrize(
    ("operator", "value"),
    [
        (FilterOperator.IS_EMPTY, None),
        (FilterOperator.EQ, ["a"]),
        (FilterOperator.IN, ["a,b"]),
        (FilterOperator.EQ, None),
    ],
)
def test_a_filter_that_cannot_be_applied_is_refused(operator: FilterOperator, value: Any) -> None:
    with pytest.raises(InvalidArgument):
        only("title", operator, value)


def test_nested_filters_are_joined_and_alternatives_refused() -> None:
    part = MetadataFilter(key="title", value="a")
    nested = MetadataFilters(filters=[part, MetadataFilters(filters=[part])])
    assert len(conditions_of(nested)) == 2
    assert conditions_of(None) == ()
    for condition in (FilterCondition.OR, FilterCondition.NOT):
        with pytest.raises(InvalidArgument):
            conditions_of(MetadataFilters(filters=[part, part], condition=condition))


def test_the_engine_never_imports_llama_index() -> None:
    script = "import sys, eagle_rag_core.engine, eagle_rag_core.api.mcp_http\n"
    script += "print('llama_index' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def test_the_example_works(tmp_path: Path) -> None:
    examples = Path(__file__).parents[2] / "examples"

    def run(*arguments: str) -> str:
        environment = {"EAGLE_RAG_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, **environment},
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("-m", "eagle_rag_core.cli.main", "ingest", str(examples / "corpus" / "espresso-machine.md"))
    said = run(str(examples / "llama_index_agent.py"), "How do I descale the machine?")
    assert "descal" in said.lower()
