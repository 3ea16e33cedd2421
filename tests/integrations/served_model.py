"""A LlamaIndex model that asks a server over the OpenAI protocol, and a server with a script."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from llama_index.core.llms import ChatMessage, ChatResponse, LLMMetadata
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools import BaseTool
from pydantic import PrivateAttr

from eagle_rag_core.models.model_server import ModelServer


def scripted_agent(path: str, body: Any) -> tuple[int, Any]:
    """Asks the first tool the user's question, then repeats what the tool said."""
    assert path == "/v1/chat/completions"
    last = body["messages"][-1]
    if last["role"] == "tool":
        message: dict[str, Any] = {"content": f"The library says: {last['content']}"}
    else:
        (parameter, *_) = body["tools"][0]["function"]["parameters"]["properties"]
        function = {
            "name": body["tools"][0]["function"]["name"],
            "arguments": json.dumps({parameter: last["content"]}),
        }
        message = {
            "content": None,
            "tool_calls": [{"id": "call-1", "type": "function", "function": function}],
        }
    return 200, {"choices": [{"message": {"role": "assistant", **message}}]}


class ServedModel(FunctionCallingLLM):
    """Chats with a server, tools included.

    :param base_url: up to ``/v1``.
    """

    _server: ModelServer = PrivateAttr()

    def __init__(self, base_url: str) -> None:
        super().__init__()
        self._server = ModelServer("the model", base_url, timeout=10)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_function_calling_model=True)

    def chat(self, messages: Sequence[ChatMessage], tools: Any = (), **_: Any) -> ChatResponse:
        body = {"model": "m", "messages": list(map(_sent, messages)), "tools": tools}
        said = self._server.post("chat/completions", body)["choices"][0]["message"]
        calls = said.get("tool_calls", [])
        message = ChatMessage(
            role="assistant", content=said["content"] or "", additional_kwargs={"tool_calls": calls}
        )
        return ChatResponse(message=message, raw=said, delta=said["content"] or "")

    async def achat(
        self, messages: Sequence[ChatMessage], tools: Any = (), **_: Any
    ) -> ChatResponse:
        return await asyncio.to_thread(self.chat, messages, tools)

    async def astream_chat(
        self, messages: Sequence[ChatMessage], tools: Any = (), **_: Any
    ) -> AsyncGenerator[ChatResponse, None]:
        async def once() -> AsyncGenerator[ChatResponse, None]:
            yield await self.achat(messages, tools)

        return once()

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **_: Any
    ) -> list[ToolSelection]:
        return [
            ToolSelection(
                tool_id=call["id"],
                tool_name=call["function"]["name"],
                tool_kwargs=json.loads(call["function"]["arguments"]),
            )
            for call in response.message.additional_kwargs["tool_calls"]
        ]

    def _prepare_chat_with_tools(
        self,
        tools: Sequence[BaseTool],
        user_msg: Any = None,
        chat_history: list[ChatMessage] | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        described = [tool.metadata.to_openai_tool() for tool in tools]
        return {"messages": chat_history or [], "tools": described}

    def _unused(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("the agent chats")

    complete = acomplete = stream_chat = stream_complete = astream_complete = _unused


def _sent(message: ChatMessage) -> dict[str, Any]:
    sent: dict[str, Any] = {"role": message.role.value, "content": message.content}
    for name in ("tool_calls", "tool_call_id"):
        if message.additional_kwargs.get(name):
            sent[name] = message.additional_kwargs[name]
    return sent
