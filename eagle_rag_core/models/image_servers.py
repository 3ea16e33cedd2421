"""Image embedders behind HTTP, as vLLM serves them.

Models of single vectors answer at ``/embeddings``, those of many at ``/pooling``. Both take a
picture as a chat message. Nothing is sent before the first use. The fingerprint is made of the
model's name: a server that begins to serve other weights under the same name cannot be noticed.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from eagle_rag_core.errors import ConfigError
from eagle_rag_core.models.image_embedders import OPENAI_LIKE, ImageEmbedder
from eagle_rag_core.models.late_interaction import unit_rows
from eagle_rag_core.models.model_server import ModelServer

if TYPE_CHECKING:
    from eagle_rag_core.models.late_interaction import Matrix, Vector
    from eagle_rag_core.settings.sections import ImageEmbeddingSettings

#: What ColPali-like models were trained to read after a picture.
_PROMPT: Final = {"type": "text", "text": "Describe the image."}


def served_image_embedder(settings: ImageEmbeddingSettings) -> ImageEmbedder:
    """The embedder of the protocol that the settings name.

    :raises ConfigError: it is not said where the server is, or which model to use.
    """
    if not settings.base_url or not settings.model:
        raise ConfigError(
            f"models.image_embedder is {OPENAI_LIKE}; set models.image_embedding.base_url and "
            "models.image_embedding.model as well."
        )
    if settings.protocol == "pooling":
        return ServedMatrixEmbedder(settings)
    return ServedImageEmbedder(settings)


class ServedImageEmbedder:
    """Asks a server for single vectors: ``/embeddings`` with ``messages``."""

    name = OPENAI_LIKE
    multi_vector = False

    def __init__(self, settings: ImageEmbeddingSettings) -> None:
        self.fingerprint = f"image-{OPENAI_LIKE}-{_digest(settings.model)}"
        self._model = settings.model
        self._server = _server(settings)

    @cached_property
    def dim(self) -> int:
        return len(self._ask({"type": "text", "text": "dimension"}))

    def embed_image(self, data: bytes) -> Vector:
        return self._vector(_picture(data))

    def embed_text(self, text: str) -> Vector:
        return self._vector({"type": "text", "text": text})

    def _vector(self, part: dict[str, Any]) -> Vector:
        row = self._ask(part)
        if len(row) != self.dim:
            raise self._server.misunderstood(f"a vector that is not of length {self.dim}")
        vector: Vector = _rows(self._server, [row])[0]
        return vector

    def _ask(self, part: dict[str, Any]) -> list[float]:
        messages = [{"role": "user", "content": [part]}]
        body = {"model": self._model, "messages": messages, "encoding_format": "float"}
        answer = self._server.post("embeddings", body)
        found: list[float] = _first(self._server, answer, "embedding")
        if not _is_vector(found):
            raise self._server.misunderstood("something that is no vector")
        return found


class ServedMatrixEmbedder:
    """Asks a server for a vector of each token: ``/pooling`` with the task ``token_embed``."""

    name = OPENAI_LIKE
    multi_vector = True

    def __init__(self, settings: ImageEmbeddingSettings) -> None:
        self.fingerprint = f"image-{OPENAI_LIKE}-pooling-{_digest(settings.model)}"
        self._model = settings.model
        self._server = _server(settings)

    @cached_property
    def dim(self) -> int:
        return int(self._ask({"input": ["dimension"]}).shape[1])

    def embed_image(self, data: bytes) -> Matrix:
        return self._matrix({"messages": [{"role": "user", "content": [_picture(data), _PROMPT]}]})

    def embed_text(self, text: str) -> Matrix:
        return self._matrix({"input": [text]})

    def _matrix(self, given: Mapping[str, Any]) -> Matrix:
        matrix = self._ask(given)
        if matrix.shape[1] != self.dim:
            raise self._server.misunderstood(f"vectors that are not of length {self.dim}")
        return matrix

    def _ask(self, given: Mapping[str, Any]) -> Matrix:
        body = {
            "model": self._model,
            "task": "token_embed",
            "encoding_format": "float",
            **given,
        }
        rows = _first(self._server, self._server.post("pooling", body), "data")
        if not isinstance(rows, list) or not all(map(_is_vector, rows)):
            raise self._server.misunderstood("no vector of each token; does the model make them?")
        return _rows(self._server, rows)


def _server(settings: ImageEmbeddingSettings) -> ModelServer:
    return ModelServer(
        "the image embedding server",
        settings.base_url,
        api_key=settings.api_key.get_secret_value(),
        timeout=settings.timeout,
    )


def _digest(model: str) -> str:
    return hashlib.sha256(model.encode()).hexdigest()[:16]


def _picture(data: bytes) -> dict[str, Any]:
    kind = "png" if data.startswith(b"\x89PNG") else "jpeg"
    url = f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"
    return {"type": "image_url", "image_url": {"url": url}}


def _first(server: ModelServer, answer: Any, name: str) -> Any:
    """What an answer has under a name for the only input."""
    try:
        return answer["data"][0][name]
    except (LookupError, TypeError) as error:
        raise server.misunderstood("no vector") from error


def _rows(server: ModelServer, rows: list[list[float]]) -> Matrix:
    try:
        return unit_rows(rows)
    except ValueError as error:
        raise server.misunderstood(str(error)) from error


def _is_vector(row: object) -> bool:
    return (
        isinstance(row, list) and bool(row) and all(isinstance(value, int | float) for value in row)
    )
