"""A language model for tests: it says what it was told to say, behind a real server."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler

_POLL: Final = 0.01


class ScriptedModel:
    """An OpenAI-compatible server on a free port of the loopback interface.

    The core talks to it as to any other, so that timeouts, streaming and errors are the real ones.
    It answers with what :meth:`say` was given, in order; asked once more than that, with status
    500, which the core reports as ``model_unavailable``.

    Close it, or use it in a ``with`` statement.
    """

    def __init__(self, *answers: str) -> None:
        from http.server import ThreadingHTTPServer

        self._answers = deque(answers)
        #: The conversation of every request: messages of ``role`` and ``content``.
        self.conversations: list[Sequence[Mapping[str, Any]]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self._reply))
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_POLL,), name="scripted-model", daemon=True
        )
        self._thread.start()

    def say(self, *answers: str) -> None:
        """Further answers."""
        self._answers.extend(answers)

    @property
    def prompts(self) -> list[str]:
        """The last message of every request: of ``ctx.llm.complete(prompt)`` the prompt."""
        return [str(messages[-1]["content"]) for messages in self.conversations]

    @property
    def settings(self) -> dict[str, str]:
        """The section ``models.llm`` of a deployment that uses this model."""
        host, port = self._server.server_address[:2]
        return {"base_url": f"http://{host!s}:{port}/v1", "model": "scripted"}

    def close(self) -> None:
        """Stop the server."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _reply(self, request: Mapping[str, Any]) -> str | None:
        self.conversations.append(request["messages"])
        return self._answers.popleft() if self._answers else None


def _handler(reply: Any) -> type[BaseHTTPRequestHandler]:
    """Handles ``POST …/chat/completions``.

    :param reply: gives the text for the body of a request, ``None`` to fail.
    """
    from http.server import BaseHTTPRequestHandler

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            text = reply(body)
            data = _events(text).encode() if text is not None else b"no answer is left"
            self.send_response(200 if text is not None else 500)
            self.send_header("content-type", "text/event-stream")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Nothing; the output of tests is their own."""

    return Handler


def _events(text: str) -> str:
    """A text as the events of a streamed chat completion, word by word."""
    pieces = text.split(" ")
    rows: list[dict[str, Any]] = [
        {"delta": {"content": piece if at == 0 else f" {piece}"}} for at, piece in enumerate(pieces)
    ]
    rows.append({"delta": {}, "finish_reason": "stop"})
    lines = [f"data: {json.dumps({'choices': [{'index': 0, **row}]})}\n\n" for row in rows]
    return "".join([*lines, "data: [DONE]\n\n"])
