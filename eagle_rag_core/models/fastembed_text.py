"""Text embedders that fastembed runs with ONNX, named ``fastembed:<model>``.

The first use of a model downloads its weights from the model hub; after that no network is needed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from eagle_rag_core.errors import ConfigError, ModelError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PREFIX = "fastembed:"


def installed() -> bool:
    """Whether fastembed is there."""
    return find_spec("fastembed") is not None


class FastEmbedder:
    """One model of fastembed. Loads the weights on first use.

    :param model: name in fastembed's list.
    :param dim: length of its vectors where it is known, else 0: fastembed's list has it.
    """

    def __init__(self, model: str, dim: int = 0) -> None:
        self.name = self.fingerprint = f"{PREFIX}{model}"
        self.scripts = frozenset[str]()
        self.dense_weight = 1.0
        self.dim = dim or _dim_of(model)
        self._model_name = model
        self._model: Any = None
        self._lock = threading.Lock()

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._unit(self._loaded().passage_embed(list(texts)))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self._unit(self._loaded().query_embed([text]))[0]
        return vector

    def _unit(self, vectors: Iterable[NDArray[np.float32]]) -> NDArray[np.float32]:
        import numpy as np

        found = list(vectors)
        rows = np.asarray(found, np.float32).reshape(len(found), self.dim)
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        unit: NDArray[np.float32] = rows / np.maximum(length, np.float32(1e-12))
        return unit

    def _loaded(self) -> Any:
        with self._lock:
            if self._model is None:
                self._model = self._load()
            return self._model

    def _load(self) -> Any:
        from fastembed import TextEmbedding

        try:
            return TextEmbedding(model_name=self._model_name, threads=1)
        except Exception as error:
            raise ModelError(
                f"The weights of the text embedder {self.name} could not be loaded. The first use "
                "downloads them: connect this machine once, or put them into fastembed's cache."
            ) from error


def _dim_of(model: str) -> int:
    """Length of a model's vectors.

    :raises ConfigError: fastembed has no such model.
    """
    from fastembed import TextEmbedding

    known = {entry["model"]: int(entry["dim"]) for entry in TextEmbedding.list_supported_models()}
    if model not in known:
        from eagle_rag_core.settings.suggest import did_you_mean

        raise ConfigError(
            f"fastembed has no text embedder called {model!r}{did_you_mean(model, known)}"
        )
    return known[model]
