"""Small real servers that speak the protocols of model servers, on loopback."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: Status and body of an answer to (path, body); a body that is no str is sent as JSON.
Answer = Callable[[str, Any], tuple[int, Any]]


class ModelStub:
    """One running server.

    :ivar requests: (path, body, bearer token) of every request, in order.
    """

    def __init__(self, answer: Answer) -> None:
        self.requests: list[tuple[str, Any, str]] = []
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                token = self.headers.get("authorization", "").removeprefix("Bearer ")
                stub.requests.append((self.path, body, token))
                status, content = answer(self.path, body)
                data = (content if isinstance(content, str) else json.dumps(content)).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                """Keep the test's output clean."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@contextmanager
def model_server(answer: Answer) -> Iterator[ModelStub]:
    stub = ModelStub(answer)
    try:
        yield stub
    finally:
        stub.close()


def word_overlap(query: str, passage: str) -> float:
    """Part of the query's words that the passage holds: an honest if simple relevance."""
    asked = set(query.lower().split())
    return len(asked & set(passage.lower().split())) / max(1, len(asked))


def overlap_reranker(path: str, body: Any) -> tuple[int, Any]:
    """A reranker by word overlap that speaks both protocols and answers best first."""
    assert path == "/v1/rerank"
    texts, field = (
        (body["documents"], "relevance_score") if "documents" in body else (body["texts"], "score")
    )
    rows = [
        {"index": index, field: word_overlap(body["query"], text)}
        for index, text in enumerate(texts)
    ]
    rows.sort(key=lambda row: -row[field])
    return 200, {"results": rows} if field == "relevance_score" else rows


def word_hashes(text: str, dim: int = 256) -> list[float]:
    """Counts of words, each hashed to a place: texts that share words are near each other."""
    vector = [0.0] * dim
    for word in re.findall(r"\w+", text.lower()):
        vector[int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big") % dim] += 1.0
    return vector


def hashing_embedder(path: str, body: Any) -> tuple[int, Any]:
    """An embedding server by hashed words that answers out of order, as it may."""
    assert path == "/v1/embeddings"
    assert body["encoding_format"] == "float"
    rows = [
        {"object": "embedding", "index": index, "embedding": word_hashes(text)}
        for index, text in enumerate(body["input"])
    ]
    return 200, {"object": "list", "data": rows[::-1], "model": body["model"]}
