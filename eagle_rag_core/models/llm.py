"""A chat model behind an OpenAI-compatible ``/chat/completions`` endpoint."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from eagle_rag_core.errors import ConfigError
from eagle_rag_core.models.model_server import ModelServer

if TYPE_CHECKING:
    from eagle_rag_core.settings.sections import LLMSettings

#: ``{"role": …, "content": …}``; the content may also be a list of text and image parts.
Message = Mapping[str, Any]

_DONE: Final = "[DONE]"


class ChatModel:
    """Safe to use from several threads. Nothing is sent before the first use."""

    def __init__(self, settings: LLMSettings) -> None:
        self._settings = settings
        self._server = ModelServer(
            "the language model",
            settings.base_url,
            api_key=settings.api_key.get_secret_value(),
            timeout=settings.timeout,
        )

    @property
    def reads_images(self) -> bool:
        """Whether messages may have images in them."""
        return self._settings.vision

    def complete(self, prompt: str) -> str:
        """The answer to one message of a user.

        :raises ModelError: the model does not answer, or not with text.
        """
        return "".join(self.stream([{"role": "user", "content": prompt}]))

    def stream(self, messages: Sequence[Message]) -> Iterator[str]:
        """The answer to ``messages`` in pieces, as they come; in one, from a server that does
        not stream.

        :raises ModelError: the model does not answer, or not with text.
        """
        body = {
            "model": self._settings.model,
            "messages": list(messages),
            "max_tokens": self._settings.max_tokens,
            "temperature": self._settings.temperature,
            "stream": True,
        }
        ended = False
        lines = self._server.lines("chat/completions", body)
        for line in lines:
            if line.lstrip().startswith("{"):  # as no line of a stream does
                yield from self._whole("\n".join([line, *lines]))
                return
            kind, _, data = line.partition(":")
            if kind != "data" or not data.strip():
                continue  # comments that keep the connection open, names of events
            if data.strip() == _DONE:
                ended = True
                break
            piece, last = self._piece(data)
            ended = ended or last
            if piece:
                yield piece
        if not ended:
            raise self._server.misunderstood("a stream that breaks off")

    def _whole(self, data: str) -> Iterator[str]:
        """The text of an answer that was not streamed, if there is any."""
        try:
            text = json.loads(data)["choices"][0]["message"].get("content") or ""
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise self._server.misunderstood("a body that is no chat completion") from error
        if not isinstance(text, str):
            raise self._server.misunderstood("content that is no text")
        if text:
            yield text

    def _piece(self, data: str) -> tuple[str, bool]:
        """The text of one event, and whether the model says that it is done."""
        try:
            choices = json.loads(data)["choices"]
            choice = choices[0] if choices else {}
            text = (choice.get("delta") or {}).get("content") or ""
            finished = bool(choice.get("finish_reason"))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise self._server.misunderstood("an event that is no chat completion") from error
        if not isinstance(text, str):
            raise self._server.misunderstood("content that is no text")
        return text, finished


def chat_model(settings: LLMSettings) -> ChatModel | None:
    """The deployment's model; None where none is configured.

    :raises ConfigError: it is not said which model the server is to use.
    """
    if not settings.base_url:
        return None
    if not settings.model:
        raise ConfigError("models.llm.base_url is set; set models.llm.model as well.")
    return ChatModel(settings)
