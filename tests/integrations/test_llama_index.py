"""The engine as LlamaIndex components, in the hands of LlamaIndex's own parts."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage, ChatResponse, LLMMetadata, MessageRole, MockLLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import NodeRelationship
from llama_index.core.tools import QueryEngineTool
from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)

from eagle_rag_core.errors import InvalidArgument, NotFound
from eagle_rag_core.integrations.llama_index import EagleRouterQueryEngine, KnowhereGraphRetriever
from eagle_rag_core.integrations.llama_index_filters import conditions_of
from eagle_rag_core.testing import PackLibrary
from eagle_rag_core.types import Caller, Condition, FilterOp

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
    retrievers = [KnowhereGraphRetriever(library.app, kb_name=kb) for kb in ("house", "kitchen")]
    fused = QueryFusionRetriever(
        retrievers, llm=MockLLM(), num_queries=1, mode=FUSION_MODES.RECIPROCAL_RANK
    )
    found = fused.retrieve("kettle")
    assert {node.node.metadata["kb_name"] for node in found} == {"house", "kitchen"}


class ScriptedModel(FunctionCallingLLM):
    """A model that asks the first tool it is given, then repeats what the tool said."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_function_calling_model=True)

    def _reply(self, messages: Sequence[ChatMessage]) -> ChatResponse:
        last = messages[-1]
        if last.role is MessageRole.TOOL:
            content, tools = f"The library says: {last.content}", []
        else:
            content, tools = "", [{"query": str(last.content)}]
        message = ChatMessage(role=MessageRole.ASSISTANT, content=content)
        return ChatResponse(message=message, raw={"tools": tools}, delta=content)

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **_: Any
    ) -> list[ToolSelection]:
        calls = response.raw["tools"] if response.raw else []
        return [
            ToolSelection(tool_id="1", tool_name="library", tool_kwargs={"input": c["query"]})
            for c in calls
        ]

    def _prepare_chat_with_tools(self, tools: Any, *_: Any, **kwargs: Any) -> dict[str, Any]:
        return {"messages": kwargs.get("chat_history") or []}

    def chat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponse:
        return self._reply(messages)

    async def achat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponse:
        return self._reply(messages)

    async def astream_chat(
        self, messages: Sequence[ChatMessage], **_: Any
    ) -> AsyncGenerator[ChatResponse, None]:
        async def once() -> AsyncGenerator[ChatResponse, None]:
            yield self._reply(messages)

        return once()

    def _unused(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("the agent chats")

    complete = acomplete = stream_chat = stream_complete = astream_complete = _unused


def test_an_agent_answers_from_the_library(library: PackLibrary) -> None:
    tool = QueryEngineTool.from_defaults(
        EagleRouterQueryEngine(library.app), name="library", description="The user's documents."
    )
    agent = FunctionAgent(tools=[tool], llm=ScriptedModel())

    async def ask() -> str:
        return str(await agent.run("How is a kettle descaled?"))

    assert "vinegar" in asyncio.run(ask())


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
