"""An embedder for tests: deterministic, without weights."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from eagle_rag_core.plugins.sources import PackSource
    from eagle_rag_core.types import TextEmbedder

_WORD: Final = re.compile(r"\w+")

#: What settings call the embedder of :func:`embedder_pack`.
EMBEDDER_NAME: Final = "testing_embedder"
_MANIFEST: Final = """
schema = 1
[pack]
namespace = "testing"
title = "Fakes for tests"
api = ">=1.0,<2"
"""


class HashingEmbedder:
    """Counts words, each hashed to a place of the vector: texts that share words are similar.

    The same text has the same vector in every process. Case and order of words do not count.

    :param dim: length of vectors; the shorter they are, the more words fall together.
    """

    name = "hashing"
    scripts = frozenset[str]()
    dense_weight = 1.0

    def __init__(self, dim: int = 256) -> None:
        self.dim = dim
        self.fingerprint = f"hashing-{dim}"

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of shape (n, dim); zero for a text without words."""
        import numpy as np

        vectors = np.zeros((len(texts), self.dim), np.float32)
        for row, text in enumerate(texts):
            for word in _WORD.findall(text.casefold()):
                vectors[row, self._place(word)] += 1
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True).astype(np.float32)
        lengths[lengths == 0] = 1
        vectors /= lengths
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """A unit vector of shape (dim,); zero for a text without words."""
        vector: NDArray[np.float32] = self.embed_documents([text])[0]
        return vector

    def _place(self, word: str) -> int:
        return int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "big") % self.dim


def embedder_pack(embedder: TextEmbedder) -> PackSource:
    """A pack that offers an embedder to a library, as :data:`EMBEDDER_NAME`."""
    from eagle_rag_core.plugins import PackContext, explicit_pack, hookimpl
    from eagle_rag_core.types import EmbedderSpec

    class Pack:
        @hookimpl
        def register_embedders(self, ctx: PackContext) -> list[EmbedderSpec]:
            return [EmbedderSpec(EMBEDDER_NAME, lambda: embedder)]

    return explicit_pack(Pack(), _MANIFEST)
