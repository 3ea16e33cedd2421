"""The chat model against real servers: those that stream, and those that do not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from model_servers import Answer, model_server

from eagle_rag_core.errors import ModelError
from eagle_rag_core.models.llm import ChatModel
from eagle_rag_core.settings.sections import LLMSettings


def ask(answer: Answer) -> str:
    with model_server(answer) as server:
        return ChatModel(LLMSettings(base_url=server.url, model="m", timeout=5)).complete("Hello?")


def whole(content: Any) -> dict[str, Any]:
    """A completion as servers answer that do not stream."""
    message = {"role": "assistant", "content": content}
    return {"object": "chat.completion", "choices": [{"index": 0, "message": message}]}


@pytest.mark.parametrize("indent", [None, 2])
def test_a_server_that_does_not_stream_is_understood(indent: int | None) -> None:
    body = json.dumps(whole('Good day,\n"dear" {reader}.'), indent=indent)
    assert ask(lambda path, asked: (200, body)) == 'Good day,\n"dear" {reader}.'


def test_an_answer_without_a_word_is_empty() -> None:
    assert ask(lambda path, asked: (200, whole(None))) == ""


def test_a_streamed_answer_comes_in_pieces() -> None:
    pieces = [{"choices": [{"delta": {"content": text}}]} for text in ("Good ", "{day}")]
    body = "".join(f"data: {json.dumps(piece)}\n\n" for piece in pieces) + "data: [DONE]\n\n"
    assert ask(lambda path, asked: (200, body)) == "Good {day}"


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "no such model"}},
        {"choices": []},
        {"choices": [{"message": "Hello"}]},
        whole(["no", "text"]),
        '{"choices": [{"mess',
    ],
    ids=["error", "no choice", "no message", "no text", "cut off"],
)
def test_any_other_body_is_misunderstood(body: Any) -> None:
    with pytest.raises(ModelError, match="does not understand"):
        ask(lambda path, asked: (200, body))
